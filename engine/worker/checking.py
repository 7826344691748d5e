"""Whether a device computes what the CPU computes, for `headstart doctor --gpu`. torch is imported when it is asked."""

from __future__ import annotations

from collections.abc import Iterator

from engine.machine import DeviceCheck
from engine.types import Device


def check_device(device: Device = "auto") -> Iterator[DeviceCheck]:
    """Compare a device with the CPU, one thing after the other; takes a minute at most. Raises ModelError where it is
    not there."""
    from engine.models.device_check import check_device as compared

    yield from compared(device)
