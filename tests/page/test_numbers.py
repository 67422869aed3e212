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
from support.common import EXAMPLES, ROOT, TEMPLATES
from tidegate._base.text import TextTable, number, percent, rate_scale
from tidegate._compare.changed import changed_lines
from tidegate._compare.text import comparison_lines
from tidegate._run.perturbed import perturbed_lines
from tidegate._run.text import flows_table, gates_tables, limited_by, requests_table
from tidegate._run.text_calls import calls_tables
from tidegate._run.text_traffic import traffic_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEB = ROOT / "web"
FILES = [
    path
    for path in [
        *sorted(EXAMPLES.glob("*.toml")),
        *sorted(TEMPLATES.glob("*.toml")),
    ]
    if '"python:' not in path.read_text(encoding="utf-8")
]
#: Reads what is asked from standard input and prints the page's answer.
SCRIPT = """
import { fixed, number, percent, rateScale } from "./src/shared/number";
import { FLOWS, GATES, ofFlows, ofGates, ofOthers, ofVariants, written } from "./src/lab/numbers";
import { changed, ranges } from "./src/lab/luck";
import { limitedBy } from "./src/lab/limits";
import { readFileSync } from "node:fs";
const { values = [], summaries = [], compared = [], lucky = [] } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({
  numbers: values.map((each) =>
    [number(each), number(each, 2), percent(each), fixed(each % 1e6, 0), rateScale(each)[1]]),
  tables: summaries.map((summary) => ({
    flows: written(ofFlows(summary), FLOWS),
    gates: ofGates(summary.gates).map(({ rows }) => written(rows, GATES)),
    others: ofOthers(summary).map(({ rows, columns }) => written(rows, columns)),
    limits: summary.flows.map((flow) => limitedBy(flow.limited_by)),
  })),
  compared: compared.map(({ rows, flows }) => written(rows, ofVariants(rows, flows), "scenario")),
  lucky: lucky.map(({ labels, each }) => each.length > 1 ? changed(labels, each) : ranges(each[0])),
}));
"""
#: What the command's table calls a column that the page names in full, as its head has no groups.
CALLED = {
    "RTT p99": "p99",
    "wait p99": "p99",
    "delay p50": "p50",
    "delay p99": "p99",
    "response p50": "p50",
    "response mean": "response",
}


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
    found = page({"values": values})["numbers"]
    for value, mine, theirs in zip(values, found, expected, strict=True):
        assert mine == theirs, value


def _whole(value: float) -> str:
    """Return a number without a fraction; the sign is that of the number, as in JavaScript's remainder."""
    return f"{math.fmod(value, 1e6):.0f}"


def test_tables_are_those_of_the_command(page: Callable[[Any], dict[str, Any]]) -> None:
    summaries = [json.loads(tg.run(path, seed=1, record="summary").to_json()) for path in FILES]
    found = page({"summaries": summaries})["tables"]
    compared = set()
    for path, summary, tables in zip(FILES, summaries, found, strict=True):
        assert tables["limits"] == [limited_by(flow.get("limited_by")) for flow in summary["flows"]]
        theirs = [each for each in gates_tables(summary["gates"]) if isinstance(each, TextTable)]
        mine = tables["gates"]
        if summary["flows"]:
            theirs, mine = [*theirs, flows_table(summary)], [*mine, tables["flows"]]
        theirs, mine = [*theirs, *_others(summary)], [*mine, *tables["others"]]
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
    assert {"arrived", "p50", "jitter", "finished", "p95", "capacity", "blocked"} <= compared


def _others(summary: dict[str, Any]) -> list[TextTable]:
    """Return the command's tables of traffic, requests and pools: of each the first one."""
    first = [traffic_tables(summary.get("traffic_groups", []))[1:2]]
    if summary.get("requests"):
        first.append([requests_table(summary["requests"])])
    first.append(calls_tables(summary)[1:2] if summary.get("pools") else [])
    return [each for some in first for each in some if isinstance(each, TextTable)]


def test_very_many_groups_and_requests_have_the_rows_of_the_command(page: Callable[[Any], Any]) -> None:
    link = '[gate.link]\nrate = "50 Mbit/s"\ndelay = "10 ms"\nqueue = "50 packets"\n'
    sources = "".join(
        f'[traffic.s{n}]\npath = ["link"]\nsource.constant.rate = "{100 + 7 * n % 50} kbit/s"\n'
        for n in range(15)
    )
    asks = "".join(
        f'[flow.f{n}]\npath = ["link"]\nstart = "{n} ms"\n'
        f'app.request = {{ think = "300 ms", response = "{20 + n} kB" }}\n'
        for n in range(15)
    )
    scenario = tg.Scenario.from_toml(f'duration = "4 s"\n{link}{sources}{asks}')
    summary = json.loads(tg.run(scenario, seed=1, record="summary").to_json())
    (told,) = page({"summaries": [summary]})["tables"]
    for command, own in zip(_others(summary), told["others"], strict=True):
        assert [row["name"] for row in own["rows"]] == [row[0] for row in command.rows]
        assert len(own["rows"]) == 13


