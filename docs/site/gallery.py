"""Writes the gallery: a page for each scenario in ``examples``, made from the file itself.

A page has the title, the comment at the top of the file, the picture that the first command of that comment
draws, and the file.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tidegate as tg

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Example:
    """A scenario of the gallery."""

    file: Path
    title: str
    #: The comment at the top, in paragraphs; lines that are indented are a drawing or commands.
    comment: list[str]

    @property
    def first(self) -> str:
        """The first paragraph: what the scenario is."""
        return markdown(self.comment[0])

    def gate(self) -> str | None:
        """Return which gate the first command draws; None: it leaves the choice to Tidegate."""
        for line in "\n".join(self.comment).splitlines():
            words = shlex.split(line) if line.strip().startswith("tidegate run ") else []
            if "--plot" in words:
                return words[words.index("--gate") + 1] if "--gate" in words else None
        return None


def examples(folder: Path) -> list[Example]:
    """Return the scenarios of a folder, by name."""
    return [read(file) for file in sorted(folder.glob("*.toml"))]


def read(file: Path) -> Example:
    """Read a scenario's title and the comment at its top.

    Raises:
        ValueError: there is no comment.
    """
    text = file.read_text(encoding="utf-8")
    comment = re.match(r"(?:#.*\n|\n)*", text)
    lines = [] if comment is None else [line.removeprefix("#").rstrip() for line in comment[0].splitlines()]
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines).strip("\n"))
    title = tomllib.loads(text).get("title", file.stem)
    if not paragraphs[0]:
        raise ValueError(f"{file}: the gallery needs a comment at the top that says what the scenario is")
    return Example(file, title, paragraphs)


def markdown(paragraph: str) -> str:
    """Return a paragraph of a comment as Markdown: text, or a block of code where its lines are indented."""
    lines = [line.removeprefix(" ") for line in paragraph.splitlines()]
    if all(line.startswith("  ") for line in lines):
        kind = "bash" if lines[0].split()[0] == "tidegate" else "text"
        return "\n".join([f"```{kind}", *(line.removeprefix("  ") for line in lines), "```"])
    text = re.sub(r"([\\`*_<>\[\]#])", r"\\\1", " ".join(line.strip() for line in lines))
    return re.sub(r"(?<!\S)(\(?)(--[a-z][a-z-]*(?: \d+)?)", r"\1`\2`", text)


def write(folder: Path, out: Path, *, pictures: bool) -> None:
    """Write the gallery of a folder of scenarios."""
    out.mkdir(parents=True)
    found = examples(folder)
    for example in found:
        if pictures:
            tg.run(example.file).plot(out / f"{example.file.stem}.png", gate=example.gate())
        (out / f"{example.file.stem}.md").write_text(_page(example, pictures=pictures), encoding="utf-8")
    (out / "README.md").write_text(_index(found, pictures=pictures), encoding="utf-8")


def _page(example: Example, *, pictures: bool) -> str:
    name = example.file.name
    picture = f"![{name}, drawn](" + f"{example.file.stem}.png)\n" if pictures else ""
    parts = [
        f"# {markdown(example.title)}\n",
        f"The scenario `examples/{name}`.\n",
        f"{example.first}\n",
        picture,
        *(f"{markdown(paragraph)}\n" for paragraph in example.comment[1:]),
        f"## The file `examples/{name}`\n",
        f"```toml\n{_body(example)}\n```\n",
    ]
    return "\n".join(part for part in parts if part)


def _body(example: Example) -> str:
    """Return the file without the comment at its top, which the page has as text."""
    text = example.file.read_text(encoding="utf-8")
    return re.sub(r"\A(?:#.*\n|\n)*", "", text).rstrip("\n")


def _index(found: list[Example], *, pictures: bool) -> str:
    parts = [
        "# Gallery\n",
        (
            "Every scenario in `examples`, with the picture that its first command draws. "
            "Each page holds the whole file; change any key with `--set`.\n"
        ),
        "::::{container} gallery\n",
    ]
    for example in found:
        page = f"{example.file.stem}.md"
        picture = f"[![{example.file.name}, drawn]({example.file.stem}.png)]({page})\n\n" if pictures else ""
        title = f"**[{markdown(example.title)}]({page})**\n\n"
        parts.append(f":::{{container}} card\n{picture}{title}{example.first}\n:::\n")
    return "\n".join([*parts, "::::\n"])
