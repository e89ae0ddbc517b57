"""The model of published runs, in numpyro."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from uncertain_botec.calibration.runs import Run
from uncertain_botec.reference.posterior import OTHER, SHARED, generation_column
from uncertain_botec.reference.subject import TERMS

# Standard deviations of the priors of b_k: how far a term may move ln(hours), from what engineers know. A chip with e
# times the peak of another needs up to a third more of it to be lost; sparse models lose to routing and communication;
# a factor of e in size or tokens matters little; software takes years to catch up with a chip; days are rounded up.
SCALES = {
    "intercept": 0.3,
    "peak": 0.3,
    "parameters": 0.1,
    "tokens": 0.1,
    "age": 0.3,
    "moe": 0.3,
    "ssm": 0.3,
    "fp8": 0.1,
    "rough": 0.2,
}

# 8-bit matrices made steps 1.17 to 1.34 times as fast where both were measured (OpenEuroLLM run report), less what is
# not a matrix.
CENTRES = {"intercept": 0.3, "fp8": -0.2}

# Of ln(hours) about what the terms say.
_USUAL_NOISE = 0.3

# The hours of a run whose published MFU is good to two digits, and whose days are rounded, give ln(1 + f) to this.
_OVERHEAD_NOISE = 0.05

# Rounded figures may leave steps no faster than the whole run; this is the least overhead.
LEAST_OVERHEAD = 0.005


class Data(NamedTuple):
    """Runs as arrays.

    Attributes:
        y: ln(h / h_40), array[run].
        x: array[run, term].
        generation: 1 in the column of the accelerator's generation, else 0, array[run, generation]; the last column
            stands for all generations that are not known.
        rough: 1 where the hours are, else 0, array[run].
        weight: 1 for a run that is learnt from, 0 for one that is held out, array[run].
    """

    y: Any
    x: Any
    generation: Any
    rough: Any
    weight: Any


def arrays(runs: Sequence[Run], generations: Sequence[str]) -> Data:
    """The runs as the model takes them, all learnt from."""
    codes = {name: index for index, name in enumerate(generations)}
    return Data(
        y=np.array([run.log_excess for run in runs]),
        x=np.array([run.subject.terms for run in runs]).reshape(len(runs), len(TERMS)),
        generation=np.eye(len(codes) + 1)[[codes.get(run.subject.generation, len(codes)) for run in runs]],
        rough=np.array([float(run.subject.rough) for run in runs]),
        weight=np.ones(len(runs)),
    )


def overheads_of(runs: Sequence[Run]) -> np.ndarray[Any, Any]:
    """ln(1 + f) of each run that publishes its MFU u while stepping.

    f = u / u_w - 1, where u_w = 0.4 exp(-y) is the MFU of the whole run.
    """
    ratios = [run.step_mfu / (0.4 * math.exp(-run.log_excess)) for run in runs if run.step_mfu is not None]
    return np.array([math.log(max(ratio, 1 + LEAST_OVERHEAD)) for ratio in ratios])


def generations_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """The generations of accelerators among the runs, sorted."""
    return tuple(sorted({run.subject.generation for run in runs}))


def hours(data: Data) -> None:
    """The numpyro model of how many hours runs take.

        y_i ~ t(nu, x_i b + tau z_g(i), sigma exp(d r_i)),  x_i0 = 1,
        b_k ~ N(centre_k, scale_k),  z_g ~ N(0, 1),  ln tau ~ N(ln 0.1, 0.5),  nu - 2 ~ Gamma(2, 0.1).

    Student's t keeps single runs from pulling the rest along (Lange, Little and Taylor 1989); the prior of nu is that
    of Juarez and Steel (2010), moved to where the variance is finite. z is not centred, as few generations are known
    well, and b is sampled in coordinates in which its posterior is about N(0, 1), which makes trajectories short.

    Args:
        data: the runs.
    """
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    names = ("intercept", *TERMS)
    centre = jnp.array([CENTRES.get(name, 0.0) for name in names])
    scale = jnp.array([SCALES[name] for name in names])
    x = jnp.concatenate([jnp.ones((len(data.y), 1)), data.x], axis=1)

    # b = m + L w, with m and L L^T its mean and covariance if all noise were normal and 0.3. Runs that are held out do
    # not move them either, so that no bit of a run's forecast hangs on its own hours.
    learnt = x.T * data.weight
    precision = learnt @ x / _USUAL_NOISE**2 + jnp.diag(scale**-2)
    mean = centre + jnp.linalg.solve(precision, learnt @ (data.y - x @ centre)) / _USUAL_NOISE**2
    w = numpyro.sample("w", dist.Normal(0, 1).expand([len(names)]).to_event(1))
    b = mean + jnp.linalg.cholesky(jnp.linalg.inv(precision)) @ w
    # The prior is b's, so that of w is taken off again.
    prior = dist.Normal(centre, scale).log_prob(b).sum() - dist.Normal(0, 1).log_prob(w).sum()
    numpyro.factor("prior of b", prior)

    tau = numpyro.sample("tau", dist.LogNormal(math.log(0.1), 0.5))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([data.generation.shape[1]]).to_event(1))
    log_scale = numpyro.sample("log_scale", dist.Normal(math.log(_USUAL_NOISE), 0.4))
    rough_log_scale = numpyro.sample("rough_log_scale", dist.Normal(0, 0.3))
    nu = 2 + numpyro.sample("nu_above_2", dist.Gamma(2, 0.1))
    noise = dist.StudentT(nu, x @ b + tau * data.generation @ z, jnp.exp(log_scale + rough_log_scale * data.rough))
    numpyro.factor("runs", jnp.sum(data.weight * noise.log_prob(data.y)))
    for index, name in enumerate(names):
        numpyro.deterministic(name, b[index])
    numpyro.deterministic("deviation", tau * z)
    numpyro.deterministic("degrees_of_freedom", nu)


def overheads(g: Any) -> None:
    """The numpyro model of the time beyond steps.

        g_i = ln(1 + f_i) + noise,  ln f_i ~ N(overhead_log_median, overhead_log_sd).

    Args:
        g: as `overheads_of` gives it, array[run].
    """
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    median = numpyro.sample("overhead_log_median", dist.Normal(jnp.log(0.15), 0.5))
    sd = numpyro.sample("overhead_log_sd", dist.LogNormal(jnp.log(0.6), 0.4))
    score = numpyro.sample("overhead_score", dist.Normal(0, 1).expand([len(g)]).to_event(1))
    numpyro.sample("overheads", dist.Normal(jnp.log1p(jnp.exp(median + sd * score)), _OVERHEAD_NOISE), obs=g)


def hours_without(both: tuple[Data, Any]) -> None:
    """The same with other weights, so that many sets of held-out runs share what is compiled."""
    data, weight = both
    hours(data._replace(weight=weight))


def columns(samples: Mapping[str, Any], generations: Sequence[str]) -> dict[str, Any]:
    """Draws of all chains, as the columns of a `ReferenceClass`."""
    named = [name for name in SHARED if name in samples]
    flat = {name: np.asarray(samples[name], float) for name in (*named, "deviation")}
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in flat.items()}
    deviations = {
        generation_column(name): flat["deviation"][:, index] for index, name in enumerate((*generations, OTHER))
    }
    return {name: flat[name] for name in named} | deviations
