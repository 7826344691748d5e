"""Whether a device computes what the CPU computes, for `headstart doctor --gpu`. torch is imported when it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from engine.machine import DeviceCheck
from engine.types import Device


def check_device(device: Device = "auto") -> Iterator[DeviceCheck]:
    """Compare a device with the CPU, one thing after the other; takes a minute at most. Raises ModelError where it is
    not there. Whether all was right is remembered: models that are opened then are written with as was checked last."""
    from engine.models.choice import choose_device
    from engine.models.device_check import check_device as compared
    from engine.turn.pipelined_check import check_pipelined
    from engine.worker.passed_check import note_check

    is_right = True
    for found in chain(compared(device), check_pipelined(device)):
        is_right &= found.is_right
        yield found
    note_check(choose_device(device).type, is_right)
