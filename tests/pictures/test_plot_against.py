"""A comparison as points: one number of each variant against another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.common import tidegate

if TYPE_CHECKING:
    from pathlib import Path

CCS = ["reno", "cubic"]
QUEUES = ["10 packets", "60 packets"]


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> tg.Comparison:
    text = """
        title = "Queues"
        duration = "4 s"
        seed = 1
        [gate.line]
        rate = "8 Mbit/s"
        queue = "60 packets"
        delay = "20 ms"
        [flow.bulk]
        path = ["line"]
        rtt = "40 ms"
    """
    file = tmp_path_factory.mktemp("against") / "queues.toml"
    file.write_text(text)
    return tg.compare(file, vary={"flow.bulk.tcp.cc": CCS, "gate.line.queue": QUEUES})


def test_each_variant_is_a_point_at_its_numbers(comparison: tg.Comparison) -> None:
    figure = comparison.plot(x="queue_delay_p99_ms")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "queueing delay at gate line, 99th percentile, ms"
    assert axes.get_ylabel() == "goodput, all flows, Mbit/s"
    points = [line for line in axes.lines if line.get_label() != "_leader"]
    found = [(line.get_xdata()[0], line.get_ydata()[0]) for line in points]
    assert found == [(row["queue_delay_p99_ms"], row["goodput_bps"] / 1e6) for row in comparison.rows()]
    assert {label.get_text() for label in axes.texts} == {f"{cc} · {queue}" for cc in CCS for queue in QUEUES}
    assert "beside each point: congestion control of bulk, queue of line" in figure.texts[1].get_text()


def test_numbers_of_a_run_may_be_drawn_too(comparison: tg.Comparison) -> None:
    (axes,) = comparison.plot(x="flow.bulk.rtt_p50_ms", y="loss").axes
    (first, *_) = [line for line in axes.lines if line.get_marker() == "o"]
    run = comparison.variants[0].run
    assert first.get_xdata()[0] == run.flows["bulk"]["rtt_p50_ms"]
    assert first.get_ydata()[0] == pytest.approx(100 * run.gates["line"]["loss"])


def test_labels_do_not_lie_on_each_other(comparison: tg.Comparison) -> None:
    # All four have the same two numbers here.
    figure = comparison.plot(x="flow.bulk.limited_by.gate.none", y="fairness")
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].texts]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[n + 1 :])


def test_wrong_choices_are_refused(comparison: tg.Comparison) -> None:
    with pytest.raises(tg.errors.UnknownNameError, match="queue_delay_p98_ms"):
        comparison.plot(x="queue_delay_p98_ms")
    with pytest.raises(tg.errors.ArgumentError, match="it needs x"):
        comparison.plot(y="loss")
    with pytest.raises(tg.errors.ArgumentError, match="give one of the two"):
        comparison.plot(x="loss", show=["cwnd"])
    with pytest.raises(tg.errors.ArgumentError, match="no variant has both completion_s and goodput_bps"):
        comparison.plot(x="completion_s")


def test_the_command_line(comparison: tg.Comparison, small: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "c", tmp_path / "c.png"
    comparison.save(out)
    done = tidegate("plot", out, "--x", "queue_delay_p99_ms", "-o", picture)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 5_000
    again = tmp_path / "again.svg"
    vary = ("compare", small, "--vary", "flow.bulk.tcp.cc=reno,cubic", "--seed", "1")
    done = tidegate(*vary, "--x", "queue_delay_p99_ms", "--y", "loss", "--plot", again)
    assert done.returncode == 0, done.stderr
    written = again.read_text(encoding="utf-8")
    assert {"reno", "cubic"} <= {*re.findall(r"<text[^>]*>([^<]*)</text>", written)}
    done = tidegate(*vary, "--x", "loss")
    assert done.returncode == 2
    assert "--x needs --plot FILE" in done.stderr
    done = tidegate("compare", small, "--engines", "sim,live", "--x", "loss")
    assert "--x is for variants" in done.stderr
    done = tidegate("plot", out, "--cdf", "loss")
    assert "--x, --y and --kind also for comparisons; this folder holds a comparison" in done.stderr
