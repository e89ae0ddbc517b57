"""From stated correlations to a Gaussian copula, or to the faults that stand in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uncertain_botec.dependence import (
    Dependence,
    Matrix,
    can_be,
    latent_of_spearman,
    matrix_of,
    nearest,
    smallest_eigenvalue,
)
from uncertain_botec.errors import Fault
from uncertain_botec.prior_files.places import Place
from uncertain_botec.prior_files.schema import toml, unknown
from uncertain_botec.scenario import Input


def correlate(
    entries: Sequence[tuple[Mapping[str, Any], Place]],
    inputs: Mapping[str, Input],
    needed: frozenset[str],
    faults: list[Fault],
    notes: list[str],
) -> tuple[Dependence | None, tuple[Mapping[str, Any], ...]]:
    """The copula of all stated correlations, and those that are in force, to be loaded again.

    There is no copula when nothing is correlated, or after adding faults.
    """
    before = len(faults)
    pairs: dict[frozenset[str], float] = {}
    origins: dict[frozenset[str], int] = {}
    for index, (entry, place) in enumerate(entries):
        for pair, value in _pairs(entry, place, needed, faults).items():
            earlier = entries[origins[pair]][1] if pair in origins else None
            if earlier is not None and earlier.where == place.where:
                message = f"the correlation of {' and '.join(sorted(pair))} is stated twice"
                got = f"{earlier.path} and {place.path}"
                faults.append(Fault(message, place.where, place.path, got, "one of them", "take one of the two out"))
            pairs[pair], origins[pair] = value, index
    if len(faults) > before or not pairs:
        return None, ()
    return _copula(entries, inputs, pairs, faults, notes), _in_force(entries, origins)


def _in_force(
    entries: Sequence[tuple[Mapping[str, Any], Place]], origins: Mapping[frozenset[str], int]
) -> tuple[Mapping[str, Any], ...]:
    """The entries as stated, or pair by pair where a later file replaced a part of one."""
    kept: list[Mapping[str, Any]] = []
    for index, (entry, _) in enumerate(entries):
        names = entry["between"]
        places = [(row, column) for row in range(len(names)) for column in range(row)]
        left = [(i, j) for i, j in places if origins[frozenset((names[i], names[j]))] == index]
        if left == places:
            kept.append(entry)
            continue
        kind = "spearman" if "spearman" in entry else "latent"
        stated = entry[kind]
        for i, j in left:
            value = stated[i][j] if isinstance(stated, list) else stated
            kept.append({**entry, "between": [names[i], names[j]], kind: value})
    return tuple(kept)


def _copula(
    entries: Sequence[tuple[Mapping[str, Any], Place]],
    inputs: Mapping[str, Input],
    pairs: Mapping[frozenset[str], float],
    faults: list[Fault],
    notes: list[str],
) -> Dependence | None:
    """The copula over the inputs that vary."""
    constant = sorted({name for pair in pairs for name in pair if name in inputs and inputs[name].known})
    notes += [f"{name} is known exactly, so its correlations have no effect" for name in constant]
    varying = {pair: value for pair, value in pairs.items() if pair <= inputs.keys() and not pair & set(constant)}
    names = tuple(sorted({name for pair in varying for name in pair}))
    if not names:
        return None
    stated = any(entry.get("spearman") is not None for entry, _ in entries)
    notes += [
        f"{name} takes separate values: a rank correlation is that of the values behind them, and draws show less"
        for name in names
        if stated and inputs[name].distribution.discrete
    ]
    repair = any(entry.get("repair") for entry, _ in entries)
    latent = _checked(matrix_of(names, varying), names, stated, repair, entries[0][1], faults, notes)
    return None if latent is None else Dependence(names, tuple(tuple(float(x) for x in row) for row in latent))


def _pairs(
    entry: Mapping[str, Any], place: Place, needed: frozenset[str], faults: list[Fault]
) -> dict[frozenset[str], float]:
    """The latent correlation of each pair that one entry states."""
    before = len(faults)
    names = list(entry["between"])

    def fault(message: str, path: str, got: str | None, expected: str | None = None, fix: str | None = None) -> None:
        faults.append(Fault(message, place.where, path, got, expected, fix))

    for index, name in enumerate(names):
        if name not in needed:
            message = "this is not an input of the forecast"
            faults.append(unknown(place.where, f"{place.path}.between[{index}]", name, sorted(needed), message))
    if len(set(names)) < len(names):
        expected = "names that differ"
        fault(
            "an input cannot be correlated with itself", f"{place.path}.between", toml(names), expected, "name another"
        )
    kinds = [kind for kind in ("spearman", "latent") if entry.get(kind) is not None]
    if len(kinds) != 1:
        got = "both" if kinds else "neither"
        fix = "spearman = 0.3 is a rank correlation, latent = 0.3 that of the normal scores"
        fault("a correlation names its kind", place.path, got, "spearman or latent", fix)
        return {}
    kind, stated, size = kinds[0], entry[kinds[0]], len(names)
    at = f"{place.path}.{kind}"
    if isinstance(stated, list):
        if [len(row) for row in stated] != [size] * size:
            got = f"{len(stated)} rows of {', '.join(str(len(row)) for row in stated)} numbers"
            fix = "state every row in full, with ones on the diagonal"
            fault("the matrix does not fit the names", at, got, f"{size} rows of {size} numbers", fix)
            return {}
        matrix = np.array(stated, dtype=np.float64)
    else:
        matrix = np.full((size, size), float(stated))
        np.fill_diagonal(matrix, 1.0)
    if not np.all(np.abs(matrix) <= 1):
        fix = "divide by 100 if percent are meant"
        fault("a correlation lies between -1 and 1", at, toml(stated), "numbers from -1 to 1", fix)
    elif not np.array_equal(matrix, matrix.T) or not np.array_equal(np.diag(matrix), np.ones(size)):
        expected, fix = "a symmetric matrix", "give both halves the same numbers, and the diagonal ones"
        fault("a correlation matrix is symmetric with ones on its diagonal", at, toml(stated), expected, fix)
    if len(faults) > before:
        return {}
    latent = latent_of_spearman(matrix) if kind == "spearman" else matrix
    return {frozenset((names[i], names[j])): float(latent[i, j]) for i in range(size) for j in range(i)}


def _checked(
    latent: Matrix,
    names: tuple[str, ...],
    converted: bool,
    repair: bool,
    place: Place,
    faults: list[Fault],
    notes: list[str],
) -> Matrix | None:
    """The latent matrix if it can be one, its nearest neighbour if asked for, or None after adding the fault."""
    if can_be(latent):
        return latent
    step = "latent matrix, after converting the rank correlations," if converted else "latent matrix"
    eigenvalue = smallest_eigenvalue(latent)
    if repair:
        near = nearest(latent)
        change = np.abs(near - latent)
        row, column = np.unravel_index(int(change.argmax()), change.shape)
        notes.append(
            f"the {step} had the eigenvalue {eigenvalue:.2g}; the nearest correlation matrix is used, which changes "
            f"{names[row]} with {names[column]} the most: {latent[row, column]:.4f} to {near[row, column]:.4f}"
        )
        return near
    got = "\n".join(
        f"{name:>28} " + " ".join(f"{x:7.4f}" for x in row) for name, row in zip(names, latent, strict=True)
    )
    faults.append(
        Fault(
            f"the {step} is not positive definite: its smallest eigenvalue is {eigenvalue:.2g}",
            place.where,
            "$.correlations",
            "\n" + got,
            "correlations that can hold together",
            "weaken some of them, or add `repair = true` to take the nearest matrix that can be",
        )
    )
    return None
