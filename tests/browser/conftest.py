"""A Chromium without a network, and the pages that it opens from disk."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Browser
from tests.calibration.conftest import apart
from tests.report.backtests import renamed
from tests.report.conftest import FEW, LONG, NASTY, hostile, report
from uncertain_botec import Backtest, Report, compare_scenarios, load_scenario, sample, sweep, write_report
from uncertain_botec.report import html
from uncertain_botec.report.context import look
from uncertain_botec.report.sections import sections_of

__all__ = ["apart", "axe", "backtested", "browser", "compared", "hostile", "many", "pages", "report", "swept"]

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here looks at pages in a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests; without it they are skipped."""
    pytest.importorskip("selenium", reason="selenium is not installed")
    driver = shutil.which("chromedriver")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not (driver and program):
        pytest.skip("there is no Chromium with its driver here (Debian: chromium, chromium-driver)")
    with Browser(program, driver, sandbox=not hasattr(os, "geteuid") or os.geteuid() != 0) as started:
        yield started


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that looks for barriers; without it tests are skipped."""
    (version,) = re.findall(r"^AXE_VERSION := (\S+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    file = ROOT / "build" / "axe-core" / f"axe-{version}.min.js"
    if not file.is_file():
        pytest.skip(f"axe-core {version} has not been fetched: make browser")
    return file.read_text("utf-8")


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a shipped run with a bill of many items and some sixty inputs; what moves it is not studied."""
    context = look(sample(load_scenario("mixture-400b-2027"), FEW))
    page: Path = tmp_path_factory.mktemp("many") / "index.html"
    page.write_text(html.page("Many items", sections_of(context), "Made by a test."), "utf-8")
    return page


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three shipped runs side by side."""
    runs = [load_scenario(name) for name in ("llama-2-70b", "gpt-3", "deepseek-v3")]
    folder: Path = tmp_path_factory.mktemp("compared") / "report"
    write_report(compare_scenarios(runs, draws=FEW), folder)
    return folder / "index.html"


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a grid of two inputs and two markets, with a deadline and a front of several points."""
    over = ("accelerators=2048:8192:x2", "mfu=30 %,40 %", "prices=neocloud-2026,hyperscaler-2026")
    folder: Path = tmp_path_factory.mktemp("swept") / "report"
    write_report(sweep("mixture-400b-2027", over), folder)
    return folder / "index.html"


@pytest.fixture(scope="session")
def backtested(apart: Backtest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of some forty runs, two of which have names that try to be more than names."""
    folder: Path = tmp_path_factory.mktemp("backtested") / "report"
    write_report(renamed(apart, LONG, NASTY), folder)
    return folder / "index.html"


@pytest.fixture(scope="session")
def pages(
    report: Report, many: Path, hostile: Report, compared: Path, swept: Path, backtested: Path
) -> dict[str, Path]:
    """The page of each report."""
    assert report.folder is not None
    assert hostile.folder is not None
    return {
        "plain": report.folder / "index.html",
        "many": many,
        "hostile": hostile.folder / "index.html",
        "compared": compared,
        "swept": swept,
        "backtested": backtested,
    }
