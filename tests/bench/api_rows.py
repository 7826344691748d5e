"""The local API: what HTTP costs, what the chat keeps beside a program, what a thousand callers leave behind.

Row API1: warm time to first token over HTTP, less that of the engine alone. API2, API3: the chat's tokens a second and
its time to first token while a program's request is answered, over those alone. API4 to API6: what is left after
requests of mixed size from callers of whom a third vanishes.
"""

from __future__ import annotations

import ctypes
import gc
import json
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import psutil

from app.server.access import Access
from app.server.listening import Server
from engine import Engine, Event, Failed, Finished, Loaded, Message, ModelSpec, Request, Sampling, TextDelta
from tests.bench.rows import Row, alternate, ratio_row

RULES = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price. " * 120
GREEDY = Sampling(temperature=0.0, max_tokens=96)
MANY, AT_ONCE = 1000, 12
PATIENCE_S = 120.0


class House:
    """An engine with the default model, a window's use of it, and a server beside that."""

    def __init__(self, folder: Path) -> None:
        self.engine = Engine()
        loading = self.engine.load(ModelSpec(str(folder), cache_bytes=2 * 10**9))
        loaded = self.until(lambda event: event.request_id == loading and isinstance(event, Loaded | Failed))
        assert isinstance(loaded, Loaded), loaded
        self.news = threading.Event()
        self.beside = self.engine.beside(self.news.set)
        self.server = Server(self.engine.beside, Access(port=0), loaded.model)
        self.http = httpx.Client(base_url=self.server.address, timeout=PATIENCE_S)

    def until(self, is_it: Callable[[Event], bool], engine: Engine | None = None) -> Event:
        """The next event that is meant."""
        engine = engine or self.engine
        while True:
            for event in engine.poll():
                if is_it(event):
                    return event
            engine.wait(PATIENCE_S)

    def first_token(self, engine: Engine, request: Request) -> tuple[float, float]:
        """Seconds to the first text of an answer, and its tokens a second."""
        began = time.perf_counter()
        number = engine.submit(request)
        first = self.until(lambda event: event.request_id == number and isinstance(event, TextDelta | Failed), engine)
        assert isinstance(first, TextDelta), first
        waited = time.perf_counter() - began
        end = self.until(lambda event: event.request_id == number and isinstance(event, Finished | Failed), engine)
        assert isinstance(end, Finished), end
        return waited, end.stats.tokens_per_s

    def http_first_token(self, question: str) -> float:
        """The same over HTTP, on a connection that is open."""
        began = time.perf_counter()
        body = {"model": "default", "messages": chat(question), "temperature": 0, "max_tokens": 4, "stream": True}
        waited = 0.0
        with self.http.stream("POST", "/v1/chat/completions", json=body) as response:
            for line in response.iter_lines():
                if (
                    not waited
                    and line.startswith("data: {")
                    and json.loads(line[6:])["choices"][0]["delta"].get("content")
                ):
                    waited = time.perf_counter() - began
        return waited

    def close(self) -> None:
        """End everything."""
        self.http.close()
        self.server.stop()
        self.engine.close()


def chat(question: str) -> list[dict[str, str]]:
    """A conversation whose rules are long and the same."""
    return [{"role": "system", "content": RULES}, {"role": "user", "content": question}]


def request(question: str, sampling: Sampling = GREEDY, **fields: str) -> Request:
    """The same for the engine."""
    return Request((Message("system", RULES), Message("user", question)), sampling, **fields)


def measure(folder: Path, count: int) -> Iterator[Row]:
    """All rows."""
    house = House(folder)
    try:
        yield _over_http(house, 3 * count)
        yield from _beside_the_chat(house, count)
        yield from _left_behind(house)
    finally:
        house.close()


