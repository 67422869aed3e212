"""How pictures look: greys and one accent, for screen and for black-and-white print.

Figures are made without any global state of matplotlib, so they can be drawn in threads and
without a display.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.files import file_beside
from tidegate._base.written import check_target
from tidegate._draw.tokens import GRID, INK, MID

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

#: Pixels of one inch of a PNG.
DPI = 160

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": MID,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MID,
    "ytick.color": MID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "hatch.linewidth": 0.4,
    "svg.hashsalt": "tidegate",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "path.simplify": True,
    "savefig.dpi": DPI,
}

#: Nothing of the day or the machine goes into a picture: the same run, the same file.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "tidegate"},
    "pdf": {"CreationDate": None, "Creator": "tidegate", "Producer": "tidegate"},
}


def suffix_of(path: Path) -> str:
    """Tell the picture's format.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf, or there is no such folder.
    """
    check_target(path, "picture")
    return path.suffix.lower().removeprefix(".")


def write(figure: Figure, path: Path) -> Path:
    """Write a figure; the suffix says how.

    Raises:
        ArgumentError: the suffix is none of .png, .svg, .pdf.
        OSError: the file cannot be written.
    """
    # Tokens and names of files are known without it.
    import matplotlib as mpl

    kind = suffix_of(path)
    with mpl.rc_context(STYLE), file_beside(path) as work:
        figure.savefig(work, format=kind, metadata=METADATA[kind])
    return path
