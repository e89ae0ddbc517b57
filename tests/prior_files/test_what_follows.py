"""What a prior file states without naming an input: architectures, accelerators' facts, prices by kind, choices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from uncertain_botec import PriorFileError, Scenario, dump_scenario, load_scenario, sample, summarize
from uncertain_botec.explain import explain

LLAMA_3_70B = """
[architecture]
layers           = 80
hidden_size      = 8192
attention_heads  = 64
kv_heads         = 8
mlp              = "gated"
mlp_size         = 28672
vocabulary_size  = 128256
tied_embeddings  = false
sequence_length  = 8192
source           = "model card"
as_of            = "2024-04"
"""

LLAMA_3_CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "intermediate_size": 28672,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "max_position_embeddings": 8192,
}

INPUTS = """
[inputs]
tokens           = "15e12 token"
accelerators     = 4096
mfu              = 0.4
"""

RUN = 'title = "A run"\nestimator = "training"\ninclude = ["accelerators/h100-sxm", "prices/neocloud-2026"]\n'
OVERHEAD = 'failure_overhead = "10 %"\n'
FAILURES = """
node_failure_rate      = "0.004 failure/node-day"
accelerators_per_node  = 8
restart_time           = "15 minute"
checkpoint_write_time  = "30 s"
"""
LAYOUT = """
tensor_parallel        = 8
pipeline_parallel      = 4
pipeline_interleave    = 1
sequence_parallel      = 1
micro_batch            = 1
zero_stage             = 1
usable_memory_fraction = 0.9
"""


def load(folder: Path, *parts: str, name: str = "run.toml") -> Scenario:
    """The scenario that the parts state together."""
    file = folder / name
    file.write_text("\n".join(parts), "utf-8")
    return load_scenario(file)


def refused(folder: Path, *parts: str) -> str:
    """What is said of a file that cannot be used."""
    with pytest.raises(PriorFileError) as error:
        load(folder, *parts)
    return str(error.value)


def value(scenario: Scenario, name: str) -> float:
    """A known input in base units."""
    return scenario.inputs[name].distribution.support[0]


def test_an_architecture_gives_the_parameters(tmp_path: Path) -> None:
    """Llama 3 70B's sizes are 70,553,706,496 parameters, with the table's source, and the rule of thumb takes them."""
    scenario = load(tmp_path, RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    assert value(scenario, "parameters") == 70553706496
    assert scenario.inputs["parameters"].about("source") == "model card"
    assert scenario.inputs["parameters"].about("as_of") == "2024-04"
    assert scenario.warnings == ()


def test_a_config_gives_what_the_table_gives(tmp_path: Path) -> None:
    """A Hugging Face config.json beside the prior file counts like the table; its sequence length must be stated."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "config.json").write_text(json.dumps(LLAMA_3_CONFIG))
    exact = 'flop_convention = "exact"\n'
    by_table = load(tmp_path, exact, RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    config = 'architecture = "models/config.json"\n'
    by_config = load(tmp_path, exact, config, RUN, INPUTS, 'sequence_length = "8192 token"\n', OVERHEAD)
    for name in ("matmul_parameters", "attention_width", "attended_tokens"):
        assert value(by_config, name) == value(by_table, name)
    assert "attended_tokens is missing" in refused(tmp_path, exact, config, RUN, INPUTS, OVERHEAD)


def test_a_stated_sequence_length_moves_attention(tmp_path: Path) -> None:
    """Under a causal mask a token attends to (s + 1) / 2 tokens of the stated sequence, not of the table's."""
    exact = 'flop_convention = "exact"\n'
    scenario = load(tmp_path, exact, RUN, LLAMA_3_70B, INPUTS, "sequence_length = 2047\n", OVERHEAD)
    assert value(scenario, "attended_tokens") == 1024
    full = load(tmp_path, exact, 'attention_mask = "full"\n', RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    assert value(full, "attended_tokens") == 8192
    assert full.choices_in_force["attention_mask"] == "full"


CONVENTIONS = {
    # 6 N D; 6 N + 12 L H Q T with T = 8192; the same on matrix products alone; causal attention.
    "6nd": 6 * 70553706496,
    "palm": 6 * 70553706496 + 12 * 80 * 8192 * 8192,
    "megatron": 6 * (70553706496 - 128256 * 8192 - 161 * 8192) + 12 * 80 * 8192 * 8192,
    "exact": 6 * (70553706496 - 128256 * 8192 - 161 * 8192) + 12 * 80 * 8192 * (8193 / 2),
}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_conventions_count_what_they_say(convention: str, tmp_path: Path) -> None:
    """Each named convention's FLOP per token, times the tokens; its name is in every output."""
    scenario = load(tmp_path, f'flop_convention = "{convention}"\n', RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    draws = sample(scenario, 64)
    assert draws["training_flop"].flat[0] == pytest.approx(CONVENTIONS[convention] * 15e12, rel=1e-12)
    summary = summarize(draws)
    assert summary.to_dict()["choices"]["flop_convention"] == convention
    assert f"{convention}:" in str(summary)
    assert explain(scenario).to_dict()["choices"]["flop_convention"] == convention


def test_faults_of_an_architecture_are_all_told(tmp_path: Path) -> None:
    """Wrong keys and contradictions name their place, and nothing that the table would have given is called missing."""
    table = LLAMA_3_70B.replace("kv_heads         = 8", "kv_heads = 7").replace("layers           = 80", "layer = 80")
    said = refused(tmp_path, RUN, table, INPUTS, OVERHEAD)
    assert "$.architecture.layer" in said
    assert "parameters is missing" not in said
    said = refused(tmp_path, RUN, LLAMA_3_70B.replace("kv_heads         = 8", "kv_heads = 7"), INPUTS, OVERHEAD)
    assert "$.architecture.kv_heads" in said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing.json", None, "no such file"),
        ("bad.json", "{", "JSON"),
        ("list.json", "[1]", "$.architecture"),
        ("strange.json", '{"model_type": "mamba"}', "mamba"),
        ("../../etc/passwd", None, "no such file"),
    ],
)
def test_configs_that_cannot_be_used(name: str, text: str | None, said: str, tmp_path: Path) -> None:
    """A configuration that is not there, not JSON, of an unknown type or outside the folder is a fault."""
    if text is not None:
        (tmp_path / name).write_text(text)
    assert said in refused(tmp_path, f'architecture = "{name}"\n', RUN, INPUTS, OVERHEAD)


def test_zero_and_one_layer(tmp_path: Path) -> None:
    """A model without layers is its embeddings and its head; one layer adds exactly one."""
    counts = []
    for layers in (0, 1, 2):
        table = LLAMA_3_70B.replace("layers           = 80", f"layers = {layers}")
        scenario = load(tmp_path, 'flop_convention = "exact"\n', RUN, table, INPUTS, OVERHEAD, name=f"{layers}.toml")
        counts.append(load(tmp_path, RUN, table, INPUTS, OVERHEAD).inputs["parameters"].distribution.support[0])
        assert sample(scenario, 16)["training_time"].flat[0] > 0
    assert counts[0] == 2 * 128256 * 8192 + 8192
    assert counts[2] - counts[1] == counts[1] - counts[0]


def test_every_expert_is_dense(tmp_path: Path) -> None:
    """With top-k = E every expert is active; with one of eight the active count is smaller."""
    table = LLAMA_3_70B.replace("mlp_size         = 28672", "experts = 8\nexperts_per_token = 8\nexpert_size = 3584")
    every = load(tmp_path, RUN, table, INPUTS, OVERHEAD)
    one = load(tmp_path, RUN, table.replace("per_token = 8", "per_token = 1"), INPUTS, OVERHEAD)
    router = 80 * 8192 * 8
    assert value(every, "parameters") == 70553706496 + router
    assert value(every, "parameters") - value(one, "parameters") == 80 * 7 * 3 * 8192 * 3584


def test_a_context_longer_than_the_window(tmp_path: Path) -> None:
    """A window of 512 in every layer: attention no longer grows with the sequence beyond it."""
    window = LLAMA_3_70B.replace("tied_embeddings", "attention_window = 512\nwindowed_layers = 80\ntied_embeddings")
    exact = 'flop_convention = "exact"\n'
    scenario = load(tmp_path, exact, RUN, window, INPUTS, OVERHEAD)
    # w - w (w - 1) / 2 s on average: the first tokens have fewer before them.
    assert value(scenario, "attended_tokens") == pytest.approx(512 - 512 * 511 / (2 * 8192), rel=1e-12)
    longer = load(tmp_path, exact, RUN, window, INPUTS, "sequence_length = 131072\n", OVERHEAD)
    assert value(longer, "attended_tokens") < 512


def test_an_accelerator_states_its_memory_and_power(tmp_path: Path) -> None:
    """Memory and thermal design power come with the accelerator file, under its source; a stated one wins."""
    energy = 'power_ratio = 1.0\npue = 1.0\ngrid_intensity = "400 kg/MWh"\n'
    scenario = load(tmp_path, RUN, LLAMA_3_70B, INPUTS, OVERHEAD, energy)
    assert value(scenario, "thermal_design_power") == 700
    assert "h100-sxm" in str(scenario.inputs["thermal_design_power"].about("note"))
    hours = sample(scenario, 16)["accelerator_hours"].flat[0]
    assert sample(scenario, 16)["energy"].flat[0] == pytest.approx(hours * 0.7 / 1000, rel=1e-9)
    other = load(tmp_path, RUN, LLAMA_3_70B, INPUTS, OVERHEAD, energy, 'thermal_design_power = "350 W"\n')
    assert value(other, "thermal_design_power") == 350


def test_purchases(tmp_path: Path) -> None:
    """Spot, reserved and owned accelerators ask for their own prices and are billed by them alone."""
    head = RUN.replace('"prices/neocloud-2026"', '"prices/neocloud-2026", "prices/spot-2026", "prices/reserved-2026"')
    outputs = {}
    for purchase in ("on-demand", "spot", "reserved"):
        scenario = load(tmp_path, f'purchase = "{purchase}"\n', head, LLAMA_3_70B, INPUTS, OVERHEAD)
        outputs[purchase] = sample(scenario, 1 << 12)
        paid = {name for name in scenario.inputs if name.endswith("price_per_accelerator_hour")}
        prefix = {"on-demand": "", "spot": "spot_", "reserved": "reserved_"}[purchase]
        assert paid == {f"{prefix}price_per_accelerator_hour"}
    assert outputs["spot"]["cost"].mean() < outputs["reserved"]["cost"].mean() < outputs["on-demand"]["cost"].mean()
    said = refused(tmp_path, 'purchase = "owned"\n', head, LLAMA_3_70B, INPUTS, OVERHEAD)
    for name in ("acquisition_price", "hardware_price_decay", "electricity_price"):
        assert f"{name} is missing" in said
    assert 'include = ["ownership/epoch-2024"]' in said


def test_mixed_shares_add_up(tmp_path: Path) -> None:
    """What is not on spot or reserved is on demand; shares of more than one are refused when drawn."""
    head = RUN.replace('"prices/neocloud-2026"', '"prices/neocloud-2026", "prices/spot-2026"')
    parts = ('purchase = "mixed"\n', head, LLAMA_3_70B, INPUTS, OVERHEAD)
    draws = sample(load(tmp_path, *parts, "spot_share = 0.25\n"), 1 << 10)
    rest = draws.values["accelerator_hours"] * 0.75 * draws.values["price_per_accelerator_hour"]
    assert draws.values["rental_cost"] == pytest.approx(rest, rel=1e-12)
    assert draws.values["rental_cost"] + draws.values["spot_cost"] == pytest.approx(draws.values["cost"], rel=1e-12)


def test_failures_in_place_of_an_overhead(tmp_path: Path) -> None:
    """A failure rate asks for what goes with it, and names the shipped files that state it."""
    rate = 'node_failure_rate = "0.004 failure/node-day"\n'
    said = refused(tmp_path, RUN, LLAMA_3_70B, INPUTS, rate)
    assert "accelerators_per_node is missing" in said
    assert "reliability/datacenter-8gpu-nodes" in said
    scenario = load(tmp_path, RUN, LLAMA_3_70B, INPUTS, FAILURES)
    assert {"goodput", "cluster_mtbf", "interruptions"} <= {*scenario.plan.outputs}
    both = load(tmp_path, RUN, LLAMA_3_70B, INPUTS, FAILURES, OVERHEAD)
    assert any("restart_time is stated but not used: failure_overhead is stated," in line for line in both.warnings)


def test_memory_asks_for_its_layout(tmp_path: Path) -> None:
    """An optimizer opens the memory section, which asks for the layout; with it the run fits or does not."""
    adam = 'optimizer = "adam"\nrecompute = "selective"\n'
    said = refused(tmp_path, adam, RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    for name in ("tensor_parallel", "pipeline_parallel", "zero_stage", "micro_batch", "usable_memory_fraction"):
        assert f"{name} is missing" in said
    assert 'state recompute = "none|selective|full"' in refused(
        tmp_path, 'optimizer = "adam"\n', RUN, LLAMA_3_70B, INPUTS, OVERHEAD
    )
    scenario = load(tmp_path, adam, RUN, LLAMA_3_70B, INPUTS, OVERHEAD, LAYOUT)
    summary = summarize(sample(scenario, 64))
    assert summary.limits["memory"].probability == 1
    # 16 bytes of 70.55e9 parameters: 4 on 32 accelerators, 12 on all 4096; activations s b (10 h + 2 w) L / t, where
    # w = 104448: 8,192 each of queries and output, 1,024 each of keys and values, three times 28,672 in the gated MLP.
    states = 70553706496 * (4 / 32 + 12 / 4096)
    width = 2 * 8192 + 2 * 1024 + 3 * 28672
    needed = states + 8192 * (10 * 8192 + 2 * width) * 80 / 8 + 4 * 8192 * 128256 / 8
    assert summary.outputs["memory_per_accelerator"].p50 == pytest.approx(needed / 1e9, rel=1e-12)
    small = load(tmp_path, adam, RUN, LLAMA_3_70B, INPUTS, OVERHEAD, LAYOUT, 'accelerator_memory = "24 GB"\n')
    said = str(summarize(sample(small, 64)))
    assert "does not fit" in said
    assert "no number of accelerators" in said


def test_everything_dumped_is_loaded_again(tmp_path: Path) -> None:
    """A scenario with an architecture, choices, failures and memory is equal to what its dump loads to."""
    head = (
        'flop_convention = "exact"\noptimizer = "adam"\nrecompute = "full"\nfailures = "simulated"\npurchase = "spot"\n'
    )
    run = RUN.replace("neocloud-2026", "spot-2026")
    scenario = load(tmp_path, head, run, LLAMA_3_70B, INPUTS, FAILURES, LAYOUT)
    again = tmp_path / "again.toml"
    again.write_text(dump_scenario(scenario), "utf-8")
    loaded = load_scenario(again)
    assert loaded == scenario
    assert loaded.plan == scenario.plan
    assert sample(loaded, 256)["cost"].tolist() == sample(scenario, 256)["cost"].tolist()


@pytest.mark.parametrize("choice", ["flop_convention", "recompute", "failures", "purchase", "optimizer"])
def test_unknown_words_of_a_choice(choice: str, tmp_path: Path) -> None:
    """A word that a choice does not have is a fault with the words it has."""
    said = refused(tmp_path, f'{choice} = "nonsense"\n', RUN, LLAMA_3_70B, INPUTS, OVERHEAD)
    assert f"$.{choice}" in said
    assert "nonsense" in said


def test_toy_network() -> None:
    """The shipped toy: 13 parameters, 18 FLOP forward, 54 in training, by hand and by the program."""
    values = {step.output.name: step.output.value for step in explain(load_scenario("toy-network-2-3-1")).steps}
    assert (values["network_parameters"], values["forward_flop"], values["example_flop"]) == (13, 18, 54)


def test_toy_network_without_biases(tmp_path: Path) -> None:
    """Without biases each neuron lacks a sum: 14 FLOP."""
    table = "[architecture]\nlayer_sizes = [2, 3, 1]\nbiases = false\n"
    scenario = load(tmp_path, 'title = "Toy"\nestimator = "network"\n', table)
    outputs = summarize(sample(scenario, 16)).outputs
    assert outputs["forward_flop"].p50 == 14
    assert outputs["network_parameters"].p50 == 9


def test_chinchilla() -> None:
    """The shipped budget of 5.88e23 FLOP: 7.302e10 parameters, 18.4 tokens for each."""
    outputs = summarize(sample(load_scenario("chinchilla-70b-budget"), 16)).outputs
    assert outputs["optimal_parameters"].p50 == pytest.approx(7.302e10, rel=1e-3)
    assert outputs["tokens_per_parameter"].p50 == pytest.approx(18.4, abs=0.05)
