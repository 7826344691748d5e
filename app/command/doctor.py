"""`headstart doctor`: what is here, what is missing, and for each missing thing what to do. No Qt but its version."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app import settings
from app.command.logs import log_path
from app.command.system_packages import has_display, install_command, missing_packages
from app.command.terminal import say
from engine import (
    DEFAULT_MODEL_BYTES,
    DeviceReport,
    HeadstartError,
    ModelSpec,
    blocks_dir,
    check_device,
    data_dir,
    default_model,
    describe_devices,
    has_passed,
    model_fit,
)

LIBRARIES = ("PySide6_Essentials", "pyqtgraph", "markdown-it-py", "Pygments", "platformdirs")

CHECKED = (
    "on the CPU, by every test. No graphics card was at hand: on none of them did Headstart run before this version. "
    "Placement, types, waits, memory and recorded commands were tested on simulated ones; speed on none"
)
FASTER = "models that are opened from now on choose tokens on the card, one ahead, and repeat recorded commands"
NOT_KEPT = "nothing: it cannot be written down here, so models that are opened choose tokens on the processor"
AS_BEFORE = "models that are opened choose tokens on the processor, as long as something above is wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `cure` is what to do where something is missing; "" where all is well."""

    subject: str
    text: str
    cure: str = ""


def main(spec: ModelSpec, *, checks_gpu: bool = False) -> int:
    """Print the report, with what the model of `spec` takes, with `checks_gpu` also what the graphics card computes. 0
    when Headstart can run, 1 when something is missing or wrong."""
    missing = 0
    sections = [
        ("Versions", versions()),
        ("Devices, the one taken first at the top", devices()),
        ("Model", model(spec)),
        ("Places", places()),
        ("Display", display()),
    ]
    if checks_gpu:
        sections.append(("What the device computes, compared with the CPU", computed()))
    for title, findings in sections:
        say(title)
        for finding in findings:
            say(f"  {finding.subject:<20}{finding.text}")
            if finding.cure:
                missing += 1
                say(f"  {'':<20}-> {finding.cure}")
    say("\nHeadstart can run here." if not missing else f"\nMissing: {missing}. See the arrows above.")
    return 1 if missing else 0


def versions() -> Iterator[Finding]:
    """Headstart, Python and the libraries of the window."""
    yield Finding("headstart", _version("headstart") or "not installed: run from its folder")
    yield Finding("python", f"{platform.python_version()} on {platform.platform()}")
    for name in LIBRARIES:
        version = _version(name)
        yield Finding(name, version or "missing", "" if version else _reinstall())
    qt = _version("PySide6_Essentials") or ""
    if qt.startswith("6.12.0") and sys.version_info < (3, 12):
        yield Finding("PySide6_Essentials", f"{qt} aborts on Python 3.11", "pip install 'PySide6-Essentials<6.12'")


def devices() -> Iterator[Finding]:
    """The engine's libraries and what it can compute on."""
    try:
        report = describe_devices()
    except (ImportError, OSError) as error:  # OSError: a library that torch brings cannot be loaded
        yield Finding("torch", f"cannot be imported ({error})", _reinstall())
        return
    yield from (_device(device) for device in report.devices)
    if report.graphics:
        yield Finding("graphics card", report.graphics)
    yield Finding("threads", str(report.threads))
    yield Finding("decoding on the CPU", report.decoding)
    yield from (Finding(name, version) for name, version in report.versions.items())


def computed() -> Iterator[Finding]:
    """What was compared on the device that is taken first, as it is found out; a minute at most."""
    devices = describe_devices().devices
    if devices[0].kind == "cpu":
        yield Finding("device", "no graphics card is usable here: the CPU is compared with itself")
    else:
        yield Finding("device", f"{devices[0].kind}: {devices[0].name}")
    yield Finding("checked elsewhere", CHECKED)
    is_right = True
    for check in check_device():
        is_right &= check.is_right
        cure = "" if check.is_right else "choose the device 'cpu', and tell Headstart's makers what is said here"
        yield Finding("right" if check.is_right else "WRONG", f"{check.what}: {check.figure}", cure)
    if devices[0].kind == "cuda":
        kept = FASTER if has_passed("cuda") else NOT_KEPT
        yield Finding("remembered", kept if is_right else AS_BEFORE)


def model(spec: ModelSpec) -> Iterator[Finding]:
    """The default model, and what the chosen one takes."""
    folder = default_model()
    yield Finding(
        "default model",
        str(folder) if folder else "not ready yet: prepared at the first start, or by `headstart fetch`",
    )
    try:
        fit = model_fit(spec)
    except HeadstartError as error:
        yield Finding("chosen model", str(error), "headstart --model PATH opens another one")
        return
    except (ImportError, OSError):  # said above
        return
    if fit is not None:
        text, _, cure = (fit.refusal or f"{fit.sentence}.").partition(": ")
        longest = f"; conversations of up to {fit.longest:,} tokens with --context" if fit.longest > fit.context else ""
        yield Finding("memory", text + longest, cure)


def places() -> Iterator[Finding]:
    """Where things are kept, and whether they can be."""
    needed = 0 if default_model() else DEFAULT_MODEL_BYTES
    yield _place("data", data_dir(), needed, "set HEADSTART_DATA_DIR to a folder on another disk")
    yield _place("settings", settings.default_path().parent, 0, "free some space")
    yield _place("remembered prompts", blocks_dir(), 0, "free some space")
    yield _place("log", log_path().parent, 0, "free some space")


def display() -> Iterator[Finding]:
    """Whether a window can open, and what Qt misses for it."""
    shown = has_display()
    yield Finding("display", "yes" if shown else "none: `headstart demo --offscreen --out out/demo` runs without one")
    packages = missing_packages(offscreen=not shown)
    fonts_only = all(name.startswith("fonts-") for name in packages)
    if packages:
        text = ("better with " if fonts_only else "missing ") + " ".join(packages)
        yield Finding("system packages", text, "" if fonts_only else install_command(packages))
    elif sys.platform.startswith("linux"):
        yield Finding("system packages", "all there")


def _device(device: DeviceReport) -> Finding:
    memory = f"{device.memory_free / 1e9:.1f} of {device.memory_total / 1e9:.1f} GB free"
    return Finding(device.kind, f"{device.name}; {memory}; fast in {', '.join(device.dtypes)}")


def _place(subject: str, folder: Path, needed: int, elsewhere: str) -> Finding:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return Finding(subject, f"{folder} cannot be written", f"make {existing} writable for this user")
    free = shutil.disk_usage(existing).free
    cure = f"free {needed / 1e9:.1f} GB for the default model, or {elsewhere}" if free < needed else ""
    return Finding(subject, f"{folder} ({free / 1e9:.1f} GB free)", cure)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _reinstall() -> str:
    if getattr(sys, "frozen", False):
        return "install Headstart again"
    return f"{sys.executable} -m pip install . in Headstart's folder, or `make run` there"
