"""A real browser without a screen: the system's Chromium, driven by selenium."""
from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DESKTOP, PHONE = (1200, 900), (360, 740)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
         "--hide-scrollbars"]
CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))

needs_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs Chromium and its driver "
                                   "(Debian: apt install chromium chromium-driver)")


@contextmanager
def browser(folder: Path, downloads: Path) -> Iterator:
    """A browser with a profile of its own in `folder`, which keeps what the pages log."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def look(driver, size: tuple[int, int], scheme: str = "light") -> None:
    """Show the page in this size and in light or dark colours."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})


def complaints(driver) -> list[str]:
    """What the browser complained about since the last time: errors, refused scripts and styles."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
