"""The policing paper: what is certain in it, and that its checks can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.reproduction import reproduced
from tidegate._base.estimate import Estimate
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce import verdict as _verdict
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers.policing import claims, laboratory, measured

if TYPE_CHECKING:
    from pathlib import Path


def test_the_policing_paper_quickly(tmp_path: Path) -> None:
    _, found = reproduced("policing", tmp_path / "policing")
    assert len(found) == len(claims.CLAIMS) == 17
    assert all(claim["runs"] >= _verdict.LEAST_RUNS for claim in found.values())
    for name in ("burst-first", "paced", "limited", "policing-joins-faster", "not-random-loss"):
        assert found[name]["verdict"] == "reproduced", found[name]
    # A bucket of five segments is where the simulation and the hardware differ.
    assert found["plain"]["verdict"] == "not reproduced"
    assert "Does not hold: policer 10 Mbit/s, 8 kB" in found["policed-goodput"]["note"]
    assert found["paced"]["measured"] == pytest.approx(1.27, abs=0.02)


def test_a_wrong_simulation_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goodput that is a quarter too high is not the laboratory's, and equal losses are not more."""

    class Off:
        def estimate(self, metric: str) -> Estimate:
            real = self.row.goodput if metric == "goodput" else self.row.loss
            return Estimate(self.by * real, 0.0, 0.0, 16)

        def __init__(self, row: measured.Row, by: float) -> None:
            self.row, self.by = row, by

    def stand_in(by: float) -> Any:
        def point(_: Lab, device: str, rate: float, size: str, *__: Any) -> Off:
            rows = measured.LABORATORY
            return Off(next(r for r in rows if (r.device, r.rate, r.size) == (device, rate, size)), by)

        return point

    lab = Lab(_paper.open_paper("policing").folder)
    for by, verdict in ((1.0, "reproduced"), (1.25, "not reproduced"), (0.8, "not reproduced")):
        monkeypatch.setattr(laboratory, "point", stand_in(by))
        assert laboratory.claim_goodput.measure(lab).judgement.verdict == verdict
        assert laboratory.claim_shaped.measure(lab).judgement.verdict == verdict


def test_measured_goodput() -> None:
    row = measured.LABORATORY[0]
    assert row.goodput == pytest.approx(0.4554, abs=1e-4)
    assert len(measured.LABORATORY) == 11
