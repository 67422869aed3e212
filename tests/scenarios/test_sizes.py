"""Sizes that are written as a time or in bandwidth-delay products, from Python and the command line."""

from __future__ import annotations

import pytest
import tidegate as tg

TEXT = """
duration = "3 s"
seed = 1
[gate.link]
rate = "8 Mbit/s"
queue = "1 BDP"
[flow.bulk]
path = ["link"]
rtt = "50 ms"
"""


def test_a_product_runs_like_its_bytes_and_the_manifest_says_what_it_came_to() -> None:
    run = tg.run(tg.Scenario.from_toml(TEXT))
    same = tg.run(tg.Scenario.from_toml(TEXT, changes=["gate.link.queue=50 kB"]))
    assert run.summary == same.summary
    assert run.manifest["computed_sizes"] == [
        {"key": "gate.link.queue", "written": "1 BDP", "from": "8 Mbit/s × 50 ms", "size": "50 kB"}
    ]
    assert same.manifest["computed_sizes"] == []


def test_values_of_an_axis_are_computed_for_each_point() -> None:
    scenario = tg.Scenario.from_toml(TEXT)
    written = ["0.5 bdp", "25 ms", "25 kB", "1 BDP"]
    study = tg.study(scenario, vary={"gate.link.queue": written}, runs=1)
    peaks = [study.values("gate.link.queue_max_bytes", point)[0] for point in range(len(written))]
    assert peaks[0] == peaks[1] == peaks[2] < peaks[3]


def test_a_product_without_a_rate_is_one_clear_error() -> None:
    with pytest.raises(tg.errors.ScenarioError, match="cannot be computed: gate link has no rate"):
        tg.Scenario.from_toml(TEXT, changes=["gate.link.rate=unlimited"])
