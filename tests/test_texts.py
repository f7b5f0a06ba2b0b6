"""The texts: tables and pictures follow the runs, the page of commands the usage texts, and links lead somewhere."""
import re
import subprocess
import sys

import pytest

from il_morph.reproduction.run_list import measured
from il_morph.reproduction.runs import Run
from tests.cli import ROOT

SCRIPT = ROOT / "experiments" / "tools" / "update.py"
MARK = "<!-- table: celex experiments/celex/measured.tsv -->"
END = "<!-- end of table -->"


def update(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True)


def test_tables_and_pictures_are_up_to_date():
    """If not: python experiments/tools/update.py."""
    for package in ("matplotlib", "pandas", "scipy"):
        pytest.importorskip(package)
    done = update("--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_table_is_made_again_and_what_is_around_it_stays(tmp_path):
    run = Run("0500", "ca-r", "rP-pA", "0", "1", 1, 1.0, None, None, None, None, 88.8, "dynet", "abc")
    (tmp_path / "measured.tsv").write_text(measured([run]))
    text, mark = tmp_path / "text.md", f"<!-- table: celex {tmp_path}/measured.tsv -->"
    text.write_text(f"before\n\n{mark}\n| old | 1.0 |\n{END}\n\nafter\n", encoding="utf-8")
    checked = update("--check", text)
    assert checked.returncode == 1 and f"{text} is not up to date" in checked.stdout
    assert "old" in text.read_text(encoding="utf-8"), "a check changes nothing"
    assert update(text).returncode == 0
    updated = text.read_text(encoding="utf-8")
    assert updated.startswith(f"before\n\n{mark}\nCELEX") and updated.endswith(f"\n{END}\n\nafter\n")
    assert "| CA-R | 88.8" in updated and "| old |" not in updated
    assert update("--check", text).returncode == 0
    text.write_text(updated.replace("88.8", "98.8"), encoding="utf-8")
    assert update("--check", text).returncode == 1


@pytest.mark.parametrize("content, message", [
    (f"{MARK}\n", "the last table has no <!-- end of table -->"),
    (f"{MARK}\n{MARK}\n{END}\n", "line 2: marks of tables come in pairs"),
    (f"x\n{END}\n", "line 2: marks of tables come in pairs"),
    (f"<!-- table: celex nowhere.tsv -->\n{END}\n", "cannot read nowhere.tsv"),
])
def test_a_text_with_wrong_marks_is_named_and_stays(tmp_path, content, message):
    text = tmp_path / "text.md"
    text.write_text(content, encoding="utf-8")
    done = update(text)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr
    assert text.read_text(encoding="utf-8") == content


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 800
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 10 and all((ROOT / link).exists() for link in links if "://" not in link)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_in_the_documents_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
    assert all((page.parent / link).exists() for link in links if "://" not in link), links


def test_the_page_of_commands_is_up_to_date():
    """If not: python experiments/tools/commands.py."""
    done = subprocess.run([sys.executable, ROOT / "experiments" / "tools" / "commands.py", "--check"],
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
