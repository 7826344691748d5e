"""Which build of torch could use this computer's graphics card: what was found (`probe`), and what follows (`choose`).

The installers bring torch's build for the CPU; builds for graphics cards take gigabytes, and the wrong one computes
nothing, or nonsense. So the choice hangs on the driver and on what the card can do, not on its name.

Sources: https://docs.nvidia.com/deploy/cuda-compatibility (drivers); PyTorch's builds leave out compute capabilities
below 7.5 in cu130 and below 5.0 in cu126, and cu126 knows none above 9.0; for AMD, "System requirements" of ROCm on
Linux, less what is not a card of its own: processors with graphics look like cards and may compute wrong numbers.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 5.0
"""How long NVIDIA's tool may take. One that hangs on a broken driver does so for ever."""

CUDA_13_DRIVER, CUDA_12_DRIVER = 580, 525
AMD_CARDS = frozenset({"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1200", "gfx1201"})
INTEL_CARDS = re.compile(r"0x(56[0-9a-f]{2}|e2[0-9a-f]{2})")
"""PCI ids of Intel's Arc cards, first and second generation; what Intel builds into processors has others."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What this computer says of its graphics.

    `nvidia` is a line for each card, "name, driver, compute capability"; None where NVIDIA's tool did not answer in
    time. `amd` are the cards' and processors' targets, such as gfx1100; `intel` the PCI ids of Intel's devices.
    """

    system: str
    nvidia: str | None = ""
    amd: tuple[str, ...] = ()
    intel: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """`build` is that of torch, as PyTorch's index calls it: cpu, cu130, cu126, rocm7.2 or xpu. `why` is a sentence for
    the user."""

    build: str
    why: str


def choose(found: Probe) -> Choice:
    """The build of torch for what was found; "cpu" where nothing is sure to work. NVIDIA goes first, then AMD."""
    refusals = []
    for choice in _candidates(found):
        if choice.build != "cpu":
            return choice
        refusals.append(choice.why)
    return Choice("cpu", " ".join(refusals) or "There is no graphics card here that torch has a build for.")


def _candidates(found: Probe) -> Iterable[Choice]:
    if found.nvidia is None:
        yield Choice("cpu", "NVIDIA's driver does not answer: restart the computer, or install the driver anew.")
    else:
        yield from sorted(map(_for_nvidia, filter(str.strip, found.nvidia.splitlines())), key=_rank)
    yield from (_for_amd(target, found.system) for target in found.amd)
    if any(INTEL_CARDS.fullmatch(device.lower()) for device in found.intel):
        yield Choice("xpu", "Intel Arc.")


def _rank(choice: Choice) -> int:
    return ("cu130", "cu126", "cpu").index(choice.build)


def _for_nvidia(line: str) -> Choice:
    name, *rest = (part.strip() for part in line.split(","))
    try:
        driver, capability = int(rest[0].split(".")[0]), float(rest[1])
    except (IndexError, ValueError):
        return Choice("cpu", f"NVIDIA's driver says nothing useful of {name[:80]}: install it anew.")
    if capability < 5.0:
        return Choice("cpu", f"{name} is too old for torch.")
    if capability >= 7.5 and driver >= CUDA_13_DRIVER:
        return Choice("cu130", f"{name}, driver {rest[0]}.")
    if capability <= 9.0 and driver >= CUDA_12_DRIVER:
        return Choice("cu126", f"{name}, driver {rest[0]}.")
    needed = CUDA_12_DRIVER if capability <= 9.0 else CUDA_13_DRIVER
    return Choice("cpu", f"{name} needs NVIDIA's driver {needed} or newer, and {rest[0]} is installed.")


def _for_amd(target: str, system: str) -> Choice:
    if system == "linux" and target in AMD_CARDS:
        return Choice("rocm7.2", f"AMD {target}.")
    return Choice("cpu", f"AMD {target} is not among the cards that torch's build for AMD is sure to work on.")


def probe(system_files: Path = Path("/sys")) -> Probe:
    """Ask this computer. Takes up to six seconds where a driver hangs: call it off the window's thread.

    `system_files` is where Linux shows its devices; on other systems there is nothing.
    """
    return Probe(
        sys.platform, _nvidia(), _amd(system_files / "class/kfd/kfd/topology/nodes"), _intel(system_files / "class/drm")
    )


def _nvidia() -> str | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    command = [tool, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # exists on Windows only
    try:
        asked = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, creationflags=no_window
        )
    except OSError:
        return ""
    try:
        said, _ = asked.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        asked.kill()
        with suppress(subprocess.TimeoutExpired):  # inside a driver that hangs nothing can be ended
            asked.communicate(timeout=1.0)
        return None
    return said if asked.returncode == 0 else ""


def _amd(nodes: Path) -> tuple[str, ...]:
    """The targets of AMD's devices, from the numbers that the driver gives: 110000 is gfx1100, 90010 is gfx90a."""
    found = []
    for path in sorted(nodes.glob("*/properties")):
        with suppress(OSError, ValueError):
            said = dict(line.split(maxsplit=1) for line in path.read_text(encoding="ascii").splitlines() if " " in line)
            number = int(said.get("gfx_target_version", "0"))
            if number:  # 0 is the processor itself
                found.append(f"gfx{number // 10_000}{number // 100 % 100:x}{number % 100:x}")
    return tuple(found)


def _intel(cards: Path) -> tuple[str, ...]:
    """The PCI ids of Intel's graphics devices."""
    found = []
    for vendor in sorted(cards.glob("card*/device/vendor")):
        with suppress(OSError):
            if vendor.read_text(encoding="ascii").strip() == "0x8086":
                found.append(vendor.with_name("device").read_text(encoding="ascii").strip())
    return tuple(found)
