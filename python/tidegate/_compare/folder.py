"""The folder of a comparison of variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._run.several import fill_part, write_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._compare.variants import Variants


def fill_comparison(comparison: Variants, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    from tidegate._compare.plot import comparison_drawing
    from tidegate._draw.write import write_picture

    names = []
    for number, variant in enumerate(comparison.variants, start=1):
        names.append({"folder": fill_part(variant.run, work, f"{number:02d}"), "set": variant.changes})
    held = {
        "vary": comparison.axes,
        "gate": comparison.gate,
        "columns": comparison.columns,
        "variants": names,
    }
    write_manifest(work, "comparison", comparison, comparison.variants[0].run, held)
    write_picture(comparison_drawing(comparison), work / "comparison.png")
