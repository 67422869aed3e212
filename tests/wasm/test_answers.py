"""A page without a server answers what the server answers: numbers, lines, comparisons, refusals."""

from __future__ import annotations

import json
import math
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.common import EXAMPLES, ROOT, SMALL, TEMPLATES
from support.packed_columns import unpacked
from tidegate._lab.limits import Limits
from tidegate._lab.static import given
from tidegate._lab.work import answer
from tidegate._page.pack import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

WEB = ROOT / "web"
HOUSEHOLD = (TEMPLATES / "household.toml").read_text()
SCENARIOS = [
    path
    for path in [*sorted(EXAMPLES.glob("*.toml")), *sorted(TEMPLATES.glob("*.toml"))]
    if not any(own in path.read_text() for own in ('"python:', 'transport = "quic"'))
]
FILES = [path.name for path in EXAMPLES.iterdir() if path.suffix in {".csv", ".down", ".drp", ".txt"}]

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def asked(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[dict[str, Any]]]:
    """Return what answers questions as the page without a server does."""
    if not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("the packages of web/ are not installed (npm ci --prefix web)")
    script = tmp_path_factory.mktemp("answers") / "answers.mjs"
    bundle = [WEB / "node_modules" / ".bin" / "esbuild", ROOT / "tests" / "wasm" / "answers.mjs"]
    how = ["--bundle", "--platform=node", "--format=esm", f"--outfile={script}"]
    subprocess.run([*bundle, *how], cwd=WEB, check=True, capture_output=True)

    def ask(*questions: dict[str, Any]) -> list[dict[str, Any]]:
        command = ["node", script, module, EXAMPLES, json.dumps(given())]
        text = json.dumps([{"files": FILES, **each} for each in questions])
        try:
            done = subprocess.run(
                command, input=text, capture_output=True, text=True, check=False, timeout=300
            )
        except subprocess.TimeoutExpired:
            # Node 20 now and then waits for its own threads for ever when it has written everything.
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return ask


def served(ask: str, **question: Any) -> dict[str, Any]:
    """Return what the server's process answers."""
    found: dict[str, Any] = answer({"do": ask, "folder": str(EXAMPLES), **question}, Limits(), lambda _: True)
    return found


def close(a: float | None, b: float | None) -> bool:
    """Tell whether two numbers are the same up to the order of additions, or neither is known."""
    return a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12)


def same_view(here: dict[str, Any], there: dict[str, Any]) -> None:
    """Expect the same panels, lines and columns, up to the digits that packing keeps."""
    for name in ("end", "from", "notes", "bands"):
        assert here[name] == there[name], name
    for mine, theirs in zip(here["panels"], there["panels"], strict=True):
        assert close(mine["top"], theirs["top"])
        assert {**mine, "top": 0} == {**theirs, "top": 0}
    for number, (mine, theirs) in enumerate(zip(here["columns"], there["columns"], strict=True)):
        expected = np.array(unpacked(theirs))
        numbers = np.array([math.nan if each is None else each for each in mine], dtype=float)
        most = float(np.max(np.abs(expected), initial=0.0, where=~np.isnan(expected)))
        np.testing.assert_allclose(numbers, expected, rtol=0, atol=most * 1e-5, err_msg=str(number))


def test_every_example_gives_the_servers_numbers_and_lines(asked: Callable[..., Any]) -> None:
    assert len(SCENARIOS) > 20
    texts = [path.read_text() for path in SCENARIOS]
    found = asked(*({"ask": "run", "text": text} for text in texts))
    for path, text, told in zip(SCENARIOS, texts, found, strict=True):
        body = served("run", text=text)["body"]
        assert told["answer"]["summary"] == body["summary"], path.name
        assert told["answer"]["title"] == body["title"]
        same_view(told["answer"]["view"], body["view"])


def test_quic_is_refused_in_words(asked: Callable[..., Any]) -> None:
    (told,) = asked({"ask": "run", "text": (EXAMPLES / "quic.toml").read_text()})
    words = 'flow.quic.transport: read "quic"; this page has TCP only: write "tcp", or use tidegate lab'
    assert words in json.dumps(told, ensure_ascii=False).replace("\\", "")


