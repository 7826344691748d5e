"""The demo's page: self-contained, every number on it is one of the report's, and answers are escaped Markdown."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from app.demo.page import Picture, as_html, markdown_html, page_of
from app.demo.page_charts import HEIGHT, TOP, ChartScale, charts
from app.demo.report import Aside, Report, Row
from app.demo.report_words import gain
from app.demo.script import NAMES, TITLES
from app.proof.compare import Parted
from app.theme import DARK, LIGHT
from tests.app.fake_engine import MODEL


def row(turn: int, cache: str, reused: int, ttft: float) -> Row:
    return Row(turn, cache, 3_000 + turn, reused, 3_000 + turn - reused, 48, ttft, 50.0, 80_000_000 * turn)  # type: ignore[arg-type]


def make_report(script: str = "support") -> Report:
    turns = [row(1, "on", 0, 1.9), row(1, "off", 0, 1.91), row(2, "on", 2_950, 0.12), row(2, "off", 0, 1.95)]
    asides = {1: Aside("Newcomer", "Is 1 < 2 & true?", "All is read."), 2: Aside("Guest", "Why?", "")}
    return Report(MODEL, {"python": "3.11.7"}, turns, [], script, "It shows <this>.", asides)


def as_page(report: Report, machine: str, pictures: Sequence[Picture] = ()) -> str:
    return as_html(page_of(report, machine), pictures)


VOID = {"meta", "rect", "line", "img", "source", "br"}
INLINE = re.compile(r'src(?:set)?="data:image/png;base64,([^"]*)"')


class Reader(HTMLParser):
    """Cells of the table, texts, and every tag; complains about what is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "td" in self.open:
            self.cells[-1] += data


@pytest.mark.parametrize("script", [*NAMES, "own"])
def test_it_stands_alone(script: str) -> None:
    page = as_page(make_report(script), "A machine", [("The window", b"light?>", b"dark??>")])
    read = Reader(page)
    assert read.open == []
    assert not read.tags & {"script", "link", "iframe"}
    assert [b64decode(data) for data in INLINE.findall(page)] == [b"dark??>", b"light?>"]
    assert page.count("<img") == 1
    assert not re.search(r"(https?:)?//|url\(|@import|\son\w+=|src(set)?=", INLINE.sub("", page))
    assert f"<h1>{TITLES[script]}</h1>" in page
    assert "prefers-color-scheme: dark" in page
    assert f"--reused: {LIGHT.reused};" in page
    assert f"--reused: {DARK.reused};" in page
    assert "It shows &lt;this&gt;." in page


def test_what_a_token_costs_is_what_its_block_costs() -> None:
    report = make_report()
    assert "23,040 bytes a token, budget" in as_page(report, "A machine")
    report.model = replace(MODEL, kv_bits=8, cached_bytes_per_token=11_904)
    assert "11,904 bytes a token, budget" in as_page(report, "A machine")


def test_the_table_holds_the_rows() -> None:
    cells = Reader(as_page(make_report(), "A machine")).cells
    assert cells[:8] == ["1", "Is 1 < 2 & true?All is read.", "3,001", "0", "3,001", "1.90 s", "1.91 s", "–"]
    assert cells[8:] == ["2", "Why?", "3,002", "2,950", "52", "0.12 s", "1.95 s", "16.2×"]


def test_the_tree_names_the_conversation_of_each_turn() -> None:
    cells = Reader(as_page(make_report("tree"), "A machine")).cells
    assert cells[9] == "Why?Conversation: Guest"


def test_questions_and_answers_are_folded_and_a_different_answer_is_shown_twice() -> None:
    report = make_report()
    report.add_answers(1, "Yes,\n1 < 2.", "Yes,\n1 < 2.")
    report.add_answers(2, "Because.", "Why not?")
    page = as_page(report, "A machine")
    assert "<details><summary>1. Is 1 &lt; 2 &amp; true?</summary><p>Yes,<br>1 &lt; 2.</p></details>" in page
    assert "<p>Because.</p>" in page
    assert page.count("Without the cache:") == 1
    assert page.index("Without the cache:") < page.index("<p>Why not?</p>")


