"""The demo's report as a page: what it says, as plain values, and these as self-contained HTML without scripts.

`page_picture` paints the same values for where no browser is at hand.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import NamedTuple

from app.demo.page_charts import Chart, charts
from app.demo.report import Pair, Report, Row, times_sooner
from app.demo.report_words import sentences
from app.demo.script import TITLES
from app.theme import DARK, LIGHT, Theme
from app.transcript.markdown import Block, Run, parse

METHOD = (
    "Each prompt is read twice: once with Headstart's cache, which keeps what was computed for the start of earlier"
    " prompts, and once without. Always the likeliest token is taken, so that the two"
    " answers can be compared."
)
METHOD_AHEAD = (
    "Each prompt is read three times: with what was read ahead while it was typed; with what earlier turns left in"
    " Headstart's cache, and no more; and without a cache. Always the likeliest token is taken, so that the first and"
    " the last answer can be compared."
)
HEADS = ("turn", "question", "prompt", "reused", "computed", "first token", "without", "sooner")
READ_AHEAD = ("tokens left", "read ahead")
"""Before "first token" where questions were read while they were typed: what was left to compute, and its time."""
QUESTION = HEADS.index("question")
"""The one column of words; all others are numbers and stand on the right."""
Picture = tuple[str, bytes, bytes]
"""What it shows, and the PNG for light and dark."""
_USED = ("page", "line", "text", "soft", "reused", "computed", "cold")
_STYLE = """
body { margin: 0 auto; max-width: 880px; padding: 40px 24px 64px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Inter", "DejaVu Sans", sans-serif; }
h1 { font-size: 28px; line-height: 1.25; margin: 0 0 8px; }
h2 { font-size: 17px; margin: 40px 0 8px; }
p { margin: 0 0 12px; max-width: 68ch; }
.soft, figcaption, dt, th { color: var(--soft); }
.numbers { display: flex; flex-wrap: wrap; gap: 16px 48px; margin: 24px 0; }
.numbers div { min-width: 120px; }
.numbers b { display: block; font-size: 32px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 400; white-space: nowrap; }
th:nth-child(2), td:nth-child(2) { min-width: 200px; }
td small { color: var(--soft); }
figure { margin: 0 0 24px; }
img { display: block; width: 100%; height: auto; margin: 0 0 4px; border: 1px solid var(--line); border-radius: 6px; }
details { border-bottom: 1px solid var(--line); padding: 6px 0; }
summary { cursor: pointer; }
details p, details pre { margin: 8px 0 8px 20px; }
pre { white-space: pre-wrap; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, "Inter", "DejaVu Sans", sans-serif; }
svg line { stroke: var(--line); }
svg text { fill: var(--soft); }
svg .value { text-anchor: end; }
svg .turn { text-anchor: middle; }
.reused { fill: var(--reused); background: var(--reused); }
.computed { fill: var(--computed); background: var(--computed); }
.cold { fill: var(--cold); background: var(--cold); }
i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 6px 0 16px; }
figcaption i:first-child { margin-left: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; }
dd { margin: 0; }
"""


class TurnLine(NamedTuple):
    """A line of the table: a cell for each of its heads, and the notes under the question."""

    cells: tuple[str, ...]
    notes: tuple[str, ...]


class Answered(NamedTuple):
    """A question with its turn in front, and the answers and the thoughts before them as Markdown; those without the
    cache are "" where both are equal."""

    question: str
    answer: str
    cold_answer: str
    thought: str = ""
    cold_thought: str = ""

    @property
    def html(self) -> str:
        """What was written."""
        return answer_html(self.answer, self.thought)

    @property
    def cold_html(self) -> str:
        """What was written without the cache, "" where that is the same."""
        return answer_html(self.cold_answer, self.cold_thought) if self.cold_answer or self.cold_thought else ""


@dataclass(frozen=True, slots=True)
class Page:
    """What the page says, from top to bottom. `numbers` are the last turn in three large numbers, each with what it
    says; `facts` are what the figures were measured with and on."""

    title: str
    about: str
    numbers: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    charts: tuple[Chart, ...]
    heads: tuple[str, ...]
    turns: tuple[TurnLine, ...]
    answers: tuple[Answered, ...]
    facts: tuple[tuple[str, str], ...]


def page_of(report: Report, machine: str) -> Page:
    """What the page says about a report. `machine` is what the figures were measured on."""
    pairs, ahead = report.pairs(), report.rows("ahead")
    at = HEADS.index("first token")
    return Page(
        title=TITLES[report.script],
        about=f"{report.about} {METHOD_AHEAD if ahead else METHOD}",
        numbers=_last_turn(pairs[-1], ahead[-1:]),
        sentences=tuple(filter(None, sentences(report))),
        charts=charts(pairs, ahead),
        heads=HEADS[:at] + READ_AHEAD + HEADS[at:] if ahead else HEADS,
        turns=tuple(_turn_line(report, pair) for pair in pairs),
        answers=tuple(
            Answered(f"{turn}. {aside.question}", aside.answer, aside.cold_answer, aside.thought, aside.cold_thought)
            for turn, aside in sorted(report.asides.items())
        ),
        facts=_facts(report, machine),
    )


def _last_turn(pair: Pair, ahead: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """The figures of the last turn; `ahead` is its row where it was read ahead, too."""
    warm, cold = pair
    first = "not read ahead" if ahead else "first token of the last turn"
    return (
        *((f"{row.ttft_s:.2f} s", "first token of the last turn, read ahead") for row in ahead),
        (f"{warm.ttft_s:.2f} s", first),
        (f"{cold.ttft_s:.2f} s", "without the cache"),
        (f"{warm.reused_tokens:,}", f"of {warm.prompt_tokens:,} tokens reused"),
    )


def _turn_line(report: Report, pair: Pair) -> TurnLine:
    warm, cold = pair
    aside = report.asides.get(warm.turn)
    notes = [aside.note, f"Conversation: {aside.conversation}" if report.script == "tree" else ""] if aside else []
    times = times_sooner(warm, cold)
    cells = (
        f"{warm.turn}",
        aside.question if aside else "",
        f"{warm.prompt_tokens:,}",
        f"{warm.reused_tokens:,}",
        f"{warm.computed_tokens:,}",
        *(cell for row in report.ahead(warm.turn) for cell in (f"{row.computed_tokens:,}", f"{row.ttft_s:.2f} s")),
        f"{warm.ttft_s:.2f} s",
        f"{cold.ttft_s:.2f} s",
        "–" if times is None else f"{times:.1f}×",
    )
    return TurnLine(cells, tuple(note for note in notes if note))


def _facts(report: Report, machine: str) -> tuple[tuple[str, str], ...]:
    model = report.model
    return (
        ("Model", f"{model.name} ({model.architecture}), {model.weights_bytes / 1e6:,.0f} MB"),
        ("Computed on", f"{model.device}, {model.dtype}, {'near' if model.near else 'exact'}"),
        ("Context", f"{model.context_length:,} tokens"),
        ("Cache", f"{model.cached_bytes_per_token:,} bytes a token, budget {model.cache_budget_bytes / 1e6:,.0f} MB"),
        ("Machine", machine),
        ("Versions", ", ".join(f"{name} {version}" for name, version in report.versions.items())),
    )


def as_html(page: Page, pictures: Sequence[Picture] = ()) -> str:
    """The whole page, light and dark."""
    numbers = "".join(f"<div><b>{number}</b>{said}</div>" for number, said in page.numbers)
    facts = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in page.facts)
    content = body(
        page,
        numbers=f'<div class="numbers">{numbers}</div>',
        figures="\n".join(map(_figure, page.charts)),
        table=f'<div class="wide">{table(page)}</div>',
        answers="\n".join(map(_folded, page.answers)) + _on_screen(pictures),
        facts=f"<dl>{facts}</dl>",
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(page.title)} – Headstart</title>
<style>
:root {{ {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
{_STYLE.strip()}
</style>
</head>
<body>
{content}
</body>
</html>
"""


