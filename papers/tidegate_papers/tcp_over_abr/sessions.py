"""Two sessions of different round trips as studies: what claims and figures of Section VII share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Points, ratio_of_means
from tidegate_papers.tcp_over_abr.cases import (
    EVERY_MS,
    HOLDING,
    TCP,
    TCPS,
    efficiency,
    holdings,
    length,
    packets,
    runs,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate_papers.api import Estimate, Lab, Study

#: Round trips of the sessions; ψ counts the longer one.
NEAR_MS, FAR_MS = 240, 360
CASES: dict[str, dict[str, Any] | None] = {
    "Case 1": {},
    "Case 2": {f"gate.{name}.rate.follow.effcap": {"m": 10, "n": 110} for name in ("near", "far")},
    "INSTCAP": {f"gate.{name}.rate.follow.effcap": {"m": 1, "n": 1} for name in ("near", "far")},
    "TCP alone": None,
}
#: Rates of change: with the model's TCP, and with others.
PAIR_PSIS = Points((0.1, 0.2, 0.3, 0.5, 0.8, 1, 2, 5, 10, 20, 50, 100), quick=(0.1, 0.3, 1, 5, 20, 50))
OTHER_PAIR_PSIS = Points((0.1, 0.3, 1, 5, 20, 50, 100), quick=(0.3, 5, 50))

#: A random delay of each packet between its sender and the link, up to this: in words, and as the key has
#: it. Without any, which session's packets find the full queue depends on how the round trips fit together.
JITTERS: dict[str, str | None] = {"without jitter": None, "with jitter": "5 ms"}


def pair_psis(lab: Lab, tcp: str = "model") -> tuple[float, ...]:
    """Return the rates of change of Figs. 19 to 22."""
    return lab.points(PAIR_PSIS if tcp == "model" else OTHER_PAIR_PSIS)


def chosen_pairs(
    lab: Lab, keep: Callable[[float], bool] = lambda _: True, tcp: str = "model"
) -> tuple[float, ...]:
    """Return those rates of change on which a claim is judged, each without and with jitter."""
    psis = (PAIR_PSIS if tcp == "model" else OTHER_PAIR_PSIS).only(keep)
    lab.judged(psis.times(Points.always(*JITTERS)))
    return lab.points(psis)


def pair(lab: Lab, case: str, tcp: str = "model", jitter: str = "without jitter") -> Study:
    """Return two sessions: a point for each rate of change; ``jitter`` is one of :data:`JITTERS`."""
    changes = CASES[case]
    longest = JITTERS[jitter]
    # Where the rate is fed back the delay comes after the host's own gate, which would take it out again.
    delayed = "flow" if changes is None else "gate"
    jitters = {} if longest is None else {f"{delayed}.{name}.jitter": longest for name in ("near", "far")}
    others = {
        key.replace(TCP, f"flow.{flow}.tcp"): value
        for key, value in TCPS[tcp].items()
        for flow in ("near", "far")
    }
    return lab.study(
        "sessions-alone" if changes is None else "sessions",
        vary={HOLDING: holdings([max(FAR_MS * psi, EVERY_MS) for psi in pair_psis(lab, tcp)])},
        changes={**(changes or {}), **others, **jitters, **length(lab)},
        runs=runs(lab),
        gate="link",
    )


def far_over_near(
    lab: Lab, case: str, psi: float, tcp: str = "model", jitter: str = "without jitter"
) -> Estimate:
    """Return the far session's share over the near one's."""
    study, point = pair(lab, case, tcp, jitter), pair_psis(lab, tcp).index(psi)
    return ratio_of_means(packets(study, point, "far"), packets(study, point, "near"))


def both(lab: Lab, case: str, psi: float, jitter: str = "without jitter") -> Estimate:
    """Return the efficiency of both sessions together."""
    study, point = pair(lab, case, jitter=jitter), pair_psis(lab).index(psi)
    return efficiency(study, point, share(case))
