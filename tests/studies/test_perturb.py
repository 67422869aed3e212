"""How much of a number is luck: runs with small changes that nobody can know."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, tidegate

#: The story: a policer that is too small for the window of one flow. What it gets hangs on when packets come.
POLICER = EXAMPLES / "policer.toml"
#: A link with a queue of its own: nothing hangs on small changes but waits of less than a packet.
PLAIN: dict[str, Any] = {
    "duration": "6 s",
    "warmup": "1 s",
    "seed": 1,
    "gate": {"link": {"rate": "8 Mbit/s", "queue": "100 packets", "delay": "10 ms"}},
    "flow": {"bulk": {"path": ["link"], "app": "bulk", "tcp": {"cc": "cubic"}}},
}


def without_jitter() -> dict[str, Any]:
    """Return the policer as it would be without any jitter in the file."""
    scenario = tomllib.loads(POLICER.read_text(encoding="utf-8"))
    scenario["gate"]["isp"].pop("jitter", None)
    return scenario


def test_what_a_policed_flow_gets_hangs_on_luck_and_is_said() -> None:
    run = tg.run(without_jitter(), perturb=16, record="summary")
    found = run.summary["perturbed"]
    assert found["runs"] == 16
    spread = found["numbers"]["flow.bulk.goodput_bps"]
    assert spread["as_written"] == run.flows["bulk"]["goodput_bps"]
    assert spread["least"] == min(spread["values"])
    assert spread["greatest"] == max(spread["values"])
    assert spread["least"] <= spread["median"] <= spread["greatest"]
    assert len({*spread["values"]}) == 16
    assert spread["greatest"] > 1.1 * spread["least"]
    text = " ".join(run.report().split())
    assert "Goodput of bulk depends on luck:" in text
    assert "in 16 runs with small changes" in text


def test_a_number_that_hardly_moves_is_not_said_to_hang_on_luck() -> None:
    run = tg.run(PLAIN, perturb=8, record="summary")
    spread = run.summary["perturbed"]["numbers"]["flow.bulk.goodput_bps"]
    assert spread["least"] < spread["greatest"] < 1.05 * spread["least"]
    assert "with small changes" in run.report()
    assert "oodput of bulk depends on" not in run.report()


def test_the_run_itself_is_as_written_and_the_same_on_any_number_of_threads() -> None:
    plain = tg.run(PLAIN, record="summary").summary
    one, two = (tg.run(PLAIN, perturb=5, record="summary", threads=n).summary for n in (1, 2))
    assert json.dumps(one) == json.dumps(two)
    assert {key: value for key, value in one.items() if key != "perturbed"} == plain


def test_the_command_says_what_python_says(tmp_path: Path) -> None:
    done = tidegate("run", POLICER, "--perturb", "4", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == tg.run(POLICER, perturb=4, record="summary").summary


def test_a_small_change_is_the_replication_of_a_scenario_that_asks_for_them() -> None:
    values = tg.run(PLAIN, perturb=2, record="summary").summary["perturbed"]["numbers"]["goodput_bps"]
    study = tg.study(PLAIN, perturb=2, store=False)
    assert study.values("goodput_bps", 0)[0] == values["as_written"]
    # Replications draw anew, and each has its own change.
    assert len({*study.values("goodput_bps", 0)}) > 1
    assert study.estimate("goodput_bps", 0).half_width is not None
    assert not any("nothing is random" in text for text in study.warnings)
    told = {**PLAIN, "perturb": True}
    assert tg.Scenario.from_dict(told).draws == ["small changes"]
    one = tg.run(told, replication=1, record="summary").summary
    assert study.values("goodput_bps", 0)[1] == sum(row["goodput_bps"] for row in one["flows"])


def test_variants_meet_the_same_changes() -> None:
    """Two names for one thing are equal in every run with changes, and their difference is 0."""
    compared = tg.compare(PLAIN, vary={"title": ["one", "two"]}, perturb=4, record="summary")
    one, two = (variant.run.summary["perturbed"] for variant in compared.variants)
    assert one == two
    assert "diff. least" in compared.report()
    assert "Whether" not in compared.report()


def test_which_variant_is_better_may_hang_on_luck() -> None:
    # A burst that is a packet larger: better with one change, worse with another.
    compared = tg.compare(
        without_jitter(), vary={"gate.isp.police.burst": ["50 kB", "51 kB"]}, perturb=16, record="summary"
    )
    text = " ".join(compared.report().split())
    assert "Whether 51 kB or 50 kB has more goodput depends on luck" in text


def test_sizes_in_round_trips_stay_as_they_were_computed() -> None:
    relative = {**PLAIN, "gate": {"link": {"rate": "8 Mbit/s", "queue": "1 BDP", "delay": "10 ms"}}}
    absolute: dict[str, Any] = {
        **PLAIN,
        "gate": {"link": {"rate": "8 Mbit/s", "queue": "SIZE", "delay": "10 ms"}},
    }
    (size,) = tg.Scenario.from_dict(relative).computed_sizes
    absolute["gate"]["link"]["queue"] = size["size"]
    runs = [tg.run(each, perturb=4, record="summary") for each in (relative, absolute)]
    one, two = (run.summary["perturbed"] for run in runs)
    assert one == two


def test_an_own_jitter_is_drawn_anew_and_stays_as_large() -> None:
    own = {**PLAIN, "gate": {"link": {**PLAIN["gate"]["link"], "jitter": "2 ms"}}}
    values = tg.run(own, perturb=4, record="summary").summary["perturbed"]["numbers"]["goodput_bps"]["values"]
    assert len({*values}) > 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"perturb": 0}, "perturb: read 0"),
        ({"perturb": 4, "engine": "live"}, "small changes are for engine sim"),
        ({"perturb": 4, "engine": "theory"}, "small changes are for engine sim"),
    ],
)  # fmt: skip
def test_what_cannot_be_perturbed_is_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=problem):
        tg.run(PLAIN, **arguments)


def test_runs_beside_perturb_are_refused() -> None:
    with pytest.raises(tg.errors.ArgumentError, match="give one of the two"):
        tg.study(PLAIN, perturb=4, runs=3)


def test_a_size_holds_for_small_changes_too() -> None:
    """The queue is the largest that any of the runs needs, the one as written among them."""
    paced = {"flow.bulk.tcp.window": "40 kB"}
    plain = tg.size(PLAIN, "link", changes=paced, method="sim", store=False)
    changed = tg.size(PLAIN, "link", changes=paced, method="sim", perturb=4, store=False)
    assert len(changed.each) == 5
    assert changed.each[0] == plain.size
    assert changed.size == max(changed.each)
    with pytest.raises(tg.errors.ArgumentError, match="give one of the two"):
        tg.size(PLAIN, "link", perturb=4, runs=2, store=False)


def test_with_the_jitter_of_a_real_path_the_example_holds() -> None:
    run = tg.run(POLICER, perturb=16, record="summary")
    spread = run.summary["perturbed"]["numbers"]["flow.bulk.goodput_bps"]
    assert 16e6 < spread["least"] < spread["greatest"] < 18e6
    assert "depends on luck" not in " ".join(run.report().split())


def test_pictures_and_manifests_name_the_tcp() -> None:
    assert tg.run(PLAIN, record="summary").manifest["tcp"] == "cubic, linux-6.18"
    study = tg.study(PLAIN, vary={"gate.link.queue": ["20 packets", "100 packets"]}, perturb=1, store=False)
    words = [text.get_text() for text in study.plot().texts]
    assert any("cubic, linux-6.18" in text for text in words)


def test_a_study_tells_the_least_and_the_greatest_of_each_point() -> None:
    vary = {"gate.isp.police.burst": ["50 kB", "51 kB"]}
    study = tg.study(without_jitter(), vary=vary, perturb=6)
    values = study.values("goodput_bps", 0)
    told = study.to_dict()["points"][0]["perturbed"]["goodput_bps"]
    assert (told["as_written"], told["least"]) == (values[0], min(values[1:], key=float))  # type: ignore[arg-type]
    text = " ".join(study.report().split())
    assert "Least to greatest in 6 runs of each point" in text
    assert "50 kB: goodput of all flows depends on luck" in text
    plain = tg.study(POLICER, vary=vary, runs=2)
    assert "perturbed" not in plain.to_dict()["points"][0]
    assert "Least to greatest" not in plain.report()
