"""Pictures of studies, read back from their artists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tidegate as tg
from support.common import tidegate
from support.figures import texts
from tidegate._base.quantity import is_geometric, quantities
from tidegate._run.words import key_words, metric_label
from tidegate._study.picture import Picture

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SCENARIO: dict[str, Any] = {
    "title": "Queues",
    "duration": "4 s",
    "warmup": "1 s",
    "seed": 5,
    "runs": 4,
    "gate": {"link": {"rate": "6 Mbit/s", "queue": "15 packets", "delay": "10 ms"}},
    "flow": {"bulk": {"path": ["link"], "rtt": "40 ms", "start": {"uniform": ["0 s", "100 ms"]}}},
}
QUEUES = ["5 packets", "10 packets", "20 packets", "40 packets", "80 packets", "160 packets"]
QUEUE = "gate.link.queue"
CC = "flow.bulk.tcp.cc"


@pytest.fixture(scope="module")
def study() -> tg.Study:
    return tg.study(SCENARIO, vary={CC: ["reno", "newreno", "cubic"], QUEUE: QUEUES})


@pytest.fixture(scope="module")
def three() -> tg.Study:
    vary = {CC: ["reno", "cubic"], QUEUE: QUEUES[:3], "flow.bulk.count": [1, 2]}
    return tg.study(SCENARIO, vary=vary, runs=2)


def curves(axes: Axes) -> dict[str, Line2D]:
    """The drawn curves by their labels; what begins with "_" is no curve."""
    found = {str(line.get_label()): line for line in axes.get_lines()}
    return {label: line for label, line in found.items() if not label.startswith("_")}


def test_every_marker_stands_at_its_x_and_mean(study: tg.Study) -> None:
    (axes,) = study.plot().axes
    drawn = curves(axes)
    for cc in ("reno", "cubic"):
        x, y = drawn[f"cc={cc}"].get_data()
        assert list(x) == [5, 10, 20, 40, 80, 160]
        means = [study.estimate("goodput_bps", {"cc": cc, "queue": queue}).mean for queue in QUEUES]
        assert list(y) == pytest.approx([mean / 1e6 for mean in means if mean is not None])
    assert axes.get_xscale() == "log"


def test_bars_are_parted_by_a_constant_on_the_screen(study: tg.Study) -> None:
    figure = study.plot()
    (axes,) = figure.axes
    figure.canvas.draw()
    moved = set()
    for bars in axes.collections:
        for segment in bars.get_segments():
            at = bars.get_transform().transform(segment)[:, 0] - axes.transData.transform(segment)[:, 0]
            moved |= {round(float(pixels) / figure.dpi * 72, 3) for pixels in at}
    assert 1 < len(moved) <= 3
    assert max(map(abs, moved)) <= 4, "points on the screen"


def test_equal_numbers_are_one_curve(study: tg.Study) -> None:
    # Without losses that overlap, Reno and NewReno do the same; with SACK always.
    figure = study.plot(metric="goodput_bps")
    (axes,) = figure.axes
    assert set(curves(axes)) == {"cc=reno", "cc=cubic"}
    assert "reno = newreno (equal)" in texts(figure)


def test_the_legend_lies_outside_the_axes(study: tg.Study, three: tg.Study) -> None:
    for figure in (study.plot(), three.plot()):
        figure.canvas.draw()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
        assert box.x1 <= figure.bbox.x1
        assert all(axes.get_legend() is None for axes in figure.axes)


def test_a_third_key_makes_panels(three: tg.Study) -> None:
    figure = three.plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["count=1", "count=2"]
    for axes in figure.axes:
        assert set(curves(axes)) == {"cc=reno", "cc=cubic"}
        assert list(curves(axes)["cc=reno"].get_xdata()) == [5, 10, 20]
    other = three.plot(axis="count", facet="cc")
    assert [axes.get_title(loc="left") for axes in other.axes] == ["cc=reno", "cc=cubic"]
    assert set(curves(other.axes[0])) == {f"queue={queue}" for queue in QUEUES[:3]}
    one = three.plot(only={"count": [2], "cc": ["cubic"]})
    assert len(one.axes) == 1
    assert "count=2" in texts(one)


def test_keys_that_move_together_are_one_axis() -> None:
    text = tg.Scenario.from_dict(SCENARIO).to_toml() + (
        '\n[[sweep]]\n"gate.link.delay" = ["5 ms", "10 ms", "15 ms"]\n'
        '"flow.bulk.rtt" = ["20 ms", "40 ms", "60 ms"]\n'
    )
    swept = tg.study(tg.Scenario.from_toml(text), vary={CC: ["reno", "cubic"]}, runs=2)
    for axis, label, places in (
        (None, "delay of link, ms (with it: round-trip time of bulk)", [5, 10, 15]),
        ("rtt", "round-trip time of bulk, ms (with it: delay of link)", [20, 40, 60]),
    ):
        (axes,) = swept.plot(axis=axis).axes
        assert set(curves(axes)) == {"cc=reno", "cc=cubic"}
        assert axes.get_xlabel() == label
        assert list(curves(axes)["cc=reno"].get_xdata()) == places


def test_words_with_units_stand_at_the_axes(study: tg.Study) -> None:
    (axes,) = study.plot(metric="queue_delay_p99_ms").axes
    assert axes.get_xlabel() == "queue of link, packets"
    assert axes.get_ylabel() == "queueing delay at gate link, 99th percentile, ms"
    assert key_words("flow.bulk.tcp.cc") == "congestion control of bulk"
    assert key_words("gate.link.rate.token_bucket.burst") == "token bucket of link"
    assert metric_label("flow.bulk.limited_by.gate.link") == "time of flow bulk limited by gate link, %"
    assert metric_label("flow.a.1.rtt_p50_ms") == "round-trip time of a.1, median, ms"


def test_too_much_is_refused_with_what_to_choose(tmp_path: Path) -> None:
    vary = {CC: ["reno", "newreno", "cubic"], "flow.bulk.count": [1, 2, 3, 4], QUEUE: QUEUES}
    many = tg.study(
        SCENARIO,
        vary={**vary, "gate.link.delay": ["1 ms", "2 ms", "3 ms"]},
        runs=1,
        changes={"duration": "2 s"},
    )
    with pytest.raises(tg.errors.ArgumentError) as refused:
        many.plot()
    for word in (
        "9 curves in a panel",
        "--axis",
        "--facet",
        "--only",
        "count (4 values)",
        "queue (6 values)",
    ):
        assert word in str(refused.value)
    assert many.plot(only={"cc": ["cubic"]})
    (tmp_path / "s.toml").write_text(tg.Scenario.from_dict(SCENARIO).to_toml())
    options = [
        part for key, values in vary.items() for part in ("--vary", f"{key}={','.join(map(str, values))}")
    ]
    command = ["study", tmp_path / "s.toml", *options, "--vary", "gate.link.delay=1 ms,2 ms,3 ms"]
    done = tidegate(*command, "--plot", tmp_path / "x.png")
    assert done.returncode == 2
    assert "9 curves in a panel" in done.stderr
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"axis": "qeue"}, 'no axis is called "qeue"'),
        ({"only": {"cc": ["bbr"]}}, 'is called "bbr"'),
        ({"axis": "queue", "facet": "queue"}, "do one of the two"),
        ({"metric": "speed"}, 'no metric is called "speed"'),
    ],
)
def test_choices_that_cannot_be(study: tg.Study, choice: dict[str, Any], said: str) -> None:
    with pytest.raises((tg.errors.ArgumentError, tg.errors.UnknownNameError), match=said):
        study.plot(**choice)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"x": "loss", "metric": "loss"}, "give one"),
        ({"y": "loss"}, "it needs x"),
        ({"cdf": "goodput_bps", "axis": "queue"}, "use facet for panels"),
        ({"cdf": "goodput_bps", "kind": "map"}, "not for cdf"),
    ],
)
def test_options_that_do_not_go_together(study: tg.Study, choice: dict[str, Any], said: str) -> None:
    with pytest.raises(tg.errors.ArgumentError, match=said):
        Picture(**choice).check(study.axes, study.points)


def test_one_number_against_another(study: tg.Study) -> None:
    figure = study.plot_against(x="queue_delay_p99_ms", y="goodput_bps")
    (axes,) = figure.axes
    x, y = curves(axes)["cc=cubic"].get_data()
    for n, queue in enumerate(QUEUES):
        where = {"cc": "cubic", "queue": queue}
        assert x[n] == study.estimate("queue_delay_p99_ms", where).mean
        assert y[n] == pytest.approx((study.estimate("goodput_bps", where).mean or 0) / 1e6)
    assert axes.get_xlabel() == "queueing delay at gate link, 99th percentile, ms"
    assert {"5", "160"} <= {text.get_text() for text in axes.texts}
    assert "beside each point: queue of link, packets" in texts(figure)


def test_distributions_are_those_of_the_runs(study: tg.Study) -> None:
    figure = study.plot_cdf(metric="goodput_bps", only={"queue": ["20 packets"]})
    x, share = curves(figure.axes[0])["cc=cubic"].get_data()
    values = sorted(v / 1e6 for v in study.values("goodput_bps", {"cc": "cubic", "queue": "20 packets"}) if v)
    assert list(x[1:]) == pytest.approx(values)
    assert list(share) == [0, 0.25, 0.5, 0.75, 1]
    boxes = study.plot_box(metric="goodput_bps", only={"cc": ["reno", "cubic"]})
    (axes,) = boxes.axes
    rectangle = axes.patches[0]
    first = [v / 1e6 for v in study.values("goodput_bps", {"cc": "reno", "queue": "5 packets"}) if v]
    low, high = np.quantile(first, [0.25, 0.75])
    assert rectangle.get_y() == pytest.approx(low)
    assert rectangle.get_height() == pytest.approx(high - low)
    one = tg.study(SCENARIO, vary={CC: ["reno"]}, runs=1)
    with pytest.raises(tg.errors.ArgumentError, match="no distribution"):
        one.plot_cdf(metric="goodput_bps")


UNFINISHED = """
duration = "6 s"
seed = 5
runs = 8
[gate.link]
rate = "2 Mbit/s"
queue = "20 packets"
loss = 0.01
[flow.file]
path = ["link"]
rtt = "80 ms"
tcp.cc = "reno"
app.transfer = "1200 kB"
"""


def test_a_curve_ends_at_the_share_of_the_runs_that_have_the_number() -> None:
    scenario = tg.Scenario.from_toml(UNFINISHED)
    alone = tg.study(scenario, store=False)
    for metric in ("completion_s", "flow.file.completion_s"):
        figure = alone.plot_cdf(metric=metric)
        (line,) = [line for line in figure.axes[0].lines if len(line.get_xdata())]
        assert list(line.get_ydata()) == [0, 1 / 8]
        assert "1 of 8 runs" in texts(figure)
    sizes = ["300 kB", "1200 kB", "9 MB"]
    several = tg.study(scenario, vary={"flow.file.app.transfer": sizes}, store=False)
    figure = several.plot_cdf(metric="completion_s")
    ends = [line.get_ydata()[-1] for line in curves(figure.axes[0]).values() if len(line.get_ydata())]
    assert ends == [1, 1 / 8]
    note = "1 of 8 runs (1200 kB), 0 of 8 runs (9 MB)"
    for each in (
        figure,
        several.plot_box(metric="completion_s"),
        several.plot(metric="completion_s"),
        several.plot_against(x="goodput_bps", y="completion_s"),
    ):
        assert note in texts(each).replace("\n", " ")


def test_mixed_units_are_one_axis() -> None:
    assert quantities(["25 kB", "100 kB", "1 MB"]) == ([25, 100, 1000], "kB")
    assert quantities(["1 s", "500 ms"]) == ([1000, 500], "ms")
    assert quantities(["0.5 BDP", "1 bdp"]) == ([0.5, 1], "BDP")
    assert quantities(["1 GiB", "1 MiB"]) == ([1024, 1], "MiB")
    assert quantities(["1 Mbit/s", "1 Gbit/s"]) == ([1, 1000], "Mbit/s")
    assert quantities(["0", "5 ms"]) == ([0, 5], "ms")
    assert quantities(["5 packets", "10 kB"]) is None
    assert quantities(["reno", "cubic"]) is None
    assert quantities(["1", "2"]) == ([1, 2], "")


def test_powers_only_where_the_values_are_powers() -> None:
    assert is_geometric([5, 10, 20, 40, 80])
    assert is_geometric([1, 10, 100])
    assert not is_geometric([10, *range(20, 130, 10)])
    assert not is_geometric([0, 1, 10, 100])
    assert not is_geometric([100, 200, 300])
    assert not is_geometric([1, 100])


def test_the_command_line_draws_them_all(study: tg.Study, tmp_path: Path) -> None:
    folder = study.save(tmp_path / "s")
    for options in (
        ["--x", "queue_delay_p99_ms", "--y", "goodput_bps"],
        ["--cdf", "goodput_bps", "--facet", "queue"],
        ["--box", "loss"],
        ["--axis", "cc", "--facet", "queue", "--only", "cc=reno,cubic"],
    ):
        target = tmp_path / "x.svg"
        done = tidegate("plot", folder, *options, "-o", target)
        assert done.returncode == 0, done.stderr
        target.unlink()
    done = tidegate("plot", folder, "--only", "cc")
    assert done.returncode == 2
    assert "such as cc=cubic" in done.stderr
    done = tidegate("plot", folder, "--show", "delay")
    assert done.returncode == 2
    assert "this folder holds a study" in done.stderr


def test_columns_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(tg.Scenario.from_dict(SCENARIO).to_toml())
    command = ["study", tmp_path / "s.toml", "--vary", f"{QUEUE}=5 packets,10 packets"]
    done = tidegate(*command, "--columns", "utilisation,flow.bulk.rtt_p99_ms")
    assert "flow.bulk.rtt_p99_ms" in done.stdout
    assert "goodput" not in done.stdout
    plain = tidegate(*command).stdout
    assert "p99" in plain
    assert "used" in plain
    assert max(map(len, plain.splitlines())) <= 80
    wrong = tidegate(*command, "--columns", "speed")
    assert wrong.returncode == 2
    assert 'no metric is called "speed"' in wrong.stderr
