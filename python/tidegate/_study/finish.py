"""From the tables and facts of all runs to the study: its gate, its warnings, its points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._base.lazy import Lazy
from tidegate._base.nearest import nearest
from tidegate._run.chance import no_difference, places
from tidegate._run.manifest import HEADERS_NOTE
from tidegate._run.summary import OF_GATE
from tidegate._run.tcp_words import tcp_told
from tidegate._study import live
from tidegate._study.columns import PLACE, Columns, point_column, replication_column
from tidegate._study.gather import MAIN_GATE
from tidegate._study.point import Point
from tidegate._study.value import Study
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import polars as pl

    from tidegate._study.columns import Chunk
    from tidegate._study.gather import Facts
    from tidegate._study.point import Described
else:
    pl = Lazy("polars")


def assembled(
    described: Described,
    columns: Columns,
    facts: Facts,
    gate: str | None,
    command: list[str] | None,
    notes: Sequence[str] = (),
) -> Study:
    """Make the study of all its results.

    Raises:
        UnknownNameError: there is no such gate.
    """
    chosen = _gate(columns, len(described.points), gate)
    points, equal = _points(described, facts)
    warnings = list(dict.fromkeys([*described.warnings, *facts.in_order(facts.warnings)]))
    if described.engine == "live":
        warnings = [*notes, *live.alike(warnings)]
    if equal:
        runs = f"the {facts.points[equal[0][0].number][1]} runs of a point"
        where = places([point.label() for point, _ in equal], len(points))
        warnings.append(no_difference(runs, equal[0][1], where))
    same = facts.shortest_s == facts.longest_s
    manifest: dict[str, Any] = {
        "kind": "study",
        "layout": 1,
        "engine": facts.engine,
        "tcp": tcp_told({"tcp": label} for label in facts.tcp),
        "title": described.title,
        "scenario_file": described.file,
        "seed": described.seed,
        "axes": list(described.axes),
        "gate": chosen,
        "duration_s": facts.longest_s,
        **({} if same else {"shortest_s": facts.shortest_s}),
        "measured_from_s": facts.measured_from_s,
        "measures": facts.in_order(facts.measures),
        "headers": HEADERS_NOTE,
        "warnings": warnings,
        "command": command,
    }
    columns.replace("runs", lambda chunk: _joined(chunk, chosen))
    return Study(manifest, points, columns)


def _points(described: Described, facts: Facts) -> tuple[list[Point], list[tuple[Point, list[str]]]]:
    """Return the points, and those whose runs came out the same although something was drawn."""
    points = []
    equal = []
    for number, (chosen, scenario, drawn) in enumerate(described.points):
        draws = ["the kernel's TCP"] if described.engine == "live" else drawn
        alike = bool(draws) and facts.are_alike(number)
        point = Point(number, dict(chosen), scenario, bool(draws) and not alike)
        points.append(point)
        if alike:
            equal.append((point, draws))
    return points, equal


def _gate(columns: Columns, points: int, asked: str | None) -> str | None:
    """Return the gate that is reported: the one asked for, or the first main gate that every point has."""
    gates, runs = columns.table("gates"), columns.table("runs")
    if gates is None or runs is None:
        if asked is not None:
            raise UnknownNameError(nearest("gate", asked, []))
        return None
    firsts = gates.filter(replication_column() == 0)
    names = [asked]
    if asked is None:
        mains = runs.select(MAIN_GATE).filter(pl.col(MAIN_GATE).is_not_null())
        names = mains.unique(maintain_order=True).collect()[MAIN_GATE].to_list()
    for name in names:
        there = firsts.filter(pl.col("name") == name).select(pl.col(PLACE).n_unique()).collect().item()
        if there == points:
            return name
    if asked is None:
        return None
    having = firsts.filter(pl.col("name") == asked).select(point_column()).collect()["point"]
    lacks = min({*range(points)} - {*having.to_list()})
    known = firsts.filter(point_column() == lacks).select("name").collect()["name"].to_list()
    raise UnknownNameError(nearest("gate", asked, known))


def _joined(chunk: Chunk, gate: str | None) -> pl.DataFrame:
    """Return ``runs`` of a chunk with what is said of the gate, behind the fairness."""
    runs = chunk["runs"].drop(MAIN_GATE).collect()
    gates = chunk.get("gates")
    there = [] if gates is None or gate is None else gates.collect_schema().names()
    kept = [name for name in OF_GATE if name in there]
    if gates is not None and kept:
        rows = gates.filter(pl.col("name") == gate).select(PLACE, *kept).collect()
        runs = runs.join(rows, on=PLACE, how="left", maintain_order="left")
    runs = runs.with_columns([pl.lit(None).alias(name) for name in OF_GATE if name not in kept])
    before = runs.columns[: runs.columns.index("fairness") + 1]
    return runs.select(*before, *OF_GATE, *[name for name in runs.columns if name not in (*before, *OF_GATE)])
