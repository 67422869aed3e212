"""The folder of a comparison of engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._run.several import fill_part, write_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._compare.agreement import Agreement


def fill_engines(comparison: Agreement, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    from tidegate._compare.engines_plot import engines_figure
    from tidegate._draw.style import write

    entries = []
    for each in comparison.engines:
        runs = enumerate(each.runs, start=1)
        folders = [fill_part(run, work, f"{each.engine}-{number:02d}") for number, run in runs]
        entries.append({"engine": each.engine, "folders": folders})
    held = {
        "gate": comparison.gate,
        "tolerance": comparison.tolerance,
        "engines": entries,
        "missing": comparison.missing,
    }
    write_manifest(work, "engines", comparison, comparison.engines[0].runs[0], held)
    write(engines_figure(comparison), work / "engines.png")
