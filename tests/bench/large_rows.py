"""Rows L1 to L9: models of 1 and 7 billion random weights in a GGUF file, beside llama.cpp on the same file.

LARGE=1 asks for them (LARGE=1b for the small one only). Each side lives in a process of its own, with as many threads;
they take turns. The files are written to LARGE_FOLDER, or a temporary folder: 19 GB. Without llama-cpp-python, here or
in the Python that LLAMA_PYTHON names, ratios to llama.cpp are left out.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import psutil
import torch

from engine import fetch_model
from engine.cache.store import Lane
from engine.library.download import sha256
from engine.models.loaded import LoadedModel, load
from engine.native.library import give_memory_back
from engine.stopping import listening
from engine.turn.chunks import CHUNK_S, LEAST_CHUNK_TOKENS
from tests.bench.beside import Call, beside
from tests.bench.large_llama import LargeLlama
from tests.bench.restart_rows import own_data_folder
from tests.bench.rows import Row, alternate, ratio_row
from tests.engine.gguf_packed import SHAPES, in_full, write_packed

CACHED, NEW, WRITTEN, POSITIONS, FEW = 1500, 50, 32, 200, 64
CONTEXT = 2048
IDS = [(7 * i * i + 3 * i) % 40_000 for i in range(CACHED + NEW)]
FILES = (("1b", "Q4_K"), ("1b", "Q4_0"), ("1b", "Q8_0"), ("7b", "Q4_K"), ("7b", "Q4_0"), ("7b", "Q8_0"))


class Own:
    """A model of ours."""

    def __init__(self) -> None:
        from transformers import PreTrainedTokenizerFast

        assert PreTrainedTokenizerFast  # its import is no part of a model
        gc.freeze()  # as the engine does behind its imports
        self._model: LoadedModel | None = None
        self._lane: Lane | None = None
        self._length = 0

    def load(self, path: str) -> tuple[float, int, int]:
        """Seconds to load it, and bytes that the process grew by: in the end, and at most."""
        before, start = psutil.Process().memory_info().rss, time.perf_counter()
        self._model = load(Path(path), "cpu", "auto")
        self._lane = Lane(self._model.layout, CONTEXT)
        self._model.forward([1], self._lane, 0)
        give_memory_back()  # as after every load
        spent = time.perf_counter() - start
        return spent, psutil.Process().memory_info().rss - before, _peak() - before

    def _loaded(self) -> tuple[LoadedModel, Lane]:
        assert self._model is not None
        assert self._lane is not None
        return self._model, self._lane

    def read(self, ids: Sequence[int], kept: int) -> float:
        """Seconds to read ids behind the first `kept` of what was read before."""
        model, lane = self._loaded()
        start = time.perf_counter()
        for at in range(kept, len(ids), 512):
            model.forward(ids[at : at + 512], lane, at)
        self._length = len(ids)
        return time.perf_counter() - start

    def write(self, count: int) -> float:
        """Tokens a second, greedy, behind what was read."""
        model, lane = self._loaded()
        token, start = 5, time.perf_counter()
        for at in range(self._length, self._length + count):
            token = int(model.forward([token], lane, at, is_answer=True).argmax())
        return count / (time.perf_counter() - start)

    def longest_deafness(self, ids: Sequence[int]) -> float:
        """The longest time in seconds between two looks for a stop while a piece of a prompt is read, one of those that
        the engine reads at a time."""
        while len(ids) > LEAST_CHUNK_TOKENS and self.read(ids, 0) > CHUNK_S:
            ids = ids[: len(ids) // 2]
        model, lane = self._loaded()
        looks = [time.perf_counter()]
        with listening(lambda: looks.append(time.perf_counter())):
            model.forward(ids, lane, 0)
        looks.append(time.perf_counter())
        return max(after - before for before, after in pairwise(looks))

    def logits(self, ids: Sequence[int]) -> torch.Tensor:
        """Those after each token, as a prompt is read."""
        model, lane = self._loaded()
        return torch.stack([model.forward([token], lane, at) for at, token in enumerate(ids)])


def _peak() -> int:
    """The most bytes that this program had at once. `getrusage` would also count the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def measure(count: int) -> Iterator[Row]:
    """All rows of this module, `count` samples a side."""
    with _folder() as folder:
        for shape, kind in FILES:
            if os.environ["LARGE"] == "1b" and shape != "1b":
                continue
            path = folder / f"{shape}-{kind}.gguf"
            if not path.exists():
                write_packed(path, kind, SHAPES[shape], {"token_embd": "Q8_0"}, vocabulary=fetch_model(lambda *_: None))
            yield from _of_one(path, f"{shape} {kind}", count)
        yield _divergence(folder / "1b-Q4_K.gguf")


