"""Estimates of outputs at many points at once: smooth ones where there are any, draws of the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from uncertain_botec.scenario import Scenario

if TYPE_CHECKING:
    from uncertain_botec.tallies import Estimate

DRAWS = 1 << 13
"""Draws of each point for outputs that no integration makes smooth."""

_MOST_POINTS = 1 << 16
"""Points of each scenario for outputs that are smooth, and not as accurate as was asked."""


def estimated(
    scenarios: Sequence[Scenario], outputs: Sequence[Sequence[str]], accuracy: float, seed: int, device: str
) -> list[dict[str, Estimate]]:
    """The outputs of each scenario, to an accuracy where they can be smooth.

    Where that is not to be had they are the best there are: never less than a lower accuracy would get.
    """
    from uncertain_botec.sampling.batches import estimate_many
    from uncertain_botec.sampling.drawing import drawn_many

    wanted = tuple(dict.fromkeys(name for names in outputs for name in names))
    found = estimate_many(scenarios, wanted, accuracy=accuracy, seed=seed, device=device, draw=False)
    lacking = [tuple(name for name in names if name not in one) for names, one in zip(outputs, found, strict=True)]
    if not any(lacking):
        return found
    drawn = drawn_many(scenarios, lacking, DRAWS, seed=seed, device=device)
    for one, more in zip(found, drawn, strict=True):
        one |= more
    short = [
        place for place, names in enumerate(lacking) if not all(found[place][name].accurate(accuracy) for name in names)
    ]
    better = _smoothest([scenarios[place] for place in short], wanted, seed, device) if short else []
    for place, smooth in zip(short, better, strict=True):
        one = found[place]
        for name in {*lacking[place]} & {*smooth}:
            one[name] = min(one[name], smooth[name], key=lambda estimate: estimate.worst)
    return found


def _smoothest(
    scenarios: Sequence[Scenario], wanted: Sequence[str], seed: int, device: str
) -> list[dict[str, Estimate]]:
    """As accurate smooth estimates as there are, of those outputs that have any."""
    from uncertain_botec.sampling.batches import estimate_many

    # The fewest points tell for little which outputs are smooth at all: most that come here are not.
    found = estimate_many(scenarios, wanted, accuracy=math.inf, seed=seed, device=device, draw=False)
    places = [place for place, one in enumerate(found) if any(estimate.smoothed for estimate in one.values())]
    some = [scenarios[place] for place in places]
    fine = estimate_many(some, wanted, points=_MOST_POINTS, seed=seed, device=device, draw=False) if some else []
    for place, one in zip(places, fine, strict=True):
        found[place] |= one
    return found


def missed(estimates: Iterable[Mapping[str, Estimate]], outputs: Sequence[str], accuracy: float) -> Iterator[str]:
    """What to say where these outputs are not everywhere as accurate as was asked."""
    each = [max(one[name].worst for name in outputs if name in one) for one in estimates]
    short = [worst for worst in each if not worst <= accuracy]
    if short:
        reached = f"up to {100 * max(short):.2g} %" if all(map(math.isfinite, short)) else "an unknown size"
        asked = f"not the {100 * accuracy:.2g} % that was asked for"
        yield f"at {len(short):,} of {len(each):,} points quantiles have relative standard errors of {reached}, {asked}"
