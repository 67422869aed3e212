"""CONTRIBUTING.md is short and names files that are there; the lists of how to add things stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTS = (ROOT / "docs" / "design" / "adding.md").read_text(encoding="utf-8")

#: How many files each checklist may take.
MOST = {
    "a rate law": 7,
    "a congestion controller": 5,
    "a queue discipline": 8,
    "a column": 4,
    "a summary number": 3,
}


def test_it_is_read_in_one_go() -> None:
    assert len(CONTRIBUTING.splitlines()) < 120


def test_every_file_that_it_names_exists() -> None:
    named = set(re.findall(r"`([\w.-]+/[\w./-]*)`", CONTRIBUTING + LISTS))
    tracked = {name for name in named if name.split("/")[0] in {path.name for path in ROOT.iterdir()}}
    assert "crates/tidegate-core/src/plan/rate.rs" in tracked
    # Capitals stand for any name; `target` is what a build leaves.
    tracked = {name for name in tracked if not name.rpartition("/")[2].isupper()}
    tracked = {name for name in tracked if not name.startswith("target/")}
    missing = sorted(name for name in tracked if not (ROOT / name).exists())
    assert not missing, missing


@pytest.mark.parametrize("what", MOST)
def test_a_checklist_is_short_and_each_step_names_a_place(what: str) -> None:
    section = LISTS.partition(f"## How to add {what}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. .*", section, re.M)
    assert 0 < len(steps) <= MOST[what]
    assert all(re.match(r"\d+\. `(crates|docs)/[\w./-]+`: ", step) for step in steps), steps


@pytest.mark.parametrize(
    ("what", "variant"),
    [("a queue discipline", "Discipline::DualPi2"), ("a congestion controller", "CongestionPlan::Ledbat")],
)
def test_a_checklist_names_each_file_that_names_a_variant(what: str, variant: str) -> None:
    """Who adds a variant like this one needs an arm in each of these files."""
    section = LISTS.partition(f"## How to add {what}\n")[2].partition("\n## ")[0]
    named = re.compile(rf"\b{variant}\b")
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        if "tests" in path.parts or path.stem.endswith("tests"):
            continue
        product = path.read_text(encoding="utf-8").partition("\n#[cfg(test)]\nmod ")[0]
        if named.search(product):
            assert f"`{path.relative_to(ROOT)}`" in section, path
