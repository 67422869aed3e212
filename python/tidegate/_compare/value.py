"""The value that a comparison of variants is: told, drawn and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._compare.variants import Variants
from tidegate._run.kept import Kept, Paged

if TYPE_CHECKING:
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")


@checked_methods
class Comparison(Variants, Kept, Paged):
    """Variants of one scenario, run over the same network.

    ``table`` is one row per variant; ``variants`` holds the runs themselves.
    """

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        gate: str | None = None,
        show: Sequence[str] | None = None,
        x: str | None = None,
        y: str | None = None,
        kind: str | None = None,
    ) -> mpl.Figure:
        """Draw the variants side by side; write PNG, SVG or PDF by the path's suffix.

        ``gate`` is the one to show; left out, the one that was compared. ``show`` names the panels of a
        row: ``cwnd``, ``goodput``, ``delay``, ``queue``, ``tokens``; left out, goodput, delay and queue,
        and none where there are more than 12 variants. With ``x`` each variant is a point instead, at two of
        its numbers, such as ``queue_delay_p99_ms`` and ``y``; left out, ``y`` is ``goodput_bps``.
        ``kind``: ``"lines"`` or ``"map"``, a heat map over two varied keys with numbers; left out, a map
        where both have five values or more and nothing else is asked for.

        Raises:
            UnknownNameError: a variant has no gate or number of this name, or there is no such panel.
            ArgumentError: the runs have nothing for a panel, ``show`` and ``x`` are both given, ``y`` without
                ``x``, or the suffix is none of .png, .svg, .pdf.
            OSError: the file cannot be written.
        """
        from tidegate._compare.picture import chosen
        from tidegate._draw.write import written

        return written(chosen(at_gate(self, gate), show, x, y, kind), path)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        from tidegate._compare.folder import fill_comparison

        fill_comparison(self, work)

    def report(self) -> str:
        """Return the table for people."""
        from tidegate._compare.text import report

        return report(self)

    def page(self) -> str:
        """Return the report as one self-contained HTML page: tables, picture, scenario and command."""
        from tidegate._compare.page import comparison_page

        return comparison_page(self)

    def _repr_html_(self) -> str:
        from tidegate._compare.page import comparison_fragment

        return comparison_fragment(self)

    def __repr__(self) -> str:
        return (
            f"<tidegate.Comparison {self.title!r}, {len(self.variants)} variants of "
            f"{', '.join(self.axes)}, seed {self.seed}>"
        )


def at_gate(comparison: Comparison, gate: str | None) -> Comparison:
    """Return a comparison with the numbers of another gate; None: it as it is.

    Raises:
        UnknownNameError: a variant has no gate of this name.
    """
    if gate is None:
        return comparison
    for variant in comparison.variants:
        variant.run.gates.row(gate)
    return Comparison(comparison.title, comparison.axes, comparison.variants, gate, comparison.columns)
