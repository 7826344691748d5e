"""What cannot be done with blocks on disk, in sentences for the user."""

from __future__ import annotations

import errno
from pathlib import Path

OTHER_HEADSTART = "Another Headstart keeps its prompts on disk, so this one keeps them in memory only."
ON_DISK_ONLY = (
    "This run is on disk only, so there is nothing in memory to keep. Send a message that begins with it, then keep it."
)
DISK_FULL = "The disk is full, so nothing more is kept on disk this time: free some space and start Headstart again."
NOT_DELETED = (
    "What is kept on disk of deleted conversations could not be deleted now. It is deleted when Headstart starts again."
)
DAMAGED = "The index of what is kept on disk cannot be read, so all of it is deleted and begins anew."


def note_of(root: Path, error: OSError) -> str:
    """What an error says about the folder of the blocks."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DISK_FULL
    reason = error.strerror or type(error).__name__
    return (
        f"Nothing is kept on disk this time: {root} cannot be used ({reason}). "
        "Check its permissions, then start Headstart again."
    )
