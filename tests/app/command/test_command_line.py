"""The command line: what it opens, what it refuses, with which words and status."""

from __future__ import annotations

import argparse
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import app.__main__ as command_line
from app.command import doctor
from app.command.arguments import spec_of
from app.command.terminal import ProgressLine
from app.settings import Settings
from engine import DeviceCheck, DeviceReport, EngineReport, HeadstartError, ModelSpec
from tests.engine.model_files import write_gguf


@pytest.fixture(autouse=True)
def _log_handlers() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.captureWarnings(False)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command line, make sure that it refuses with one sentence, and return that."""
    assert command_line.main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize("command", [[], ["demo", "--offscreen", "--out", "never-made"]])
def test_bad_model_is_refused_before_anything_opens(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    assert "There is no model at" in refusal(capsys, *command, "--model", str(tmp_path / "nowhere"))
    (tmp_path / "pickles").mkdir()
    (tmp_path / "pickles" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "pickles" / "pytorch_model.bin").write_bytes(b"\x80\x04")
    assert "a pickle can run any program" in refusal(capsys, *command, "--model", str(tmp_path / "pickles"))
    (tmp_path / "half.gguf").write_bytes(b"GGUF\x03\0\0\0")
    assert "is not a readable GGUF file" in refusal(capsys, *command, "--model", str(tmp_path / "half.gguf"))
    assert not Path("never-made").exists()


def test_a_path_alone_is_a_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Desktops give it so for "open with". A file that is called like a command does not hide the command."""
    (tmp_path / "half.gguf").write_bytes(b"GGUF")
    assert "is not a readable GGUF file" in refusal(capsys, str(tmp_path / "half.gguf"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doctor").write_text("")
    assert command_line.as_opened(["doctor"]) == ["doctor"]


@pytest.mark.parametrize("path", ["~nosuch-user-here/x", "m" * 300, "a/" * 3000, "nul\0l"])
def test_a_path_that_can_be_none_is_no_model(capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert "There is no model at" in refusal(capsys, "--model", path)


@pytest.mark.parametrize("size", ["1e30", "-1", "10000001", "9" * 5000, "1.5"])
def test_a_cache_that_no_computer_has_is_refused(capsys: pytest.CaptureFixture[str], size: str) -> None:
    with pytest.raises(SystemExit) as caught:
        command_line.parse([f"--cache-mb={size}"])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert "give a whole number of megabytes" in said or "give at most 10,000,000 megabytes" in said
    assert len(said) < 1000


def test_without_display_the_window_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "has_display", lambda: False)
    assert "headstart demo --offscreen" in refusal(capsys)


def test_missing_libraries_are_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "has_display", lambda: True)
    monkeypatch.setattr(command_line, "missing_packages", lambda offscreen: ["fonts-dejavu", "libegl1"])
    for command in ([], ["demo", "--out", "never-made"], ["demo", "--out", "never-made", "--offscreen"]):
        assert "install -y --no-install-recommends libegl1" in refusal(capsys, *command)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--cache-mb", "many"],
        ["--cache-mb", "-1"],
        ["--context", "1000"],
        ["--context", "9" * 5000],
        ["--context", "long"],
        ["--device", "tpu"],
        ["dance"],
    ],
)
def test_wrong_options_are_refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command_line.main(arguments)
    assert "usage: headstart" in capsys.readouterr().err


def test_options_of_the_window() -> None:
    options = command_line.parse(
        ["--model", "here", "--device", "cpu", "--dtype", "fp32", "--cache-mb", "512", "--context", "2048"]
    )
    kept = Settings(contexts={"here": 4096, "there": 8192})
    assert spec_of(options, kept) == ModelSpec("here", "cpu", "fp32", 512_000_000, None, 2048)
    assert spec_of(command_line.parse(["--model", "there"]), kept).context_tokens == 8192
    assert (options.model, options.device, options.dtype, options.cache_mb) == (
        "here",
        "cpu",
        "fp32",
        512,
    )
    plain = command_line.parse([])
    assert [plain.model, plain.device, plain.dtype, plain.cache_mb] == [None] * 4


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command_line.main(["--version"])
    assert capsys.readouterr().out.startswith("headstart ")


