"""Copies the Markdown pages for Sphinx, and adds what only the site needs: tables of contents.

The pages stay as they are read on GitHub. Only the copies change:

- A ``README.md`` gets a table of contents, which makes the sidebar: first the pages that it links to, in
  that order, then the other pages of its folder. So a new page needs no entry in any list.
- A link to a scenario in ``examples`` leads to its page in the gallery.
- A link to a folder leads to the ``README.md`` in it; where there is none, only its text stays.
- Any other file that a page links to is copied, and offered as a download.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Folders with pages, beside those in the root folder and everything below ``docs``.
FOLDERS = ("benches", "examples", "fuzz", "tests")
#: The page that the site starts with.
START = "README.md"
#: The page whose links give the sections of the site their order.
SECTIONS = "docs/README.md"
#: Pages that only the site has, and the section that each follows.
MADE = (
    ("gallery/README.md", "docs/guide/README.md", 0.1),
    ("papers/README.md", "docs/guide/README.md", 0.2),
    ("rust.md", "docs/reference/README.md", 0.1),
)

_LINK = re.compile(r"(?<=\])\(([^)\s]+)\)")
_LINKED_TEXT = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$|`[^`\n]+`", re.S | re.M)


def copy(root: Path, source: Path) -> None:
    """Copy every page of the project in ``root``, and every file that a page links to, into ``source``."""
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    found += [page for folder in FOLDERS for page in (root / folder).glob("*.md")]
    for page in found:
        text = outside_code(
            page.read_text(encoding="utf-8"), lambda part, page=page: _mended(part, page, root)
        )
        copied = source / page.relative_to(root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text(text, encoding="utf-8")
        for target in targets(text):
            file = (page.parent / target).resolve()
            if file.is_file() and file.suffix != ".md" and file.is_relative_to(root):
                beside = source / file.relative_to(root)
                beside.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, beside)


def targets(text: str) -> list[str]:
    """Return the files that a page links to, as the page names them, each once."""
    found: list[str] = []
    outside_code(text, lambda part: found.extend(_LINK.findall(part)) or part)
    plain = [target.partition("#")[0] for target in found if not re.match(r"[a-z]+:", target)]
    return [target for target in dict.fromkeys(plain) if target]


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change the parts of a page that are not code."""
    parts = []
    at = 0
    for code in _CODE.finditer(text):
        parts += [change(text[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*parts, change(text[at:])])


def _mended(text: str, page: Path, root: Path) -> str:
    """Return a part of a page with links that the site can follow."""

    def mend(link: re.Match[str]) -> str:
        place = link[2].partition("#")[0]
        if not place or re.match(r"[a-z]+:", place):
            return link[0]
        file = (page.parent / place).resolve()
        if file.parent == root / "examples" and file.suffix == ".toml":
            return f"[{link[1]}]({_relative(root / 'gallery' / f'{file.stem}.md', page)})"
        if file == root / "examples":
            return f"[{link[1]}]({_relative(root / 'gallery' / 'README.md', page)})"
        if file.is_dir():
            there = file / "README.md"
            return f"[{link[1]}]({_relative(there, page)})" if there.is_file() else link[1]
        return link[0]

    return _LINKED_TEXT.sub(mend, text)


def _relative(file: Path, page: Path) -> str:
    return os.path.relpath(file, page.parent)


def add_contents(source: Path) -> None:
    """Give every page that leads to others its table of contents."""
    start = source / START
    children: dict[Path, list[Path]] = {}
    for page in sorted(source.rglob("*.md")):
        if page not in (start, source / SECTIONS):
            children.setdefault(_above(page, source), []).append(page)
    for page, below in children.items():
        rank = _ranks(source / SECTIONS if page == start else page)
        if page == start:
            _place_made(rank, source)
        below.sort(key=lambda each: (rank.get(each, len(rank)), each))
        entries = "\n".join(_relative(each, page) for each in below)
        _append(page, f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n")
    # The sidebar says the same as this page, which is for readers of the folder.
    sections = source / SECTIONS
    sections.write_text(f"---\norphan: true\n---\n\n{sections.read_text(encoding='utf-8')}", encoding="utf-8")


def _above(page: Path, source: Path) -> Path:
    """Return the README above a page: in its folder, or in the nearest folder above that has one."""
    folder = page.parent if page.name != "README.md" else page.parent.parent
    while folder not in (source, source / "docs"):
        if (folder / "README.md").is_file():
            return folder / "README.md"
        folder = folder.parent
    return source / START


def _ranks(page: Path) -> dict[Path, float]:
    """Return the place of each page that this page links to, in the order of the links."""
    found = [
        Path(os.path.normpath(page.parent / target)) for target in targets(page.read_text(encoding="utf-8"))
    ]
    return {target: place for place, target in enumerate(found)}


def _place_made(rank: dict[Path, float], source: Path) -> None:
    """Put the pages that only the site has beside the sections that they belong to."""
    for made, section, after in MADE:
        if source / section in rank:
            rank[source / made] = rank[source / section] + after


def _append(page: Path, text: str) -> None:
    page.write_text(page.read_text(encoding="utf-8") + text, encoding="utf-8")
