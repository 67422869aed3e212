"""Pictures as SVG: written without matplotlib, with the same content, and every word readable."""

from __future__ import annotations

import math
import re
import tomllib
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
import tidegate as tg
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font, LoadFlags
from support.common import EXAMPLES, SMALL, TEMPLATES
from tidegate._compare.plot import comparison_drawing
from tidegate._draw.axis import even, powers, same_digits
from tidegate._draw.drawing import Drawing
from tidegate._draw.frame import all_words
from tidegate._draw.inline import inline
from tidegate._draw.letters import width
from tidegate._draw.onto import figure_of
from tidegate._draw.paths import area_path, hatch_path, line_path
from tidegate._draw.svg import svg_text
from tidegate._draw.tokens import between
from tidegate._programs.shell_plot import shell_figure
from tidegate._run.plot import run_drawing
from tidegate._study.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidegate._draw.drawing import Panel
    from tidegate._draw.frame import Placed

#: Of a scenario, over two lines.
BROKEN = "Two\n  lines\tof a title"
GATE, FLOW = "access-link-of-the-provider", "download-of-the-neighbours-backup"
LONG = SMALL.replace("bottleneck", GATE).replace("flow.bulk", f"flow.{FLOW}")
CCS = ["reno", "newreno", "cubic"]
#: With something random, so that runs differ.
RANDOM = LONG.replace(f"[flow.{FLOW}]", f'[flow.{FLOW}]\nstart.uniform = ["0 s", "200 ms"]')
SVG = "{http://www.w3.org/2000/svg}"


def faults(drawing: Drawing) -> list[str]:
    """Return the words that leave the canvas, and pairs that lie on each other."""
    words = all_words(drawing)
    box = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', svg_text(drawing))
    assert box is not None
    left, top, wide, high = map(float, box.groups())
    found = [
        f"leaves the canvas: {each.words.text!r}"
        for each in words
        if each.left < left or each.right > left + wide or each.top > -top or each.bottom < -top - high
    ]
    return found + [
        f"on each other: {one.words.text!r} and {other.words.text!r}"
        for one, other in combinations(words, 2)
        if _on_each_other(one, other)
    ]


def _on_each_other(one: Placed, other: Placed) -> bool:
    wide = min(one.right, other.right) - max(one.left, other.left)
    high = min(one.top, other.top) - max(one.bottom, other.bottom)
    # Boxes of slanted words lie on each other where the words do not.
    return wide > 1 and high > 1 and not (one.angle == other.angle and 0 < one.angle < 90)


def drawing_of(source: Path | str) -> Drawing:
    scenario = tg.Scenario.from_toml(source) if isinstance(source, str) else tg.load(source)
    return run_drawing(tg.run(scenario, seed=1, record="100 ms"))


@pytest.mark.parametrize("name", ["web", "policer", "household", "lte", "links", "round-trip-times", "many"])
def test_words_are_on_the_canvas_and_not_on_each_other(name: str) -> None:
    path = next(path for path in (EXAMPLES / f"{name}.toml", TEMPLATES / f"{name}.toml") if path.is_file())
    assert faults(drawing_of(path)) == []


def test_long_names_have_room() -> None:
    flows = "".join(f'[flow.{FLOW}-{number}]\npath = ["{GATE}"]\nrtt = "40 ms"\n' for number in range(9))
    for text in (LONG, LONG[: LONG.index("[flow.")] + flows):
        assert faults(drawing_of(text)) == []


@pytest.mark.parametrize("queues", [["5 packets", "1000 packets"], [f"{n} packets" for n in range(2, 16)]])
def test_comparisons_have_room(queues: list[str]) -> None:
    vary = {f"gate.{GATE}.queue": queues, f"flow.{FLOW}.tcp.cc": ["reno"]}
    drawing = comparison_drawing(tg.compare(tomllib.loads(LONG), vary=vary, seed=1))
    assert faults(drawing) == []
    assert len(drawing.words) == 2 + len(queues)


@pytest.fixture(scope="module")
def study() -> tg.Study:
    vary = {f"gate.{GATE}.queue": ["5 packets", "20 packets", "60 packets"], f"flow.{FLOW}.tcp.cc": CCS}
    return tg.study(tg.Scenario.from_toml(RANDOM), vary=vary, runs=4, seed=1)


