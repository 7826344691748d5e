"""What was found in a system prompt that changes from turn to turn: each with its cost, as the engine counts it, and
with the sentence and buttons for the list under the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.chat.changing_parts import Finding, payers
from app.chat.cures import FREEZE, MOVE
from app.language import tr
from app.placeholders import Cure
from app.system_prompt.finding_list import MOST_ROWS, FindingRow
from app.words import about_seconds
from engine import Message, Preview, Request, TokenSpan

THAW = "thaw"
MOST_PLACES = 12
"""Findings whose price is asked for."""

_FREEZE = (
    FREEZE,
    tr("Freeze for this conversation"),
    tr("It is filled in once and stays. Other conversations fill it in anew."),
)
_MOVE = (
    MOVE,
    tr("Move to the newest message"),
    tr("Its value stands at the end of each new question, and the system prompt stays the same."),
)
_THAW = (
    THAW,
    tr("Fill in at each turn"),
    tr("It is filled in with the value of the moment whenever a question is sent."),
)
_KINDS = {
    "uuid": tr("an id"),
    "time": tr("a clock"),
    "date": tr("a date"),
    "datetime": tr("a moment"),
    "weekday": tr("a day"),
}
_LONGEST = 40

Price = tuple[int, float] | None
"""Tokens and seconds, None while the engine has not said."""


def rows(findings: Sequence[Finding], cures: Sequence[Cure], prices: Mapping[Finding, Price]) -> list[FindingRow]:
    """One row for each placeholder, at its first place, and one for each text that looks pasted; only those shown."""
    cured = {cure.name: cure for cure in cures}
    paying = payers(tuple(findings), frozenset(cured))
    made: dict[str, FindingRow] = {}
    for finding in findings:
        key = finding.name if finding.by_itself else f"{finding.start}"
        if len(made) == MOST_ROWS:
            break
        if key not in made:
            price = prices.get(finding)
            made[key] = _row(key, finding, cured.get(finding.name), finding in paying, price)
    return list(made.values())


def _row(key: str, finding: Finding, cure: Cure | None, pays: bool, price: Price) -> FindingRow:
    if not finding.by_itself:
        actions = () if finding.name == "uuid" else (_MOVE,)
        return FindingRow(key, _literal(finding, price), "note", actions)
    if cure is not None:
        return FindingRow(key, _cured(finding, cure), "cured", (_THAW,))
    return FindingRow(key, _placeholder(finding, pays, price), "costs" if pays else "note", (_FREEZE, _MOVE))


def _placeholder(finding: Finding, pays: bool, price: Price) -> str:
    changes = tr("changes at midnight") if finding.changes == "every day" else tr("changes at each turn")
    if not pays:
        return tr(
            "{text_} {changes}, but costs nothing more while what stands before it changes as often.",
            text_=finding.text,
            changes=changes,
        )
    each = tr(" each day") if finding.changes == "every day" else ""
    return f"{finding.text} {changes}: {_read(price)}{each}{_time(price)}."


def _cured(finding: Finding, cure: Cure) -> str:
    if cure.kind == "frozen":
        return tr("{text_} stays “{value}” in this conversation.", text_=finding.text, value=cure.value)
    return tr("{text_} goes with the newest message; the system prompt stays the same.", text_=finding.text)


def _literal(finding: Finding, price: Price) -> str:
    shown = finding.text if len(finding.text) <= _LONGEST else finding.text[:_LONGEST] + "…"
    kind = _KINDS[finding.name]
    later = tr("until it is edited; then {read}{time}.", read=_read(price), time=_time(price))
    return tr(
        "“{shown}” looks like {kind} that was pasted. It costs nothing {later}", shown=shown, kind=kind, later=later
    )


def _read(price: Price) -> str:
    if price is None:
        return tr("everything after it is read again")
    tokens, _ = price
    return (
        tr("one token after it is read again")
        if tokens == 1
        else tr("{tokens:,} tokens after it are read again", tokens=tokens)
    )


def _time(price: Price) -> str:
    return (
        ""
        if price is None
        else ", "
        + tr("about {about_seconds}", about_seconds=about_seconds(price[1])).replace(" ", "\N{NO-BREAK SPACE}")
    )


@dataclass(frozen=True, slots=True)
class Prices:
    """Tokens of the system prompt. For each place: how many tokens of the conversation stand behind it, which are read
    again when it changes, and how many seconds that takes."""

    system_tokens: int
    behind: tuple[int, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PriceQuestion:
    """What to ask about: the conversation's next request, whose last message is the empty new question, and the text of
    the system prompt up to each place."""

    whole: Request
    before: tuple[str, ...]

    def requests(self) -> list[Request]:
        """The prompts whose previews tell the prices."""
        return [self.whole, *(_prefix(self.whole, text) for text in self.before[:MOST_PLACES])]

    def prices(self, whole: Preview, *parts: Preview) -> Prices:
        """The prices, from the previews of `requests`. The seconds are a difference of two cold estimates: the whole
        prompt's, and that of what stands before the place."""
        said = [span for span in whole.spans if span.message_index < len(self.whole.messages) - 1]
        return Prices(
            system_tokens=whole.system_tokens,
            behind=tuple(_tokens_behind(said, part.system_tokens) for part in parts),
            seconds=tuple(max(0.0, whole.seconds - part.seconds) for part in parts),
        )


def _tokens_behind(said: Sequence[TokenSpan], position: int) -> int:
    """Tokens of messages from a position on; the template's own between them are not counted, as in a Divergence."""
    return sum(max(0, span.end - max(span.start, position)) for span in said)


def _prefix(whole: Request, text: str) -> Request:
    """The request that ends where a place in the system prompt begins."""
    return Request((Message("system", text), Message("user", "")), use_cache=False, day=whole.day)