def _over_http(house: House, count: int) -> Row:
    numbers = iter(range(10**6))
    few = Sampling(temperature=0.0, max_tokens=4, repetition_penalty=1.0)

    def alone() -> float:
        asked = request(f"Question number {next(numbers)}?", few, client="bench", conversation="api:bench/0")
        return house.first_token(house.beside, asked)[0]

    samples = alternate(
        {"HTTP": lambda: house.http_first_token(f"Question number {next(numbers)}?"), "engine": alone}, count
    )
    medians = {side: statistics.median(values) for side, values in samples.items()}
    kept = [{side: values[i] for side, values in samples.items()} for i in range(count)]
    more = 1000 * (medians["HTTP"] - medians["engine"])
    return Row("API1", "warm first token over HTTP, more than the engine alone", more, "ms", "5", "2", kept)


def _beside_the_chat(house: House, count: int) -> Iterator[Row]:
    numbers = iter(range(10**6))
    rates: dict[str, list[float]] = {"alone": [], "beside": []}

    def play(side: str) -> float:
        asked = request(f"Tell me about tents, part {next(numbers)}.", conversation="#1")
        waited, rate = house.first_token(house.engine, asked)
        rates[side].append(rate)
        return waited

    def beside() -> float:
        busy = request(
            "Write a long story.", Sampling(temperature=0.0, max_tokens=2000), client="bench", conversation="api:b/1"
        )
        number = house.beside.submit(busy)
        house.until(lambda event: event.request_id == number and isinstance(event, TextDelta), house.beside)
        try:
            return play("beside")
        finally:
            house.beside.cancel(number)
            house.until(lambda event: event.request_id == number and isinstance(event, Finished | Failed), house.beside)

    waits = alternate({"alone": lambda: play("alone"), "beside": beside}, count)
    yield ratio_row(
        "API2", "chat's tokens/s beside a program, over alone", rates, "beside", "alone", ">= 0.45", ">= 0.5"
    )
    yield ratio_row(
        "API3", "chat's first token beside a program, over alone", waits, "beside", "alone", "<= 2", "<= 1.5"
    )


def _left_behind(house: House) -> Iterator[Row]:
    """Requests of mixed size; a third of the callers hangs up in the middle. A first round warms everything up."""
    rounds = [_round(house, MANY // 10, 0), _round(house, MANY, 1)]
    (memory_before, threads_before, _), (memory, threads, pinned) = rounds
    yield Row("API4", f"blocks pinned after {MANY} requests", pinned, "bytes", "0", "0")
    yield Row("API5", f"threads more after {MANY} requests", threads - threads_before, "threads", "0", "0")
    yield Row("API6", f"memory more after {MANY} requests", (memory - memory_before) / 1e6, "MB", "<= 50", "<= 20")


def _round(house: House, many: int, seed: int) -> tuple[int, int, int]:
    """Memory and threads of this process, and pinned bytes, after so many requests and with an empty cache."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda number: _visit(house, random.Random(1000 * seed + number)), range(many)))
    house.http.delete("/v1/cache")
    while house.http.get("/v1/cache").json()["used_bytes"]:
        time.sleep(0.01)
    gc.collect()
    with suppress(OSError, AttributeError):  # what was freed goes back to the system, so that it is not counted
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    process = psutil.Process()
    return process.memory_info().rss, process.num_threads(), house.http.get("/v1/cache").json()["pinned_bytes"]


def _visit(house: House, chance: random.Random) -> None:
    length = chance.randrange(3, 60) if chance.random() < 0.9 else chance.randrange(300, 600)
    words = " ".join(chance.choices(["tent", "parcel", "price", "rain", "wind"], k=length))
    body = {
        "model": "default",
        "messages": [{"role": "user", "content": words}],
        "max_tokens": chance.randrange(1, 6),
        "stream": chance.random() < 0.5,
    }
    is_vanishing = chance.random() < 1 / 3
    with (
        suppress(httpx.HTTPError),
        httpx.Client(base_url=house.server.address, timeout=0.02 if is_vanishing else PATIENCE_S) as client,
    ):
        client.post("/v1/chat/completions", json=body)
