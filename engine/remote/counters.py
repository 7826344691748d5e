"""What a server counts for Prometheus, where its answers do not say what was reused: vLLM's and SGLang's counters.

They count for everybody. Only where the tokens that were looked up meanwhile are exactly those of our prompt, the
tokens that were found are ours.
"""

from __future__ import annotations

import re

PAIRS = (
    ("vllm:prefix_cache_queries", "vllm:prefix_cache_hits"),
    ("sglang:prompt_tokens", "sglang:cached_tokens"),
)
"""What counts the tokens of prompts, and what those of them that were reused."""

_LINE = re.compile(r"^([a-z]+:[a-z_]+?)(?:_total)?(?:\{[^}]*\})?\s+([0-9.eE+-]+)\s*$", re.MULTILINE)

Counters = dict[str, float]


def read_counters(text: str) -> Counters:
    """The counters in what /metrics gives, over all their labels; nothing where there are none."""
    wanted = {name for pair in PAIRS for name in pair}
    found: Counters = {}
    for name, value in _LINE.findall(text):
        if name in wanted:
            try:
                found[name] = found.get(name, 0.0) + float(value)
            except ValueError:
                return {}
    return found


def reused_between(before: Counters, after: Counters, prompt_tokens: int) -> int | None:
    """Tokens of a prompt that were reused, by the counters before and after it; None where these do not tell."""
    for queries, hits in PAIRS:
        if {queries, hits} <= before.keys() & after.keys():
            looked_up, found = after[queries] - before[queries], after[hits] - before[hits]
            if looked_up == prompt_tokens and 0 <= found <= looked_up:
                return int(found)
    return None