PICTURES = {
    "means": Picture(metric=f"gate.{GATE}.queue_delay_p99_ms"),
    "names along the bottom": Picture(axis="cc"),
    "panels": Picture(facet="cc"),
    "one number against another": Picture(x="queue_delay_p99_ms"),
    "cdf": Picture(cdf="goodput_bps", only={"queue": ["20 packets"]}),
    "box": Picture(box="goodput_bps"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_studies_have_room_and_both_writers_show_the_same(study: tg.Study, name: str) -> None:
    drawing = PICTURES[name].drawn(study)
    assert isinstance(drawing, Drawing)
    assert faults(drawing) == []
    assert_same(drawing)


def test_maps_have_room_and_both_writers_show_the_same() -> None:
    vary = {
        f"gate.{GATE}.queue": [f"{2**n} packets" for n in range(2, 7)],
        f"gate.{GATE}.rate": [f"{n} Mbit/s" for n in range(2, 7)],
    }
    found = tg.study(tg.Scenario.from_toml(RANDOM), vary=vary, runs=2, seed=1)
    drawing = Picture().drawn(found)
    assert faults(drawing) == []
    assert_same(drawing)
    cells = [each for each in ET.fromstring(svg_text(drawing)).iter(f"{SVG}path") if "H" in each.attrib["d"]]
    assert len({each.attrib["fill"] for each in cells if "fill" in each.attrib}) > 20
    assert between(("#000000", "#ff0000", "#ffffff"), 0.25) == "#800000"
    assert between(("#000000", "#ff0000", "#ffffff"), 1.0) == "#ffffff"


def test_both_writers_show_the_same() -> None:
    drawing = drawing_of(EXAMPLES / "round-trip-times.toml")
    assert_same(drawing)
    ids = re.findall(r'id="([^"]+)"', inline(svg_text(drawing), "run"))
    assert len(ids) == len(set(ids)) > 0
    assert all(each.startswith("run-p") for each in ids)


def assert_same(drawing: Drawing) -> None:
    """Compare the words and the axes of both writers."""
    picture = ET.fromstring(svg_text(drawing))
    written = {"".join(each.itertext()).replace("\u00a0", " ") for each in picture.iter(f"{SVG}text")}
    figure = figure_of(drawing)
    for axes, panel in zip(figure.axes, drawing.panels, strict=True):
        assert axes.get_title(loc="left") == panel.title
        assert {*panel.title.split("\n"), *panel.y_label.split("\n"), *panel.x_label.split("\n")} - {
            ""
        } <= written
        assert axes.get_ylim() == (panel.y.low, panel.y.high)
        assert axes.get_xlim() == (panel.x.low, panel.x.high)
        assert [tick for tick in axes.get_yticks() if panel.spine] == [value for value, _ in panel.y.ticks()]
        for text in axes.texts:
            assert {*text.get_text().split("\n")} <= written
    names = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert names <= written
    assert len(names) == (len(drawing.legend.entries) if drawing.legend else 0)
    title = picture.find(f"{SVG}title")
    assert title is not None
    assert title.text == drawing.title


def test_the_same_run_is_the_same_picture(tmp_path: Path) -> None:
    run = tg.run(tg.Scenario.from_toml(SMALL), seed=1, record="100 ms")
    run.plot(tmp_path / "a.svg")
    run.save(tmp_path / "run")
    tg.open(tmp_path / "run").plot(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("bold", [False, True])
def test_letters_are_as_wide_as_those_of_the_font(bold: bool) -> None:
    found = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    font = FT2Font(findfont(found))
    font.set_size(1000, 72)
    for letter in [*map(chr, range(32, 127)), *"·–…±≤▲✓"]:
        told = font.load_char(ord(letter), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536
        assert width(letter, 1000, bold=bold) == pytest.approx(told, abs=0.6), letter
    assert width("ab\nabc", 10) == width("abc", 10)


def test_ticks_are_round_and_few() -> None:
    assert even(0, 60, 10) == [0, 10, 20, 30, 40, 50, 60]
    assert even(0, 1.08 * 400, 5) == [0, 100, 200, 300, 400]
    assert even(0, 3.3, 5, whole=True) == [0, 1, 2, 3]
    assert even(0, 0.7, 5, whole=True) == [0]
    assert same_digits(even(0, 0.011, 5)) == ["0.000", "0.002", "0.004", "0.006", "0.008", "0.010"]
    assert even(0, 43, 2, (1, 2, 5, 10)) == [0, 20, 40], "a short axis has a scale all the same"
    assert even(-3, 2, 5) == [-3, -2, -1, 0, 1, 2]
    assert powers(0.03, 3) == pytest.approx([0.05, 0.1, 0.2, 0.5, 1, 2])
    assert powers(0.5, 5000) == [1, 10, 100, 1000]
    assert same_digits([-0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    random = np.random.default_rng(1)
    for _ in range(300):
        low, length = random.uniform(-10, 10), 10 ** random.uniform(-6, 9)
        ticks = even(low, low + length, 5)
        assert 2 <= len(ticks) <= 6
        assert all(low - 1e-6 * length <= each <= low + length * (1 + 1e-6) for each in ticks)


def test_only_a_panel_whose_marks_leave_it_is_clipped() -> None:
    def clipped(draw: Callable[[Panel], None]) -> bool:
        drawing = Drawing(4, 3, "one panel")
        panel = drawing.panel(0.5, 0.5, 3, 2)
        panel.x.span(0, 10)
        panel.y.span(0, 4)
        draw(panel)
        return "clip" in svg_text(drawing)

    x = [0.0, 5, 10]
    assert not clipped(lambda panel: panel.line(x, [1, 3, 3], "#000", 1))
    assert not clipped(lambda panel: panel.line(x, [1, np.nan, 3], "#000", 1, steps=False)), "NaN is nowhere"
    assert clipped(lambda panel: panel.line(x, [1, 5, 1], "#000", 1))
    assert clipped(lambda panel: panel.line([-1, 5], [1, 1], "#000", 1))
    assert clipped(lambda panel: panel.line(x, [0, 3, 3], "#000", 1)), "half its width is below the panel"
    assert not clipped(lambda panel: panel.line(x, [0, 3, 3], "#000", 0.8)), "the frame is as wide"
    assert clipped(lambda panel: panel.line(x, [1, 1, 3], "#000", 1)), "it goes up at the right edge"
    assert not clipped(lambda panel: panel.line([0, 5], [1, 3], "#000", 0.8, steps=False))
    assert clipped(lambda panel: panel.line([5, 10], [1, 3], "#000", 0.8, steps=False))
    assert not clipped(lambda panel: panel.area(x, [4, 4, 4], "#000"))
    assert clipped(lambda panel: panel.area(x, [4, 4, 4], "#000", -1))
    assert not clipped(lambda panel: panel.level(3, "#000", 1))
    assert clipped(lambda panel: panel.level(4, "#000", 1))
    assert not clipped(lambda panel: panel.uprights([0], 0, 4, "#000", 0.35, aside=0.175))
    assert clipped(lambda panel: panel.uprights([10], 0, 4, "#000", 1))
    assert not clipped(lambda panel: panel.bars([5], [3], 10, "#000"))
    assert clipped(lambda panel: panel.bars([5], [3], 10, "#000", edge="#111"))
    assert not clipped(lambda panel: panel.points([10], 3, "upright", "#000", 9))
    assert clipped(lambda panel: panel.points([10], 3, "circle", "#000", 9))
    assert not clipped(lambda panel: panel.points([10], 3, "circle", "#000", 9, over=True)), "it may leave"
    assert not clipped(lambda panel: panel.hatch(0, 10))
    assert clipped(lambda panel: panel.hatch(0, 11))


def test_a_hatched_part_has_its_stripes_inside_it() -> None:
    path = hatch_path(100, 400, -300, -100)
    corners = [tuple(map(int, each.split())) for each in re.findall(r"-?\d+ -?\d+", path)]
    assert min(corners)[0] == 100
    assert max(corners)[0] == 400
    assert {min(y for _, y in corners), max(y for _, y in corners)} == {-300, -100}
    # Stripes slant as in matplotlib's "////", and those of all panels are parts of the same.
    assert path.startswith("M100 -280L120 -300L126 -300L100 -274zM100 -209L")
    assert path.count("M") == len({round((x + y) / math.sqrt(2) / 50 - 0.5) for x, y in corners}) == 7
    assert hatch_path(100, 101, -300, -299) == ""


def test_paths_keep_their_gaps_and_steps() -> None:
    x = np.array([0.0, 1, 2, 3, 4, 5])
    y = np.array([5.0, 5, 7, np.nan, 2, 3])
    # Each value stands until the next; the last before a gap until the gap.
    assert line_path(x, y, steps=True) == "M0 5H2V7H3M4 2H5V3H5"
    assert line_path(x, y, steps=False) == "M0 5L1 5 2 7M4 2L5 3"
    high, low = np.array([5.0, 5, 7, 7]), np.array([1.0, 2, 2, 2])
    assert area_path(x[:4], low, high, steps=True) == "M0 1V5H2V7H3V2H1V1H0z"
    assert area_path(x[:4], np.zeros(4), high, steps=False) == "M0 0V5L1 5 2 7 3 7V0z"


def test_a_title_over_several_lines_stands_on_one() -> None:
    broken = tomllib.loads(RANDOM) | {"title": BROKEN}
    drawing = run_drawing(tg.run(broken, record="50 ms"))
    assert "Two lines of a title" in [each.words.text for each in all_words(drawing)]
    assert faults(drawing) == []
    compared = comparison_drawing(tg.compare(broken, vary={f"flow.{FLOW}.tcp.cc": ["reno", "cubic"]}))
    assert "Two lines of a title" in [each.words.text for each in all_words(compared)]
    assert faults(compared) == []


def test_a_command_over_several_lines_stands_on_one() -> None:
    packets = pl.DataFrame(
        {"time_s": [0.1], "way": ["down"], "bytes": [1500], "delay_ms": [5.0], "dropped_by": [None]},
        schema_overrides={"dropped_by": pl.String},
    )
    summary = {"duration_s": 1.0, "status": 0, "program": "sh -c 'for x in $A $B\ndo\n  echo $x\ndone'"}
    figure = shell_figure(BROKEN, summary, packets, "down: 1 packet\nup: 1 packet")
    texts = [text.get_text() for text in figure.texts]
    assert texts[:2] == [
        "Two lines of a title",
        "1.00 s  ·  exit status 0  ·  sh -c 'for x in $A $B do echo $x done'",
    ]
    assert texts[2:] == ["down: 1 packet", "up: 1 packet"]
    assert not any(text.get_parse_math() for text in figure.texts)
