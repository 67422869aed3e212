"""How often a run records where nobody says so: copies and runs that are kept together share the rows."""

from __future__ import annotations

import pytest
import tidegate as tg
from tidegate._run import start
from tidegate._run.start import _default_record


@pytest.mark.parametrize(
    ("count", "own_gate", "every"),
    [
        (1, False, "5000 us"),
        (1000, False, "5000 us"),
        (10_000, False, "20000 us"),
        (10_000, True, "50000 us"),
    ],
)
def test_copies_count_where_nobody_asked_for_a_recording(count: int, own_gate: bool, every: str) -> None:
    """Rows are four million at most: of few flows 2000 samples in a round span, of many fewer."""
    scenario = tg.Scenario.from_dict(
        {
            "duration": "5 s",
            "gate": {"link": {"rate": "10 Mbit/s"}, "access": {"rate": "1 Mbit/s", "per": "flow"}},
            "flow": {
                "user": {"count": count, "path": [*(["access"] if own_gate else []), "link"], "rtt": "40 ms"}
            },
        }
    )
    assert _default_record(scenario, scenario.duration_s) == every


def test_runs_that_are_kept_together_share_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variants of a comparison, and runs of an engine, record less often where they are large."""
    text = {
        "duration": "2 s",
        "seed": 1,
        "gate": {"link": {"rate": "10 Mbit/s"}},
        "flow": {"user": {"count": 4, "path": ["link"], "rtt": "40 ms"}},
    }

    def rows(**record: object) -> list[int]:
        made = tg.compare({**text, **record}, vary={"flow.user.rtt": ["40 ms", "50 ms"]})
        return [variant.run.gates["link"].series("queue").height for variant in made.variants]

    whole = rows()
    monkeypatch.setattr(start, "_MOST_ROWS", 1000)
    # 2 variants of 4 flows and a gate: 100 samples of each.
    assert [*whole, *rows()] == [1000, 1000, 100, 100]
    # What the file says of records is done.
    assert rows(record={"every": "20 ms"}) == whole
