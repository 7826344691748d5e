"""Conversations of real text with the default model, each turn with the cache and without: are all logits the same?

`python -m tests.engine.exact_turns --turns 50 --threads 4 --seed 1`. What happens between the turns is drawn: the
conversation goes on, an earlier question is written anew, another conversation branches off, the answer is asked for
again; the blocks are evicted or the lanes go, Headstart starts anew with what is on disk, the idle work is done, half
done or not done; prompts are read in pieces of another length. Exit status 1 where any bit differs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from itertools import islice
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "0")  # before torch: more threads than cores wait for each other otherwise

import torch
from torch import Tensor

from engine import fetch_model
from engine.models.loaded import load
from engine.turn.responder import Responder
from engine.types import Message, Request, Sampling
from tests.engine.inside import forget_lanes
from tests.engine.turns import SpyModel, finish, make_responder

CONTEXT, BUDGETS = 4096, (4096, 9000, 20_000)
"""Tokens: of a conversation, and of all that is cached."""

PIECES = (13, 57, 200, 512)
LONGEST_CHAT = 9
"""Messages after which a conversation is given up for another one."""


class Chats:
    """A responder over a folder of blocks, and conversations that somebody leads with it."""

    def __init__(self, folder: Path, seed: int, dtype: str, kv_bits: int = 16) -> None:
        self.chance = random.Random(seed)
        self.model = SpyModel(load(fetch_model(lambda *_: None), "cpu", dtype, kv_bits=kv_bits))  # type: ignore[arg-type]
        self.folder = folder
        self.chats: dict[str, list[Message]] = {}
        self.reused = 0
        self.texts = [text for name in ("support_bot.md", "tree_document.md") for text in _sentences(name)]
        self.responder = self._started()

    def turns(self, count: int) -> Iterator[tuple[str, bool]]:
        """Play so many turns: what was done, and whether every logit was the same with the cache and without."""
        for _ in range(count):
            rest, name, step = self._rest(), *self._step()
            request = Request(tuple(self.chats[name]), self._sampling(), name)
            self.responder.chunk_tokens = self.chance.choice(PIECES)
            warm, warm_ids, reused = self._play(request)
            self.reused += reused
            self.responder.chunk_tokens = max(PIECES)
            cold, cold_ids, _ = self._play(replace(request, use_cache=False))
            same = warm_ids == cold_ids and all(map(torch.equal, reversed(warm), reversed(cold)))
            self.chats[name].append(Message("assistant", self.model.decode(warm_ids) or "Yes.", token_ids=warm_ids))
            yield f"{rest}, {step}: {reused} reused", same

    def _play(self, request: Request) -> tuple[list[Tensor], tuple[int, ...], int]:
        """The logits of the end of the prompt, unless they were kept, and of each token; the tokens; those reused."""
        self.model.logits.clear()
        matched, finished = finish(self.responder, request)
        return self.model.logits[-len(finished.token_ids) :], finished.token_ids, matched.reused_tokens

    def _step(self) -> tuple[str, str]:
        """Write a question somewhere; the conversation, and what was done."""
        name = self.chance.choice([*self.chats, "new"])
        said = self.chats.get(name, [])
        if not said or len(said) > LONGEST_CHAT:
            name = f"chat {len(self.chats)}"
            self.chats[name] = [Message("system", " ".join(self._some(20))), self._question()]
            return name, "a new one"
        kind = self.chance.choice(["on", "on", "edit", "branch", "retry"])
        if kind == "branch":
            name = f"chat {len(self.chats)}"
        if kind in ("edit", "branch"):
            said = said[: self.chance.randrange(1, len(said), 2)]
        self.chats[name] = said[:-1] if kind == "retry" else [*said, self._question()]
        return name, kind

    def _rest(self) -> str:
        """What happens before the next question."""
        kind = self.chance.choice(["nothing", "idle", "idle", "half idle", "lanes go", "evicted", "restart"])
        work = self.responder.work_idly()
        if kind != "nothing":
            list(work) if kind != "half idle" else list(islice(work, 1))
        work.close()  # type: ignore[attr-defined]
        if kind == "lanes go":
            forget_lanes(self.responder.cache)
        elif kind == "evicted":
            self.responder.cache.set_budget(0)
            self.responder.cache.set_budget(self.chance.choice(BUDGETS) * self.model.layout.bytes_per_token)
        elif kind == "restart":
            self.responder.cache.disk.close()
            self.responder = self._started()
        return kind

    def _started(self) -> Responder:
        tokens = self.chance.choice(BUDGETS)
        return make_responder(
            self.model, tokens=tokens, context=CONTEXT, folder=self.folder, namespace="exact", clock=time.perf_counter
        )

    def _question(self) -> Message:
        return Message("user", " ".join(self._some(3)))

    def _some(self, most: int) -> list[str]:
        first, count = self.chance.randrange(len(self.texts)), self.chance.randrange(1, most + 1)
        return self.texts[first : first + count]

    def _sampling(self) -> Sampling:
        return Sampling(temperature=0.0, max_tokens=self.chance.randrange(1, 24))


def _sentences(name: str) -> list[str]:
    text = files("resources.demo").joinpath(name).read_text("utf-8")
    return [line.strip() for line in text.replace(". ", ".\n").splitlines() if line.strip()]


def main() -> int:
    """Play, and say how many turns were the same bits."""
    parser = argparse.ArgumentParser(description="Turns of real text, with the cache and without, bit by bit.")
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kv-bits", type=int, choices=(8, 16), default=16)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    equal = 0
    with tempfile.TemporaryDirectory() as folder:
        chats = Chats(Path(folder), options.seed, options.dtype, options.kv_bits)
        for said, same in chats.turns(options.turns):
            equal += same
            if not same:
                print("DIFFERS:", said, flush=True)
    print(f"{equal} of {options.turns} turns equal, {chats.reused:,} tokens reused, {options.threads} threads")
    return 0 if equal == options.turns else 1


if __name__ == "__main__":
    sys.exit(main())
