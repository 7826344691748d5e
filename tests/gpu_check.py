"""Everything that is to be learnt on a computer with a GPU, in eight minutes: `make gpu-check`.

Parts come in the order of their worth. What is known is written to `gpu-check.json` and `gpu-check.html` after each, so
that nothing is lost where the time is over, or a driver ends the program. On a computer without a GPU it runs in small
sizes on the CPU, so that the check itself is tested.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import torch

from engine import check_device, describe_devices, fetch_model
from engine.cache.store import Lane
from engine.models.choice import cache_sizes, choose_device, choose_dtype, free_bytes, taken_for_block, total_bytes
from engine.models.from_transformers import TransformersNetwork
from engine.models.graphs import PlainCalls, Steps, recorder_for
from engine.models.loaded import LoadedModel, load
from engine.turn.choosing import Choice
from engine.turn.pipelined import PipelinedChoice
from engine.turn.sampling import KnownTokens
from engine.types import Message, Request, Sampling
from tests.engine.gguf_packed import SHAPES, write_packed
from tests.engine.model_zoo import CASES, ROPE_CASES, ModelCase
from tests.engine.models.test_classes import make_subject, prompt
from tests.engine.tiny_models import make_llama, make_tokenizer
from tests.engine.turns import Chat, cold_answer, make_responder

Row = dict[str, Any]
ACTIONS = 200
SOURCES = ("Where is my parcel?", "What does a tent cost?", "Is the stove in the pack?", "When will it be here?")
STUCK_S = 60
"""A driver that answers no more keeps this program for so long after its time; what was found by then is written."""

NOT_ON_CPU = "There is nothing to measure on a CPU."


@dataclass
class Check:
    """What is found out, and until when there is time. `small`: in sizes for a CPU."""

    out: Path
    device: torch.device
    until: float
    small: bool
    parts: list[dict[str, Any]] = field(default_factory=list)

    def play(self, title: str, note: str, find: Callable[[Check], Iterator[Row]]) -> None:
        """One part: its rows are kept one by one, and so is what goes wrong in it."""
        part: dict[str, Any] = {"title": title, "note": note, "rows": [], "fault": "", "seconds": 0.0}
        self.parts.append(part)
        began = time.monotonic()
        if began >= self.until:
            part["fault"] = "not played: the time was over"
        else:
            try:
                for row in find(self):
                    part["rows"].append(row)
                    if time.monotonic() >= self.until:
                        part["fault"] = "broken off: the time was over"
                        break
            except Exception:
                part["fault"] = traceback.format_exc()[-3000:]
        part["seconds"] = round(time.monotonic() - began, 1)
        print(f"{title}: {len(part['rows'])} rows, {part['seconds']} s{' - ' if part['fault'] else ''}"
              f"{part['fault'].strip().splitlines()[-1] if part['fault'] else ''}", flush=True)  # fmt: skip
        self.write()

    def write(self) -> None:
        """What is known by now."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "gpu-check.json").write_text(json.dumps({"parts": self.parts}, indent=1) + "\n", "utf-8")
        (self.out / "gpu-check.html").write_text(page(self.parts), "utf-8")

    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.until - time.monotonic())


def computer(check: Check) -> Iterator[Row]:
    """What this computer is, and what the engine would choose on it."""
    report = describe_devices()
    for device in report.devices:
        yield {"what": device.kind, "is": f"{device.name}; {device.memory_free / 1e9:.1f} of "
               f"{device.memory_total / 1e9:.1f} GB free; {', '.join(device.dtypes)}"}  # fmt: skip
    yield {"what": "checked device", "is": str(check.device)}
    yield {"what": "number type", "is": str(choose_dtype("auto", check.device, 2048, torch.bfloat16)[0])}
    yield {"what": "versions", "is": ", ".join(f"{name} {version}" for name, version in report.versions.items())}
    yield {"what": "system", "is": f"{platform.platform()}, Python {platform.python_version()}"}
    if check.device.type == "cuda":
        capability = ".".join(map(str, torch.cuda.get_device_capability()))
        yield {"what": "CUDA", "is": f"{torch.version.cuda}, compute capability {capability}"}


def first_minute(check: Check) -> Iterator[Row]:
    """What `headstart doctor --gpu` compares."""
    for found in check_device(check.device.type):  # type: ignore[arg-type]
        yield {"what": found.what, "right": found.is_right, "figure": found.figure}


