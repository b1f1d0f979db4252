"""Chromium, driven as a person uses it: the pages that tests open, in a window of any size, light or dark.

with Browser() as browser:
    browser.open(folder / "index.html", "#q=add")
    browser.text("#count")
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys as Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE: Final = 20
"""Seconds that a page may take to do what it is waited for."""
PHONE: Final = (390, 844)
DESKTOP: Final = (1400, 900)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"'{name}' is missing: run 'apt-get install chromium chromium-driver'", pytrace=False)
    return found


class Browser:
    """A window of Chromium."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = _program("chromium")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(_program("chromedriver")))
        self.resize(DESKTOP)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window a size; a narrow one is a phone's."""
        width, height = size
        values = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", values)

    def prefer(self, scheme: str) -> None:
        """Prefer `light` or `dark` pages."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a page from the disk anew."""
        self.driver.get("about:blank")
        self.visit(page.as_uri() + fragment)

    def visit(self, address: str) -> None:
        """Load a page."""
        self.driver.get(address)

    def run(self, script: str, *arguments: object) -> Any:
        """Return the value of a function's body in JavaScript."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        """Return the first element that a selector selects."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        """Return all elements that a selector selects."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Return what the first element shows."""
        return str(self.find(selector).text)

    def texts(self, selector: str) -> list[str]:
        """Return what each element shows."""
        return [str(each.text) for each in self.all(selector)]

    def wait(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds."""
        WebDriverWait(self.driver, PATIENCE, 0.02).until(lambda _: condition())

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        for key in keys:
            webdriver.ActionChains(self.driver, duration=0).send_keys(key).perform()

    @property
    def focused(self) -> WebElement:
        """The element that has the focus."""
        return self.driver.switch_to.active_element

    def complaints(self) -> list[str]:
        """Return what the console says since it was last asked."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]
