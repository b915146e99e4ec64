"""A real Chromium without a window, for tests of the monitor's pages."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pykafka_classic.edges.child_processes import wait_until

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
WIDE, PHONE = (1360, 900), (390, 844)
# Where a folder is named here, every page that a test looks at leaves a picture in it.
PICTURES = os.environ.get("MONITOR_PICTURES")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver on the PATH (Debian and Ubuntu: apt install chromium chromium-driver)"
)


class Browser:
    """One window."""

    def __init__(self, driver: Any, base: str) -> None:
        self.driver = driver
        self.base = base

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """Of the window, and what the system prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def open(self, path: str) -> str:
        """Load a page; what stands in its main part."""
        self.driver.get(self.base + path)
        return self.text()

    def text(self, selector: str = "main") -> str:
        """What people read there."""
        return str(self.run("const found = document.querySelector(arguments[0]); return found ? found.innerText : ''", selector))

    def run(self, script: str, *arguments: Any) -> Any:
        """JavaScript, by the driver: the page's own policy does not stop it."""
        return self.driver.execute_script(script, *arguments)

    def press(self, key: str) -> None:
        """A key of the keyboard, by its DOM name: Tab, Enter."""
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event | (text if kind == "keyDown" else {}))

    def wait(self, condition: Callable[[], object], *, seconds: float = 20.0) -> None:
        """Until it is true."""
        wait_until(lambda: bool(condition()), seconds=seconds)

    def complaints(self) -> list[str]:
        """What the browser's console holds since the last time: errors of scripts, what the policy stopped, files that were not there."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, name: str) -> None:
        """Of the whole page, where somebody wants pictures."""
        if PICTURES:
            width, height = self.run("return [innerWidth, innerHeight]")
            tall = min(3_000, max(height, self.run("return document.documentElement.scrollHeight")))
            metrics = {"width": width, "height": tall, "deviceScaleFactor": 1, "mobile": width < 600}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            self.driver.save_screenshot(str(Path(PICTURES) / f"{name}.png"))
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**metrics, "height": height})


@contextmanager
def chromium(base: str) -> Iterator[Browser]:
    """A browser with a profile of its own, which is gone afterwards."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
        try:
            browser = Browser(driver, base)
            browser.size(*WIDE)
            yield browser
        finally:
            driver.quit()
