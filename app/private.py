"""What the user writes is for nobody else: files and folders that only their owner may read. No Qt."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def keep_file_private(path: Path) -> None:
    """Let only the owner read and write this file, where it exists and the disk knows permissions."""
    with suppress(OSError):
        os.chmod(path, 0o600)


def keep_folder_private(path: Path) -> None:
    """Let only the owner look into this folder. One that is everybody's (as /tmp) stays as it is."""
    with suppress(OSError):
        if not path.stat().st_mode & stat.S_ISVTX:
            os.chmod(path, 0o700)
