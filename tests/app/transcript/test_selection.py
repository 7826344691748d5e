"""What is copied of a part of an answer reads like what was seen, and pastes as the Markdown it came from."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication, QTextCursor
from pytestqt.qtbot import QtBot

from app.transcript.answer_view import AnswerView
from app.transcript.markdown import parse

ANSWER = """Do this:

1. Open it.
2. Choose:
   - the *blue* one
   - the grey one

- [ ] not yet
- [x] done

| Part | Weight |
|---|---|
| Pole | 480 g |
| Peg | 14 g |

> Mind the wind.

```python
x = 1
y = 2
```

The end."""


TABLE = "| Part | Weight |\n|---|---|\n| Pole | 480 g |\n| Peg | 14 g |"


@pytest.fixture
def view(qtbot: QtBot) -> AnswerView:
    made = AnswerView()
    qtbot.addWidget(made)
    made.set_text(ANSWER)
    return made


# Qt selects whole rows, and from the outside the whole table: that is what the reader sees, and what is copied.


def copied(view: AnswerView, first: str, last: str) -> str:
    """What is on the clipboard after selecting from the first of two words to the end of the last."""
    start, end = view.document().find(first), view.document().find(last)
    cursor = view.textCursor()
    cursor.setPosition(start.selectionStart())
    cursor.setPosition(end.selectionEnd(), QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    view.copy()
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("Open", "grey one", "1. Open it.\n2. Choose:\n    - the blue one\n    - the grey one"),
        ("it.", "Choose", "it.\n2. Choose"),
        ("not yet", "done", "- [ ] not yet\n- [x] done"),
        ("Part", "14 g", TABLE),
        ("480", "Peg", "| Pole | 480 g |\n| Peg | 14 g |"),
        ("Pole", "Pole", "Pole"),
        ("done", "Pole", f"- [x] done\n\n{TABLE}"),
        (
            "14 g",
            "end.",
            f"{TABLE}\n\n> Mind the wind.\n\n```python\nx = 1\ny = 2\n```\n\nThe end.",
        ),
        ("x =", "y = 2", "x = 1\ny = 2"),
    ],
)
def test_marks_stay(view: AnswerView, first: str, last: str, text: str) -> None:
    assert copied(view, first, last) == text


def test_all_of_it_is_what_the_model_wrote(view: AnswerView) -> None:
    view.selectAll()
    view.copy()
    assert QGuiApplication.clipboard().text() == ANSWER


def test_what_is_copied_from_the_second_word_on_reads_alike(view: AnswerView) -> None:
    pasted = copied(view, "this", "The end.")

    def shape(text: str) -> list[tuple[str, str, int]]:
        return [(block.kind, block.marker, len(block.rows)) for block in parse(text)]

    assert shape(f"Do {pasted}") == shape(ANSWER)


def test_a_table_that_is_too_wide_is_scrolled_aside_and_any_other_wraps(view: AnswerView) -> None:
    for columns, is_wide in ((8, False), (60, True)):
        row = "| " + " | ".join("value" for _ in range(columns)) + " |\n"
        view.resize(400, 300)
        view.set_text(row + "|" + "---|" * columns + "\n" + row)
        view.show()
        bar = view.horizontalScrollBar()
        assert (bar.isVisible(), bar.maximum() > 0) == (is_wide, is_wide)
        assert view.height() >= view.document().size().height()
