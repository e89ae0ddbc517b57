"""Bayesian inference with NUTS: posterior draws of a numpyro model, and whether they can be believed.

The sampler is that of Hoffman and Gelman 2014 (J. Machine Learning Research 15, 1593-1623) as numpyro implements it,
in float64 with a dense mass matrix. Convergence is judged by the rank-normalised split R-hat and the bulk effective
sample size of Vehtari et al. 2021 (Bayesian Analysis 16, 667-718, equations 14 and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from uncertain_botec.errors import BotecError

Floats = npt.NDArray[np.float64]
Model = Callable[[Any], None]

MOST_RHAT = 1.01
LEAST_ESS = 400.0

TARGETS = (0.9, 0.98, 0.995)
"""Acceptance probabilities to aim at, one after the other, until the chains converge: shorter steps follow what bends
more sharply, and take longer."""

# Doublings of a trajectory while adapting and afterwards: before the mass matrix is known, longer ones gain nothing.
_DEPTHS = (6, 10)

# The compiler's higher levels take half as long again for sampling that is no faster.
_COMPILER = {"xla_backend_optimization_level": 1}


@dataclass(frozen=True)
class Settings:
    """How long the chains are.

    Attributes:
        chains: independent ones, run side by side.
        warmup: steps of each in which step size and mass matrix are adapted; they are not kept.
        draws: of each that are kept.
        target: the mean acceptance probability that the step size aims at.
    """

    chains: int = 4
    warmup: int = 700
    draws: int = 1000
    target: float = 0.9

    @property
    def lengths(self) -> tuple[int, int, int]:
        """What the shapes of arrays depend on."""
        return self.chains, self.warmup, self.draws


@dataclass(frozen=True)
class Diagnostics:
    """Whether the chains of one data set have converged.

    Attributes:
        rhat: the largest rank-normalised split R-hat of any parameter.
        rhat_of: whose it is.
        ess: the smallest bulk effective sample size.
        ess_of: whose it is.
        divergences: draws at which the integrator diverged.
        chains, draws: how many chains, and how many draws of each.
    """

    rhat: float
    rhat_of: str
    ess: float
    ess_of: str
    divergences: int
    chains: int
    draws: int

    def __str__(self) -> str:
        diverged = f"{self.divergences:,} divergences" if self.divergences else "no divergences"
        return f"R-hat at most {self.rhat:.3f}, bulk ESS at least {self.ess:,.0f}, {diverged}"

    @property
    def sampled(self) -> str:
        """How much there is, in words."""
        return f"{self.chains} chains of {self.draws:,} draws"

    @property
    def faults(self) -> tuple[str, ...]:
        """What stands against believing the draws, in words."""
        found = []
        if not self.rhat < MOST_RHAT:
            found.append(f"R-hat of {self.rhat_of} is {self.rhat:.3f}, not below {MOST_RHAT:g}")
        if not self.ess > LEAST_ESS:
            found.append(f"the bulk effective sample size of {self.ess_of} is {self.ess:.0f}, not above {LEAST_ESS:g}")
        if self.divergences:
            found.append(f"{self.divergences} of {self.chains * self.draws:,} draws diverged")
        return tuple(found)


def worst(several: Iterable[Diagnostics]) -> Diagnostics:
    """The largest R-hat and the smallest effective sample size of any, and the divergences of all together."""
    all_of_them = list(several)
    mixed, fewest = max(all_of_them, key=lambda one: one.rhat), min(all_of_them, key=lambda one: one.ess)
    divergences = sum(one.divergences for one in all_of_them)
    return replace(mixed, ess=fewest.ess, ess_of=fewest.ess_of, divergences=divergences)


class NotConverged(BotecError):  # noqa: N818 - it says what happened, as the message to the user does
    """Chains that have not converged, so that no number of theirs is shown; the message names the parameters."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        super().__init__(
            f"the sampler did not converge: {'; '.join(diagnostics.faults)}. No numbers are given, for they could be "
            "far off. Another --seed may help; a prior that the data contradict, or one with several peaks, does not"
        )


@dataclass(frozen=True)
class Inferred:
    """Posterior draws of one data set.

    Attributes:
        draws: by parameter, of shape (chains, draws, ...).
        diagnostics: of all of them.
    """

    draws: Mapping[str, Floats] = field(repr=False)
    diagnostics: Diagnostics

    def checked(self) -> Inferred:
        """Itself, if its chains converged.

        Raises:
            NotConverged: naming the parameter.
        """
        if self.diagnostics.faults:
            raise NotConverged(self.diagnostics)
        return self


def infer(model: Model, data: Any, key: jax.Array, settings: Settings | None = None) -> Inferred:
    """Posterior draws that converged, with shorter steps where longer ones do not, and at last with longer chains.

    Arguments are those of `run_nuts`.

    Raises:
        NotConverged: naming the parameter, where neither helps.
    """
    settings = settings or Settings()
    finer = [replace(settings, target=one) for one in TARGETS if one > settings.target]
    longer = replace((settings, *finer)[-1], warmup=2 * settings.warmup, draws=2 * settings.draws)
    for one in (settings, *finer, longer):
        found = run_nuts(model, data, key, one)
        if not found.diagnostics.faults:
            return found
    return found.checked()


