"""Write docs/commands.md from the usage texts of the commands.

Usage:
  commands.py [--check]

Options:
  --check     change nothing; exit with code 1 if docs/commands.md is out of date
  -h --help   show this
"""
from __future__ import annotations

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from docopt import docopt  # noqa: E402

from il_morph.commands import COMMANDS  # noqa: E402
from il_morph.commands.completion import usage_of  # noqa: E402
from il_morph.files import write_atomically  # noqa: E402

TEXT = PROJECT / "docs" / "commands.md"
OPENING = """\
<!-- Generated from the usage texts by experiments/tools/commands.py: edit those. -->
# Commands

All commands follow the same rules:

- Bad input ends with exit code 2 and a message that says what is wrong, where, and what to do.
- Nothing is overwritten without `--force`, and the model, data or runs that a command reads not even then.
- Nothing is written half: a file gets its name when it is complete.
- `--` ends the flags.
- Ctrl-C ends a training and keeps the best model so far.
- The same command with the same seed gives the same model and predictions, byte for byte.

![The page of il-morph serve](page.png) ![The report](report.png)
"""


def commands_page() -> str:
    contents = "\n".join(f"- [`{name}`](#{name}): {purpose}" for name, purpose in COMMANDS.items())
    sections = [f"## {name}\n\n```text\n{usage_of(name).strip()}\n```\n" for name in COMMANDS]
    return "\n".join([OPENING, contents, "", *sections])


def main(check: bool) -> int:
    page = commands_page()
    if TEXT.exists() and TEXT.read_text(encoding="utf-8") == page:
        return 0
    print(f"{TEXT} {'is not up to date' if check else 'updated'}")
    if not check:
        write_atomically(TEXT, page)
    return 1 if check else 0


if __name__ == "__main__":
    sys.exit(main(docopt(__doc__)["--check"]))
