"""The proof of a turn: its prompt once with the cache and once without, greedy, and whether the tokens are equal.

No widgets. The conversation, its figures and the totals hear nothing of it; the cache may keep what the first run read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.chat.bridge import Bridge
from app.language import tr, translated
from app.proof.compare import FAULT, NEAR_TIE, Half, Parted, compare
from app.words import seconds, times_sooner
from engine import Event, Failed, Finished, HeadstartError, Matched, Prefill, Request, Sampling, TextDelta, TurnStats

QUOTED = 24
"""Characters shown of each answer from the place where they part."""


@dataclass(frozen=True, slots=True)
class ProofResult:
    """Both runs, ended or stopped, and the first token in which they differ; None where they are equal."""

    warm: Finished
    cold: Finished
    parted: Parted | None

    @property
    def compared_tokens(self) -> int:
        """How many tokens both wrote."""
        return min(len(self.warm.token_ids), len(self.cold.token_ids))

    @property
    def same_margins(self) -> bool:
        """Whether the distances between the two best choices are equal to the last bit wherever both wrote."""
        count = self.compared_tokens
        return self.warm.margins[:count] == self.cold.margins[:count]


class Proof(QObject):
    """One proof: `start` once, `stop` at any time; it ends with `ended` or `failed`, or quietly when stopped early.

    Signals:
        begun(str): "warm" or "cold" is being run.
        matched(str, Matched), reading(str, Prefill), measured(str, TurnStats): of that run, as they come.
        ended(ProofResult), stopped(), failed(sentence, detail): exactly one of them at the end.
    """

    begun = Signal(str)
    matched = Signal(str, object)
    reading = Signal(str, object)
    measured = Signal(str, object)
    ended = Signal(object)
    stopped = Signal()
    failed = Signal(str, str)

    def __init__(self, bridge: Bridge, request: Request, length: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.half: Half | None = None
        self._bridge = bridge
        self._requests = proof_requests(request, length)
        self._runs: dict[Half, Finished] = {}
        self._request_id = 0
        self._is_stopped = False

    def start(self) -> None:
        """Run the prompt with the cache, then without."""
        self._bridge.aside.connect(self._on_event)
        self._begin("warm")

    def stop(self) -> None:
        """End it with what there is. Safe to call when it has ended."""
        if self.half is not None and not self._is_stopped:
            self._is_stopped = True
            self._bridge.cancel(self._request_id)

    def _begin(self, half: Half) -> None:
        self.half = half
        self._request_id = self._bridge.submit_aside(self._requests[half])
        self.begun.emit(half)

    def _on_event(self, event: Event) -> None:
        half = self.half
        if half is None or event.request_id != self._request_id:
            return
        if isinstance(event, Matched):
            self.matched.emit(half, event)
        elif isinstance(event, Prefill):
            self.reading.emit(half, event)
        elif isinstance(event, TurnStats):
            self.measured.emit(half, event)
        elif isinstance(event, Finished):
            self._on_finished(half, event)
        elif isinstance(event, Failed):
            self._end()
            self.failed.emit(event.sentence, event.detail)
        else:
            assert isinstance(event, TextDelta)

    def _on_finished(self, half: Half, event: Finished) -> None:
        self._runs[half] = event
        self.measured.emit(half, event.stats)
        if half == "warm" and not self._is_stopped:
            self._begin("cold")
            return
        self._end()
        if half == "cold" and event.stats.ttft_s is not None:
            self.ended.emit(result_of(self._runs["warm"], event))
        else:
            self.stopped.emit()

    def _end(self) -> None:
        self.half = None
        self._bridge.aside.disconnect(self._on_event)


def proof_requests(request: Request, length: int) -> dict[Half, Request]:
    """The two requests, with the cache and without: greedy, at most `length` tokens, and of no conversation."""
    sampling = Sampling(temperature=0.0, top_p=1.0, max_tokens=max(1, length))
    same = replace(request, sampling=sampling, conversation="", pin_system=False, record_margins=True)
    return {"warm": replace(same, use_cache=True), "cold": replace(same, use_cache=False)}


def result_of(warm: Finished, cold: Finished) -> ProofResult:
    """Compare two runs. Where one was stopped, only what both wrote is compared."""
    one, other = warm.token_ids, cold.token_ids
    if "stopped" in (warm.reason, cold.reason):
        both = min(len(one), len(other))
        one, other = one[:both], other[:both]
    return ProofResult(warm, cold, compare(0, one, other, cold.margins))


def verdict(result: ProofResult, near: str) -> str:
    """Whether the tokens are equal, in a sentence or two. `near` says why they need not be (`ModelInfo`)."""
    if result.parted is not None:
        return f"{_parted(result, result.parted)} {_why(result.parted, near)}"
    count = result.compared_tokens
    tokens = tr("one token") if count == 1 else tr("{count:,} tokens", count=count)
    if "stopped" in (result.warm.reason, result.cold.reason):
        same = (
            tr("the token that both wrote is") if count == 1 else tr("the {tokens} that both wrote are", tokens=tokens)
        )
        return tr("Stopped: {same} the same.", same=same) if count else tr("Stopped before both had written.")
    if not count:
        return tr("The same: both ended the answer at once.")
    if not near and result.same_margins:
        return tr(
            "The same answer, word for word: {tokens}, and the numbers behind them are equal to the last bit.",
            tokens=tokens,
        )
    return tr("The same answer, word for word: {tokens}.", tokens=tokens)


def gain(result: ProofResult) -> str:
    """The verdict in one line: whether the answers are the same, and how much sooner the first word came."""
    warm, cold = result.warm.stats, result.cold.stats
    if not warm.reused_tokens:
        return tr("Nothing was remembered any more")
    if not warm.ttft_s or not cold.ttft_s:
        return ""
    same = tr("The same answer") if result.parted is None else tr("Another answer")
    return f"{same}, {times_sooner(warm.ttft_s, cold.ttft_s, measured=True) or tr('no sooner')}"


def own_figures(turn: int, own: TurnStats, found: Matched) -> str:
    """What the turn itself reused, where its prompt finds something else in the cache now; otherwise ""."""
    if found.reused_tokens == own.reused_tokens:
        return ""
    waited = tr(" and waited {seconds}", seconds=seconds(own.ttft_s)) if own.ttft_s is not None else ""
    more = found.reused_tokens > own.reused_tokens
    now = tr("Now its prompt is remembered") if more else tr("Now less of its prompt is remembered")
    remembered = own.reused_tokens - own.ahead_tokens
    reused = tr("one token") if remembered == 1 else tr("{remembered:,} tokens", remembered=remembered)
    reused += tr(", with {ahead_tokens:,} read ahead,", ahead_tokens=own.ahead_tokens) if own.ahead_tokens else ""
    return tr(
        "Turn {turn} itself remembered {reused}{waited}. {now}: this run remembers {reused_tokens:,}.",
        turn=turn,
        reused=reused,
        waited=waited,
        now=now,
        reused_tokens=found.reused_tokens,
    )


def _parted(result: ProofResult, parted: Parted) -> str:
    warm, cold = (" ".join(filter(None, (run.thought, run.text))) for run in (result.warm, result.cold))
    start = next(
        (place for place, (a, b) in enumerate(zip(warm, cold, strict=False)) if a != b), min(len(warm), len(cold))
    )
    sides = tr("{quote} remembering, {quote2} from scratch", quote=_quote(warm, start), quote2=_quote(cold, start))
    return tr("The same up to token {token:,}, where they part: {sides}.", token=parted.token, sides=sides)


def _why(parted: Parted, near: str) -> str:
    if not near:
        return FAULT
    if parted.margin is None:
        return tr("Here answers are only near: {near}", near=translated(near))
    kind = tr("so close that rounding decides") if parted.margin < NEAR_TIE else tr("more than rounding explains")
    return tr(
        "The two best choices were {margin:.3f} apart there: {kind}. Here answers are only near: {near}",
        margin=parted.margin,
        kind=kind,
        near=translated(near),
    )


def _quote(text: str, start: int) -> str:
    rest = " ".join(text[start : start + QUOTED].split())
    return f"“{rest}”" if rest else tr("the end")


def check_ready(is_busy: bool, has_model: bool, is_elsewhere: bool) -> None:
    """Raise HeadstartError where a proof cannot run now. `is_elsewhere`: a server answers, which gives no tokens to
    compare and takes no word on its cache."""
    if is_elsewhere:
        raise HeadstartError(
            "A server answers this conversation, and only what this computer computes can be proved. Have a model on"
            " this computer answer it first."
        )
    if not has_model:
        raise HeadstartError("There is no model to prove it with. Open one first.")
    if is_busy:
        raise HeadstartError("An answer is being written. Wait for its end or stop it, then prove it.")
