"""PNG from the writer of SVG: resvg draws its text, which takes less than half of matplotlib's time."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._draw.style import DPI
from tidegate._draw.svg import svg_text

if TYPE_CHECKING:
    from tidegate._draw.drawing import Drawing

#: Pixels of one inch of SVG (CSS Values and Units Level 3, §5.2).
_CSS_DPI = 96
#: The font whose widths the layout counts with; matplotlib brings the files.
_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")


def png_bytes(drawing: Drawing) -> bytes:
    """Return a drawing as PNG; the same drawing is the same bytes, whatever fonts the machine has."""
    import resvg_py

    found = find_spec("matplotlib")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("matplotlib, whose fonts pictures are written with", name="matplotlib")
    fonts = Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg_text(drawing),
            dpi=_CSS_DPI,
            zoom=DPI / _CSS_DPI,
            skip_system_fonts=True,
            font_files=[str(fonts / name) for name in _FONTS],
        )
    )
