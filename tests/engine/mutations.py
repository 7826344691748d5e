"""Breaks the engine on purpose and shows which tests notice: `python -m tests.engine.mutations`.

Each mutation is one change to a copy of the engine in a temporary folder. The last line of the table is the engine as
it is, which no test may fail. Exit status 1 where a mutation goes unnoticed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTS = (
    "cache/test_tree",
    "cache/test_store",
    "cache/test_disk_tier",
    "cache/test_disk_answers",
    "cache/test_disk_deleted",
    "cache/test_disk_picture",
    "cache/test_disk_odd",
    "cache/test_hits",
    "cache/test_lifetime",
    "cache/test_budget",
    "cache/test_machine",
    "llama/test_attention",
    "weights/test_row_products",
    "turn/test_hot_cold",
    "turn/test_responder",
)
ON_A_GPU = ("gpu/test_classes", "gpu/test_turns")
BEHIND_A_GPU = ("gpu/test_memory_tier", "cache/test_machine")


LONGEST_S = 1800
"""For the tests of one mutation: one that makes them hang is noticed, too."""


@dataclass(frozen=True)
class Mutation:
    """In the file of that name, wherever it lies in the engine, `old` (which stands there once) becomes `new`. `tests`
    are those that could notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = TESTS


FORWARD = """            try:
                with turn.clock.part("prefill"):
                    logits = with_room(self.cache, partial(self._measured_forward, ids[first:last], run, first, turn))
            except StoppedError:  # what it wrote so far stands behind the lane's tokens: nobody reads it
                return None
"""
COMMIT = "            turn.cache.commit(run, ids[first:last], settled=True)\n"

MUTATIONS = (
    Mutation("publish before write", "responder.py", FORWARD + COMMIT, COMMIT + FORWARD),
    Mutation("evict a parent first", "tree.py", "return not self.children and not", "return not"),
    Mutation("skip the token comparison", "tree.py", "if mine != theirs:", "if len(mine) != len(theirs):"),
    Mutation(
        "forget to unpin on cancel",
        "prefix_cache.py",
        "            self.tree.unpin(run.match.node)\n            run.lane.is_busy = False",
        "            if len(run.lane.ids) > len(run.prefix):\n                self.tree.unpin(run.match.node)\n"
        "            run.lane.is_busy = False",
    ),
    Mutation(
        "reuse the last token",
        "prefix_cache.py",
        "        usable = ids[: len(ids) - 1]\n        capacity",
        "        usable = ids\n        capacity",
    ),
    Mutation(
        "off by one at a block border, too little restored",
        "prefix_cache.py",
        "first = common // BLOCK_TOKENS",
        "first = -(-common // BLOCK_TOKENS)",
    ),
    Mutation(
        "off by one at a block border, too little matched",
        "blocks.py",
        "end = len(ids) - len(ids) % BLOCK_TOKENS",
        "end = len(ids) - 1 - (len(ids) - 1) % BLOCK_TOKENS",
    ),
    Mutation("vouch for what was not restored", "prefix_cache.py", "        lane.cut(common)\n", ""),
    Mutation(
        "evict before the look is pinned",
        "prefix_cache.py",
        "self.tree.pin(match.node)\n        return match",
        "return match",
    ),
    Mutation("ignore the budget", "store.py", "if count * self.layout.bytes_per_block > self.free_bytes:", "if False:"),
    Mutation("settle what decoding wrote", "responder.py", "settled=bool(self.near))", "settled=True)"),
    Mutation(
        "a split forgets the pin", "tree.py", "node.last_used, node.pins, node.hits", "node.last_used, 0, node.hits"
    ),
    Mutation("believe any file on disk", "disk_files.py", "return is_ours and is_whole", "return True"),
    Mutation("believe a damaged file", "disk_files.py", "return is_ours and is_whole", "return is_ours"),
    Mutation("believe another block's file", "disk_files.py", "return is_ours and is_whole", "return is_whole"),
    Mutation(
        "read from disk into the wrong place",
        "disk_tier.py",
        "copy_in(lane, (first + number) * BLOCK_TOKENS,",
        "copy_in(lane, (first + number + 1) * BLOCK_TOKENS,",
    ),
    Mutation(
        "count what could not be read",
        "prefix_cache.py",
        "del run.prefix[max(near, at * BLOCK_TOKENS) :]",
        "max(near, at)",
    ),
    Mutation("orphans on disk", "disk_index.py", "FROM block JOIN behind ON parent = name)", "FROM block LIMIT 0)"),
    Mutation("write in nobody's name", "disk_tier.py", "and len(ids) and owner:", "and len(ids):"),
    Mutation("leave what a deletion left", "disk_index.py", "self.owners() - set(owners))", "set[str]())"),
    Mutation("write for a deleted conversation", "prefix_cache.py", "run.is_forgotten |= run.owner == owner", "pass"),
    Mutation(
        "delete what cannot be read now",
        "disk_files.py",
        "except OSError:\n                        return number, False",
        "except OSError:\n                        return number, True",
    ),
    Mutation("a run of the view hides a fork", "picture.py", " and last not in self._forks", ""),
    Mutation("drop more than a run", "picture.py", "above in self._forks or ", ""),
    Mutation("show twice what is in memory", "picture.py", "starts.difference_update(", "set().difference_update("),
    Mutation(
        "a mask that depends on the cut", "block_attention.py", "before + tokens[:, None]", "before + int(tokens.max())"
    ),
    Mutation(
        "attention whose kernel depends on the cut", "forward.py", "attend if self._on_cpu else attend_by", "attend_by"
    ),
    Mutation(
        "a product with too few rows",
        "row_products.py",
        "filled = functional.pad(part, (0, 0, 0, count - len(part)))",
        "filled = part",
    ),
    Mutation(
        "rows of a count that gives other bits",
        "row_products.py",
        "if n == MEASURE or torch.equal(",
        "if True or torch.equal(",
    ),
    Mutation("the end of a loop in another way", "row_products.py", ", -numbers.numel() % VECTORS)", ", 0)"),
    Mutation(
        "a copy to the CPU in the decode loop",
        "forward.py",
        "return out[0].transpose(0, 1).reshape(",
        "return out.cpu().to(out.device)[0].transpose(0, 1).reshape(",
        ON_A_GPU,
    ),
    Mutation(
        "a mask on the CPU",
        "attention_hook.py",
        "mask = torch.ones(q, n, dtype=torch.bool, device=query.device)",
        "mask = torch.ones(q, n, dtype=torch.bool)",
        ON_A_GPU,
    ),
    Mutation(
        "a table in fp32 among bf16",
        "weights.py",
        "return cos.to(like.dtype), sin.to(like.dtype)",
        "return cos, sin",
        ON_A_GPU,
    ),
    Mutation(
        "a device that does not wait for a copy",
        "copies.py",
        "torch.cuda.current_stream(self.tensor.device).wait_event(self.event)",
        "pass",
        BEHIND_A_GPU,
    ),
    Mutation(
        "a lane that does not wait for a copy",
        "prefix_cache.py",
        "if not copy.join():",
        "if False:",
        BEHIND_A_GPU,
    ),
    Mutation(
        "a processor that does not wait for a copy",
        "memory_tier.py",
        "if held.copy.wait():",
        "if True:",
        BEHIND_A_GPU,
    ),
    Mutation(
        "a block that is given back while it is copied",
        "store.py",
        "self._leaving.append(copy)",
        "copy.is_done()",
        BEHIND_A_GPU,
    ),
    Mutation("the engine as it is", "tree.py", "import heapq\n", "import heapq\n", TESTS + ON_A_GPU + BEHIND_A_GPU[:1]),
)