def test_copies_of_a_flow_have_a_line_together(page: Callable[[Any], Any]) -> None:
    scenario = tg.Scenario.from_toml(
        'duration = "8 s"\n[gate.link]\nrate = "20 Mbit/s"\ndelay = "10 ms"\nqueue = "50 packets"\n'
        '[flow.bulk]\ncount = 2\npath = ["link"]\n'
        '[flow.page]\ncount = 14\npath = ["link"]\nstart = "4 s"\napp = { transfer = "60 kB" }\n'
    )
    summary = json.loads(tg.run(scenario, seed=1, record="summary").to_json())
    ((told,),) = [[each["flows"] for each in page({"summaries": [summary]})["tables"]]]
    command = flows_table(summary)
    assert [row["name"] for row in told["rows"]] == [row[0] for row in command.rows]
    assert {"goodput", "throughput", "resent", "timeouts", "done"} <= _same("copies", command, told)


def test_comparisons_are_those_of_the_command(page: Callable[[Any], dict[str, Any]]) -> None:
    """The same cells, and the same words on what hangs on luck."""
    link = {"gate.isp.jitter": ["0 s", "1 ms"]}
    compared = [
        tg.compare(EXAMPLES / "policer.toml", vary=link, seed=1, perturb=5),
        tg.compare(EXAMPLES / "transfer.toml", vary={"flow.file.tcp.cc": ["cubic", "reno"]}, seed=1),
        tg.compare(EXAMPLES / "web.toml", vary={"seed": [1, 2]}),
        tg.compare(EXAMPLES / "many.toml", vary={"seed": [1, 2]}, perturb=3),
    ]
    asked = [
        {
            "rows": [{**row, "scenario": str(n)} for n, row in enumerate(each.rows())],
            "flows": [len(variant.run.flows) for variant in each.variants],
        }
        for each in compared
    ]
    found = page({"compared": asked})["compared"]
    told = set()
    for each, own in zip(compared, found, strict=True):
        lines = [line for line in comparison_lines(each) if isinstance(line, TextTable)]
        command = TextTable(lines[0].head, [[str(n), *row[1:]] for n, row in enumerate(lines[0].rows)], 1)
        told |= _same(each.title, command, own)
        heads = [CALLED.get(words, words) for words, _ in own["head"]]
        assert heads == [words for words in lines[0].head[0][lines[0].left :] if words], each.title
    assert {"goodput", "wait p50", "p99", "loss", "used", "timeouts", "done", "fairness", "p95"} <= told
    for each in (compared[0], compared[3]):
        labels = [variant.label(each.axes) for variant in each.variants]
        summaries = [variant.run.summary["perturbed"] for variant in each.variants]
        ((own),) = page({"lucky": [{"labels": labels, "each": summaries}]})["lucky"]
        _, command, about, *sentences = changed_lines(each)
        assert isinstance(command, TextTable)
        assert [row["cells"] for row in own["rows"]] == [row[1:] for row in command.rows]
        assert own["head"] == [list(pair) for pair in zip(*(line[1:] for line in command.head), strict=True)]
        assert own["about"] == _joined(about)
        assert own["sentences"] == [_joined(each) for each in sentences]


def test_what_is_luck_is_told_as_by_the_command(page: Callable[[Any], dict[str, Any]]) -> None:
    files = [
        EXAMPLES / f"{name}.toml" for name in ("policer", "virtual-path", "web", "transfer", "uplink", "many")
    ]
    summaries = [tg.run(path, seed=1, record="summary", perturb=5).summary for path in files]
    found = page({"lucky": [{"labels": [], "each": [each["perturbed"]]} for each in summaries]})["lucky"]
    sentences = 0
    for path, summary, own in zip(files, summaries, found, strict=True):
        _, command, about, *told = perturbed_lines(summary["perturbed"])
        assert isinstance(command, TextTable)
        assert [[row["name"], *row["cells"]] for row in own["rows"]] == command.rows, path.name
        assert [head for head, _ in own["head"]] == list(command.head[0][1:])
        assert own["about"] == _joined(about)
        assert own["sentences"] == [_joined(each) for each in told], path.name
        sentences += len(told)
    assert sentences > 3


def _joined(text: str) -> str:
    """Return a paragraph of the command in one line."""
    return " ".join(text.split())


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
        # The command cuts long names.
        told = dict(zip(zip(*(head[1:] for head in table.head), strict=True), line, strict=True))
        for head, cell in zip(heads, rows.get(name, []), strict=name in rows):
            if head in told:
                assert cell == told[head], (where, name, head)
                compared.add(head[0])
    return compared
