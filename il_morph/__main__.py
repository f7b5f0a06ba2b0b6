"""The entry point of the command `il-morph` and of `python -m il_morph`."""
from __future__ import annotations

import sys


def run() -> int:
    """Run the command. Imports happen inside the `try`, so that Ctrl-C while they load leaves no traceback either."""
    try:
        from il_morph.limits import require_libraries

        require_libraries()
        from il_morph.commands import main

        return main()
    except MemoryError:
        print("il-morph: error: there is not enough memory to start: give the process more (ulimit -v)",
              file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("il-morph: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