def body(page: Page, *, numbers: str, figures: str, table: str, answers: str, facts: str) -> str:
    """The parts of the page in their order, with their headings. The five parts that a browser and Qt need in different
    HTML are given."""
    sentences = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in (page.about, *page.sentences))
    about, _, others = sentences.partition("\n")
    return f"""<h1>{escape(page.title)}</h1>
{about}
{numbers}
{others}
{figures}
<h2>Every turn</h2>
{table}
<h2>Questions and answers</h2>
{answers}
<h2>Model and machine</h2>
{facts}"""


def table(page: Page, attributes: str = "") -> str:
    """A row for each turn. Qt aligns a cell by its own attribute only."""
    head = "".join(_cell("th", column, name) for column, name in enumerate(page.heads))
    rows = "\n".join(f"<tr>{_cells(line)}</tr>" for line in page.turns)
    return f"<table{attributes}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _cells(line: TurnLine) -> str:
    cells = [escape(cell) for cell in line.cells]
    cells[QUESTION] += "".join(f"<br><small>{escape(note)}</small>" for note in line.notes)
    return "".join(_cell("td", column, cell) for column, cell in enumerate(cells))


def _cell(tag: str, column: int, content: str) -> str:
    return f'<{tag} align="{"left" if column == QUESTION else "right"}">{content}</{tag}>'


