"""What a comparison of variants knows: their runs, and their numbers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import checked_methods
from tidegate._base.lazy import Lazy
from tidegate._run.chance import advice, are_alike, no_difference
from tidegate._run.completion import lengths_named
from tidegate._run.metric import metric_of
from tidegate._run.summary import figures_of, main_gate
from tidegate._run.tcp_words import tcp_words
from tidegate._run.value import Run
from tidegate._run.varied import with_numbers

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


#: The axis of comparisons of several scenarios.
SCENARIO = "scenario"


@checked_methods
@dataclass(frozen=True)
class Variant:
    """One run of a comparison and the changes that make it."""

    changes: dict[str, str]
    run: Run

    def label(self, axes: Sequence[str]) -> str:
        """Return the values of the varied keys, in order."""
        return " · ".join(self.changes[key] for key in axes)


@checked_methods
class Variants:
    """Runs of one scenario over the same network, and their numbers side by side."""

    def __init__(
        self,
        title: str,
        axes: Sequence[str],
        variants: Sequence[Variant],
        gate: str | None,
        columns: Sequence[str] = (),
    ) -> None:
        self.title = title
        self.axes = list(axes)
        self.variants = list(variants)
        self.gate = gate
        self.columns = list(columns)

    def gate_of(self, variant: Variant) -> str | None:
        """Return the gate whose numbers a variant shows.

        It is the same for all; of several scenarios without a gate in common, each has its own: the one that
        limits its flows most.
        """
        if self.gate is None and SCENARIO in self.axes:
            return main_gate(variant.run.summary)
        return self.gate

    @property
    def place(self) -> str:
        """The gate that is compared, in words."""
        if self.gate is not None:
            return f"gate {self.gate}"
        own = [gate for gate in map(self.gate_of, self.variants) if gate is not None]
        return f"gates {', '.join(dict.fromkeys(own))}" if own else "no gate in common"

    @property
    def seed(self) -> int:
        """The seed of every variant (of the first, where seeds are varied)."""
        return int(self.variants[0].run.summary["seed"])

    @property
    def tcp(self) -> str:
        """The TCPs that ran, in words: ``bbr and cubic, linux-6.18``."""
        return tcp_words(row for variant in self.variants for row in variant.run.summary["flows"])

    @property
    def seeds(self) -> str:
        """How the variants were seeded, in words."""
        if "seed" in self.axes:
            return "seed varied"
        return f"seed {self.seed} in all"

    @property
    def warnings(self) -> list[str]:
        """Return the variants' warnings, each once, and whether seeds made a difference."""
        warnings = dict.fromkeys(w for v in self.variants for w in v.run.warnings)
        return [*self._about_seeds(), *warnings]

    def _about_seeds(self) -> list[str]:
        """Warn where the seed is varied and variants that differ in nothing else are one run."""
        if "seed" not in self.axes:
            return []
        groups: dict[tuple[str, ...], list[Run]] = {}
        for variant in self.variants:
            others = tuple(value for key, value in variant.changes.items() if key != "seed")
            groups.setdefault(others, []).append(variant.run)
        several = {label: runs for label, runs in groups.items() if len(runs) > 1}
        equal = {label: runs for label, runs in several.items() if are_alike([run.summary for run in runs])}
        if not equal:
            return []
        runs = next(iter(equal.values()))
        where = "" if len(equal) == len(several) else f"of {'; '.join(' · '.join(label) for label in equal)}"
        draws = runs[0].manifest.get("draws")
        if draws:
            return [no_difference(f"the {len(runs)} seeds", draws, where)]
        names = [row["name"] for row in runs[0].summary["flows"]]
        place = f" {where}" if where else " in this scenario"
        flow = names[0].rpartition(".")[0] or names[0] if names else None
        return [f"nothing is random{place}: all {len(runs)} seeds give the same run. " + advice(flow)]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per variant: the varied keys, then the numbers with units in their names.

        ``goodput_bps`` is that of all flows together (payload only); queueing delays, loss and
        utilisation are those of the gate compared (:meth:`gate_of`). ``columns`` are there under their own
        names. None: there is no such number.

        Raises:
            UnknownNameError: a variant has no number of a column's name.
        """
        return [{**v.changes, **self._figures(v)} for v in self.variants]

    def _figures(self, variant: Variant) -> dict[str, Any]:
        summary = variant.run.summary
        chosen = {name: metric_of(summary, {}, name) for name in self.columns}
        return {**figures_of(summary, self.gate_of(variant)), **chosen}

    def number_of(self, variant: Variant, name: str) -> float | None:
        """Return a number of a variant: one of the table, or of its run as ``flow.NAME.COLUMN`` and so on.

        Raises:
            UnknownNameError: it has no such number.
        """
        figures = figures_of(variant.run.summary, self.gate_of(variant))
        if name in figures:
            value = figures[name]
            return None if value is None else float(value)
        return metric_of(variant.run.summary, {}, name)

    @property
    def table(self) -> pl.DataFrame:
        """The rows as a polars data frame."""
        import polars as pl

        return with_numbers(pl.DataFrame(self.rows(), infer_schema_length=None), self.axes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate compare --json`` prints."""
        first = self.variants[0].run.summary
        return {
            "engine": first["engine"],
            "tcp": self.tcp,
            "scenario": first["scenario"],
            "seed": self.seed,
            **lengths_named([v.run.summary for v in self.variants]),
            "measured_from_s": first["measured_from_s"],
            "gate": self.gate,
            "vary": self.axes,
            "columns": self.columns,
            "variants": [
                {"set": v.changes, **self._figures(v), "summary": v.run.summary} for v in self.variants
            ],
            "warnings": self.warnings,
        }
