"""Plain English stays plain: short sentences in the pages, and none of the words that stood for others."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Words of a sentence, at most.
LONGEST = 40
#: Words that stood for a word of the field: what to write in their place.
INSTEAD = {
    "books": "counters",
    "by nothing": "what cannot be told apart",
    "calm": "the condition that holds",
    "crew": "thread pool",
    "door": "listener, admission",
    "doors": "listeners",
    "lap": "batch",
    "laps": "batches",
    "leg": "path",
    "news": "what is new",
}
PAGES = sorted(
    page
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/[gdk]*/*.md",
        "benches/*.md",
        "papers/*.md",
        "tests/*/README.md",
    )
    for page in ROOT.glob(pattern)
)
WORD = re.compile(rf"\b({'|'.join(INSTEAD)})\b")


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page outside of code and headings; code in a line is one word.

    A cell of a table may have parts between semicolons and colons, as a list has.
    """
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for part in re.split(r"\n\s*\n|\n(?=[-*|#\d])", text):
        if part.startswith(("#", "<!--")):
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", part))
        ends = r"(?<!\\)\||(?<=[.!?;:])\s+" if part.startswith("|") else r"(?<=[.!?])\s+"
        yield from re.split(ends, words.replace("\n", " "))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page: Path) -> None:
    """One idea for each sentence."""
    long = [each for each in sentences(page) if len(each.split()) > LONGEST]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_use_words_of_the_field(page: Path) -> None:
    """A reader who does not know the project's old words need not learn them."""
    found = [(match.group(), each) for each in sentences(page) for match in WORD.finditer(each)]
    assert not found, found


def described_keys() -> Iterator[str]:
    """Yield what the schema says about each key of the scenario language, and about each of its words."""
    parts = [tg.schema()]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            yield part["description"] if isinstance(part.get("description"), str) else ""
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()


def test_keys_are_described_in_short_sentences() -> None:
    told = [sentence for text in described_keys() for sentence in re.split(r"(?<=[.!?])\s+", text)]
    assert len(told) > 1000
    assert [each for each in told if len(each.split()) > LONGEST or WORD.search(each)] == []


def described() -> Iterator[tuple[Path, str]]:
    """Yield what Rust's doc comments and Python's docstrings say."""
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.match(r"\s*//[/!]", line):
                yield path, re.sub(r"`[^`]*`", "code", line)
    for path in sorted((ROOT / "python").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield path, ast.get_docstring(node) or ""


def test_doc_comments_use_words_of_the_field() -> None:
    found = [(path.name, line) for path, line in described() if WORD.search(line)]
    assert not found, found
