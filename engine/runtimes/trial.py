"""Whether the graphics card computes right numbers: a program for the Python that has the card's build of torch.

`python trial.py` prints one line of JSON, {"device": "cuda", "name": ..., "fault": ""}. `fault` says in words what is
wrong, "" where all is well. Processors with graphics exist that take every command and give wrong numbers.
"""

from __future__ import annotations

import json
from typing import Any

SIZE, SEED = 256, 7
FAR = 1e-2
"""How far, relative to the largest number, a product in fp32 may be from one in fp64: cards may round to 10 bits."""


def device() -> str:
    """The kind of card that torch finds; "" for none."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "xpu" if hasattr(torch, "xpu") and torch.xpu.is_available() else ""


def fault(kind: str) -> str:
    """What is wrong with what this kind of device computes; "" where nothing is."""
    import torch

    torch.manual_seed(SEED)
    left, right = torch.randn(SIZE, SIZE, dtype=torch.float64), torch.randn(SIZE, SIZE, dtype=torch.float64)
    exact = torch.softmax(left @ right / SIZE**0.5, dim=-1) @ right
    on_card = [matrix.to(kind, torch.float32) for matrix in (left, right)]
    found = torch.softmax(on_card[0] @ on_card[1] / SIZE**0.5, dim=-1) @ on_card[1]
    off = float((found.cpu().double() - exact).abs().max() / exact.abs().max())
    return "" if off < FAR else f"it is off by {off:.2g} of the largest number"


def main() -> None:
    """Print what was found."""
    said: dict[str, Any] = {"device": "", "name": "", "fault": ""}
    try:
        said["device"] = kind = device()
        if kind:
            import torch

            said["name"] = getattr(torch, kind).get_device_name()
            said["fault"] = fault(kind)
        else:
            said["fault"] = "torch finds no graphics card"
    except Exception as error:  # whatever a driver does belongs into the line that is read
        said["fault"] = str(error)[:500] or type(error).__name__
    print(json.dumps(said))


if __name__ == "__main__":
    main()
