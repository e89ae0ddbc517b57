"""The measure of a requirement as a function of one input or limit, always on the same draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from uncertain_botec.decisions.figures import DecisionError, comes_whole
from uncertain_botec.distributions import level_of_u
from uncertain_botec.draws import Draws
from uncertain_botec.errors import Fault
from uncertain_botec.library import did_you_mean
from uncertain_botec.risk.measures import Chance, Figure
from uncertain_botec.risk.requirements import NAMED_LIMITS, Kept, Probability, Requirement, value_in
from uncertain_botec.risk.verdicts import Verdict, check, judge, measured
from uncertain_botec.scenario import Marker, Scenario
from uncertain_botec.sizing import granularity_of
from uncertain_botec.units import parse_quantity
from uncertain_botec.vocabulary import LIMITS, QUANTITIES

_BELOW_AN_OPEN_END = 1 - 1e-9


class Objective:
    """A requirement's measure, by the value of an input or a limit in base units.

    Attributes:
        scenario: as given.
        requirement: whose measure it is.
        quantity: of the values.
        stated: the value in the scenario, its median where it is uncertain; None where it is not stated.
        granularity: values are multiples of this; 0 where they need not be.
    """

    def __init__(self, scenario: Scenario, name: str, requirement: Requirement, draws: int, seed: int) -> None:
        self.scenario, self.name, self.requirement = scenario, name, requirement
        self._draws, self._seed = draws, seed
        self._found: dict[float, Chance | Figure] = {}
        self._once: Draws | None = None
        if name in LIMITS:
            self.quantity, self.granularity = QUANTITIES[LIMITS[name]], 0
            self.scenario = self._limited(scenario)
            self.stated = scenario.limits[name].value if name in scenario.limits else None
        else:
            faults = [*_unsolvable(scenario, name)]
            if faults:
                raise DecisionError(faults)
            self.quantity = QUANTITIES[name]
            half = scenario.inputs[name].distribution.quantile(level_of_u(np.array([0.5])))
            self.stated = float(np.asarray(half)[0])
            self.granularity = granularity_of(scenario) if name == "accelerators" else int(comes_whole(name))
        check([requirement], self.scenario)
        if name not in LIMITS and name not in self._reaching():
            moving = sorted(self._reaching())
            fault = Fault(
                f"{name} moves nothing that {requirement.measure} is about",
                "--for",
                name,
                name,
                f"one of {', '.join(moving)}",
                did_you_mean(name, moving),
            )
            raise DecisionError([fault])

    def _limited(self, scenario: Scenario) -> Scenario:
        """The scenario with the limit that is asked for, at whatever value."""
        measure, output = self.requirement.measure, LIMITS[self.name]
        if not isinstance(measure, Probability) or Kept(self.name) not in measure.events:
            fix = f"write P({self.name}) >= 0.8 for the {self.name} that is kept with 80 %"
            message = f"{self.requirement} does not depend on the {self.name}"
            raise DecisionError([Fault(message, "--for", self.name, str(self.requirement), f"P({self.name}) ...", fix)])
        if self.name in scenario.limits:
            return scenario
        marker = Marker(
            self.name, output, parse_quantity(QUANTITIES[output].example.strip('"'), QUANTITIES[output].unit), None
        )
        return replace(scenario, limits={**scenario.limits, self.name: marker})

    @property
    def outputs(self) -> tuple[str, ...]:
        """What the measure is computed from."""
        measure = self.requirement.measure
        if not isinstance(measure, Probability):
            return (measure.output,)
        return tuple(
            dict.fromkeys(NAMED_LIMITS[one.limit] if isinstance(one, Kept) else one.output for one in measure.events)
        )

    def _reaching(self) -> set[str]:
        return {name for output in self.outputs for name in self.scenario.plan.reaching(output)}

    @property
    def start(self) -> float:
        """Where to look first: the stated value, or the median of what a limit that is not stated is of."""
        if self.stated is not None and self.stated > 0 and math.isfinite(self.stated):
            return self.stated
        if self.name in LIMITS:
            values = self._drawn(self.scenario).values[LIMITS[self.name]]
            finite = values[np.isfinite(values)]
            if finite.size and np.median(finite) > 0:
                return float(np.median(finite))
        example = self.quantity.example.strip('"')
        # What a program's own example says needs no check.
        return float(example) if example.replace(".", "").isdecimal() else parse_quantity(example, self.quantity.unit)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value that the quantity may have; more than 0."""
        low = max(self.quantity.low, float(self.granularity))
        high = self.quantity.high * (_BELOW_AN_OPEN_END if self.quantity.open in ("high", "both") else 1.0)
        return (low if low > 0 else 0.0), high

    def draws_at(self, value: float) -> Draws:
        """The draws where the input or limit has a value."""
        if self.name not in LIMITS:
            return self._drawn(self.scenario.but(**{self.name: value}))
        if self._once is None:
            self._once = self._drawn(self.scenario)
        marker = replace(self.scenario.limits[self.name], value=value)
        return replace(self._once, scenario=replace(self.scenario, limits={**self.scenario.limits, self.name: marker}))

    def _drawn(self, scenario: Scenario) -> Draws:
        """Draws of what the measure is about, and of nothing else."""
        from uncertain_botec.sampling.engine import check_possible, prepare

        job = prepare(
            scenario, self._draws, seed=self._seed, sampler="lattice", precision="float64", device="auto",
            chunk=self._draws,
        )  # fmt: skip
        points = job.points
        kept = tuple(name for name in self.outputs if name not in job.certain)
        shape = (points.replicates, points.size)
        values = {name: np.broadcast_to(job.certain[name], shape) for name in self.outputs if name in job.certain}
        if kept:
            made, _ = job.chunk(0, 1, points.size, kept=kept)
            values |= {name: np.asarray(array) for name, array in made.items()}
        check_possible(values, scenario)
        return Draws(scenario, values, job.provenance({}))

    def __call__(self, value: float) -> Chance | Figure:
        """The measure, in base units."""
        if value not in self._found:
            self._found[value] = measured(self.requirement.measure, self.draws_at(value))
        return self._found[value]

    def verdict(self, value: float) -> Verdict:
        """Whether the requirement is met at a value, and whether the draws decide it."""
        return judge(self.requirement, self.draws_at(value))

    def met(self, value: float) -> bool:
        """Whether the requirement is met at a value."""
        found, threshold = self(value).value, self.requirement.threshold
        return {
            "<=": found <= threshold, ">=": found >= threshold, "<": found < threshold, ">": found > threshold
        }[self.requirement.sign]  # fmt: skip

    def better(self, value: float) -> float:
        """The measure with a sign that makes more of it better."""
        found = self(value).value
        return found if self.requirement.sign in (">=", ">") else -found


