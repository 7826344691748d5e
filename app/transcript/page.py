"""A conversation as one page: HTML that loads nothing from anywhere, and the same printed as PDF."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from string import Template

from markdown_it.renderer import RendererHTML
from PySide6.QtCore import QByteArray, QMarginsF, QRectF, QUrl
from PySide6.QtGui import QFont, QImage, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from app import theme
from app.exchange.writing import NAMES, moment
from app.history.talks import Said, Talk
from app.transcript.formula import INK, Drawing, draw, drawing
from app.transcript.markdown import page_parser
from engine import HeadstartError

Draw = Callable[[Drawing, bool], str]
"""A drawing of a formula as HTML; the second value says whether it stands by itself."""

SHARPNESS = 4
"""Dots of the picture of a formula for one pixel, in print."""

_PAGE = Template("""<!DOCTYPE html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>$title</title><style>
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 48em; margin: 2em auto; padding: 0 1em }
h2 { font-size: 1em; margin: 2em 0 .4em; opacity: .7 } .said { white-space: pre-wrap }
pre { padding: .8em; overflow-x: auto; background: #8881; border-radius: 6px } code { font-family: monospace }
table { border-collapse: collapse } td, th { border: 1px solid #8886; padding: .3em .6em }
blockquote, .thought { border-left: 3px solid #8886; margin-left: 0; padding-left: 1em; opacity: .8 }
.display { text-align: center }
</style></head><body><h1>$title</h1>
$body
</body></html>
""")
_PRINTED = Template("""<html><head><style>
pre { background-color: #f4f6f8; white-space: pre-wrap } table { border-collapse: collapse }
td, th { border: 1px solid #c0c4c8; padding: 4px } .display { text-align: center } .thought { color: #5b636d }
h2 { font-size: 11pt; color: #5b636d }
</style></head><body><h1>$title</h1>
$body
</body></html>
""")


def to_html(talk: Talk) -> str:
    """The branch in use as a page for a browser, its formulas drawn."""
    return _page(talk, _PAGE, _inline_svg)


def print_pdf(talk: Talk, path: Path) -> None:
    """The branch in use as PDF, on A4. Raises HeadstartError where it cannot be written."""
    document = QTextDocument()
    document.setDefaultFont(QFont(theme.text_font().families(), 10))
    pictures: list[QImage] = []

    def picture(found: Drawing, display: bool) -> str:
        pictures.append(_picture(found))
        address = f"formula:{len(pictures)}"
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(address), pictures[-1])
        height = found.ascent + found.descent
        return f'<img src="{address}" width="{found.width:.0f}" height="{height:.0f}" style="vertical-align: middle">'

    document.setHtml(_page(talk, _PRINTED, picture))
    try:
        path.write_bytes(b"")  # says why, where it cannot be written
    except OSError as error:
        raise HeadstartError(f"{path.name} could not be written: {error.strerror or error}.", str(error)) from error
    writer = QPdfWriter(str(path))
    writer.setTitle(talk.title)
    writer.setPageLayout(
        QPageLayout(QPageSize(QPageSize.PageSizeId.A4), QPageLayout.Orientation.Portrait, QMarginsF(18, 18, 18, 18),
                    QPageLayout.Unit.Millimeter)
    )  # fmt: skip
    document.print_(writer)


def _page(talk: Talk, page: Template, draw_one: Draw) -> str:
    parts = [f"<p>{escape(moment(talk.created))}</p>"] if talk.created else []
    if talk.system_prompt:
        parts.append(f'<h2>System prompt</h2><div class="said">{_plain(talk.system_prompt)}</div>')
    parts += [_message(said, draw_one) for said in talk.branch()]
    return page.substitute(title=escape(talk.title), body="\n".join(parts))


def _message(said: Said, draw_one: Draw) -> str:
    parts = [f"<h2>{NAMES[said.role]}</h2>"]
    parts += [f"<p><i>Attached: {escape(file.title)}</i></p>" for file in said.files]
    if said.thought:
        parts.append(f'<div class="thought">{_markdown(said.thought, draw_one)}</div>')
    if said.role == "assistant":
        parts.append(_markdown(said.content, draw_one))
    elif said.content:
        parts.append(f'<div class="said">{_plain(said.content)}</div>')
    for call in said.tool_calls:
        parts.append(f"<p><i>Asked for {escape(call.name)}:</i> <code>{escape(call.arguments)}</code></p>")
    return "\n".join(parts)


def _plain(text: str) -> str:
    return escape(text).replace("\n", "<br>\n")


def _markdown(text: str, draw_one: Draw) -> str:
    """What a model wrote, as HTML. HTML in it is text, and a picture is a link: nothing is loaded."""
    parser = page_parser()
    tokens = parser.parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    formulas = [each for each in (*tokens, *inline) if each.type == "formula"]
    draw({(each.content, each.markup in ("$$", "\\[")) for each in formulas})

    def formula(renderer: RendererHTML, tokens: list, place: int, options: object, env: object) -> str:
        token = tokens[place]
        display = token.markup in ("$$", "\\[")
        found = drawing(token.content, display)
        shown = draw_one(found, display) if found else f"<code>{escape(token.info)}</code>"
        return f'<p class="display">{shown}</p>' if token.block else shown

    parser.add_render_rule("formula", formula)
    parser.add_render_rule("open_formula", lambda renderer, tokens, place, *_: f"<p>{escape(tokens[place].info)}</p>")
    parser.add_render_rule("image", _link)
    return str(parser.renderer.render(tokens, parser.options, {}))


def _link(renderer: RendererHTML, tokens: list, place: int, options: object, env: object) -> str:
    """A picture of the web as a link to it."""
    address = str(tokens[place].attrGet("src") or "")
    return f'<a href="{escape(address)}">{escape(tokens[place].content or address)}</a>'


def _inline_svg(found: Drawing, display: bool) -> str:
    svg = found.svg.replace(INK, "currentColor").replace(
        "<svg ", f'<svg style="vertical-align: {-found.descent}px" ', 1
    )
    return svg.replace("<ns0:", "<").replace("</ns0:", "</")


def _picture(found: Drawing) -> QImage:
    height = found.ascent + found.descent
    image = QImage(
        max(1, round(found.width * SHARPNESS)), max(1, round(height * SHARPNESS)), QImage.Format.Format_ARGB32
    )
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(found.svg.replace(INK, "#000000").encode())).render(painter, QRectF(image.rect()))
    painter.end()
    return image
