"""Inputs that do not go together: each is a fault or a warning, never a number that quietly means something else."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from uncertain_botec import PriorFileError, Scenario, load_scenario, sample, summarize
from uncertain_botec.explain import explain

HEAD = """
title     = "A run"
estimator = "training"
include   = ["accelerators/h100-sxm", "prices/neocloud-2026", "prices/spot-2026", "prices/reserved-2026"]
"""
INPUTS = """
[inputs]
parameters       = 7e9
tokens           = "1e12 token"
accelerators     = 256
mfu              = 0.4
"""
OVERHEAD = 'failure_overhead = "10 %"\n'
MODEL = """
[architecture]
layers           = 32
hidden_size      = 4096
attention_heads  = 32
mlp              = "gated"
experts          = 8
experts_per_token = 2
expert_size      = 11008
vocabulary_size  = 32000
tied_embeddings  = false
sequence_length  = 4096
"""
LAYOUT = """
[inputs]
tokens                 = "1e12 token"
accelerators           = 256
mfu                    = 0.4
failure_overhead       = "10 %"
tensor_parallel        = 4
pipeline_parallel      = 2
pipeline_interleave    = 1
sequence_parallel      = 1
micro_batch            = 1
zero_stage             = 1
usable_memory_fraction = 0.9
"""
MEMORY = 'optimizer = "adam"\nrecompute = "selective"\n'
FAILURES = """
node_failure_rate      = "0.004 failure/node-day"
accelerators_per_node  = 8
restart_time           = "15 minute"
checkpoint_write_time  = "30 s"
"""


def load(folder: Path, *parts: str) -> Scenario:
    """The scenario that the parts state together."""
    file = folder / "run.toml"
    file.write_text("\n".join(parts), "utf-8")
    return load_scenario(file)


def refused(folder: Path, *parts: str) -> str:
    """What is said of a file that cannot be used."""
    with pytest.raises(PriorFileError) as error:
        load(folder, *parts)
    return str(error.value)


@pytest.mark.parametrize("purchase", ["on-demand", "spot", "reserved", "owned"])
@pytest.mark.parametrize("share", ["on_demand_share", "spot_share", "reserved_share", "owned_share"])
def test_shares_belong_to_a_mixed_purchase(purchase: str, share: str, tmp_path: Path) -> None:
    """A share beside any other purchase would bill a part of the cluster twice or not at all."""
    said = refused(tmp_path, f'purchase = "{purchase}"', HEAD, INPUTS, OVERHEAD, f"{share} = 0.5")
    assert f"$.inputs.{share}: a share is stated" in said
    assert 'purchase = "mixed"' in said


@pytest.mark.parametrize(
    "shares",
    [
        "spot_share = 0.8\nreserved_share = 0.4",
        'spot_share = { family = "uniform", low = 0, high = 0.5 }\nreserved_share = 0.7',
    ],
)
def test_shares_of_more_than_all(shares: str, tmp_path: Path) -> None:
    """Shares that can add up to more than one are refused by name when the file is read."""
    said = refused(tmp_path, 'purchase = "mixed"', HEAD, INPUTS, OVERHEAD, shares)
    assert "the shares can add up to more than all accelerators" in said
    assert "spot_share up to" in said


def test_a_mixed_purchase_without_shares(tmp_path: Path) -> None:
    """It asks for a share, and for nothing else."""
    said = refused(tmp_path, 'purchase = "mixed"', HEAD, INPUTS, OVERHEAD)
    assert "a mixed purchase has shares" in said
    assert "rental_cost" not in said


def test_a_purchase_without_its_price_asks_for_that_price(tmp_path: Path) -> None:
    """Spot without a spot price asks for the spot price, not for another share."""
    head = HEAD.replace(', "prices/spot-2026", "prices/reserved-2026"', "")
    said = refused(tmp_path, 'purchase = "spot"', head, INPUTS, OVERHEAD)
    assert "spot_price_per_accelerator_hour is missing" in said
    assert "on_demand_share" not in said


BAD_LAYOUTS = [
    ("accelerators           = 256", "accelerators = 4", "one replica of this layout takes 8 accelerators"),
    ("pipeline_parallel      = 2", "pipeline_parallel = 64", "more pipeline stages than layers"),
    ("zero_stage             = 1", "zero_stage = 1\nexpert_parallel = 3", "multiple of the other"),
    ("zero_stage             = 1", "zero_stage = 1\nexpert_parallel = 16", "cannot be shared out evenly"),
    ("zero_stage             = 1", "zero_stage = 1.5", "$.inputs.zero_stage"),
    ("sequence_parallel      = 1", "sequence_parallel = 0.5", "$.inputs.sequence_parallel"),
    ("tensor_parallel        = 4", "tensor_parallel = 2.5", "$.inputs.tensor_parallel"),
    ("micro_batch            = 1", 'micro_batch = { family = "uniform", low = 1, high = 4 }', "$.inputs.micro_batch"),
    ("zero_stage             = 1", 'zero_stage = 1\nsequence_length = "4096.5 token"', "one sequence length"),
    (
        "zero_stage             = 1",
        'zero_stage = 1\nsequence_length = { family = "choice", values = ["4096 token", "8192 token"] }',
        "one sequence length",
    ),
    (
        "zero_stage             = 1",
        "zero_stage = 1\nexpert_parallel = 4\nexpert_parameters = 1e12",
        "more parameters than the whole model",
    ),
]


@pytest.mark.parametrize(("before", "after", "said"), BAD_LAYOUTS, ids=[case[1] for case in BAD_LAYOUTS])
def test_layouts_that_cannot_be(before: str, after: str, said: str, tmp_path: Path) -> None:
    """Each is refused when the file is read; the layout before the change is fine."""
    assert load(tmp_path, MEMORY, HEAD, MODEL, LAYOUT).warnings == ()
    assert said in refused(tmp_path, MEMORY, HEAD, MODEL, LAYOUT.replace(before, after))


def test_a_count_of_another_model(tmp_path: Path) -> None:
    """A stated count far from the architecture's wins, with a warning of what does not follow it."""
    scenario = load(tmp_path, MEMORY, HEAD, MODEL, LAYOUT, "total_parameters = 1e9")
    assert any("total_parameters is stated as 1e+09" in line for line in scenario.warnings)


