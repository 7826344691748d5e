"""Which part of the tree is seen and how large: from all of it in the window to twice its natural size. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

ROW = 34.0
"""Pixels of a row at natural size."""
STEP = 0.2
"""How far one step of the wheel or of a key zooms."""
CLOSEST = 2.0
TALLEST_ROW, WIDEST = 64.0, 1.5
"""A small tree is not blown up beyond these (pixels of a row, times its natural width) to fill the window."""
MARGIN = 16.0
"""Pixels around the tree."""


@dataclass(slots=True)
class Camera:
    """`zoom` 0 shows the whole tree, 1 its natural size, up to CLOSEST beyond; across and down are scaled each for
    itself below 1, so that a tall tree fills the window. Pixels are those of the view."""

    width: float = 1.0
    rows: float = 1.0
    view_width: float = 1.0
    view_height: float = 1.0
    zoom: float = 0.0
    left: float = -MARGIN
    top: float = -MARGIN

    @property
    def farthest(self) -> float:
        """The zoom at which all is seen: 0, or 1 for a tree that has room at its natural size."""
        return 1.0 if self._fit_x >= 1.0 and self._fit_y >= ROW else 0.0

    @property
    def fits(self) -> bool:
        """Whether the whole tree is in view and stays so when it changes."""
        return self.zoom <= self.farthest

    @property
    def scale_x(self) -> float:
        """View pixels for one pixel of the layout."""
        return _scale(self._fit_x, 1.0, self.zoom)

    @property
    def scale_y(self) -> float:
        """View pixels for one row."""
        return _scale(self._fit_y, ROW, self.zoom)

    def show(self, width: float, rows: float, view_width: float, view_height: float) -> None:
        """Show another tree, or this one in another window size. Where all was in view it is again; otherwise the top
        left corner stays."""
        fitted = self.fits
        self.width, self.rows = max(1.0, width), max(1.0, rows)
        self.view_width, self.view_height = max(1.0, view_width), max(1.0, view_height)
        if fitted or self.fits:
            self.fit()
        self._stay_inside()

    def fit(self) -> None:
        """Show the whole tree."""
        self.zoom, self.left, self.top = self.farthest, -MARGIN, -MARGIN

    def zoom_by(self, steps: float, x: float, y: float) -> None:
        """Zoom in by so many steps (out where negative). The point of the tree at this pixel stays there."""
        at_x, at_y = self.to_tree(x, y)
        zoom = round(self.zoom + STEP * steps, 6)
        self.zoom = min(CLOSEST, max(self.farthest, zoom))
        self.left, self.top = at_x * self.scale_x - x, at_y * self.scale_y - y
        self._stay_inside()

    def pan(self, dx: float, dy: float) -> None:
        """Move the tree by so many pixels."""
        self.left -= dx
        self.top -= dy
        self._stay_inside()

    def reveal(self, x: float, y: float, width: float, height: float) -> None:
        """Move as little as needed to bring a box of the tree into view; a large one by its top left."""
        left, right = x * self.scale_x, (x + width) * self.scale_x
        top, bottom = y * self.scale_y, (y + height) * self.scale_y
        self.left = min(max(self.left, right - self.view_width), left)
        self.top = min(max(self.top, bottom - self.view_height), top)
        self._stay_inside()

    def to_tree(self, x: float, y: float) -> tuple[float, float]:
        """The point of the layout at a pixel of the view."""
        return (x + self.left) / self.scale_x, (y + self.top) / self.scale_y

    def to_view(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of the view at a point of the layout."""
        return x * self.scale_x - self.left, y * self.scale_y - self.top

    @property
    def _fit_x(self) -> float:
        return min(WIDEST, max(1.0, self.view_width - 2 * MARGIN) / self.width)

    @property
    def _fit_y(self) -> float:
        return min(TALLEST_ROW, max(1.0, self.view_height - 2 * MARGIN) / self.rows)

    def _stay_inside(self) -> None:
        right = self.width * self.scale_x + MARGIN - self.view_width
        bottom = self.rows * self.scale_y + MARGIN - self.view_height
        self.left = max(-MARGIN, min(self.left, right))
        self.top = max(-MARGIN, min(self.top, bottom))


def _scale(fit: float, natural: float, zoom: float) -> float:
    """From what fits at zoom 0 to the natural size at 1, where that is larger, and then on in proportion."""
    natural = max(fit, natural)
    return natural * zoom if zoom >= 1 else float(fit * (natural / fit) ** zoom)