def run_nuts(model: Model, data: Any, key: jax.Array, settings: Settings | None = None) -> Inferred:
    """Posterior draws of a model given one data set.

    Args:
        model: a numpyro model of one argument.
        data: that argument, a pytree of arrays: data sets of one shape share what is compiled.
        key: of the randomness; the same key gives the same draws to the bit.
        settings: how long the chains are.

    Returns:
        The draws, whether or not they converged: see `Inferred.checked`.
    """
    settings = settings or Settings()
    with jax.enable_x64(True):
        draws, diverging = jax.device_get(_one(data, key, settings.target, model=model, lengths=settings.lengths))
    return _inferred(draws, diverging)


def run_nuts_many(
    model: Model,
    shared: Any,
    stacked: Any,
    keys: jax.Array,
    *,
    settings: Settings | None = None,
    together: int = 4,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> list[Inferred]:
    """Posterior draws given each of many data sets of equal shapes, compiled once.

    Args:
        model: a numpyro model of one argument, the pair (shared, one of the stacked).
        shared: what all data sets have in common.
        stacked: data sets, stacked along the first axis of every array.
        keys: one for each of them.
        settings: how long the chains are.
        together: how many take their steps at once. All wait for the one that takes the longest, so that on a CPU few
            are best; an accelerator takes hundreds.
        progress: called with how many data sets are done, and how many there are.
    """
    settings = settings or Settings()
    count = len(keys)
    together = min(together, count)
    with jax.enable_x64(True):
        group = partial(_group, model=model, lengths=settings.lengths)

        def given(start: int) -> tuple[Any, jax.Array]:
            # The last group takes data sets twice rather than have another shape, which would be compiled again.
            places = np.minimum(np.arange(start, start + together), count - 1)
            return jax.tree.map(lambda leaf: leaf[places], stacked), keys[places]

        first = given(0)
        compiled = jax.jit(group, compiler_options=_COMPILER).lower(shared, *first, settings.target).compile()

        found: list[Inferred] = []
        # One after the other: on a CPU, two programs that loop for long starve each other of the runtime's threads.
        for start in range(0, count, together):
            draws, diverging = jax.device_get(compiled(shared, *given(start), settings.target))
            found += [
                _inferred({name: array[one] for name, array in draws.items()}, diverging[one])
                for one in range(min(together, count - start))
            ]
            progress(len(found), count)
    return found


def _chains(
    data: Any, key: jax.Array, target: Any, *, model: Model, lengths: tuple[int, int, int]
) -> tuple[dict[str, jax.Array], jax.Array]:
    from numpyro.infer import MCMC, NUTS, init_to_uniform

    chains, warmup, draws = lengths
    # Chains that start apart from each other show by R-hat when they end up apart.
    nuts = NUTS(
        model,
        dense_mass=True,
        target_accept_prob=target,
        max_tree_depth=_DEPTHS,
        init_strategy=init_to_uniform(radius=1.0),
    )
    sampler = MCMC(
        nuts,
        num_warmup=warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    sampler.run(key, data, extra_fields=("diverging",))
    return sampler.get_samples(group_by_chain=True), sampler.get_extra_fields(group_by_chain=True)["diverging"]


_one = jax.jit(_chains, static_argnames=("model", "lengths"), compiler_options=_COMPILER)


def _group(
    shared: Any, stacked: Any, keys: jax.Array, target: Any, *, model: Model, lengths: tuple[int, int, int]
) -> tuple[dict[str, jax.Array], jax.Array]:
    def one(data: Any, key: jax.Array) -> tuple[dict[str, jax.Array], jax.Array]:
        return _chains((shared, data), key, target, model=model, lengths=lengths)

    made: tuple[dict[str, jax.Array], jax.Array] = jax.vmap(one)(stacked, keys)
    return made


def _inferred(draws: Mapping[str, Floats], diverging: npt.NDArray[np.bool_]) -> Inferred:
    return Inferred(draws, diagnose(draws, int(diverging.sum())))


def diagnose(draws: Mapping[str, Floats], divergences: int) -> Diagnostics:
    """R-hat and effective sample size of every number in the draws, and the worst of both.

    Args:
        draws: by parameter, of shape (chains, draws, ...).
        divergences: how many draws diverged.
    """
    from arviz_stats.base.array import array_stats

    worst, fewest = (1.0, ""), (np.inf, "")
    shape = (1, 1)
    for name, column in _columns(draws):
        shape = column.shape
        if column.min() == column.max():
            # What is known exactly has nothing to converge.
            continue
        rhat = float(array_stats.rhat(column, chain_axis=0, draw_axis=1))
        ess = float(array_stats.ess(column, chain_axis=0, draw_axis=1, method="bulk"))
        # One that is not a number has not converged either.
        worst = worst if rhat <= worst[0] else (rhat, name)
        fewest = fewest if ess >= fewest[0] else (ess, name)
    return Diagnostics(*worst, float(min(fewest[0], shape[0] * shape[1] * 10)), fewest[1], divergences, *shape)


def _columns(draws: Mapping[str, Floats]) -> Iterator[tuple[str, Floats]]:
    for name, array in draws.items():
        flat = np.asarray(array, np.float64).reshape(*array.shape[:2], -1)
        for place in range(flat.shape[2]):
            label = name if flat.shape[2] == 1 else f"{name}[{place}]"
            yield label, flat[:, :, place]
