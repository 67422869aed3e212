"""The laboratory in a real browser."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from support.browser import complaints, faults, opened
from support.common import EXAMPLES, SMALL
from support.laboratory import TOKEN, Running, ask, running
from support.page_of_lab import answered, drag, one, shown, text_of, until, write

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver import Chrome


def test_back_and_forward(chrome: Chrome) -> None:
    write(chrome, SMALL.replace("4 Mbit/s", "5 Mbit/s"))
    address = chrome.current_url
    until(chrome, lambda: chrome.current_url != address or "#s=" in address)
    time.sleep(0.2)
    write(chrome, SMALL.replace("4 Mbit/s", "6 Mbit/s"))
    time.sleep(0.3)
    chrome.back()
    until(chrome, lambda: '"5 Mbit/s"' in text_of(chrome))
    chrome.back()
    until(chrome, lambda: text_of(chrome) == SMALL)
    chrome.forward()
    until(chrome, lambda: '"5 Mbit/s"' in text_of(chrome))
    before = text_of(chrome)
    chrome.refresh()
    until(chrome, lambda: answered(chrome) > 0)
    assert text_of(chrome) == before, "the address holds the scenario"


def test_two_tabs_are_apart(chrome: Chrome, served: Running) -> None:
    first = chrome.current_window_handle
    write(chrome, SMALL.replace("4 Mbit/s", "7 Mbit/s"))
    chrome.switch_to.new_window("tab")
    second = chrome.current_window_handle
    chrome.get(served.address)
    until(chrome, lambda: answered(chrome) > 0)
    assert text_of(chrome) == SMALL
    drag(chrome, "gate.bottleneck.rate", *range(100, 150))
    chrome.switch_to.window(first)
    assert '"7 Mbit/s"' in text_of(chrome)
    write(chrome, SMALL.replace("4 Mbit/s", "8 Mbit/s"))
    assert shown(chrome, "goodput_bps") > 5e6
    chrome.switch_to.window(second)
    chrome.close()
    chrome.switch_to.window(first)


def test_fifty_rapid_changes_leave_one_run(chrome: Chrome, served: Running) -> None:
    drag(chrome, "gate.bottleneck.queue", *range(100, 150))
    until(chrome, lambda: ask(served, "GET", f"/{TOKEN}/api/status")[1]["running"] <= 1)
    until(chrome, lambda: ask(served, "GET", f"/{TOKEN}/api/status")[1]["running"] == 0)
    time.sleep(0.5)
    assert answered(chrome) <= 6, "the newest counts, not each"
    assert complaints(chrome) == []


def test_variants_are_compared(chrome: Chrome) -> None:
    one(chrome, "#keep").click()
    write(chrome, SMALL.replace("newreno", "cubic"))
    # The answer to keeping it may come first: then both are the same.
    until(chrome, lambda: "now: tcp.cc cubic" in one(chrome, "#results").text)
    names = [each.text for each in chrome.find_elements("css selector", "#results td.text")]
    assert names == ["tcp.cc newreno", "now: tcp.cc cubic"]
    assert len(chrome.find_elements("css selector", "#cloud .mark")) == 2
    one(chrome, ".variants button[aria-label^=Remove]").click()
    until(chrome, lambda: "Small" in one(chrome, "#results h2").text)


def test_how_much_is_luck_is_told_where_it_is_asked(chrome: Chrome) -> None:
    assert not chrome.find_elements("css selector", ".luck")
    before = answered(chrome)
    one(chrome, "#luck").click()
    until(chrome, lambda: answered(chrome) > before and one(chrome, ".luck table"))
    rows = [each.text for each in chrome.find_elements("css selector", ".luck tbody td.text")]
    assert "goodput of bulk" in rows
    assert "in 16 runs" in one(chrome, ".luck thead").text
    one(chrome, "#keep").click()
    write(chrome, SMALL.replace("newreno", "cubic"))
    until(chrome, lambda: "now: tcp.cc cubic" in one(chrome, ".luck table").text)
    assert faults(chrome) == []
    one(chrome, "#luck").click()
    until(chrome, lambda: not chrome.find_elements("css selector", ".luck"))


def test_the_gallery_opens_an_example(chrome: Chrome) -> None:
    one(chrome, "#scenarios").click()
    card = next(c for c in chrome.find_elements("css selector", ".card") if c.text.startswith("lte-codel\n"))
    before = answered(chrome)
    card.click()
    until(chrome, lambda: answered(chrome) > before)
    assert "cellular.csv" in text_of(chrome)
    assert complaints(chrome) == []


def test_an_address_names_an_example(chrome: Chrome, served: Running) -> None:
    chrome.get("about:blank")
    chrome.get(f"{served.address}#e=steps")
    until(chrome, lambda: answered(chrome) > 0)
    assert text_of(chrome) == (EXAMPLES / "steps.toml").read_text()


def test_a_file_is_downloaded(chrome: Chrome, tmp_path: Path) -> None:
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path)}
    chrome.execute_cdp_cmd("Page.setDownloadBehavior", behaviour)
    one(chrome, ".menu summary").click()
    for what in ("toml", "html"):
        one(chrome, f"#get-{what}").click()
        until(chrome, lambda what=what: (tmp_path / f"tidegate.{what}").is_file())
    assert (tmp_path / "tidegate.toml").read_text() == text_of(chrome)
    assert (tmp_path / "tidegate.html").read_text().startswith("<!doctype html>")


def test_the_server_is_killed_and_started_again(folder: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "chrome") as browser:
        with running(folder / "small.toml") as first:
            browser.get(first.address)
            until(browser, lambda: answered(browser) > 0)
        write_only = SMALL.replace("4 Mbit/s", "9 Mbit/s")
        browser.execute_script(
            "const area = document.getElementById('text'); area.value = arguments[0];"
            "area.dispatchEvent(new Event('input'));",
            write_only,
        )
        until(browser, lambda: "does not answer" in one(browser, "#banner").text)
        before = answered(browser)
        with running(folder / "small.toml", port=first.port):
            until(browser, lambda: answered(browser) > before)
            assert not one(browser, "#banner").is_displayed()
            assert text_of(browser) == write_only


def test_no_serious_fault_for_those_who_do_not_see(chrome: Chrome) -> None:
    assert faults(chrome) == []
    write(chrome, SMALL.replace("4 Mbit/s", "4 Mbot/s"))
    assert faults(chrome) == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits(tmp_path: Path, served: Running, dark: bool) -> None:
    with opened(tmp_path / "chrome", dark=dark) as browser:
        for width in (390, 1280, 1920):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get("about:blank")
            browser.get(served.address)
            until(browser, lambda: answered(browser) > 0)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert one(browser, "#short").is_displayed() == (width == 390)
            assert complaints(browser) == []
            assert faults(browser) == []


def test_the_page_is_small_and_nothing_in_it_moves_by_itself(served: Running) -> None:
    found = [ask(served, "GET", f"/{TOKEN}/{name}")[1] for name in ("", "lab.js", "lab.css")]
    assert sum(map(len, found)) < 400_000
    # So there is nothing to switch off for those who want less motion.
    assert not re.search(rb"transition|animation|scroll-behavior|@keyframes", found[2])


def test_sharing_keeps_the_variants(chrome: Chrome) -> None:
    one(chrome, "#keep").click()
    write(chrome, SMALL.replace("newreno", "cubic"))
    until(chrome, lambda: "now: tcp.cc cubic" in one(chrome, "#results table").text)
    one(chrome, "#share").click()
    until(chrome, lambda: one(chrome, "#shared").is_displayed())
    address = chrome.current_url
    chrome.get("about:blank")
    chrome.get(address)
    until(chrome, lambda: "now: tcp.cc cubic" in one(chrome, "#results").text)
    names = [each.text for each in chrome.find_elements("css selector", "#results td.text")]
    assert names == ["tcp.cc newreno", "now: tcp.cc cubic"]


def test_bytes_have_a_unit_that_fits_a_phone(chrome: Chrome) -> None:
    write(
        chrome,
        SMALL.replace('rate = "4 Mbit/s"', 'rate.token_bucket = { rate = "4 Mbit/s", burst = "2 MB" }'),
    )
    heads = {each.text for each in chrome.find_elements("css selector", ".chart h3")}
    assert any("Bucket at bottleneck" in head and "bytes" not in head for head in heads), heads
    chart = next(each for each in chrome.find_elements("css selector", ".chart") if "Bucket" in each.text)
    chart.send_keys("\ue014")
    spoken = one(chrome, "#board .unseen")
    until(chrome, lambda: str(spoken.get_property("textContent")).endswith(("kB", "MB", " B")))
