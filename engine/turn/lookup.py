"""Guesses what an answer says next by what followed the same words before: prompt lookup decoding.

Much of an answer stands in the conversation already: names, code, quotations, the keys of JSON. Where its newest tokens
occurred before, the tokens that followed there are likely to follow again (https://arxiv.org/abs/2304.04487).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from engine.prompt.comparing import common_length

PAIR = 2
"""Tokens that must agree for a place to be looked at."""
LOOKED_AT = 8
"""So many of the newest places where the last pair stood are compared."""
AGREEING = 8
"""More tokens that agree make a guess no better."""
FIRST_ODDS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.8, 0.9)
"""How likely a guess is to hold behind 2, 3, ... AGREEING tokens that agree, before any was seen."""
MEMORY = 8
"""The share of guesses that held is that among about so many of the last ones."""
PASS_COSTS = (1.3, 1.9, 1.9, 2.5, 2.8, 3.2, 3.4)
"""What a pass over the newest token and 1, 2, ... guesses takes, in parts of one over that token alone: the middle of
what was measured in the compiled part behind 100 and 3,000 tokens. It takes tokens by fours, twos and ones."""
TOKEN_BYTES = 180
"""What a token takes in the index, about."""
MOST_BYTES = 16_000_000
"""What the indices of all conversations may take; the newest one is kept in any case."""


class Lookup:
    """An index over the ids of a conversation: for each place, the one before it where the same two tokens stood.

    Whether a guess would have held is learnt of every token, guessed or not, so that it costs nothing to find out when
    to begin again: `guess` gives none while they are not worth what checking them takes.
    """

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._newest: dict[int, int] = {}  # by pair, where its second token stands
        self._before = array("q")  # by place, where the same pair ended before; -1 for nowhere
        self._odds = list(FIRST_ODDS)
        self._agreeing, self._follows = 0, 0  # what was found for the newest tokens

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return TOKEN_BYTES * len(self._ids)

    def follow(self, ids: Sequence[int]) -> None:
        """Hold these ids: what they share with those before stays, and only the rest is read."""
        shared = common_length(self._ids, ids)
        self._cut(shared)
        for token in ids[shared:]:
            self._append(token)
        self._find()

    def see(self, token: int) -> None:
        """One more token was written."""
        if self._agreeing:
            self._learn(is_held=self._ids[self._follows] == token)
        self._append(token)
        self._find()

    def guess(self, most: int) -> list[int]:
        """The tokens that may follow, at most so many; none where checking them would cost more than it gives."""
        odds = (self._odds[_kind(self._agreeing + further)] for further in range(most))
        count = most_worth(odds) if self._agreeing else 0
        guesses: list[int] = []
        for place in range(self._follows, self._follows + count):  # behind the end, what was guessed is said again
            inside = place < len(self._ids)
            guesses.append(self._ids[place] if inside else guesses[place - len(self._ids)])
        return guesses

    def _learn(self, *, is_held: bool) -> None:
        kind = _kind(self._agreeing)
        self._odds[kind] += (is_held - self._odds[kind]) / MEMORY

    def _append(self, token: int) -> None:
        self._ids.append(token)
        place = len(self._ids) - 1
        before = -1
        if place:
            pair = self._pair(place)
            before = self._newest.get(pair, -1)
            self._newest[pair] = place
        self._before.append(before)

    def _cut(self, length: int) -> None:
        """Forget all from this place on."""
        for place in range(len(self._ids) - 1, length - 1, -1):
            before = self._before.pop()
            if before >= 0:
                self._newest[self._pair(place)] = before
            elif place:
                del self._newest[self._pair(place)]
            self._ids.pop()

    def _find(self) -> None:
        """The place whose tokens before it agree longest with the newest ones, the newest of several."""
        self._agreeing = 0
        last = len(self._ids) - 1
        place = self._before[last] if last > 0 else -1
        for _ in range(LOOKED_AT):
            if place < 0 or self._agreeing == AGREEING:
                return
            if (agreeing := self._agreed(place, last)) > self._agreeing:
                self._agreeing, self._follows = agreeing, place + 1
            place = self._before[place]

    def _agreed(self, one: int, other: int) -> int:
        """How many tokens are equal that end at two places, the first of which lies before the other."""
        ids, count = self._ids, PAIR
        while count < AGREEING and count <= one and ids[one - count] == ids[other - count]:
            count += 1
        return count

    def _pair(self, place: int) -> int:
        return self._ids[place - 1] << 32 | self._ids[place]


class Lookups:
    """The indices of conversations, by salt and name. An answer takes its own out while it is written, so that no two
    write into one."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Lookup] = {}
        self._taken: set[tuple[str, str]] = set()

    @property
    def nbytes(self) -> int:
        """About what they take in memory."""
        return sum(lookup.nbytes for lookup in self._kept.values())

    def take(self, salt: str, conversation: str) -> Lookup:
        """The index of a conversation, a new one where there is none."""
        self._taken.add((salt, conversation))
        return self._kept.pop((salt, conversation), None) or Lookup()

    def put_back(self, salt: str, conversation: str, lookup: Lookup) -> None:
        """Keep it for the next answer, unless the conversation was forgotten meanwhile; it is the newest one now."""
        key = salt, conversation
        if key not in self._taken:
            return
        self._taken.remove(key)
        self._kept.pop(key, None)
        self._kept[key] = lookup
        while len(self._kept) > 1 and self.nbytes > MOST_BYTES:
            del self._kept[next(iter(self._kept))]

    def forget(self, conversation: str) -> None:
        """It was deleted."""
        self._kept = {key: lookup for key, lookup in self._kept.items() if key[1] != conversation}
        self._taken = {key for key in self._taken if key[1] != conversation}


def most_worth(odds: Iterable[float], further: float = 0.0) -> int:
    """How many guesses give the most tokens for what they take: `odds` says of each how likely it is to hold where
    those before it do, `further` what each takes beside the pass that checks them, in parts of a pass of one token."""
    chance = tokens = fastest = 1.0
    best = 0
    for count, (likely, cost) in enumerate(zip(odds, PASS_COSTS, strict=False), 1):
        chance *= likely
        tokens += chance
        speed = tokens / (cost + further * count)
        if speed > fastest:
            best, fastest = count, speed
    return best


def _kind(agreeing: int) -> int:
    """Which of the odds are those of a guess behind so many tokens that agree."""
    return min(agreeing, AGREEING) - PAIR
