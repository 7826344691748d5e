"""The state machines, and first starts of any model class, for a time: `python -m tests.engine.soak --minutes 30`.

Rounds of each machine, with its own seed, printed before it begins. A round that fails prints its steps and the
command that repeats it; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
import traceback

import hypothesis
import torch
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.engine.cache_machine import CacheMachine
from tests.engine.deletion_machine import DeletionMachine
from tests.engine.engine_machine import EngineMachine
from tests.engine.fresh_process import play as play_fresh_process
from tests.engine.responder_machine import ResponderMachine

MACHINES: dict[str, tuple[type[RuleBasedStateMachine], int, int]] = {
    "cache": (CacheMachine, 200, 80),
    "responder": (ResponderMachine, 40, 40),
    "deletion": (DeletionMachine, 40, 40),
    "engine": (EngineMachine, 40, 40),
}
"""Name -> machine, runs in a round, steps in a run."""

FRESH = "fresh"
"""The round in which a model of any class is opened in processes of their own."""

FRESH_MODELS = 3
"""So many in a round."""


def play(name: str, seed: int) -> None:
    """One round. Raises what the machine raises."""
    if name == FRESH:
        for number in range(FRESH_MODELS):
            play_fresh_process(seed + number * 1_000_003)
        return
    machine, runs, steps = MACHINES[name]
    settings = hypothesis.settings(
        max_examples=runs,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=settings)  # type: ignore[no-untyped-call]


def soak(names: list[str], minutes: float, seed: int) -> int:
    """Rounds until the time is over; what is under way is finished. The exit status."""
    end, rounds = time.monotonic() + 60 * minutes, 0
    while not rounds or time.monotonic() < end:
        name, own = names[rounds % len(names)], seed + rounds // len(names)
        print(f"round {rounds + 1}: {name} machine, seed {own}", flush=True)
        try:
            play(name, own)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print(f"repeat with: python -m tests.engine.soak --minutes 0 --machine {name} --seed {own}")
            return 1
        rounds += 1
    print(f"{rounds} rounds without a fault")
    return 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Random tests of the engine for a given time.")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long (default 30; 0: one round)")
    parser.add_argument("--seed", type=int, default=None, help="of the first round (default: drawn, and printed)")
    parser.add_argument("--machine", choices=[*MACHINES, FRESH, "all"], default="all")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    seed = secrets.randbelow(2**31) if arguments.seed is None else arguments.seed
    names = [*MACHINES, FRESH] if arguments.machine == "all" else [arguments.machine]
    return soak(names, arguments.minutes, seed)


if __name__ == "__main__":
    sys.exit(main())
