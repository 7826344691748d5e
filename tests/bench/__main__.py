"""`python -m tests.bench --out FILE.json`: every row of the table, as JSON and as Markdown on standard output.

QUICK=1 takes fewer samples. PEERS=llama.cpp adds row 5 where the package llama-cpp-python is installed. LARGE=1 adds
models of 1 and 7 billion weights (`large_rows`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from engine.worker.thread import SPIN_COUNT

os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # before torch is imported, as the engine does it
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil

from engine import fetch_model
from engine.models.from_gguf import open_tokenizer
from engine.native import library as native_library
from tests.bench import (
    api_rows,
    engine_rows,
    exact_rows,
    large_rows,
    llama_rows,
    quality_rows,
    restart_rows,
    scaling_rows,
    window_rows,
    write_rows,
)
from tests.bench.chat import Player
from tests.bench.rows import Row

PACKAGES = ("torch", "transformers", "PySide6-Essentials", "pyqtgraph", "llama-cpp-python")


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--out", type=Path, default=Path("out/bench.json"))
    parser.add_argument(
        "--only",
        help="engine, window, ahead, write (the end of ahead), exact, restart, scaling, quality, llama, api or large",
    )
    parser.add_argument("--before", type=Path, metavar="TREE", help="an earlier checkout, for rows Z1, Z2 and Z6")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    count = 3 if os.environ.get("QUICK") else 7
    print(_machine(), flush=True)
    rows: list[Row] = []
    for row in _rows(count, options.only, options.before):
        rows.append(row)
        print(as_line(row), flush=True)
        options.out.write_text(json.dumps(_report(rows), indent=1) + "\n", "utf-8")
    return 0


def as_line(row: Row) -> str:
    """A row of the Markdown table."""
    return f"| {row.id} | {row.name} | {row.value:.3g} {row.unit} | {row.must} | {row.aim} |"


def _rows(count: int, only: str | None, before: Path | None) -> Iterator[Row]:
    model = fetch_model(lambda *_: None)
    wanted = (
        [only] if only else ["engine", "llama", "exact", "restart", "window", "ahead", "scaling", "large", "quality"]
    )
    if {"engine", "llama", "exact"} & set(wanted):
        player = Player()
        try:
            if "engine" in wanted:
                yield from engine_rows.measure(player, model, count)
            if "llama" in wanted:
                yield from llama_rows.measure(player, open_tokenizer(model), count)
            if "exact" in wanted:
                yield from exact_rows.measure(player, count, before)
        finally:
            player.close()
    if "restart" in wanted:
        yield from restart_rows.measure(model, count)
    if "window" in wanted:
        yield from window_rows.measure(count)
    if "ahead" in wanted:
        yield from window_rows.measure_ahead(count)
        yield from write_rows.measure(count)
    if "write" in wanted:
        yield from write_rows.measure(count)
    if "api" in wanted:
        yield from api_rows.measure(model, count)
    if "scaling" in wanted:  # in this thread, whose team OpenMP would count in all that is measured behind it
        yield from scaling_rows.measure(count)
    if "large" in wanted and os.environ.get("LARGE"):
        yield from large_rows.measure(count)
    if "quality" in wanted:
        yield from quality_rows.measure(model)


def _report(rows: list[Row]) -> dict[str, object]:
    return {
        "machine": _machine(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))}
        | {"python": platform.python_version()},
        "model": "SmolLM2-135M-Instruct",
        "rows": [row.as_json() for row in rows],
    }


def _machine() -> str:
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    features = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_tile") if name in flags]
    memory = psutil.virtual_memory().total / 2**30
    computer = f"{psutil.cpu_count()} cores {platform.machine()} {' '.join(features)}, {memory:.0f} GiB, {sys.platform}"
    return f"{computer}; {native_library.state()}"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
