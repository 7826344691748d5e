"""Writes a file so that a reader meets the old one or the new one, never half of it. No Qt."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a draft beside `path` and rename it. Where that fails the old file stays, no draft is left, and the OSError
    is raised."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