def mutate(mutation: Mutation, folder: Path) -> None:
    """Copy the engine and its tests, and make the one change."""
    for name in ("engine", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (path,) = (folder / "engine").rglob(mutation.file)
    source = path.read_text("utf-8")
    assert source.count(mutation.old) == 1, f"{mutation.name}: the place to change is not there, or not once"
    path.write_text(source.replace(mutation.old, mutation.new), "utf-8")


def run_tests(folder: Path, tests: tuple[str, ...]) -> Counter[str]:
    """The tests that fail, parameters left out, and how often."""
    files = [f"tests/engine/{name}.py" for name in tests]
    options = ["-q", "--tb=no", "--hypothesis-profile=no_shrink", "--timeout=300"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        return Counter({f"the tests did not end within {LONGEST_S} s": 1})
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode not in (0, 1) or (done.returncode and not lines):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    names = (line.split(" ")[1].partition("[")[0].replace("tests/engine/", "") for line in lines)
    return Counter(names)


def main() -> int:
    """Play the mutations whose name contains one of the given words, or all."""
    parser = argparse.ArgumentParser(description="Shows which tests notice a broken engine.")
    parser.add_argument("words", nargs="*")
    words = parser.parse_args().words
    unnoticed = 0
    for mutation in MUTATIONS:
        if words and not any(word in mutation.name for word in words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            mutate(mutation, Path(folder))
            failed = run_tests(Path(folder), mutation.tests)
        is_broken = mutation.old != mutation.new
        unnoticed += is_broken != bool(failed)
        print(f"{mutation.name} ({mutation.file}): {sum(failed.values())} tests fail", flush=True)
        for name, count in failed.most_common():
            print(f"    {name}" + (f" ({count} times)" if count > 1 else ""), flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
