"""Writes a page for each paper: its claims, and the verdicts of the last full run that was recorded.

The full run takes too long for a build. Its verdicts are kept beside the paper's claims, in
``full-run.json``. A report made by ``tidegate reproduce`` is taken along where one is given.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import tidegate_papers

FOLDER = Path(tidegate_papers.__file__).parent


def write(out: Path, extra: Path, reports: Path | None) -> None:
    """Write the pages; copy reports into ``extra``, which becomes a part of the built site."""
    out.mkdir(parents=True)
    command = [sys.executable, "-m", "tidegate", "reproduce", "--list", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    items = json.loads(told.stdout)["items"]
    rows = []
    for item in items:
        if item["kind"] != "paper":
            continue
        name = item["target"]
        below = [each for each in items if each["target"].startswith(f"{name}/")]
        folder = FOLDER / name.replace("-", "_")
        recorded = json.loads((folder / "full-run.json").read_text(encoding="utf-8"))
        source = importlib.import_module(f"tidegate_papers.{folder.name}.claims").SOURCE
        report = reports is not None and (reports / name / "report.html").is_file()
        if report:
            shutil.copytree(reports / name, extra / "reports" / name)
        page = _page(name, item["about"], source, below, recorded, report=report)
        (out / f"{name}.md").write_text(page, encoding="utf-8")
        rows.append(f"| [{_cell(item['about'])}]({name}.md) | {_tally(recorded)} |")
    (out / "README.md").write_text(_index(rows), encoding="utf-8")


def _index(rows: list[str]) -> str:
    return "\n".join(
        [
            "# Papers\n",
            (
                "What became of the claims of each paper when Tidegate measured them. "
                "How a verdict is reached, and how to measure again: "
                "[reproducing papers](../docs/guide/papers.md).\n"
            ),
            "| paper | verdicts of the full run |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def _page(
    name: str,
    title: str,
    source: str,
    items: list[dict[str, str]],
    recorded: dict[str, dict[str, str]],
    *,
    report: bool,
) -> str:
    claims = [item for item in items if item["kind"] == "claim"]
    figures = [item for item in items if item["kind"] == "figure"]
    parts = [f"# {_cell(title)}\n", f"{_cell(source)}\n"]
    if report:
        # The report is made beside the pages, so that only HTML can name it.
        parts.append(f'<p><a href="../reports/{name}/report.html">The whole report, with figures</a></p>\n')
    parts += [
        "This command measures every claim again and writes a report with the figures:\n",
        f"```bash\ntidegate reproduce {name}\n```\n",
        "## Claims\n",
        f"The verdicts and numbers are those of the last full run that was recorded: {_tally(recorded)}.\n",
        "| claim | verdict | measured | where in the paper |\n|---|---|---|---|",
        *(_claim(item, recorded) for item in claims),
    ]
    if figures:
        parts += [
            "\n## Figures\n",
            "| figure | shows | where in the paper |\n|---|---|---|",
            *(f"| `{_id(item)}` | {_cell(item['about'])} | {_cell(item['where'])} |" for item in figures),
        ]
    return "\n".join(parts) + "\n"


def _claim(item: dict[str, str], recorded: dict[str, dict[str, str]]) -> str:
    full = recorded.get(_id(item), {"verdict": "not measured", "shown": "–"})
    about = f"`{_id(item)}`<br>{_cell(item['about'])}"
    kind = full["verdict"].replace(" ", "-")
    verdict = f'<span class="verdict {kind}">{full["verdict"]}</span>'
    return f"| {about} | {verdict} | {_cell(full['shown'])} | {_cell(item['where'])} |"


def _id(item: dict[str, str]) -> str:
    return item["target"].partition("/")[2]


def _tally(recorded: dict[str, dict[str, str]]) -> str:
    counted = Counter(each["verdict"] for each in recorded.values())
    order = ("reproduced", "partly", "undecided", "not reproduced")
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in order if counted[verdict])


def _cell(text: str) -> str:
    return re.sub(r"([\\`*_<>\[\]|~$])", r"\\\1", text).replace("\n", " ")
