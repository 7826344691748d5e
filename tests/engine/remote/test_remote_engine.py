"""The remote engine against recorded answers of servers' shapes, and connections that break."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from engine import (
    CacheView,
    EitherEngine,
    Failed,
    Finished,
    KeptStart,
    Loaded,
    Matched,
    Message,
    ModelSpec,
    Preview,
    Request,
    TextDelta,
    Tool,
)
from engine.models.loaded import tokenizer_alone
from engine.prompt.template import PromptBuilder
from engine.remote import engine as remote
from engine.remote.engine import RemoteEngine
from engine.remote.wire import LEFT_OUT, NOT_TOLD, Place
from engine.types import ModelError
from tests.engine.tiny_models import make_folder
from tests.engine.worker_driver import PATIENCE_S, Driver, request


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
HELLO = [chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), END]
VLLM = {
    "choices": [],
    "usage": {"prompt_tokens": 40, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 32}},
}
SGLANG = {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 2, "prompt_tokens_details": None}}
LLAMA_CPP = {
    "choices": [],
    "usage": {"prompt_tokens": 40, "completion_tokens": 2},
    "timings": {"cache_n": 30, "prompt_n": 10, "prompt_ms": 0.001},
}


def letters(body: dict[str, Any]) -> str:
    """A prompt as a server's template makes it."""
    return "".join(f"<{each['role']}>{each['content']}" for each in body["messages"])


def tokens_of(body: dict[str, Any]) -> list[int]:
    """The tokens of a conversation, or of the text that llama.cpp's server wants to have counted: one a letter."""
    return list(map(ord, body["content"] if "content" in body else letters(body)))


def used(count: int) -> dict[str, Any]:
    """What a server says of a prompt of so many tokens."""
    return {"choices": [], "usage": {"prompt_tokens": count, "completion_tokens": 2}}


