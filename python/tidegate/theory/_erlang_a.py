"""Erlang A: blocked calls wait, and leave when their patience is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tidegate._base.arguments import above_zero
from tidegate.theory._arguments import load_of, whole
from tidegate.theory._birth_death import Waiting, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray


def erlang_a(load: float, servers: int, patience: float, hold: float = 1.0) -> Waiting:
    """Return waits and abandonments where calls that wait lose patience: M/M/n+M, exact.

    Calls come as a Poisson process and are served in the order of asking. Holding times and patience are
    exponential. C. Palm, "Research on telephone traffic carried by full availability groups", Tele
    1, 1957; O. Garnett, A. Mandelbaum and M. Reiman, "Designing a call center with impatient customers",
    Manufacturing & Service Operations Management 4(3), 2002. Such a line never grows without end,
    whatever the load.

    Args:
        load: rate of calls times mean holding time, in Erlang, 0 or more.
        servers: how many calls fit at once, 1 or more.
        patience: mean patience of a call that waits, in the unit of ``hold``, above 0.
        hold: mean holding time; waits come in its unit.

    Raises:
        ArgumentError: an argument is out of range, or the line is too long for an exact answer.
    """
    offered, count = load_of(load), whole("servers", servers, least=1)
    held, patient = above_zero("hold", hold), above_zero("patience", patience)

    def arrival(states: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.full(len(states), offered / held)

    return solve(load=offered, servers=count, hold=held, patience=patient, sources=None, arrival=arrival)
