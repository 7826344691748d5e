"""What computer this is, in a line: for a report that is shown to others."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import psutil

CPU_FILE = Path("/proc/cpuinfo")


def machine() -> str:
    """Processor, cores, memory and system; never the computer's name."""
    memory = psutil.virtual_memory().total / 1e9
    return (
        f"{processor()}, {os.cpu_count() or 1} cores, {memory:.0f} GB memory, {platform.system()} {platform.machine()}"
    )


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = CPU_FILE.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