@contextmanager
def _folder() -> Iterator[Path]:
    if chosen := os.environ.get("LARGE_FOLDER"):
        yield Path(chosen)
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def _of_one(path: Path, name: str, count: int) -> Iterator[Row]:
    size, threads = path.stat().st_size, torch.get_num_threads()
    python = os.environ.get("LLAMA_PYTHON")
    has_llama = bool(python) or find_spec("llama_cpp") is not None
    peer = beside(LargeLlama, threads, python=python) if has_llama else nullcontext(None)
    with own_data_folder() as data, beside(Own) as own, peer as llama:
        sha256(path, lambda _: None)  # into the page cache
        (seconds, grown, peak), (again, _, _) = (own("load", str(path)) for _ in range(2))
        yield Row(f"L1 {name}", "memory of the loaded model / the file", grown / size, "ratio", "<= 1.25", "1.1")
        yield Row(f"L2 {name}", "the same at its peak while loading", peak / size, "ratio", "<= 1.35", "1.15")
        if llama is not None:
            other = min(llama("load", str(path), CONTEXT) for _ in range(2))
            yield Row(f"L3 {name}", "time to load / llama.cpp", min(seconds, again) / other, "ratio", "<= 2", "1")
        written = sum(file.stat().st_size for file in data.rglob("*") if file.is_file())
        yield Row(f"L7 {name}", "bytes on disk that opening it adds", written, "bytes", "<= 0", "0")
        if path.name.startswith("7b"):
            yield from _speed_of_large(name, own, llama, count)
        else:
            yield from _speed(name, own, llama, count)
        late = statistics.median(own("longest_deafness", IDS[:512]) for _ in range(3))
        yield Row(f"L9 {name}", "stop heard in mid-prefill, at the latest", late, "s", "<= 0.6", "0.3")


def _speed(name: str, own: Call, llama: Call | None, count: int) -> Iterator[Row]:
    sides = _sides(own, llama)
    cold = _samples(sides, max(2, count), "read", IDS[:CACHED], 0)
    yield _row(f"L6 {name}", "cold first token, 1,500 tokens", cold, "s", "<= 1.5", "0.8")
    warm = _samples(sides, count, "read", IDS, CACHED)
    yield _row(f"L5 {name}", "warm first token, 1,500 cached + 50 new", warm, "s", "<= 1", "0.6")
    yield _decoding(name, sides, count)


def _speed_of_large(name: str, own: Call, llama: Call | None, count: int) -> Iterator[Row]:
    """Decoding only, behind a few tokens: to read 1,500 takes minutes a sample."""
    sides = _sides(own, llama)
    for call in sides.values():
        call("read", IDS[:FEW], 0)
    yield _decoding(name, sides, count)


def _sides(own: Call, llama: Call | None) -> dict[str, Call]:
    return {"headstart": own} | ({"llama.cpp": llama} if llama is not None else {})


def _samples(sides: dict[str, Call], count: int, method: str, *given: object) -> dict[str, list[float]]:
    return alternate({side: (lambda call=call: call(method, *given)) for side, call in sides.items()}, count)  # type: ignore[misc]


def _decoding(name: str, sides: dict[str, Call], count: int) -> Row:
    return _row(f"L4 {name}", "decode tok/s", _samples(sides, count, "write", WRITTEN), "tok/s", ">= 0.9", "1.2")


def _row(row_id: str, what: str, taken: dict[str, list[float]], unit: str, must: str, aim: str) -> Row:
    if "llama.cpp" in taken:
        return ratio_row(row_id, f"{what} / llama.cpp", taken, "headstart", "llama.cpp", must, aim)
    return Row(row_id, what, statistics.median(taken["headstart"]), unit, "", "", taken["headstart"])


def _divergence(path: Path) -> Row:
    """The largest Kullback-Leibler divergence of what comes next from that of the same weights in fp32."""
    ids = IDS[:POSITIONS]
    with beside(Own) as own:
        own("load", str(path))
        mine = own("logits", ids)
    with torch.inference_mode():
        reference = in_full(path, SHAPES["1b"])(torch.tensor([ids])).logits[0].float()
    wanted, found = (torch.log_softmax(each, -1) for each in (reference, mine))
    value = float((wanted.exp() * (wanted - found)).sum(-1).max())
    return Row("L8", "largest KL of 200 positions from fp32, 1b Q4_K", value, "nats", "<= 0.01", "0.001")
