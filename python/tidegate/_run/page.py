"""The report of a run as one page, and what a notebook shows of it."""

from __future__ import annotations

import shlex
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._base.text import wide
from tidegate._page.render import fragment, sheet_page
from tidegate._page.sheet import (
    Grid,
    Image,
    Item,
    Listing,
    Paragraph,
    Picture,
    Section,
    Shares,
    Sheet,
    Stage,
    items_of,
)
from tidegate._page.view import script_json
from tidegate._run.text import LIMITED_BY, limited_by, mean_shares, run_lines
from tidegate._run.view import run_view
from tidegate._run.words import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidegate._draw.drawing import Drawing
    from tidegate._draw.figure import Figure
    from tidegate._run.record import Recorded


def run_page(run: Recorded) -> str:
    """Return the report of a run: what limited whom, its picture, its tables, the scenario, the command."""
    facts, items = _facts_and_items(run)
    sections = [Section("results", "Results", items)]
    limits = shares(run.summary["flows"])
    if limits:
        sections.append(Section("limits", "What limited each flow", [limits, Paragraph(SHARES_SHORT)]))
    drawn = _picture(run)
    if drawn is not None:
        sections.append(Section("picture", "Over time", [Stage("board"), picture(drawn, "run")]))
    sections.append(again(run.manifest))
    view = run_view(run)
    series = script_json(view.to_dict() if view is not None else None)
    version = _core.build_info()["tidegate"]
    return sheet_page(
        Sheet(run.title, facts, sections, run.warnings, run.to_json(), series=series, version=version)
    )


def run_fragment(run: Recorded) -> str:
    """Return what a notebook shows of a run: flows, gates and the picture."""
    facts, items = _facts_and_items(run)
    drawn = _picture(run)
    shown = [item for item in items if isinstance(item, Grid)]
    return fragment(run.title, facts, [*shown, *([image(drawn)] if drawn is not None else [])])


def _facts_and_items(run: Recorded) -> tuple[str, list[Item]]:
    """Return the facts, and the tables and paragraphs of a run but for what limited whom."""
    with wide():
        if run.summary["engine"] == "theory":
            from tidegate._run.text_theory import theory_lines

            lines = theory_lines(run.summary, run.title)
        else:
            lines = run_lines(run.summary, run.title)
    if LIMITED_BY in lines:
        begin = lines.index(LIMITED_BY)
        end = next((n for n in range(begin, len(lines)) if not lines[n]), len(lines))
        lines = [*lines[:begin], *lines[end:]]
    return lines[1], items_of(lines[2:])


#: What the bars are.
SHARES_SHORT = (
    "Each gap between two arrivals at the receiver counts for one cause: the gate where the later segment "
    "waited longest or, where it never waited, what kept the sender from sending earlier."
)


def shares(flows: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None) -> Shares | None:
    """Return bars of what limited each flow; of many flows one bar, their mean. None: nothing is known."""
    causes = [dict(row.get("limited_by") or {}) for row in flows]
    if not any(causes):
        return None
    called = [str(row["name"]) for row in flows] if names is None else list(names)
    if len(causes) > MOST_ROWS and names is None:
        causes = [mean_shares(causes)]
        called = [f"mean of {len(flows)} flows"]
    return Shares(
        [
            (
                name,
                [
                    (what.replace("gate.", "gate "), share)
                    for what, share in sorted(parts.items(), key=lambda part: -(part[1] or 0.0))
                    if share and share >= _LEAST
                ],
                limited_by(parts),
            )
            for name, parts in zip(called, causes, strict=True)
        ]
    )


#: A share below this is not drawn.
_LEAST = 0.005


def _picture(run: Recorded) -> Drawing | None:
    """Draw the run; None where it kept no time series."""
    if not run.has("gates") or not run.has("flows"):
        return None
    from tidegate._run.plot import run_drawing

    return run_drawing(run)


def picture(figure: Drawing | Figure, name: str, caption: str = "") -> Picture:
    """Return a figure as a part of a page."""
    from tidegate._draw.inline import svg_of

    return Picture(svg_of(figure, name), caption)


def image(figure: Drawing | Figure) -> Image:
    """Return a figure as a cell of a notebook shows it."""
    from tidegate._draw.drawing import Drawing

    if isinstance(figure, Drawing):
        from tidegate._draw.onto import figure_of

        figure = figure_of(figure)
    return Image(b64encode(figure._repr_png_()).decode("ascii"))


def again(manifest: Mapping[str, Any], scenario: str | None = None, changes: Sequence[str] = ()) -> Section:
    """Return how to make it again: the command, the scenario and the hashes of what it read.

    ``changes``: what was varied; then the scenario is that of the first combination.
    """
    items: list[Item] = []
    command = manifest.get("command")
    if command:
        items.append(Listing("The command", shlex.join(command)))
    text = manifest.get("scenario") if scenario is None else scenario
    if text:
        first = "; what is varied has its first value" if changes else ""
        items.append(Listing(f"The scenario as it was run, with every --set{first}", text))
    items += [Paragraph(f"Varied: {change}") for change in changes]
    inputs = manifest.get("inputs") or []
    if inputs:
        from tidegate._base.text import table

        rows = [[str(each.get(key, "–")) for key in ("path", "sha256")] for each in inputs]
        items.append(Grid(table([["file read", "SHA-256"]], rows, left=2)))
    return Section("again", "Run it again", items)