@pytest.mark.parametrize("name", ["policer", "calls-and-downloads", "web", "many", "transfer"])
def test_small_changes_make_of_numbers_what_they_make_at_the_server(
    asked: Callable[..., Any], name: str
) -> None:
    text = (EXAMPLES / f"{name}.toml").read_text()
    (told,) = asked({"ask": "run", "text": text, "perturb": 3})
    mine, theirs = (
        each["summary"]["perturbed"] for each in (told["answer"], served("run", text=text, perturb=3)["body"])
    )
    assert (mine["runs"], mine["changes"]) == (theirs["runs"], theirs["changes"])
    assert [*mine["numbers"]] == [*theirs["numbers"]]
    for number, spread in theirs["numbers"].items():
        own = mine["numbers"][number]
        assert all(close(own[key], spread[key]) for key in spread if key != "values"), number
        assert all(map(close, own["values"], spread["values"])), number


def test_what_is_left_out_is_said_as_by_the_server(asked: Callable[..., Any]) -> None:
    text = f'{SMALL}\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n'
    (here,) = asked({"ask": "run", "text": text})
    there = served("run", text=text)["body"]
    assert here["answer"]["warnings"] == there["warnings"]
    assert "outside [[sweep]]" in there["warnings"][-1]


def variants(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"name": f"variant {place}", "text": text} for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    "texts",
    [
        [SMALL, SMALL.replace("newreno", "cubic"), SMALL.replace("20 packets", "5 packets")],
        [(EXAMPLES / f"{name}.toml").read_text() for name in ("transfer", "policer")],
        [(EXAMPLES / f"{name}.toml").read_text() for name in ("web", "many", "abr", "lte")],
        [HOUSEHOLD, HOUSEHOLD.replace('queue.aqm = "none"', 'queue.aqm = "codel"')],
    ],
    ids=["one gate", "transfers", "others", "traffic"],
)  # fmt: skip
def test_variants_are_compared_as_by_the_server(asked: Callable[..., Any], texts: list[str]) -> None:
    (told,) = asked({"ask": "compare", "variants": variants(texts), "perturb": 2})
    body = served("compare", variants=variants(texts), perturb=2)["body"]
    here = told["answer"]
    for mine, theirs in zip(here["summaries"], body["summaries"], strict=True):
        assert mine.pop("perturbed").keys() == theirs.pop("perturbed").keys()
    for name in ("seed", "warnings", "summaries"):
        assert here[name] == body[name]
    for mine, theirs in zip(here["rows"], body["rows"], strict=True):
        assert mine.pop("scenario") == theirs.pop("scenario")
        assert mine.keys() == theirs.keys()
        assert [key for key in mine if not close(mine[key], theirs[key])] == []
    same_view(here["view"], body["view"])
    assert here["cloud"]["metrics"] == body["cloud"]["metrics"]
    assert (here["cloud"]["x"], here["cloud"]["y"]) == (body["cloud"]["x"], body["cloud"]["y"])


def refusal(asked: Callable[..., Any], ask: str, **question: Any) -> None:
    """Expect both to refuse a question in the same words."""
    (told,) = asked({"ask": ask, **question})
    there = served(ask, **question)
    here = told["refused"]
    assert (here["status"], here["message"]) == (there["status"], there["body"]["error"])
    places = [[each[name] for name in ("line", "key", "help")] for each in here["problems"]]
    said = there["body"].get("problems", [])
    assert places == [[each[name] for name in ("line", "key", "help")] for each in said]


def test_both_refuse_the_same(asked: Callable[..., Any]) -> None:
    refusal(asked, "run", text=SMALL.replace("4 Mbit/s", "4 Mbot/s").replace("newreno", "nwreno"))
    refusal(asked, "run", text=SMALL.replace('"6 s"', '"1000000000 s"'))
    refusal(asked, "run", text=SMALL + "count = 10000000\n")
    refusal(asked, "compare", variants=variants([SMALL]))


def test_a_trace_that_is_not_there_is_named(asked: Callable[..., Any]) -> None:
    text = SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "mine.csv"')
    (told,) = asked({"ask": "run", "text": text})
    assert "mine.csv: there is no such file here" in told["refused"]["message"]


@pytest.mark.parametrize(
    "values", [[1.5, None, None, 2.25, -3.0], [0.0, 1.0, 3.0, 6.0], [1e300, -1e300, 0.0], [], [None]]
)
def test_columns_are_packed_as_in_reports(asked: Callable[..., Any], values: list[float | None]) -> None:
    (told,) = asked({"ask": "pack", "pack": values})
    there = packed([math.nan if each is None else each for each in values])
    assert told["answer"] == there
