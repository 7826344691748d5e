"""The line about this computer."""

from __future__ import annotations

import os
import platform

import pytest

from app.demo import machine as machine_module
from app.demo.machine import machine
from engine import DeviceReport, EngineReport, describe_devices


def test_it_names_cores_and_system_but_not_the_computer() -> None:
    said = machine()
    assert said.startswith(describe_devices().devices[-1].name)
    assert f"{os.cpu_count()} cores" in said
    assert platform.system() in said
    assert not platform.node() or platform.node() not in said


def test_a_graphics_card_is_named_behind_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = tuple(DeviceReport(kind, name, 1, 1, ()) for kind, name in (("cuda", "Card 7"), ("cpu", "Fine CPU 9")))
    monkeypatch.setattr(machine_module, "describe_devices", lambda: EngineReport({}, 2, devices))
    assert machine().startswith("Fine CPU 9, Card 7, ")
