"""The laboratory inside the site, and links of examples into it, where ``make wasm`` built its module."""

from __future__ import annotations

import re
import zlib
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from tidegate._ask.scenario import Scenario
from tidegate._lab.static import MODULE, write_static
from tidegate.errors import ScenarioError, TraceError

if TYPE_CHECKING:
    from pathlib import Path

#: Its folder in the site.
FOLDER = "laboratory"
_BLOCK = re.compile(r"^```toml\n(.*?)^```[ \t]*\n", re.S | re.M)
_WORDS = "Open it in the laboratory"


def is_there() -> bool:
    """Tell whether the site can have a laboratory."""
    return MODULE.is_file()


def write(built: Path) -> None:
    """Write the laboratory into the site of a version."""
    write_static(built / FOLDER)


def link_pages(source: Path, examples: Path) -> None:
    """Put a link below every scenario that a page shows as a whole, and on each page of the gallery."""
    for page in sorted(source.rglob("*.md")):
        up = "../" * (len(page.relative_to(source).parts) - 1)
        text = page.read_text(encoding="utf-8")
        if page.parent == source / "gallery":
            linked = _example_linked(
                text, f"{up}{FOLDER}/index.html#e={page.stem}", examples / f"{page.stem}.toml"
            )
        else:
            linked = _BLOCK.sub(lambda block, up=up: _block_linked(block, up, examples), text)
        if linked != text:
            page.write_text(linked, encoding="utf-8")


def fragment(text: str) -> str:
    """Return what stands behind # in an address of the laboratory with a scenario in it (``share.ts``)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(text.encode()) + packer.flush()
    return f"x={urlsafe_b64encode(data).decode().rstrip('=')}"


def _link(address: str) -> str:
    return f'<p class="laboratory"><a href="{address}">{_WORDS}</a></p>\n'


def _example_linked(text: str, address: str, file: Path) -> str:
    """Put the link below the first line about the file; controllers in Python need the command line."""
    if not file.is_file() or '"python:' in file.read_text(encoding="utf-8"):
        return text
    head = f"The scenario `examples/{file.name}`.\n"
    return text.replace(head, f"{head}\n{_link(address)}", 1)


def _block_linked(block: re.Match[str], up: str, examples: Path) -> str:
    try:
        Scenario.confined(block[1], name="scenario", folder=examples)
    except (ScenarioError, TraceError):
        return block[0]  # A part of a scenario.
    return f"{block[0]}\n{_link(f'{up}{FOLDER}/index.html#{fragment(block[1])}')}"
