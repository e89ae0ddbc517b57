"""What every distribution offers: cumulative probabilities, a quantile function, moments, a form for the kernel."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from uncertain_botec.distributions.level import Level, open_score

if TYPE_CHECKING:
    from uncertain_botec.distributions.tabulate import Tabulated

Floats = NDArray[np.float64]
Support = tuple[float, float]


class FieldNames:
    """The names of a dataclass's fields of one kind: numeric leaves of a pytree, or static structure."""

    def __init__(self, *, static: bool) -> None:
        self.static = static

    def __get__(self, instance: object, owner: type[Any]) -> tuple[str, ...]:
        return tuple(f.name for f in dataclasses.fields(owner) if f.metadata.get("static", False) is self.static)


@dataclasses.dataclass(frozen=True)
class Leaves:
    """A dataclass that a kernel takes as a pytree; a field with the metadata `static=True` is part of its structure.

    `kind` is the name of the class. JAX compares the structures of dataclasses by their static fields alone, so that
    without it a kernel compiled for one class can be taken, when hashes collide, for another with as many fields.
    """

    kind: str = dataclasses.field(default="", kw_only=True, repr=False, metadata={"static": True})
    data_fields = FieldNames(static=False)
    meta_fields = FieldNames(static=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self).__name__)


class Distribution(Leaves, ABC):
    """An immutable probability distribution of one input, equal by value.

    Subclasses are frozen dataclasses of floats and tuples. They do not check their parameters: `elicit` does, and
    inside a kernel the parameters are traced. `quantile` of a closed-form family is elementwise in the namespace
    of its level and has no branch on a parameter's value; the other families' `quantile` is exact, numpy only,
    and is what `sampling_form` tabulates.
    """

    family: ClassVar[str]
    closed_form: ClassVar[bool] = True

    @property
    def discrete(self) -> bool:
        """Whether all mass sits on separate points."""
        return False

    @property
    def smooth(self) -> bool:
        """Whether the sampling form has a `score`: F rises without a jump, so that no point has mass of its own."""
        return not self.discrete and not self.atoms()

    @property
    def jumps(self) -> bool:
        """Whether the quantile function may jump over values that are never taken."""
        return not self.smooth

    @property
    def mass_cut(self) -> float:
        """The share of the stated distribution that a truncation removed."""
        return 0.0

    @property
    @abstractmethod
    def support(self) -> Support:
        """The smallest closed interval that holds all mass."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Floats:
        """P(X <= x)."""

    @abstractmethod
    def sf(self, x: ArrayLike) -> Floats:
        """P(X > x), accurate in the upper tail."""

    @abstractmethod
    def quantile(self, level: Level) -> Any:
        """The smallest x with P(X <= x) >= u."""

    @abstractmethod
    def to_numpyro(self) -> Any:
        """The same distribution as a numpyro distribution."""

    def mean(self) -> float:
        """The mean, or nan where it has no closed form; inf or nan where it does not exist."""
        return math.nan

    def sd(self) -> float:
        """The standard deviation, or nan where it has no closed form; inf or nan where it does not exist."""
        return math.nan

    def atoms(self) -> tuple[tuple[float, float], ...]:
        """The points that hold mass of their own, each with its probability; counts list none."""
        return ()

    def count_extension(self) -> Distribution | None:
        """For whole-number families the continuous distribution whose quantile, rounded up, is this one's."""
        return None

    def sampling_form(self) -> Distribution | Tabulated:
        """An equivalent whose quantile function runs inside a kernel: itself, or a table."""
        if self.closed_form:
            return self
        from uncertain_botec.distributions.tabulate import tabulate  # tabulate builds on this module

        return tabulate(self)


class NormalScored(Distribution):
    """A distribution given by the increasing map between its values and the normal score: F(x) = Phi(score(x))."""

    @abstractmethod
    def score(self, x: Any) -> Any:
        """The normal score of an array of values, elementwise in its namespace; -inf and inf outside the support.

        As `quantile`, it has no branch on a parameter's value, and inside a kernel the parameters are traced. JAX's
        derivative of it is finite everywhere.
        """

    def cdf(self, x: ArrayLike) -> Floats:
        return np.asarray(ndtr(self.score(np.asarray(x, dtype=np.float64))))

    def sf(self, x: ArrayLike) -> Floats:
        return np.asarray(ndtr(-self.score(np.asarray(x, dtype=np.float64))))


class TailScored(Distribution):
    """A distribution given by both of its tails, whose smaller one gives the normal score: F(x) = Phi(score(x))."""

    @abstractmethod
    def tails(self, x: Any) -> tuple[Any, Any]:
        """P(X <= x) and P(X > x) of an array of values, each to full relative precision, in its namespace."""

    def score(self, x: Any) -> Any:
        """The normal score of an array of values, as that of `NormalScored`."""
        return open_score(*self.tails(x))

    def cdf(self, x: ArrayLike) -> Floats:
        return np.asarray(self.tails(np.asarray(x, dtype=np.float64))[0])

    def sf(self, x: ArrayLike) -> Floats:
        return np.asarray(self.tails(np.asarray(x, dtype=np.float64))[1])
