"""A server on this computer that answers as the Hugging Face Hub does, and fails as it is told to."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants

LFS_FROM = 4000
"""Files of as many bytes are kept apart from git, by their SHA-256."""


class FakeHub:
    """`models` are files by their names, by repository. `cuts` are the bytes after which the next answers with a file
    break off; `status` is an error for everything, `token` what is asked for and `kept` what the user's keyring holds,
    `lies` what a file has in place of its bytes. `ranges` are those that were asked for, None for a whole file;
    `tokens` what came with the requests."""

    def __init__(self) -> None:
        self.models: dict[str, dict[str, bytes]] = {}
        self.revision = "a" * 40
        self.cuts: list[int] = []
        self.status = 0
        self.token = self.kept = ""
        self.lies: dict[str, bytes] = {}
        self.ignores_ranges = False
        self.ranges: list[str | None] = []
        self.tokens: list[str | None] = []
        self.held = threading.Event()
        self.held.set()
        self.address = ""

    def listing(self, repo: str) -> bytes:
        """What the Hub's API says of a repository."""
        siblings = [_sibling(name, data) for name, data in self.models[repo].items()]
        return json.dumps({"id": repo, "sha": self.revision, "siblings": siblings}).encode()

    def answer(self, path: str, token: str | None) -> tuple[int, bytes, bool]:
        """The status, the bytes, and whether these are a file."""
        self.tokens.append(token)
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        if self.status:
            return self.status, b"{}", False
        if self.token and token != f"Bearer {self.token}":
            return 401, b"{}", False
        is_file = parts[0] != "api"
        repo = "/".join(parts[:2] if is_file else parts[2:4])
        if repo not in self.models:
            return 404, b"{}", False
        if not is_file:
            return 200, self.listing(repo), False
        name = "/".join(parts[4:])
        if name not in self.models[repo] or parts[3] != self.revision:
            return 404, b"{}", False
        return 200, self.lies.get(name, self.models[repo][name]), True


def _sibling(name: str, data: bytes) -> dict[str, object]:
    blob = hashlib.sha1(b"blob %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()
    made: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": blob}
    if len(data) >= LFS_FROM:
        made["lfs"] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "pointerSize": 130}
    return made


@contextmanager
def running() -> Iterator[FakeHub]:
    """Such a server until the end of the block."""
    hub = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, data, is_file = hub.answer(self.path, self.headers.get("Authorization"))
            begin, wanted = 0, self.headers.get("Range")
            if is_file:
                hub.held.wait()
                hub.ranges.append(wanted)
                if wanted and not hub.ignores_ranges:
                    begin = int(wanted.removeprefix("bytes=").split("-")[0])
                    status = 206
            self.send_response(status)
            self.send_header("Content-Length", str(len(data) - begin))
            self.send_header("Connection", "close")  # no thread waits for more
            self.end_headers()
            most = hub.cuts.pop(0) if is_file and hub.cuts else len(data)
            self.wfile.write(data[begin : begin + most])

        def log_message(self, *arguments: object) -> None:
            """Nothing is said of it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        hub.held.set()
        server.shutdown()
        thread.join()
        server.server_close()


def used(monkeypatch: pytest.MonkeyPatch, hub: FakeHub) -> None:
    """Have huggingface_hub ask this server, as it does with HF_ENDPOINT, and with no token of the user's."""
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
