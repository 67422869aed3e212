"""Pictures with the longest names: every word is on the canvas, and none lies on another."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import pytest
import tidegate as tg
from click.testing import CliRunner, Result
from support.common import EXAMPLES, ROOT, SMALL
from tidegate._cli.main import cli
from tidegate._draw.figure import Figure as Drawn
from tidegate._draw.settle import settle, ticks_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

#: As long as the longest of the examples, and a controller of one's own.
GATE, FLOW = "access-link-of-the-provider", "download-of-the-neighbours-backup"
LONG = SMALL.replace("bottleneck", GATE).replace("flow.bulk", f"flow.{FLOW}")
OWN = """
import tidegate as tg

class ScalableWithALongName(tg.CongestionControl):
    def on_ack(self, ack):
        self.window_bytes += 0.01 * ack.delivered_bytes
"""
#: Words may touch by so many dots: boxes have room above and below the letters.
TOUCH = 2.0


def faults(figure: Figure) -> list[str]:
    """Return the words that leave the canvas, and pairs that lie on each other."""
    settle(figure)
    figure.draw_without_rendering()
    wide, high = figure.get_size_inches() * figure.dpi
    words = [*words_of(figure), *ticks_of(figure)]
    found = [
        f"leaves the canvas: {word!r}"
        for word, box in words
        if box.x0 < -1 or box.y0 < -1 or box.x1 > wide + 1 or box.y1 > high + 1
    ]
    for number, (word, box) in enumerate(words):
        for other, beside in words[number + 1 :]:
            if _on_each_other(box, beside):
                found.append(f"on each other: {word!r} and {other!r}")
    return found


def _on_each_other(one: Bbox, other: Bbox) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    # Boxes of slanted words lie on each other where the words do not.
    slanted = one.height > 30 and other.height > 30
    return wide > TOUCH and high > TOUCH and not slanted


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("own") / "controllers.py"
    path.write_text(OWN)
    return f"python:{path}:ScalableWithALongName"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("long") / "long.toml"
    path.write_text(LONG)
    return path


@pytest.fixture(scope="module")
def studies(scenario: Path, own: str) -> dict[str, tg.Study]:
    cc = f"flow.{FLOW}.tcp.cc"
    queue = f"gate.{GATE}.queue"
    return {
        "names": tg.study(scenario, vary={cc: ["cubic", "newreno", own]}, runs=2, seed=1),
        "numbers": tg.study(
            scenario,
            vary={queue: ["5 packets", "10 packets", "20 packets"], cc: ["reno", "newreno", own]},
            runs=2,
            seed=1,
        ),
    }


PICTURES: dict[str, Callable[[dict[str, tg.Study]], Any]] = {
    "study of names": lambda studies: studies["names"].plot(metric=f"gate.{GATE}.queue_delay_p99_ms"),
    "study of numbers": lambda studies: studies["numbers"].plot(metric=f"gate.{GATE}.queue_delay_p99_ms"),
    "panels": lambda studies: studies["numbers"].plot(
        metric=f"flow.{FLOW}.limited_by.congestion window", facet="cc"
    ),
    "one number against another": lambda studies: studies["numbers"].plot_against(
        x="queue_delay_p99_ms", y="goodput_bps"
    ),
    "box": lambda studies: studies["names"].plot_box(metric=f"gate.{GATE}.queue_delay_p99_ms"),
    "cdf": lambda studies: studies["names"].plot_cdf(metric=f"gate.{GATE}.queue_delay_p99_ms"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_studies(studies: dict[str, tg.Study], name: str) -> None:
    assert faults(PICTURES[name](studies)) == []


def invoked(words: list[str]) -> Result:
    """Run a command in this process; what it remembers of its options stays with it."""
    return copy_context().run(CliRunner().invoke, cli, words)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Figures that matplotlib writes while the test runs, as PDF."""
    found: list[Any] = []
    save = Drawn.savefig

    def note(figure: Drawn, *where: Any, **how: Any) -> None:
        save(figure, *where, **how)
        found.append(figure)

    monkeypatch.setattr(Drawn, "savefig", note)
    return found


@pytest.fixture(scope="module")
def grid(scenario: Path) -> tg.Study:
    """Two keys with five numbers each, and a third one with words."""
    vary = {
        f"gate.{GATE}.queue": [f"{2**n} packets" for n in range(2, 7)],
        f"gate.{GATE}.rate": [f"{n} Mbit/s" for n in range(2, 7)],
        f"flow.{FLOW}.tcp.cc": ["reno", "cubic"],
    }
    return tg.study(scenario, vary=vary, runs=2, seed=1, changes={"duration": "3 s"})


def test_maps(grid: tg.Study, scenario: Path) -> None:
    metric = f"gate.{GATE}.queue_delay_p99_ms"
    for figure in (grid.plot(metric=metric, kind="map"), grid.plot(only={"cc": ["cubic"]})):
        assert faults(figure) == []
        assert figure.axes[0].images, "a map"
    both = {key: values for key, values in grid_of(grid).items() if not key.endswith("cc")}
    compared = tg.compare(scenario, vary=both, seed=1, changes={"duration": "3 s"})
    assert faults(compared.plot()) == []
    maps = [axes for axes in compared.plot().axes if axes.images and axes.get_xticks().size]
    assert len(maps) == 2
    assert not compared.plot(kind="lines").axes[0].images


