"""A browser for tests of pages: headless Chromium, driven over its own protocol."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from support.common import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

#: axe-core, where the packages of `web/` are installed.
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"


def needed() -> tuple[str, str]:
    """Return Chromium and its driver, or skip with the reason."""
    pytest.importorskip("selenium", reason="no selenium here (make setup)")
    browser = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no browser here (apt install chromium chromium-driver)")
    return browser, driver


@contextmanager
def opened(folder: Path, *, dark: bool = False, scripts: bool = True) -> Iterator[Chrome]:
    """Give a browser of its own, 1280 wide, that knows nothing and asks nothing of the network."""
    binary, driver = needed()
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = binary
    for flag in (
        "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
        "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
        "window-size=1280,1000", "force-device-scale-factor=1", f"user-data-dir={folder}",
        f"blink-settings=preferredColorScheme={0 if dark else 1}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # A proxy of the environment would be asked for the address of this machine.
    os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
    browser = Chrome(options=options, service=ChromeService(driver))
    browser.set_page_load_timeout(60)
    try:
        yield browser
    finally:
        browser.quit()


def complaints(browser: Chrome) -> list[str]:
    """Return what the page wrote to the console that is wrong."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def faults(browser: Chrome) -> list[str]:
    """Return what axe-core finds that is serious; skip where it is not installed."""
    if not AXE.is_file():
        pytest.skip("no axe-core here (npm ci --prefix web)")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations))"
    )
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def drawn(browser: Chrome) -> None:
    """Wait until a whole frame has been drawn: pages notice sizes of their boxes only then."""
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )


def unreachable(browser: Chrome) -> list[str]:
    """Return what scrolls sideways and is no stop of the Tab key, or is one without a name."""
    drawn(browser)
    found: list[str] = browser.execute_script(
        """return [...document.body.querySelectorAll("*")].filter((each) => {
          const scrolls = ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
          if (!scrolls || each.scrollWidth <= each.clientWidth) return false;
          const named = each.matches("textarea") || (each.role && each.ariaLabel);
          return each.getAttribute("tabindex") !== "0" ? !each.matches("textarea") : !named;
        }).map((each) => each.outerHTML.slice(0, 200))"""
    )
    return found


@contextmanager
def narrow(browser: Chrome, width: int = 390) -> Iterator[None]:
    """Show pages as a device of this width does, in pixels; a window of Chromium has a least width."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