def test_an_architecture_for_another_estimator(tmp_path: Path) -> None:
    """A toy network under `training` and a transformer under `network` are refused."""
    said = refused(tmp_path, HEAD, "[architecture]\nlayer_sizes = [2, 3, 1]", INPUTS, OVERHEAD)
    assert "a fully connected network is not what this estimator is for" in said
    said = refused(tmp_path, 'title = "A"\nestimator = "network"\n', MODEL)
    assert "a transformer is not what this estimator is for" in said


@pytest.mark.parametrize(
    "choice", ['failures = "simulated"', 'checkpointing = "young"', 'attention_kernel = "unfused"', 'optimizer = "sgd"']
)
def test_choices_in_vain(choice: str, tmp_path: Path) -> None:
    """A choice that changes nothing is warned of, or asks for what would make it count."""
    if choice.startswith("optimizer"):
        assert "tensor_parallel is missing" in refused(tmp_path, choice, HEAD, INPUTS, OVERHEAD)
        return
    name = choice.partition(" ")[0]
    scenario = load(tmp_path, choice, HEAD, INPUTS, OVERHEAD)
    assert any(f"{name} is stated but has no effect" in line for line in scenario.warnings)


def test_limits_and_outcomes_in_vain(tmp_path: Path) -> None:
    """A limit or an outcome of what is not computed is warned of."""
    network = 'title = "A"\nestimator = "network"\n[architecture]\nlayer_sizes = [2, 1]\n[limits]\nbudget = "5 USD"\n'
    assert any("limits.budget is not looked at" in line for line in load(tmp_path, network).warnings)
    scenario = load(tmp_path, HEAD, INPUTS, OVERHEAD, "[observed]\nhfu = 0.5\n")
    assert any("observed.hfu is not looked at" in line for line in scenario.warnings)


