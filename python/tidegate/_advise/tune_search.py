"""The search for good settings of a following gate: differential evolution, a generation in one study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate._advise.tune_trials import Knobs, TuneTrials, largest_window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

#: Round trips of memory of the rule of thumb, N: kΔ; the middle one is what gains are against.
RULE = (8, 10, 12)
INSTCAP = Knobs(m=1, n=1)
#: Members of a generation and number of generations: M and N; one number; all four together.
_PAIR_SEARCH, _LINE_SEARCH, _JOINT_SEARCH = (12, 7), (8, 4), (16, 4)
#: The smallest share and constant rate worth trying, and the largest rate, of the link's mean.
_LEAST_SHARE, _LEAST_RATE, _MOST_RATE = 0.2, 0.1, 1.25


def evolve(
    trials: TuneTrials,
    bounds: Sequence[tuple[float, float]],
    start: Sequence[float],
    size: tuple[int, int],
    at: Callable[[NDArray[np.float64]], Knobs],
    known: Sequence[Knobs] = (),
) -> Knobs:
    """Return the best of the settings that differential evolution meets and of those known before."""
    import numpy as np
    from scipy.optimize import Bounds, differential_evolution

    met = [*known]
    trials.look(known)

    def costs(columns: NDArray[np.float64], /) -> Any:
        settings = [at(column) for column in np.atleast_2d(columns.T)]
        met.extend(settings)
        return np.array(trials.look(settings))

    members, generations = size
    inside = [min(max(x, low), high) for x, (low, high) in zip(start, bounds, strict=True)]
    differential_evolution(
        costs,
        Bounds([low for low, _ in bounds], [high for _, high in bounds]),
        x0=inside,
        popsize=max(1, members // len(bounds)),
        maxiter=generations,
        init="sobol",
        polish=False,
        updating="deferred",
        vectorized=True,
        rng=np.random.default_rng(trials.bench.seed),
    )
    return trials.best(met)


def rules(trials: TuneTrials) -> dict[int, Knobs]:
    """Return the rule of thumb for each k: M of one round trip, N: kΔ."""
    return {k: Knobs(m=trials.rule_m, n=max(1, trials.rule_m * (k - 1))) for k in RULE}


def _whole(log: float) -> int:
    return max(1, round(math.exp2(log)))


def best_pair(trials: TuneTrials) -> Knobs:
    """Return the best M and N."""
    top_m, top_n = (math.log2(most) for most in trials.most)
    start = [math.log2(trials.rule_m), math.log2(trials.rule_m * (RULE[1] - 1))]
    return evolve(
        trials,
        [(0.0, top_m), (0.0, top_n)],
        start,
        _PAIR_SEARCH,
        lambda place: Knobs(m=_whole(float(place[0])), n=_whole(float(place[1]))),
        # Those that everybody knows are met whatever the search does.
        known=[INSTCAP, *rules(trials).values()],
    )


def best_rate(trials: TuneTrials, mean_bps: float) -> Knobs:
    """Return the best constant rate."""
    # Three digits: finer rates cannot be told apart.
    return evolve(
        trials,
        [(_LEAST_RATE, _MOST_RATE)],
        [0.7],
        _LINE_SEARCH,
        lambda place: Knobs(rate_bps=round(float(f"{mean_bps * float(place[0]):.3g}"))),
    )


def _share(value: float) -> float:
    # Hundredths: finer shares cannot be told apart.
    return max(0.01, min(1.0, round(float(value), 2)))


def best_share(trials: TuneTrials) -> Knobs:
    """Return the best share of the last value that is taken as it is."""
    start = [trials.share]
    return evolve(
        trials,
        [(_LEAST_SHARE, 1.0)],
        start,
        _LINE_SEARCH,
        lambda place: Knobs(m=1, n=1, share=_share(place[0])),
    )


def best_window(trials: TuneTrials, mean_bps: float) -> Knobs:
    """Return the best window of the flows, with the last value taken as it is."""
    top = math.log2(largest_window(trials, mean_bps))
    fits = mean_bps * trials.rtt_ps / 1e12 / (8 * trials.mss)
    return evolve(
        trials,
        [(1.0, max(top, 1.5))],
        [math.log2(max(2.0, fits))],
        _LINE_SEARCH,
        lambda place: Knobs(m=1, n=1, window=_whole(float(place[0]))),
    )


def best_of_all(trials: TuneTrials, mean_bps: float, known: Sequence[Knobs]) -> Knobs:
    """Return the best M, N, share and window together, from the best that is known on."""
    top_m, top_n = (math.log2(most) for most in trials.most)
    widest = largest_window(trials, mean_bps)
    begin = trials.best([knobs for knobs in known if knobs.rate_bps is None])
    start = [
        math.log2(begin.m or 1),
        math.log2(begin.n or 1),
        trials.share if begin.share is None else begin.share,
        math.log2(widest if begin.window is None else begin.window),
    ]
    return evolve(
        trials,
        [(0.0, top_m), (0.0, top_n), (_LEAST_SHARE, 1.0), (1.0, max(1.5, math.log2(widest)))],
        start,
        _JOINT_SEARCH,
        lambda place: Knobs(
            m=_whole(float(place[0])),
            n=_whole(float(place[1])),
            share=_share(place[2]),
            window=_whole(float(place[3])),
        ),
        known=[begin],
    )
