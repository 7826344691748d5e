"""Markdown text to a flat list of blocks, the open one last: pure values, no Qt, no HTML.

An answer arrives in pieces. `MarkdownStream` parses again only from the last block that can still change, so the cost
of a piece does not grow with the length of the answer. HTML is text here, pictures are links, and only http, https and
mailto links stay links. Formulas in TeX are found between $ $, \\( \\), $$ $$ and \\[ \\]; an amount of money is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

BlockKind = Literal["paragraph", "heading", "code", "table", "rule"]
Align = Literal["start", "center", "end"]

LINK_SCHEMES = ("http://", "https://", "mailto:")
INLINE_LIMIT = 10_000
"""Characters in one paragraph up to which markup inside it is looked for; a longer one is shown as it is."""

LONGEST_FORMULA = 2_000
"""Characters of a formula; what is longer between two of its marks is text."""

PART_CELLS = 100
"""Cells of a table that are one block. A longer one is drawn in parts; those that are full stay as they are."""

_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_BARE_LINK = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}]")


_CLOSERS = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
"""What ends a formula, by what begins it."""
_AMOUNT = re.compile(r"\d[^\\^_=+*/<>{}-]*\s[^\\^_=+*/<>{}-]*")
"""What stands between the dollars of "$20, or 30$": a number and words, and nothing that is calculated with."""

_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text that looks the same throughout. "\\n" in `text` is a line break within the paragraph.

    `formula` is the TeX of a formula, which `text` holds with the marks around it; `display`: it stands by itself.
    """

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    href: str = ""
    formula: str = ""
    display: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading, code block, table or rule, with the lists and quotes it stands in.

    `depth` counts the lists around it and `quote` the quotes. `marker` ("•" or "3.") stands on the first block of a
    list item. `level` is a heading's 1 to 6. `text` and `language` belong to code, `rows` and `aligns` to a table; its
    first row is the head. A long table comes in several blocks: `widths` are then the shares of its columns, and those
    but the first have no head and are `continued`.
    """

    kind: BlockKind
    runs: tuple[Run, ...] = ()
    level: int = 0
    depth: int = 0
    quote: int = 0
    marker: str = ""
    text: str = ""
    language: str = ""
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()
    aligns: tuple[Align, ...] = ()
    widths: tuple[int, ...] = ()
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """What a piece of text changed: `closed` blocks never change again, `tail` replaces the former tail."""

    closed: tuple[Block, ...]
    tail: tuple[Block, ...]


class MarkdownStream:
    """Parses an answer while it is written. Feeding it in any pieces gives the same blocks as `parse` of the whole."""

    def __init__(self) -> None:
        self._open = ""
        self._widths: tuple[int, ...] = ()  # of the table whose first parts are final, where one is open

    @property
    def open_length(self) -> int:
        """Characters that are parsed again with the next ones."""
        return len(self._open)

    def append(self, text: str) -> Update:
        """Add text and say which blocks are final and which are still open."""
        self._open += text
        closed: tuple[Block, ...] = ()
        tokens, lines = _tokens(self._open), _LINE_ENDS.split(self._open)
        if cut_line := _last_safe_start(tokens, lines):
            closed, self._widths = _flatten(_before(tokens, cut_line), self._widths), ()
            self._open = self._open[_offset_of_line(self._open, cut_line) :]
            tokens = _tokens(self._open)
        tail = _flatten(tokens, self._widths)
        parts = _final_parts(tokens, tail, len(lines) - 1 - cut_line)
        if parts:
            self._widths = tail[0].widths
            self._drop_rows(sum(len(part.rows) - (not part.continued) for part in tail[:parts]))
        return Update(closed + tail[:parts], tail[parts:])

    def _drop_rows(self, rows: int) -> None:
        """Forget the first rows of the open table. Its head stays: without it the other rows would be no table."""
        head, rest = _offset_of_line(self._open, 2), _offset_of_line(self._open, 2 + rows)
        self._open = self._open[:head] + self._open[rest:]


def parse(text: str) -> tuple[Block, ...]:
    """All blocks of a finished text."""
    return _flatten(_tokens(text))


def _flatten(tokens: Iterable[Token], widths: tuple[int, ...] = ()) -> tuple[Block, ...]:
    """The blocks of some tokens; `widths` are those of the table that they begin in the middle of."""
    return tuple(_Flattener(resumed=widths).run(tokens))


def _final_parts(tokens: Sequence[Token], tail: Sequence[Block], unfinished_line: int) -> int:
    """How many blocks at the start of the tail are parts of a table that no later row changes."""
    if not tokens or tokens[0].type != "table_open" or tokens[0].map is None:
        return 0
    finished_rows = min(tokens[0].map[1], unfinished_line) - tokens[0].map[0] - 2
    final, rows = 0, 0
    for part in tail:
        rows += len(part.rows) - (not part.continued)
        if part.kind != "table" or rows >= finished_rows:
            break
        final += 1
    return final


def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 60})
    made.enable(["table", "strikethrough"])
    # References would let a late line change an early block; the HTML rules would only reject. Inline markup is
    # parsed by `_runs`, block by block, so that a paragraph past the limit costs nothing.
    made.disable(["reference", "html_block", "html_inline", "inline"])
    made.inline.ruler.before("escape", "formula", _formula)
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    made.block.ruler.before("fence", "formula", _formula_block, interrupts)
    return made


def _formula(state: StateInline, silent: bool) -> bool:
    r"""A formula within a paragraph. The marks \( \) \[ \] that are around none stay as they are written: they are no
    escaped brackets."""
    opener = _opener(state.src, state.pos)
    closer = _CLOSERS.get(opener, "")
    start = state.pos + len(opener)
    end = state.src.find(closer, start, start + LONGEST_FORMULA) if closer else -1
    if end >= 0 and _is_formula(state.src, state.pos, opener, start, end):
        if not silent:
            token = state.push("formula", "", 0)
            token.markup, token.content = opener, state.src[start:end].strip()
            token.info = state.src[state.pos : end + len(closer)]
        state.pos = end + len(closer)
        return True
    if not opener and state.src[state.pos : state.pos + 2] not in ("\\)", "\\]"):
        return False
    width = len(opener) or 2
    if not silent:
        state.pending += state.src[state.pos : state.pos + width]
    state.pos += width
    return True


def _opener(text: str, place: int) -> str:
    """What begins a formula at this place, "" where nothing does."""
    return next((opener for opener in ("$$", "$", "\\(", "\\[") if text.startswith(opener, place)), "")


def _is_formula(text: str, place: int, opener: str, start: int, end: int) -> bool:
    """Whether what stands between two marks is a formula. A single dollar is money more often than not: it begins one
    only where no letter, digit or blank touches it from the wrong side."""
    inside = text[start:end]
    if opener != "$":
        return bool(inside.strip()) and inside[-1] != "\\"
    before, after = text[place - 1 : place], text[end + 1 : end + 2]
    if not inside or inside[0].isspace() or inside[-1].isspace() or inside[-1] == "\\":
        return False
    return not (before.isalnum() or after.isalnum() or after == "$" or _AMOUNT.fullmatch(inside))


def _formula_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    r"""A formula that has lines of its own, from one that begins with $$ or \[ to one that ends with its counterpart.

    One whose end has not come yet is `open`: it shows as text, and more of it may follow. An empty line, or too much
    text, means that it is none.
    """
    start = state.bMarks[first] + state.tShift[first]
    opener = _opener(state.src, start)
    if state.is_code_block(first) or opener not in ("$$", "\\["):
        return False
    last = _last_line(state, first, end, start + 2, _CLOSERS[opener])
    is_unsure = state.level > 0 and (last == end or (silent and last != first))
    if last is None or is_unsure:  # within lists and quotes, what is to come would decide about what is there
        return False
    if not silent:
        _push_formula(state, first, last, opener, is_open=last == end)
    return True


def _last_line(state: StateBlock, first: int, end: int, start: int, closer: str) -> int | None:
    """The line a formula ends on, `end` where that has not come yet; None where it has no lines of its own."""
    for line in range(first, end):
        begin = start if line == first else state.bMarks[line] + state.tShift[line]
        text = state.src[begin : state.eMarks[line]].rstrip()
        is_outside = line > first and (not text or state.sCount[line] < state.blkIndent)
        if is_outside or state.eMarks[line] - start > LONGEST_FORMULA:
            return None
        if closer in text:
            is_end = text.find(closer) == len(text) - 2 and state.src[start : begin + len(text) - 2].strip()
            return line if is_end else None
    return end


def _push_formula(state: StateBlock, first: int, last: int, opener: str, is_open: bool) -> None:
    lines = last - first + (not is_open)
    token = state.push("open_formula" if is_open else "formula", "", 0)
    token.map = [first, first + lines]
    token.info = state.getLines(first, first + lines, state.blkIndent, False).strip()
    token.markup = opener
    token.content = token.info if is_open else token.info[2:-2].strip()
    state.line = first + lines


_PARSER = _parser()


def _tokens(text: str) -> list[Token]:
    return _PARSER.parse(text)


def _last_safe_start(tokens: Sequence[Token], lines: Sequence[str]) -> int:
    """The line from which blocks can still change.

    That is where the last top-level block, or the last item of a top-level list, starts; or the one before it when the
    last one starts on the line that is still being written: "# x" may turn out as "#x", and then it continues the
    paragraph above, as does the head of a table whose second line is not finished. What starts there reads the same
    without what stands before it. Only an item with a "|" may not: it could be the head of a table.
    """
    starts = [0]
    for token in tokens:
        is_unfinished = token.type == "formula" and token.map and token.map[1] == len(lines)
        if token.type == "open_formula" or is_unfinished:
            break  # it may turn out as a part of the paragraph above
        if token.map and token.nesting >= 0 and token.map[0] + (token.type == "table_open") < len(lines) - 1:
            line = token.map[0]
            if token.level == 0 or (_is_outer_item(token) and "|" not in lines[line]):
                starts.append(line)
    return starts[-1]


def _is_outer_item(token: Token) -> bool:
    return token.type == "list_item_open" and token.level == 1


def _before(tokens: Sequence[Token], line: int) -> Iterator[Token]:
    """The tokens of all top-level blocks, and items of top-level lists, that start before this line."""
    for token in tokens:
        if token.map and token.nesting >= 0 and token.map[0] >= line and (token.level == 0 or _is_outer_item(token)):
            return
        yield token


def _offset_of_line(text: str, line: int) -> int:
    """Where line number `line` starts in a text with any kind of line ends."""
    if line == 0:
        return 0
    for number, match in enumerate(_LINE_ENDS.finditer(text), start=1):
        if number == line:
            return match.end()
    return len(text)


@dataclass(slots=True)
class _Flattener:
    """Walks markdown-it's nested tokens and keeps what surrounds the present one."""

    depth: int = 0
    quote: int = 0
    marker: str = ""
    level: int = 0
    rows: list[tuple[tuple[Run, ...], ...]] = field(default_factory=list)
    cells: list[tuple[Run, ...]] = field(default_factory=list)
    aligns: list[Align] = field(default_factory=list)
    in_table: bool = False
    resumed: tuple[int, ...] = ()  # the widths of a table that begins here with its head said already

    def run(self, tokens: Iterable[Token]) -> list[Block]:
        blocks: list[Block] = []
        for token in tokens:
            blocks.extend(self._step(token))
        return blocks

    def _step(self, token: Token) -> Iterator[Block]:
        match token.type:
            case "inline" if self.in_table:
                self.cells.append(_runs(token))
            case "inline":
                runs = _with_box(_runs(token)) if self.marker else _runs(token)
                yield self._block("heading" if self.level else "paragraph", runs=runs, level=self.level)
            case "fence" | "code_block":
                yield from self._lone_marker()
                yield self._block("code", text=token.content.removesuffix("\n"), language=_language(token.info))
            case "hr":
                yield self._block("rule")
            case "formula":
                yield self._block("paragraph", runs=(_formula_run(Run(""), token),))
            case "open_formula":
                yield self._block("paragraph", runs=_runs(token))
            case "list_item_close":
                yield from self._lone_marker()
            case "table_close":
                self.in_table = False
                yield from self._lone_marker()
                yield from self._table()
            case _:
                self._enter_or_leave(token)

    def _enter_or_leave(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open" | "bullet_list_close" | "ordered_list_close":
                self.depth += token.nesting
            case "list_item_open":
                self.marker = f"{token.info}{token.markup}" if token.info else "•"
            case "blockquote_open" | "blockquote_close":
                self.quote += token.nesting
            case "heading_open":
                self.level = int(token.tag[1:])
            case "heading_close":
                self.level = 0
            case "table_open":
                self.in_table, self.rows, self.aligns = True, [], []
            case "th_open":
                self.aligns.append(_align(token))
            case "tr_open":
                self.cells = []
            case "tr_close":
                self.rows.append(tuple(self.cells))

    def _table(self) -> Iterator[Block]:
        """A table, a long one in parts of as many cells as are drawn in a moment."""
        resumed, self.resumed = self.resumed, ()
        rows, aligns = tuple(self.rows), tuple(self.aligns)
        step = max(1, PART_CELLS // max(1, len(aligns)))
        if len(rows) - 1 <= step and not resumed:
            yield self._block("table", rows=rows, aligns=aligns)
            return
        widths = resumed or _shares(rows[: 1 + step])
        for start in range(1, len(rows), step):
            is_continued = bool(resumed) or start > 1
            part = rows[start if is_continued else 0 : start + step]
            yield self._block("table", rows=part, aligns=aligns, widths=widths, continued=is_continued)

    def _block(self, kind: BlockKind, **values: object) -> Block:
        marker, self.marker = self.marker, ""
        return replace(Block(kind, depth=self.depth, quote=self.quote, marker=marker), **values)  # type: ignore[arg-type]

    def _lone_marker(self) -> Iterator[Block]:
        """An item that holds nothing yet, or begins with code or a table, still shows its marker."""
        if self.marker:
            yield self._block("paragraph")


def _shares(rows: Sequence[tuple[tuple[Run, ...], ...]]) -> tuple[int, ...]:
    """How wide the columns of a table are to each other: by their longest cells, within reason."""
    longest = (max(sum(len(run.text) for run in cell) for cell in column) for column in zip(*rows, strict=True))
    return tuple(min(60, max(4, length)) for length in longest)


def _language(info: str) -> str:
    words = info.split()
    return words[0] if words else ""


def _align(token: Token) -> Align:
    style = str(token.attrGet("style") or "")
    if "right" in style:
        return "end"
    return "center" if "center" in style else "start"


def _runs(inline: Token) -> tuple[Run, ...]:
    """The runs of a paragraph, neighbours that look the same joined."""
    if len(inline.content) > INLINE_LIMIT:
        return (Run(inline.content),)
    children: list[Token] = []
    _PARSER.inline.parse(inline.content, _PARSER, {}, children)
    look = Run("")
    runs: list[Run] = []
    for token in children:
        match token.type:
            case "strong_open" | "strong_close":
                look = replace(look, bold=token.nesting > 0)
            case "em_open" | "em_close":
                look = replace(look, italic=token.nesting > 0)
            case "s_open" | "s_close":
                look = replace(look, strike=token.nesting > 0)
            case "link_open":
                look = replace(look, href=_allowed(str(token.attrGet("href") or "")))
            case "link_close":
                look = replace(look, href="")
            case "code_inline":
                _join(runs, replace(look, text=token.content, code=True))
            case "formula":
                runs.append(_formula_run(look, token))
            case "softbreak" | "hardbreak":
                _join(runs, replace(look, text="\n"))
            case "image":
                href = look.href or _allowed(str(token.attrGet("src") or ""))
                _join(runs, replace(look, text=token.content or href, href=href))
            case _:
                _join(runs, replace(look, text=token.content))
    return tuple(piece for run in runs for piece in _with_bare_links(run))


def _formula_run(look: Run, token: Token) -> Run:
    return replace(look, text=token.info, formula=token.content, display=token.markup in ("$$", "\\["))


def _with_box(runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """An item of a task list begins with a box instead of "[ ]" or "[x]"."""
    box = _BOXES.get(runs[0].text[:4].lower()) if runs else None
    return (replace(runs[0], text=box + runs[0].text[4:]), *runs[1:]) if box else runs


def _join(runs: list[Run], run: Run) -> None:
    if runs and replace(runs[-1], text=run.text) == run:
        runs[-1] = replace(run, text=runs[-1].text + run.text)
    elif run.text:
        runs.append(run)


def _allowed(href: str) -> str:
    return href if href.lower().startswith(LINK_SCHEMES) else ""


def _with_bare_links(run: Run) -> Iterator[Run]:
    if run.code or run.href or run.formula or "://" not in run.text:
        yield run
        return
    end = 0
    for match in _BARE_LINK.finditer(run.text):
        if match.start() > end:
            yield replace(run, text=run.text[end : match.start()])
        yield replace(run, text=match.group(), href=match.group())
        end = match.end()
    if end < len(run.text):
        yield replace(run, text=run.text[end:])
