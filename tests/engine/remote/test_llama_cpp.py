"""The remote engine against llama-cpp-python's own server, with the default model, where that is installed: beside us,
or for the Python that HEADSTART_TEST_LLAMA_CPP names."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import Failed, Finished, Loaded, Matched, ModelSpec, Preview
from engine.remote.engine import RemoteEngine
from engine.remote.wire import LEFT_OUT
from tests.engine.worker_driver import PATIENCE_S, Driver, request

PYTHON = os.environ.get("HEADSTART_TEST_LLAMA_CPP") or (sys.executable if importlib.util.find_spec("llama_cpp") else "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="llama_cpp.server is not installed")


@pytest.fixture(scope="module")
def remote(default_model: Path) -> Iterator[Driver]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "llama_cpp.server", "--model", str(default_model), "--port", str(port), "--n_ctx", "2048"]
    driver = Driver(RemoteEngine())  # type: ignore[arg-type]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            said = next((line for line in server.stdout if "Uvicorn running" in line), "")
            assert said
            loaded = driver.end(driver.engine.load(ModelSpec(f"http://127.0.0.1:{port}/v1")))
            assert isinstance(loaded, Loaded), loaded
            assert "/" not in loaded.model.name
            yield driver
        finally:
            server.kill()
    assert driver.engine.close(PATIENCE_S)


def test_it_answers_and_says_what_it_does_not_know(remote: Driver) -> None:
    ends = [remote.finished(remote.engine.submit(request("What is a tent?"))) for _ in range(2)]
    assert ends[0].text == ends[1].text != ""
    matched = [event for event in remote.events if isinstance(event, Matched)][-1]
    assert matched.reused_tokens == 0
    assert LEFT_OUT in matched.notices


def test_a_stop_is_heard_and_the_next_question_answered(remote: Driver) -> None:
    number = remote.engine.submit(request("Tell me a long story about a tent in the rain."))
    remote.until(lambda: len(remote.of(number)) > 1)
    remote.engine.cancel(number)
    assert isinstance(remote.end(number), Finished)
    assert remote.finished(remote.engine.submit(request("And a short one?"))).text


def test_what_it_has_not_is_a_sentence(remote: Driver) -> None:
    assert isinstance(remote.end(remote.engine.preview(request())), Failed | Preview)
    refused = remote.end(remote.engine.submit(request(salt="x")))
    assert isinstance(refused, Failed)
    assert refused.is_refused