def classes(check: Check) -> Iterator[Row]:
    """Every supported class with random weights: the device against the CPU."""
    every = CASES + ROPE_CASES
    for case in every[:: 4 if check.small else 1]:
        for dtype in dict.fromkeys((torch.float32, choose_dtype("auto", check.device, 32, torch.bfloat16)[0])):
            try:
                yield {"class": case.name, "type": str(dtype)[6:], **compare(case, dtype, check.device)}
            except Exception as error:
                yield {"class": case.name, "type": str(dtype)[6:], "fault": f"{type(error).__name__}: {error}"[:200]}


@torch.inference_mode()
def compare(case: ModelCase, dtype: torch.dtype, device: torch.device) -> Row:
    """A prompt in two pieces and eight tokens behind it: how far the device's probabilities are from the CPU's."""
    subject = make_subject(case)
    truth = LoadedModel(TransformersNetwork(subject.ours), subject.model.tokenizer, "/nowhere")
    moved = make_subject(case).ours.to(dtype).to(device)
    there = LoadedModel(TransformersNetwork(moved), subject.model.tokenizer, "/nowhere")
    ids = prompt(45)
    lanes = [Lane(model.layout, 60) for model in (truth, there)]
    furthest, equal, token = 0.0, 0, 0
    for step in range(9):
        logits = []
        for model, lane in zip((truth, there), lanes, strict=True):
            lane.regime = model.reuse.regime(60)
            if step == 0:
                model.forward(ids[:21], lane, 0)
                logits.append(model.forward(ids[21:], lane, 21))
            else:
                logits.append(model.forward([token], lane, 44 + step, is_answer=True))
        one, other = (torch.log_softmax(each, 0) for each in logits)
        furthest = max(furthest, float((one.exp() * (one - other)).sum()))
        equal += int(logits[0].argmax()) == int(logits[1].argmax())
        token = int(logits[0].argmax())
    return {"KL": f"{furthest:.1e}", "greedy tokens equal": f"{equal} of 9"}


