"""Which build of torch a computer could use, by what it said when it was asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine import graphics
from engine.graphics import Probe, choose, probe

LINUX = {
    "GTX 1080 Ti": (Probe("linux", "NVIDIA GeForce GTX 1080 Ti, 580.95.05, 6.1\n"), "cu126", "1080 Ti"),
    "RTX 4090": (Probe("linux", "NVIDIA GeForce RTX 4090, 580.95.05, 8.9\n"), "cu130", "4090"),
    "RTX 4090, older driver": (Probe("linux", "NVIDIA GeForce RTX 4090, 550.54.14, 8.9\n"), "cu126", "550"),
    "RTX 4090, old driver": (Probe("linux", "NVIDIA GeForce RTX 4090, 470.42.01, 8.9\n"), "cpu", "525 or newer"),
    "RTX 5090": (Probe("linux", "NVIDIA GeForce RTX 5090, 580.95.05, 12.0\n"), "cu130", "5090"),
    "RTX 5090, older driver": (Probe("linux", "NVIDIA GeForce RTX 5090, 570.86.16, 12.0\n"), "cpu", "580 or newer"),
    "Kepler": (Probe("linux", "Tesla K80, 470.42.01, 3.7\n"), "cpu", "too old"),
    "old beside new": (
        Probe("linux", "NVIDIA GeForce GTX 1080 Ti, 580.95.05, 6.1\nNVIDIA GeForce RTX 4090, 580.95.05, 8.9\n"),
        "cu130",
        "4090",
    ),
    "half a driver": (Probe("linux", "NVIDIA GeForce RTX 4090, [N/A], [N/A]\n"), "cpu", "nothing useful"),
    "a hung probe": (Probe("linux", None), "cpu", "does not answer"),
    "a hung probe beside AMD": (Probe("linux", None, ("gfx1100",)), "rocm7.2", "gfx1100"),
    "RX 7900": (Probe("linux", "", ("gfx1100",)), "rocm7.2", "gfx1100"),
    "RX 7900 beside an APU": (Probe("linux", "", ("gfx1036", "gfx1100")), "rocm7.2", "gfx1100"),
    "RX 7900 on Windows": (Probe("win32", "", ("gfx1100",)), "cpu", "not among"),
    "Steam Deck": (Probe("linux", "", ("gfx1033",)), "cpu", "gfx1033"),
    "an APU": (Probe("linux", "", ("gfx1103",)), "cpu", "gfx1103"),
    "Arc A770": (Probe("linux", "", (), ("0x56a0",)), "xpu", "Arc"),
    "Arc B580": (Probe("linux", "", (), ("0xE20B",)), "xpu", "Arc"),
    "Intel's graphics in a processor": (Probe("linux", "", (), ("0x9a49",)), "cpu", "no graphics card"),
    "none": (Probe("linux"), "cpu", "no graphics card"),
}


@pytest.mark.parametrize(("found", "build", "words"), LINUX.values(), ids=LINUX)
def test_choice(found: Probe, build: str, words: str) -> None:
    choice = choose(found)
    assert choice.build == build
    assert words in choice.why
    assert choice.why.endswith(".")


@pytest.mark.skipif(os.name == "nt", reason="a script that can be run is Unix's")
@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("print('NVIDIA GeForce RTX 4090, 580.95.05, 8.9')", "NVIDIA GeForce RTX 4090, 580.95.05, 8.9\n"),
        ("print('no devices were found'); raise SystemExit(6)", ""),
        ("import time; time.sleep(600)", None),
    ],
    ids=["answers", "fails", "hangs"],
)
def test_nvidia_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, expected: str | None) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!{sys.executable}\n{program}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if expected is None:
        monkeypatch.setattr(graphics, "PATIENCE_S", 0.2)
    assert probe(tmp_path).nvidia == expected


def test_the_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Linux says of a processor, an APU, a card, and of one that is being taken out."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for number, version in enumerate(("0", "100303", "110000", "90010", "no number")):
        node = tmp_path / "class/kfd/kfd/topology/nodes" / str(number)
        node.mkdir(parents=True)
        (node / "properties").write_text(f"simd_count 64\ngfx_target_version {version}\n")
    for number, (vendor, device) in enumerate([("0x8086", "0x56a0"), ("0x10de", "0x2684")]):
        card = tmp_path / f"class/drm/card{number}/device"
        card.mkdir(parents=True)
        (card / "vendor").write_text(f"{vendor}\n")
        (card / "device").write_text(f"{device}\n")
    assert probe(tmp_path) == Probe(sys.platform, "", ("gfx1033", "gfx1100", "gfx90a"), ("0x56a0",))
