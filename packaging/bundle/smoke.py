"""Plays the frozen program as a user would, without a display and without a network, and says what came of it as JSON.

`python packaging/bundle/smoke.py PROGRAM FOLDER [TINY_MODEL_PYTHON]`. FOLDER gets the data of the program; where
`unshare` may be used, there is no network. Each failure is a sentence under "wrong".
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATIENCE_S = 900


class Player:
    """Starts a program (its path, or a command of several words) with an environment as bare as that of a service: no
    HOME, no LANG. `wrong` collects what went wrong, `wrapped` stands before that environment: chroot, for example."""

    def __init__(self, program: str | Sequence[str], data: Path, wrapped: Sequence[str] = ()) -> None:
        self.wrong: list[str] = []
        self._command = [*without_network(), *wrapped, "env", "-i", "PATH=/usr/bin:/bin", "QT_QPA_PLATFORM=offscreen"]
        self._command += [f"XDG_{kind}_HOME={data / kind.lower()}" for kind in ("CONFIG", "STATE", "CACHE")]
        self._command += [f"HEADSTART_DATA_DIR={data}", *([program] if isinstance(program, str) else program)]

    def run(self, *arguments: object) -> tuple[str, float]:
        """What the program prints, and the seconds it took; where it fails, that is noted."""
        began = time.monotonic()
        words = [str(each) for each in arguments]
        done = subprocess.run([*self._command, *words], capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode:
            self.wrong.append(
                f"`{' '.join(words)}` ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"
            )
        return done.stdout, round(time.monotonic() - began, 1)


def without_network() -> list[str]:
    """What to put before a command so that it sees no network, where this user may do that."""
    command = ["unshare", "--net"]
    may = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if may else []


def play(player: Player, folder: Path, python: str = "", seen: str = "") -> dict[str, Any]:
    """Everything, in the order of a first evening. `folder` is where the program may write, `seen` the same folder by
    the name the program knows it by (in a chroot)."""
    place = Path(seen or folder)
    said: dict[str, Any] = {"version": player.run("--version")[0].strip()}
    said["without a network"] = bool(without_network())
    prepared, said["first start, model prepared, s"] = player.run("fetch")
    doctor, _ = player.run("doctor")
    said["doctor"] = doctor.strip().splitlines()[-1] if doctor else ""
    said["decoding"] = next((line.split(maxsplit=4)[-1] for line in doctor.splitlines() if "decoding on" in line), "")
    said["default model"] = demo(player, folder, place, "default")
    model = prepared.strip().rpartition(" is in ")[2].rstrip(".")
    inside = folder / Path(model).relative_to(place) if Path(model).is_relative_to(place) else Path(model)
    if inside.is_file():
        copy = folder / "Größeres Modell.gguf"
        shutil.copy(inside, copy)
        said["GGUF file"] = demo(player, folder, place, "gguf", "--model", place / copy.name)
    if python and inside.is_file():
        script = Path(__file__).with_name("tiny_model.py")
        shutil.rmtree(folder / "gemma", ignore_errors=True)
        made = subprocess.run([python, script, inside, folder / "gemma"], capture_output=True, text=True)
        if made.returncode:
            player.wrong.append(f"the model of another family was not made: {made.stderr[-2000:]}")
        said["family through transformers"] = demo(player, folder, place, "gemma", "--model", place / "gemma")
    said["wrong"] = player.wrong
    return said


def demo(player: Player, folder: Path, place: Path, name: str, *options: object) -> dict[str, Any]:
    """Two turns of the demo in a window that nobody sees: the second has to reuse the first."""
    _, seconds = player.run("demo", "--offscreen", "--turns", "2", "--out", place / f"out-{name}", *options)
    report = folder / f"out-{name}" / "report.json"
    if not report.exists():
        player.wrong.append(f"{name}: no report was written")
        return {}
    said = json.loads(report.read_text(encoding="utf-8"))
    first, second = [row for row in said["turns"] if row["cache"] == "on"]
    if second["reused_tokens"] < 16:
        player.wrong.append(f"{name}: the second answer reused {second['reused_tokens']} tokens")
    if not (folder / f"out-{name}" / "window-light.png").exists():
        player.wrong.append(f"{name}: there is no picture of the window")
    return {
        "seconds in all": seconds,
        "first answer, TTFT s": round(first["ttft_s"], 3),
        "second answer, TTFT s": round(second["ttft_s"], 3),
        "second answer, tokens reused": second["reused_tokens"],
        "second answer, tokens read": second["computed_tokens"],
    }


if __name__ == "__main__":
    where = Path(sys.argv[2]).absolute()
    where.mkdir(parents=True, exist_ok=True)
    told = play(Player(os.path.abspath(sys.argv[1]), where / "data"), where, *sys.argv[3:4])
    print(json.dumps(told, indent=1, ensure_ascii=False))
    sys.exit(bool(told["wrong"]))
