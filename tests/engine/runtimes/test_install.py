"""Software for the graphics card: installed by a made-up uv from a folder of wheels, tried, damaged, removed."""

from __future__ import annotations

import json
import shutil
import sys
from collections import namedtuple
from importlib.metadata import version
from pathlib import Path

import pytest

from engine.graphics import Choice
from engine.library.places import runtimes_dir
from engine.runtimes import install, launch, trial
from engine.runtimes.install import find_offer
from engine.side_programs import INSTALLED
from engine.types import DiskFullError, HeadstartError

ROOT = Path(__file__).parents[3]
CARD = Choice("cu130", "NVIDIA GeForce RTX 4090, driver 580.95.05.")
Usage = namedtuple("Usage", "total used free")

UV = """#!{python}
import json, os, pathlib, sys
with open({calls!r}, "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if {says!r}:
    print({says!r})
    raise SystemExit(2)
if sys.argv[1] == "venv":
    python = pathlib.Path(sys.argv[-1], "bin", "python")
    python.parent.mkdir(parents=True)
    python.write_text({trial!r})
    python.chmod(0o755)
else:
    library = pathlib.Path(sys.argv[sys.argv.index("--python") + 1]).parent.parent / "lib" / "libtorch_cuda.so"
    library.parent.mkdir(exist_ok=True)
    library.write_bytes(b"x" * 1000)
"""


