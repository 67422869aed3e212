"""A drawing as a file: SVG by the writer of this folder, PNG and PDF by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.files import write_text
from tidegate._draw.style import suffix_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._draw.drawing import Drawing


def write_drawing(drawing: Drawing, path: Path) -> Path:
    """Write a drawing; the suffix says how.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
        OSError: the file cannot be written.
    """
    if suffix_of(path) == "svg":
        from tidegate._draw.svg import svg_text

        return write_text(path, svg_text(drawing))
    from tidegate._draw.onto import figure_of

    return write(figure_of(drawing), path)
