"""The laboratory without a server of its own, in a real browser: any server of files gives it out."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from support.browser import complaints, faults, opened
from support.common import EXAMPLES, SMALL, command
from support.page_of_lab import answered, drag, one, shown, text_of, until, write
from tidegate._lab.static import MODULE, write_static

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where ``python -m http.server`` gives the page out, below a path."""
    if not MODULE.is_file():
        pytest.skip("no WebAssembly module here (make wasm)")
    root = tmp_path_factory.mktemp("served")
    scenario = root / "class" / "small.toml"
    scenario.parent.mkdir()
    scenario.write_text(SMALL)
    write_static(root / "course 7" / "lab", scenario.parent, scenario.name)
    command_line = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "-d", str(root)]
    with subprocess.Popen(
        command_line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as served:
        assert served.stdout is not None
        port = served.stdout.readline().split(" port ")[1].split()[0]
        yield f"http://127.0.0.1:{port}/course%207/lab/"
        served.terminate()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, address: str) -> Iterator[Chrome]:
    with opened(tmp_path_factory.mktemp("chrome")) as found:
        found.get(address)
        until(found, lambda: answered(found) > 0)
        yield found


@pytest.fixture
def chrome(browser: Chrome, address: str) -> Chrome:
    """The page as it begins."""
    browser.get("about:blank")
    browser.get(address)
    until(browser, lambda: answered(browser) > 0)
    return browser


def said(folder: Path, text: str) -> dict[str, list[dict[str, float]]]:
    path = folder / "from-page.toml"
    path.write_text(text)
    found: dict[str, list[dict[str, float]]] = json.loads(command("run", path, "--seed", "1", "--json"))
    return found


def test_a_transport_that_only_the_server_has_is_refused_in_a_sentence(chrome: Chrome) -> None:
    one(chrome, "select[aria-label='Add a key to flow bulk']").send_keys("transport")
    until(chrome, lambda: 'transport = "tcp"' in text_of(chrome))
    chrome.find_element("id", "field-flow.bulk.transport").send_keys("quic")
    until(chrome, lambda: "this page has TCP only" in one(chrome, "#banner").text)
    assert 'write "tcp", or use tidegate lab' in one(chrome, "#banner").text
    write(chrome, SMALL)
    assert not one(chrome, "#banner").is_displayed()


def test_dragging_gives_the_numbers_of_the_command_line(chrome: Chrome, tmp_path: Path) -> None:
    assert text_of(chrome) == SMALL
    assert shown(chrome, "goodput_bps") == said(tmp_path, SMALL)["flows"][0]["goodput_bps"]
    before = answered(chrome)
    drag(chrome, "gate.bottleneck.rate", *range(100, 141))
    until(chrome, lambda: answered(chrome) > before and 'rate = "10 Mbit/s"' in text_of(chrome))
    time.sleep(0.3)
    summary = said(tmp_path, text_of(chrome))
    assert shown(chrome, "goodput_bps") == summary["flows"][0]["goodput_bps"]
    assert shown(chrome, "queue_delay_p99_ms") == summary["gates"][0]["queue_delay_p99_ms"]
    assert complaints(chrome) == []
    assert faults(chrome) == []


def test_a_run_that_lasts_gives_way_to_the_next(chrome: Chrome) -> None:
    long = SMALL.replace('"6 s"', '"3600 s"').replace("4 Mbit/s", "1 Gbit/s").replace("0.002", "0")
    chrome.execute_script(
        "const area = document.getElementById('text'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input'));",
        long,
    )
    until(chrome, lambda: "running" in one(chrome, "#state").text)
    write(chrome, SMALL)
    assert shown(chrome, "goodput_bps") < 4e6
    assert not one(chrome, "#banner").is_displayed()


def test_too_much_and_what_is_wrong_are_told(chrome: Chrome) -> None:
    write(chrome, SMALL.replace("4 Mbit/s", "4 Mbot/s"))
    assert 'write "4 Mbit/s"' in one(chrome, ".under p").text
    for text, words in (
        (SMALL.replace('"6 s"', '"7200 s"'), "3600 s at most"),
        (SMALL + "count = 10000000\n", "2000 at most"),
    ):
        chrome.execute_script(
            "const area = document.getElementById('text'); area.value = arguments[0];"
            "area.dispatchEvent(new Event('input'));",
            text,
        )
        until(chrome, lambda words=words: words in one(chrome, "#banner").text)
    write(chrome, SMALL)
    assert not one(chrome, "#banner").is_displayed()


def test_an_example_and_a_trace_of_ones_own(chrome: Chrome, address: str, tmp_path: Path) -> None:
    chrome.get("about:blank")
    chrome.get(f"{address}#e=lte-codel")
    until(chrome, lambda: answered(chrome) > 0)
    assert text_of(chrome) == (EXAMPLES / "lte-codel.toml").read_text()
    write_only = SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "mine.csv"')
    write(chrome, write_only)
    assert "mine.csv: there is no such file here" in one(chrome, "#problems").text
    (tmp_path / "mine.csv").write_bytes((EXAMPLES / "cellular.csv").read_bytes())
    before = answered(chrome)
    one(chrome, "#traces").send_keys(str(tmp_path / "mine.csv"))
    until(chrome, lambda: answered(chrome) > before)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.csv").write_bytes((EXAMPLES / "cellular.csv").read_bytes())
    assert shown(chrome, "goodput_bps") == said(tmp_path / "here", write_only)["flows"][0]["goodput_bps"]


def test_variants_and_downloads(chrome: Chrome, tmp_path: Path) -> None:
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    chrome.execute_cdp_cmd("Page.setDownloadBehavior", behaviour)
    one(chrome, "#keep").click()
    write(chrome, SMALL.replace("newreno", "cubic"))
    until(chrome, lambda: "Variants" in one(chrome, "#results h2").text)
    one(chrome, ".menu summary").click()
    for what in ("json", "png", "html"):
        one(chrome, f"#get-{what}").click()
        until(chrome, lambda what=what: (tmp_path / f"tidegate.{what}").is_file())
    told = json.loads((tmp_path / "tidegate.json").read_text())
    assert [each["scenario"] for each in told["variants"]] == ["tcp.cc newreno", "now: tcp.cc cubic"]
    assert (tmp_path / "tidegate.png").read_bytes().startswith(b"\x89PNG")
    until(chrome, lambda: (tmp_path / "tidegate.html").read_text().endswith("</html>\n"))
    chrome.get((tmp_path / "tidegate.html").as_uri())
    assert len(chrome.find_elements("css selector", "#board canvas")) >= 4
    assert len(chrome.find_elements("css selector", "#cloud .mark")) == 2
    assert complaints(chrome) == []
    assert faults(chrome) == []


def test_without_a_server_no_live_run_is_offered(chrome: Chrome) -> None:
    assert not one(chrome, "#live").is_displayed()
