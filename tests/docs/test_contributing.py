"""CONTRIBUTING.md names files that are there, and its checklists stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

#: How many files each checklist may take.
MOST = {
    "a rate law": 6,
    "a congestion controller": 5,
    "a queue discipline": 7,
    "a column": 4,
    "a summary number": 3,
}


def test_every_file_that_it_names_exists() -> None:
    named = set(re.findall(r"`([\w.-]+/[\w./-]*)`", TEXT))
    tracked = {name for name in named if name.split("/")[0] in {path.name for path in ROOT.iterdir()}}
    assert "crates/tidegate-core/src/plan/rate.rs" in tracked
    # Capitals stand for any name; `target` is what a build leaves.
    tracked = {name for name in tracked if not name.rpartition("/")[2].isupper()}
    tracked = {name for name in tracked if not name.startswith("target/")}
    missing = sorted(name for name in tracked if not (ROOT / name).exists())
    assert not missing, missing


@pytest.mark.parametrize("what", MOST)
def test_a_checklist_is_short_and_each_step_names_a_place(what: str) -> None:
    section = TEXT.partition(f"## How to add {what}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. .*", section, re.M)
    assert 0 < len(steps) <= MOST[what]
    assert all(re.match(r"\d+\. `(crates|docs)/[\w./-]+`: ", step) for step in steps), steps
