"""The command `headstart`, and `python -m headstart`."""

import sys

from app.__main__ import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