def test_thoughts_stand_before_their_answers_also_where_only_they_differ() -> None:
    report = make_report()
    report.add_answers(1, "Yes.", "Yes.", "Is *it*?", "Is *it*?")
    report.add_answers(2, "Because.", "Because.", "Hm.", "Hm, well.")
    page = as_page(report, "A machine")
    assert '</summary><p class="soft">Thought:</p><p>Is <em>it</em>?</p><p class="soft">Answer:</p><p>Yes.</p>' in page
    assert page.count("Without the cache:") == 1
    assert page.index("Without the cache:") < page.index("<p>Hm, well.</p>")


def test_model_machine_and_agreement_are_named() -> None:
    report = make_report()
    text = Reader(as_page(report, "Two cores & a fan")).text
    assert "Fake-1M (FakeForCausalLM), 4 MB" in text
    assert "Two cores & a fan" in text
    assert "python 3.11.7" in text
    assert gain(report) in text
    assert "All answers are equal with the cache and without, token by token" in text
    report.parted.append(Parted(2, 5, 0.01))
    assert "after 5 equal tokens in turn 2" in Reader(as_page(report, "")).text


def bars(chart: str, name: str) -> list[tuple[float, float]]:
    """Bottom and height of the bars of one colour."""
    rects = [each for each in ElementTree.fromstring(chart).iter("rect") if each.get("class") == name]
    return [(float(each.get("y", 0)) + float(each.get("height", 0)), float(each.get("height", 0))) for each in rects]


def test_bars_are_as_tall_as_their_numbers() -> None:
    report = make_report()
    first_token, tokens, memory = (chart.svg for chart in charts(report.pairs()))
    seconds, counts = ChartScale(1.95), ChartScale(3_002)
    for name, rows in (("computed", report.rows("on")), ("cold", report.rows("off"))):
        heights = [height for _, height in bars(first_token, name)]
        assert heights == pytest.approx([seconds.y(0) - seconds.y(each.ttft_s) for each in rows], abs=0.06)
    reused, computed = bars(tokens, "reused"), bars(tokens, "computed")
    assert computed[1][0] == pytest.approx(reused[1][0] - reused[1][1], abs=0.11), "it stands on what was reused"
    assert reused[1][1] + computed[1][1] == pytest.approx(counts.y(0) - counts.y(3_002), abs=0.11)
    assert reused[0][1] == 0
    assert "Turn 2: 0.12 s with the cache, 1.95 s without" in first_token
    assert "Turn 2: 2,950 tokens reused, 52 computed" in tokens
    assert "Turn 2: 160 MB" in memory


@pytest.mark.parametrize(
    ("top", "step"), [(0, 1), (0.004, 0.001), (1.95, 0.5), (30, 10), (3_002, 1_000), (400, 100), (8.1, 2.5)]
)
def test_grid_lines_stand_at_round_numbers(top: float, step: float) -> None:
    scale = ChartScale(top)
    assert scale.step == pytest.approx(step)
    assert scale.top >= top
    assert scale.y(scale.top) == pytest.approx(TOP)
    assert 2 <= len(scale.lines()) <= 6
    assert all(TOP <= scale.y(value) <= HEIGHT for value in scale.lines())


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("Yes,\n1 < 2.\n", "<p>Yes,<br>1 &lt; 2.</p>"),
        ("**Use a *small* one**", "<p><b>Use a </b><b><em>small</em></b><b> one</b></p>"),
        ("# Head\n\n1. `one`\n2. ~~two~~", "<p><b>Head</b></p><p>1. <code>one</code></p><p>2. <s>two</s></p>"),
        ("- a\n- b", "<p>• a</p><p>• b</p>"),
        ("```\n<b> & **raw**\n```", "<pre>&lt;b&gt; &amp; **raw**</pre>"),
        ("| a | b |\n|---|---|\n| 1 | **2** |", "<p>a · b<br>1 · <b>2</b></p>"),
        ("one\n\n---\n\ntwo", "<p>one</p><hr><p>two</p>"),
        ("**Use a", "<p>**Use a</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[here](https://x.test)", "<p>here</p>"),
        ("", ""),
    ],
)
def test_markdown_becomes_html(markdown: str, html: str) -> None:
    assert markdown_html(markdown) == html
