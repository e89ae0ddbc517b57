"""Scenarios from inputs alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from uncertain_botec import Scenario, load_scenario

Stated = Mapping[str, str | None]


@pytest.fixture
def load_inputs(tmp_path: Path) -> Callable[..., Scenario]:
    """Load a training run with these inputs, in order and without those that are None; other tables come before."""

    def loaded(inputs: Stated, changes: Stated | None = None, rest: str = "") -> Scenario:
        stated = {name: text for name, text in {**inputs, **(changes or {})}.items() if text is not None}
        lines = "\n".join(f"{name} = {text}" for name, text in stated.items())
        file = tmp_path / "scenario.toml"
        file.write_text(f'title = "Test"\nestimator = "training"\n{rest}\n[inputs]\n{lines}\n', "utf-8")
        return load_scenario(file)

    return loaded
