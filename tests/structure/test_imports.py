"""What an import and a help text may load."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import typing
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import tidegate as tg
from support.common import ROOT, SMALL
from support.python_imports import needed

if typing.TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAVY = ("polars", "matplotlib", "numpy")


@pytest.mark.parametrize(
    "code",
    [
        "import tidegate",
        "from tidegate._cli.main import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass",
        "from tidegate._cli.main import cli\ntry: cli.main(['run', '--help'])\nexcept SystemExit: pass",
    ],
    ids=["import", "help", "run --help"],
)
def test_light(code: str) -> None:
    check = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "most"),
    [(["--version"], 12), (["run", "--help"], 30), (["init", "policer"], 40)],
    ids=["version", "run --help", "init"],
)
def test_a_command_loads_what_it_needs(words: list[str], most: int) -> None:
    """There are over 200; where they cannot be kept compiled, each start compiles all that it loads."""
    code = (
        "import sys\nfrom tidegate._cli.main import cli\n"
        f"try: cli.main({words!r})\nexcept SystemExit: pass\n"
        "print(sum(name.startswith('tidegate') for name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) <= most


def test_public_names_are_where_they_are_said_to_be() -> None:
    """What type checkers read and what is imported when it is named are the same, and not too many."""
    text = Path(tg.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    tree = ast.parse(text)
    told = {
        alias.asname: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name  # A stub hands on no other.
    }
    assert told == tg._PLACES
    assert all(line.startswith(("from ", '"""', "__")) for line in text.splitlines() if line)
    assert len(told) == sum(line.startswith("from ") for line in text.splitlines())
    assert len(tg.__all__) <= 62


def test_a_run_with_its_summary_needs_nothing_heavy() -> None:
    code = (
        "import sys, tidegate as tg\n"
        f"run = tg.Scenario.from_toml({SMALL!r})\n"
        "print(tg.run(run, seed=1, record='summary').to_json())\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def loaded_by(words: list[str], heavy: Sequence[str]) -> str:
    """Return what a command writes to standard error: at its end the heavy modules that it loaded."""
    code = (
        "import sys\nfrom tidegate._cli.main import cli\n"
        f"try: cli.main({words!r})\nexcept SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.strip()


def test_the_command_for_it_needs_nothing_heavy_either(small: Path) -> None:
    # A library with threads of its own would also keep a live run out of a user namespace.
    assert loaded_by(["run", str(small), "--record", "summary", "--json"], HEAVY).endswith("[]")


@pytest.mark.parametrize(
    ("more", "heavy"), [([], [*HEAVY, "scipy"]), (["--explain"], ["polars", "matplotlib", "scipy"])]
)
def test_a_check_needs_no_theory_of_other_scenarios(small: Path, more: list[str], heavy: list[str]) -> None:
    assert loaded_by(["check", str(small), *more], heavy).endswith("[]")


def test_everything_public_is_flat_and_documented() -> None:
    assert sorted(tg.__all__) == sorted(set(tg.__all__))
    for name in tg.__all__:
        value = getattr(tg, name)
        if name != "__version__":
            assert (value.__doc__ or "").strip(), name
    public = {name for name in vars(tg) if not name.startswith("_")}
    assert public <= {*tg.__all__}, public - {*tg.__all__}


def public_things() -> Iterator[object]:
    """Yield every public function, class and method of classes."""
    modules = [tg, *(each for each in (getattr(tg, name) for name in tg.__all__) if inspect.ismodule(each))]
    for module in modules:
        names = getattr(module, "__all__", None) or [
            name for name in vars(module) if not name.startswith("_")
        ]
        for thing in (getattr(module, name) for name in names):
            if not getattr(thing, "__module__", "").startswith("tidegate."):
                continue
            yield thing
            members = vars(thing).items() if inspect.isclass(thing) else ()
            for name, member in members:
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if not name.startswith("_") and inspect.isfunction(function):
                    yield function


def test_public_annotations_resolve() -> None:
    # Gymnasium's own base class names types that it imports for type checkers only.
    things = [
        thing for thing in public_things() if hasattr(thing, "__annotations__") and thing is not tg.gym.Env
    ]
    assert len(things) > 120
    for thing in things:
        typing.get_type_hints(thing)


def test_no_circle_of_files() -> None:
    # Imports inside functions and for types count: a file that needs another to be understood, needs it.
    root = Path(tg.__file__).parent
    files = {
        ".".join(["tidegate", *path.relative_to(root).with_suffix("").parts]): path
        for path in root.rglob("*.py")
    }
    # A package's face hands names on; who asks it asks the file that they come from.
    needs = {
        name: needed(path) & {*files} - {name} for name, path in files.items() if path.stem != "__init__"
    }
    assert needs["tidegate._run.start"] >= {
        "tidegate._run.value",
        "tidegate._run.columns",
        "tidegate._run.theory",
    }
    list(TopologicalSorter(needs).static_order())


#: Folders and modules of the package, each below those that may need it.
FLOORS = (
    {"_core"}, {"errors"}, {"_base"}, {"_draw"}, {"_page", "dtm", "effcap", "gcra"}, {"_capture"}, {"traces"},
    {"_ask"}, {"theory", "tcp"}, {"_run"}, {"_jobs"}, {"_study", "gym", "_identify", "_programs"},
    {"_compare", "_check", "_advise"}, {"_open", "_lab", "transports"}, {"_cli"},
    {"__main__"},
)  # fmt: skip
#: Folders of the package, at most, and files of the largest beside its pictures and texts. Neither may grow.
MOST_FOLDERS = 20
MOST_OF_STUDIES = 14


def test_folders_are_few_and_each_has_a_floor() -> None:
    root = Path(tg.__file__).parent
    folders = {path.parent.name for path in root.glob("*/*.py")}
    modules = {path.stem for path in root.glob("*.py")} - {"__init__", "_early"}
    assert len(folders) <= MOST_FOLDERS
    assert folders | modules == set().union(*FLOORS) - {"_core"}
    shown = ("plot", "picture", "layout", "text", "page", "__init__")
    studies = [path for path in (root / "_study").glob("*.py") if not path.stem.startswith(shown)]
    assert len(studies) <= MOST_OF_STUDIES, sorted(path.name for path in studies)


def test_the_design_draws_the_floors() -> None:
    page = (ROOT / "docs" / "design" / "python.md").read_text(encoding="utf-8")
    drawn = page.partition("## Floors")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \|", drawn, re.M)
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == list(FLOORS)[-2::-1]


def test_folders_need_what_lies_below_them() -> None:
    root = Path(tg.__file__).parent
    floor = {folder: number for number, folders in enumerate(FLOORS) for folder in folders}
    upwards = set()
    for path in root.rglob("*.py"):
        place = path.relative_to(root).with_suffix("").parts[0]
        if place == "__init__":
            continue
        for name in needed(path):
            other = [*name.split("."), ""][1] if name.startswith("tidegate.") else ""
            if other in floor and other != place and floor[other] >= floor[place]:
                upwards.add(f"{path.relative_to(root)} needs {name}")
    assert upwards == set()
