"""numpyro forms of the distributions that numpyro lacks: J-QPD, triangular, truncated and mixed."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax.scipy.special import ndtr
from numpyro.distributions import constraints

from uncertain_botec.distributions.level import Level
from uncertain_botec.distributions.truncated import Truncated
from uncertain_botec.distributions.weighted import Mixture


def elicited(source: Any) -> Any:
    """A numpyro distribution of a source that states its own `log_density`."""
    return Elicited(source)


def truncated(source: Truncated) -> Any:
    """The parent's density inside the bounds, divided by the mass that it leaves there."""
    return Restricted(source)


def mixture(source: Mixture) -> Any:
    """The weighted components, on the smallest support that holds them all."""
    if source.atoms() and not source.discrete:
        raise NotImplementedError("a mixture with an exactly known value has no density to give numpyro")
    support = constraints.nonnegative_integer if source.discrete else _between(*source.support)
    components = [component.to_numpyro() for component in source.components]
    for component in components:
        # Only then does numpyro give a component no density outside of its own support.
        component._validate_args = False
    return dist.MixtureGeneral(dist.Categorical(probs=jnp.asarray(source.weights)), components, support=support)


def _between(low: float, high: float) -> Any:
    if math.isinf(low) and math.isinf(high):
        return constraints.real
    if math.isinf(high):
        return constraints.greater_than(low)
    return constraints.less_than(high) if math.isinf(low) else constraints.interval(low, high)


class _Sourced(dist.Distribution):  # type: ignore[misc]
    """A scalar distribution that draws by the quantile function of `source`, which is part of its structure."""

    arg_constraints: ClassVar[dict[str, Any]] = {}
    pytree_aux_fields = ("source",)

    def __init__(self, source: Any, *, validate_args: bool | None = None) -> None:
        self.source = source
        super().__init__((), (), validate_args=validate_args)

    @property
    def support(self) -> Any:
        """The source's own."""
        return _between(*self.source.support)

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """Values by the quantile function, so that none lies outside the support."""
        z = jax.random.normal(key, sample_shape)
        return self.source.sampling_form().quantile(Level(ndtr(z), z))


class Elicited(_Sourced):
    """A distribution whose source states its logarithmic density."""

    def log_prob(self, value: Any) -> Any:
        """ln f(x) inside the support and -inf outside."""
        inside = self.support(value)
        # The density is taken inside only, so that no gradient meets the logarithm of a negative number.
        middle = self.source.quantile(Level(jnp.asarray(0.5), jnp.asarray(0.0)))
        return jnp.where(inside, self.source.log_density(jnp.where(inside, value, middle)), -jnp.inf)


class Restricted(_Sourced):
    """A density restricted to an interval and renormalised, for any parent; numpyro's own is for a few families."""

    pytree_data_fields = ("parent",)

    def __init__(self, source: Truncated, *, validate_args: bool | None = None) -> None:
        self.parent = source.parent.to_numpyro()
        super().__init__(source, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        """ln f(x) less the logarithm of the mass inside, and -inf outside."""
        # The parent's density is taken inside only, so that its gradient is finite outside as well.
        log_density = self.parent.log_prob(jnp.clip(value, *self.source.support))
        return jnp.where(self.support(value), log_density - math.log(self.source.mass), -jnp.inf)
