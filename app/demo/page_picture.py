"""The demo's page as a picture, for where no browser is at hand: the same figures and sentences, painted by Qt."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QByteArray, QRectF, QSize, QSizeF, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QPainter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from app import theme
from app.demo.page import METHOD, NOTHING, TITLES, Chart, charts, facts, last_turn, table
from app.demo.page_charts import HEIGHT, WIDTH
from app.demo.page_text import as_html
from app.demo.report import Aside, Report
from app.demo.report_words import agreement, gain
from app.theme import Theme

PAGE_WIDTH, MARGIN = 920, 40
_NUMBER = re.compile(r"<td>(–|[\d,.]+(?: s|×)?)</td>")
SCALE = 1.5
"""Pixels of the picture for each pixel of the page."""
TABLE = '<table cellspacing="0" cellpadding="0" style="margin-top: 16px; margin-bottom: 16px">'
"""One whose text stands at the edge of the page's."""
CHART_WIDTH = PAGE_WIDTH - 2 * MARGIN - 8
"""Tables as wide as the text would widen the page by their frame."""


def as_picture(report: Report, machine: str, colours: Theme) -> QImage:
    """The page in one theme, in the same order, all answers unfolded, without pictures. Needs a QGuiApplication."""
    document = QTextDocument()
    document.setDocumentMargin(MARGIN)
    document.setDefaultFont(theme.text_font())
    document.setDefaultStyleSheet(_style(colours))
    for number, (_, chart, _) in enumerate(charts(report)):
        document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{number}"), _painted(chart, colours)
        )
    document.setHtml(_html(report, machine, colours))
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


def _painted(chart: str, colours: Theme) -> QImage:
    """One chart with the colours of the theme, which SVG by itself does not know."""
    image = QImage(QSize(CHART_WIDTH, CHART_WIDTH * HEIGHT // WIDTH) * SCALE, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(0, 0, CHART_WIDTH, CHART_WIDTH * HEIGHT / WIDTH)
    QSvgRenderer(QByteArray(coloured(chart, colours).encode())).render(painter, box)
    painter.end()
    return image


def coloured(chart: str, colours: Theme) -> str:
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
        chart = chart.replace(found, wanted)
    return chart


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


def _html(report: Report, machine: str, colours: Theme) -> str:
    figures = "".join(_figure(number, chart, colours) for number, chart in enumerate(charts(report)))
    answers = "".join(_answer(turn, aside) for turn, aside in sorted(report.asides.items()))
    return f"""
        <h1>{escape(TITLES[report.script])}</h1>
        <p>{escape(report.about)} {METHOD}</p>
        {_numbers(report)}
        <p>{escape(gain(report))}</p>
        <p>{escape(agreement(report))}</p>
        {figures}
        <h2>Every turn</h2>
        {_table(report)}
        <h2>Questions and answers</h2>
        {answers}
        <h2>Model and machine</h2>
        {_facts(report, machine)}
    """


def _figure(number: int, chart: Chart, colours: Theme) -> str:
    name, _, legend = chart
    picture = f'<img src="chart:{number}" width="{CHART_WIDTH}">'
    return f'<h2>{name}</h2><p>{picture}</p><p class="soft">{_legend(legend, colours)}</p>'


def _numbers(report: Report) -> str:
    cells = "".join(
        f'<td style="padding-right: 48px"><span style="font-size: 30px; font-weight: 600">{number}</span><br>'
        f'<span class="soft">{said}</span></td>'
        for number, said in last_turn(report)
    )
    return f"{TABLE}<tr>{cells}</tr></table>"


def _table(report: Report) -> str:
    """Qt aligns a cell by its own attribute only: numbers to the right, questions to the left."""
    made = _NUMBER.sub(r'<td align="right">\1</td>', table(report)).replace("<small>", "<br><small>")
    made = made.replace("<th>question", '<th align="left">question').replace("<th>", '<th align="right">')
    return made.replace("<table>", f'<table width="{CHART_WIDTH}" cellspacing="0" cellpadding="5">')


def _legend(legend: tuple[tuple[str, str], ...], colours: Theme) -> str:
    return " &nbsp; ".join(f'<span style="color: {getattr(colours, name)}">■</span> {said}' for name, said in legend)


def _answer(turn: int, aside: Aside) -> str:
    other = (
        f'<p class="other"><span class="soft">Without the cache:</span></p>{as_html(aside.cold_answer)}'
        if aside.cold_answer
        else ""
    )
    return f'<p class="asked"><b>{turn}. {escape(aside.question)}</b></p>{as_html(aside.answer) or NOTHING}{other}'


def _facts(report: Report, machine: str) -> str:
    rows = "".join(
        f'<tr><td class="soft" style="padding-right: 16px">{name}</td><td>{escape(text)}</td></tr>'
        for name, text in facts(report, machine).items()
    )
    return f"{TABLE}{rows}</table>"
