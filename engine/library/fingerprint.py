"""Tells the weights of one model from those of another, by a hash of all their bytes.

Reading gigabytes takes a while, so the hash of a file is remembered on disk until the file changes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path

from engine.gguf.parts import paths_of_parts
from engine.library.check import every_weight_file, read_json
from engine.library.check_gguf import read_gguf
from engine.library.child_process import Progress
from engine.library.places import blocks_dir
from engine.private_file import write_private
from engine.types import ModelError

STAGE = "Checking the weights"
PIECE_BYTES = 8 << 20
"""How much is read before `progress` is called again, which may stop it."""

SETTLED_S = 2.0
"""The hash of a file that changed less than this ago is not remembered: the file may change once more, and still bear
the same time."""

MOST_REMEMBERED = 1000
"""Files whose hash is remembered; the oldest are forgotten first."""

log = logging.getLogger("headstart")


def content_digest(model: Path, progress: Progress) -> str:
    """A digest of a GGUF file with all its parts, or of a folder's config.json and every byte of its weights, wherever
    its index says that they lie.

    `progress` may raise to stop it.
    """
    is_gguf = model.is_file()
    found = hashlib.sha256(b"" if is_gguf else (model / "config.json").read_bytes())
    files = paths_of_parts(model, read_gguf(model)) if is_gguf else every_weight_file(model)
    for digest in file_digests(files, progress):
        found.update(digest.encode())
    return found.hexdigest()[:16]


def file_digests(files: Sequence[Path], progress: Progress) -> list[str]:
    """The SHA-256 of each file, which is read only where it changed since the last time. `progress` may raise."""
    known, found = _read_known(), []
    is_new = False
    for file in files:
        key, now = _identity(file), time.time()
        if (digest := known.pop(key, "")) == "":
            digest = _hash(file, progress)
            is_new = True
        if _identity(file) == key and file.stat().st_mtime < now - SETTLED_S:
            known[key] = digest  # at the end: the newest
        found.append(digest)
    if is_new:
        _write_known(known)
    return found


def _hash(file: Path, progress: Progress) -> str:
    found, done, size = hashlib.sha256(), 0, file.stat().st_size
    with file.open("rb") as opened:
        while piece := opened.read(PIECE_BYTES):
            progress(STAGE, min(1.0, done / size))
            found.update(piece)
            done += len(piece)
    return found.hexdigest()


def _identity(file: Path) -> str:
    """A text that becomes another one when the file is changed or replaced."""
    status = file.stat()
    return f"{file.resolve()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}|{status.st_ino}"


def _known_path() -> Path:
    return blocks_dir().with_name("weights.json")


def _read_known() -> dict[str, str]:
    """The hashes of files by what they were; none where that cannot be read."""
    try:
        known = read_json(_known_path())
    except (ModelError, RuntimeError):
        return {}
    is_sound = isinstance(known, dict) and all(isinstance(digest, str) for digest in known.values())
    return known if is_sound else {}


def _write_known(known: dict[str, str]) -> None:
    """Remember; where that cannot be written, the next start computes it again."""
    newest = dict(list(known.items())[-MOST_REMEMBERED:])
    try:
        path = _known_path()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, [json.dumps(newest).encode()])
    except (OSError, RuntimeError) as error:
        log.info("The hashes of the weights are not remembered: %s", error)
