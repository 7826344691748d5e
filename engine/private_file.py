"""Writes files that nobody else may read, and that are never seen half-written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file that only this user may read. It is written under a name of this process that ends in `.tmp`, then
    renamed: whoever looks finds what was there before, or all of the new. Raises OSError; then nothing has changed."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        draft.unlink()
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(parts)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
