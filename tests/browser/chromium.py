"""A browser as the tests need it: what is on a page, under a width, a colour scheme or on paper."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# Millimetres; the margins are the page's own.
PAPER: Mapping[str, tuple[float, float]] = {"A4": (210.0, 297.0), "Letter": (215.9, 279.4)}
_INCH = 25.4
_CSS_DPI = 96
# Seconds until a page from disk counts as stuck.
_PATIENCE = 60


class Browser:
    """One Chromium whose network is cut."""

    def __init__(self, program: str, driver: str, *, sandbox: bool) -> None:
        from selenium.webdriver import Chrome, ChromeOptions
        from selenium.webdriver.chrome.service import Service

        options = ChromeOptions()
        options.binary_location = program
        words = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"]
        for word in [*words, *([] if sandbox else ["--no-sandbox"])]:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self._driver = Chrome(options, Service(driver))
        self.command("Network.enable")
        self.command(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._driver.quit()

    def command(self, name: str, **arguments: object) -> Any:
        """What DevTools answers."""
        return self._driver.execute_cdp_cmd(name, arguments)

    def open(self, page: Path, *, width: int = 1400, scheme: str = "light", media: str = "screen") -> None:
        """Open a page from disk in a window of so many CSS pixels; what was logged before is forgotten."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.command("Emulation.setEmulatedMedia", media=media, features=[feature])
        from selenium.webdriver.support.ui import WebDriverWait as Wait

        self._driver.get_log("browser")
        self._driver.get_log("performance")
        self._driver.get(page.as_uri())
        # On a busy machine the driver may take a page that is still being read for one that has been loaded.
        read = ["complete", page.as_uri()]
        Wait(self._driver, _PATIENCE).until(lambda _: self.ask("return [document.readyState, location.href]") == read)

    def ask(self, script: str, *arguments: object) -> Any:
        """What a function's body returns on the page; scripts of tests run beside the page's own policy."""
        return self._driver.execute_script(script, *arguments)

    def ask_later(self, script: str, *arguments: object) -> Any:
        """Likewise, where the last argument is a function to be called with the answer."""
        return self._driver.execute_async_script(script, *arguments)

    def messages(self) -> list[str]:
        """What is on the console since the page was opened."""
        return [one["message"] for one in self._driver.get_log("browser")]

    def requests(self) -> list[str]:
        """What was asked for since the page was opened."""
        import json

        events = [json.loads(one["message"])["message"] for one in self._driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]

    def printed(self, paper: str) -> bytes:
        """The page as PDF."""
        width, height = (side / _INCH for side in PAPER[paper])
        self.command("Emulation.clearDeviceMetricsOverride")
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        answer = self.command("Page.printToPDF", paperWidth=width, paperHeight=height, preferCSSPageSize=False)
        return base64.b64decode(answer["data"])


def pixels(millimetres: float) -> float:
    """A length on paper in CSS pixels."""
    return millimetres / _INCH * _CSS_DPI
