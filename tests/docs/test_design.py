"""A page of the design is read in one go, and can be found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted((ROOT / "docs" / "design").glob("*.md"))
#: Lines of a page, at most.
LONGEST = 149


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_first_page_leads_to_every_other() -> None:
    first = (ROOT / "docs" / "design" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([\w-]+\.md)", first))
    assert {page.name for page in PAGES} - {"README.md"} - named == set()
