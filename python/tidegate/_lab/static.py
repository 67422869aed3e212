"""The laboratory as a folder of files: a page that needs no server of its own, only one that gives out files.

The simulator is in it as a WebAssembly module, so whoever opens the page runs scenarios without installing
anything.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _core
from tidegate._ask.scenario import Scenario
from tidegate._lab.files import examples_folder, gallery, scenarios, text_of
from tidegate._lab.limits import Limits
from tidegate._page.render import built
from tidegate._run.folder import MANIFEST, staged
from tidegate._run.summary import FIGURES
from tidegate._run.words import metric_label, scale_of
from tidegate.errors import ArgumentError, ScenarioError, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = Path(__file__).parents[1] / "_page"
#: The module, where this installation has it: ``make wasm`` puts it there, and wheels contain it.
MODULE = _PAGE / "built" / "tidegate.wasm.gz"
_KIND = "laboratory"
#: Nothing is loaded from elsewhere, and what runs is the page's own scripts and module.
_RULES = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)


def write_static(out: Path, folder: Path | None = None, file: str | None = None) -> Path:
    """Write the laboratory with the examples and, where a folder is given, its scenarios and their traces.

    ``file``: the scenario to begin with. The folder appears whole or not at all; one that holds a laboratory
    is replaced.

    Raises:
        ArgumentError: this installation has no WebAssembly module.
        RunFolderError: the folder holds something else.
        ScenarioError, TraceError: the scenario to begin with is wrong, or reads a file outside its folder.
        OSError: it cannot be written.
    """
    if not MODULE.is_file():
        raise ArgumentError(
            "this installation has no WebAssembly module, which a page without a server needs: "
            "make wasm builds it in a clone, and wheels contain it"
        )
    with staged(out, force=_is_laboratory(out)) as work:
        _write_page(work)
        start = _start(work, folder, file)
        (work / "start.json").write_text(json.dumps(start, ensure_ascii=False), encoding="utf-8")
        about = {"kind": _KIND, "layout": 1, "versions": {"tidegate": start["version"]}}
        (work / MANIFEST).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return out


def _is_laboratory(folder: Path) -> bool:
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("kind") == _KIND


def _write_page(work: Path) -> None:
    head = '<meta name="tidegate-alone" content="">\n'
    head += f'<meta http-equiv="Content-Security-Policy" content="{_RULES}">\n'
    page = built("lab.html").replace('<meta charset="utf-8">\n', f'<meta charset="utf-8">\n{head}')
    (work / "index.html").write_text(page, encoding="utf-8")
    for name in ("lab.js", "lab.css", "worker.js", "report.js", "LICENSES.txt"):
        (work / name).write_text(built(name), encoding="utf-8")
    looks = [(_PAGE / name).read_text(encoding="utf-8") for name in ("look.css", "grid.css")]
    (work / "report.css").write_text("".join([*looks, built("report.css")]), encoding="utf-8")
    shutil.copyfile(MODULE, work / MODULE.name)


def given() -> dict[str, Any]:
    """Return what a page that answers by itself takes from here: bounds, and numbers' names and divisors."""
    return {
        "limits": asdict(Limits()),
        "metrics": {name: [metric_label(name, "%"), scale_of(name)[0]] for name in FIGURES},
    }


def size_of(folder: Path) -> int:
    """Return the bytes of all files of a folder."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def _start(work: Path, folder: Path | None, file: str | None) -> dict[str, Any]:
    """Copy scenarios and traces; return what the page begins with."""
    found = gallery()
    folders = [work / name for name in ("examples", "scenarios", "traces")]
    for each in folders:
        each.mkdir()
    examples = {name for each in found for name in _traces(each["text"], examples_folder(), each["name"])}
    _copy(examples_folder(), sorted(examples), folders[0])
    files: list[str] = []
    traces: set[str] = set()
    if folder is not None:
        for name, text in _right(folder, file):
            traces |= {*_traces(text, folder, name)}
            (folders[1] / name).write_text(text, encoding="utf-8")
            files.append(name)
        _copy(folder, sorted(traces), folders[2])
    return {
        "version": _core.build_info()["tidegate"],
        **given(),
        "files": files,
        "file": file,
        "text": None if folder is None or file is None else text_of(folder, file),
        "examples": found,
        "traces": {"examples": sorted(examples), "files": sorted(traces)},
    }


def _right(folder: Path, file: str | None) -> Iterator[tuple[str, str]]:
    """Yield the scenarios of a folder that are right; of the others ``tidegate check`` says why."""
    for name in scenarios(folder):
        text = text_of(folder, name)
        try:
            _traces(text, folder, name)
        except (ScenarioError, TraceError):
            if name == file:
                raise
        else:
            yield name, text


def _traces(text: str, folder: Path, name: str) -> list[str]:
    """Return the files in the folder that a scenario reads, as it names them."""
    return [each["name"] for each in Scenario.confined(text, name=name, folder=folder).inputs]


def _copy(folder: Path, names: list[str], into: Path) -> None:
    for name in names:
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, place)
