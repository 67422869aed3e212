"""A reader can follow the pages: files are named, nothing is hidden, one page does not disturb another."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("snippets_of_pages", ROOT / "docs" / "snippets.py")
assert _spec is not None
assert _spec.loader is not None
snippets = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = snippets
_spec.loader.exec_module(snippets)

PAGES = snippets.pages()
#: Comments that mean something before a block.
KNOWN = re.compile(r"not run|status \d+|file \S+|output( lines .*)?")
#: The end of a sentence with another behind it; not "Fig. 5" and not the initial of a name.
SENTENCE_END = re.compile(r"(?<!\bFig)(?<!\bFigs)(?<!\b[A-Z])(?<=[\w)`\]%\"])[.!?] (?=[A-Z`\[*(]|\d+ [A-Z])")
#: Pages with one sentence to a line.
PROSE = [
    *PAGES,
    *(ROOT / name for name in ("docs/README.md", "docs/glossary.md", "docs/kernel-notes/README.md")),
    ROOT / "benches" / "README.md",
]


def prose(page: Path) -> list[str]:
    """Return the lines of a page that are sentences, those of lists included: no code, table or heading."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    lines = [line for line in text.splitlines() if line and not re.match(r"[|#<!]", line)]
    return [re.sub(r"^(- |\d+\. )", "", line) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_are_named(page: Path) -> None:
    """Where a page writes a file, the sentence before the block tells the reader to save it."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^<!-- file (\S+) -->$", text, flags=re.M):
        before = text[: text.index(f"<!-- file {name} -->")].rstrip().rpartition("\n")[2]
        assert f"`{name}`" in before, f"{page.name}: save it as `{name}`"
        assert re.search(r"[Ss]ave (this|it)", before), f"{page.name}: tell the reader to save `{name}`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_nothing_is_hidden(page: Path) -> None:
    """A comment says how the block below it is run; none runs anything itself."""
    text = page.read_text(encoding="utf-8")
    comments = re.findall(r"^<!-- (.*) -->$", text, flags=re.M)
    assert comments == [note for block in snippets.blocks(text) for note in block.notes], page.name
    for comment in comments:
        assert KNOWN.fullmatch(comment), f"{page.name}: {comment}"


def test_pages_write_to_places_of_their_own() -> None:
    """No folder and no file is written by two pages: a reader stays in one folder."""
    written: Counter[str] = Counter()
    for page in PAGES:
        blocks = snippets.blocks(page.read_text(encoding="utf-8"))
        names = {block.note("file") for block in blocks} - {None}
        for block in blocks:
            if block.note("not run") is None and block.kind in ("bash", "python"):
                names |= set(re.findall(r"--out (\S+)", block.text))
                names |= set(re.findall(r"\.save\(\"([^\"]+)\"", block.text))
        written.update(names)
    assert {name for name, pages in written.items() if pages > 1} == set()


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_one_sentence_to_a_line(page: Path) -> None:
    """A change of a sentence is a change of a line."""
    for line in prose(page):
        assert not SENTENCE_END.search(line), f"{page.name}: {line}"


def test_every_page_of_the_guide_is_in_its_table() -> None:
    """The guide's first page leads to every other one."""
    first = (ROOT / "docs" / "guide" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "guide").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in first, page.name


def test_each_page_of_a_track_names_the_next() -> None:
    """A reader on GitHub has no button for it."""
    first = (ROOT / "docs" / "guide" / "README.md").read_text(encoding="utf-8")
    for track in ("Internet links", "ATM and the papers"):
        section = first.partition(f"### {track}\n")[2].partition("\n### ")[0]
        pages = re.findall(r"^\| \d+ \| \[[^]]+\]\(([\w-]+\.md)\)", section, flags=re.M)
        assert len(pages) > 5
        for page, following in pairwise(pages):
            last = (ROOT / "docs" / "guide" / page).read_text(encoding="utf-8").splitlines()[-1]
            assert last.startswith("Next"), page
            assert f"]({following})" in last, f"{page}: next is {following}"


def test_recipes_need_no_clone() -> None:
    """The recipes start in an empty folder: `tidegate init` writes what they read."""
    text = (ROOT / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
    found = snippets.blocks(text)
    assert [block.text for block in found if "examples/" in block.text] == []


def test_part_of_an_output() -> None:
    """A page may show some lines of an output; what it leaves out is marked."""
    said = "one\ntwo  \nthree\nfour\nfive\n"
    assert snippets.shown(said, "") == ["one", "two", "three", "four", "five"]
    assert snippets.shown(said, "lines 1-2") == ["one", "two", "…"]
    assert snippets.shown(said, "lines 2-2, 4-5") == ["…", "two", "…", "four", "five"]
    for wrong in ("lines 0-2", "lines 4-6", "lines 3-4, 1-2", "lines 3-2", "line 3", "first 12"):
        with pytest.raises(snippets.PageError):
            snippets.shown(said, wrong)
    for drifted in ("lines 1-2", "lines 2-3"):
        with pytest.raises(snippets.PageError, match="empty line"):
            snippets.shown("one\n\nthree\n", drifted)
