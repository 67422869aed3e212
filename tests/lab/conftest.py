"""A laboratory that all tests of a file share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.browser import complaints, opened
from support.common import SMALL
from support.laboratory import running
from support.page_of_lab import answered, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome
    from support.laboratory import Running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, and with links that lead out of it."""
    around = tmp_path_factory.mktemp("around")
    folder = around / "folder"
    folder.mkdir()
    (folder / "small.toml").write_text(SMALL)
    (folder / "note.txt").write_text("not a scenario")
    (around / "secret.toml").write_text("title = 'secret'\n")
    (around / "secret.csv").write_text("time_s,rate_bps\n0,1000000\n1,2000000\n")
    (folder / "link.toml").symlink_to(around / "secret.toml")
    (folder / "link.csv").symlink_to(around / "secret.csv")
    return folder


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[Running]:
    with running(folder) as found:
        yield found


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Running]:
    with running(folder / "small.toml") as found:
        yield found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with opened(tmp_path_factory.mktemp("chrome")) as found:
        yield found


@pytest.fixture
def chrome(browser: Chrome, served: Running) -> Chrome:
    """The page as it begins."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")
    browser.get(served.address)
    until(browser, lambda: answered(browser) > 0)
    complaints(browser)  # What earlier tests provoked.
    return browser
