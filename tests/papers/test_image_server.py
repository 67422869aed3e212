"""The image server paper: what is certain in it, and that its checks can fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tidegate as tg
from support.common import ROOT
from support.reproduction import SECONDS, reproduced
from tidegate._ask.plan import plan_of
from tidegate._base.estimate import Estimate
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce import verdict as _verdict
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers.image_server import cases, circuits, claims, open_choices, windows

SCENARIOS = Path(os.environ.get("TIDEGATE_SCENARIOS", ROOT.parent / "shared" / "scenarios"))


@pytest.mark.timeout(SECONDS)
def test_the_image_server_paper_quickly(tmp_path: Path) -> None:
    _, found = reproduced("image-server", tmp_path / "images")
    assert len(found) == len(claims.CLAIMS) == 17
    assert all(claim["runs"] >= _verdict.LEAST_RUNS for claim in found.values())
    # What the paper says of Fig. 3, and what it comes of.
    for name in ("low-10-to-30", "higher-50-to-70", "two-or-three", "holding-decides"):
        assert "reproduced" in found[name]["possible"], found[name]
    # 80 Mbit/s are slower than 70, but then one circuit fits and nothing changes any more.
    assert found["higher-above-80"]["verdict"] == "partly"
    assert found["higher-above-80"]["measured"] == pytest.approx(1, abs=1e-3)
    assert found["higher-above-80"]["part"] == "100 / 80 Mbit/s"
    # 8 Mbit/s are below 10, too, and only a quarter slower than 20.
    assert found["slow-below-10"]["verdict"] == "partly"
    assert "Does not hold: at 8 Mbit/s" in found["slow-below-10"]["note"]
    assert found["any-rise"]["shown"] == "2 of 2 choices, 10 not tried"
    assert found["two-or-three"]["measured"] == 3
    # Nothing is ever lost: time-outs come of waiting.
    assert found["congestion"]["verdict"] == "reproduced"
    assert "0 packets were dropped" in found["congestion"]["note"]
    assert found["closed-forms"]["measured"] == pytest.approx(1, abs=0.005)
    assert found["forty-seconds"]["verdict"] == "not reproduced"


def test_closed_forms_by_hand() -> None:
    assert cases.bound_by_circuit(2) == pytest.approx(0.100001 + 5.142696)
    # 122 segments of window: 15 windows and 36 segments more.
    assert cases.bound_by_processor(64) == pytest.approx(0.100001 + (1866 + 15 * 122) / 5000)
    assert cases.least_by_processor(64) == pytest.approx(0.100001 + (3732 - 122) / 5000)
    # A window that holds the image: no ACK comes before it has gone.
    assert cases.bound_by_processor(1024) == pytest.approx(0.100001 + 1866 / 5000)


def test_a_wrong_formula_and_a_wrong_rate_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuits, "alone", lambda *_: Estimate(0.8364, 0.0, 0.0, 16))
    for formula in ("bound_by_circuit", "bound_by_processor"):
        monkeypatch.setattr(circuits, formula, lambda *_: 0.8364)
    lab: Any = Lab(_paper.open_paper("image-server").folder, quick=True)
    assert circuits.claim_theory.measure(lab).judgement.verdict == "reproduced"
    monkeypatch.setattr(circuits, "bound_by_processor", lambda *_: 0.8364 * 1.01)
    assert circuits.claim_theory.measure(lab).judgement.verdict == "partly"


def test_a_claim_that_does_not_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two variants that do not differ are neither slower nor faster."""
    same = cases.point(_lab(), 20)
    for module in (cases, circuits, open_choices, windows):
        monkeypatch.setattr(module, "point", lambda *_, **__: same)
    rises = (circuits.claim_slow, circuits.claim_rises, circuits.claim_higher, open_choices.claim_any_rise)
    for claim in (*rises, windows.claim_faster):
        assert claim.measure(_lab()).judgement.verdict != "reproduced", claim.id


_LABS: list[Lab] = []


def _lab() -> Lab:
    if not _LABS:
        _LABS.append(Lab(_paper.open_paper("image-server").folder, quick=True))
    return _LABS[0]


def test_it_is_the_system_that_was_given() -> None:
    """The paper's file and the scenario that the language was made for are one system."""
    given = SCENARIOS / "image-server.toml"
    if not given.is_file():
        pytest.skip(f"no {given.name} in {SCENARIOS} (set TIDEGATE_SCENARIOS)")
    ours = tg.load(_paper.FOLDER / "image_server" / "image-server.toml")
    theirs = tg.load(given)
    one, other = (plan_of(scenario) for scenario in (ours, theirs))
    for part in ("gates", "flows", "duration_ps", "warmup_ps"):
        assert one[part] == other[part], part
