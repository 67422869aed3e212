"""The laboratory's page in a browser, as people use it: what stands there, writing, dragging."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from support.common import command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

#: Seconds that a page may take on a busy machine.
PATIENCE = 20


def one(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element("css selector", selector)


def answered(browser: Chrome) -> int:
    return int(browser.execute_script("return document.body.dataset.answered || 0"))


def until(browser: Chrome, true: Callable[[], Any]) -> None:
    from selenium.common.exceptions import StaleElementReferenceException

    def now() -> Any:
        # The page makes its tables anew with every answer, also between two looks at them.
        try:
            return true()
        except StaleElementReferenceException:
            return False

    end = time.monotonic() + PATIENCE
    while not now():
        assert time.monotonic() < end, one(browser, "header").text + one(browser, "#problems").text
        time.sleep(0.02)


def write(browser: Chrome, text: str) -> None:
    """Put a text into the editor, as typing does."""
    before = answered(browser)
    browser.execute_script(
        "const area = document.getElementById('text'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input')); area.dispatchEvent(new Event('change'));",
        text,
    )
    until(browser, lambda: answered(browser) > before or one(browser, "#problems").text)


def drag(browser: Chrome, field: str, *steps: int) -> None:
    """Move a slider through steps, as a hand does."""
    slider = browser.find_element("id", f"field-{field}-slider")
    browser.execute_script(
        "for (const step of arguments[1]) { arguments[0].value = step;"
        " arguments[0].dispatchEvent(new Event('input')); }"
        "arguments[0].dispatchEvent(new Event('change'));",
        slider,
        list(steps),
    )


def shown(browser: Chrome, key: str) -> float:
    return float(one(browser, f"#results td[data-key={key}]").get_attribute("data-value") or "nan")


def text_of(browser: Chrome) -> str:
    return str(one(browser, "#text").get_property("value"))


def said(folder: Path, text: str) -> dict[str, Any]:
    """Return what the command line says of a text that stands in the page."""
    path = folder / "from-page.txt.toml"
    path.write_text(text)
    try:
        found: dict[str, Any] = json.loads(command("run", path, "--seed", "1", "--json"))
    finally:
        path.unlink()
    return found
