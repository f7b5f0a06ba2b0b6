"""The command `il-morph`, which is `python -m il_morph`, too."""
from __future__ import annotations

import sys


def run() -> int:
    """Whoever presses Ctrl-C while modules are still being loaded wants no traceback either."""
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
