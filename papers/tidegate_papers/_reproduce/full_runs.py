"""What the full run of each paper came to, recorded, so that a quick run can say it.

``NAME/full-run.json`` has a verdict and a number in words for each claim.
``python -m tidegate_papers._reproduce.full_runs FOLDER`` writes it from the ``claims.json`` of a full report.
It is no input of any verdict.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate_papers._reproduce.paper import Paper

FILE = "full-run.json"


def recorded(paper: Paper) -> dict[str, dict[str, str]]:
    """Return the verdict and the number of each claim in the full run; nothing where none is recorded."""
    file = paper.folder / FILE
    if paper.engine != "sim" or not file.is_file():
        return {}
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def record(report: Path, folder: Path) -> Path:
    """Write what a full report says of each claim beside the paper; return the file.

    Raises:
        ValueError: the report is of a quick run, of another engine, or not whole.
    """
    result = json.loads((report / "claims.json").read_text(encoding="utf-8"))
    if result["quick"] or result["engine"] != "sim":
        raise ValueError(f"{report}: not a full run of the simulator")
    unmeasured = [claim["id"] for claim in result["claims"] if claim["verdict"] is None]
    if unmeasured:
        raise ValueError(f"{report}: not measured: {', '.join(unmeasured)}")
    file: Path = folder / result["paper"].replace("-", "_") / FILE
    kept = {claim["id"]: {"verdict": claim["verdict"], "shown": claim["shown"]} for claim in result["claims"]}
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    from tidegate_papers._reproduce.paper import FOLDER

    for argument in sys.argv[1:]:
        print(record(Path(argument), FOLDER))  # noqa: T201
