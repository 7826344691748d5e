"""A run of cached tokens in words: whose it is, how it begins, how old it is. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.charts.tree.layout import TreeLayout
from app.history.records import read_label
from app.language import numeral, plural, tr
from app.server.clients import client_name
from app.words import beside_cache, shortened_line, size, time_ago
from engine import CacheView, NodeView

AGES = ((60.0, tr("< 1 min")), (600.0, tr("< 10 min")), (3600.0, "< 1 h"), (float("inf"), tr("older")))
"""Seconds since the last use, from the newest to the oldest, and the word for each step."""

MOST_LETTERS = 24
"""Of a title that stands in a row with others."""
LONGEST_NAME = 60
"""Letters of a run's own words that are its name."""
ROLES = ("system", "user", "assistant", "model", "tool", "developer")
LONGEST_TEXT = 240
"""Characters of a run's text that are shown."""

PLACES = ON_DISK, IN_MEMORY = tr("on disk"), tr("in main memory")
TIERS = {"device": tr("in the GPU's memory"), "disk": tr("on disk only")}
"""Where a run lies; main memory needs no word where it is what the model computes in."""

BEHIND = tr("in main memory only")
"""Where a run lies that a GPU had no room for any more."""

CANNOT_PIN = tr(
    "This run does not lie where the model computes, so there is nothing to pin. A message that "
    "begins with it brings it back."
)

DELETED = tr("Deleted conversation")
NOBODYS = tr("from a proof or a title")
"""Only these run in nobody's name: what they wrote belongs to no conversation."""

Titles = Mapping[int, str]
"""The present title of each conversation by its id."""


class Owner(NamedTuple):
    """A conversation that a run belongs to. `id` is 0 where it cannot be opened here."""

    title: str
    id: int


def owners(node: NodeView, titles: Titles) -> list[Owner]:
    """The conversations that begin with this run; one that was deleted has neither title nor id. A program is one
    owner, by its own name, whatever it asks."""
    programs = dict.fromkeys(name for label in node.conversations if (name := client_name(label)))
    chats = [_owner(label, titles) for label in node.conversations if not client_name(label)]
    return [*chats, *(Owner(name, 0) for name in programs)]


def label(layout: TreeLayout, index: int, titles: Titles) -> str:
    """The short name of a run."""
    return "".join(name_and_tail(layout, index, titles))


def name_and_tail(layout: TreeLayout, index: int, titles: Titles) -> tuple[str, str]:
    """The short name of a run: its own first words, which may be cut, and what stays behind them. One without text is
    called by its conversations."""
    node = layout.nodes[index]
    tail = tr(", pinned") if node.pinned else ""
    if words := " ".join(lines_of(node.text)):
        return shortened_line(words, LONGEST_NAME), tail
    named = owners(node, titles)
    if len(named) > 1:
        return tr("{count} conversations", count=len(named)), tail
    return named[0].title if named else NOBODYS, tail


def lines_of(text: str) -> list[str]:
    """The lines of a run's text that somebody wrote: a chat template puts the role of each message on one of its
    own."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line and line.strip(" :").casefold() not in ROLES]


def is_behind(node: NodeView) -> bool:
    """Whether a run lies only in a tier behind the memory that the model computes in: the disk, or main memory behind a
    GPU's. Such runs have negative numbers."""
    return node.block < 0


def place(node: NodeView) -> str:
    """Where such a run lies, in short."""
    return ON_DISK if node.tier == "disk" else IN_MEMORY


def tokens_of(node: NodeView) -> str:
    """How many tokens, in short, and where they are if the model cannot compute with them there."""
    return (
        tr("{tokens:,} {place}", tokens=node.tokens, place=place(node))
        if is_behind(node)
        else numeral(node.tokens, ",")
    )


def beginning(node: NodeView) -> str:
    """How the run's text begins, on one line."""
    return shortened_line(node.text, LONGEST_TEXT)


def age(idle_s: float) -> str:
    """How long ago a run was last used."""
    return tr("just now") if idle_s < 5 else time_ago(idle_s)


def age_step(idle_s: float) -> int:
    """The index of the age in AGES."""
    return next(step for step, (limit, _) in enumerate(AGES) if idle_s < limit or limit == float("inf"))


def hits(count: int) -> str:
    """How often a run was found by a prompt."""
    return plural("{count:,} hit", "{count:,} hits", count)


def figures(node: NodeView) -> str:
    """Tokens and where they lie, bytes, age, hits (which are counted in memory only), and whether it is pinned."""
    place = tr("tokens {start:,} to {start2:,}", start=node.start, start2=node.start + node.tokens)
    parts = [
        plural("{count:,} token", "{count:,} tokens", node.tokens),
        place,
        size(node.bytes),
        tr("used {age}", age=age(node.idle_s)),
    ]
    parts += [] if is_behind(node) else [hits(node.hits)]
    where = BEHIND if is_behind(node) and node.tier == "memory" else TIERS.get(node.tier, "")
    parts += [where] if where else []
    return " · ".join([*parts, tr("pinned")] if node.pinned else parts)


def titles_of(node: NodeView, titles: Titles, most: int = 3) -> str:
    """The titles of the conversations, the first few of many; where there are several, long ones are cut."""
    named = [owner.title for owner in owners(node, titles)]
    if len(named) > 1:
        named = [
            title if len(title) <= MOST_LETTERS else title[: MOST_LETTERS - 1].rstrip(" …") + "…" for title in named
        ]
    shown = ", ".join(named[:most])
    return (
        tr("{shown} and {count} more", shown=shown, count=len(named) - most) if len(named) > most else shown or NOBODYS
    )


def freed(layout: TreeLayout, index: int) -> str:
    """What dropping a run gives back: the run and all that stands behind it."""
    box, where = layout.boxes[index], f" {place(layout.nodes[index])}" if is_behind(layout.nodes[index]) else ""
    behind = (
        tr(", with {count} behind it", count=plural("{count:,} run", "{count:,} runs", box.runs_below - 1))
        if box.runs_below > 1
        else ""
    )
    return tr(
        "frees {count}{where}{behind}",
        count=plural("{count:,} token", "{count:,} tokens", box.tokens_below),
        where=where,
        behind=behind,
    )


def totals(view: CacheView) -> str:
    """The whole tree in one sentence, what lies behind it only apart: its bytes are not those of the cache's memory."""
    near = [node for node in view.nodes if not is_behind(node)]
    places = {where: [node for node in view.nodes if is_behind(node) and place(node) == where] for where in PLACES}
    kept = sum(node.tokens for node in near if node.pinned)
    parts = [_sum(near)] if near else []
    parts += [tr("{kept:,} pinned", kept=kept)] if kept else []
    parts += [beside] if near and (beside := beside_cache(view.overhead_bytes)) else []
    parts += [tr("{where} only: {sum}", where=where, sum=_sum(far)) for where, far in places.items() if far]
    text = " · ".join(parts) or tr("Nothing is remembered yet.")
    return text[0].upper() + text[1:]


def _sum(nodes: Sequence[NodeView]) -> str:
    """Runs, tokens and bytes."""
    tokens, held = sum(node.tokens for node in nodes), size(sum(node.bytes for node in nodes))
    runs, whole = (
        plural("{count:,} run", "{count:,} runs", len(nodes)),
        plural("{count:,} token", "{count:,} tokens", tokens),
    )
    return f"{runs} · {whole} · {held}"


def _owner(label: str, titles: Titles) -> Owner:
    number = read_label(label)
    if number in titles:
        return Owner(titles[number] or tr("Untitled"), number)
    return Owner(DELETED if number else label or tr("Untitled"), 0)
