"""Pictures as parts of a page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from tidegate._draw.drawing import Drawing
from tidegate._draw.style import METADATA, STYLE
from tidegate._draw.svg import svg_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def svg_of(picture: Drawing | Figure, name: str) -> str:
    """Return a picture as SVG for a page in which nothing else has this name."""
    if isinstance(picture, Drawing):
        return inline(svg_text(picture), name)
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        picture.savefig(buffer, format="svg", metadata=METADATA["svg"])
    return inline(buffer.getvalue(), name)


def inline(svg: str, name: str) -> str:
    """Return the picture as it stands in a page: without a prolog, its ids its own."""
    body = svg[svg.index("<svg") :]
    ids = dict.fromkeys(re.findall(r'\bid="([^"]+)"', body))
    for known in sorted(ids, key=len, reverse=True):
        body = body.replace(f'"{known}"', f'"{name}-{known}"').replace(f'"#{known}"', f'"#{name}-{known}"')
        body = body.replace(f"url(#{known})", f"url(#{name}-{known})")
    return body
