"""Markdown to blocks: what is recognised, what stays text, and that pieces give the same blocks as the whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.transcript.markdown import PART_CELLS, Block, MarkdownStream, Run, parse

MARKUP = st.text(alphabet="ab *_`~#>-+1.|[]()!<&\n\t\r\\=:$", max_size=60)

TEX = ("$$", "$$\n", "\\[\n", "\\]\n", "$")


def plain(blocks: tuple[Block, ...]) -> str:
    """Everything a reader would see, one line per block."""
    lines = []
    for block in blocks:
        cells = [run for row in block.rows for cell in row for run in cell]
        lines.append(block.text + "".join(run.text for run in (*block.runs, *cells)))
    return "\n".join(lines)


def streamed(pieces: list[str]) -> tuple[Block, ...]:
    stream, closed, tail = MarkdownStream(), [], ()
    for piece in pieces:
        update = stream.append(piece)
        closed.extend(update.closed)
        tail = update.tail
    return (*closed, *tail)


def test_blocks_of_an_answer() -> None:
    blocks = parse(
        "# Steps\n\n1. Open **Orders**\n2. Choose `Edit`\n\n> Only *once*.\n\n---\n\n```python\nx = 1\n```\n"
    )
    assert [block.kind for block in blocks] == ["heading", "paragraph", "paragraph", "paragraph", "rule", "code"]
    assert [block.marker for block in blocks] == ["", "1.", "2.", "", "", ""]
    assert blocks[1].runs == (Run("Open "), Run("Orders", bold=True))
    assert blocks[2].runs == (Run("Choose "), Run("Edit", code=True))
    assert (blocks[3].quote, blocks[3].runs[1]) == (1, Run("once", italic=True))
    assert (blocks[5].language, blocks[5].text) == ("python", "x = 1")


def test_table_keeps_head_rows_and_alignment() -> None:
    (table,) = parse("| a | b |\n|---|--:|\n| 1 | **2** |\n")
    assert table.rows == (((Run("a"),), (Run("b"),)), ((Run("1"),), (Run("2", bold=True),)))
    assert table.aligns == ("start", "end")


def test_nested_list_counts_its_depth() -> None:
    blocks = parse("- a\n  - b\n\n    more b\n- c\n")
    assert [(block.depth, block.marker) for block in blocks] == [(1, "•"), (2, "•"), (2, ""), (1, "•")]


def test_list_item_that_begins_with_code_shows_its_marker() -> None:
    blocks = parse("- ```\n  x\n  ```\n-\n")
    assert [(block.kind, block.marker) for block in blocks] == [("paragraph", "•"), ("code", ""), ("paragraph", "•")]


def test_html_is_text() -> None:
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<div>\nhi\n</div>"
    assert plain(parse(hostile)) == hostile.replace("\n\n", "\n")
    assert all(not run.href for block in parse(hostile) for run in block.runs)


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://a.b", "/local"]
)
def test_other_schemes_are_no_links(href: str) -> None:
    runs = parse(f"[press]({href})")[0].runs
    assert all(not run.href for run in runs)
    assert "press" in "".join(run.text for run in runs)


def test_links_pictures_and_bare_addresses_are_links_to_click() -> None:
    runs = parse(
        "[a](https://a.example) ![cat](http://b.example/cat.png) see https://c.example/x. <mailto:d@e.example>"
    )[0].runs
    assert [(run.text, run.href) for run in runs if run.href] == [
        ("a", "https://a.example"),
        ("cat", "http://b.example/cat.png"),
        ("https://c.example/x", "https://c.example/x"),
        ("mailto:d@e.example", "mailto:d@e.example"),
    ]


def test_line_breaks_within_a_paragraph_stay() -> None:
    assert parse("one\ntwo")[0].runs == (Run("one\ntwo"),)


def test_open_fence_is_code_to_the_end() -> None:
    (code,) = parse("```js\nlet a = '*';\n\n# no heading")
    assert (code.kind, code.text) == ("code", "let a = '*';\n\n# no heading")


@pytest.mark.parametrize(
    "part",
    [
        "*",
        "_",
        "**a",
        "_a ",
        "`",
        "`` ",
        "[",
        "![",
        "[a](",
        "<",
        "{{",
        "~~a",
        "***a**b*",
        "> ",
        "- ",
        "|",
        "\\",
        "$a ",
        "$$",
        "\\(",
        "$$\n",
        "$a$",
    ],
)
def test_thousands_of_markers_end_and_keep_their_text(part: str) -> None:
    text = "x" + part * 20_000
    assert plain(parse(text)).count("x") >= 1
    pieces = [text[start : start + 4_000] for start in range(0, len(text), 4_000)]
    assert streamed(pieces) == parse(text)


def test_a_paragraph_past_the_limit_is_shown_as_it_is() -> None:
    text = "*a* " * 5_000
    assert parse(text)[0].runs == (Run(text.strip()),)


@settings(max_examples=400, deadline=None)
@given(MARKUP, st.lists(st.integers(0, 60), max_size=8))
def test_pieces_give_the_same_blocks_as_the_whole(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert streamed(pieces) == parse(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["a", "- ", "1. ", "> ", "# ", "```\n", "\n", "\n\n", "  ", "    ", "| a |\n", "|-|\n", "---\n", "**", *TEX]
        ),
        max_size=25,
    )
)
def test_letter_by_letter_gives_the_same_blocks_as_the_whole(parts: list[str]) -> None:
    text = "".join(parts)
    assert streamed(list(text)) == parse(text)


def test_closed_blocks_leave_the_tail() -> None:
    stream = MarkdownStream()
    first = stream.append("one\n\ntwo\n\nthr")
    assert [plain((block,)) for block in first.closed] == ["one"]
    assert [plain((block,)) for block in first.tail] == ["two", "thr"]
    second = stream.append("ee\n")
    assert [plain((block,)) for block in second.closed] == ["two"]
    assert [plain((block,)) for block in second.tail] == ["three"]


def table_of(rows: int, columns: int = 2) -> str:
    cells = [" | ".join(f"r{row}c{column}" for column in range(columns)) for row in range(rows)]
    return "\n".join([" | ".join("h" * columns), "|".join(["---"] * columns), *(f"| {row} |" for row in cells), ""])


@given(
    st.integers(0, 14),
    st.lists(st.integers(1, 30), max_size=40),
    st.sampled_from(["", "before\n", "- a\n- b\n\n"]),
    st.sampled_from(["", "\nafter\n", "# after\n| a |\n", "x | y\n"]),
)
def test_a_long_table_comes_in_the_same_parts_in_whatever_pieces(
    rows: int, lengths: list[int], before: str, after: str
) -> None:
    text, pieces = before + table_of(rows) + after, []
    for length in lengths:
        pieces.append(text[:length])
        text = text[length:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.transcript.markdown.PART_CELLS", 6)
        assert streamed([*pieces, text]) == parse("".join([*pieces, text]))


def test_a_part_of_a_table_that_is_full_is_not_parsed_again() -> None:
    stream, text = MarkdownStream(), table_of(500, 10)
    open_cells = [
        sum(len(row) for block in stream.append(f"{line}\n").tail for row in block.rows) for line in text.splitlines()
    ]
    assert max(open_cells) <= PART_CELLS + 10 + 10, "a part, its head, and the row after it"
    (first, second, *_), _ = stream_parts(text)
    assert (len(first.rows), first.continued, len(second.rows), second.continued) == (11, False, 10, True)
    assert first.widths == second.widths


def stream_parts(text: str) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    update = MarkdownStream().append(text)
    return update.closed, update.tail


LIST_LINES = st.sampled_from(
    ["- a", "- b | c", "-", "* d", "1. e", "7. f", "  - g", "    h", "", "---", "--|--", "text", "> q", "```", "| x |"]
)


@given(st.lists(LIST_LINES, max_size=10), st.lists(st.integers(1, 12), max_size=30))
def test_a_list_in_whatever_pieces_is_the_same_list(lines: list[str], lengths: list[int]) -> None:
    text, pieces = "\n".join(lines), []
    for length in lengths:
        pieces.append(text[:length])
        text = text[length:]
    assert streamed([*pieces, text]) == parse("".join([*pieces, text]))


def test_an_item_that_is_followed_by_another_is_not_parsed_again() -> None:
    stream = MarkdownStream()
    tails = [len(stream.append(f"{number}. item\n   with more\n").tail) for number in range(1, 200)]
    assert max(tails) == 1


def text_of(source: str) -> list[str]:
    stream = MarkdownStream()
    update = stream.append(source)
    return ["".join(run.text for run in block.runs) for block in (*update.closed, *update.tail)]


FORMULAS = [
    (r"The area is \(a^2\).", [("a^2", False)]),
    (r"\[ x = 1 \]", [("x = 1", True)]),
    ("text\n$$\na\n- b\n$$\nmore", [("a\n- b", True)]),
    ("$x$ and **$y_1$**, $$z$$ inside; $5$", [("x", False), ("y_1", False), ("z", True), ("5", False)]),
    ("1. see\n   \\[\n   x\n   \\]\n2. b", [("x", True)]),
    ("> $$\n> a\n> $$", [("a", True)]),
    ("| $a$ | b |\n|-|-|\n", [("a", False)]),
    ("$a$$b$", []),
    ("It costs $5 and $6, or US$7, 8$.", []),
    ("Between $20, and 30$.", []),
    ("$HOME:$PATH, `$x$`, \\$5 and $x\\$", []),
    ("$$\nno end", []),
    ("$$\nan empty line\n\nends it\n$$", []),
]


@pytest.mark.parametrize(("source", "formulas"), FORMULAS)
def test_formulas_are_found_and_money_is_none(source: str, formulas: list[tuple[str, bool]]) -> None:
    found = [run for block in parse(source) for run in (*block.runs, *(run for row in block.rows for run in row[0]))]
    assert [(run.formula, run.display) for run in found if run.formula] == formulas


@pytest.mark.parametrize("source", [r"The area is \(a^2\).", r"\[ x = 1 \]", r"\(a and \[b\]", "$a$ $$b$$ $5"])
def test_the_text_of_a_formula_is_as_it_was_written(source: str) -> None:
    assert text_of(source) == [source]


def test_items_of_a_task_list_have_boxes() -> None:
    assert text_of("- [ ] buy\n- [x] pay\n- [link] is none") == ["☐ buy", "☑ pay", "[link] is none"]


def test_a_footnote_is_not_lost() -> None:
    assert text_of("See[^1].\n\n[^1]: https://example.org") == ["See[^1].", "[^1]: https://example.org"]
