"""Writes docs/reference, the manual pages in docs/man and the outputs shown in README.md and docs/guide.

The scenario reference comes from the table of keys, the command line's from its options, the
columns' from the code that makes them, the Python reference from signatures and docstrings.
The types of a plan's objects in Python come from the code that writes them, and LICENSES-BUNDLED.txt from the
packages that Cargo resolves.
With ``--images`` the pictures in docs/images are drawn again too.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))

import licences
import manual
import snippets
import tidegate as tg
import tidegate_papers
from tidegate._core import plan_objects
from tidegate._run.columns import TABLES, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- Made by docs/generate.py (make docs); do not edit. -->\n\n"


def scenario_reference() -> str:
    """Return every key of the scenario language."""
    return MADE + tg.reference().rstrip("\n") + "\n"


# --- the command line -------------------------------------------------------------------------


def cli_reference() -> str:
    """Return every command with its arguments and options, as ``--help`` has them."""
    parts = [
        MADE + "# The command line\n",
        (
            "With `--json` standard output is one JSON object and nothing else; warnings and progress go to "
            "standard error. Examples of each status: [bad input](../guide/errors.md).\n"
        ),
        "| exit status | means |\n|---|---|",
        "\n".join(f"| {status} | {meaning} |" for status, meaning in manual.STATUS) + "\n",
    ]
    parts += [_command(*each) for each in manual.commands() if not isinstance(each[1], click.Group)]
    return "\n".join(parts)


def _command(name: str, command: click.Command) -> str:
    usage, options = manual.facts(name, command)
    shown = [each for each in options if "--help" not in each[0]]
    rows = "".join(f"| `{_cell(names)}` | {_cell(about)} |\n" for names, about in shown)
    text = inspect.cleandoc(command.help or "")
    return f"## {name}\n\n{text}\n\n    {usage}\n\n| option | meaning |\n|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# --- results ----------------------------------------------------------------------------------

#: The files whose structs are the summary.
RESULT = ROOT / "crates" / "tidegate-result" / "src"
SUMMARY = (
    "summary/mod.rs",
    "summary/flow.rs",
    "summary/flow_group.rs",
    "summary/gate.rs",
    "summary/waiting.rs",
    "summary/classes.rs",
    "summary/traffic.rs",
    "cells.rs",
    "request_summary.rs",
    "video_summary.rs",
    "calls.rs",
    "losses.rs",
)
_STRUCT = re.compile(r"pub struct (\w+) \{\n(.*?)\n\}", re.S)
_FIELD = re.compile(r"((?:    /// .*\n)+)(?:    #\[serde\(skip.*\n)?    pub (\w+): ([^\n]*),")

_TYPES = {
    "f64": "number",
    "u64": "count",
    "String": "text",
    "&'static str": "text",
    "bool": "true or false",
}


def results_reference() -> str:
    """Return every name in a summary and in the recorded tables."""
    structs = dict(
        _STRUCT.findall("\n".join((RESULT / name).read_text(encoding="utf-8") for name in SUMMARY))
    )
    parts = [
        MADE + "# Results: every name and its unit\n",
        (
            "The unit is the last part of a name: `_s` seconds, `_ms` milliseconds, `_bps` bits per second, "
            "`_bytes`, `_packets`, `_cells`, `_segments`. What has no unit is a count or a share from 0 to "
            "1. Where there is nothing to say the value is `null` (in Python `None`), never 0. "
            "How to read them: [reading results](../guide/results.md).\n"
        ),
        (
            "## The summary\n\n"
            "`tidegate run --json`, `summary.json` and `Run.summary`. All of it counts the measured time "
            "`[warmup, duration)`; `cwnd_max_segments`, `queue_max_packets` and `queue_max_bytes` too.\n"
        ),
        _fields(structs["Summary"], drop=("events",)),
        (
            "`events`, the number of events the engine handled, is in the manifest: it says how the run was "
            "worked through, not what came out.\n"
        ),
        (
            "### Small changes: `perturbed`\n\n"
            "Only of a run that was repeated with small changes (`--perturb N`, `perturb=N`, the "
            "laboratory): [how much of a number is luck](../guide/luck.md). In a study's JSON each point has "
            "`perturbed` too: by metric, from `as_written` to `values`.\n\n"
            "| name | is | meaning |\n|---|---|---|\n"
            "| `runs` | count | How many runs with small changes were made. |\n"
            "| `changes` | list | What a small change is, in words. |\n"
            "| `numbers` | object | The numbers that people read first, by the names that `check-run` takes; "
            "each is an object with `as_written` to `values`. |\n"
            "| `as_written` | number | The number of the run as it is written. |\n"
            "| `least` | number or null | The least of the runs with changes; null where none has it. |\n"
            "| `median` | number or null | Their median. |\n"
            "| `greatest` | number or null | The greatest. |\n"
            "| `values` | list | Of each run with changes, in their order; null where one has no such "
            "number. |\n"
        ),
        "### A flow: `flows[]`\n",
        _fields(structs["FlowSummary"]),
        (
            "The keys of `limited_by` are `application`, `congestion window`, `receiver window`, "
            "`pacing`, `gate.NAME` and `policer of NAME`; the shares add up to 1. In data frames they are "
            "columns `limited_by.KEY`.\n"
        ),
        "What was dropped and tagged of its data segments:\n",
        _fields(structs["LossSummary"]),
        "### A gate: `gates[]`\n",
        _fields(structs["GateSummary"]),
        "What still waited for service when the run ended, whenever it had come; no other wait counts it:\n",
        _fields(structs["WaitingSummary"]),
        (
            "Gates with `rate.dtm` have these as well; on other gates the names are absent, and null in "
            "data frames.\n"
        ),
        _fields(structs["AllocationSummary"]),
        "Gates with `rate.follow` or `rate.abr` have these as well, absent and null in the same way.\n",
        _fields(structs["FeedbackSummary"]),
        (
            "Gates with `police` have these as well; on other gates the names are absent, and null in "
            "data frames.\n"
        ),
        _fields(structs["PoliceSummary"]),
        "Gates with `police.srtcm` or `police.trtcm` have these as well, absent and null in the same way.\n",
        _fields(structs["ColourSummary"]),
        (
            'Cell gates (`framing = "aal5"`) have these as well; on other gates the names are absent, and '
            "null in data frames.\n"
        ),
        _fields(structs["CellSummary"]),
        "Circuits (gates with `rate.reserve`) have this as well, and what tells of calls, below.\n",
        _fields(structs["CircuitSummary"]),
        "Each class of a gate with `classes` has these:\n",
        _fields(structs["ClassSummary"]),
        "And as of a gate, what still waited when the run ended: `waiting_packets` to `waiting_max_ms`.\n",
        "### Background traffic: `traffic[]`\n",
        _fields(structs["TrafficSummary"]),
        "And as of a flow, what was dropped and tagged of its packets: `dropped_packets` to `drops`.\n",
        (
            "What became of the packets that were sent in the measured time, by the end of the run; null "
            "where `traffic.NAME.delays` is false. A one-way delay runs from the instant at which the source "
            "sends a packet to its arrival at the end of its path: waits, transmissions, delays and jitter "
            "of every gate there are part of it.\n"
        ),
        _fields(structs["TransitSummary"]),
        (
            "Sources of media have these as well; on other sources the names are absent, and null in data "
            "frames. They count the media frames that began in the measured time.\n"
        ),
        _fields(structs["MediaSummary"]),
        "### Copies of a flow: `flow_groups[]`\n",
        (
            "One row for each flow with copies (`count`), of all of them together; without such a flow "
            "`flow_groups` is absent.\n"
        ),
        _fields(structs["FlowGroupSummary"]),
        "### Groups of background traffic: `traffic_groups[]`\n",
        (
            "One row for each group, then one of all sources, named `all`; without background traffic "
            "`traffic_groups` is absent.\n"
        ),
        _fields(structs["TrafficGroupSummary"]),
        (
            "And as of a source, of all packets of the group: `packets_lost` to `delay_variation_ms`, null "
            "where a source of the group does not measure it, and those of media frames.\n"
        ),
        "### Requests: `requests[]`\n",
        (
            "One row for each flow with `app.request` or `app.video`, whose requests are its segments, then "
            "one named `all`; where there is no such flow, `requests` is absent.\n"
        ),
        _fields(structs["RequestSummary"]),
        "### Video: `videos[]`\n",
        "One row for each flow with `app.video`; where there is no such flow, `videos` is absent.\n",
        _fields(structs["VideoSummary"]),
        "### A pool: `pools[]`\n",
        "A pool of circuits and calls has those of calls as well.\n",
        _fields(structs["PoolSummary"]),
        "### Calls: `calls[]`\n",
        _fields(structs["CallsSummary"]),
        "What tells of calls, in pools, circuits and sources of calls:\n",
        _fields(structs["CallSummary"]),
        (
            "## Recorded tables\n\n"
            "Parquet files in a run folder, `Run.table(NAME)` in Python. Times are from the start of the "
            "run, warm-up included.\n"
        ),
    ]
    for table, columns in TABLES.items():
        rows = "\n".join(f"| `{name}` | {_cell(meaning)} |" for name, meaning in columns.items())
        parts.append(f"### `{table}.parquet`\n\n| column | meaning |\n|---|---|\n{rows}\n")
    words = {f"{table}: {name}": each for table, columns in WORDS.items() for name, each in columns.items()}
    rows = "\n".join(f"| {column} | {', '.join(values)} |" for column, values in words.items())
    parts.append(f"Words that stand in columns:\n\n| column | words |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _fields(body: str, drop: tuple[str, ...] = ()) -> str:
    rows = []
    for comment, name, kind in _FIELD.findall(body + "\n"):
        if name in drop:
            continue
        text = " ".join(line.strip().removeprefix("/// ") for line in comment.strip().splitlines())
        text = re.sub(r"\bNone\b", "Null", text)
        rows.append(f"| `{name}` | {_type(kind)} | {_cell(text)} |")
    return "| name | is | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _type(kind: str) -> str:
    optional = re.fullmatch(r"Option<(.*)>", kind)
    if optional:
        return _type(optional[1]).removesuffix(" or null") + " or null"
    if kind.startswith("Vec<"):
        return "list"
    if kind.startswith("BTreeMap<"):
        return "object"
    return _TYPES[kind]


# --- Python -----------------------------------------------------------------------------------


def python_reference() -> str:
    """Return the signature and the docstring of everything that is public."""
    parts = [
        MADE + "# Python\n",
        (
            "Functions and classes are in `tidegate`, flat, and errors in `tidegate.errors`; "
            "modules that begin with an underscore are private. "
            "A guide with examples: [the Python API](../guide/python.md).\n"
        ),
    ]
    functions = [name for name in tg.__all__ if inspect.isroutine(getattr(tg, name))]
    classes = [name for name in tg.__all__ if inspect.isclass(getattr(tg, name))]
    parts.append("## Functions\n")
    parts += [_function(f"tidegate.{name}", getattr(tg, name)) for name in functions]
    modules = [name for name in tg.__all__ if inspect.ismodule(getattr(tg, name))]
    for module in [name for name in modules if name != "errors"]:
        item = getattr(tg, module)
        first = (inspect.getdoc(item) or "").split("\n\n")[0]
        parts.append(f"## `tidegate.{module}`\n\n{first}\n")
        named = {name: getattr(item, name) for name in item.__all__}
        functions_in = {name: each for name, each in named.items() if inspect.isroutine(each)}
        parts += [_function(f"tidegate.{module}.{name}", each) for name, each in functions_in.items()]
        for name, each in named.items():
            if dataclasses.is_dataclass(each) and not _has_methods(each):
                parts.append(_fields_of(f"tidegate.{module}.{name}", each))
            elif name not in functions_in:
                parts.append(_class(f"{module}.{name}", each))
    parts.append("## Classes\n")
    for name in classes:
        item = getattr(tg, name)
        parts.append(_fields_of(f"tidegate.{name}", item) if issubclass(item, tuple) else _class(name, item))
    about = (inspect.getdoc(tidegate_papers) or "").split("\n\n")
    parts.append(f'## `tidegate_papers`\n\n{about[0]}\n\n`pip install "tidegate[papers]"` installs it.\n')
    parts.append(_function("tidegate_papers.reproduce", tidegate_papers.reproduce))
    parts.append(_class("Reproduction", tidegate_papers.Reproduction, of="tidegate_papers"))
    parts.append("## `tidegate.errors`\n\n| error | is also | when |\n|---|---|---|")
    parts.append("\n".join(_error(name, getattr(tg.errors, name)) for name in tg.errors.__all__) + "\n")
    return "\n".join(parts)


def _has_methods(item: type) -> bool:
    return any(inspect.isfunction(each) and name[0] != "_" for name, each in vars(item).items())


def _fields_of(name: str, item: type) -> str:
    """Describe a result that is nothing but its fields; comments above a field say what it is."""
    rows, about = [], []
    for line in inspect.getsource(item).splitlines():
        text = line.strip()
        if text.startswith("#: "):
            about.append(text.removeprefix("#: "))
        elif text.startswith(("# ", "#:")):
            about.append(text.lstrip("#: "))
        elif found := re.match(r"(\w+): ([^=]+?)( = .*)?$", text):
            rows.append(f"| `{found[1]}` | {_cell(' '.join(about).replace('``', '`'))} |")
            about = []
        elif text.startswith("def "):
            break
    table = "\n".join(["| field | meaning |", "|---|---|", *rows])
    return f"### `{name}`\n\n{_doc(item)}\n\n{table}\n"


def _signature(name: str, item: Any, *, method: bool = False) -> str:
    try:
        signature = inspect.signature(item)
    except ValueError:
        return f"{name}(…)"
    if method:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    # Annotations are text in these modules; their quotes and module names tell nothing.
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature))
    text = re.sub(r"\btidegate(_papers)?\.\w+\.", "", text).replace("'", '"')
    short = f"{name}{text}"
    if len(short) <= 100:
        return short
    head, result = text.rsplit(")", 1)
    depth = 0
    inside = ""
    for letter in head.removeprefix("("):
        depth += (letter in "[(") - (letter in "])")
        inside += ",\n    " if letter == "," and depth == 0 else letter
    inside = re.sub(r"\n\s+", "\n    ", inside)
    return f"{name}(\n    {inside},\n){result}"


def _function(name: str, item: Any) -> str:
    return f"### `{name}`\n\n    {_indented(_signature(name, item))}\n\n{_doc(item)}\n"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _doc(item: Any) -> str:
    text = inspect.getdoc(item) or ""
    text = re.sub(r":(?:func|class|meth|attr):`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    out = []
    section = ""
    for line in text.splitlines():
        if line in ("Args:", "Raises:", "Returns:"):
            section = line
            out.append(f"*{line}*\n")
        elif section and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(":")
            quoted = ", ".join(f"`{part.strip()}`" for part in name.split(","))
            out.append(f"- {quoted}:{rest}" if colon else f"- {line.strip()}")
        elif section and line.strip():
            out[-1] += f" {line.strip()}"
        else:
            out.append(line.strip() if section else line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip()


def _class(name: str, item: type, of: str = "tidegate") -> str:
    parts = [f"### `{of}.{name}`\n\n{_doc(item)}\n"]
    rows = [
        f"| `{key}` | `{_cell(kind)}` |"
        for key, kind in getattr(item, "__annotations__", {}).items()
        if key[0] != "_"
    ]
    for key in dict.fromkeys(key for base in reversed(item.__mro__) for key in vars(base)):
        if key.startswith("_"):
            continue
        member = inspect.getattr_static(item, key)
        doc = inspect.getdoc(getattr(item, key, None)) or ""
        first = doc.split("\n\n")[0].replace("\n", " ").replace("``", "`")
        first = re.sub(r":(?:func|class|meth|attr):`~?([^`]*)`", r"`\1`", first)
        if isinstance(member, property):
            rows.append(f"| `{key}` | {_cell(first)} |")
        elif isinstance(member, staticmethod | classmethod):
            shown = re.sub(r"\s+", " ", _signature(key, getattr(item, key)))
            shown = shown.replace("-> Self", f"-> {name}")
            rows.append(f"| `{name}.{_cell(shown)}` | {_cell(first)} |")
        elif inspect.isroutine(member):
            shown = re.sub(r"\s+", " ", _signature(key, member, method=True))
            rows.append(f"| `{_cell(shown)}` | {_cell(first)} |")
    if rows:
        parts.append("| member | what |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _error(name: str, item: type[BaseException]) -> str:
    base = item.__mro__[1].__name__
    first = (inspect.getdoc(item) or "").split("\n\n")[0]
    return f"| `{name}` | `{base}` | {_cell(first)} |"


# --- writing ----------------------------------------------------------------------------------

REFERENCE: dict[str, Callable[[], str]] = {
    "scenario.md": scenario_reference,
    "cli.md": cli_reference,
    "results.md": results_reference,
    "python.md": python_reference,
}


#: What "tidegate init" copies; the package has copies of its own, as a wheel takes nothing from elsewhere and
#: links to files do not survive every way in which a repository is copied.
EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").iterdir()
    if path.suffix in (".toml", ".csv", ".py") and path.name not in ("demo.py", "notebook.py")
)
PACKAGED = ROOT / "python" / "tidegate" / "_ask" / "examples"
#: The links of tidegate.transports, of which a crate has copies for the same reason.
SUITE = ROOT / "python" / "tidegate" / "transports"
JUDGE = ROOT / "crates" / "tidegate-judge" / "suite"
PLAN_OBJECTS = ROOT / "python" / "tidegate" / "_ask" / "plan_objects.py"

#: Manual pages, below a folder that maturin takes into the wheel as it is (``tool.maturin.data``).
MANUAL = ROOT / "docs" / "man" / "data" / "share" / "man" / "man1"


def main(*, images: bool) -> None:
    """Write what has changed, and say so."""
    for name, make in REFERENCE.items():
        _write(ROOT / "docs" / "reference" / name, make())
    for path in EXAMPLES:
        _write(PACKAGED / path.name, path.read_text(encoding="utf-8"))
    for path in SUITE.rglob("*.toml"):
        _write(JUDGE / path.name, path.read_text(encoding="utf-8"))
    _write(PLAN_OBJECTS, plan_objects())
    _write(ROOT / "LICENSES-BUNDLED.txt", licences.text())
    for name, text in manual.pages(tg.__version__).items():
        _write(MANUAL / name, text)
    for page in snippets.pages():
        with tempfile.TemporaryDirectory() as folder:
            _write(page, snippets.refreshed(page, Path(folder) / "page"))
    if images:
        draw()


def _write(place: Path, text: str) -> None:
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {place.relative_to(ROOT)}")


#: The examples that pages show a picture of, each with the gate whose numbers it shows (None: the one
#: that limits most).
PICTURES: dict[str, str | None] = {
    "lte": None,
    "steps": None,
    "shaper": None,
    "policer": None,
    "markov": None,
    "follow": "sender",
    "spacer": "spacer",
    "transfer": None,
}
WIDTH = 820
BYTES = 80_000


def draw() -> None:
    """Draw the pictures that pages show."""
    folder = ROOT / "docs" / "images"
    for name, gate in PICTURES.items():
        with tempfile.TemporaryDirectory() as place:
            drawn = Path(place) / "large.png"
            tg.run(ROOT / "examples" / f"{name}.toml").plot(drawn, gate=gate)
            (folder / f"{name}.png").write_bytes(_small(drawn))
    print("wrote docs/images")


def _small(drawn: Path) -> bytes:
    """Return a picture in the width of a page, with as many colours as fit into the limit of bytes."""
    with Image.open(drawn) as large:
        height = round(large.height * WIDTH / large.width)
        page = large.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
    for colours in (32, 24, 16, 12):
        out = io.BytesIO()
        page.quantize(colours, dither=Image.Dither.NONE).save(out, "png", optimize=True)
        if len(out.getvalue()) < BYTES:
            return out.getvalue()
    message = f"{drawn.name} does not fit into {BYTES} bytes"
    raise ValueError(message)


if __name__ == "__main__":
    main(images="--images" in sys.argv[1:])
