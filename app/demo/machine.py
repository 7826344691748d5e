"""What computer this is, in a line: for a report that is shown to others."""

from __future__ import annotations

import os
import platform

import psutil

from engine import describe_devices


def machine() -> str:
    """Processor, graphics cards, cores, memory and system; never the computer's name. Imports torch."""
    names = dict.fromkeys(device.name for device in reversed(describe_devices().devices))
    memory = psutil.virtual_memory().total / 1e9
    system = f"{platform.system()} {platform.machine()}"
    return f"{', '.join(names)}, {os.cpu_count() or 1} cores, {memory:.0f} GB memory, {system}"
