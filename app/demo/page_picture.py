"""The demo's page as a picture, for where no browser is at hand: the same values as on the page, painted by Qt."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QByteArray, QRectF, QSize, QSizeF, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QPainter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from app import theme
from app.demo.page import Answered, Page, body, table
from app.demo.page_charts import HEIGHT, WIDTH, Chart
from app.theme import Theme

PAGE_WIDTH, MARGIN = 920, 40
SCALE = 1.5
"""Pixels of the picture for each pixel of the page."""
TABLE = '<table cellspacing="0" cellpadding="0" style="margin-top: 16px; margin-bottom: 16px">'
"""One whose text stands at the edge of the page's."""
CHART_WIDTH = PAGE_WIDTH - 2 * MARGIN - 8
"""Tables as wide as the text would widen the page by their frame."""


def as_picture(page: Page, colours: Theme) -> QImage:
    """The page in one theme, in the same order, all answers unfolded, without pictures. Needs a QGuiApplication."""
    document = QTextDocument()
    document.setDocumentMargin(MARGIN)
    document.setDefaultFont(theme.text_font())
    document.setDefaultStyleSheet(_style(colours))
    for number, chart in enumerate(page.charts):
        document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{number}"), _painted(chart.svg, colours)
        )
    document.setHtml(_html(page, colours))
    document.setTextWidth(PAGE_WIDTH)
    return _paint(document, colours)


def _paint(document: QTextDocument, colours: Theme) -> QImage:
    size: QSizeF = document.size()
    image = QImage((size * SCALE).toSize(), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(QColor(colours.page))
    painter = QPainter(image)
    document.drawContents(painter)
    painter.end()
    return image


def _painted(svg: str, colours: Theme) -> QImage:
    """One chart with the colours of the theme, which SVG by itself does not know."""
    image = QImage(QSize(CHART_WIDTH, CHART_WIDTH * HEIGHT // WIDTH) * SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(0, 0, CHART_WIDTH, CHART_WIDTH * HEIGHT / WIDTH)
    QSvgRenderer(QByteArray(coloured(svg, colours).encode())).render(painter, box)
    painter.end()
    return image


def coloured(svg: str, colours: Theme) -> str:
    """The SVG of a chart that needs no style sheet of a page."""
    attributes = {
        'class="reused"': f'fill="{colours.reused}"',
        'class="computed"': f'fill="{colours.computed}"',
        'class="cold"': f'fill="{colours.cold}"',
        'class="value"': f'fill="{colours.soft}" text-anchor="end" font-size="11"',
        'class="turn"': f'fill="{colours.soft}" text-anchor="middle" font-size="11"',
        "<line ": f'<line stroke="{colours.line}" ',
        "<svg ": '<svg xmlns="http://www.w3.org/2000/svg" ',
    }
    for found, wanted in attributes.items():
        svg = svg.replace(found, wanted)
    return svg


def _style(colours: Theme) -> str:
    return f"""
        body, p, pre, td, h1, h2 {{ color: {colours.text}; }}
        p, pre {{ margin-top: 0; margin-bottom: 8px; }}
        .asked {{ margin-top: 20px; margin-bottom: 4px; }}
        .other {{ margin-bottom: 2px; }}
        th, .soft, small {{ color: {colours.soft}; font-weight: 400; }}
        h1 {{ font-size: 24px; }}
        h2 {{ font-size: 17px; margin-top: 28px; margin-bottom: 8px; }}
    """


def _html(page: Page, colours: Theme) -> str:
    answers = "".join(map(_answer, page.answers))
    figures = "".join(_figure(number, chart, colours) for number, chart in enumerate(page.charts))
    numbers = "".join(
        f'<td style="padding-right: 48px"><span style="font-size: 30px; font-weight: 600">{number}</span><br>'
        f'<span class="soft">{said}</span></td>'
        for number, said in page.numbers
    )
    facts = "".join(
        f'<tr><td class="soft" style="padding-right: 16px">{name}</td><td>{escape(text)}</td></tr>'
        for name, text in page.facts
    )
    return body(
        page,
        numbers=f"{TABLE}<tr>{numbers}</tr></table>",
        figures=figures,
        table=table(page, f' width="{CHART_WIDTH}" cellspacing="0" cellpadding="5"'),
        answers=answers,
        facts=f"{TABLE}{facts}</table>",
    )


def _figure(number: int, chart: Chart, colours: Theme) -> str:
    squares = (f'<span style="color: {getattr(colours, name)}">■</span> {said}' for name, said in chart.legend)
    picture = f'<img src="chart:{number}" width="{CHART_WIDTH}">'
    return f'<h2>{chart.name}</h2><p>{picture}</p><p class="soft">{" &nbsp; ".join(squares)}</p>'


def _answer(answered: Answered) -> str:
    cold = answered.cold_html
    other = f'<p class="other"><span class="soft">Without the cache:</span></p>{cold}' if cold else ""
    return f'<p class="asked"><b>{escape(answered.question)}</b></p>{answered.html}{other}'
