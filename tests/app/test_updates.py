"""The newest version: asked of a server of this test, signed with a key of this test."""

from __future__ import annotations

import base64
import importlib.util
import json
import threading
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from app import updates
from app.settings import Settings
from app.updates import Source
from engine import HeadstartError
from tests.app.window.conftest import Screen, make_screen

assert make_screen
ROOT = Path(__file__).parents[2]
KEY = SigningKey(bytes(range(32)))


def signed(key: SigningKey = KEY, **fields: object) -> bytes:
    said = json.dumps({"program": "headstart", "version": "9.1", "page": "https://example.org/get", **fields}).encode()
    return base64.b64encode(key.sign(said).signature) + b"\n" + said


@pytest.fixture
def serve() -> Iterator[Callable[[bytes | int], Source]]:
    """Answers with these bytes, or with this status, on a port of this computer."""
    servers = []

    def start(answer: bytes | int) -> Source:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(answer if isinstance(answer, int) else 200)
                self.end_headers()
                self.wfile.write(answer if isinstance(answer, bytes) else b"")

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return Source(f"http://127.0.0.1:{server.server_port}/newest", bytes(KEY.verify_key))

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_signed_answer_is_believed(serve: Callable[..., Source]) -> None:
    assert updates.newest(serve(signed())) == updates.Release("9.1", "https://example.org/get")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (signed(SigningKey(bytes(32))), "not signed"),
        (signed()[:-1] + b"]", "not signed"),
        (b"", "not signed"),
        (b"\xff" * 20_000, "not signed"),
        (signed(program="another"), "cannot be read"),
        (signed(version="9.1; rm"), "cannot be read"),
        (signed(page="file:///etc/passwd"), "cannot be read"),
        (base64.b64encode(KEY.sign(b"[1]").signature) + b"\n[1]", "cannot be read"),
        (404, r"an error \(404\)"),
    ],
)
def test_anything_else_is_a_sentence(serve: Callable[..., Source], answer: bytes | int, words: str) -> None:
    with pytest.raises(HeadstartError, match=words):
        updates.newest(serve(answer))


def test_nobody_there_is_a_sentence(serve: Callable[..., Source]) -> None:
    with pytest.raises(HeadstartError, match=r"127\.0\.0\.1 does not answer"):
        updates.newest(Source("http://127.0.0.1:9/newest", bytes(32)))


@pytest.mark.parametrize(
    ("version", "own", "expected"),
    [("0.10", "0.9.1", True), ("1", "1.0.0", False), ("0.9", "0.10", False), ("2", "(not installed)", False)],
)
def test_versions_are_compared_by_their_numbers(version: str, own: str, expected: bool) -> None:
    assert updates.is_newer(version, own) is expected


def test_placeholders_offer_nothing() -> None:
    names = tomllib.loads((ROOT / "packaging" / "app.toml").read_text(encoding="utf-8"))
    assert updates.source_of(names) is None
    assert updates.source() is None
    key = base64.b64encode(bytes(KEY.verify_key)).decode()
    assert updates.source_of({"updates": {"url": "https://headstart.invalid/newest", "key": key}}) is None
    found = updates.source_of({"updates": {"url": "https://example.org/newest", "key": key}})
    assert found == Source("https://example.org/newest", bytes(KEY.verify_key))


def test_the_release_script_signs_what_is_read(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("sign_version", ROOT / "packaging" / "sign_version.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    public = base64.b64decode(script.new_key(tmp_path / "key"))
    key = SigningKey(base64.b64decode((tmp_path / "key").read_bytes()))
    made = script.signed("0.2.0", "https://example.org/get", key)
    assert updates.read(made, Source("https://x", public)).version == "0.2.0"


@pytest.mark.parametrize("agreed", [True, False])
def test_the_window_asks_only_who_agreed(
    serve: Callable[..., Source],
    make_screen: Callable[..., Screen],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: object,
    agreed: bool,
) -> None:
    where = serve(signed())
    monkeypatch.setattr(updates, "source", lambda: where)
    monkeypatch.setattr("app.application.own_version", lambda: "0.1.0")
    screen = make_screen(settings=Settings(theme="light", look_for_updates=agreed))
    notice = screen.window.notice
    if agreed:
        qtbot.waitUntil(lambda: bool(notice.text), timeout=60_000)  # type: ignore[attr-defined]
        assert notice.text == "Headstart 9.1 is there; this is 0.1.0."
        assert notice.offer.text() == "Open its page"
    else:
        assert notice.text == ""
    screen.application.dialogs.edit_preferences()
    assert screen.application.dialogs.open_dialog.look_for_updates.isVisible()


def test_the_about_box_asks_on_request(
    serve: Callable[..., Source], make_screen: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch, qtbot: object
) -> None:
    where = serve(404)
    monkeypatch.setattr(updates, "source", lambda: where)
    screen = make_screen()
    screen.window.commands.about.trigger()
    about = screen.application.dialogs.open_dialog
    about.ask.click()
    qtbot.waitUntil(lambda: "error (404)" in about.said.text(), timeout=60_000)  # type: ignore[attr-defined]
    assert "error (404)" in screen.window.notice.text
