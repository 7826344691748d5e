"""The remote engine against Headstart's own server: what the one sends the other shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from engine import Divergence, EitherEngine, Finished, Loaded, Matched, ModelSpec, Preview
from engine.remote.engine import RemoteEngine
from tests.app.fake_engine import FakeEngine, Script, many_tokens
from tests.app.server.conftest import Serve, until
from tests.engine.worker_driver import PATIENCE_S, Driver, request

PARTED = Divergence(17, 0, "date", "Monday", "Tuesday", 40)


@pytest.fixture
def remote() -> Iterator[Driver]:
    driver = Driver(EitherEngine(FakeEngine(), RemoteEngine()))  # type: ignore[arg-type]
    yield driver
    assert driver.engine.close(PATIENCE_S)


def test_figures_and_causes_come_over(serve: Serve, remote: Driver) -> None:
    caller = serve(FakeEngine(Script(divergence=PARTED, thought=("Hm", "."))))
    remote.end(remote.engine.load(ModelSpec(f"{caller.address}/v1")))
    ends = [remote.finished(remote.engine.submit(request())) for _ in range(2)]
    assert [(end.text, end.thought, end.reason) for end in ends] == [("Hello from a fake.", "Hm.", "end")] * 2
    (first, second) = [event for event in remote.events if isinstance(event, Matched)]
    assert (first.reused_tokens, second.reused_tokens) == (0, second.prompt_tokens - 1)
    assert second.divergence == PARTED
    assert ends[1].stats.cold_ttft_s > 0
    assert caller.engine.requests[0].sampling.repetition_penalty == request().sampling.repetition_penalty


def test_a_stop_is_heard_on_the_other_side(serve: Serve, remote: Driver) -> None:
    caller = serve(FakeEngine(Script(tokens=many_tokens(100_000)), tokens_per_poll=1))
    remote.end(remote.engine.load(ModelSpec(f"{caller.address}/v1")))
    number = remote.engine.submit(request())
    remote.until(lambda: len(remote.of(number)) > 2)
    remote.engine.cancel(number)
    end = remote.end(number)
    assert isinstance(end, Finished)
    assert (end.reason, bool(end.text)) == ("stopped", True)
    until(lambda: caller.engine.cancelled)


def test_tokens_are_counted_there(serve: Serve, remote: Driver) -> None:
    caller = serve()
    remote.end(remote.engine.load(ModelSpec(f"{caller.address}/v1#Fake-1M")))
    preview = remote.end(remote.engine.preview(request()))
    assert isinstance(preview, Preview)
    assert (
        preview.prompt_tokens
        == caller.chat(request().messages[1].content).usage.prompt_tokens + 4 + len(request().messages[0].content) // 4
    )


def test_programs_follow_what_the_window_opens(serve: Serve, remote: Driver) -> None:
    """The server of the window asked the engine of this computer for ever, whatever the window opened later."""
    elsewhere = serve(FakeEngine(Script(tokens=("From", " elsewhere."))))
    here = serve(connect=remote.engine.beside)
    assert here.chat().choices[0].message.content == "Hello from a fake."
    loaded = remote.end(remote.engine.load(ModelSpec(f"{elsewhere.address}/v1")))
    assert isinstance(loaded, Loaded)
    here.server.set_model(loaded.model)
    assert here.chat().choices[0].message.content == "From elsewhere."
    tool = {"type": "function", "function": {"name": "find"}}
    here.chat(tools=[tool], tool_choice="required", parallel_tool_calls=False, presence_penalty=1, logit_bias={"1": 2})
    asked = elsewhere.engine.requests[-1]
    assert (asked.must_call, asked.one_call, asked.bias) == (("find",), True, ((1, 2.0),))
    assert asked.sampling.presence_penalty == 1
    other = {"type": "function", "function": {"name": "look"}}
    here.chat(
        tools=[tool, other], tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool]}}
    )
    asked = elsewhere.engine.requests[-1]
    assert (asked.may_call, asked.must_call, len(asked.tools)) == (("find",), (), 2)


def test_a_server_that_ends_leaves_no_thread(serve: Serve, remote: Driver) -> None:
    elsewhere = serve()
    loaded = remote.end(remote.engine.load(ModelSpec(f"{elsewhere.address}/v1")))
    assert isinstance(loaded, Loaded)
    threads = set(threading.enumerate())
    here = serve(connect=remote.engine.beside)
    here.server.set_model(loaded.model)
    here.chat()
    assert len(set(threading.enumerate()) - threads) == 2, "the server's own, and one that asks elsewhere"
    here.close()
    until(lambda: set(threading.enumerate()) <= threads)
