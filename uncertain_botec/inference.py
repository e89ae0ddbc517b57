"""Posteriors by NUTS, over one data set or many of the same shape at once, and whether they can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uncertain_botec.errors import BotecError

RHAT, ESS = 1.01, 400.0
"""What chains have to keep: rank-normalised split R-hat below, bulk effective sample size above (Vehtari et al. 2021,
arXiv 1903.08008)."""


class NotConvergedError(BotecError):
    """Chains whose draws are not those of the posterior; no number is made from them."""


@dataclass(frozen=True)
class Diagnostics:
    """How well chains mixed.

    Attributes:
        rhat: the largest rank-normalised split R-hat.
        ess: the smallest bulk effective sample size.
        divergences: transitions that went astray.
        worst: the parameter with that R-hat.
        chains, draws: how many, after the warm-up.
    """

    rhat: float
    ess: float
    divergences: int
    worst: str
    chains: int
    draws: int

    @property
    def fine(self) -> bool:
        """Whether the draws may be used."""
        return self.rhat < RHAT and self.ess > ESS and self.divergences == 0

    def __str__(self) -> str:
        what = f"{self.chains} chains of {self.draws:,} draws"
        return f"{what}: R-hat {self.rhat:.3f}, bulk ESS {self.ess:,.0f}, {self.divergences} divergences"


def run_nuts(
    model: Callable[..., Any],
    data: Sequence[Any],
    key: Any,
    *,
    sites: Sequence[str],
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    target: float = 0.95,
) -> dict[str, Any]:
    """Draws from the posterior of a numpyro model; a pure function that `jax.vmap` maps over `data` and `key`.

    Args:
        model: a numpyro model that takes `data`.
        data: its arguments.
        key: of JAX.
        sites: what to return.
        chains, warmup, draws: how many chains, and draws of each before and after adaptation.
        target: the acceptance probability that step sizes are adapted to.

    Returns:
        Each site as an array[chain, draw, ...], and `diverging`, array[chain, draw].
    """
    from numpyro.infer import MCMC, NUTS

    sampler = NUTS(model, target_accept_prob=target)
    chain = MCMC(
        sampler,
        num_warmup=warmup,
        num_samples=draws,
        num_chains=chains,
        chain_method="vectorized",
        progress_bar=False,
    )
    chain.run(key, *data, extra_fields=("diverging",))
    samples = chain.get_samples(group_by_chain=True)
    return {name: samples[name] for name in sites} | {
        "diverging": chain.get_extra_fields(group_by_chain=True)["diverging"]
    }


def diagnose(samples: Mapping[str, Any], parameters: Sequence[str]) -> Diagnostics:
    """What chains say of themselves.

    Args:
        samples: as `run_nuts` returns them.
        parameters: the sites to look at; every component of each is.
    """
    from arviz_stats.base import array_stats

    worst, rhat, ess = "", 0.0, np.inf
    for name in parameters:
        values = np.asarray(samples[name], float)
        flat = values.reshape(*values.shape[:2], -1)
        for index in range(flat.shape[-1]):
            one = flat[..., index]
            if np.ptp(one) == 0:
                continue
            this = float(array_stats.rhat(one, chain_axis=0, draw_axis=1))
            if not this <= rhat:
                rhat, worst = this, name if flat.shape[-1] == 1 else f"{name}[{index}]"
            ess = min(ess, float(array_stats.ess(one, chain_axis=0, draw_axis=1)))
    diverging = np.asarray(samples["diverging"])
    return Diagnostics(rhat, ess, int(diverging.sum()), worst, *diverging.shape)


def require_convergence(diagnostics: Diagnostics, what: str) -> None:
    """Raise `NotConvergedError` unless chains may be trusted."""
    if not diagnostics.fine:
        raise NotConvergedError(
            f"{what}: the chains did not converge\n"
            f"    got:      {diagnostics}; the worst parameter is {diagnostics.worst}\n"
            f"    expected: R-hat below {RHAT}, bulk ESS above {ESS:g}, no divergences\n"
            "    fix:      another seed, or more data; nothing was written"
        )
