"""Live runs of the laboratory: rows come while they last, they can be stopped, what cannot run is told."""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.browser import complaints, opened
from support.common import SMALL
from support.laboratory import TOKEN, Running, ask, running
from support.page_of_lab import answered, one, until
from tidegate._lab.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidegate._lab.server import Laboratory

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]
#: A link that a busy machine carries too.
SLOW = SMALL.replace('"6 s"', '"4 s"').replace("loss = 0.002\n", "")


def listen(lab: Running, **body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the events of a live run, read by the standard's description."""
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/{TOKEN}/api/live", json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        if answer.status != 200:
            yield "status", (answer.status, json.loads(answer.read()))
            return
        assert answer.headers["Content-Type"] == "text/event-stream"
        name = ""
        for line in iter(answer.readline, b""):
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)
    finally:
        connection.close()


def can(events: list[tuple[str, Any]]) -> None:
    """Skip where this machine cannot run live, with its reason."""
    name, data = events[-1]
    if name == "refused" and "network namespaces" in data["error"]:
        pytest.skip(data["error"])


@pytest.fixture(scope="module")
def heard(lab: Running) -> list[tuple[str, Any, float]]:
    events = [(name, data, time.monotonic()) for name, data in listen(lab, text=SLOW)]
    can([each[:2] for each in events])
    return events


def test_rows_come_while_the_run_lasts(heard: list[tuple[str, Any, float]]) -> None:
    names = [name for name, _, _ in heard]
    assert (names[0], names[-1]) == ("begin", "end"), heard[-1]
    rows = [(data, at) for name, data, at in heard if name == "rows"]
    assert rows[-1][1] - rows[0][1] > 3, "not all at once"
    shares = [data["share"] for data, _ in rows]
    assert shares == sorted(shares)
    early = [data for data, at in rows if at < heard[-1][2] - 2]
    assert sum(len(data["tables"]["flows"]["time_s"]) for data in early) > 20
    assert sum(len(data["tables"]["gates"]["time_s"]) for data in early) > 20


def test_they_are_the_rows_of_the_run(heard: list[tuple[str, Any, float]]) -> None:
    columns: dict[str, dict[str, list[Any]]] = {"flows": {}, "gates": {}}
    for name, data, _ in heard:
        for table, found in data["tables"].items() if name == "rows" else ():
            for column, values in found.items():
                columns[table].setdefault(column, []).extend(values)
    answer = heard[-1][1]
    assert answer["summary"]["engine"] == "live"
    assert columns["flows"]["time_s"] == sorted(columns["flows"]["time_s"])
    assert {"cwnd_segments", "srtt_ms", "held_by"} <= {*columns["flows"]}
    # What came out of the receiver's socket is what was received in order, but for the beginning.
    goodput = answer["summary"]["flows"][0]["goodput_bps"]
    assert columns["flows"]["in_order_bytes"][-1] * 8 / columns["flows"]["time_s"][-1] == pytest.approx(
        goodput, rel=0.1
    )
    assert columns["gates"]["queue_packets"] != [0] * len(columns["gates"]["queue_packets"])
    assert answer["view"]["panels"]


def test_a_run_stops_when_nobody_listens(lab: Running) -> None:
    live = lab.opened.server.live
    assert live is not None
    events = listen(lab, text=SLOW.replace('"4 s"', '"60 s"'))
    first = [next(events), next(events)]
    can(first)
    other = list(listen(lab, text=SLOW))
    assert other[0][1][0] == 503
    assert "under way" in other[0][1][1]["error"]
    events.close()  # type: ignore[attr-defined]
    end = time.monotonic() + 10
    while live.running and time.monotonic() < end:
        time.sleep(0.05)
    assert not live.running


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SLOW.replace("4 Mbit/s", "4 Mbot/s"), 'the unit of "4 Mbot/s" is not known'),
        (SLOW.replace('"4 s"', '"2000 s"'), "600 s at most"),
        (SLOW.replace('"newreno"', '"copa"'), "copa"),
    ],
)
def test_what_cannot_run_is_told(lab: Running, text: str, words: str) -> None:
    name, data = list(listen(lab, text=text))[-1]
    assert name == "refused"
    assert words in data["error"]
    assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200


def test_others_in_the_network_may_not(folder: Path) -> None:
    with running(folder, limits=Limits()) as lab:
        server: Laboratory = lab.opened.server
        server.live = None
        (_, (status, answer)) = next(listen(lab, text=SLOW))
        assert status == 403
        assert "this machine alone" in answer["error"]


def test_the_page_draws_a_live_run_and_stops_it(tmp_path: Path, folder: Path) -> None:
    (folder / "slow.toml").write_text(SLOW)
    with running(folder / "slow.toml") as lab, opened(tmp_path / "chrome") as chrome:
        chrome.get(lab.address)
        until(chrome, lambda: answered(chrome) > 0)
        one(chrome, "#live").click()
        until(
            chrome, lambda: chrome.execute_script("return document.body.dataset.live || 0") or banner(chrome)
        )
        if "network namespaces" in banner(chrome):
            pytest.skip(banner(chrome))
        assert "live" in one(chrome, "#results h2").text
        assert len(chrome.find_elements("css selector", "#board canvas")) >= 4
        until(chrome, lambda: "live run done" in one(chrome, "#state").text)
        assert one(chrome, "#results td[data-key=goodput_bps]").text
        one(chrome, "#live").click()
        until(chrome, lambda: "live: " in one(chrome, "#state").text)
        one(chrome, "#live").click()
        until(chrome, lambda: "stopped" in one(chrome, "#state").text)
        assert one(chrome, "#live").text == "Run live"
        assert complaints(chrome) == []


def banner(chrome: Any) -> str:
    return str(one(chrome, "#banner").text)
