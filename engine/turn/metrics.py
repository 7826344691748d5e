"""What a turn took: time to first token and its parts, tokens a second, and the time without a cache."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

from engine.events import TtftParts, TurnStats


@dataclass(frozen=True, slots=True)
class _Sample:
    """One forward pass: `tokens` computed behind `past` cached ones, in seconds."""

    tokens: int
    past: int
    seconds: float

    @property
    def pairs(self) -> float:
        """Query-key pairs that attention visited."""
        return self.tokens * (self.past + self.tokens / 2)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A prompt that was read from its first token on: how many tokens, and the seconds to the first one of its answer,
    without the wait in the queue."""

    tokens: int
    seconds: float


class PrefillRate:
    """How fast this model reads on this machine, from the passes it made and the prompts it read from scratch.

    Seconds = a * tokens + b * query-key pairs with a, b >= 0, fitted by least squares to those of the last passes that
    nothing disturbed: another program makes a pass slower and never quicker, so that passes are left out which took
    clearly longer, for what they computed, than the quickest quarter. Passes of a few tokens say little about reading.

    What was measured on whole prompts goes before the fit (`from_scratch`).
    """

    LEAST_TOKENS = 32
    DISTURBED = 1.4
    """A pass that took so many times as long as the quickest quarter had the machine not for itself."""
    WHOLE_PROMPTS, NEWEST = 16, 5
    """How many prompts that were read from scratch are remembered, and how many of those scale an estimate."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=64)
        self._whole: deque[_Whole] = deque(maxlen=self.WHOLE_PROMPTS)
        self._fitted: tuple[float, float] | None = None  # seconds a token and a pair, until the next pass

    def observe(self, tokens: int, past: int, seconds: float) -> None:
        """Note one forward pass."""
        if tokens >= self.LEAST_TOKENS:
            self._samples.append(_Sample(tokens, past, seconds))
            self._fitted = None

    def observe_from_scratch(self, tokens: int, seconds: float) -> None:
        """Note a whole prompt of which nothing was reused, and its time to the first token."""
        if tokens >= self.LEAST_TOKENS and seconds > 0:
            self._whole.append(_Whole(tokens, seconds))

    def estimate(self, tokens: int, past: int = 0) -> float:
        """Seconds to compute `tokens` behind `past` ones; 0 before anything was measured."""
        if not self._samples:
            return 0.0
        if self._fitted is None:
            self._fitted = self._fit()
        per_token, per_pair = self._fitted
        return per_token * tokens + per_pair * _Sample(tokens, past, 0.0).pairs

    def from_scratch(self, tokens: int) -> float:
        """Seconds to the first token of a prompt of which nothing is reused; 0 before anything was measured.

        The fit is scaled by what measured prompts took against it: by that of the quickest quarter of the newest ones,
        for whatever else ran while one was read made it slower and never quicker. Reading costs more the more is read,
        and at most by the square of it: no estimate is above what this makes of any measured prompt.
        """
        estimate = self.estimate(tokens)
        if not self._whole or not estimate:
            return estimate
        slowness = sorted(whole.seconds / self.estimate(whole.tokens) for whole in list(self._whole)[-self.NEWEST :])
        bounds = (whole.seconds * max(1.0, tokens / whole.tokens) ** 2 for whole in self._whole)
        return min(estimate * slowness[len(slowness) // 4], *bounds)

    @property
    def tokens_per_s(self) -> float:
        """Reading speed of a 512-token prompt; 0 before anything was measured."""
        seconds = self.estimate(512)
        return 512 / seconds if seconds > 0 else 0.0

    def _fit(self) -> tuple[float, float]:
        fit = _least_squares(self._samples)
        for _ in range(3):  # each time the disturbed ones weigh less in what tells them apart
            slowness = [sample.seconds / (fit[0] * sample.tokens + fit[1] * sample.pairs) for sample in self._samples]
            most = self.DISTURBED * sorted(slowness)[len(slowness) // 4]
            fit = _least_squares([s for s, slow in zip(self._samples, slowness, strict=True) if slow <= most])
        return fit


def _least_squares(samples: Collection[_Sample]) -> tuple[float, float]:
    """Seconds a token and a pair, both of them 0 or more, the first above 0."""
    xx = sum(float(s.tokens) ** 2 for s in samples)
    xy = sum(s.tokens * s.pairs for s in samples)
    yy = sum(s.pairs**2 for s in samples)
    xt = sum(s.tokens * s.seconds for s in samples)
    yt = sum(s.pairs * s.seconds for s in samples)
    determinant = xx * yy - xy * xy
    if determinant > 1e-6 * xx * yy:
        per_token = (xt * yy - yt * xy) / determinant
        per_pair = (yt * xx - xt * xy) / determinant
        if per_token > 0 and per_pair >= 0:
            return per_token, per_pair
    return max(xt / xx, 1e-12), 0.0


COLD_TIME_BYTES = 200
"""What one measured time takes with its digest."""


class ColdTimes:
    """First-token times that were measured without reuse, by prompt; the newest 256. Of a prompt only a digest is kept:
    its ids may be hundreds of thousands."""

    def __init__(self) -> None:
        self._seconds: dict[bytes, float] = {}

    @property
    def nbytes(self) -> int:
        """About what they take in memory."""
        return len(self._seconds) * COLD_TIME_BYTES

    def note(self, ids: tuple[int, ...], seconds: float, salt: str = "") -> None:
        """Remember a measured cold first token, without the wait in the queue; under one salt only."""
        digest = _digest(ids, salt)
        self._seconds.pop(digest, None)
        self._seconds[digest] = seconds
        if len(self._seconds) > 256:
            del self._seconds[next(iter(self._seconds))]

    def get(self, ids: tuple[int, ...], salt: str = "") -> float | None:
        """The measured cold time of exactly this prompt, if there is one."""
        return self._seconds.get(_digest(ids, salt))


def _digest(ids: tuple[int, ...], salt: str) -> bytes:
    return sha256(array("q", ids).tobytes() + salt.encode()).digest()


class TurnClock:
    """Times one turn from the moment it was submitted. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float], submitted: float) -> None:
        self._clock = clock
        self._submitted = submitted
        self._first: float | None = None
        self._last = self._before_last = submitted
        self.written = 0
        self.thought_tokens = 0
        self.thought_s = 0.0
        self.parts = TtftParts(queue=clock() - submitted)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time spent inside to a part of the TTFT."""
        start = self._clock()
        yield
        spent = getattr(self.parts, name) + self._clock() - start
        self.parts = replace(self.parts, **{name: spent})

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """What is spent inside is spent on others; before the first token it is a wait, as that in the queue."""
        if self._first is None:
            with self.part("queue"):
                yield
        else:
            yield

    def token(self, *, is_end: bool = False) -> None:
        """A token was chosen, `is_end` the one that ends the answer. The first ends the TTFT; what no other part
        accounts for is the first token's own."""
        now = self._clock()
        if not is_end:
            self.written += 1
            self._before_last, self._last = (self._last if self._first is not None else now), now
        if self._first is None:
            self._first = now
            known = sum(getattr(self.parts, name) for name in ("queue", "template", "lookup", "restore", "prefill"))
            self.parts = replace(self.parts, first_token=max(0.0, now - self._submitted - known))

    def thought(self) -> None:
        """The token that was written last belongs to the thought, and so does the time since the one before it."""
        self.thought_tokens += 1
        self.thought_s += self._last - self._before_last

    @property
    def ttft_s(self) -> float | None:
        """Time to first token in seconds, None before it."""
        return None if self._first is None else self._first - self._submitted

    @property
    def tokens_per_s(self) -> float:
        """Decode speed without the first token and the wait for it; 0 before the second token."""
        if self._first is None or self.written < 2 or self._last <= self._first:
            return 0.0
        return (self.written - 1) / (self._last - self._first)

    def stats(self, request_id: int, prompt: int, reused: int, cold: tuple[float, bool], cache_bytes: int) -> TurnStats:
        """The figures so far. `cold` is the cold TTFT in seconds and whether it was measured."""
        return TurnStats(
            request_id=request_id,
            prompt_tokens=prompt,
            reused_tokens=reused,
            computed_tokens=prompt - reused,
            written_tokens=self.written,
            ttft_s=self.ttft_s,
            parts=self.parts,
            tokens_per_s=self.tokens_per_s,
            cold_ttft_s=cold[0],
            cold_measured=cold[1],
            cache_bytes=cache_bytes,
            thought_tokens=self.thought_tokens,
            thought_s=self.thought_s,
        )
