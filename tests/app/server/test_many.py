"""Many callers, a third of whom vanish in the middle: nothing of them stays. The bench's rows API4 to API6 measure the
same with a thousand and the real model."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx2 as httpx
import pytest

from app.server.record import KEPT, Asked
from engine.cache.contract import Run
from engine.turn.turn import Turn
from tests.app.server.conftest import Caller, real_caller, until
from tests.conftest import PATIENCE_S
from tests.engine.kinds_of_templates import THOUGHT_IN_LAST_TURN
from tests.engine.tiny_models import make_folder

MANY, AT_ONCE = 96, 12
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions", "/v1/cache/prewarm")


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    folder = make_folder(tmp_path_factory.mktemp("many"), template=THOUGHT_IN_LAST_TURN)
    with real_caller(folder) as caller:
        yield caller


def visit(caller: Caller, chance: random.Random) -> int:
    """One caller, who may hang up at once; the status of the answer, 0 where there is none."""
    words = " ".join(chance.choices(["tent", "parcel", "price", "rain"], k=chance.randrange(2, 60)))
    path = chance.choice(PATHS)
    body = {"model": "default", "messages": [{"role": "user", "content": words}], "max_tokens": chance.randrange(1, 6)}
    if path == "/v1/messages":
        body["system"] = [{"type": "text", "text": words, "cache_control": {"type": "ephemeral"}}]
    elif path == "/v1/responses":
        body = {"model": "default", "input": words, "max_output_tokens": 3}
    elif path == "/v1/completions":
        body = {"model": "default", "prompt": words, "max_tokens": 3}
    elif path == "/v1/cache/prewarm":
        body = {"messages": body["messages"], "seconds": 60}
    elif chance.random() < 0.3:
        body |= {"tools": [TOOL], "tool_choice": "required", "max_tokens": 60}
    if path != "/v1/cache/prewarm":
        body["stream"] = chance.random() < 0.5
    timeout = 0.01 if chance.random() < 1 / 3 else PATIENCE_S
    with suppress(httpx.HTTPError), httpx.Client(base_url=caller.address, timeout=timeout, verify=False) as client:
        return client.post(path, json=body).status_code
    return 0


def alive(kinds: tuple[type, ...]) -> dict[str, int]:
    """How many objects of these kinds there are. isinstance would wake what libraries only pretend to hold."""
    gc.collect()
    found = [type(each) for each in gc.get_objects()]
    return {kind.__name__: found.count(kind) for kind in kinds}


def test_nothing_of_many_callers_stays(caller: Caller) -> None:
    visit(caller, random.Random(7))
    threads = set(threading.enumerate())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(lambda number: visit(caller, random.Random(number)), range(MANY)))
    assert set(statuses) <= {0, 200}
    assert 0 in statuses, "some have vanished"
    metrics = caller.http.get("/metrics")
    until(lambda: "headstart:requests_open 0\n" in caller.http.get("/metrics").text)
    assert metrics.status_code == 200
    until(lambda: caller.http.delete("/v1/cache").json()["used_bytes"] == 0)
    assert caller.http.get("/v1/cache").json()["pinned_bytes"] == 0
    until(lambda: set(threading.enumerate()) <= threads)
    left = alive((Asked, asyncio.Queue, Turn, Run))
    assert left.pop("Asked") <= KEPT
    assert set(left.values()) == {0}, left
