import sys

from il_morph.commands import main

if __name__ == "__main__":
    sys.exit(main())
