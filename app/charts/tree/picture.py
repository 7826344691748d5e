"""Paints the tree of runs: blocks coloured by age, pinned ones deep blue, those on disk only hollow with a bar.

Each carries as many words as it has room for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.charts.plot import mixed
from app.charts.tree import words as tree_words
from app.charts.tree.camera import Camera
from app.charts.tree.layout import TreeLayout
from app.charts.tree.words import Titles
from app.language import numeral, plural, tr
from app.theme import BODY, SMALL, Theme, text_font
from engine import NodeView

STRENGTHS = (0.6, 0.4, 0.24, 0.1)
"""How strongly each step of tree_words.AGES is filled with the colour of reuse."""

PADDING = 8.0
BAR = 4.0
"""What a run on disk only leaves free for the bar in it."""
LINE = 17.0
PILL = 16.0


@dataclass(slots=True)
class Painted:
    """What one repaint drew: blocks, and those among them that carry words."""

    blocks: int = 0
    worded: int = 0


def fill_of(theme: Theme, node: NodeView) -> QColor:
    """The colour of a run: deep blue where it is pinned, none of its own where it is on disk only, else the lighter the
    longer it was not used."""
    if node.pinned or tree_words.is_behind(node):
        return QColor(theme.pinned if node.pinned else theme.page)
    return mixed(theme.reused, theme.page, STRENGTHS[tree_words.age_step(node.idle_s)])


def text_on(theme: Theme, node: NodeView) -> QColor:
    """The colour of words on a run."""
    return QColor(theme.page if node.pinned else theme.text)


class TreePicture:
    """One painting of a layout through a camera. `current` is outlined."""

    def __init__(self, layout: TreeLayout, camera: Camera, titles: Titles, theme: Theme, current: int = -1) -> None:
        self._layout = layout
        self._camera = camera
        self._titles = titles
        self._theme = theme
        self._current = current
        self._bold = text_font(BODY, bold=True)
        self._small = text_font(SMALL)

    def paint(self, painter: QPainter) -> Painted:
        """Draw what is in view; runs that would fall on the same pixels are drawn once."""
        done = Painted()
        view = QRectF(0, 0, self._camera.view_width, self._camera.view_height)
        for index, block in self._visible(view):
            done.blocks += 1
            self._paint_block(painter, self._layout.nodes[index], block)
            seen = block.intersected(view)
            if seen.height() >= LINE and seen.width() >= 3 * PADDING:
                done.worded += 1
                painter.save()
                painter.setClipRect(seen)
                bar = BAR if tree_words.is_behind(self._layout.nodes[index]) else 0
                self._paint_words(painter, index, seen.adjusted(PADDING + bar, 0, -PADDING, 0))
                painter.restore()
        if 0 <= self._current < len(self._layout.boxes):
            self._paint_outline(painter, self.block(self._current))
        return done

    def block(self, index: int) -> QRectF:
        """Where a run lies in the view, in pixels."""
        box = self._layout.boxes[index]
        left, top = self._camera.to_view(box.x, box.y)
        right, bottom = self._camera.to_view(box.x + box.width, box.y + box.height)
        return QRectF(QPointF(round(left), top), QPointF(round(right), bottom))

    def _visible(self, view: QRectF) -> Iterator[tuple[int, QRectF]]:
        stack = list(reversed(self._layout.roots))
        taken: dict[int, int] = {}
        while stack:
            index = stack.pop()
            block, depth = self.block(index), self._layout.boxes[index].depth
            if block.bottom() < view.top() or block.top() > view.bottom() or block.left() > view.right():
                continue
            thin = block.height() < 1
            if thin and int(block.top()) < taken.get(depth, -1):
                continue  # its row of pixels is taken by a run above, and so is that of all behind it
            if block.right() > view.left():
                yield index, block
            if thin:
                taken[depth] = int(block.top()) + 1
            stack.extend(reversed(self._layout.children[index]))

    def _paint_block(self, painter: QPainter, node: NodeView, block: QRectF) -> None:
        fill, is_hollow = fill_of(self._theme, node), tree_words.is_behind(node)
        if block.height() < 4 or block.width() < 4:
            fill = mixed(self._theme.reused, self._theme.page, STRENGTHS[-1]) if is_hollow else fill
            painter.fillRect(QRectF(block.left(), block.top(), block.width() - 1, max(1.0, block.height())), fill)
            return
        inner = block.adjusted(0.5, 0.5, -1.5, -1.5)
        painter.setBrush(fill)
        edge = mixed(self._theme.reused, fill.name(), 1.0 if is_hollow else 0.5)
        painter.setPen(QPen(fill if node.pinned else edge, 1))
        radius = 3.0 if block.height() >= 10 and block.width() >= 10 else 0.0
        painter.drawRoundedRect(inner, radius, radius)
        if is_hollow:
            gap = min(4.0, inner.height() / 4)
            painter.fillRect(QRectF(inner.left() + 3, inner.top() + gap, 3, inner.height() - 2 * gap), edge)

    def _paint_words(self, painter: QPainter, index: int, room: QRectF) -> None:
        node = self._layout.nodes[index]
        colour = text_on(self._theme, node)
        name, tail = tree_words.name_and_tail(self._layout, index, self._titles)
        if room.height() < 2 * LINE:
            middle = QRectF(room.left(), room.center().y() - LINE / 2, room.width(), LINE)
            tokens = tree_words.tokens_of(node)
            texts = (
                f"{name}{tail}  {tokens}",
                f"{name}  {tokens}",
                tr("{name}  {tokens:,}", name=name, tokens=node.tokens),
                name,
            )
            self._paint_line(painter, middle, self._small, colour, *texts)
            return
        pills = badges(node) if room.height() >= 2 * LINE + PILL + 12 else []
        top = room.center().y() - (2 * LINE + (PILL + 5 if pills else 0)) / 2
        line = QRectF(room.left(), top, room.width(), LINE)
        self._paint_line(painter, line, self._bold, colour, name)
        tokens = plural("{count:,} token", "{count:,} tokens", node.tokens)
        tokens += f" {tree_words.place(node)}" if tree_words.is_behind(node) and not pills else ""
        small = (f"{tokens} · {tree_words.age(node.idle_s)}", tokens, numeral(node.tokens, ","))
        self._paint_line(painter, line.translated(0, LINE), self._small, colour, *small)
        self._paint_pills(painter, QPointF(room.left(), top + 2 * LINE + 5), room.right(), colour, pills)

    def _paint_line(self, painter: QPainter, line: QRectF, font: QFont, colour: QColor, *texts: str) -> None:
        """The first of the texts there is room for; the last one is cut."""
        painter.setFont(font)
        painter.setPen(colour)
        metrics = QFontMetricsF(font)
        text = next((text for text in texts if metrics.horizontalAdvance(text) <= line.width()), texts[-1])
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_pills(self, painter: QPainter, corner: QPointF, right: float, colour: QColor, pills: list[str]) -> None:
        painter.setFont(self._small)
        metrics, left = QFontMetricsF(self._small), corner.x()
        edge = QColor(colour)
        edge.setAlphaF(0.45)
        for text in pills:
            pill = QRectF(left + 0.5, corner.y() + 0.5, metrics.horizontalAdvance(text) + 12, PILL)
            if pill.right() > right:
                return
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(edge, 1))
            painter.drawRoundedRect(pill, PILL / 2, PILL / 2)
            painter.setPen(colour)
            painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, text)
            left = pill.right() + 4

    def _paint_outline(self, painter: QPainter, block: QRectF) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.text), 2))
        painter.drawRoundedRect(block.adjusted(0, 0, -1, -1), 3, 3)


def badges(node: NodeView) -> list[str]:
    """The small words on a run: on disk, pinned, hits, conversations."""
    found = [tree_words.place(node)] if tree_words.is_behind(node) else []
    found += [tr("pinned")] if node.pinned else []
    if node.hits:
        found.append(tree_words.hits(node.hits))
    if len(node.conversations) > 1:
        found.append(plural("{count:,} conversation", "{count:,} conversations", len(node.conversations)))
    return found
