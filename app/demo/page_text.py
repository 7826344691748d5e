"""An answer of the model on the demo's page: its Markdown as plain HTML, which a browser and Qt both show."""

from __future__ import annotations

from html import escape

from app.transcript.markdown import Block, Run, parse


def as_html(markdown: str) -> str:
    """Paragraphs with what is bold, slanted, struck through or code in them; list items keep their marker."""
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
