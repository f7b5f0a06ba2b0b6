"""The command `il-morph`, which is `python -m il_morph`, too."""
from __future__ import annotations

import sys


def run() -> int:
    """Whoever presses Ctrl-C while modules are still being loaded wants no traceback either."""
    try:
        from il_morph.commands import main

        return main()
    except KeyboardInterrupt:
        print("il-morph: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
