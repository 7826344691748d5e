"""Row 5: llama.cpp on the same weights, through llama-cpp-python, when PEERS=llama.cpp asks for it.

On CPUs with AMX build the package with CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON": its AMX
path can crash there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine import Message, fetch_model
from engine.prompt.template import PromptBuilder
from tests.bench.beside import Call, beside
from tests.bench.chat import SCRIPT, WRITTEN, Player
from tests.bench.engine_rows import GREEDY, SHORT, endless
from tests.bench.rows import Row, alternate, ratio_row


def measure(player: Player, tokenizer: Any, count: int) -> Iterator[Row]:
    """Decode speed, warm and cold TTFT against llama.cpp; nothing where it was not asked for or is not there."""
    if "llama.cpp" not in os.environ.get("PEERS", ""):
        print("row 5 is left out: PEERS=llama.cpp adds it")
        return
    if find_spec("llama_cpp") is None:
        print("row 5 is left out: the package llama-cpp-python is not installed")
        return
    with beside(_Llama, fetch_model(lambda *_: None)) as llama:
        yield from _rows(player, tokenizer, llama, count)


def _rows(player: Player, tokenizer: Any, llama: Call, count: int) -> Iterator[Row]:
    builder = PromptBuilder(tokenizer)
    short = builder.build([Message("system", "You write."), Message("user", SHORT)]).ids
    system = Message("system", SCRIPT.system_prompt)

    def prompt() -> Sequence[int]:
        return builder.build([system, Message("user", player.new_question())]).ids

    def own_decode() -> float:
        return player.ask_plainly("You write.", SHORT, GREEDY).stats.tokens_per_s

    with endless(player.engine):
        samples = alternate({"headstart": own_decode, "llama.cpp": lambda: llama("decode", short, WRITTEN)}, count)
    yield ratio_row("5a", "decode tok/s / llama.cpp Q4_1", samples, "headstart", "llama.cpp", ">= 0.6", "1")
    llama("read", prompt())
    warm = alternate({"headstart": player.ttft, "llama.cpp": lambda: llama("read", prompt())}, count)
    yield ratio_row("5b", "warm TTFT / llama.cpp", warm, "headstart", "llama.cpp", "<= 1", "0.5")
    cold = alternate(
        {"headstart": lambda: player.ttft(use_cache=False), "llama.cpp": lambda: llama("read", prompt(), True)},
        count,
    )
    yield ratio_row("5c", "cold TTFT / llama.cpp", cold, "headstart", "llama.cpp", "<= 1", "0.5")


class _Llama:
    """llama.cpp with its own prefix match: it keeps the start that the last prompt shares with the new one."""

    def __init__(self, gguf: Path) -> None:
        from llama_cpp import Llama

        self._llama = Llama(str(gguf), n_ctx=4096, n_threads=2, n_batch=512, verbose=False)

    def read(self, ids: Sequence[int], cold: bool = False) -> float:
        """Seconds until the first token is chosen."""
        if cold:
            self._llama.reset()
        start = time.perf_counter()
        next(self._llama.generate(list(ids), temp=0.0, reset=not cold))
        return time.perf_counter() - start

    def decode(self, ids: Sequence[int], written: int) -> float:
        """Tokens a second behind a prompt, without the first."""
        stream = self._llama.generate(list(ids), temp=0.0)
        next(stream)
        start = time.perf_counter()
        for _ in range(written - 1):
            next(stream)
        return (written - 1) / (time.perf_counter() - start)
