"""What a paper may use: everything that a folder of claims and figures imports.

A paper is a folder in here with scenarios, functions under ``@claim``, ``claims.py`` and ``figures.py``.
docs/design/adding.md says how to add one.
The private modules of both packages may move; this one keeps its names.
"""

from tidegate._ask.source import as_scenario
from tidegate._base.estimate import Estimate, estimate, paired
from tidegate._check.expectation import Expectation
from tidegate._draw.panels import DASHED, DOTTED, LOOKS, bars, panels
from tidegate._draw.tokens import ACCENT, FILL, INK, MID, SOFT
from tidegate._run.history import numbers
from tidegate._run.throughput import normalised_throughput
from tidegate._run.value import Run
from tidegate._study.text import plus_minus
from tidegate._study.value import Study

from tidegate_papers._reproduce.claim import Claim, Figure, Finding, claim
from tidegate_papers._reproduce.estimates import (
    less_than_one,
    more_than_one,
    number_of,
    ratio,
    ratio_of_means,
    scaled,
    shown,
)
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers._reproduce.parts import count, together, with_untried
from tidegate_papers._reproduce.points import Points
from tidegate_papers._reproduce.verdict import (
    LEAST_RUNS,
    NOT_REPRODUCED,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    Judgement,
    above,
    below,
    best,
    graded,
    left_by,
    within,
    worst,
)

__all__ = [
    "ACCENT",
    "DASHED",
    "DOTTED",
    "FILL",
    "INK",
    "LEAST_RUNS",
    "LOOKS",
    "MID",
    "NOT_REPRODUCED",
    "PARTLY",
    "REPRODUCED",
    "SOFT",
    "UNDECIDED",
    "Claim",
    "Estimate",
    "Expectation",
    "Figure",
    "Finding",
    "Judgement",
    "Lab",
    "Points",
    "Run",
    "Study",
    "above",
    "as_scenario",
    "bars",
    "below",
    "best",
    "claim",
    "count",
    "estimate",
    "graded",
    "left_by",
    "less_than_one",
    "more_than_one",
    "normalised_throughput",
    "number_of",
    "numbers",
    "paired",
    "panels",
    "plus_minus",
    "ratio",
    "ratio_of_means",
    "scaled",
    "shown",
    "together",
    "with_untried",
    "within",
    "worst",
]
