"""The report of a comparison as one page, and what a notebook shows of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._base.text import wide
from tidegate._compare.text import comparison_lines
from tidegate._compare.variants import SCENARIO
from tidegate._compare.view import comparison_cloud, comparison_view
from tidegate._page.render import fragment, sheet_page
from tidegate._page.sheet import Grid, Item, Paragraph, Section, Sheet, Stage, items_of
from tidegate._page.view import script_json
from tidegate._run.page import SHARES_SHORT, again, image, picture, shares
from tidegate._run.text import run_lines
from tidegate._run.words import MOST_ROWS

if TYPE_CHECKING:
    from tidegate._compare.variants import Variants


def comparison_page(comparison: Variants) -> str:
    """Return the report of a comparison: its table and picture, what limited whom, every variant."""
    facts, items = _facts_and_items(comparison)
    sections = [Section("results", "Results", items)]
    limits = _limits(comparison)
    if limits is not None:
        sections.append(limits)
    cloud = comparison_cloud(comparison)
    sections.append(Section("picture", "Over time", [Stage("board"), _picture(comparison, "comparison")]))
    if cloud is not None:
        sections.append(Section("against", "One number against another", [Stage("cloud"), _SCRIPTS_ONLY]))
    count = len(comparison.variants)
    shown: list[Item] = [Paragraph(f"The first {_MOST} of {count}.")] if count > _MOST else []
    sections.append(Section("variants", "Each variant", shown))
    for number, variant in enumerate(comparison.variants[:_MOST], 1):
        with wide():
            lines = run_lines(variant.run.summary, variant.run.title)
        title = ", ".join(f"{key}={value}" for key, value in variant.changes.items())
        sections.append(Section(f"variant-{number}", title, items_of(lines[2:]), folded=True))
    first = comparison.variants[0].run
    varied = [
        f"{key} = {', '.join(dict.fromkeys(v.changes[key] for v in comparison.variants))}"
        for key in comparison.axes
    ]
    sections.append(again(first.manifest, _scenarios(comparison), changes=varied))
    numbers = json.dumps(comparison.to_dict(), ensure_ascii=False, allow_nan=False)
    version = _core.build_info()["tidegate"]
    view = comparison_view(comparison)
    return sheet_page(
        Sheet(
            comparison.title,
            facts,
            sections,
            comparison.warnings,
            numbers,
            series=script_json(view.to_dict() if view is not None else None),
            points=script_json(cloud.to_dict() if cloud is not None else None),
            version=version,
        )
    )


def _scenarios(comparison: Variants) -> str | None:
    """Return the texts of several scenarios, each under its name; None of one."""
    if SCENARIO not in comparison.axes:
        return None
    texts: dict[str, str] = {}
    for variant in comparison.variants:
        texts.setdefault(variant.changes[SCENARIO], variant.run.manifest.get("scenario") or "")
    return "\n\n".join(f"# {name}\n{text.strip()}" for name, text in texts.items())


#: Where the plot is missing without scripts.
_SCRIPTS_ONLY = Paragraph("A mark for each variant; its numbers are in the table of results.")
#: Variants with tables of their own on a page.
_MOST = 24


def comparison_fragment(comparison: Variants) -> str:
    """Return what a notebook shows of a comparison: its tables and the picture."""
    from tidegate._compare.picture import picture_of

    facts, items = _facts_and_items(comparison)
    shown = [item for item in items if isinstance(item, Grid)]
    return fragment(comparison.title, facts, [*shown, image(picture_of(comparison))])


def _facts_and_items(comparison: Variants) -> tuple[str, list[Item]]:
    with wide():
        lines = comparison_lines(comparison)
    return lines[1], items_of(lines[2:])


def _picture(comparison: Variants, name: str) -> Item:
    from tidegate._compare.picture import picture_of

    return picture(picture_of(comparison), name)


def _limits(comparison: Variants) -> Section | None:
    """Return bars: one for each variant and flow or, where these are many, for each variant."""
    rows = []
    names = []
    several = max(len(variant.run.flows) for variant in comparison.variants)
    for variant in comparison.variants:
        flows = variant.run.summary["flows"]
        label = variant.label(comparison.axes)
        if several * len(comparison.variants) > 2 * MOST_ROWS and several > 1:
            causes = [row.get("limited_by") or {} for row in flows]
            whats = dict.fromkeys(what for share in causes for what in share)
            mean = {what: sum(share.get(what) or 0.0 for share in causes) / len(causes) for what in whats}
            rows.append({"limited_by": mean})
            names.append(f"{label}: mean of {len(flows)} flows")
        else:
            rows += flows
            names += [f"{label}: {row['name']}" if several > 1 else label for row in flows]
    found = shares(rows, names)
    if found is None:
        return None
    return Section("limits", "What limited each flow", [found, Paragraph(SHARES_SHORT)])
