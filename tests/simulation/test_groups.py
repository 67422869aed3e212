"""Flows that are recorded together: sums and spreads are those of the flows, whatever the way of working."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import tidegate as tg

EVERY = 0.05


def scenario(**record: Any) -> dict[str, Any]:
    """Return twelve downloads and thirty readers over one link that loses packets."""
    gate = {"rate": "20 Mbit/s", "queue": "40 packets", "delay": "10 ms"}
    page = {"request": {"size": "300 B", "response": "40 kB", "think": "200 ms"}}
    return {
        "duration": "4 s",
        "seed": 5,
        "gate": {"link": gate},
        "flow": {
            "user": {"count": 12, "path": ["link"], "rtt": "40 ms"},
            "reader": {"count": 30, "path": ["link"], "rtt": "60 ms", "app": page},
        },
        "record": {"every": "50 ms", **record},
    }


def singles(run: tg.Run, name: str, column: str) -> np.ndarray[Any, Any]:
    """Return one column of all copies of a flow: a row for each flow."""
    flows = run.table("flows").filter(pl.col("flow").cast(pl.String).str.starts_with(f"{name}."))
    parts = flows.partition_by("flow")
    return np.array([part[column].to_numpy() for part in parts], dtype=float)


@pytest.fixture(scope="module")
def both() -> tg.Run:
    """Return a run in which every flow is recorded by itself and with the others."""
    return tg.run(scenario(groups=["user", "reader"], user=["cwnd_segments"], reader=["cwnd_segments"]))


@pytest.mark.parametrize("name", ["user", "reader"])
def test_sums_are_those_of_the_flows(both: tg.Run, name: str) -> None:
    group = both.groups[name].columns()
    assert len(group) == round(4 / EVERY)
    assert group["flows"].to_list() == [both.groups[name]["flows"]] * len(group)
    for column in ("delivered_bytes", "retransmitted_segments", "cwnd_segments"):
        assert group[column].to_numpy() == pytest.approx(singles(both, name, column).sum(axis=0)), column
    last = both.groups[name]
    assert last["segments_retransmitted"] == sum(
        row["segments_retransmitted"] for row in both.flows if row.name.startswith(f"{name}.")
    )
    assert last["goodput_p10_bps"] <= last["goodput_p50_bps"] <= last["goodput_p90_bps"]


@pytest.mark.parametrize("name", ["user", "reader"])
def test_spreads_are_those_of_the_flows(both: tg.Run, name: str) -> None:
    group = both.groups[name].columns()
    windows = np.sort(singles(both, name, "cwnd_segments"), axis=0)
    goodput = np.sort(np.diff(singles(both, name, "delivered_bytes"), axis=1), axis=0) * 8 / EVERY
    flows = len(windows)
    for percent in (10, 50, 90):
        # The smallest that at least so many of 100 do not exceed.
        rank = -(-flows * percent // 100) - 1
        found = group[f"cwnd_p{percent}_segments"].to_numpy()
        assert found == pytest.approx(windows[rank], rel=0.0626)
        found = group[f"goodput_p{percent}_bps"].to_numpy()[1:]
        assert found == pytest.approx(goodput[rank], rel=0.0626)
    assert group["goodput_p50_bps"][0] is None


def test_round_trips_are_between_the_shortest_and_the_longest(both: tg.Run) -> None:
    trips = both.groups["user"].series("rtt").drop_nulls()
    assert len(trips) > 40
    assert trips["p10"].min() >= 40 * 0.93
    assert (trips["p10"] <= trips["p90"]).all()


def test_the_way_of_working_changes_nothing(both: tg.Run) -> None:
    """Run-ahead, every event, and flows that are recorded by themselves give the same rows."""
    together = tg.run(scenario(groups=["user", "reader"], link=["queue_packets"]))
    exact = tg.run(scenario(groups=["user", "reader"], link=["queue_packets"]), exact=True)
    for run in (together, exact):
        assert run.table("groups").equals(both.table("groups"))
    assert len(together.table("flows")) == 0
    assert set(together.table("gates")["gate"].unique()) == {"link"}


def test_run_ahead_and_turns_go_on() -> None:
    """Groups need no more events than a run without records."""
    plain = scenario()
    del plain["record"], plain["flow"]["reader"]
    grouped = {**plain, "record": {"every": "50 ms", "groups": ["user"]}}
    events = [
        tg.run(each, record=record).manifest["events"]
        for each, record in ((plain, "summary"), (grouped, None))
    ]
    assert events[0] == events[1]


def test_the_picture_and_the_folder(both: tg.Run, tmp_path: Any) -> None:
    run = tg.run(scenario(groups=["user"], link=["queue_packets"]))
    run.plot(tmp_path / "one.png")
    both_groups = tg.run(scenario(groups=["user", "reader"], link=["queue_packets"]))
    titles = [axes.get_title(loc="left") for axes in both_groups.plot(tmp_path / "two.png").axes]
    assert "Congestion window of 42 flows: median of each group" in titles
    opened = tg.open(both.save(tmp_path / "run"))
    assert opened.table("groups").equals(both.table("groups"))
    assert opened.groups["user"].summary == both.groups["user"].summary


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"groups": ["users"]}, 'did you mean "user"?'),
        ({"groups": ["user", "user"]}, '"user" is named twice'),
        ({"groups": ["user"], "every": "events"}, "groups are sampled at instants"),
        ({"groups": ["link"]}, "the flows are user, reader"),
    ],
)
def test_bad_groups_are_named(record: dict[str, Any], words: str) -> None:
    with pytest.raises(tg.errors.ScenarioError) as caught:
        tg.run(scenario(**record))
    assert words in str(caught.value)
    assert "groups" in str(caught.value)


def test_no_group_was_recorded() -> None:
    run = tg.run(scenario(link=["queue_packets"]))
    assert len(run.groups) == 0
    with pytest.raises(tg.errors.NotRecordedError, match=r"record\.groups"):
        run.table("groups")
