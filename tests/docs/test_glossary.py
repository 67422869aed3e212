"""The glossary has each word once, in order, and names that the code has."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ENTRY = re.compile(r"^\*\*(?P<word>[^*]+)\*\*: ")
CODE = re.compile(r"^Code: (?P<names>`\w+`(, `\w+`)*)\.$")


def entries() -> dict[str, list[str]]:
    """Return the lines of each entry, by its word; a word that is there twice is an error."""
    found: dict[str, list[str]] = {}
    paragraphs = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("\n\n")
    for paragraph in paragraphs:
        start = ENTRY.match(paragraph)
        if start:
            assert start["word"] not in found, start["word"]
            found[start["word"]] = paragraph.strip().splitlines()
    return found


def names_in_code() -> set[str]:
    """Return every identifier in the Rust and Python sources."""
    files = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "python").rglob("*.py")]
    return {name for file in files for name in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


def test_words_are_in_order() -> None:
    """A reader finds a word by the alphabet."""
    words = [word.lower() for word in entries()]
    assert len(words) >= 40
    assert words == sorted(words)


def test_every_entry_is_a_word_and_sentences() -> None:
    """Each has one to three sentences, one to a line; the name in the code is a line of its own, the last."""
    for word, lines in entries().items():
        said = [line for line in lines if not line.startswith("Code:")]
        assert 1 <= len(said) <= 3, word
        assert all(line.endswith(".") for line in said), word
        assert not any(line.startswith("Code:") for line in lines[:-1]), word


def test_code_names_exist() -> None:
    """What the glossary gives as a name in the code is an identifier there."""
    known = names_in_code()
    given = {
        word: CODE.match(lines[-1]) for word, lines in entries().items() if lines[-1].startswith("Code:")
    }
    assert len(given) >= 30
    for word, names in given.items():
        assert names is not None, f"{word}: write Code: `Name`, `Name`."
        for name in re.findall(r"`(\w+)`", names["names"]):
            assert name in known, f"{word}: no {name} in crates or python"
