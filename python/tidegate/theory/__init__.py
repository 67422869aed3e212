"""What is known in closed form, where a closed form applies.

>>> import tidegate as tg
>>> found = tg.theory.spacer(
...     h=1, c=0.45, delta=145.8, segment_cells=32, threshold=41, window=41,
...     initial_window=2, segments_per_ack=2,
... )
>>> round(found.V_w_minus, 1), round(found.V_w_plus, 1)
(1182.4, 1217.6)
>>> round(tg.theory.abr(psi=50, delta_packets=40, buffer=10).efficiency, 4)
0.8956
"""

from tidegate.theory._abr import abr
from tidegate.theory._abr_results import Abr, Assumption
from tidegate.theory._birth_death import Waiting
from tidegate.theory._engset import Engset, engset, engset_waiting
from tidegate.theory._erlang import ErlangC, erlang_b, erlang_c, erlang_servers
from tidegate.theory._erlang_a import erlang_a
from tidegate.theory._loss_network import CallClass, LossSystem, kaufman_roberts, product_form
from tidegate.theory._match import Fit, Miss, match
from tidegate.theory._policer import Policed, policer, policer_bucket
from tidegate.theory._random_loss import cubic, mathis, pftk
from tidegate.theory._rfc6349 import Achievable, rfc6349
from tidegate.theory._spacer import spacer
from tidegate.theory._spacer_results import Interval, Printed, Spacer

__all__ = [
    "Abr",
    "Achievable",
    "Assumption",
    "CallClass",
    "Engset",
    "ErlangC",
    "Fit",
    "Interval",
    "LossSystem",
    "Miss",
    "Policed",
    "Printed",
    "Spacer",
    "Waiting",
    "abr",
    "cubic",
    "engset",
    "engset_waiting",
    "erlang_a",
    "erlang_b",
    "erlang_c",
    "erlang_servers",
    "kaufman_roberts",
    "match",
    "mathis",
    "pftk",
    "policer",
    "policer_bucket",
    "product_form",
    "rfc6349",
    "spacer",
]
