"""Prints the pip option that gets torch without CUDA, where CUDA would only cost gigabytes; else nothing.

That is: on x86-64 Linux without an NVIDIA device, when the indexes pip knows offer no CPU build and PyTorch's own index
answers. Without an answer pip takes what it finds, which works as well.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.request

INDEX = "https://download.pytorch.org/whl/cpu"
TIMEOUT_S = 4
CPU_BUILD = re.compile(r"\b2\.(9|1[0-3])\.\d+\+cpu")  # the range in pyproject.toml


def cuda_is_useless() -> bool:
    """Whether this machine takes CUDA wheels by default and could not use them."""
    nvidia = os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi")
    return sys.platform == "linux" and platform.machine() == "x86_64" and not nvidia


def pip_offers_cpu_build() -> bool:
    """Whether one of the indexes pip is set up with has a CPU build already."""
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "torch"], capture_output=True, text=True
    )
    return bool(CPU_BUILD.search(listing.stdout))


def index_answers() -> bool:
    """Whether PyTorch's index can be reached quickly."""
    try:
        with urllib.request.urlopen(f"{INDEX}/torch/", timeout=TIMEOUT_S) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


if __name__ == "__main__" and cuda_is_useless() and not pip_offers_cpu_build() and index_answers():
    print(f"--extra-index-url {INDEX}")
