"""A page of the design is read in one go, and can be found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted((ROOT / "docs" / "design").glob("*.md"))
#: Where what pages name may lie.
FOLDERS = ("crates", "fuzz", "python", "papers", "tests", "benches", "docs", "examples")
#: Lines of a page, at most.
LONGEST = 149


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONGEST


def tree() -> tuple[list[str], set[str], set[str]]:
    """Return the project's files, the modules of Rust, and its functions, modules, types and constants."""
    files = [path for name in FOLDERS for path in (ROOT / name).rglob("*.*") if path.is_file()]
    files += ROOT.glob("*.md")
    rust = [path for path in files if path.suffix == ".rs"]
    modules = {path.parent.name if path.stem == "mod" else path.stem for path in rust}
    text = "\n".join(path.read_text(encoding="utf-8") for path in rust)
    words = set(re.findall(r"\b(?:fn|mod|struct|enum|trait|type|const|static)\s+(\w+)", text))
    return [path.relative_to(ROOT).as_posix() for path in files], modules, words | modules


def test_files_and_modules_that_pages_name_are_there() -> None:
    files, modules, words = tree()
    gone = []
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
        for name in re.findall(r"`([\w/.-]+\.(?:rs|py|md))`", text):
            # The way of a segment says `sim` for its crate.
            if not any(f"/{path}".endswith(f"/{name.removeprefix('sim/')}") for path in files):
                gone.append(f"{page.name}: {name}")
        for name in re.findall(r"`(\w+(?:::\w+)+)`", text):
            first, *others = name.split("::")
            if first in modules and not words.issuperset(others):
                gone.append(f"{page.name}: {name}")
    assert gone == []


def test_the_first_page_leads_to_every_other() -> None:
    first = (ROOT / "docs" / "design" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([\w-]+\.md)", first))
    assert {page.name for page in PAGES} - {"README.md"} - named == set()
