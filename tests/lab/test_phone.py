"""The laboratory on a phone, 390 wide: no sideways scroll, no number of an axis cut or on another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.browser import opened, unreachable
from support.common import EXAMPLES
from support.laboratory import running
from support.page_of_lab import answered, one, until, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver import Chrome

WIDTH = 390
#: Charts draw their words on canvases: each is noted with its box, in the canvas's own dots.
NOTED = """
window.drawn = new Map();
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const size = this.measureText(text), at = this.getTransform();
  const corners = [[-size.actualBoundingBoxLeft, -size.actualBoundingBoxAscent],
                   [size.actualBoundingBoxRight, size.actualBoundingBoxDescent]]
    .map(([dx, dy]) => at.transformPoint({ x: x + dx, y: y + dy }));
  const [xs, ys] = [corners.map((each) => each.x), corners.map((each) => each.y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const box = { text, left, right, top: Math.min(...ys), bottom: Math.max(...ys) };
  if (!window.drawn.has(this.canvas)) window.drawn.set(this.canvas, []);
  window.drawn.get(this.canvas).push(box);
  return draw.apply(this, arguments);
};
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function () {
  window.drawn.delete(this.canvas);
  return clear.apply(this, arguments);
};
"""
TEXTS = """
return [...window.drawn].filter(([canvas]) => canvas.isConnected).map(([canvas, texts]) =>
  ({ width: canvas.width, height: canvas.height, texts }));
"""


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with opened(tmp_path_factory.mktemp("chrome")) as browser, running(EXAMPLES / "lte.toml") as lab:
        size = {"width": WIDTH, "height": 844, "deviceScaleFactor": 2, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTED})
        browser.get(lab.address)
        until(browser, lambda: answered(browser) > 0)
        one(browser, "#luck").click()
        until(browser, lambda: browser.find_elements("css selector", ".luck"))
        yield browser


def overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    across = min(a["right"], b["right"]) - max(a["left"], b["left"])
    upwards = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
    return across > 0 and upwards > 0


def fits(browser: Chrome) -> None:
    """Expect no sideways scroll of the page, a stop of Tab at what does scroll, and words in their places."""
    assert browser.execute_script("return document.documentElement.scrollWidth") <= WIDTH
    assert unreachable(browser) == []
    charts = browser.execute_script(TEXTS)
    assert len(charts) > 1
    for chart in charts:
        assert chart["texts"]
        for place, text in enumerate(chart["texts"]):
            where = (text, chart["width"], chart["height"])
            assert text["left"] >= 0, where
            assert text["right"] <= chart["width"], where
            assert text["top"] >= 0, where
            assert text["bottom"] <= chart["height"], where
            for other in chart["texts"][:place]:
                assert not overlap(text, other), (text, other)


@pytest.mark.parametrize(
    "name", ["policer", "calls-and-downloads", "many", "steps", "transfer", "tsn", "shaped"]
)
def test_examples_fit(phone: Chrome, name: str) -> None:
    write(phone, (EXAMPLES / f"{name}.toml").read_text())
    fits(phone)


def test_variants_fit(phone: Chrome) -> None:
    text = (EXAMPLES / "policer.toml").read_text()
    write(phone, text)
    one(phone, "#keep").click()
    write(phone, text.replace('burst = "50 kB"', 'burst = "5000 kB"'))
    until(phone, lambda: "now: police.burst 5000 kB" in one(phone, ".luck").text)
    fits(phone)
    marks = phone.execute_script(
        "return [...document.querySelectorAll('#cloud text')].map((each) => {"
        " const box = each.getBoundingClientRect(); return [each.textContent, box.left, box.right]; })"
    )
    assert marks
    for words, left, right in marks:
        assert left >= 0, words
        assert right <= WIDTH, words
