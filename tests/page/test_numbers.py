"""The laboratory's tables are those of `tidegate run`: the same digits, units and rows, on every example."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from common import EXAMPLES, ROOT
from tidegate._base.text import TextTable, number, percent, rate_scale
from tidegate._run.text import flows_table, gates_tables, limited_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEB = ROOT / "web"
FILES = [
    path
    for path in [
        *sorted(EXAMPLES.glob("*.toml")),
        *sorted(ROOT.glob("python/tidegate/_begin/templates/*.toml")),
    ]
    if '"python:' not in path.read_text(encoding="utf-8")
]
#: Reads what is asked from standard input and prints the page's answer.
SCRIPT = """
import { fixed, number, percent, rateScale } from "./src/shared/number";
import { FLOWS, GATES, ofFlows, ofGates, written } from "./src/lab/numbers";
import { limitedBy } from "./src/lab/limits";
import { readFileSync } from "node:fs";
const { values, summaries } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({
  numbers: values.map((each) =>
    [number(each), number(each, 2), percent(each), fixed(each % 1e6, 0), rateScale(each)[1]]),
  tables: summaries.map((summary) => ({
    flows: written(ofFlows(summary), FLOWS),
    gates: ofGates(summary.gates).map(({ rows }) => written(rows, GATES)),
    limits: summary.flows.map((flow) => limitedBy(flow.limited_by)),
  })),
}));
"""
#: What the command's table calls a column that the page names in full, as its head has no groups.
CALLED = {"RTT p99": "p99", "wait p99": "p99"}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], dict[str, Any]]:
    if shutil.which("node") is None or not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("no Node here, or the packages of web/ are not installed (npm ci --prefix web)")
    script: Path = tmp_path_factory.mktemp("numbers") / "script.mjs"
    bundle = ["--bundle", "--platform=node", "--format=esm", "--loader=ts", f"--outfile={script}"]
    esbuild = WEB / "node_modules" / ".bin" / "esbuild"
    subprocess.run([str(esbuild), *bundle], input=SCRIPT, cwd=WEB, text=True, check=True, capture_output=True)

    def ask(what: Any) -> dict[str, Any]:
        done = subprocess.run(
            ["node", str(script)], input=json.dumps(what), text=True, check=True, capture_output=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return ask


def test_digits_and_units_are_those_of_the_command(page: Callable[[Any], dict[str, Any]]) -> None:
    luck = random.Random(3)
    values = [luck.uniform(-1, 1) * 10.0**power for power in range(-9, 13) for _ in range(40)]
    # In the middle between two digits, and at the ends of what is written out.
    values += [0.0, 12.25, 12.35, 0.5, 1.5, 2.5, 998.5, 999.5, 0.9996, 1.025e7, 1.035e7, 9_999_500.0]
    values += [1e-4, 0.00009999, 0.000_099_96, 1e6, 1e3, 1e9, 0.125, 0.375]
    expected = [
        [number(each), number(each, 2), percent(each), _whole(each), rate_scale(each)[1]] for each in values
    ]
    found = page({"values": values, "summaries": []})["numbers"]
    for value, mine, theirs in zip(values, found, expected, strict=True):
        assert mine == theirs, value


def _whole(value: float) -> str:
    """Return a number without a fraction; the sign is that of the number, as in JavaScript's remainder."""
    return f"{math.fmod(value, 1e6):.0f}"


def test_tables_are_those_of_the_command(page: Callable[[Any], dict[str, Any]]) -> None:
    summaries = [json.loads(tg.run(path, seed=1, record="summary").to_json()) for path in FILES]
    found = page({"values": [], "summaries": summaries})["tables"]
    compared = set()
    for path, summary, tables in zip(FILES, summaries, found, strict=True):
        assert tables["limits"] == [limited_by(flow.get("limited_by")) for flow in summary["flows"]]
        theirs = [each for each in gates_tables(summary["gates"]) if isinstance(each, TextTable)]
        mine = tables["gates"]
        if summary["flows"]:
            theirs, mine = [*theirs, flows_table(summary)], [*mine, tables["flows"]]
        for command, own in zip(theirs, mine, strict=True):
            compared |= _same(path.name, command, own)
    assert {
        "goodput",
        "throughput",
        "rate",
        "used",
        "loss",
        "dropped",
        "wait p50",
        "p99",
        "resent",
    } <= compared
    assert {"queue", "cwnd", "done", "timeouts", "RTT p50"} <= compared


def _same(where: str, table: TextTable, page: dict[str, Any]) -> set[str]:
    """Compare the cells of the rows and columns that both have; return the names of these columns."""
    rows = {row["name"]: [cell["text"] for cell in row["cells"]] for row in page["rows"]}
    units = "cells" if "cells" in table.head[1] else "packets"
    heads = [
        (CALLED.get(name, name), "mean" if name == "queue" and unit == units else unit)
        for name, unit in page["head"]
    ]
    compared = set()
    for name, *line in table.rows:
        # The command cuts long names; groups of flows stand in its table alone.
        told = dict(zip(zip(*(head[1:] for head in table.head), strict=True), line, strict=True))
        for head, cell in zip(heads, rows.get(name, []), strict=name in rows):
            if head in told:
                assert cell == told[head], (where, name, head)
                compared.add(head[0])
    return compared
