"""Where tests are: a folder for each question, and in `support` what they share."""

from __future__ import annotations

import re

from support.common import ROOT

TESTS = ROOT / "tests"


def test_nothing_but_what_every_test_gets_is_outside_a_folder() -> None:
    assert sorted(path.name for path in TESTS.glob("*.py")) == ["conftest.py"]


def test_what_is_shared_asks_nothing() -> None:
    assert not list((TESTS / "support").rglob("test_*.py"))


def test_what_is_shared_needs_no_folder_of_tests() -> None:
    folders = "|".join(path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "support")
    assert folders
    needed = re.compile(rf"^\s*(?:from|import) (?:{folders})\b", re.M)
    assert not [path for path in (TESTS / "support").glob("*.py") if needed.search(path.read_text("utf-8"))]


def test_a_test_in_real_time_says_so_in_its_file() -> None:
    """`make test` looks for the mark in the files of tests."""
    shared = [path for path in TESTS.rglob("*.py") if not path.name.startswith("test_")]
    assert not [path for path in shared if "mark.live" in path.read_text("utf-8")]
