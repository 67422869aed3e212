"""Requests seen from Python: summaries, series, studies, folders, text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from support.common import EXAMPLES
from tidegate._run import text as _run_text

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO: dict[str, Any] = {
    "title": "two clients",
    "duration": "20 s",
    "seed": 3,
    "gate": {"down": {"rate": "8 Mbit/s", "delay": "10 ms"}, "up": {"rate": "1 Mbit/s", "delay": "10 ms"}},
    "server": {"s": {"rate": "1 MB/s"}},
    "flow": {
        "client": {
            "count": 2,
            "path": ["down"],
            "back": ["up"],
            "app": {
                "request": {
                    "server": "s",
                    "response": {"exponential": "30 kB"},
                    "think": {"exponential": "300 ms"},
                }
            },
        }
    },
    "record": {"every": "50 ms"},
}


@pytest.fixture(scope="module")
def run() -> tg.Run:
    return tg.run(SCENARIO)


def test_rows_and_series_tell_the_same(run: tg.Run) -> None:
    assert run.requests.names == ["client.1", "client.2", "all"]
    every = run.table("requests")
    assert every.height == run.requests["all"]["asked"]
    for row in run.requests:
        took = row.series("response")["response_s"]
        done = took.drop_nulls()
        assert (row["asked"], row["finished"]) == (len(took), len(done))
        assert row["response_mean_s"] == pytest.approx(done.mean(), rel=1e-9)
        assert row["response_max_s"] == pytest.approx(done.max(), rel=1e-9)
        times = sorted(done)
        assert row["response_p95_s"] == pytest.approx(times[-(-95 * len(times) // 100) - 1], rel=1e-9)
        half = 1.0 * row["response_half_width_s"]
        assert half == pytest.approx(_half_width(list(done)), rel=1e-6)
    parts = [run.requests["all"][f"{part}_mean_s"] for part in ("request", "server", "transfer")]
    assert sum(parts) == pytest.approx(run.requests["all"]["response_mean_s"])
    assert every["time_s"].is_sorted() is False, "it is in order of flows"
    assert run.requests["all"].series("response")["time_s"].is_sorted()


def _half_width(values: list[float]) -> float:
    from tidegate import _core

    n = len(values)
    mean = sum(values) / n
    sd = (sum((value - mean) ** 2 for value in values) / (n - 1)) ** 0.5
    quantile = _core.student_t(0.975, n - 1)
    assert quantile is not None
    return float(quantile) * sd / n**0.5


def test_what_is_asked_is_sent_and_comes(run: tg.Run) -> None:
    every = run.table("requests")
    done = every.filter(every["ended_s"].is_not_null())
    for earlier, later in (("time_s", "begun_s"), ("begun_s", "arrived_s"), ("arrived_s", "answered_s")):
        assert (done[earlier] <= done[later]).all()
    # A server of 1 MB/s, and a wait behind the other client now and then.
    work = (done["request_bytes"] + done["response_bytes"]) / 1e6
    waits = done["answered_s"] - done["arrived_s"] - work
    assert waits.min() == pytest.approx(0.0, abs=1e-9)
    assert float(waits.max() or 0.0) > 1e-3  # type: ignore[arg-type]


def test_folder_and_text(run: tg.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "out")
    again = tg.open(tmp_path / "out")
    assert again.summary == run.summary
    assert again.table("requests").equals(run.table("requests"))
    text = _run_text.run_report(run.summary, run.title)
    assert "client.2" in text
    assert "response" in text
    for line in text.splitlines():
        assert len(line) <= 80, line


def test_the_picture_shows_response_times(run: tg.Run) -> None:
    titles = [axes.get_title(loc="left") for axes in run.plot().axes]
    assert any(title.startswith("Response times") for title in titles)
    other = tg.run(EXAMPLES / "steps.toml", changes={"duration": "1 s"}, record="50 ms")
    assert not any(axes.get_title(loc="left").startswith("Response") for axes in other.plot().axes)


def test_a_run_without_requests_says_so() -> None:
    other = tg.run(EXAMPLES / "steps.toml", changes={"duration": "1 s"})
    assert "requests" not in other.summary
    assert len(other.requests) == 0
    with pytest.raises(tg.errors.NotRecordedError, match="no flow of this run has requests"):
        other.table("requests")


def test_summary_alone_has_no_table() -> None:
    alone = tg.run(SCENARIO, record="summary")
    with pytest.raises(tg.errors.NotRecordedError, match="record"):
        alone.requests["all"].series("response")


def test_study_compare_and_json(tmp_path: Path) -> None:
    study = tg.study(
        SCENARIO, vary={"server.s.rate": ["500 kB/s", "5 MB/s"]}, runs=3, store=tmp_path / "store"
    )
    slow, fast = (study.estimate("response_mean_s", {"rate": rate}) for rate in ("500 kB/s", "5 MB/s"))
    assert slow.mean is not None
    assert fast.mean is not None
    assert slow.mean > fast.mean
    assert study.estimate("request.client.1.server_mean_s", 0).mean is not None
    assert study.requests.height == 2 * 3 * 3
    assert "response" in study.report()
    with pytest.raises(tg.errors.UnknownNameError, match="request"):
        study.estimate("request.client.3.response_mean_s", 0)
    study.save(tmp_path / "study")
    assert tg.open(tmp_path / "study").requests.equals(study.requests)
    assert json.loads(study.to_json())["points"][0]["metrics"]["finished"]["n"] == 3


def test_common_random_numbers_are_kept() -> None:
    """A slower network changes no request: the n-th of each client is as large as before."""
    runs = [tg.run(SCENARIO, changes={"gate.down.delay": delay}) for delay in ("10 ms", "40 ms")]
    for name in ("client.1", "client.2"):
        one, other = (run.requests[name].series("size") for run in runs)
        count = min(one.height, other.height)
        assert count > 20
        assert one["response_bytes"][:count].equals(other["response_bytes"][:count])
