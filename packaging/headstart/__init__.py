"""Headstart as installed: the packages `app`, `engine` and `resources` lie in here, or where an editable install says.

Importing `headstart` makes them importable by these names in this process, and in no other. A script may then write
`import headstart` and `from engine import Engine`, or in one line `from headstart.engine import Engine`.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

_found = find_spec("headstart.app")
if _found is not None and _found.origin is not None:
    sys.path.insert(0, str(Path(_found.origin).parent.parent))
