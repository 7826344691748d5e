"""From a rendered prompt to token ids: text is encoded, and what the model wrote stands as the ids that it wrote."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from engine.prompt.alignment import Stretch
from engine.prompt.framing import Rendered, first_tool
from engine.prompt.segments import Segments
from engine.prompt.special_tokens import ControlTokens
from engine.prompt.splicing import Splice
from engine.remembered import Remembered

_TOOL = -2
"""In place of a message's number: the name of a tool."""


class Encoded(NamedTuple):
    """The ids of a prompt, and where in them each message lies: its number, and its first token and the one behind its
    last. `tools_at` is the token at which the names of tools begin, -1 without any."""

    ids: tuple[int, ...]
    places: tuple[tuple[int, int, int], ...]
    tools_at: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of rendered text, or of generated ids. `message` is its message's number, -1 for the template's text.

    `is_plain` text spells out a special token, and is encoded as the characters that it is made of.
    """

    text: str
    message: int
    ids: tuple[int, ...] = ()
    is_plain: bool = False


class Encoder:
    """Encodes prompts with one tokenizer (a transformers fast tokenizer). Texts with their tokens are remembered within
    `remembered_bytes`."""

    def __init__(self, tokenizer: Any, control: ControlTokens, remembered_bytes: int) -> None:
        self._tokenizer, self._control = tokenizer, control
        tokenizer("", add_special_tokens=False)  # sets truncation and padding once: after that calls may overlap
        self._bos = _own_bos(tokenizer)
        self._segments = Segments(tokenizer)
        self._encode = Remembered(self._encode_text, remembered_bytes)

    @property
    def nbytes(self) -> int:
        """What is remembered."""
        return self._encode.nbytes

    def encoded(self, rendered: Rendered, splices: Mapping[int, Splice]) -> Encoded:
        """The ids of a rendered text, with other ids in place of what they stand for; exactly one BOS where the
        tokenizer itself begins every text with it."""
        pieces = [replace(p, is_plain=self._spells_special(p)) for p in _pieces(rendered, splices)]
        bos = self._tokenizer.bos_token if self._bos else None
        ids: list[int] = [] if bos is None or rendered.text.lstrip().startswith(bos) else list(self._bos)
        places: list[tuple[int, int, int]] = []
        for run in _runs(pieces):
            if run[0].ids:
                places.append((run[0].message, len(ids), len(ids) + len(run[0].ids)))
                ids += run[0].ids
            else:
                self._add_text(ids, places, run)
        tools_at = min((start for message, start, _ in places if message == _TOOL), default=-1)
        return Encoded(tuple(ids), tuple(_joined(places)), tools_at)

    def _spells_special(self, piece: _Piece) -> bool:
        return piece.is_plain or (piece.message >= 0 and not piece.ids and self._control.are_in(piece.text))

    def _add_text(self, ids: list[int], places: list[tuple[int, int, int]], run: Sequence[_Piece]) -> None:
        """Encode neighbouring pieces of text as one, and find each message's tokens by its characters."""
        new, starts = self._encoded_text("".join(piece.text for piece in run), run[0].is_plain)
        at = 0
        for piece in run:
            if piece.message != -1:
                start, end = bisect_left(starts, at), bisect_left(starts, at + len(piece.text))
                places.append((piece.message, len(ids) + start, len(ids) + end))
            at += len(piece.text)
        ids += new

    def _encoded_text(self, text: str, is_plain: bool) -> tuple[list[int], list[int]]:
        """Ids of a text, and for each the character it begins at, from the parts of it that are remembered."""
        ids: list[int] = []
        starts: list[int] = []
        at = 0
        for part in (text,) if is_plain else self._segments.of(text):
            new, begins = self._encode(part, is_plain)
            ids += new
            starts += [at + begin for begin in begins]
            at += len(part)
        return ids, starts

    def _encode_text(self, text: str, is_plain: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids of a text, and for each the character it begins at. Plain text is one piece: then all are 0."""
        if is_plain:
            ids = self._control.as_characters(text)
            return tuple(ids), (0,) * len(ids)
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return tuple(encoded["input_ids"]), tuple(start for start, _ in encoded["offset_mapping"])


def _own_bos(tokenizer: Any) -> tuple[int, ...]:
    """The BOS where the tokenizer itself begins every text with it."""
    ids = tokenizer("").input_ids
    return tuple(ids[:1]) if ids and ids[0] == tokenizer.bos_token_id else ()


def _pieces(rendered: Rendered, splices: Mapping[int, Splice]) -> list[_Piece]:
    """The rendered text in pieces, with ids in place of what they stand for."""
    pieces: list[_Piece] = []
    tools = first_tool(rendered.chat)
    waiting = sorted(splices.items(), key=lambda item: item[1].start)
    at = 0

    def add(text: str, stretch: Stretch) -> None:
        number = stretch.number
        message = -1 if number < 0 else number // 2 if number < tools else _TOOL
        pieces.append(_Piece(text, message, is_plain=stretch.is_plain))

    for stretch in rendered.stretches:
        text, end = stretch.text, at + len(stretch.text)
        is_whole = True
        while waiting and waiting[0][1].start < end:
            index, splice = waiting[0]
            is_whole = False
            if splice.start >= at:
                add(text[len(text) - (end - at) : len(text) - (end - splice.start)], stretch)
                add(splice.before, Stretch(""))
                pieces.append(_Piece("", index, splice.ids))
            at = max(at, min(end, splice.end))
            if splice.end > end:
                break
            waiting.pop(0)
        if is_whole or at < end:
            add(text[len(text) - (end - at) :] if end > at else "", stretch)
        at = end
    for index, splice in waiting:
        add(splice.before, Stretch(""))
        pieces.append(_Piece("", index, splice.ids))
    return [piece for piece in pieces if piece.text or piece.ids or piece.message != -1]


def _joined(places: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The places of messages, one for each: those that follow each other as one, of others the first."""
    found: dict[int, tuple[int, int, int]] = {}
    before = -1
    for message, start, end in places:
        if message < 0:
            continue
        if message not in found:
            found[message] = (message, start, end)
        elif message == before:
            found[message] = (message, found[message][1], end)
        before = message
    return list(found.values())


def _runs(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """The pieces in groups that are encoded at once: neighbouring texts together, every other piece on its own."""
    runs: list[list[_Piece]] = []
    for piece in pieces:
        if runs and not any(part.ids or part.is_plain for part in (piece, runs[-1][0])):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs
