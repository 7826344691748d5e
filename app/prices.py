"""What the same prompts would have cost at hosted APIs, by the rules and prices in resources/prices.json. No Qt."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from app.language import tr

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Service:
    """A hosted API: prices in dollars for a million tokens, read on the date `as_of`. It reads from its cache in whole
    steps of `step_tokens`, from `least_tokens` on; `written` is the price of what it writes there."""

    name: str
    as_of: str
    source: str
    input: float
    cached: float
    written: float
    output: float
    least_tokens: int
    step_tokens: int

    def bill(self, used: Used) -> Bill:
        """What one request would have cost, where its cache had held what ours did."""
        hit = used.reused // self.step_tokens * self.step_tokens
        hit = hit if hit >= self.least_tokens else 0
        rest = self.written if used.prompt >= self.least_tokens else self.input
        output = used.written * self.output
        with_caching = hit * self.cached + (used.prompt - hit) * rest + output
        return Bill(with_caching / MILLION, (used.prompt * self.input + output) / MILLION)


class Used(NamedTuple):
    """The tokens of one request: of its prompt, those of them that were reused, and those written."""

    prompt: int
    reused: int
    written: int = 0


class Bill(NamedTuple):
    """Dollars, with prompt caching and without."""

    with_caching: float = 0.0
    without: float = 0.0


@cache
def services() -> tuple[Service, ...]:
    """The services of the data file, in its order."""
    held = json.loads((files("resources") / "prices.json").read_text("utf-8"))
    return tuple(Service(**each) for each in held["services"])


def bills(requests: Iterable[Used]) -> dict[str, Bill]:
    """The sums over several requests by the name of the service."""
    asked = list(requests)
    made = {service.name: [service.bill(used) for used in asked] for service in services()}
    return {name: Bill(sum(one[0] for one in each), sum(one[1] for one in each)) for name, each in made.items()}


def in_words(requests: Iterable[Used]) -> str:
    """A line for each service: "OpenAI GPT-4.1 (prices of 2025-04): $0.0012 with its cache, $0.0300 without"."""
    sums = bills(requests)
    return "\n".join(
        tr(
            "{name} (prices of {as_of}): {dollars} with its cache, {dollars2} without",
            name=service.name,
            as_of=service.as_of,
            dollars=dollars(sums[service.name].with_caching),
            dollars2=dollars(sums[service.name].without),
        )
        for service in services()
    )


def dollars(amount: float) -> str:
    """ "$0.0012", "$3.40"."""
    return tr("${amount:,.2f}", amount=amount) if amount >= 1 else tr("${amount:.4f}", amount=amount)
