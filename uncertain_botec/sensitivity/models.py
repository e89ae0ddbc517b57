"""Outputs as functions of normal scores, and how scores are drawn when some inputs are held and the rest redrawn.

Every input is x = F^-1(Phi(z)) of a normal score z, and the scores have the correlation matrix of the copula. In any
order of the inputs z = L w, with w independent and L the Cholesky factor of the matrix in that order: the first k of w
fix the first k inputs, and the rest of w draw the rest from their law given those. That is exact, whatever the
marginals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uncertain_botec.dependence import Dependence
from uncertain_botec.sampling.at_scores import outputs_at, scores_of
from uncertain_botec.sampling.points import PointSet, Words
from uncertain_botec.scenario import Scenario
from uncertain_botec.tallies import Floats

CHANCE = "chance"
"""What the luck of a simulated run is called where it stands among the inputs."""

NOTHING = ""
"""The name of scores that nothing reads."""

# Evaluations that Shapley effects take, and the value of information, unless it is said how many draws; between these
# numbers of draws.
_EVALUATIONS = 1 << 20
_FEWEST, _MOST = 1 << 15, 1 << 17

Scores = Mapping[str, Floats]


@dataclass(frozen=True)
class Model:
    """A number, or several, as a function of the normal scores of its inputs and perhaps of luck.

    Attributes:
        names: of the inputs.
        function: from scores of shape (rows, points), as correlated as they are to be, and the keys of the rows' luck
            to an array whose last two axes are these.
        latent: the correlation matrix of the scores, in the order of the names; None where they are independent.
        chance: whether luck matters.
    """

    names: tuple[str, ...]
    function: Callable[[Scores, Words], Floats]
    latent: Floats | None = None
    chance: bool = False

    @property
    def players(self) -> tuple[str, ...]:
        """Everything that moves the result."""
        return (*self.names, CHANCE) if self.chance else self.names

    @property
    def streams(self) -> tuple[str, ...]:
        """What to draw: the inputs, or where there are none something that says how many draws of luck there are."""
        return self.names or (NOTHING,)

    @property
    def correlated(self) -> tuple[int, ...]:
        """The places of the inputs that move with others."""
        if self.latent is None:
            return ()
        others = self.latent - np.eye(len(self.latent))
        return tuple(int(place) for place in np.flatnonzero(np.any(others != 0, axis=1)))

    def factor(self, ranks: Sequence[int]) -> Floats:
        """The matrix that takes independent w to scores z for the inputs at `correlated`, in the order of their ranks.

        A row and a column for each of them, in the order of the names.
        """
        places = self.correlated
        order = sorted(range(len(places)), key=lambda one: ranks[one])
        assert self.latent is not None  # noqa: S101 -- tells the type checker what `correlated` implies
        latent = self.latent[np.ix_(places, places)][np.ix_(order, order)]
        factor = np.zeros_like(latent)
        names = tuple(self.names[places[one]] for one in order)
        factor[np.ix_(order, order)] = Dependence(names, tuple(map(tuple, latent.tolist()))).root()
        return factor

    def correlate(self, independent: Scores, factors: Floats) -> dict[str, Floats]:
        """Scores from independent ones, with one factor for each row of points, of shape (rows, m, m), or for all."""
        names = [self.names[place] for place in self.correlated]
        mixed = dict(independent)
        for row, name in enumerate(names):
            mixed[name] = sum(
                factors[..., row, column, None] * independent[other]
                for column, other in enumerate(names)
                if np.any(factors[..., row, column])
            ) + np.zeros_like(independent[name])
        return mixed

    def at(self, independent: Scores, keys: Words, first: Sequence[str] = ()) -> Floats:
        """The result at independent scores, correlated in an order that begins with these names."""
        if not self.correlated:
            return self.function(independent, keys)
        names = [self.names[place] for place in self.correlated]
        ranks = [first.index(name) if name in first else len(self.names) + place for place, name in enumerate(names)]
        return self.function(self.correlate(independent, self.factor(ranks)), keys)


def latent_of(scenario: Scenario, names: Sequence[str]) -> Floats | None:
    """The correlation matrix of some inputs' normal scores; None where they are independent."""
    dependence = scenario.dependence
    if dependence is None:
        return None
    matrix = np.eye(len(names))
    place = {name: number for number, name in enumerate(dependence.names)}
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            if row != column and first in place and second in place:
                matrix[row, column] = dependence.latent[place[first]][place[second]]
    return matrix


def model_of(scenario: Scenario, output: str) -> Model:
    """One output of a scenario, in base units."""
    names = scenario.drivers(output)

    def function(scores: Scores, keys: Words) -> Floats:
        return outputs_of(scenario, {name: scores[name] for name in names}, (output,), scores, keys)[output]

    return Model(names, function, latent_of(scenario, names), scenario.plan.random(output))


def outputs_of(
    scenario: Scenario, mine: Scores, outputs: Sequence[str], scores: Scores, keys: Words
) -> dict[str, Floats]:
    """Some outputs at a scenario's own scores, as many as there are in all scores."""
    points = next(iter(scores.values())).shape[-1]
    return outputs_at(scenario, mine, outputs, luck=keys, points=points)


def keys_of(seed: int, purpose: str, rows: int) -> Words:
    """The keys of the luck of so many rows, other ones for each purpose."""
    words = np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode())).generate_state(2 * rows)
    return np.asarray(words, np.uint32).reshape(rows, 2)


def drawn(points: PointSet, names: Sequence[str], purpose: str, start: int, count: int, first: int = 0) -> Scores:
    """Independent scores of some inputs, of shape (replicates, count); others for each purpose.

    The column of the first is `first`.
    """
    streams = {f"{name}, {purpose}": first + column for column, name in enumerate(names)}
    return dict(zip(names, scores_of(points, streams, start, count).values(), strict=True))


def affordable(evaluations: int) -> int:
    """A power of two of draws, when each takes so many evaluations."""
    return min(max(1 << ((_EVALUATIONS // evaluations).bit_length() - 1), _FEWEST), _MOST)