def random_actions(check: Check) -> Iterator[Row]:
    """Chats that grow, are edited, branch and are asked again: with the cache and without, token by token."""
    number = choose_dtype("auto", check.device, 32, torch.bfloat16)[0]
    for dtype in dict.fromkeys((torch.float32, number)):
        model = LoadedModel(TransformersNetwork(make_llama(dtype=dtype).to(check.device)), make_tokenizer(), "/tiny")
        responder = make_responder(model, tokens=4096)
        responder.warm_up()
        chance, chats = (
            random.Random(3),
            [Chat(responder, f"You are bot {number}.", f"{number}") for number in range(3)],
        )
        played = equal = reused = 0
        for _ in range(ACTIONS // (4 if check.small else 1)):
            chat = chance.choice(chats)
            if len(chat.messages) > 5 or (len(chat.messages) > 2 and chance.random() < 0.3):
                del chat.messages[1 + 2 * chance.randrange(len(chat.messages) // 2) :]
            chat.messages.append(Message("user", chance.choice(SOURCES)))
            cold = cold_answer(chat)
            equal += chat.answer().token_ids == cold.token_ids
            played, reused = played + 1, reused + chat.reused
            list(responder.settle())
            if not check.left():
                break
        yield {"type": str(dtype)[6:], "actions": played, "equal answers": equal, "tokens reused": reused,
               "promised": "exact" if not responder.near else f"near: {responder.near}"}  # fmt: skip


def memory(check: Check) -> Iterator[Row]:
    """What many blocks take, against the arithmetic."""
    if check.device.type != "cuda":
        yield {"what": NOT_ON_CPU if check.device.type == "cpu" else "MPS does not say."}
        return
    for nbytes in (368_640, 700_000, 2 << 20, 3 << 20):
        before = free_bytes(check.device)
        held = [torch.empty(nbytes, dtype=torch.uint8, device=check.device) for _ in range(200)]
        taken, told = before - torch.cuda.mem_get_info()[0], len(held) * taken_for_block(nbytes, check.device)
        del held
        yield {"what": f"200 blocks of {nbytes:,} bytes", "taken MB": taken // 10**6, "by arithmetic MB": told // 10**6}
    yield {
        "what": "cache of a model of 23 kB a token",
        "budget, context": str(cache_sizes(check.device, 23040, 8192, None)),
    }


def device_tests(check: Check) -> Iterator[Row]:
    """The tests that are marked for a device, in a process of their own."""
    command = [sys.executable, "-m", "pytest", "-m", "device", "-n", "0", "-q", "-rA", "--tb=line", "tests/engine/gpu"]
    said = within(check, min(90.0, check.left() / 3), command, {"HEADSTART_TEST_DEVICE": check.device.type})
    for line in said.splitlines():
        kind, _, rest = line.partition(" ")
        if kind in ("PASSED", "FAILED", "ERROR"):
            name, _, why = rest.partition(" - ")
            row: Row = {"test": name.rpartition("::")[2], "right": kind == "PASSED"}
            yield row | ({"said": why[:200]} if why else {})
    if not any(line.startswith(("PASSED", "FAILED")) for line in said.splitlines()):
        yield {"test": "none was played", "right": False, "said": said.strip()[-300:]}


def within(check: Check, seconds: float, command: list[str], environment: dict[str, str]) -> str:
    """What a program says within so many seconds; then it ends, and all that it has started."""
    said = check.out / "said.txt"
    with said.open("w", encoding="utf-8") as file:
        program = subprocess.Popen(command, env={**os.environ, **environment}, stdout=file, stderr=subprocess.STDOUT,
                                   start_new_session=True)  # fmt: skip
        try:
            program.wait(max(1.0, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    text = said.read_text("utf-8", errors="replace")
    said.unlink()
    return text


def speed(check: Check) -> Iterator[Row]:
    """The default model, or `GPU_CHECK_MODEL`: seconds to read and tokens a second, after one round for nothing."""
    path = Path(os.environ.get("GPU_CHECK_MODEL") or fetch_model(lambda *_: None))
    model = load(path, check.device.type, "auto")  # type: ignore[arg-type]
    yield from _speed(model, check)


def _speed(model: LoadedModel, check: Check) -> Iterator[Row]:
    past, new, written = (512, 57, 8) if check.small else (3000, 57, 64)
    lane = Lane(model.layout, past + new + written)
    ids = [(31 * index + 7) % min(model.vocabulary, 10_000) for index in range(past + new)]

    def timed(some: list[int], start: int, count: int = 1) -> float:
        model.synchronize()
        began = time.perf_counter()
        for index in range(count):
            model.forward(some, lane, start + index, is_answer=len(some) == 1)
        model.synchronize()
        return (time.perf_counter() - began) / count

    timed(ids[:512], 0)
    cold = sum(timed(ids[start : min(start + 512, past)], start) for start in range(0, past, 512))
    warm = timed(ids[past:], past)
    yield {"what": f"{model.name}, {model.dtype}: {past:,} tokens from scratch", "figure": f"{cold:.3f} s"}
    yield {"what": f"{new} tokens behind {past:,}", "figure": f"{warm:.4f} s, {warm / cold:.3f} of it"}
    for start in (60, past):
        timed([5], start)
        each = timed([5], start, written)
        yield {"what": f"writing behind {start:,} tokens", "figure": f"{1 / each:.1f} tokens a second"}


def large(check: Check) -> Iterator[Row]:
    """As rows L1 to L6, with a file of random weights, which is made where there is time for it: a billion of them, on
    the CPU 135 million. llama.cpp is measured by `make bench`."""
    name = "135m" if check.small else "1b"
    if check.left() < (30 if check.small else 150):
        yield {"what": f"no time to make a file of {name}", "figure": ""}
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}-Q4_0.gguf"
        write_packed(path, "Q4_0", SHAPES[name], {"token_embd": "Q8_0"}, vocabulary=fetch_model(lambda *_: None))
        before, began = _taken(check), time.perf_counter()
        model = load(path, check.device.type, "auto")  # type: ignore[arg-type]
        model.forward([1], Lane(model.layout, 16), 0)
        model.synchronize()
        seconds, taken = time.perf_counter() - began, _taken(check) - before
        size = path.stat().st_size
        yield {"what": f"{name} Q4_0: time to load, with a first token", "figure": f"{seconds:.1f} s"}
        if not check.small:  # a process has memory already that another model left
            yield {"what": "memory of the loaded model / the file", "figure": f"{taken / size:.2f}"}
        yield from _speed(model, check)


def _taken(check: Check) -> int:
    """Bytes of the device that are taken."""
    return 0 if check.small else total_bytes(check.device) - free_bytes(check.device)


WAYS = ("each token waited for", "one ahead", "one ahead, repeated by graphs")


@dataclass
class Writing:
    """The default model behind a prompt, and ways to write with it."""

    model: LoadedModel
    lane: Lane
    logits: torch.Tensor

    @classmethod
    def behind_a_prompt(cls, check: Check) -> Writing:
        """Read a prompt."""
        model = load(Path(fetch_model(lambda *_: None)), check.device.type, "auto")  # type: ignore[arg-type]
        lane, ids = Lane(model.layout, 512), [(31 * index + 7) % 10_000 for index in range(200)]
        logits = model.forward(ids, lane, 0)
        lane.ids[:] = ids
        return cls(model, lane, logits)

    def write(self, way: str, count: int) -> tuple[float, list[int]]:
        """Seconds, and greedy tokens."""
        request = Request((Message("user", "?"),), Sampling(temperature=0.0, max_tokens=count))
        known = KnownTokens(self.model.vocabulary, self.model.unknown_ids)
        choice: Choice | PipelinedChoice = Choice(self.model, request, known, (), (), None)
        if way != WAYS[0]:
            recorder = recorder_for(self.model.device) or PlainCalls()
            steps = Steps(self.model, recorder if way == WAYS[2] else None)
            list(steps.record([self.lane]))
            choice = PipelinedChoice(steps, request, known, ())
        self.model.synchronize()
        began, logits, tokens = time.perf_counter(), self.logits, []
        while True:
            tokens.append(choice.next(logits))
            choice.see(tokens[-1])
            if len(tokens) == count:
                self.model.synchronize()
                return time.perf_counter() - began, tokens
            logits = choice.step(tokens[-1], self.lane, len(self.lane.ids) + len(tokens) - 1)


def graphs(check: Check) -> Iterator[Row]:
    """The same answer by each way."""
    writing, count = Writing.behind_a_prompt(check), 16 if check.small else 128
    expected: list[int] = []
    for way in WAYS:
        writing.write(way, count)
        seconds, tokens = min(writing.write(way, count) for _ in range(2 if check.small else 5))
        expected = expected or tokens
        equal = sum(one == other for one, other in zip(tokens, expected, strict=True))
        yield {"way": way, "tokens a second": f"{count / seconds:.1f}", "tokens as by the first": f"{equal} of {count}"}


def profile(check: Check) -> Iterator[Row]:
    """Ten tokens by each way: how long the device computes, and how long it has nothing to do between two kernels."""
    writing, is_cuda = Writing.behind_a_prompt(check), check.device.type == "cuda"
    kinds = [torch.profiler.ProfilerActivity.CPU] + [torch.profiler.ProfilerActivity.CUDA] * is_cuda
    for way in WAYS:
        writing.write(way, 10)
        with torch.profiler.profile(activities=kinds) as recorded:
            seconds, _ = writing.write(way, 10)
        spans = sorted(
            (event.time_range.start, event.time_range.end)
            for event in recorded.events() or ()
            if (str(event.device_type).endswith("CUDA") if is_cuda else event.cpu_parent is None)
        )
        name = "self_device_time_total" if is_cuda else "self_cpu_time_total"
        events = sorted(recorded.key_averages(), key=lambda event: -getattr(event, name, 0))[:3]
        said = ", ".join(f"{event.key[:40]} {getattr(event, name, 0) / 1e3:.1f} ms" for event in events)
        yield {"way": way, "ten tokens": f"{1000 * seconds:.1f} ms", **gaps(spans), "most of it": said}


def gaps(spans: list[tuple[float, float]]) -> Row:
    """How long kernels run, by when they begin and end in µs, and what lies between them."""
    busy, between, until = 0.0, [], None
    for start, end in spans:
        if until is not None and start > until:
            between.append(start - until)
        busy += max(0.0, end - max(start, until if until is not None else start))
        until = end if until is None else max(until, end)
    longest = sorted(between)[-3:]
    return {
        "kernels": len(spans), "they run": f"{busy / 1000:.1f} ms", "nothing runs": f"{sum(between) / 1000:.1f} ms",
        "longest gaps": ", ".join(f"{gap / 1000:.2f}" for gap in reversed(longest)) + " ms" * bool(longest),
    }  # fmt: skip


def bench(check: Check) -> Iterator[Row]:
    """Rows 1 to 8 of `make bench`, as far as the time goes. Its peers run on the CPU."""
    found = check.out / "bench.json"
    found.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.bench", "--only", "engine", "--out", str(found)]
    said = within(check, check.left() - 5, command, {"QUICK": "1"})
    rows = json.loads(found.read_text("utf-8"))["rows"] if found.exists() else ()
    for row in rows:
        yield {"row": row["id"], "what": row["name"], "value": row["value"], "must be": row["must"]}
    if check.left() < 6:
        yield {"row": "", "what": "broken off here: the time was over"}
    elif not rows:
        yield {"row": "", "what": "no row: " + said.strip()[-200:]}


PARTS: tuple[tuple[str, str, Callable[[Check], Iterator[Row]]], ...] = (
    ("This computer", "What was found, and what the engine would choose.", computer),
    ("The first minute", "A made-up model on the device and on the CPU: `headstart doctor --gpu`.", first_minute),
    ("Tests on the device", "Those of the engine's tests that are marked for it.", device_tests),
    ("Every class", "Random weights, the device against the CPU in fp32. KL is the largest of nine.", classes),
    (
        "Random actions",
        "Chats that grow, are edited and branch: answers with the cache and without it.",
        random_actions,
    ),
    ("Memory", "What is taken, against the arithmetic by which the cache gets its budget.", memory),
    ("Graphs on and off", "Greedy, the default model behind 200 tokens; the quickest of some runs.", graphs),
    ("Ten tokens", "Under the profiler, which takes time itself: when kernels run, and when none does.", profile),
    ("Speed", "One run each, after one for nothing.", speed),
    ("A large model", "Random weights in a GGUF file, one run each, after one for nothing.", large),
    ("Bench", "The rows of `make bench` that are about the engine, with few samples.", bench),
)


def page(parts: list[dict[str, Any]]) -> str:
    """Everything on one page."""
    body, seconds = "".join(_section(part) for part in parts), sum(part["seconds"] for part in parts)
    return (
        "<!doctype html><meta charset='utf-8'><title>Headstart: GPU check</title><style>"
        "body{font:15px/1.45 system-ui;max-width:60em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}"
        "td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}"
        "pre{background:#f4f4f4;padding:.6em;white-space:pre-wrap}.bad{color:#b00020;font-weight:600}</style>"
        f"<h1>Headstart: GPU check</h1><p>{_verdict(parts)} {seconds:.0f} seconds, {time.strftime('%d %B %Y')}.</p>"
        + body
    )


def _wrong(parts: list[dict[str, Any]]) -> list[Row]:
    """Comparisons that did not come out as they must."""
    return [row for part in parts for row in part["rows"] if row.get("right") is False or row.get("fault")]


def _verdict(parts: list[dict[str, Any]]) -> str:
    wrong = _wrong(parts)
    faults = [part["title"] for part in parts if part["fault"] and not part["fault"].startswith(("not", "broken"))]
    short = [part["title"] for part in parts if part["fault"].startswith(("not", "broken"))]
    made = sum("right" in row for part in parts for row in part["rows"])
    said = f"Comparisons: {len(wrong)} wrong." if wrong else f"All {made} comparisons that were made are right."
    said += f" Ended by an error: {escape(', '.join(faults))}." if faults else ""
    return said + (f" For lack of time not whole: {escape(', '.join(short))}." if short else "")


def _section(part: dict[str, Any]) -> str:
    columns = list(dict.fromkeys(key for row in part["rows"] for key in row))
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    rows = "".join("<tr>" + "".join(_cell(row, column) for column in columns) + "</tr>" for row in part["rows"])
    fault = f"<pre>{escape(part['fault'])}</pre>" if part["fault"] else ""
    return (
        f"<h2>{escape(part['title'])}</h2><p>{_marked(part['note'])} {part['seconds']} s.</p>"
        f"<table><tr>{head}</tr>{rows}</table>{fault}"
    )


def _marked(text: str) -> str:
    """What stands between two ` is a command."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _cell(row: Row, column: str) -> str:
    value = row.get(column, "")
    is_bad = value is False or (column == "fault" and value)
    shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    shown = f"{shown:.3g}" if isinstance(shown, float) else shown
    return f"<td{' class=bad' if is_bad else ''}>{escape(str(shown))}</td>"


def main(arguments: list[str] | None = None) -> int:
    """Play all parts within the time. 1 where a comparison is wrong."""
    parser = argparse.ArgumentParser(prog="make gpu-check", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=Path("out/gpu-check"))
    parser.add_argument("--device", choices=["auto", "cuda", "mps", "cpu"], default="auto")
    parser.add_argument("--parts", type=int, default=len(PARTS), help="only so many, from the first on")
    options = parser.parse_args(arguments)
    device = choose_device(options.device)
    check = Check(options.out, device, time.monotonic() + 60 * options.minutes, device.type == "cpu")
    faulthandler.dump_traceback_later(60 * options.minutes + STUCK_S, exit=True)
    try:
        for title, note, find in PARTS[: options.parts]:
            check.play(title, note, find)
    finally:
        faulthandler.cancel_dump_traceback_later()
    print(f"{_verdict(check.parts)} The page: {check.out / 'gpu-check.html'}")
    return int(bool(_wrong(check.parts)))


if __name__ == "__main__":
    sys.exit(main())
