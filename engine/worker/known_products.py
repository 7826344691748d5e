"""Remembers over a restart which counts of rows give a product the same bits: to see it anew takes a third of a second.

The file holds for one processor, one torch, one number of threads and one version of the engine: for anything else it
is measured anew.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from engine.library.check import read_json
from engine.library.places import blocks_dir
from engine.machine import arithmetic
from engine.private_file import write_private
from engine.types import ModelError
from engine.weights.row_products import COUNTS, MEASURE, known_counts

log = logging.getLogger("headstart")


def recall_products() -> None:
    """Know what an earlier start measured, where that was on this very machine. What stands in the file is not trusted
    further: only counts that are tried at all are taken."""
    try:
        found = read_json(_path())
    except (ModelError, RuntimeError):
        return
    counts = found.get("counts")
    if found.get("arithmetic") != arithmetic("cpu") or not isinstance(counts, dict):
        return
    for shape, some in counts.items():
        if isinstance(some, list) and (not some or MEASURE in some) and all(count in COUNTS for count in some):
            known_counts.setdefault(shape, tuple(some))


def remember_products() -> None:
    """Write what is known now. Where that cannot be written, the next start measures it again."""
    try:
        path = _path()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(path, [json.dumps({"arithmetic": arithmetic("cpu"), "counts": known_counts}).encode()])
    except (OSError, RuntimeError) as error:
        log.info("The products that were measured are not remembered: %s", error)


def _path() -> Path:
    return blocks_dir().with_name("products.json")
