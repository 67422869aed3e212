"""What the laboratory answers: the same numbers as the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES, SMALL, TEMPLATES, command
from support.laboratory import TOKEN, Running, ask, running
from tidegate._lab.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

#: As long as a laboratory lets it be.
LONG = SMALL.replace('"6 s"', '"3600 s"').replace("4 Mbit/s", "1 Gbit/s").replace("0.002", "0")


def post(lab: Running, question: str, /, **body: Any) -> tuple[int, Any]:
    return ask(lab, "POST", f"/{TOKEN}/api/{question}", body)


def test_a_run_has_the_numbers_of_the_command_line(lab: Running, folder: Path) -> None:
    status, answer = post(lab, "run", text=SMALL, seed=5)
    assert status == 200
    said = json.loads(command("run", folder / "small.toml", "--seed", "5", "--json"))
    assert answer["summary"] == said
    assert answer["view"]["panels"]
    assert answer["report"].startswith("Small")


def test_what_is_left_out_is_said_of_runs_and_comparisons(lab: Running) -> None:
    swept = SMALL + '\n[[sweep]]\n"flow.bulk.tcp.cc" = ["reno", "cubic"]\n'
    for question in ("run", "compare"):
        both = [{"name": name, "text": swept} for name in ("a", "b")]
        answer = post(lab, question, text=swept, variants=both)[1]
        (told,) = (each for each in answer["warnings"] if "sweep" in each)
        assert "outside [[sweep]]" in told


def test_small_changes_are_those_of_the_command_line(lab: Running, folder: Path) -> None:
    answer = post(lab, "run", text=SMALL, seed=5, perturb=3)[1]
    said = json.loads(command("run", folder / "small.toml", "--seed", "5", "--perturb", "3", "--json"))
    assert answer["summary"]["perturbed"] == said["perturbed"]
    assert "with small changes" in answer["report"]
    page = post(lab, "download", what="html", text=SMALL, seed=5, perturb=3)[1]
    assert b"with small changes" in page
    both = [{"name": "a", "text": SMALL}, {"name": "b", "text": SMALL.replace("newreno", "cubic")}]
    compared = post(lab, "compare", variants=both, perturb=2)[1]
    assert [each["perturbed"]["runs"] for each in compared["summaries"]] == [2, 2]
    for wrong in (0, 65, "16", True, 1.5):
        status, told = post(lab, "run", text=SMALL, perturb=wrong)
        assert (status, told["error"].split(":")[0]) == (400, "perturb")


@pytest.mark.parametrize(
    "example", ["lte", "policer", "transfer", "web", "abr", "random-loss", "virtual-path", "l4s"]
)
def test_examples_have_them_too(lab: Running, example: str) -> None:
    path = EXAMPLES / f"{example}.toml"
    status, answer = post(lab, "run", text=path.read_text(), seed=1, **{"from": "examples"})
    assert status == 200, answer
    assert answer["summary"]["flows"] == tg.run(path, seed=1, record="summary").summary["flows"]


def test_problems_have_their_places(lab: Running) -> None:
    text = SMALL.replace("4 Mbit/s", "4 Mbot/s").replace("newreno", "nwreno")
    status, answer = post(lab, "check", text=text)
    assert status == 422
    assert [(each["line"], each["key"]) for each in answer["problems"]] == [
        (6, "gate.bottleneck.rate"),
        (14, "flow.bulk.tcp.cc"),
    ]
    assert 'write "4 Mbit/s"' in answer["problems"][0]["help"]
    assert post(lab, "check", text=SMALL)[1]["problems"] == []


def test_variants_have_the_same_random_numbers(lab: Running, folder: Path) -> None:
    texts = [SMALL, SMALL.replace("newreno", "cubic")]
    variants = [{"name": name, "text": text} for name, text in zip(("a", "b"), texts, strict=True)]
    status, answer = post(lab, "compare", variants=variants, seed=3)
    assert status == 200, answer
    vary = {"flow.bulk.tcp.cc": ["newreno", "cubic"]}
    apart = tg.compare(folder / "small.toml", vary=vary, seed=3)
    for mine, theirs in zip(answer["rows"], apart.rows(), strict=True):
        assert mine["goodput_bps"] == theirs["goodput_bps"]
    assert answer["cloud"]["points"][1]["label"] == "b"


def test_background_traffic_is_compared_too(lab: Running) -> None:
    text = (TEMPLATES / "household.toml").read_text()
    variants = [{"text": text}, {"text": text.replace('queue.aqm = "none"', 'queue.aqm = "fq_codel"')}]
    status, answer = post(lab, "compare", variants=variants)
    assert status == 200, answer
    late, soon = (row["traffic.calls.delay_p99_ms"] for row in answer["rows"])
    assert soon < 0.5 * late


@pytest.mark.parametrize("count", [0, 1, 5])
def test_two_to_four_are_compared(lab: Running, count: int) -> None:
    status, answer = post(lab, "compare", variants=[{"text": SMALL}] * count)
    assert status == 400
    assert "2 to 4" in answer["error"]


def test_theory_stands_beside_the_simulation(lab: Running) -> None:
    text = (EXAMPLES / "window.toml").read_text()
    status, answer = post(lab, "theory", text=text)
    assert (status, answer["theories"][0]["theory"]) == (200, "spacer")
    assert answer["others"]
    theory = post(lab, "run", text=text)[1]["theory"][0]
    beside = {row[1]: row[2:] for row in theory["rows"] if row[3] is not None}
    assert beside["goodput_bps"][0] == pytest.approx(beside["goodput_bps"][1], rel=0.05)


def test_downloads(lab: Running) -> None:
    begins = {"toml": b"title", "json": b"{", "png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype"}
    for what, begin in begins.items():
        status, data = post(lab, "download", what=what, text=SMALL, seed=2)
        data = json.dumps(data).encode() if what == "json" else data
        assert status == 200, data
        assert data.lstrip()[: len(begin)] == begin
    both = [{"name": "a", "text": SMALL}, {"name": "b", "text": SMALL.replace("newreno", "cubic")}]
    assert post(lab, "download", what="html", variants=both)[0] == 200
    assert post(lab, "download", what="exe", text=SMALL)[0] == 400


def test_the_gallery_runs(lab: Running) -> None:
    found = ask(lab, "GET", f"/{TOKEN}/api/gallery")[1]["examples"]
    assert {each["name"] for each in found} >= {"lte", "policer", "household"}
    for each in found:
        assert each["about"], each["name"]
        status, answer = post(lab, "check", text=each["text"], **{"from": "examples"})
        assert status == 200, (each["name"], answer)


def test_the_schema_is_there(lab: Running) -> None:
    assert ask(lab, "GET", f"/{TOKEN}/api/schema") == (200, tg.schema())


def test_fifty_changes_leave_one_run(lab: Running) -> None:
    answers: list[int] = []

    def change(number: int) -> None:
        answers.append(post(lab, "run", text=LONG, seed=number, page="dragging")[0])

    threads = []
    for number in range(50):
        threads.append(threading.Thread(target=change, args=(number,)))
        threads[-1].start()
        time.sleep(0.01)
    time.sleep(0.5)
    state = ask(lab, "GET", f"/{TOKEN}/api/status")[1]
    assert state["running"] + state["waiting"] <= 1, state
    assert post(lab, "run", text=SMALL, page="dragging")[0] == 200
    for thread in threads:
        thread.join(30)
    assert sorted(answers) == [409] * 50
    assert ask(lab, "GET", f"/{TOKEN}/api/status")[1]["running"] == 0


def test_two_pages_do_not_stop_each_other(lab: Running) -> None:
    answers: dict[str, int] = {}
    text = SMALL.replace('"6 s"', '"600 s"')

    def run(page: str) -> None:
        answers[page] = post(lab, "run", text=text, page=page)[0]

    threads = [threading.Thread(target=run, args=(page,)) for page in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == {"one": 200, "two": 200}


def test_memory_has_a_bound(folder: Path) -> None:
    with running(folder, limits=Limits(memory=30_000_000, wall_s=20)) as lab:
        many = SMALL.replace('"6 s"', '"60 s"').replace("4 Mbit/s", "1 Gbit/s") + "count = 900\n"
        status, answer = post(lab, "run", text=many)
        assert (status, "30 MB of memory" in answer["error"]) == (413, True), answer
        assert post(lab, "check", text=SMALL)[0] == 200


def test_a_process_that_dies_is_started_again(folder: Path) -> None:
    with running(folder) as lab:
        for worker in lab.opened.server.pool._workers:
            worker._process.kill()
        statuses = [post(lab, "check", text=SMALL)[0] for _ in range(6)]
        assert statuses[-1] == 200


def test_the_command_tells_its_address_and_ends(folder: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "tidegate", "lab", str(folder / "small.toml"), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert started.stdout is not None
    line = started.stdout.readline()
    found = re.fullmatch(r"Laboratory: http://127\.0\.0\.1:(\d+)/([\w-]{20,})/\n", line)
    assert found, line
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=30)
    assert started.returncode == 130
    assert "Traceback" not in errors


def test_listening_for_others_is_said(folder: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "tidegate", "lab", str(folder), "--host", "0.0.0.0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert started.stdout is not None
    assert started.stdout.readline().startswith("Laboratory: http://")
    started.send_signal(signal.SIGTERM)
    _, errors = started.communicate(timeout=30)
    assert "not for this machine alone" in errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nix.toml",), "no such file"),
        (("note.txt",), "names that end in .toml"),
        (("--port", "70000"), "70000"),
        (("--host", "256.1.1.1"), ""),
    ],
)
def test_wrong_arguments_are_told(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "lab", *arguments, "--no-browser"],
        capture_output=True, text=True, cwd=folder, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
