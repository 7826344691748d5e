"""The demo's report as one page: self-contained HTML without scripts, light and dark, with the table and the charts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from app.demo.page_charts import first_token_chart, memory_chart, tokens_chart
from app.demo.page_text import as_html
from app.demo.report import Aside, Report, Row, times_sooner
from app.demo.report_words import agreement, gain
from app.theme import DARK, LIGHT, Theme

TITLES = {
    "support": "A support bot that is not read twice",
    "one-token": "One different token",
    "tree": "A tree of shared prefixes",
    "own": "Your own conversation",
}
METHOD = (
    "Each prompt is read twice: once with Headstart's cache, which keeps what was computed for the start of earlier"
    " prompts, and once without. Always the likeliest token is taken, so that the two"
    " answers can be compared."
)
NOTHING = "<p><em>nothing was written</em></p>"
HEADS = ("turn", "question", "prompt", "reused", "computed", "first token", "without", "sooner")
Picture = tuple[str, bytes, bytes]
"""What it shows, and the PNG for light and dark."""
Chart = tuple[str, str, tuple[tuple[str, str], ...]]
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
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 400; white-space: nowrap; }
th:nth-child(2), td:nth-child(2) { text-align: left; min-width: 200px; }
td small { color: var(--soft); display: block; }
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


def as_page(report: Report, machine: str, pictures: Sequence[Picture] = ()) -> str:
    """The whole page. `machine` says what the figures were measured on."""
    title = TITLES[report.script]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} – Headstart</title>
<style>
:root {{ {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
{_STYLE.strip()}
</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(report.about)} {METHOD}</p>
{_numbers(report)}
<p>{escape(gain(report))}</p>
<p>{escape(agreement(report))}</p>
{_figures(report)}
<h2>Every turn</h2>
<div class="wide">{table(report)}</div>
<h2>Questions and answers</h2>
{_answers(report)}
{_pictures(pictures)}
<h2>Model and machine</h2>
{_facts(report, machine)}
</body>
</html>
"""


def _variables(theme: Theme) -> str:
    colours = asdict(theme)
    return " ".join(f"--{name}: {colours[name]};" for name in _USED)


def last_turn(report: Report) -> tuple[tuple[str, str], ...]:
    """The last turn in three numbers, each with what it says."""
    warm, cold = report.rows("on")[-1], report.rows("off")[-1]
    return (
        (f"{warm.ttft_s:.2f} s", "first token of the last turn"),
        (f"{cold.ttft_s:.2f} s", "without the cache"),
        (f"{warm.reused_tokens:,}", f"of {warm.prompt_tokens:,} tokens reused"),
    )


def _numbers(report: Report) -> str:
    parts = last_turn(report)
    return '<div class="numbers">' + "".join(f"<div><b>{number}</b>{said}</div>" for number, said in parts) + "</div>"


def charts(report: Report) -> tuple[Chart, ...]:
    """Each chart as (name, SVG, legend), the legend as (colour, what it says)."""
    on, off = report.rows("on"), report.rows("off")
    return (
        (
            "Time to first token",
            first_token_chart(on, off),
            (("computed", "measured, with the cache"), ("cold", "cold, without")),
        ),
        ("Tokens of the prompt", tokens_chart(on), (("reused", "reused"), ("computed", "computed"))),
        ("Cache memory", memory_chart(on), (("reused", "held after the turn"),)),
    )


def _figures(report: Report) -> str:
    return "\n".join(
        f"<h2>{name}</h2>\n<figure>{chart}\n<figcaption>"
        + "".join(f'<i class="{colour}"></i>{said}' for colour, said in legend)
        + "</figcaption></figure>"
        for name, chart, legend in charts(report)
    )


def table(report: Report) -> str:
    """A row for each turn, as HTML."""
    rows = "\n".join(_row(report, warm, cold) for warm, cold in zip(report.rows("on"), report.rows("off"), strict=True))
    head = "".join(f"<th>{name}</th>" for name in HEADS)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _row(report: Report, warm: Row, cold: Row) -> str:
    aside = report.asides.get(warm.turn)
    question = escape(aside.question) if aside else ""
    notes = [aside.note, f"Conversation: {aside.conversation}" if report.script == "tree" else ""] if aside else []
    small = "".join(f"<small>{escape(note)}</small>" for note in notes if note)
    times = times_sooner(warm, cold)
    cells = (
        f"{warm.turn}",
        f"{question}{small}",
        f"{warm.prompt_tokens:,}",
        f"{warm.reused_tokens:,}",
        f"{warm.computed_tokens:,}",
        f"{warm.ttft_s:.2f} s",
        f"{cold.ttft_s:.2f} s",
        "–" if times is None else f"{times:.1f}×",
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _answers(report: Report) -> str:
    """Each turn folded: its question, and what was written."""
    return "\n".join(_folded(turn, aside) for turn, aside in sorted(report.asides.items()))


def _folded(turn: int, aside: Aside) -> str:
    others = f'<p class="soft">Without the cache:</p>{as_html(aside.cold_answer)}' if aside.cold_answer else ""
    return (
        f"<details><summary>{turn}. {escape(aside.question)}</summary>"
        f"{as_html(aside.answer) or NOTHING}{others}</details>"
    )


def _pictures(pictures: Sequence[Picture]) -> str:
    if not pictures:
        return ""
    shown = "\n".join(
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_inline(dark)}">'
        f'<img src="{_inline(light)}" alt="{escape(name)}"></picture><figcaption>{escape(name)}</figcaption></figure>'
        for name, light, dark in pictures
    )
    return f"<h2>On screen</h2>\n{shown}"


def _inline(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


def facts(report: Report, machine: str) -> dict[str, str]:
    """What the figures were measured with and on."""
    model = report.model
    exact = ", exact mode" if model.exact else ""
    return {
        "Model": f"{model.name} ({model.architecture}), {model.weights_bytes / 1e6:,.0f} MB",
        "Computed on": f"{model.device}, {model.dtype}{exact}",
        "Context": f"{model.context_length:,} tokens",
        "Cache": f"{model.kv_bytes_per_token:,} bytes a token, budget {model.cache_budget_bytes / 1e6:,.0f} MB",
        "Machine": machine,
        "Versions": ", ".join(f"{name} {version}" for name, version in report.versions.items()),
    }


def _facts(report: Report, machine: str) -> str:
    rows = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts(report, machine).items())
    return f"<dl>{rows}</dl>"
