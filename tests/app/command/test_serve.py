"""`headstart serve` as a process of its own: it answers, and ends when it is told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from app.command.arguments import Parser
from app.command.serve import KEY_VARIABLE, access_of, add_serve_arguments
from app.server.access import Access
from app.server.listening import Server
from tests.app.fake_engine import MODEL, FakeEngine, Script
from tests.conftest import PATIENCE_S
from tests.engine.tiny_models import make_folder

ROOT = Path(__file__).parents[3]


def options(*given: str):
    parser = Parser()
    add_serve_arguments(parser)
    return parser.parse_args(given)


def test_it_answers_and_ends_with_the_signal(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "tiny")
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--model", str(folder), "--cache-mb", "100"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            said = next((line for line in process.stdout if "answers at" in line), "")
            address = said.partition("answers at ")[2].split("/v1")[0]
            body = {"model": "default", "messages": [{"role": "user", "content": "x"}], "max_tokens": 3}
            answer = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=PATIENCE_S)
            assert answer.json()["usage"]["completion_tokens"] == 3, said
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
            assert "Traceback" not in process.stdout.read()
        finally:
            process.kill()


def test_a_server_elsewhere_answers_through_it() -> None:
    there = FakeEngine(Script(tokens=("From", " elsewhere.")))
    elsewhere = Server(lambda wake: there, Access(port=0), MODEL)
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--model", f"{elsewhere.address}/v1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            said = next((line for line in process.stdout if "answers at" in line), "")
            address = said.partition("answers at ")[2].split("/v1")[0]
            body = {"model": "default", "messages": [{"role": "user", "content": "x"}]}
            answer = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=PATIENCE_S).json()
            assert answer["choices"][0]["message"]["content"] == "From elsewhere.", said
            assert answer["usage"]["completion_tokens"] == 2
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
            assert "Traceback" not in process.stdout.read()
        finally:
            process.kill()
            elsewhere.stop()


@pytest.mark.parametrize("model", ["/nowhere", "http://127.0.0.1:9/v1"])
def test_a_model_that_is_not_there_is_a_sentence(model: str) -> None:
    command = [sys.executable, "-m", "app", "serve", "--port", "0", "--model", model]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("headstart: ")


def test_this_computer_needs_no_key_and_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert access_of(options()).key == ""
    made = [access_of(options("--host", "0.0.0.0")).key for _ in range(2)]
    assert len(set(made)) == 2
    assert min(map(len, made)) >= 24
    monkeypatch.setenv(KEY_VARIABLE, "mine")
    assert access_of(options("--host", "0.0.0.0", "--allow-host", "den")).names == ("den",)
    assert access_of(options("--host", "0.0.0.0")).key == "mine"
    assert os.environ[KEY_VARIABLE] == "mine"


@pytest.mark.parametrize("port", ["-1", "65536", "x", "٣"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options(f"--port={port}")
    assert "0 to 65535" in capsys.readouterr().err
