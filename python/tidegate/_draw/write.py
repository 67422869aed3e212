"""A picture as a file: a drawing as SVG or PNG by the writers here, everything else by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.files import file_beside, write_text
from tidegate._draw.drawing import Drawing
from tidegate._draw.style import suffix_of, write

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure


def write_picture(picture: Drawing | Figure, path: Path) -> Path:
    """Write a drawing or a figure; the suffix says how.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
        OSError: the file cannot be written.
    """
    if not isinstance(picture, Drawing):
        return write(picture, path)
    kind = suffix_of(path)
    if kind == "svg":
        from tidegate._draw.svg import svg_text

        return write_text(path, svg_text(picture))
    if kind == "png":
        from tidegate._draw.png import png_bytes

        with file_beside(path) as work:
            work.write_bytes(png_bytes(picture))
        return path
    from tidegate._draw.onto import figure_of

    return write(figure_of(picture), path)


def written(picture: Drawing | Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Write a drawing or a figure where a path is given, and return the figure.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
        OSError: the file cannot be written.
    """
    if path is not None:
        write_picture(picture, Path(path))
    if not isinstance(picture, Drawing):
        return picture
    from tidegate._draw.onto import figure_of

    return figure_of(picture)
