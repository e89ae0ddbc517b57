"""The model of a run's progress: planned speed, slow drift, day-to-day noise and outages.

With ε independent standard normal, z = L ε the normal scores of the inputs, v(z) the planned speed by the scenario's
own formulas, and K bins of τ_k days in which the run made y_k tokens by day (by accelerator-day):

    ln y_k = ln v(z) - ln(1 - q/2) + w_k - s_k^2/2 + s_k e_k + o_k ln u_k,   s_k = σ / sqrt(max(τ_k, 1))
    w = δ G ξ,  ξ_j ~ N(0, 1)         a random walk in the logarithm of the speed, from 0 at the start
    e_k ~ N(0, 1)                      noise from day to day, averaged over a bin's days
    o_k ~ Bernoulli(q), u_k ~ U(0, 1)  an outage takes a uniform part of its bin
    N ~ Poisson(λ(z) T)                interruptions in the time T, where they are counted and planned

A plan's speed is an average with all that outages take, and an outage takes half of its bin on average: hence the
term in q, and that in s_k^2, without which bins of much noise would be faster than the plan on average. The choices o_k
are summed out. A bin without outage is Gaussian in the logarithm, and one with outage an exponentially modified
Gaussian, so that a week of standstill raises q rather than lower v for ever. The noise is sqrt(σ^2 + 0.01^2) for σ: no
run is steadier than 1 % from day to day, however smooth its log.

A log tells v much better than the inputs that make it, so that the posterior of ε is a thin curved sheet. NUTS samples
it in coordinates that follow the sheet: ε = g t + A u, with g the direction in which ln v rises most steeply at the
medians and A across it, and t = t0(u) + c b, where ln v(g t0(u) + A u) is what the log shows on average. For every u
that shifts and scales t, so that the density of (u, b) is that of (u, t) times the constant c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import log_ndtr, ndtr
from numpyro.distributions import constraints

# The kernel module registers every quantile function with JAX.
import uncertain_botec.sampling.kernel  # noqa: F401
from uncertain_botec.distributions import Level
from uncertain_botec.planning import Plan, evaluate
from uncertain_botec.updating.bins import Evidence, averaged, noise_of
from uncertain_botec.updating.planned import interruption_rate, log_rate

NOISE_MEDIAN, NOISE_SPREAD = 0.05, 0.5
"""σ ~ lognormal: 5 % from day to day, between 2.6 and 9.5 % with 80 %."""

DRIFT_SCALE = 0.03
"""δ ~ half-normal: a drift of up to some 3 % in a month."""

OUTAGE_RARITY = 30.0
"""q ~ Beta(1, 30): an outage in about 3 % of the bins."""


# Newton steps to the sheet, each of at most so much; where none reaches it t0 is of less use, but as valid.
_STEPS, _MOST_STEP, _FARTHEST = 6, 3.0, 12.0


class Beliefs(NamedTuple):
    """What the model is told of a scenario, as arrays: scenarios that differ in numbers share what is compiled.

    Attributes:
        forms: the quantile functions of the drivers.
        known: the values of all other inputs.
        root: L of the drivers.
        axes: (g, A), an orthogonal matrix.
    """

    forms: Mapping[str, Any]
    known: Mapping[str, Any]
    root: Any
    axes: Any


@dataclass(frozen=True)
class ProgressModel:
    """The model as numpyro takes it; what is not learnt is switched off for the tests of its parts.

    Attributes:
        plan: the scenario's formulas.
        drivers: the inputs that speed or interruptions depend on.
        by_accelerator: whether speed is by accelerator.
        counted: whether interruptions are counted.
        drift: whether there is one.
        outages: whether there are any.
        noise: σ where it is known.
    """

    plan: Plan
    drivers: tuple[str, ...]
    by_accelerator: bool
    counted: bool
    drift: bool = True
    outages: bool = True
    noise: float | None = None

    def __call__(self, data: tuple[Beliefs, Evidence]) -> None:
        """Sample the parameters, and hold the evidence against them."""
        beliefs, seen = data
        values = self.values(beliefs, self._scores(beliefs, seen))
        rate = log_rate(values, by_accelerator=self.by_accelerator)
        numpyro.deterministic("log_rate", rate)
        noise = self.noise
        if noise is None:
            noise = numpyro.sample("noise", dist.LogNormal(jnp.log(NOISE_MEDIAN), NOISE_SPREAD))
        level = rate
        if self.drift:
            drift = numpyro.sample("drift", dist.HalfNormal(DRIFT_SCALE))
            steps = numpyro.sample("steps", dist.Normal(0.0, 1.0).expand([seen.steps.shape[-1]]).to_event(1))
            level = level + drift * jnp.sum(seen.steps * steps, axis=-1)
        outage = numpyro.sample("outage", dist.Beta(1.0, OUTAGE_RARITY)) if self.outages else 0.0
        level = level - jnp.log1p(-outage / 2)
        scale = averaged(noise_of(noise, jnp) if self.noise is None else noise, seen.days, jnp)
        speed = Speed(level - scale**2 / 2, scale, jnp.asarray(outage))
        numpyro.sample("progress", speed.mask(seen.there > 0).to_event(1), obs=seen.log_speed)
        if self.counted:
            expected = interruption_rate(values, by_accelerator=self.by_accelerator) * seen.exposure
            numpyro.sample("counted", dist.Poisson(expected), obs=seen.interruptions)

    def _scores(self, beliefs: Beliefs, seen: Evidence) -> list[Any]:
        """ε of the drivers, in coordinates that follow what the log tells."""
        if not self.drivers:
            return []
        across = jnp.zeros(0)
        if len(self.drivers) > 1:
            across = numpyro.sample("across", dist.Normal(0.0, 1.0).expand([len(self.drivers) - 1]).to_event(1))
        along = numpyro.sample("along", dist.ImproperUniform(constraints.real, (), ()))

        def scores(t: Any, u: Any) -> list[Any]:
            return [row[0] * t + jnp.sum(row[1:] * u) for row in beliefs.axes]

        def newton(t: Any, u: Any) -> Any:
            def rate(t: Any) -> Any:
                return log_rate(self.values(beliefs, scores(t, u)), by_accelerator=self.by_accelerator)

            value, slope = jax.jvp(rate, (t,), (jnp.ones_like(t),))
            step = (seen.average - value) / jnp.maximum(jax.lax.stop_gradient(slope), 1e-3)
            return jnp.clip(t + jnp.clip(step, -_MOST_STEP, _MOST_STEP), -_FARTHEST, _FARTHEST)

        # The derivative of the last step alone is that of the solution (implicit function theorem).
        held = jax.lax.stop_gradient(across)
        start = jax.lax.fori_loop(0, _STEPS, lambda _, t: newton(t, held), jnp.zeros_like(along))
        t = newton(jax.lax.stop_gradient(start), across) + seen.scale * along
        numpyro.factor("prior", dist.Normal(0.0, 1.0).log_prob(t) + jnp.log(seen.scale))
        # Named after the inputs, so that what is said of convergence names them.
        found = scores(t, across)
        return [numpyro.deterministic(name, one) for name, one in zip(self.drivers, found, strict=True)]

    def values(self, beliefs: Beliefs, eps: Any) -> dict[str, Any]:
        """Every quantity of the plan where the drivers have the scores L ε."""
        inputs = {}
        for row, name in enumerate(self.drivers):
            # Term by term: a matrix product of this size costs more than it saves, and vectors of draws go as well.
            z = sum((beliefs.root[row, column] * eps[column] for column in range(row + 1)), jnp.zeros(()))
            inputs[name] = beliefs.forms[name].quantile(Level(ndtr(z), z))
        return evaluate(self.plan, {**beliefs.known, **inputs})


class Speed(dist.Distribution):  # type: ignore[misc]
    """ln y = level + s e + o ln u, a Gaussian mixed with an exponentially modified one.

    f(x) = (1 - q) φ(r / s) / s + q exp(r + s^2 / 2) Φ(-r / s - s) with r = x - level: the second is the density of
    s e + ln u, where -ln u is standard exponential (Grushka 1972, Analytical Chemistry 44, 1733-1738).
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "level": constraints.real,
        "scale": constraints.positive,
        "outage": constraints.unit_interval,
    }
    support = constraints.real

    def __init__(self, level: Any, scale: Any, outage: Any, *, validate_args: bool | None = None) -> None:
        self.level, self.scale, self.outage = level, scale, outage
        super().__init__(jnp.shape(level), (), validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        """ln f."""
        r, s = value - self.level, self.scale
        usual = dist.Normal(0.0, s).log_prob(r) + jnp.log1p(-self.outage)
        stopped = jnp.log(jnp.maximum(self.outage, 1e-300)) + r + s**2 / 2 + log_ndtr(-r / s - s)
        return jnp.logaddexp(usual, stopped)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Draws of ln y."""
        shape = sample_shape + self.batch_shape
        noise, there, part = jax.random.split(key, 3)
        stopped = jax.random.uniform(there, shape) < self.outage
        lost = jnp.log(jax.random.uniform(part, shape, minval=1e-12))
        return self.level + self.scale * jax.random.normal(noise, shape) + jnp.where(stopped, lost, 0.0)
