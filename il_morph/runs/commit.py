"""The commit of the code that runs."""
from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Optional

PACKAGE = Path(__file__).resolve().parent.parent
UNKNOWN = "unknown"


def code_version() -> str:
    """The commit of the checkout that this package is imported from, marked if the package differs from it.

    Unknown for an installed copy, or a copy that the repository around it does not track.
    """
    tracked = f"{PACKAGE.name}/__init__.py"
    if not (PACKAGE.parent / ".git").exists() or _git("ls-files", "--error-unmatch", tracked) is None:
        return UNKNOWN
    commit = _git("rev-parse", "--short", "HEAD")
    if commit is None:
        return UNKNOWN
    return commit if _git("diff", "--quiet", "HEAD", "--", PACKAGE.name) is not None else f"{commit}-changed"


def _git(*arguments: str) -> Optional[str]:
    """The output of git for the checkout, or None if git fails."""
    try:
        done = subprocess.run(["git", "-C", str(PACKAGE.parent), *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
    except OSError:  # git is not installed
        return None
    return done.stdout.strip() if done.returncode == 0 else None
