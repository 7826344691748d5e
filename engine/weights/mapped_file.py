"""Weights that stay in their file: it is mapped into memory, and the system reads a part of it when that is needed."""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path
from weakref import finalize

import torch
from torch import Tensor

from engine.native.library import library
from engine.types import ModelError

log = logging.getLogger("headstart")


def changed_while_read(name: str, path: Path) -> ModelError:
    """What is told of a model whose files are written to while it is opened."""
    return ModelError(f"{name} changed while it was read: open it again when nothing writes to it.", str(path))


class MappedFile:
    """A file whose bytes are read where they lie, for as long as this lives or any tensor of it.

    It may be replaced meanwhile: what was mapped is still the old one then. Where it is written to, or cut off, `check`
    tells so: weights would be of two files. A part that cannot be read any more, since the file was cut off or its disk
    is gone, would end the process on Linux (SIGBUS); the compiled part, which this needs, sees to it that it does not.

    Raises OSError, and ValueError where the file is empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # nothing writes; torch wants it so
            self._file = os.dup(file.fileno())
        self._identity = self._status()
        loaded = library()
        assert loaded is not None
        self._library = loaded
        self._number = int(loaded.headstart_watch(self.part(0, self.size).data_ptr(), self.size))
        if self._number < 0:
            log.warning("%s is not watched: where it is cut off, the program ends.", path)
        self._was_whole = True
        finalize(self, _close, self._file, loaded, self._number).atexit = False  # threads may still compute then

    @property
    def size(self) -> int:
        return len(self._map)

    def part(self, offset: int, size: int) -> Tensor:
        """Bytes of the file `[size]` (uint8), which lie in it."""
        return torch.frombuffer(self._map, dtype=torch.uint8, count=size, offset=offset)

    def read_now(self, part: Tensor) -> None:
        """Have a part in memory, as far as there is room."""
        self._library.headstart_read_now(part.data_ptr(), part.nbytes)

    @property
    def is_whole(self) -> bool:
        """Whether it is what it was when it was mapped, and was so whenever this was asked."""
        self._was_whole = self._was_whole and self._is_whole()
        return self._was_whole

    def _is_whole(self) -> bool:
        is_lost = self._number >= 0 and self._library.headstart_is_lost(self._number)
        try:
            return not is_lost and self._status() == self._identity
        except OSError:  # on another computer it may be gone although it is open here
            return False

    def check(self) -> None:
        """Raise ModelError where it is not."""
        if not self.is_whole:
            raise ModelError(
                f"{self.path.name} was changed while its model was open, or its disk cannot be read any more: "
                "open it again when nothing writes to it.",
                str(self.path),
            )

    def _status(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_size, status.st_mtime_ns


def _close(file: int, loaded: object, number: int) -> None:
    os.close(file)
    if number >= 0:
        loaded.headstart_unwatch(number)  # type: ignore[attr-defined]


class MappedFiles:
    """The files of a model that are mapped, each once."""

    def __init__(self) -> None:
        self._files: dict[Path, MappedFile] = {}

    def of(self, path: Path) -> MappedFile:
        """Raises OSError."""
        if path not in self._files:
            self._files[path] = MappedFile(path)
        return self._files[path]

    def check(self) -> None:
        """Raise ModelError where one of them is no longer what it was."""
        for file in self._files.values():
            file.check()