class Recorded:
    """A server that answers as recorded: `answers` are the streams of one request after the other, each a list of
    chunks; None at the end of one breaks the connection there. What was sent is in `bodies`. `metrics` are what it
    counts at each look. It answers as the model `name` only. `tokens` says which tokens a body has that it is to
    count; without it, it counts nothing."""

    def __init__(
        self,
        *answers: list[Any],
        owner: str = "vllm",
        status: int = 200,
        name: str = "tiny",
        metrics: Sequence[str] = (),
        tokens: Callable[[dict[str, Any]], Sequence[int]] | None = None,
    ) -> None:
        self.name = name
        self.counts: list[tuple[int, Any]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        recorded, left, counted = self, list(answers), list(metrics)

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                """Nothing is printed."""

            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._send((counted.pop(0) if counted else "").encode(), 200 if metrics else 404)
                    return
                models = {"data": [{"id": recorded.name, "owned_by": owner, "max_model_len": 2048}]}
                self._send(json.dumps(models).encode())

            def do_POST(self) -> None:
                recorded.headers.append(self.headers)
                recorded.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                if self.path == "/apply-template":
                    self._send(json.dumps({"prompt": letters(recorded.bodies[-1])}).encode())
                    return
                if self.path == "/tokenize" and recorded.counts:
                    said, body = recorded.counts.pop(0)
                    self._send(json.dumps(body).encode(), said)
                    return
                if self.path == "/tokenize":
                    found = tokens(recorded.bodies[-1]) if tokens else []
                    self._send(
                        json.dumps({"count": len(found), "tokens": list(found)}).encode(), 200 if tokens else 404
                    )
                    return
                if status != 200:
                    self._send(b'{"error": {"message": "too long"}}', status)
                    return
                if recorded.bodies[-1]["model"] != recorded.name:
                    self._send(b'{"error": {"message": "no such model"}}', 404)
                    return
                answer = left.pop(0) if len(left) > 1 else left[0]
                lines = [f"data: {json.dumps(each)}\n\n" for each in answer if each is not None]
                self._send("".join([*lines, "" if None in answer else "data: [DONE]\n\n"]).encode())

            def _send(self, body: bytes, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


Open = Callable[..., tuple[Driver, Recorded]]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """A remote engine with a model of a server that answers as recorded."""
    made: list[tuple[Driver, Recorded]] = []
    monkeypatch.setattr(remote, "PAUSE_S", 0.0)
    monkeypatch.setattr(remote, "key_of", lambda address: "a key")

    def start(*answers: list[Any], **options: Any) -> tuple[Driver, Recorded]:
        server = Recorded(*answers, **options)
        driver = Driver(RemoteEngine())  # type: ignore[arg-type]
        made.append((driver, server))
        assert isinstance(driver.end(driver.engine.load(ModelSpec(server.address))), Loaded)
        return made[-1]

    yield start
    for driver, server in made:
        assert driver.engine.close(PATIENCE_S)
        server.close()


def play(driver: Driver, **changes: Any) -> tuple[Finished, Matched]:
    number = driver.engine.submit(request(**changes))
    end = driver.finished(number)
    (matched,) = [event for event in driver.of(number) if isinstance(event, Matched)]
    shown = "".join(event.text for event in driver.of(number) if isinstance(event, TextDelta) and not event.is_thought)
    assert shown == end.text
    return end, matched


@pytest.mark.parametrize(("last", "reused", "told"), [(VLLM, 32, ()), (SGLANG, 0, (NOT_TOLD,)), (LLAMA_CPP, 30, ())])
def test_what_was_reused_is_what_the_server_says(opened: Open, last: Any, reused: int, told: tuple[str, ...]) -> None:
    driver, server = opened([*HELLO, last])
    end, matched = play(driver)
    assert (end.text, end.reason, end.stats.written_tokens) == ("Hello", "end", 2)
    assert (matched.prompt_tokens, matched.reused_tokens, matched.computed_tokens) == (40, reused, 40 - reused)
    assert matched.notices == told
    assert server.headers[-1]["authorization"] == "Bearer a key"


def test_a_server_that_has_another_model_now_is_asked_for_it(opened: Open) -> None:
    driver, server = opened([*HELLO, VLLM])
    play(driver, server=server.address)
    server.name = "another"
    refused = driver.end(driver.engine.submit(request(server=server.address)))
    assert isinstance(refused, Failed)
    assert "no such model" in refused.sentence
    play(driver, server=server.address)
    assert [body["model"] for body in server.bodies] == ["tiny", "tiny", "another"]


def test_thoughts_and_tool_calls_come_in_parts(opened: Open) -> None:
    calls = [{"index": 0, "id": "c1", "function": {"name": "find", "arguments": ""}}]
    more = [{"index": 0, "function": {"arguments": '{"a": 1}'}}]
    driver, server = opened(
        [chunk(reasoning_content="Hm."), chunk(tool_calls=calls), chunk(tool_calls=more), END, VLLM]
    )
    end, _ = play(driver, tools=(Tool("find"),))
    assert (end.thought, end.text) == ("Hm.", "")
    assert [(call.name, call.arguments, call.id) for call in end.tool_calls] == [("find", '{"a": 1}', "c1")]
    assert server.bodies[-1]["tools"][0]["function"]["name"] == "find"


def test_a_server_that_knows_less_gets_less_and_the_user_hears_of_it(opened: Open) -> None:
    driver, server = opened([*HELLO, VLLM], owner="somebody")
    assert LEFT_OUT in play(driver)[1].notices
    assert "repetition_penalty" not in server.bodies[-1]


def test_a_broken_connection_goes_on_where_it_broke(opened: Open) -> None:
    driver, server = opened([*HELLO[:2], None], [*HELLO, VLLM])
    assert play(driver)[0].text == "Hello"
    assert len(server.bodies) == 2


@pytest.mark.parametrize("answers", [([*HELLO[:2], None],), ([*HELLO[:2], None], [chunk(content="Other"), END])])
def test_one_that_stays_broken_or_goes_on_otherwise_fails_in_a_sentence(opened: Open, answers: Any) -> None:
    driver, _ = opened(*answers)
    end = driver.end(driver.engine.submit(request()))
    assert isinstance(end, Failed)
    assert "Ask again" in end.sentence


@pytest.mark.parametrize(("status", "is_refused"), [(400, True), (401, False), (500, False)])
def test_a_refusal_is_a_sentence(opened: Open, status: int, is_refused: bool) -> None:
    driver, _ = opened(HELLO, status=status)
    end = driver.end(driver.engine.submit(request()))
    assert isinstance(end, Failed)
    assert end.is_refused is is_refused
    assert ("key" in end.sentence) is (status == 401)


@pytest.mark.parametrize("fields", [{"scores": 2}, {"kept": (KeptStart(1, 60.0),)}, {"salt": "mine"}])
def test_what_the_server_cannot_be_asked_is_refused(opened: Open, fields: dict[str, Any]) -> None:
    driver, server = opened(HELLO, owner="somebody")
    end = driver.end(driver.engine.submit(request(**fields)))
    assert isinstance(end, Failed)
    assert end.is_refused
    assert server.bodies == []


def test_an_error_in_the_stream_is_a_sentence(opened: Open) -> None:
    driver, _ = opened([HELLO[1], {"error": {"message": "out of memory"}}])
    end = driver.end(driver.engine.submit(request()))
    assert isinstance(end, Failed)
    assert "out of memory" in end.sentence


def look(driver: Driver, asked: Request) -> Preview:
    preview = driver.end(driver.engine.preview(asked))
    assert isinstance(preview, Preview)
    assert preview.is_elsewhere
    return preview


@pytest.mark.parametrize("owner", ["vllm", "llamacpp"])
def test_what_a_server_has_had_is_known_and_no_more_is_said(opened: Open, owner: str) -> None:
    asked = request("Where?", conversation="#1")
    count = len(letters({"messages": [{"role": each.role, "content": each.content} for each in asked.messages]}))
    driver, _ = opened([*HELLO, used(count)], owner=owner, tokens=tokens_of)
    assert (look(driver, asked).prompt_tokens, look(driver, asked).reused_tokens) == (count, 0)
    driver.finished(driver.engine.submit(asked))
    longer = replace(asked, messages=(*asked.messages, Message("assistant", "Hello"), Message("user", "And?")))
    assert look(driver, longer).reused_tokens == count
    other = look(driver, request("Whose?", conversation="#1"))
    assert other.reused_tokens == count - len("ere?"), "up to the first letter that differs"
    assert look(driver, replace(longer, conversation="#2")).reused_tokens == 0
    assert (other.seconds, other.spans, other.reused_tokens + other.computed_tokens) == (0.0, (), other.prompt_tokens)


def test_a_count_that_the_server_contradicts_promises_nothing(opened: Open) -> None:
    asked = request("Where?", conversation="#1")
    driver, _ = opened([*HELLO, used(3)], tokens=tokens_of)
    look(driver, asked)
    driver.finished(driver.engine.submit(asked))
    assert look(driver, asked).reused_tokens == 0


def test_a_server_that_counts_nothing_says_so(opened: Open) -> None:
    driver, server = opened(HELLO)
    for _ in range(2):
        failed = driver.end(driver.engine.preview(request()))
        assert isinstance(failed, Failed)
        assert "does not count" in failed.sentence
    assert len(server.bodies) == 1, "it is asked once"


PASSING = [(503, {"error": "busy"}), (429, {}), (400, {"error": "roles must alternate"}), (200, {"error": "odd"})]


@pytest.mark.parametrize("said", PASSING, ids=lambda said: said[0])
def test_a_server_that_has_counted_is_asked_again(opened: Open, said: tuple[int, Any]) -> None:
    """One refusal is of one conversation, or of a moment."""
    driver, server = opened(HELLO, tokens=tokens_of)
    count = look(driver, request()).prompt_tokens
    server.counts = [said]
    assert isinstance(driver.end(driver.engine.preview(request())), Failed)
    assert look(driver, request()).prompt_tokens == count


@pytest.mark.parametrize("said", [(503, {}), (429, {"error": "busy"})], ids=lambda said: said[0])
def test_a_server_that_is_busy_at_first_is_asked_again(opened: Open, said: tuple[int, Any]) -> None:
    driver, server = opened(HELLO, tokens=tokens_of)
    server.counts = [said]
    assert isinstance(driver.end(driver.engine.preview(request())), Failed)
    assert look(driver, request()).prompt_tokens


NOT_COUNTED = [{"error": "Unexpected endpoint or method."}, {"count": 0}, {"tokens": []}, [], None, {"count": "many"}]


@pytest.mark.parametrize("said", NOT_COUNTED, ids=str)
def test_a_server_that_answers_something_else_counts_nothing(opened: Open, said: Any) -> None:
    """Some say 200 to whatever they are asked. Opened again, it is asked again."""
    driver, server = opened(HELLO, tokens=tokens_of)
    server.counts = [(200, said)]
    for _ in range(2):
        failed = driver.end(driver.engine.preview(request()))
        assert isinstance(failed, Failed)
        assert "does not count" in failed.sentence
    assert len(server.bodies) == 1
    assert isinstance(driver.end(driver.engine.load(ModelSpec(server.address))), Loaded)
    assert look(driver, request()).prompt_tokens


def test_a_number_that_agrees_leaves_the_tokenizer_here(opened: Open, cached_model: PromptBuilder) -> None:
    """A server that says how many tokens there are, and not which."""
    asked = request("Where is it?")
    made = cached_model.build(asked.messages)
    driver, server = opened(HELLO, name="org/tiny")
    server.counts = [(200, {"count": len(made.ids)}), (200, {"count": len(made.ids) + 1})]
    assert look(driver, asked).spans == made.spans
    found = look(driver, asked)
    assert (found.spans, found.prompt_tokens) == ((), len(made.ids) + 1)


@pytest.fixture
def cached_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PromptBuilder:
    """The tokenizer of the model "org/tiny" lies in the Hugging Face cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    folder = make_folder(tmp_path / "models--org--tiny" / "snapshots" / "abc")
    (folder / "model.safetensors").unlink()
    return PromptBuilder(tokenizer_alone(folder))


def test_a_tokenizer_on_this_computer_counts_where_the_server_does_not(
    opened: Open, cached_model: PromptBuilder
) -> None:
    asked = request("Where is it?", conversation="#1")
    made = cached_model.build(asked.messages)
    driver, _ = opened([*HELLO, used(len(made.ids))], name="org/tiny")
    before = look(driver, asked)
    assert (before.ids, before.spans, before.reused_tokens) == (made.ids, made.spans, 0)
    assert "Where is it?" in "".join(before.block_texts)
    driver.finished(driver.engine.submit(asked))
    assert look(driver, asked).reused_tokens == len(made.ids)


def test_a_tokenizer_of_another_model_of_that_name_is_not_believed(opened: Open, cached_model: PromptBuilder) -> None:
    asked = request("Where is it?", conversation="#1")
    driver, _ = opened([*HELLO, used(7)], name="org/tiny")
    look(driver, asked)
    driver.finished(driver.engine.submit(asked))
    assert isinstance(driver.end(driver.engine.preview(asked)), Failed)
    counting, _ = opened([*HELLO, used(7)], name="org/tiny", tokens=tokens_of)
    assert look(counting, asked).spans == ()


@pytest.mark.parametrize(
    "path", ["http://", "http://user:word@host/v1", "ftp://host", "http://host:99999/v1", "http://h?x=1"]
)
def test_an_address_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ModelError, match="named by its address"):
        Place.of(path)


def test_a_server_that_is_not_there_is_a_sentence() -> None:
    driver = Driver(RemoteEngine())  # type: ignore[arg-type]
    end = driver.end(driver.engine.load(ModelSpec("http://127.0.0.1:9/v1")))
    assert isinstance(end, Failed)
    assert "cannot be reached" in end.sentence
    assert driver.engine.close(PATIENCE_S)


def test_either_engine_answers_from_what_was_loaded_last(opened: Open, driver: Driver) -> None:
    _, server = opened([*HELLO, VLLM])
    either = Driver(EitherEngine(driver.engine, RemoteEngine()))  # type: ignore[arg-type]
    local = either.finished(either.engine.submit(request()))
    either.engine.clear_cache()
    assert isinstance(either.end(either.engine.load(ModelSpec(server.address))), Loaded)
    either.events += either.engine.poll()
    asked = either.engine.submit(request())
    assert either.engine.wait(PATIENCE_S), "whoever waits hears of the server that answers now"
    assert either.finished(asked).text == "Hello" != local.text
    either.engine.clear_cache()
    either.engine.forget("chat")
    either.until(lambda: len([event for event in either.events if event.request_id == 0]) == 3)
    assert either.engine.close(PATIENCE_S)


def test_a_request_can_name_its_own_server(opened: Open, driver: Driver) -> None:
    """Whatever was loaded, and beside requests that go elsewhere."""
    _, server = opened([*HELLO, VLLM])
    either = Driver(EitherEngine(driver.engine, RemoteEngine()))  # type: ignore[arg-type]
    there = [either.finished(either.engine.submit(request(server=server.address))) for _ in range(2)]
    assert [end.text for end in there] == ["Hello"] * 2
    assert either.finished(either.engine.submit(request())).text != "Hello"
    views = [event for event in either.events if isinstance(event, CacheView)]
    assert all(view.budget_bytes for view in views), "the cache of this computer stays as it is"
    assert isinstance(either.end(either.engine.preview(request(server=server.address))), Failed)
    wrong = either.end(either.engine.submit(request(server="ftp://x")))
    assert isinstance(wrong, Failed)
    assert "named by its address" in wrong.sentence
    alone = driver.end(driver.engine.submit(request(server=server.address)))
    assert isinstance(alone, Failed)
    assert either.engine.close(PATIENCE_S)


def counted(queries: float, hits: float, names: str = "vllm:prefix_cache_queries vllm:prefix_cache_hits") -> str:
    one, other = names.split()
    return (
        f"# HELP {one}_total Tokens.\n# TYPE {one}_total counter\n"
        f'{one}_total{{model_name="a"}} {queries}\n{one}_created{{model_name="a"}} 1.7e9\n'
        f'{other}_total{{model_name="a"}} {hits}\n'
    )


COUNTED = {
    "vllm": ([counted(100, 7), counted(140, 39)], 32),
    "sglang": (
        [counted(1, 1, "sglang:prompt_tokens sglang:cached_tokens")] * 1
        + [counted(41, 31, "sglang:prompt_tokens sglang:cached_tokens")],
        30,
    ),
    "somebody else asked meanwhile": ([counted(100, 7), counted(180, 39)], None),
    "another kind of server": (["llamacpp:tokens 3", "llamacpp:tokens 9"], None),
    "nothing is counted": ([], None),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_an_answer_does_not_say_is_read_from_the_counters(opened: Open, name: str) -> None:
    """From the second answer on: the first one shows that this server does not say it."""
    metrics, reused = COUNTED[name]
    driver, _ = opened([*HELLO, SGLANG], [*HELLO, SGLANG], metrics=metrics)
    first, second = (play(driver)[1] for _ in range(2))
    assert NOT_TOLD in first.notices
    assert second.reused_tokens == (reused or 0)
    assert (NOT_TOLD in second.notices) is (reused is None)


def test_a_model_that_is_named_by_its_file_is_shown_without_the_path(opened: Open) -> None:
    driver, server = opened([*HELLO, VLLM], name="/home/me/models/Tiny.Q4_1.gguf")
    (loaded,) = [event for event in driver.events if isinstance(event, Loaded)]
    assert loaded.model.name == "Tiny.Q4_1"
    play(driver)
    assert server.bodies[0]["model"] == "/home/me/models/Tiny.Q4_1.gguf"
