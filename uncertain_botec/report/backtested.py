"""What the report of a backtest looks at, and the files of runs that make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from uncertain_botec.backtest_table import by_quantity
from uncertain_botec.calibration.backtesting import Against, Backtest, Foretold
from uncertain_botec.calibration.forecasters import REFERENCE_CLASS
from uncertain_botec.calibration.runs import Runs, parse_runs
from uncertain_botec.calibration.scores import Scores
from uncertain_botec.report.blocks import foreign

# Letters of a name in a table.
_NAME = 120


@dataclass(frozen=True)
class Backtested:
    """Everything the report of a backtest is written from.

    Attributes:
        backtest: the forecasts and their scores.
        versions: of the libraries that decide the numbers.
        copies: the texts of the files of runs, by the names that they have beside the page; of runs that a program made
            there is none.
        files: the SHA-256 of what is written beside the page, by name, as far as it is there yet.
    """

    backtest: Backtest
    versions: Mapping[str, str]
    copies: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def reference(self) -> Scores:
        """Those of the reference class."""
        return self.backtest.forecasters[REFERENCE_CLASS]

    @property
    def rival(self) -> str:
        """The forecaster with the least CRPS besides the reference class."""
        found = self.backtest.forecasters
        return min((name for name in found if name != REFERENCE_CLASS), key=lambda name: found[name].crps.value)

    @property
    def ordered(self) -> list[tuple[Foretold, Against]]:
        """Every run with the forecast of its hours, the one that took least of what was foretold first."""
        return next(found for quantity, found in by_quantity(self.backtest) if quantity == "hours")


def named(run: str) -> str:
    """A run by its name, as a block's text; a very long one is shortened, and whole in the file alone."""
    return foreign(run, _NAME)


def look(backtest: Backtest) -> Backtested:
    """A backtest, what it was made with, and the files that it was made from."""
    from uncertain_botec.sampling.engine import versions

    return Backtested(backtest, versions("numpyro", "scoringrules"), dict(_copies(backtest)))


def sources(backtest: Backtest) -> dict[str, Runs]:
    """The runs that were forecast, and those learnt from where they are others, by what a copy is called."""
    learnt = {} if backtest.learnt is None else {"train.csv": backtest.learnt}
    return {"runs.csv": backtest.tested, **learnt}


def _copies(backtest: Backtest) -> Iterator[tuple[str, str]]:
    for name, runs in sources(backtest).items():
        # A program may have changed the runs that it read: a file that says otherwise makes nothing again.
        if runs.text and parse_runs(runs.text, runs.path) == runs:
            yield name, runs.text
