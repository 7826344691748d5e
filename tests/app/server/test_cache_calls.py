"""The cache over HTTP: shown, read ahead, dropped; figures for Prometheus; the live page; the description."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.schemas import APIOperation

from app.server.access import Access
from app.server.listening import Server
from engine import CacheView, NodeView
from tests.app.fake_engine import MODEL, FakeEngine
from tests.app.server.conftest import Caller

HELLO = {"messages": [{"role": "user", "content": "Where is my parcel?"}]}


def test_the_cache_is_shown_with_its_tree(caller: Caller) -> None:
    caller.chat()
    shown = caller.http.get("/v1/cache").json()
    assert shown["used_bytes"] == shown["pinned_bytes"] + shown["live_bytes"] + shown["reusable_bytes"]
    assert [run["parent"] for run in shown["runs"]] == [-1, 0]
    assert shown["tiers"]["memory"] == sum(run["bytes"] for run in shown["runs"])


def test_how_a_chat_of_the_window_begins_is_told_to_nobody(caller: Caller, monkeypatch) -> None:
    runs = (
        NodeView(-1, 0, 16, 1, 0.0, 0, False, ("#1",), text="a secret"),
        NodeView(-1, 0, 16, 1, 0.0, 0, False, ("#1", "api:editor/0"), text="a shared secret"),
        NodeView(-1, 0, 16, 1, 0.0, 0, False, ("api:editor/0", "api:editor/1"), text="mine"),
    )
    monkeypatch.setattr(caller.engine, "cache_view", lambda: CacheView(0, 0.0, 0, 0, 0, 0, 0, 0, runs))
    answer = caller.http.get("/v1/cache")
    assert "secret" not in answer.text
    assert [(run["text"], run["clients"]) for run in answer.json()["runs"]] == [
        ("", []),
        ("", ["editor"]),
        ("mine", ["editor"]),
    ]


def test_a_prompt_is_read_ahead_and_kept(caller: Caller) -> None:
    warmed = caller.http.post("/v1/cache/prewarm", json={**HELLO, "seconds": 60}).json()
    (asked,) = caller.engine.requests
    assert (asked.sampling.max_tokens, asked.kept[0].messages, asked.kept[0].seconds) == (1, 1, 60.0)
    assert caller.chat().usage.prompt_tokens_details.cached_tokens == warmed["prompt_tokens"] - 1


def test_the_cache_is_dropped_whole_and_in_part(caller: Caller) -> None:
    assert caller.http.delete("/v1/cache").json()["object"] == "cache"
    assert caller.http.delete("/v1/cache/-3").json()["object"] == "cache"
    assert caller.http.delete("/v1/cache/x").status_code == 400
    assert caller.engine.calls == ["clear_cache", "drop_prefix"]


def test_prometheus_reads_figures_under_vllms_names(caller: Caller) -> None:
    caller.chat()
    usage = caller.chat().usage
    text = caller.http.get("/metrics").text
    values = {name: float(value) for name, value in re.findall(r"^(\S+) (\S+)$", text, re.MULTILINE)}
    assert values["vllm:prefix_cache_queries_total"] == 2 * usage.prompt_tokens
    assert values["vllm:prefix_cache_hits_total"] == usage.prompt_tokens_details.cached_tokens
    assert values["vllm:time_to_first_token_seconds_count"] == 2
    assert values['vllm:time_to_first_token_seconds_bucket{le="+Inf"}'] == 2
    assert values["headstart:requests_open"] == 0


def test_the_last_requests_are_listed_for_the_page(caller: Caller) -> None:
    caller.chat(user="editor")
    caller.message()
    told = caller.http.get("/v1/cache/requests").json()
    newest, oldest = told["data"]
    assert len(told["hosted_usd"]) == 3
    assert all(each["without"] > 0 for each in told["hosted_usd"])
    assert (oldest["client"], oldest["state"], oldest["written_tokens"]) == ("editor", "done", 5)
    assert (newest["client"], newest["path"]) == ("Anthropic/Python", "/v1/messages")
    page = caller.http.get("/")
    assert "page.js" in page.text
    assert "innerHTML" not in caller.http.get("/page.js").text


@pytest.fixture(scope="module")
def operations() -> Iterator[tuple[str, list[APIOperation]]]:
    """A server, and all that its description says one can ask of it."""
    server = Server(lambda wake: FakeEngine(), Access(port=0), MODEL)
    schema = schemathesis.openapi.from_url(f"{server.address}/openapi.json")
    yield server.address, [result.ok() for result in schema.get_all_operations()]
    server.stop()


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_fits_or_does_not_fit_the_description_is_answered(
    operations: tuple[str, list[APIOperation]], data: st.DataObject
) -> None:
    """schemathesis makes calls from the description, good ones and bad ones; none is answered with a fault of ours."""
    address, known = operations
    case = data.draw(data.draw(st.sampled_from(known)).as_strategy())
    answer = case.call(base_url=address)
    assert answer.status_code < 500, answer.text
