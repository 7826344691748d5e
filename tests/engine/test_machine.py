"""The report about this machine is complete and plausible."""

from __future__ import annotations

import psutil

from engine import describe_devices
from engine.native import library as native_library


def test_report_names_this_machine() -> None:
    report = describe_devices()
    cpu = report.devices[-1]
    assert (cpu.kind, cpu.memory_total) == ("cpu", psutil.virtual_memory().total)
    assert 0 < cpu.memory_free <= cpu.memory_total
    assert cpu.name
    assert all("fp32" in device.dtypes for device in report.devices)
    assert report.threads >= 1
    assert report.decoding == native_library.state()
    assert {"torch", "transformers"} <= report.versions.keys()
