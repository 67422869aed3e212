"""Interactive reports in a real browser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
import tidegate as tg
from support.browser import complaints, faults, narrow, opened, unreachable
from support.common import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with opened(tmp_path_factory.mktemp("chrome")) as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    scenario = folder / "small.toml"
    scenario.write_text(SMALL)
    tg.run(scenario, seed=4).write_report(folder / "run.html")
    vary = {
        "flow.bulk.tcp.cc": ["reno", "cubic", "bbr"],
        "gate.bottleneck.queue": ["20 packets", "5 packets"],
    }
    tg.compare(scenario, vary=vary, seed=2).write_report(folder / "comparison.html")
    tg.study(scenario, vary=vary, runs=3, seed=2, store=False).write_report(folder / "study.html")
    return folder


def go(browser: Chrome, page: Path) -> None:
    browser.get(page.as_uri())
    assert complaints(browser) == []


def one(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element("css selector", selector)


def test_a_run_zooms_by_mouse_and_by_keys(chrome: Chrome, pages: Path) -> None:
    from selenium.webdriver import ActionChains, Keys

    go(chrome, pages / "run.html")
    canvases = chrome.find_elements("css selector", "#board canvas")
    assert len(canvases) == 5, "what held the flow, rate, window, delay, queue"
    seen = one(chrome, ".range")
    assert seen.text == "0 to 6 s, measured from 1 s"
    over = chrome.find_elements("css selector", ".chart .u-over")[2]
    chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    wide = over.size["width"]
    ActionChains(chrome).move_to_element_with_offset(over, -wide // 4, 0).click_and_hold().move_by_offset(
        wide // 2, 0
    ).release().perform()
    begin, end = map(float, re.findall(r"[\d.]+", seen.text.split(",")[0]))
    assert (begin, end) == (pytest.approx(1.5, abs=0.05), pytest.approx(4.5, abs=0.05))
    lines = chrome.find_elements("css selector", ".key output")
    assert any(line.text for line in lines), "the key has numbers under the cursor"
    chart = chrome.find_elements("css selector", ".chart")[2]
    chrome.execute_script("arguments[0].focus()", chart)
    chart.send_keys("0")
    assert seen.text == "0 to 6 s, measured from 1 s"
    chart.send_keys("+")
    begin, end = map(float, re.findall(r"[\d.]+", seen.text.split(",")[0]))
    assert end - begin == pytest.approx(3.0)
    chart.send_keys(Keys.ARROW_RIGHT)
    spoken = one(chrome, "#board .unseen").get_attribute("textContent") or ""
    assert re.search(r"s\. Congestion window: cwnd [\d.]+, ssthresh .* segments", spoken), spoken


def test_the_cursor_tells_what_was_recorded(chrome: Chrome, pages: Path) -> None:
    go(chrome, pages / "run.html")
    chart = chrome.find_elements("css selector", ".chart")[2]
    chrome.execute_script("arguments[0].focus()", chart)
    for _ in range(10):
        chart.send_keys("+")
    chart.send_keys("\ue014")
    spoken = one(chrome, "#board .unseen").get_attribute("textContent") or ""
    found = re.search(r"^([\d.]+) s\. Congestion window: cwnd ([\d.]+)", spoken)
    assert found
    cwnd = tg.run(pages / "small.toml", seed=4).flows["bulk"].series("cwnd")
    near = cwnd.filter((cwnd["time_s"] - float(found[1])).abs() < 0.01)["cwnd_segments"]
    assert any(abs(float(found[2]) - value) < 0.01 for value in near), (spoken, near)


def test_lines_are_switched_off(chrome: Chrome, pages: Path) -> None:
    go(chrome, pages / "run.html")
    button = next(b for b in chrome.find_elements("css selector", ".key button") if b.text == "ssthresh")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"


def test_tables_sort_and_filter(chrome: Chrome, pages: Path) -> None:
    go(chrome, pages / "study.html")

    def column() -> list[float]:
        rows = one(chrome, "#results table.grid").find_elements("css selector", "tbody tr")
        cells = [row.find_elements("css selector", "td")[2].text for row in rows if row.is_displayed()]
        return [float(cell.split()[0]) for cell in cells]

    first = column()
    head = chrome.find_elements("css selector", "#results table.grid th")[2]
    button = head.find_element("css selector", "button")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(first)
    button.click()
    assert column() == sorted(first, reverse=True)
    button.click()
    assert column() == first
    field = one(chrome, "#results input[type=search]")
    field.send_keys("cubic")
    assert len(column()) == 2
    assert one(chrome, "#results .fields output").text == "2 of 6 rows"


def test_marks_say_what_they_are(chrome: Chrome, pages: Path) -> None:
    for name in ("comparison", "study"):
        go(chrome, pages / f"{name}.html")
        marks = chrome.find_elements("css selector", "#cloud .mark")
        assert len(marks) == 6
        chrome.execute_script("arguments[0].focus()", marks[0])
        words = one(chrome, "#cloud .told").text
        assert "goodput, all flows, Mbit/s" in words
        assert "reno" in words
        numbers = json.loads(one(chrome, "#numbers").get_attribute("textContent") or "")
        point = (numbers.get("variants") or numbers["points"])[0]
        goodput = point.get("goodput_bps") or point["metrics"]["goodput_bps"]["mean"]
        assert f"{goodput / 1e6:.4g}" in words
        one(chrome, "#cloud select").find_elements("css selector", "option")[-1].click()
        assert complaints(chrome) == []


@pytest.mark.parametrize("name", ["run", "comparison", "study"])
def test_no_serious_fault_for_those_who_do_not_see(chrome: Chrome, pages: Path, name: str) -> None:
    go(chrome, pages / f"{name}.html")
    assert faults(chrome) == []


@pytest.mark.parametrize("name", ["run", "comparison", "study"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_page_is_wider_than_the_window(chrome: Chrome, pages: Path, name: str, width: int) -> None:
    with narrow(chrome, width):
        go(chrome, pages / f"{name}.html")
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
        assert unreachable(chrome) == []


def test_without_scripts_the_pictures_are_there(pages: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "chrome", scripts=False) as browser:
        browser.get((pages / "run.html").as_uri())
        assert one(browser, "figure.still svg").is_displayed()
        assert not one(browser, "#board").is_displayed()


def test_on_paper_the_pictures_are_there_and_the_charts_are_not(chrome: Chrome, pages: Path) -> None:
    go(chrome, pages / "run.html")
    assert not one(chrome, "details.still svg").is_displayed()
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    chrome.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert one(chrome, "details.still svg").is_displayed()
    assert not one(chrome, "#board").is_displayed()
    assert not one(chrome, "nav").is_displayed()
    assert not one(chrome, "details.still > summary").is_displayed()
    # Nothing that is drawn is wider than the paper, nor higher.
    box = "const box = arguments[0].getBoundingClientRect(); return [box.right, box.height]"
    for still in chrome.find_elements("css selector", ".picture svg"):
        right, high = chrome.execute_script(box, still)
        assert right <= chrome.execute_script("return document.documentElement.clientWidth")
        assert high <= 21 * 96 / 2.54 + 1
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    chrome.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not one(chrome, "details.still svg").is_displayed()


def test_events_of_a_long_run_are_drawn_too(chrome: Chrome, tmp_path: Path) -> None:
    fast = {
        "duration": "12 s",
        "gate.bottleneck.rate": "700 Mbit/s",
        "gate.bottleneck.loss": "0",
        "gate.bottleneck.queue": "1 MB",
    }
    run = tg.run(tg.Scenario.from_toml(SMALL, changes=fast), seed=1, record="events")
    assert run.flows["bulk"].columns().height > 100_000
    page = run.write_report(tmp_path / "events.html")
    assert page.stat().st_size < 12_000_000
    go(chrome, page)
    assert "The run recorded more" in one(chrome, "#board").text
