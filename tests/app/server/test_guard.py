"""Who is let in, and how much of whom: names, pages, keys, sizes, speed, and that nothing gets out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.access import Access, Limits, host_of
from app.server.listening import Server
from engine import HeadstartError
from tests.app.fake_engine import FakeEngine
from tests.app.server.conftest import Caller, Serve, post, until

HELLO = {"model": "default", "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "192.168.0.7"},
        {"host": ""},
    ],
)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_nothing_of_another_origin_reaches_the_engine(caller: Caller, headers: dict[str, str], path: str) -> None:
    answer = caller.http.post(path, json={**HELLO, "max_tokens": 5}, headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    assert caller.engine.requests == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_form_of_a_page_is_no_json(caller: Caller, kind: str) -> None:
    answer = caller.http.post("/v1/chat/completions", content=json.dumps(HELLO), headers={"content-type": kind})
    assert answer.status_code == 415
    assert caller.engine.requests == []


def test_a_page_may_not_ask_whether_it_may(caller: Caller) -> None:
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    assert caller.http.options("/v1/chat/completions", headers=asked).status_code == 403


def test_its_own_page_may(caller: Caller) -> None:
    answer = caller.http.get("/v1/cache/requests", headers={"origin": caller.address, "sec-fetch-site": "same-origin"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "shown", [{}, {"authorization": "Bearer wrong"}, {"x-api-key": ""}, {"authorization": "Basic x"}]
)
@pytest.mark.parametrize("path", ["/v1/models", "/v1/cache", "/metrics", "/nowhere"])
def test_without_the_key_nothing_is_told(serve: Serve, shown: dict[str, str], path: str) -> None:
    answer = serve(key="the key").http.get(path, headers=shown)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_both_clients_show_the_key(serve: Serve) -> None:
    caller = serve(key="the key")
    assert caller.chat().choices[0].message.content
    assert caller.message().content
    assert caller.http.get("/").status_code == 200


def test_elsewhere_a_key_is_needed() -> None:
    with pytest.raises(HeadstartError, match="needs a key"):
        Server(lambda wake: FakeEngine(), Access(host="0.0.0.0", port=0))


def test_a_taken_port_is_a_sentence(caller: Caller) -> None:
    port = int(caller.address.rpartition(":")[2])
    with pytest.raises(HeadstartError, match="Choose another port"):
        Server(lambda wake: FakeEngine(), Access(port=port))


@pytest.mark.parametrize(("host", "asked", "is_known"), [
    ("127.0.0.1", "localhost:80", True),
    ("127.0.0.1", "[::1]:80", True),
    ("127.0.0.1", "10.0.0.1", False),
    ("0.0.0.0", "10.0.0.1:99", True),
    ("0.0.0.0", "home.example", False),
])  # fmt: skip
def test_which_names_are_known(host: str, asked: str, is_known: bool) -> None:
    assert Access(host=host).knows_host(asked) is is_known
    assert Access(host=host, names=("Home.example",)).knows_host("home.example:80")


@given(st.text(max_size=30))
def test_any_host_is_read(header: str) -> None:
    host_of(header)
    Access().knows_host(header)


BAD = [
    b"",
    b"{",
    b"[]",
    b'"x"',
    b"\xff\xfe",
    b'{"model": NaN}',
    b"[" * 100_000,
    b'{"model": "default", "messages": [], "seed": 1e999}',
    b'{"model": "default", "messages": "x"}',
    b'{"model": 5, "messages": [{"role": "user", "content": "x"}]}',
    b'{"model": "default", "messages": [{"role": "user", "content": "x"}], "seed": ' + b"9" * 5000 + b"}",
    b'{"model": "default", "messages": [{"role": "boss", "content": "x"}]}',
]


@pytest.mark.parametrize("body", BAD)
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/tokenize"])
def test_a_bad_body_is_a_sentence_in_the_shape_of_its_api(caller: Caller, body: bytes, path: str) -> None:
    answer = caller.http.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 404)
    error = answer.json()["error"]
    assert ("type" in answer.json()) is path.startswith("/v1/messages")
    assert error["message"].endswith(".")
    assert "Traceback" not in answer.text
    assert "/app/" not in answer.text


def test_a_hundred_megabytes_are_refused_unread(caller: Caller) -> None:
    with caller.connection() as connection:
        connection.sendall(post("/v1/chat/completions", b"", content_length="100000000"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")


def test_a_body_without_a_length_ends_at_the_limit(serve: Serve) -> None:
    caller = serve(limits=Limits(body_bytes=1000))
    answer = caller.http.post(
        "/v1/chat/completions", content=iter([b" " * 600] * 3), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413


def test_a_slow_sender_is_let_go(serve: Serve) -> None:
    caller = serve(limits=Limits(body_s=0.05))
    with caller.connection() as connection:
        connection.sendall(post("/v1/messages", b"{", content_length="100"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 408")


def test_a_caller_that_never_asks_is_let_go(serve: Serve) -> None:
    caller = serve(limits=Limits(headers_s=0.05))
    with caller.connection() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: 127.0")
        assert connection.recv(1000) == b""


def test_headers_have_a_limit(serve: Serve) -> None:
    caller = serve(limits=Limits(header_bytes=4000))
    assert caller.http.get("/health", headers={"x-long": "x" * 9000}).status_code == 431


def test_a_full_queue_says_when_to_come_again(serve: Serve) -> None:
    caller = serve(limits=Limits(open_requests=0))
    answer = caller.http.post("/v1/messages", json={**HELLO, "max_tokens": 5})
    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "rate_limit_error")
    assert int(answer.headers["retry-after"]) > 0


def test_no_more_calls_than_allowed_are_open(serve: Serve) -> None:
    answer = serve(limits=Limits(open_calls=0)).http.get("/v1/models")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_calls")


def test_what_nobody_expected_is_a_sentence_without_a_trace(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(caller.engine, "submit", lambda request: 1 / 0)
    answer = caller.http.post("/v1/chat/completions", json=HELLO)
    assert answer.status_code == 500
    assert "restart Headstart" in answer.json()["error"]["message"]
    assert "ZeroDivision" not in answer.text
    until(lambda: "ZeroDivisionError" in caplog.text)
    caplog.clear()


def test_an_address_that_is_not_there_is_a_sentence(caller: Caller) -> None:
    assert "no such address" in caller.http.get("/v2").json()["error"]["message"]
    assert "does not take" in caller.http.put("/v1/models").json()["error"]["message"]


def test_without_a_model_the_server_says_so(caller: Caller) -> None:
    caller.server.set_model(None)
    assert caller.http.post("/v1/chat/completions", json=HELLO).status_code == 503
    assert caller.http.get("/health").json() == {"status": "loading"}
