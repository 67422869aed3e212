"""The paper on TCP over ABR: its folder, one figure's claims, and numbers known without it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
import tidegate_papers
from support.common import tidegate
from support.reproduction import SECONDS, says_no_more_than_the_full_run
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers.tcp_over_abr import cases, delta, sessions, slow_start

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate_papers import Reproduction

PAPER = _paper.open_paper("tcp-over-abr")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The whole paper, quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_STORE", str(tmp_path_factory.mktemp("store")))
        return tidegate_papers.reproduce("tcp-over-abr", quick=True)


def test_every_figure_of_the_paper_is_there_and_every_claim_has_a_rule() -> None:
    figures = {figure.id for figure in PAPER.figures}
    assert {f"fig-{n}" for n in range(8, 23)} <= figures
    assert len({claim.id for claim in PAPER.claims}) == len(PAPER.claims) >= 30
    for claim in PAPER.claims:
        assert {*claim.figures} <= figures, claim.id
    for file in PAPER.scenarios():
        assert not tg.load(file).warnings, file.name


def test_the_sessions_are_those_of_case_1() -> None:
    # Section VII-A: M of 8 and 12, N of 88 and 132, which is the rule with twelve round trips.
    for trip, m, n in ((sessions.NEAR_MS, 8, 88), (sessions.FAR_MS, 12, 132)):
        assert cases.blocks(trip, 12) == {"m": m, "n": n}
    assert cases.blocks(cases.DELTA_MS, 8) == cases.FIG_10
    by_rule = {f"gate.{name}.rate.follow.effcap": {"rtts": 12} for name in ("near", "far")}
    here, there = (
        tg.run(
            PAPER.folder / "sessions.toml", changes={"duration": "60 s", **changes}, record="summary", seed=2
        )
        for changes in ({}, by_rule)
    )
    assert here.summary["flows"] == there.summary["flows"]


def test_a_constant_link_under_feedback_gives_cells_their_headers() -> None:
    (claim,) = tidegate_papers.reproduce("tcp-over-abr/cells", store=False).claims
    assert claim.verdict == "reproduced"
    assert claim.measured == pytest.approx(48 / 53, abs=1e-9)


def test_two_sessions_quickly(tmp_path: Path) -> None:
    """One figure with its claims, drawn; the report's folder runs its own commands."""
    out = tmp_path / "report"
    done = tidegate("reproduce", "tcp-over-abr/fig-19", "--quick", "--json", "--out", str(out), "--no-store")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    claims = {claim["id"]: claim for claim in told["claims"]}
    assert {*claims} == {"fair-fast", "unfair-middle"}
    # Each session is fed half of its own effective capacity: nearly equal parts where changes are fast.
    assert claims["fair-fast"]["measured"] == pytest.approx(1.02, abs=0.03)
    assert (out / "fig-19.svg").stat().st_size > 5000
    assert (out / "cellular.csv").is_file()
    again = tidegate("run", str(out / "trace.toml"), "--set", 'duration="5 s"', "--json")
    assert again.returncode == 0, again.stderr


def test_recorded_links_are_used_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tidegate_papers.tcp_over_abr import beyond

    monkeypatch.delenv("TIDEGATE_TRACES", raising=False)
    found, why = beyond.links()
    assert len(found) == 1
    assert "TIDEGATE_TRACES" in why
    (tmp_path / beyond.RECORDED[0]).write_text("1\n", encoding="utf-8")
    monkeypatch.setenv("TIDEGATE_TRACES", str(tmp_path))
    found, why = beyond.links()
    assert [words for words, _ in found[1:]] == [beyond.RECORDED[0]]
    assert beyond.RECORDED[1] in why


def test_rates_are_those_of_their_deltas() -> None:
    # Two states of 6 and 3 packets in 30 ms; at psi 10 they flip every 67th time.
    assert delta.rate_of(10, math.inf) == pytest.approx(50_000)
    assert delta.rate_of(10, 1e-9) == pytest.approx(75_000, rel=1e-3)
    # Far from the mean the rate is the low one, and the chance of leaving it over delta.
    flip = cases.EVERY_MS / (cases.DELTA_MS * 10)
    kept = (3 - math.log(1 - flip) / 5) * 500 * 1000 / cases.EVERY_MS
    assert delta.rate_of(10, 5) == pytest.approx(kept, rel=1e-4)
    rates = [delta.rate_of(10, each) for each in delta.DELTAS.every]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("top", "level", "verdict"),
    [
        (65, [65, math.inf], "reproduced"),
        (0.5, [0.35, 0.5, 0.67], "not reproduced"),
        (math.inf, [math.inf], "undecided"),
        (0.5, [0.5, 65], "undecided"),
    ],
)
def test_the_low_rate_by_itself_is_no_large_delta(top: float, level: list[float], verdict: str) -> None:
    assert delta.judged(top, level, 5, 16).verdict == verdict


def test_jitter_changes_how_two_sessions_of_tcp_alone_share() -> None:
    """Without it the far session loses whenever the round trips fit together badly, which they always do."""
    lab = Lab(PAPER.folder, quick=True)
    plain, random = (
        sessions.far_over_near(lab, "TCP alone", 50, jitter=jitter) for jitter in sessions.JITTERS
    )
    assert plain.high is not None
    assert random.low is not None
    assert plain.high < random.low


@pytest.mark.timeout(SECONDS)
def test_a_quick_run_says_no_more_than_the_full_one(quick: Reproduction) -> None:
    assert quick.complete
    claims = {claim["id"]: claim for claim in quick.to_dict()["claims"]}
    says_no_more_than_the_full_run(claims.values())
    # The buffer matters to INSTCAP where the rate changes often: that is the part which is shown.
    assert claims["buffers"]["part"] == "INSTCAP at psi 0.3"
    assert claims["m-drop-late"]["possible"] == ["reproduced", "partly"], (
        "one of two round trips is not tried"
    )


@pytest.mark.parametrize("case", sessions.CASES)
def test_jitter_comes_after_the_hosts_gate(case: str) -> None:
    """Before it a delay would be gone again: the host's queue is what packets wait in there."""
    lab = Lab(PAPER.folder, quick=True)
    plain, random = (sessions.pair(lab, case, jitter=jitter) for jitter in sessions.JITTERS)
    assert plain.values("goodput_bps", 0) != random.values("goodput_bps", 0)


@pytest.mark.timeout(SECONDS)
def test_slow_starts_stop_losing_at_eleven_packets_and_later_with_jitter(quick: Reproduction) -> None:
    (claim,) = (claim for claim in quick.claims if claim.claim.id == "slow-start")
    assert claim.measured == 11
    assert "Does not hold: no jitter" in claim.note
    assert "jitter of up to 5 ms: none from 13" in claim.note
    assert slow_start.BUFFERS[0] < 9 < 14 < slow_start.BUFFERS[-1], "both sides of what is claimed are tried"


def test_the_simulator_meets_the_model_where_changes_are_rare() -> None:
    """Within a twentieth of the model's bounds at psi 20 and 50, all 16 runs of both."""
    study = tg.study(
        PAPER.folder / "abr.toml",
        vary={cases.HOLDING: cases.holdings([200 * psi for psi in (20, 50)])},
        runs=16,
        store=False,
        gate="link",
    )
    for point, psi in enumerate((20, 50)):
        least, most = cases.model(psi, 10)
        found = cases.efficiency(study, point, cases.CELLS)
        assert found.low is not None
        assert found.high is not None
        assert 0.95 * least < found.low < found.high < 1.05 * most
