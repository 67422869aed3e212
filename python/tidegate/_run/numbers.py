"""Every number of a run, by the names that expectations and columns have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._run.metric import KINDS, WORDS, elements
from tidegate._run.summary import figures_of
from tidegate._run.table import flat

if TYPE_CHECKING:
    import polars as pl

    from tidegate._run.record import Recorded


def numbers(run: Recorded) -> pl.DataFrame:
    """Return ``number`` and ``value``, a row each; what the run has none of is left out."""
    import polars as pl

    found = dict(figures_of(run.summary, None)) if run.summary["flows"] else {}
    for kind in KINDS:
        for name, row in elements(kind, run.summary).items():
            found |= {f"{kind}.{name}.{key}": value for key, value in flat(row).items() if key not in WORDS}
    kept = {
        name: float(value)
        for name, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return pl.DataFrame(
        {"number": list(kept), "value": list(kept.values())},
        schema={"number": pl.String, "value": pl.Float64},
    )
