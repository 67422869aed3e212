"""The value that a run is: drawn and kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._base.text import counted
from tidegate._run.kept import Paged
from tidegate._run.record import Recorded

if TYPE_CHECKING:
    import polars as pl
    from matplotlib import figure as mpl
else:
    mpl = Lazy("matplotlib.figure")
    pl = Lazy("polars")


@checked_methods
class Run(Recorded, Paged):
    """The result of a run.

    ``flows`` and ``gates`` are data frames with one row each, whose rows know their
    history: ``run.gates["bottleneck"].series("queue")``. ``groups`` has a row for each flow of
    ``record.groups``: its copies together. ``requests`` is one as well, of the flows
    with requests and of all of them together (``run.requests["all"]``); elsewhere empty. ``traffic``
    has a row for each background source and ``traffic_groups`` one for each group of them and one of all
    (``run.traffic_groups["all"]``), with one-way delay, interarrival jitter and loss. ``pools``
    and ``calls`` are the same for pools and for sources of calls; they have no history. Goodput
    counts payload only; throughput and gate rates count every header.
    """

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the run folder: manifest, summary, columns, and the pcap if there is one.

        The folder appears whole or not at all. ``force`` replaces a folder that holds a
        run; nothing else is ever replaced.

        Raises:
            RunFolderError: the folder is there already.
            ArgumentError: the scenario's file, or a trace, is in the folder that would be replaced.
            OSError: it cannot be written.
        """
        from tidegate._run.folder import save_run

        return save_run(self, Path(folder), force=force)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        gate: str | None = None,
        show: Sequence[str] | None = None,
    ) -> mpl.Figure:
        """Draw the run on one time axis; write PNG, SVG or PDF by the path's suffix.

        Args:
            path: where to write; left out, the figure is only returned.
            gate: whose rate and queue to show; left out, the recorded one that holds flows back most.
            show: panels: ``cwnd``, ``goodput``, ``delay``, ``responses``, ``queue``, ``tokens``; left
                out, those that say something of this run.

        Raises:
            NotRecordedError: the run kept only its summary, or did not record this gate.
            UnknownNameError: there is no such gate or panel.
            ArgumentError: this run has nothing for a panel, or the suffix is none of .png, .svg, .pdf.
        """
        from tidegate._draw.write import written
        from tidegate._run.plot import run_drawing

        return written(run_drawing(self, gate=gate, show=show), path)

    def report(self) -> str:
        """Return the tables as text for people, as ``tidegate run`` prints them."""
        if self.summary["engine"] == "theory":
            from tidegate._run.text_theory import theory_report

            return theory_report(self.summary, self.title)
        from tidegate._run.text import run_report

        return run_report(self.summary, self.title)

    def page(self) -> str:
        """Return the report as one self-contained HTML page: tables, picture, scenario and command."""
        from tidegate._run.page import run_page

        return run_page(self)

    def numbers(self) -> pl.DataFrame:
        """Return every number of the summary, a row each: ``number`` and ``value``.

        ``number`` is its name as in expectations and columns, with its unit: ``flow.bulk.goodput_bps``.
        """
        from tidegate._run.numbers import numbers

        return numbers(self)

    def write_flent(self, path: str | os.PathLike[str]) -> Path:
        """Write a data file of flent (format 4), which flent plots: ``.flent.gz``, or ``.flent`` unpacked.

        The test is ``tcp_ndown``: for each flow payload in Mbit/s, window and round trip in steps of 0.2 s
        (a fiftieth of a short run). The same run gives the same bytes.

        Raises:
            ArgumentError: the suffix is neither, or the run has no flow.
            NotRecordedError: the run kept only its summary, or no column ``delivered_bytes``.
            OSError: the file cannot be written.
        """
        from tidegate._run.flent import write_flent

        return write_flent(self, Path(path))

    def _repr_html_(self) -> str:
        from tidegate._run.page import run_fragment

        return run_fragment(self)

    def __repr__(self) -> str:
        chance = "" if self.seed is None else f"seed {self.seed}, "
        return (
            f"<tidegate.Run {self.title!r}, {chance}{self.summary['engine']}: "
            f"{counted(len(self.flows), 'flow')}, {counted(len(self.gates), 'gate')}, "
            f"{self.summary['duration_s']:g} s>"
        )
