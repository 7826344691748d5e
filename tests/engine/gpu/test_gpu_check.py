"""`make gpu-check` itself, in its smallest form: what it knows is on its page after each part, whatever happens."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests import gpu_check


def rows(check: gpu_check.Check) -> Iterator[gpu_check.Row]:
    yield {"what": "first", "right": True}
    yield {"what": "a <second> one", "right": False}


def broken(check: gpu_check.Check) -> Iterator[gpu_check.Row]:
    yield {"what": "before it broke"}
    raise RuntimeError("a driver")


def played(out: Path) -> list[dict[str, object]]:
    """What was written."""
    found: list[dict[str, object]] = json.loads((out / "gpu-check.json").read_text("utf-8"))["parts"]
    return found


@pytest.mark.parametrize(("minutes", "fault"), [(8, ""), (0, "not played: the time was over")])
def test_what_is_known_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minutes: int, fault: str) -> None:
    """Also where a part breaks, or there is no time for it. A wrong comparison makes the status 1."""
    monkeypatch.setattr(gpu_check, "PARTS", (("One", "It counts.", rows), ("Two", "It breaks.", broken)))
    status = gpu_check.main(["--minutes", str(minutes), "--out", str(tmp_path), "--device", "cpu"])
    one, two = played(tmp_path)
    assert status == (0 if fault else 1)
    assert one["fault"] == fault
    page = (tmp_path / "gpu-check.html").read_text("utf-8")
    if fault:
        assert "For lack of time not whole: One, Two." in page
    else:
        assert (len(one["rows"]), two["rows"]) == (2, [{"what": "before it broke"}])  # type: ignore[arg-type]
        assert "a driver" in str(two["fault"])
        assert "Comparisons: 1 wrong. Ended by an error: Two." in page
        assert "a &lt;second&gt; one" in page


def test_the_first_parts_on_the_cpu(tmp_path: Path) -> None:
    """This computer, and the first minute."""
    assert gpu_check.main(["--parts", "2", "--out", str(tmp_path), "--device", "cpu"]) == 0
    computer, minute = played(tmp_path)
    assert len(minute["rows"]) == 8  # type: ignore[arg-type]
    assert not computer["fault"]
    assert not minute["fault"]


def test_when_no_kernel_runs() -> None:
    """Those that run beside each other count once; what lies between them is a gap."""
    found = gpu_check.gaps([(0, 1000), (500, 1500), (2500, 3000), (3000, 3100), (5100, 6000)])
    assert (found["kernels"], found["they run"], found["nothing runs"]) == (5, "3.0 ms", "3.0 ms")
    assert found["longest gaps"] == "2.00, 1.00 ms"
    assert gpu_check.gaps([])["they run"] == "0.0 ms"


def test_a_part_that_hangs_is_ended(tmp_path: Path) -> None:
    """A program that is started gets some seconds, and what it said by then is kept."""
    check = gpu_check.Check(tmp_path, torch.device("cpu"), 0.0, True)
    said = gpu_check.within(check, 1.0, [sys.executable, "-uc", "print('here'); import time; time.sleep(600)"], {})
    assert said == "here\n"
