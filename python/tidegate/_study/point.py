"""A point of a study: one combination of the axes; and what a study is before its results."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    """One combination of the axes: its number, its values, and the scenario as run.

    ``varies``: whether its runs can differ. They cannot where nothing is drawn from the seed, and did
    not where all came out the same; then they are one run, and there is no interval.
    """

    number: int
    values: dict[str, str]
    scenario: str
    varies: bool = True

    def label(self) -> str:
        """Return the values in the order of the axes."""
        return " · ".join(self.values.values()) or "as written"


@dataclass(frozen=True)
class Described:
    """What is said of a study, beside its results.

    ``points``: of each, its values by varied key, the scenario as run, and what its runs draw from the seed.
    """

    title: str
    file: str
    seed: int
    axes: list[str]
    points: list[tuple[dict[str, str], str, list[str]]]
    warnings: list[str] = field(default_factory=list)
    engine: str = "sim"