def stop(options: argparse.Namespace) -> int:
    raise KeyboardInterrupt


def crash(options: argparse.Namespace) -> int:
    raise RuntimeError("as planned")


def test_unexpected_error_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "examine", crash)
    assert command_line.main(["doctor"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error
    log = Path(error.rpartition("details are in ")[2].strip().rstrip("."))
    assert "RuntimeError: as planned" in log.read_text()


def test_interrupt_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "examine", stop)
    assert command_line.main(["doctor"]) == 130
    assert capsys.readouterr().err == ""


def test_unwritable_log_is_said_and_survived(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(command_line, "examine", lambda options: 0)
    assert command_line.main(["doctor"]) == 0
    assert "No log is kept" in capsys.readouterr().err


def test_fetch_shows_progress(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bring(progress: command_line.Progress) -> Path:
        for part in (0.0, 0.5, 1.0):
            progress("Downloading", part)
        return tmp_path

    monkeypatch.setattr(command_line, "fetch_model", bring)
    assert command_line.main(["fetch"]) == 0
    assert capsys.readouterr().out == f"Downloading\nThe default model is in {tmp_path}.\n"


def test_progress_on_a_terminal_overwrites(capsys: pytest.CaptureFixture[str]) -> None:
    line = ProgressLine()
    line.overwrite = True
    line.show("Downloading", 0.5)
    line.show("Short", None)
    line.say("Done")
    assert capsys.readouterr().out == "\rDownloading  50%\rShort           \nDone\n"


def test_failed_fetch_is_a_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(progress: command_line.Progress) -> Path:
        raise HeadstartError("No network here.")

    monkeypatch.setattr(command_line, "fetch_model", refuse)
    assert refusal(capsys, "fetch") == "headstart: No network here.\n"


def test_doctor_prints_everything(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "missing_packages", lambda offscreen: [])
    assert command_line.main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for word in ("headstart", "python", "torch", "PySide6_Essentials", "cpu", "GB free", "default model", "log"):
        assert word in printed
    assert "Headstart can run here." in printed


def test_what_a_model_takes_is_said_before_it_is_opened(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the doctor, and by the command that opens it; where it is too large, with ways out, and nothing is opened."""
    monkeypatch.setattr(doctor, "missing_packages", lambda offscreen: [])
    path = str(write_gguf(tmp_path / "tiny.gguf", metadata={"llama.context_length": 4096}))
    assert command_line.main(["doctor", "--model", path, "--context", "2048"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"memory +tiny takes 0\.0 GB of memory \(.* 2,048 tokens\), and \d+\.\d GB are free", printed)
    assert "up to 4,096 tokens with --context" in printed
    monkeypatch.setattr(command_line, "require_qt", lambda offscreen: None)
    opened: list[str] = []

    def open_window(run: object, options: argparse.Namespace) -> int:
        opened.append(options.model)
        return 0

    monkeypatch.setattr(command_line, "with_crash_hooks", open_window)
    assert command_line.main(["--model", path]) == 0
    assert "tiny takes 0.0 GB of memory" in capsys.readouterr().out
    monkeypatch.setattr("engine.models.choice.free_bytes", lambda device: 1000)
    assert "or choose a smaller one." in refusal(capsys, "--model", path)
    assert command_line.main(["doctor", "--model", path]) == 1
    assert "-> " in capsys.readouterr().out
    assert opened == [path]


def test_doctor_says_what_a_card_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was right, what was not and what to do then; and how models are written with from now on."""
    card = DeviceReport("cuda", "a card", 10**10, 10**10, ("fp32",))
    monkeypatch.setattr(doctor, "describe_devices", lambda: EngineReport({}, 2, (card,)))
    for is_right, is_kept, what in (
        (True, True, doctor.FASTER),
        (True, False, doctor.NOT_KEPT),
        (False, False, doctor.AS_BEFORE),
    ):
        monkeypatch.setattr(doctor, "has_passed", lambda kind, is_kept=is_kept: is_kept)
        checks = [DeviceCheck("products", True, "as in fp64"), DeviceCheck("tokens", is_right, "15 of 16")]
        monkeypatch.setattr(doctor, "check_device", lambda checks=checks: iter(checks))
        found = list(doctor.computed())
        assert [finding.subject for finding in found[2:]] == [
            "right", "right" if is_right else "WRONG", "remembered",
        ]  # fmt: skip
        assert found[-1].text == what
        assert bool(found[3].cure) != is_right


def test_doctor_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_torch() -> None:
        raise ImportError("No module named 'torch'")

    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(blocked / "home"))
    monkeypatch.setattr(doctor, "missing_packages", lambda offscreen: ["libegl1"])
    monkeypatch.setattr(doctor, "describe_devices", no_torch)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10))
    assert command_line.main(["doctor"]) == 1
    printed = capsys.readouterr().out
    for cure in ("pip install . in Headstart's folder", "sudo apt-get install", "writable for this user"):
        assert cure in printed
    assert "Missing: 4" in printed


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["--modle", "x"], "--model"),
        (["--chache-mb=3"], "--cache-mb"),
        (["docter"], "doctor"),
        (["demo", "--out", "x", "--ofscreen"], "--offscreen"),
        (["demo", "--out", "x", "--script", "suport"], "support"),
        (["--zzzz"], ""),
    ],
)
def test_a_misspelt_word_names_what_was_meant(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], meant: str
) -> None:
    monkeypatch.setattr(command_line, "require_qt", lambda offscreen: None)
    with pytest.raises(SystemExit):
        command_line.parse(arguments)
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.endswith(f"Did you mean {meant}?") if meant else "Did you mean" not in last
    assert "argument :" not in last