def test_what_nobody_stated_is_noted(tmp_path: Path) -> None:
    """Repairs without spares, spot without preemptions and failures beside a stated overhead are told."""
    repair = 'repair_time = "24 hour"\n'
    assert any("spare_nodes is not stated" in line for line in load(tmp_path, HEAD, INPUTS, FAILURES, repair).notes)
    spot = load(tmp_path, 'purchase = "spot"', HEAD, INPUTS, FAILURES)
    assert any("preemption_rate is not stated" in line for line in spot.notes)
    rate = 'node_failure_rate = "0.004 failure/node-day"\naccelerators_per_node = 8\n'
    both = load(tmp_path, HEAD, INPUTS, OVERHEAD, rate)
    assert any("do not enter the time" in line for line in both.notes)


def test_storage_is_billed_only_where_something_is_stored(tmp_path: Path) -> None:
    """A price without bytes gives no line of zero, but a warning."""
    scenario = load(tmp_path, HEAD, INPUTS, OVERHEAD, 'storage_price = "0.02 USD/GB-month"')
    assert "storage_cost" not in scenario.plan.outputs
    assert any("storage_price is stated but not used" in line for line in scenario.warnings)


def test_experiments_are_not_reckoned_from_an_unused_commitment(tmp_path: Path) -> None:
    """As much again in experiments doubles the run's use, not the year that is paid."""
    parts = ('purchase = "reserved"', HEAD, INPUTS, OVERHEAD, 'commitment = "365 day"')
    alone = sample(load(tmp_path, *parts), 256)
    both = sample(load(tmp_path, *parts, "experiment_ratio = 1.0"), 256)
    used = alone.values["accelerator_hours"] * alone.values["reserved_price_per_accelerator_hour"]
    assert both.values["experiments_cost"] == pytest.approx(used, rel=1e-12)
    assert both.values["cost"] - alone.values["cost"] == pytest.approx(used, rel=1e-9)


def test_a_setting_inside_the_architecture_leaves_its_other_keys(tmp_path: Path) -> None:
    """`--set architecture.layers=16` halves the layers of the table that is there."""
    load(tmp_path, HEAD, MODEL, LAYOUT)
    whole, half = (load_scenario(tmp_path / "run.toml", setting) for setting in ((), ["architecture.layers=16"]))
    counts = [one.inputs["parameters"].distribution.support[0] for one in (whole, half)]
    assert counts[1] - 262148096 == pytest.approx((counts[0] - 262148096) / 2, rel=1e-9)


def test_explanations_of_what_never_ends_are_json(tmp_path: Path) -> None:
    """An infinite time is null in the explanation's JSON."""
    endless = FAILURES.replace('"0.004 failure', '"1e6 failure')
    document = explain(load(tmp_path, HEAD, INPUTS, endless)).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False))["steps"]
    assert any(step["output"]["value"] is None for step in document["steps"])


def test_equations_without_what_nobody_stated(tmp_path: Path) -> None:
    """Terms that are not there are not shown, nor the brackets around what is left."""
    steps = {step.output.name: step.equation for step in explain(load(tmp_path, HEAD, INPUTS, FAILURES)).steps}
    assert steps["cluster_mtbf"] == "1 / (nodes * node_failure_rate)"
    assert steps["failure_overhead"] == "running_time / stepping_time - 1"


def test_outcomes_say_of_what(tmp_path: Path) -> None:
    """An observed value is named after its output."""
    scenario = load(tmp_path, HEAD, INPUTS, OVERHEAD, '[observed]\ntraining_time = "10 day"\n')
    assert "Observed training time" in str(summarize(sample(scenario, 64)))


def test_idle_time_alone_names_no_spares(tmp_path: Path) -> None:
    """With idle time and no spares, the idle line's equation has no spares in it."""
    steps = {
        step.output.name: step for step in explain(load(tmp_path, HEAD, INPUTS, OVERHEAD, 'idle_time = "3 day"')).steps
    }
    assert "spare" not in steps["idle_cost"].equation
    assert math.isfinite(steps["idle_cost"].output.value)
