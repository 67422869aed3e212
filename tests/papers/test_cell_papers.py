"""The two ATM papers: what is certain in them, and that their checks can fail."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.reproduction import SECONDS, reproduced
from tidegate_papers._reproduce import paper as _paper
from tidegate_papers._reproduce import verdict as _verdict
from tidegate_papers._reproduce.estimates import ratio_of_means
from tidegate_papers._reproduce.lab import Lab
from tidegate_papers.cell_spacing import exact
from tidegate_papers.traffic_shaping import cases as shaping_cases
from tidegate_papers.traffic_shaping import efficiency as shaping

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.timeout(SECONDS)
def test_the_cell_spacing_paper_quickly(tmp_path: Path) -> None:
    result, claims = reproduced("cell-spacing", tmp_path / "cells")
    assert [figure["id"] for figure in result["figures"]] == ["fig-2", "fig-3", "formulas", "standing"]
    # Limits are right as printed with an ACK per segment, in some a segment off with delayed ACKs.
    for name in ("theorem-1", "theorem-2", "corrected", "one-window", "larger-c", "larger-round-trip"):
        assert (claims[name]["possible"], claims[name]["measured"]) == (["reproduced", "partly"], 1.0), name
        assert claims[name]["shown"].endswith("not tried")
    assert 0.5 < claims["theorem-3"]["measured"] < 1
    assert 0 < claims["oscillation-begins"]["measured"] < 1
    assert claims["simulator"]["measured"] < 1e-6
    limits = claims["fig-3-limits"]["note"]
    for pair in ("1182.4 and 1217.6", "1150.4 and 1185.6", "1118.4 and 1153.6"):
        assert pair in limits
    assert claims["fig-3-no-loss"]["measured"] == 0
    assert claims["fig-3-growth"]["measured"] == pytest.approx(0.5, abs=0.01)
    rates = claims["fig-2-rate"]["note"]
    assert "3.79 with headers" in rates
    # User data is within a tenth of what is printed; the paper's 1516 bytes a segment are not.
    assert "0.5438 at 5" in rates
    assert claims["fig-2-rate"]["verdict"] == "partly"
    assert claims["fig-2-rate"]["measured"] * 1e6 / 1516 == pytest.approx(368.5, abs=0.5)
    assert claims["fig-2-rate"]["part"] == "at 5 Mbit/s, counted in 1516 bytes a segment"


@pytest.mark.timeout(SECONDS)
def test_the_traffic_shaping_paper_quickly(tmp_path: Path) -> None:
    result, claims = reproduced("traffic-shaping", tmp_path / "shaping")
    assert len(result["figures"]) == 7
    assert all(claim["runs"] >= _verdict.LEAST_RUNS for claim in claims.values())
    # No cell is lost at the points that are tried; at others one might be.
    assert claims["fits-no-loss"]["possible"] == ["reproduced", "not reproduced"]
    assert claims["fits-no-loss"]["measured"] == 0
    # 4 · 35 Mbit/s of 150.
    assert claims["35-saturates"]["measured"] == pytest.approx(140 / 150, abs=1e-3)
    assert claims["unshaped-falls"]["shown"] == "4 of 4 steps, 4 not tried"
    assert claims["20-flat"]["measured"] < 0.95
    # Two of 28 cases, and two of 14, do not show what holds whatever the choices.
    assert claims["any-35-better"]["shown"] == "2 of 2 cases, 26 not tried"
    assert claims["any-35-better"]["verdict"] == "undecided"
    assert claims["any-lock-out"]["shown"].endswith("12 not tried")
    assert claims["vc-over-vp"]["verdict"] == "undecided", "one of two loads was not tried"
    assert claims["35-always-better"]["shown"] == "6 of 6 points, 4 not tried"


def test_every_open_choice_of_tcp_changes_what_is_measured() -> None:
    """Each choice is one of its own: no two give the same goodputs, so each key reaches the network."""
    lab = Lab(_paper.open_paper("traffic-shaping").folder, quick=True)
    words = [words for words, _ in shaping_cases.TCP_CHOICES]
    assert len(words) == 7
    found = {
        tuple(shaping_cases.point(lab, "none", 0, changes=changes).values("goodput"))
        for _, changes in shaping_cases.TCP_CHOICES
    }
    assert len(found) == len(words)


def test_a_wrong_formula_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cell more in one limit, one cell time in one instant: each of them is seen."""
    draw = random.Random(3)
    sets = [(exact.draw_parameters(draw, per_ack), per_ack) for per_ack in (1, 2) for _ in range(10)]
    assert all(all(exact.check(p, per_ack).corrected.values()) for p, per_ack in sets)
    right = exact.spacer
    changes: tuple[tuple[str, str], ...] = (
        ("V_b", "V_b_plus"),
        ("V_w", "V_w_minus"),
        ("tau_b", "tau_b"),
        ("buffer", "buffer"),
        ("m0", "m0"),
    )
    for formula, name in changes:

        def wrong(name: str = name, **given: Any) -> Any:
            found = right(**given)
            return replace(found, **{name: getattr(found, name) + 1})

        monkeypatch.setattr(exact, "spacer", wrong)
        assert not any(exact.check(p, per_ack).corrected[formula] for p, per_ack in sets), formula


def test_statements_on_the_way_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is said of some sets; where a number in it is moved, it fails in all of them."""
    draw = random.Random(5)
    sets = [(exact.draw_parameters(draw, per_ack), per_ack) for per_ack in (1, 2) for _ in range(40)]
    right = exact.spacer

    def failing() -> dict[str, tuple[int, int]]:
        found = [exact.check(p, per_ack).corrected for p, per_ack in sets]
        return {
            name: (sum(not each[name] for each in said), len(said))
            for name in ("(1)", "(2)", "(n1+1)Δ", "(10)", "ramp", "h < 2c", "(17)", "(20)")
            for said in [[each for each in found if name in each]]
        }

    for name, (failed, said) in failing().items():
        assert (failed, said > 1) == (0, True), name

    def moved(**given: Any) -> Any:
        found = right(**given)
        later = [replace(each, segments=each.segments + 1) for each in found.intervals]
        return replace(
            found, V_b_minus=found.V_b_plus + 1, V_b_plus=found.V_b_plus + 1, intervals=tuple(later),
            peaks=tuple(peak + 1 for peak in found.peaks),
        )  # fmt: skip

    monkeypatch.setattr(exact, "spacer", moved)
    after = failing()
    for name in ("(n1+1)Δ", "ramp", "(17)"):
        failed, said = after[name]
        assert failed == said > 0, name


def test_ratios_of_small_numbers() -> None:
    these, those = [2.0, 4.0, 0.2, 3.8], [1.0, 2.0, 0.001, 2.1]
    found = ratio_of_means(these, those)
    assert found.mean == pytest.approx(sum(these) / sum(those))
    assert found.half_width is not None
    assert found.half_width < 0.5, "a small denominator of one run does not rule"
    assert ratio_of_means([2 * b for b in those], those).half_width == pytest.approx(0, abs=1e-12)
    assert ratio_of_means([1.0], [0.0]).mean is None


def test_overloads_are_more_than_the_link_carries() -> None:
    lab = Lab(_paper.open_paper("traffic-shaping").folder, quick=True)
    found = lab.points(shaping.OVERLOADS)
    assert ("35", 0, 1000) not in found
    assert ("20", 75, 1000) in found
    assert {where[0] for where in found} == {"none", "35", "20"}