@pytest.mark.parametrize("out", ["x" * 300, "a/" * 3000, "new/" + "y" * 300])
def test_a_folder_that_can_be_none_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_line, "check_model", lambda path: None)
    said = refusal(capsys, "demo", "--offscreen", "--out", out)
    assert "Give --out another folder." in said
    assert len(said) < 400
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("out", ["", "nul\0l", "no text \udcff"])
def test_a_name_that_cannot_be_read_is_refused_first(capsys: pytest.CaptureFixture[str], out: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["demo", "--offscreen", "--out", out])
    assert "argument --out: give the folder a name" in capsys.readouterr().err


@pytest.mark.parametrize("turns", ["1.5", "many", "", "9" * 5_000])
def test_turns_that_are_no_number_are_refused(capsys: pytest.CaptureFixture[str], turns: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["demo", "--offscreen", "--out", "never-made", "--turns", turns])
    said = capsys.readouterr().err
    assert "argument --turns: give a whole number" in said
    assert len(said) < 1500


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
@pytest.mark.parametrize("command", ["doctor", "--help", "--version"])
def test_a_reader_who_leaves_early_is_no_error(command: str) -> None:
    program = f"from app.__main__ import main; import sys; sys.exit(main([{command!r}]))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[3], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert done.stderr == ""
    # What is printed unbuffered, argparse loses by itself.
    assert done.returncode == 128 + signal.SIGPIPE or (done.returncode == 0 and command != "doctor")


def in_shell(arguments: list[str], redirection: str, unbuffered: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line with its output elsewhere; buffered, as it is for users, unless `unbuffered` is a number."""
    program = f"from app.__main__ import main; import sys; sys.exit(main({arguments!r}))"
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -c "$1" {redirection}', sys.executable, program],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
def test_without_any_output_the_status_stays() -> None:
    done = in_shell(["doctor"], ">&-")
    assert (done.returncode in (0, 1), done.stderr) == (True, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_disk_is_said(unbuffered: str) -> None:
    done = in_shell(["doctor"], ">/dev/full", unbuffered)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "What it prints cannot be written: No space left on device." in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_refusal_that_cannot_be_said_has_its_status() -> None:
    assert in_shell(["--model", "/nowhere"], "2>/dev/full").returncode == 2


def test_a_file_of_conversations_is_known_by_its_name(tmp_path: Path) -> None:
    exported = tmp_path / "Meine Gespräche.headstart"
    exported.write_text("{}")
    assert command_line.as_opened([str(exported)]) == ["--conversations", str(exported)]
    assert command_line.parse(["--conversations", "x"]).conversations == "x"
    (tmp_path / "model.headstart").mkdir()
    assert command_line.as_opened([str(tmp_path / "model.headstart")])[0] == "--model"
