"""The text of an answer: drawn in pieces as it would be drawn at once, and nothing in it is ever run or loaded."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app import theme
from app.transcript.answer_view import LONGEST_PIECE, MOST_CELLS, AnswerView
from app.transcript.block_writer import CODE_HEADER, CODE_PADDING, BlockWriter
from app.transcript.document_view import open_link
from app.transcript.markdown import Block, MarkdownStream

SAMPLE = """# Title

Some *text* with `code`, a [link](https://example.org) and two
lines.

1. one
2. two
   - nested

```python
def f(x: int) -> str:
    return "x" * x  # done
```

| a | b |
|---|--:|
| 1 | 2 |

> quoted
>
> > twice

- ```
  lone
  ```

---

سلام دنیا and 👩‍👩‍👧 end
"""


@pytest.fixture
def view(qtbot: QtBot) -> AnswerView:
    made = AnswerView()
    qtbot.addWidget(made)
    made.resize(600, 100)
    made.show()
    return made


def shape(view: AnswerView) -> list[tuple[object, ...]]:
    """Every block with what it looks like."""
    blocks: list[tuple[object, ...]] = []
    block = view.document().begin()
    while block.isValid():
        form = block.blockFormat()
        marker = block.textList().itemText(block) if block.textList() else ""
        runs = [(run.fragment().text(), run.fragment().charFormat()) for run in block.begin()]
        blocks.append((runs, form.leftMargin(), form.indent(), marker))
        block = block.next()
    return blocks


@pytest.mark.parametrize("seed", range(5))
def test_pieces_draw_what_the_whole_draws(view: AnswerView, qtbot: QtBot, seed: int) -> None:
    whole = AnswerView()
    qtbot.addWidget(whole)
    whole.resize(600, 100)
    whole.set_text(SAMPLE)
    rest, chance = SAMPLE, random.Random(seed)
    while rest:
        size = chance.randint(1, 12)
        view.append(rest[:size])
        view.flush()
        rest = rest[size:]
    view.settle()
    assert shape(view) == shape(whole)
    assert view.text == SAMPLE


def test_words_at_the_end_of_a_paragraph_are_put_there_and_nothing_is_drawn_again(view: AnswerView) -> None:
    changes: list[tuple[int, int, int]] = []
    view.append("A **bold** word and")
    view.document().contentsChange.connect(lambda *change: changes.append(change))
    view.append(" more")
    assert changes == [(15, 0, 5)]
    view.append(" of *it*")
    assert view.toPlainText() == "A bold word and more of it"


def test_text_is_what_was_given_whatever_the_markup(view: AnswerView) -> None:
    for piece in ("*a", "*\r\n", "\t``", "`\n", "x"):
        view.append(piece)
    view.settle()
    assert view.text == "*a*\r\n\t```\nx"


def test_code_has_a_button_that_copies_exactly_the_code(view: AnswerView, qtbot: QtBot) -> None:
    view.set_text("Text\n\n```py\nif x:\n\treturn  1\n```\n\n```\nsecond\n```\n")
    first, second = view.findChildren(QToolButton)
    assert first.isVisible()
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "if x:\n\treturn  1"
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "second"


def test_code_is_coloured_and_still_the_same_text(view: AnswerView) -> None:
    view.set_text("```python\n# note\nx = 1\n```\n")
    block = view.document().begin()
    fragment = block.begin().fragment()
    assert block.text() == "# note\u2028x = 1"
    assert fragment.charFormat().foreground().color().name() == theme.current().code_comment


def test_hostile_html_is_shown_as_text(view: AnswerView) -> None:
    hostile = '<script>alert(1)</script><img src="http://example.org/x.png"><b>bold</b><a href="file:///etc">x</a>'
    view.set_text(hostile)
    assert view.document().begin().text() == hostile
    assert not view.document().begin().begin().fragment().charFormat().isAnchor()


def test_nothing_is_loaded(view: AnswerView) -> None:
    view.set_text("![cat](http://example.org/cat.png)")
    assert view.loadResource(2, QUrl("http://example.org/cat.png")) is None
    assert view.document().begin().text() == "cat"


@pytest.mark.parametrize(
    ("address", "opens"),
    [
        ("https://example.org", True),
        ("http://example.org", True),
        ("mailto:a@example.org", True),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
    ],
)
def test_only_web_and_mail_links_open(monkeypatch: pytest.MonkeyPatch, address: str, opens: bool) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    open_link(QUrl(address))
    assert opened == ([address] if opens else [])


def test_a_selection_survives_what_is_written_after_it(view: AnswerView) -> None:
    view.append("First words\n\nSecond")
    cursor = view.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(5, QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    for _ in range(20):
        view.append(" more")
    view.settle()
    assert view.textCursor().selectedText() == "First"


def test_right_to_left_paragraphs_stand_on_the_right(view: AnswerView) -> None:
    view.set_text("left\n\nسلام دنیا")
    first, second = view.document().begin(), view.document().begin().next()
    assert first.layout().lineAt(0).naturalTextRect().left() == 0
    assert second.layout().lineAt(0).naturalTextRect().right() > 590


def test_another_theme_is_drawn_at_once(view: AnswerView, qapp: object) -> None:
    view.set_text("word")
    theme.apply(qapp, theme.DARK)  # type: ignore[arg-type]
    fragment = view.document().begin().begin().fragment()
    assert fragment.charFormat().foreground().color().name() == theme.DARK.text
    theme.apply(qapp, theme.LIGHT)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", ["*", "[", "```\n", "> ", "|"])
def test_broken_markup_is_drawn_to_its_end(view: AnswerView, piece: str) -> None:
    for _ in range(10):
        view.append(piece * 1_000)
    view.settle()
    assert view.text == piece * 10_000
    assert view.height() >= 1
    view.stop()


CODE_FIRST = "```python\ndef add(a, b):\n    return a + b\n```\ntext"


@pytest.mark.parametrize("code", [CODE_FIRST, "> " + CODE_FIRST.replace("\n", "\n> "), "- ```\n  lone\n  ```"])
def test_a_code_block_at_the_very_top_has_its_header(view: AnswerView, code: str) -> None:
    for letter in code:
        view.append(letter)
    view.settle()
    (button,) = view.findChildren(QToolButton)
    assert button.isVisible()
    assert view.viewport().rect().contains(button.geometry())


def top(view: AnswerView) -> float:
    return view.document().documentLayout().blockBoundingRect(view.document().firstBlock()).top()


def test_the_room_for_a_header_goes_when_something_else_is_at_the_top(view: AnswerView) -> None:
    view.set_text(CODE_FIRST)
    assert top(view) >= CODE_HEADER
    view.set_text("text")
    assert top(view) == 0


def rows_of(text: str, columns: int, rows: int) -> list[str]:
    row = "|".join(text for _ in range(columns))
    return [f"|{row}|\n", f"|{'---|' * columns}\n", *([f"|{row}|\n"] * rows)]


@pytest.mark.parametrize(
    ("lines", "most"),
    [(rows_of("x", 10, 60), 150), (rows_of("x", 300, 6), 900), (["- item\n"] * 400, 2)],
    ids=["rows", "columns", "list"],
)
def test_what_is_complete_of_a_long_table_or_list_is_not_written_again(
    view: AnswerView, monkeypatch: pytest.MonkeyPatch, lines: list[str], most: int
) -> None:
    written: list[int] = []
    write = BlockWriter.write

    def count(writer: BlockWriter, block: Block) -> None:
        written.append(max(1, sum(map(len, block.rows))))
        write(writer, block)

    monkeypatch.setattr(BlockWriter, "write", count)
    for line in lines:
        written.clear()
        view.append(line)
        view.flush()
        assert sum(written) <= most


def test_the_box_of_a_code_block_at_the_end_is_not_cut(view: AnswerView) -> None:
    view.set_text("```\nx = 1\n```")
    assert view.height() >= view.document().size().height() + CODE_PADDING
    view.append("\n\nafter")
    assert view.height() < view.document().size().height() + 2


@pytest.mark.parametrize(("line", "times"), [("| 1 | 2 | 3 | 4 |", 300), ("- item", 2_000), ("text", 500)])
def test_a_long_text_is_drawn_in_pieces_and_ends_as_if_drawn_at_once(
    view: AnswerView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, line: str, times: int
) -> None:
    text = "| a | b | c | d |\n|---|---|---|---|\n" + f"{line}\n" * times
    pieces: list[str] = []
    append = MarkdownStream.append
    monkeypatch.setattr(MarkdownStream, "append", lambda stream, piece: pieces.append(piece) or append(stream, piece))
    view.set_text(text)
    assert len(pieces) == 1
    while len("".join(pieces)) < len(text):
        view.flush()
    assert "".join(pieces) == text
    assert all(piece.count("|") + piece.count("\n") <= MOST_CELLS and len(piece) <= LONGEST_PIECE for piece in pieces)
    view.settle()
