"""Files that a run is made to include: they win over what it includes, and lose to what it states itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from uncertain_botec import PriorFileError, load_scenario

PRICE = "price_per_accelerator_hour"


def test_a_file_in_place_of_an_included_one() -> None:
    """Another market's price comes in place of the run's, also where the run includes that market as well."""
    plain = load_scenario("llama-2-70b")
    dear = load_scenario("llama-2-70b", including=["prices/hyperscaler-2026"])
    assert dear.inputs[PRICE].origin == "priors/prices/hyperscaler-2026.toml"
    assert {name for name, one in plain.inputs.items() if one != dear.inputs[name]} == {PRICE}
    again = load_scenario("llama-2-70b", including=["prices/hyperscaler-2026", "prices/neocloud-2026"])
    assert again == plain


def test_the_run_itself_wins(tmp_path: Path) -> None:
    """What a run states by itself, and settings, stay in force."""
    file = tmp_path / "run.toml"
    file.write_text('title = "Ours"\ninclude = ["runs/llama-2-70b"]\n[inputs]\nmfu = 0.4\n', "utf-8")
    (tmp_path / "ours.toml").write_text("[inputs]\nmfu = 0.5\ntokens = 1e12\n", "utf-8")
    scenario = load_scenario(file, ["inputs.failure_overhead=0.2"], including=["ours"])
    assert (scenario.known["mfu"], scenario.known["tokens"]) == (0.4, 1e12)
    assert scenario.known["failure_overhead"] == 0.2


@pytest.mark.parametrize("name", ["prices/neocloud-2062", "../elsewhere", "run"])
def test_files_that_cannot_be_included(tmp_path: Path, name: str) -> None:
    """A file that is not there, lies outside, or is the run itself, is a fault."""
    file = tmp_path / "folder" / "run.toml"
    file.parent.mkdir()
    file.write_text('title = "Ours"\ninclude = ["runs/llama-2-70b"]\n', "utf-8")
    (tmp_path / "elsewhere.toml").write_text("[inputs]\nmfu = 0.5\n", "utf-8")
    with pytest.raises(PriorFileError) as caught:
        load_scenario(file, including=[name])
    assert f"include {name}" in str(caught.value)
