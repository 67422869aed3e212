"""The strip of a report page that says for each instant what held each flow back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tidegate as tg
from support.figures import BASE, FLOW, LINK
from support.packed_columns import unpacked
from tidegate._run.arrays import Arrays
from tidegate._run.view import _under_way, run_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

LATE = {**FLOW, "start": "2 s", "app": {"transfer": "300 kB"}}


def strip(run: tg.Run) -> tuple[NDArray[np.float64], dict[str, list[str]]]:
    """Return the instants, and the word of each flow at each; "" where there is none."""
    view = run_view(run)
    assert view is not None
    assert view.bands is not None
    words = view.bands["words"]
    rows: dict[str, list[str]] = {}
    for row in view.bands["rows"]:
        codes = unpacked(view.columns[row["codes"]])
        rows[row["name"]] = ["" if np.isnan(code) else words[int(code)] for code in codes]
    return np.array(unpacked(view.columns[view.bands["x"]])), rows


@pytest.mark.parametrize("record", ["10 ms", "events"])
@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_no_gate_holds_a_flow_that_has_not_begun_or_is_done(record: Any, transport: str) -> None:
    late = {**LATE, "transport": transport}
    document = {**BASE, "duration": "8 s", "gate": {"link": LINK}, "flow": {"first": FLOW, "late": late}}
    run = tg.run(document, record=record)
    done = 2 + run.flows["late"]["completion_s"]
    time, rows = strip(run)
    first, late_words = np.array(rows["first"]), np.array(rows["late"])
    # The other flow's queue stands at the gate all the while.
    assert np.mean(first == "queue of link") > 0.8
    assert set(late_words[time < 1.99]) <= {"", "application"}
    assert set(late_words[time > done + 0.3]) == {"application"}
    lives = (time > 2.2) & (time < done - 0.1)
    assert lives.any()
    assert np.mean(late_words[lives] == "queue of link") > 0.8


def test_of_a_sender_that_does_not_say_what_is_in_flight_the_bytes_received_say_it() -> None:
    came = np.array([0.0, 0.0, 5.0, 5.0, 9.0, 9.0, 9.0])
    part = Arrays({"in_flight_segments": np.full(7, np.nan), "delivered_bytes": came}, {})
    assert _under_way(part).tolist() == [0, 0, 1, 1, 1, 0, 0]
    part = Arrays({"in_flight_segments": np.array([np.nan, 0, 3, 0]), "delivered_bytes": came[:4]}, {})
    assert _under_way(part).tolist() == [0, 0, 1, 0]
