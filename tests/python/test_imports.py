"""What an import and a help text may load."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tidegate as tg
from support import SMALL

HEAVY = ("polars", "matplotlib", "numpy")


@pytest.mark.parametrize(
    "code",
    [
        "import tidegate",
        "from tidegate._cli import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass",
        "from tidegate._cli import cli\ntry: cli.main(['run', '--help'])\nexcept SystemExit: pass",
    ],
    ids=["import", "help", "run --help"],
)
def test_light(code: str) -> None:
    check = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_a_run_with_its_summary_needs_nothing_heavy() -> None:
    code = (
        "import sys, tidegate as tg\n"
        f"run = tg.Scenario.from_toml({SMALL!r})\n"
        "print(tg.run(run, seed=1, record='summary').to_json())\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_everything_public_is_flat_and_documented() -> None:
    assert sorted(tg.__all__) == sorted(set(tg.__all__))
    for name in tg.__all__:
        value = getattr(tg, name)
        if name != "__version__":
            assert (value.__doc__ or "").strip(), name
    # The folder of papers is an attribute once a paper has been opened.
    public = {name for name in vars(tg) if not name.startswith("_")} - {"papers"}
    assert public <= {*tg.__all__}, public - {*tg.__all__}
