"""The page maker: templates and one look for every report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import jinja2

    from tidegate._page.sheet import Item, Sheet


def rendered(
    template: str, *, folder: Path | None = None, filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:  # fmt: skip
    """Return a template of this folder, or of another that builds on the ones here, filled in."""
    environment = _environment(folder)
    environment.filters.update(filters or {})
    return environment.get_template(template).render(**values)


def _environment(folder: Path | None) -> jinja2.Environment:
    import jinja2

    here = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, here] if folder else [here]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["least_width"] = least_width
    environment.globals["built"] = built
    return environment


def sheet_page(sheet: Sheet) -> str:
    """Return a report as one HTML page that loads nothing; the same report is the same text."""
    # Inside a script element "</" would end it.
    data = sheet.json.replace("<", "\\u003c")
    return rendered("sheet.html.j2", sheet=sheet, data=data)


def built(name: str) -> str:
    """Return a script, a style or a licence that ``make page`` made of ``web/``."""
    return (Path(__file__).parent / "built" / name).read_text(encoding="utf-8")


def fragment(title: str, facts: str, items: list[Item]) -> str:
    """Return what a notebook shows in a cell: tables and pictures with their look."""
    return rendered("fragment.html.j2", title=title, facts=facts, items=items)


def least_width(svg: str) -> str:
    """Return the width below which a figure scrolls instead of shrinking: letters stay above 6 pt."""
    found = re.search(r'<svg[^>]*\bwidth="([0-9.]+)pt"', svg)
    return f"{LEAST_SCALE * float(found[1]):.0f}pt" if found else "0"


#: Letters of a figure are 7.5 to 8.5 pt at its own size.
LEAST_SCALE = 0.8