def _unsolvable(scenario: Scenario, name: str) -> Iterator[Fault]:
    """Why an input cannot be solved for."""
    if name == "sequence_length" and scenario.architecture is not None:
        fix = "compare some with `botec sweep --over sequence_length=...`"
        yield Fault("the architecture is counted at one sequence length", "--for", name, name, "another input", fix)
    elif name not in scenario.inputs:
        known = (*scenario.inputs, *LIMITS)
        if name in scenario.plan.outputs:
            kind = "is an output, which follows from inputs"
        else:
            kind = "is not stated in this run, or not used" if name in QUANTITIES else "is no input or limit"
        expected = f"one of {', '.join(known)}"
        yield Fault(f"{name} {kind}", "--for", name, name, expected, did_you_mean(name, known))


Within = str | tuple[float | str, float | str]


def read_within(within: Within, objective: Objective) -> tuple[float, float]:
    """The ends of a range such as "256:8192", in base units."""
    faults: list[Fault] = []
    parts = tuple(within.split(":")) if isinstance(within, str) else within
    text = ":".join(map(str, parts))
    if len(parts) != 2:
        raise DecisionError([Fault("this is not a range", "--within", text, text, "LOW:HIGH, such as 256:8192")])
    read: Callable[[float | str], float | None] = lambda one: (  # noqa: E731 -- used twice, right below
        value_in(one.strip(), objective.quantity, ("--within", text), faults) if isinstance(one, str) else float(one)
    )
    low, high = read(parts[0]), read(parts[1])
    if faults or low is None or high is None:
        raise DecisionError(faults)
    if not 0 < low < high < math.inf:
        fault = Fault("this range is empty", "--within", text, text, "LOW:HIGH with 0 < LOW < HIGH")
        raise DecisionError([fault])
    return low, high
