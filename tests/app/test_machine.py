"""The line about this computer."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from app import machine as machine_module
from app.machine import machine, processor


def test_it_names_cores_and_system_but_not_the_computer() -> None:
    said = machine()
    assert f"{os.cpu_count()} cores" in said
    assert platform.system() in said
    assert not platform.node() or platform.node() not in said


def test_without_a_list_of_processors_python_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_module, "CPU_FILE", tmp_path / "none")
    assert processor() == (platform.processor() or "unknown processor")
    (tmp_path / "cpus").write_text("vendor_id : X\nmodel name\t: Fine CPU 9\nmodel name\t: Fine CPU 9\n")
    monkeypatch.setattr(machine_module, "CPU_FILE", tmp_path / "cpus")
    assert processor() == "Fine CPU 9"
