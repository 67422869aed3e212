"""The laboratory's form and text in a real browser: what is changed in one stands in the other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from support.browser import complaints
from support.common import SMALL
from support.page_of_lab import answered, drag, one, said, shown, text_of, until, write

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement


def test_dragging_changes_numbers_to_those_of_the_command_line(chrome: Chrome, folder: Path) -> None:
    assert shown(chrome, "goodput_bps") == said(folder, SMALL)["flows"][0]["goodput_bps"]
    before = answered(chrome)
    drag(chrome, "gate.bottleneck.rate", 110, 120, 130, 140)
    until(chrome, lambda: answered(chrome) > before and "answered" in one(chrome, "#state").text)
    text = text_of(chrome)
    assert 'rate = "10 Mbit/s"' in text
    time.sleep(0.3)
    summary = said(folder, text)
    assert shown(chrome, "goodput_bps") == summary["flows"][0]["goodput_bps"]
    assert shown(chrome, "queue_delay_p99_ms") == summary["gates"][0]["queue_delay_p99_ms"]
    assert chrome.find_element("id", "field-gate.bottleneck.rate").get_property("value") == "10 Mbit/s"
    assert complaints(chrome) == []


def test_a_wrong_value_is_told_under_its_line(chrome: Chrome) -> None:
    write(chrome, SMALL.replace("4 Mbit/s", "4 Mbot/s"))
    assert 'the unit of "4 Mbot/s" is not known' in one(chrome, "#problems").text
    assert 'write "4 Mbit/s"' in one(chrome, ".under p").text
    assert one(chrome, ".gutter .wrong").text == "6"
    assert "stale" in (one(chrome, "#answer").get_attribute("class") or "")
    one(chrome, "#problems button").click()
    chosen = chrome.execute_script(
        "const a = document.activeElement; return a.value.slice(a.selectionStart, a.selectionEnd)"
    )
    assert "4 Mbot/s".startswith(chosen.strip('"'))
    write(chrome, SMALL)
    until(chrome, lambda: not one(chrome, "#problems").text)
    assert chrome.find_elements("css selector", ".under p") == []


def test_form_and_text_are_one(chrome: Chrome) -> None:
    select = chrome.find_element("id", "field-flow.bulk.tcp.cc")
    words = [option.text for option in select.find_elements("css selector", "option")]
    assert {"newreno", "cubic", "bbr"} <= {*words}
    select.send_keys("cubic")
    until(chrome, lambda: 'tcp.cc = "cubic"' in text_of(chrome))
    write(chrome, SMALL.replace("20 packets", "33 packets"))
    assert chrome.find_element("id", "field-gate.bottleneck.queue").get_property("value") == "33 packets"
    more = one(chrome, "select[aria-label='Add a key to gate bottleneck']")
    more.send_keys("duplex")
    until(chrome, lambda: "duplex = false" in text_of(chrome))
    box = chrome.find_element("id", "field-gate.bottleneck.duplex")
    box.click()
    until(chrome, lambda: "duplex = true" in text_of(chrome))


def test_the_transport_of_a_flow_is_chosen(chrome: Chrome, folder: Path) -> None:
    one(chrome, "select[aria-label='Add a key to flow bulk']").send_keys("transport")
    until(chrome, lambda: 'transport = "tcp"' in text_of(chrome))
    select = chrome.find_element("id", "field-flow.bulk.transport")
    assert [option.text for option in select.find_elements("css selector", "option")] == ["tcp", "quic"]
    over_tcp, before = shown(chrome, "goodput_bps"), answered(chrome)
    select.send_keys("quic")
    until(chrome, lambda: answered(chrome) > before and 'transport = "quic"' in text_of(chrome))
    time.sleep(0.3)
    (flow,) = said(folder, text_of(chrome))["flows"]
    assert "quinn" in flow["tcp"]
    assert shown(chrome, "goodput_bps") == flow["goodput_bps"] != over_tcp
    assert complaints(chrome) == []


def test_keys_are_completed(chrome: Chrome) -> None:
    from selenium.webdriver import ActionChains, Keys

    area = one(chrome, "#text")
    place = SMALL.index("loss = 0.002")
    chrome.execute_script(
        "arguments[0].focus(); arguments[0].setSelectionRange(arguments[1], arguments[1])", area, place
    )
    ActionChains(chrome).key_down(Keys.CONTROL).send_keys(" ").key_up(Keys.CONTROL).perform()
    offers = [each.text for each in chrome.find_elements("css selector", ".offers button")]
    assert {"police", "jitter", "framing"} <= {*offers}
    ActionChains(chrome).send_keys(Keys.ESCAPE).perform()
    assert not one(chrome, ".offers").is_displayed()
    # Behind a key's sign the words that it takes.
    place = SMALL.index('newreno"') + 1
    chrome.execute_script(
        "const area = arguments[0]; area.setRangeText('', arguments[1], arguments[1] + 6);"
        "area.focus(); area.setSelectionRange(arguments[1] - 1, arguments[1]); area.setRangeText('');",
        area, place,
    )  # fmt: skip
    ActionChains(chrome).key_down(Keys.CONTROL).send_keys(" ").key_up(Keys.CONTROL).perform()
    offers = [each.text for each in chrome.find_elements("css selector", ".offers button")]
    assert {"newreno", "cubic", "bbr"} <= {*offers}
    ActionChains(chrome).send_keys("cub").key_down(Keys.CONTROL).send_keys(" ").key_up(
        Keys.CONTROL
    ).send_keys(Keys.ARROW_DOWN, Keys.ENTER).perform()
    until(chrome, lambda: 'tcp.cc = "cubic"' in text_of(chrome))


def test_keys_do_what_the_mouse_does(chrome: Chrome) -> None:
    from selenium.webdriver import ActionChains, Keys

    field = chrome.find_element("id", "field-gate.bottleneck.rate")
    chrome.execute_script("arguments[0].focus()", field)
    ActionChains(chrome).send_keys(Keys.TAB).perform()
    focused = "return document.activeElement.getAttribute('aria-label')"
    assert chrome.execute_script(focused) == "gate bottleneck rate, slider"
    before = answered(chrome)
    ActionChains(chrome).send_keys(Keys.ARROW_RIGHT * 20).perform()
    until(chrome, lambda: answered(chrome) > before and '"4 Mbit/s"' not in text_of(chrome))
    spoken = chrome.execute_script("return document.activeElement.getAttribute('aria-valuetext')")
    assert f'rate = "{spoken}"' in text_of(chrome)


def test_a_mistake_in_the_form_is_told_at_its_field(chrome: Chrome) -> None:
    field = chrome.find_element("id", "field-gate.bottleneck.rate")
    field.clear()
    field.send_keys("20 Mb")
    until(chrome, lambda: field.get_attribute("aria-invalid") == "true")

    def words() -> WebElement:
        # The field has them anew with every answer, also while the rate is being typed.
        return one(chrome, f"[id='{field.get_attribute('aria-describedby')}']")

    until(chrome, lambda: "20 Mb" in words().text and "Mbit/s" in words().text)
    assert words().is_displayed()
    chrome.execute_script("document.getElementById('form').scrollTo(0, 9999); scrollTo(0, 9999)")
    one(chrome, "#state button").click()
    until(chrome, lambda: chrome.switch_to.active_element == field)
    inside = (
        "const box = arguments[0].getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
    )
    until(chrome, lambda: chrome.execute_script(inside, field))
    field.clear()
    field.send_keys("8 Mbit/s")
    until(chrome, lambda: field.get_attribute("aria-invalid") is None)
    assert not chrome.find_elements("css selector", "#form .error")


def test_what_the_simulator_refuses_is_not_offered(chrome: Chrome) -> None:
    field = chrome.find_element("id", "field-flow.bulk.tcp.cc")
    words = [each.get_attribute("value") for each in field.find_elements("css selector", "option")]
    assert "cubic" in words
    assert "veno" not in words
