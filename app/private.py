"""What the user writes is for nobody else: only the owner may read it. No Qt."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""Every right of the group and of everybody else."""


def keep_private(path: Path) -> None:
    """Take the rights of all others at this file or folder away; the owner's stay as they are.

    Nothing happens where there is no such file, where the disk knows no permissions, and in a folder of everybody's
    (as /tmp).
    """
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS and not mode & stat.S_ISVTX:
            os.chmod(path, mode & ~OTHERS)
