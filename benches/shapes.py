"""Instructions of the shapes that users run, by callgrind: no clock, so no noise.

``shapes.py FILE`` writes the counts to FILE or, where FILE is there, compares them with it: no shape may take
3% more. The shapes, and why each is among them, are on the page ``docs/design/shapes.md``. Each runs for a
short and for a longer time; the difference leaves out what a start costs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import programs
from tables import count, table

ROOT = programs.ROOT
EXAMPLES = ROOT / "examples"
TEMPLATES = ROOT / "python" / "tidegate" / "_ask" / "templates"
PAPERS = ROOT / "papers" / "tidegate_papers"
#: A shape may take so much more.
MORE = 1.03
#: Milliseconds of the short and of the longer run.
LENGTHS = (2_000, 8_000)
#: Of many flows.
SHORTER = (500, 1_500)

_CELLULAR = f'rate.trace = "{(EXAMPLES / "cellular.csv").as_posix()}"\n'
#: The link of one default flow, by name.
LINKS = {
    "plain gate": 'rate = "20 Mbit/s"\nqueue = "100 packets"\n',
    "token bucket": (
        'rate.token_bucket = { rate = "20 Mbit/s", burst = "50 kB", peak = "1 Gbit/s" }\n'
        'queue = "100 packets"\n'
    ),
    "policer": 'rate = "1 Gbit/s"\npolice = { pcr = "20 Mbit/s", burst = "50 kB" }\n',
    "LTE": _CELLULAR + 'queue = "300 packets"\n',
    "LTE with CoDel": _CELLULAR + 'queue.limit = "300 packets"\nqueue.aqm = "codel"\n',
}
ONE = """\
duration = "30 s"
[gate.link]
{link}delay = "10 ms"
[flow.download]
path = ["link"]
rtt = "40 ms"
tcp.cc = "{cc}"
"""
DUMBBELL = """\
duration = "30 s"
[gate.access]
per = "flow"
rate = "{access}"
[gate.shared]
rate = "{rate}"
queue = "1 BDP"
delay = "10 ms"
[flow.download]
count = {flows}
path = ["access", "shared"]
rtt = "40 ms"
start.uniform = ["0 s", "200 ms"]
"""
WEB = """\
duration = "30 s"
[gate.down]
rate = "200 Mbit/s"
queue = "500 packets"
delay = "10 ms"
[gate.up]
rate = "20 Mbit/s"
[flow.person]
count = 200
path = ["down"]
back = ["up"]
start.uniform = ["0 s", "1 s"]
app.request.response.lognormal = { median = "20 kB", sigma = 1.5 }
app.request.think.exponential = "500 ms"
"""


@dataclass(frozen=True)
class Shape:
    """What is run: a scenario's file, what it records, and for how long."""

    name: str
    file: Path
    record: str
    lengths: tuple[int, int] = LENGTHS


def shapes(folder: Path) -> list[Shape]:
    """Return all of them; those without a file of their own are written to ``folder``."""
    examples, templates, papers = (
        sorted(folder.glob(names))
        for folder, names in ((EXAMPLES, "*.toml"), (TEMPLATES, "*.toml"), (PAPERS, "*/*.toml"))
    )
    assert all((examples, templates, papers))
    files = [*examples, *templates]
    # A class in Python and QUIC cannot run here.
    files = [file for file in files if not re.search(r'python:|"quic"', file.read_text())]
    found = [
        Shape(f"{file.parent.name}/{file.stem}, {record}", file, record)
        for file in files
        for record in ("as-written", "summary")
    ]
    found += [Shape(f"{file.parent.name}/{file.stem}, summary", file, "summary") for file in papers]
    texts = {
        f"{cc} over {name}": (ONE.format(link=link, cc=cc), LENGTHS)
        for name, link in LINKS.items()
        for cc in ("cubic", "bbr")
    }
    texts["100 flows"] = (DUMBBELL.format(flows=100, access="20 Mbit/s", rate="1 Gbit/s"), SHORTER)
    texts["1000 flows"] = (DUMBBELL.format(flows=1000, access="5 Mbit/s", rate="1 Gbit/s"), SHORTER)
    texts["200 users of the web"] = (WEB, LENGTHS)
    for number, (name, (text, lengths)) in enumerate(texts.items()):
        file = folder / f"{number}.toml"
        file.write_text(text)
        found.append(Shape(f"{name}, summary", file, "summary", lengths))
    return found


def measure(program: Path, shape: Shape) -> tuple[int, float]:
    """Return the instructions of the longer run beyond the short one, and the packets between."""
    runs = [
        programs.instructions([str(program), str(shape.file), str(length), shape.record])
        for length in shape.lengths
    ]
    (before, first), (after, second) = runs
    return after - before, second.number("packets") - first.number("packets")


def main() -> int:
    """Write the counts, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="shapes whose names have this")
    arguments = parser.parse_args()
    program = programs.build_example("shape")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        chosen = [shape for shape in shapes(Path(folder)) if arguments.only in shape.name]
        counted = dict(
            zip(
                [shape.name for shape in chosen],
                pool.map(lambda shape: measure(program, shape), chosen),
                strict=True,
            )
        )
    before = json.loads(arguments.file.read_text()) if arguments.file.exists() else {}
    rows = []
    slower = 0
    for name, (instructions, packets) in counted.items():
        ratio = instructions / before[name] if name in before else None
        slower += ratio is not None and ratio > MORE
        each = f"{instructions / packets:.0f}" if packets else "-"
        rows.append([name, count(instructions), each, "" if ratio is None else f"{ratio:.3f}"])
    table(
        "Instructions of the shapes that users run",
        ["shape", "instructions", "a packet at a gate", "to before"],
        rows,
    )
    if not before:
        arguments.file.write_text(json.dumps({name: each for name, (each, _) in counted.items()}))
        return 0
    print(f"{slower} shapes take more than {MORE - 1:.0%} more")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