class Place:
    """An installed Headstart in a folder of the test: `uv` says what the made-up uv does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = folder / "calls"
        self._folder, self._monkeypatch = folder, monkeypatch
        graphics = folder / "program" / "_internal" / "resources" / "graphics"
        shutil.copytree(ROOT / "packaging" / "graphics", graphics)
        (graphics / "headstart-0-py3-none-any.whl").write_bytes(b"a wheel")
        for each in ("linux-x86_64", install.lock_of("cu130").name):
            (graphics / each).touch()
        monkeypatch.setenv(INSTALLED, str(folder / "program"))
        monkeypatch.setenv("HEADSTART_DATA_DIR", str(folder / "Größe"))
        monkeypatch.setenv("HEADSTART_WHEELS", str(folder / "wheels"))
        install.lock_of("cu130").touch()
        self.free(100_000_000_000)
        self.uv()

    def uv(self, says: str = "", fault: str = "", missing: str = "") -> None:
        program = self._folder / "uv"
        said = json.dumps({"device": "cuda", "name": "RTX 4090", "fault": fault})
        doctor = (
            f"import sys\nif sys.argv[-1] == 'doctor' and {missing!r}:\n    print({missing!r})\n    raise SystemExit(1)"
        )
        trial_ = f"#!{sys.executable}\n{doctor}\nprint({said!r})\n"
        program.write_text(UV.format(python=sys.executable, calls=str(self.calls), says=says, trial=trial_))
        program.chmod(0o755)
        self._monkeypatch.setenv("HEADSTART_UV", str(program))

    def free(self, count: int) -> None:
        self._monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(count, 0, count))

    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in self.calls.read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    if sys.platform == "win32":
        pytest.skip("a script that can be run is Unix's")
    return Place(tmp_path, monkeypatch)


def left() -> list[str]:
    return sorted(path.name for path in runtimes_dir().glob("*") if path.name != "lock")


def test_it_is_installed_whole_and_found_again(place: Place, tmp_path: Path) -> None:
    offer = find_offer(CARD)
    assert (offer.refusal, offer.download_bytes, offer.free_bytes) == ("", 3_000_000_000, 100_000_000_000)
    said: list[str] = []
    runtime = install.install(offer, lambda what, _: said.append(what))
    assert runtime.build == "cu130"
    assert runtime.python.is_file()
    assert install.installed() == runtime
    assert [name.partition("-")[0] for name in left()] == ["cu130", "current.json"]
    venv, pinned, own = place.asked()
    assert venv[:2] == ["venv", "--relocatable"]
    assert {"--require-hashes", "--no-index", str(tmp_path / "wheels")} <= set(pinned)
    assert pinned[-2:] == ["-r", str(install.lock_of("cu130"))]
    assert own[-1].endswith(".whl")
    assert "Trying the graphics card" in said or "Installing" in said
    install.remove()
    assert install.installed() is None


@pytest.mark.parametrize(
    ("uv_says", "fault", "words"),
    [
        ("error: No space left on device (os error 28)", "", "The disk is full"),
        ("error: error sending request for url", "", "could not be downloaded"),
        ("error: Hash mismatch for torch", "", "not what was expected"),
        ("error: something else", "", "could not be installed"),
        ("", "it is off by 3", "does not compute as it should"),
    ],
)
def test_whatever_fails_is_a_sentence_and_leaves_nothing(place: Place, uv_says: str, fault: str, words: str) -> None:
    place.uv(uv_says, fault)
    with pytest.raises(HeadstartError, match=words):
        install.install(find_offer(CARD), lambda *_: None)
    assert left() == []
    assert launch.current() is None


def test_what_the_new_python_lacks_is_named(place: Place) -> None:
    place.uv(missing="  system packages  missing libxcb-cursor0\n     -> sudo apt-get install libxcb-cursor0")
    with pytest.raises(HeadstartError, match=r"was not installed\. First: sudo apt-get install libxcb-cursor0\."):
        install.install(find_offer(CARD), lambda *_: None)
    assert left() == []


def test_no_room_is_said_before_anything_is_done(place: Place) -> None:
    place.free(1_000_000_000)
    assert "takes 6.5 GB" in find_offer(CARD).refusal
    with pytest.raises(DiskFullError, match=r"1\.0 GB are free"):
        install.install(install.Offer("cu130", "", 0, 6_500_000_000), lambda *_: None)
    assert left() == []


def test_who_cancels_keeps_what_was_there(place: Place) -> None:
    runtime = install.install(find_offer(CARD), lambda *_: None)

    def cancel(what: str, fraction: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install.install(find_offer(CARD), cancel)
    assert install.installed() == runtime


def test_what_no_lock_is_there_for_is_not_offered(place: Place) -> None:
    assert "which this Headstart does not bring" in find_offer(Choice("xpu", "Intel Arc.")).refusal
    assert find_offer(Choice("cpu", "There is none.")).refusal == "There is none."


def test_a_forged_uv_is_refused(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADSTART_UV")
    monkeypatch.setattr(install, "_system", lambda: "linux-x86_64")
    install.lock_of("cu130").touch()
    names = install.lock_of("cu130").with_name("backends.toml")
    (tmp_path / "forged.whl").write_bytes(b"no uv")
    file = "uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    index = tmp_path / "index.json"
    index.write_text(json.dumps({"files": [{"filename": file, "url": "forged.whl"}]}))
    names.write_text(names.read_text().replace("https://pypi.org/simple/uv/", index.as_uri()))
    with pytest.raises(HeadstartError, match="not what was expected"):
        install.install(find_offer(CARD), lambda *_: None)
    index.unlink()
    with pytest.raises(HeadstartError, match="could not be downloaded"):
        install.install(find_offer(CARD), lambda *_: None)


@pytest.mark.parametrize("damage", ["cut", "gone", "json", "version", "starting"])
def test_a_damaged_runtime_falls_back_and_says_so(place: Place, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    runtime = install.install(find_offer(CARD), lambda *_: None)
    started: list[list[str]] = []
    monkeypatch.setattr(launch, "is_frozen", lambda: True)
    monkeypatch.setattr(launch, "replace_process", lambda command, env: started.append(command))
    monkeypatch.delenv(INSTALLED)
    monkeypatch.setenv(launch.NOTICE, "")
    launch.start(["--model", "x"])
    assert started == [[str(runtime.python), "-P", "-m", "headstart", "--model", "x"]]
    assert launch.notice() == ""
    if damage == "cut":
        next(runtimes_dir().rglob("libtorch_cuda.so")).write_bytes(b"x" * 999)
    elif damage == "gone":
        runtime.python.unlink()
    elif damage == "json":
        (runtimes_dir() / "current.json").write_text("{")
    elif damage == "version":
        monkeypatch.setattr(launch, "version", lambda _: "99")
    else:
        (runtimes_dir() / "starting").touch()
    launch.start([])
    assert len(started) == 1
    expected = {"version": f"another version of Headstart, {version('headstart')}", "starting": "did not get ready"}
    assert expected.get(damage, "damaged: install it again") in launch.notice()
    assert "processor computes" in launch.notice()


def test_the_runtime_knows_where_it_was_installed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADSTART_MODEL_DIR", raising=False)
    env = launch.environment({"PATH": "/bin", "PYTHONHOME": "/x", "_PYI_ARCHIVE_FILE": "y"})
    assert env[INSTALLED] == str(Path(sys.executable).resolve().parent)
    assert {"PYTHONHOME", "_PYI_ARCHIVE_FILE"} & set(env) == set()


def test_the_trial_compares_with_exact_numbers() -> None:
    assert trial.fault("cpu") == ""