def _variables(theme: Theme) -> str:
    colours = asdict(theme)
    return " ".join(f"--{name}: {colours[name]};" for name in _USED)


def _figure(chart: Chart) -> str:
    legend = "".join(f'<i class="{colour}"></i>{said}' for colour, said in chart.legend)
    return f"<h2>{chart.name}</h2>\n<figure>{chart.svg}\n<figcaption>{legend}</figcaption></figure>"


def _folded(answered: Answered) -> str:
    """A turn that unfolds to what was written."""
    others = f'<p class="soft">Without the cache:</p>{answered.cold_html}' if answered.cold_html else ""
    return f"<details><summary>{escape(answered.question)}</summary>{answered.html}{others}</details>"


def _on_screen(pictures: Sequence[Picture]) -> str:
    if not pictures:
        return ""
    shown = "\n".join(
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_inline(dark)}">'
        f'<img src="{_inline(light)}" alt="{escape(name)}"></picture><figcaption>{escape(name)}</figcaption></figure>'
        for name, light, dark in pictures
    )
    return f"\n<h2>On screen</h2>\n{shown}"


def _inline(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


def answer_html(markdown: str, thought: str = "") -> str:
    """An answer of the model with the thought before it, or that there is none."""
    before = f'<p class="soft">Thought:</p>{markdown_html(thought)}<p class="soft">Answer:</p>' if thought else ""
    return before + (markdown_html(markdown) or "<p><em>nothing was written</em></p>")


def markdown_html(markdown: str) -> str:
    """Markdown as plain HTML that a browser and Qt both show: paragraphs with what is bold, slanted, struck through or
    code in them; list items keep their marker."""
    return "".join(_block(block) for block in parse(markdown.strip()))


def _block(block: Block) -> str:
    marker = f"{escape(block.marker)} " if block.marker else ""
    if block.kind == "rule":
        return "<hr>"
    if block.kind == "code":
        return f"<pre>{escape(block.text)}</pre>"
    if block.kind == "table":
        return f"<p>{'<br>'.join(' · '.join(map(_runs, row)) for row in block.rows)}</p>"
    text = _runs(block.runs)
    return f"<p>{marker}{f'<b>{text}</b>' if block.kind == 'heading' else text}</p>"


def _runs(runs: tuple[Run, ...]) -> str:
    return "".join(map(_run, runs))


def _run(run: Run) -> str:
    text = escape(run.text).replace("\n", "<br>")
    for is_so, tag in ((run.code, "code"), (run.strike, "s"), (run.italic, "em"), (run.bold, "b")):
        if is_so:
            text = f"<{tag}>{text}</{tag}>"
    return text