def test_a_map_is_chosen_where_two_keys_have_many_numbers(
    grid: tg.Study, studies: dict[str, tg.Study]
) -> None:
    # Lines where a key lies along the bottom as asked, and where there are fewer values.
    lines = grid.plot(axis="queue", only={"cc": ["cubic"]})
    assert not lines.axes[0].images
    assert not grid.plot(kind="lines", only={"cc": ["cubic"]}).axes[0].images
    assert not studies["numbers"].plot().axes[0].images
    figure = grid.plot(only={"cc": ["cubic"]})
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == ["4", "8", "16", "32", "64"]
    with pytest.raises(tg.errors.ArgumentError, match="two varied keys with numbers"):
        studies["names"].plot(kind="map")
    with pytest.raises(tg.errors.ArgumentError, match='did you mean "map"'):
        grid.plot(kind="mapp")


def grid_of(study: tg.Study) -> dict[str, list[str]]:
    return {key: list(dict.fromkeys(point.values[key] for point in study.points)) for key in study.axes}


def test_a_frontier(scenario: Path, drawn: list[Any], tmp_path: Path) -> None:
    sized = tg.size(scenario, GATE, goal="goodput > 3 Mbit/s", runs=2, seed=1)
    sized.plot(tmp_path / "size.pdf")
    assert faults(drawn[-1]) == []


@pytest.mark.parametrize("name", ["policer", "lte"])
def test_an_identified_limit(name: str, drawn: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "run.pcap"
    tg.run(EXAMPLES / f"{name}.toml", seed=1, record="summary", changes={"duration": "20 s"}, pcap=path)
    tg.identify(path).plot(tmp_path / "identify.pdf")
    assert faults(drawn[-1]) == []
    for axes in drawn[-1].axes:
        right = axes.get_window_extent().x1
        assert axes.texts, "nothing says what is drawn"
        assert all(words.get_window_extent().x0 >= right for words in axes.texts), "words cover what is drawn"


def test_a_trace(tmp_path: Path, drawn: list[Any]) -> None:
    place = (
        tmp_path
        / "a-recording-with-a-long-name-that-one-keeps-as-it-was-downloaded-from-the-archive-2019-03-14.csv"
    )
    place.write_bytes((EXAMPLES / "cellular.csv").read_bytes())
    done = invoked(["traces", "info", str(place), "--plot", str(tmp_path / "trace.pdf")])
    assert done.exit_code == 0, done.output
    assert faults(drawn[-1]) == []


def test_engines_side_by_side(tmp_path: Path, drawn: list[Any]) -> None:
    words = [
        "compare",
        str(EXAMPLES / "window.toml"),
        "--engines",
        "theory,sim",
        "--runs",
        "2",
        "--seed",
        "1",
    ]
    done = invoked([*words, "--plot", str(tmp_path / "engines.png")])
    assert done.exit_code in (0, 1), done.output
    assert faults(drawn[-1]) == []


def test_names_are_points_without_a_line(studies: dict[str, tg.Study]) -> None:
    figure = studies["names"].plot(metric="goodput_bps")
    lines = [line for line in figure.axes[0].lines if line.get_label() == "_all"]
    assert [line.get_linestyle() for line in lines] == ["None"]
    ticks = [text for text, _ in ticks_of(figure)]
    assert any("ScalableWithALongN" in text for text in ticks), ticks


def test_curves_on_each_other_say_how_many(studies: dict[str, tg.Study]) -> None:
    figure = studies["numbers"].plot(metric="goodput_bps")
    assert "2 curves" in [text.get_text() for text in figure.axes[0].texts]


def test_comparisons(scenario: Path, own: str) -> None:
    vary = {
        f"flow.{FLOW}.tcp.cc": ["cubic", "reno", "newreno", own],
        f"gate.{GATE}.queue": ["5 packets", "1000 packets"],
    }
    compared = tg.compare(scenario, vary=vary, seed=1)
    assert faults(compared.plot()) == []
    assert faults(compared.plot(x="queue_delay_p99_ms", y="goodput_bps")) == []


def test_queues_that_differ_by_much_have_scales_of_their_own(scenario: Path) -> None:
    few = tg.compare(scenario, vary={f"gate.{GATE}.queue": ["5 packets", "1000 packets"]}, seed=1)
    figure = few.plot(show=["queue"])
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert any("a scale of its own" in title for title in titles), titles
    tops = [axes.get_ylim()[1] for axes in figure.axes[:2]]
    assert tops[0] < 0.2 * tops[1]
    assert faults(figure) == []


def test_runs() -> None:
    flows = "".join(f'[flow.{FLOW}-{number}]\npath = ["{GATE}"]\nrtt = "40 ms"\n' for number in range(9))
    head = LONG[: LONG.index("[flow.")]
    for text in (LONG, head + flows):
        assert faults(tg.run(tg.Scenario.from_toml(text), seed=1, record="10 ms").plot()) == []


@pytest.mark.parametrize("name", ["web", "policer", "household", "lte", "links", "round-trip-times"])
def test_examples(name: str) -> None:
    templates = ROOT / "python" / "tidegate" / "_ask" / "templates"
    path = next(path for path in (EXAMPLES / f"{name}.toml", templates / f"{name}.toml") if path.is_file())
    assert faults(tg.run(path, seed=1, record="100 ms").plot()) == []
