"""Counts against published ones: parameters to the last unit, active parameters and FLOP as printed."""

from __future__ import annotations

from typing import Any

import pytest
from published_configs import CONFIGS

from uncertain_botec.architecture.config import from_config
from uncertain_botec.architecture.network import Network
from uncertain_botec.architecture.table import from_table
from uncertain_botec.architecture.transformer import Transformer


def _counted(**table: Any) -> dict[str, float]:
    model = from_table(table)
    assert isinstance(model, Transformer)
    return model.quantities("full")


@pytest.mark.parametrize("name", CONFIGS)
def test_total_parameters(name: str) -> None:
    """A published configuration gives the published count of parameters exactly."""
    config, total = CONFIGS[name]
    model = from_config(config)
    assert model.quantities("causal")["total_parameters"] == total
    assert sum(row.parameters for row in model.components()) == total


@pytest.mark.parametrize(
    ("name", "printed", "quantity"),
    [
        ("Mixtral-8x7B", "12.9", "parameters"),  # announcement of 2023-12; 13B in arXiv 2401.04088
        ("Mixtral-8x22B", "39", "parameters"),  # announcement of 2024-04
        ("DeepSeek-V2", "21", "parameters"),  # arXiv 2405.04434, abstract
        ("DeepSeek-V3", "37", "parameters"),  # arXiv 2412.19437, abstract
        ("Qwen1.5-MoE-A2.7B", "2.7", "parameters"),  # its name
        ("Qwen3-30B-A3B", "3.3", "parameters"),  # its model card
        ("Qwen3-235B-A22B", "22", "parameters"),  # its name
        ("gpt-oss-20B", "3.61", "matmul_parameters"),  # arXiv 2508.10925, table 1: with the head, without embedding
        ("gpt-oss-120B", "5.13", "matmul_parameters"),  # the same
    ],
)
def test_active_parameters(name: str, printed: str, quantity: str) -> None:
    """Active parameters are those published, which some round and some cut: off by less than one in the last digit."""
    value = from_config(CONFIGS[name][0]).quantities("causal")[quantity]
    assert abs(value / 1e9 - float(printed)) < 10.0 ** -len(printed.partition(".")[2])


def test_language_part_of_a_model_that_sees() -> None:
    """Gemma 3 4B: 4300079472 parameters less 416866032 of its image encoder and 2950272 that connect the two."""
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    config = {"model_type": "gemma3", "text_config": text | {"sliding_window": 1024}, "vision_config": {}}
    assert from_config(config).quantities("causal")["total_parameters"] == 4300079472 - 416866032 - 2950272


NANO_GPT = {"layers": 12, "hidden_size": 768, "attention_heads": 12, "mlp": "plain", "mlp_size": 3072} | {
    "vocabulary_size": 50257,
    "sequence_length": 1024,
    "learned_positions": 1024,
    "tied_embeddings": True,
}


def test_nano_gpt_sizing() -> None:
    """nanoGPT's sizing notebook: 124337664 parameters, 291648307200 FLOP forward for a sequence of 1,024 tokens."""
    values = _counted(**NANO_GPT)
    assert values["total_parameters"] == 124337664
    token = 2 * values["matmul_parameters"] + 4 * values["attention_width"] * values["attended_tokens"]
    assert 1024 * token == 291648307200


def test_gpt2_adds_biases_and_shifts() -> None:
    """GPT-2 small is nanoGPT's sizing with a bias at every matrix and a shift at every norm: 124439808."""
    assert _counted(**NANO_GPT, biases="all", norm="layer")["total_parameters"] == 124439808


def test_palm_540b() -> None:
    """PaLM 540B: 540.35e9 parameters (arXiv 2204.02311, table 1), one key and value head, parallel blocks, tied."""
    values = _counted(
        layers=118,
        hidden_size=18432,
        attention_heads=48,
        kv_heads=1,
        head_size=256,
        mlp="gated",
        mlp_size=73728,
        vocabulary_size=256000,
        tied_embeddings=True,
        norms_per_layer=1,
    )
    assert values["total_parameters"] == pytest.approx(540.35e9, abs=0.01e9)
    assert values["attention_width"] == 118 * 48 * 256


def test_gpt3() -> None:
    """GPT-3: 174,600 million parameters (arXiv 2005.14165, table D.1)."""
    sizes = {"layers": 96, "hidden_size": 12288, "attention_heads": 96, "mlp": "plain", "mlp_size": 49152}
    more = {"vocabulary_size": 50257, "learned_positions": 2048, "tied_embeddings": True}
    values = _counted(**sizes, **more, norm="layer", biases="all")
    assert values["total_parameters"] == pytest.approx(174600e6, abs=50e6)


def test_deepseek_v3_components() -> None:
    """DeepSeek-V3: 58 layers with 256 experts hold 653908770816 of its parameters, of which 8 experts are active."""
    model = from_config(CONFIGS["DeepSeek-V3"][0])
    rows = {row.name: row for row in model.components()}
    assert rows["experts"].parameters == 653908770816 == model.quantities("causal")["expert_parameters"]
    assert rows["experts"].active_parameters * 32 == rows["experts"].parameters
    assert (rows["experts"].times, rows["MLP"].times, rows["attention"].times) == (58 * 256, 3, 61)
    assert rows["attention"].parameters == 61 * (187105280 + 1536 + 512)


@pytest.mark.parametrize(
    ("name", "windowed", "of"), [("Gemma-2-2B", 13, 26), ("Gemma-3-1B", 22, 26), ("gpt-oss-20B", 12, 24)]
)
def test_layers_with_a_window(name: str, windowed: int, of: int) -> None:
    """Gemma 2 and gpt-oss have a window in every other layer, Gemma 3 in five of six."""
    groups = from_config(CONFIGS[name][0]).groups
    assert sum(group.layers for group in groups if group.attention.window) == windowed
    assert sum(group.layers for group in groups) == of


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("BLOOM", 12 * 14336),  # a layer of GPT: 4 h of attention, 8 h of the MLP (arXiv 2205.05198, section 4.1)
        ("Llama-3-70B", 2 * 8192 + 2 * 1024 + 3 * 28672),
        ("Qwen3-8B", 2 * 4096 + 2 * 1024 + (4096 + 1024) + 3 * 12288),  # queries and keys before their norms, too
        ("Mixtral-8x7B", 2 * 4096 + 2 * 1024 + 2 * (3 * 14336 + 2 * 4096)),
        ("Qwen1.5-MoE-A2.7B", 4 * 2048 + 4 * (3 * 1408 + 2 * 2048) + 3 * 5632 + 2048),  # a gated shared expert
        ("DeepSeek-V3", 86016 + (3 * 55296 + 58 * 169984) / 61),  # 86016 = 128 (2 x 192 + 2 x 128) + 2 (1536 + 512)
    ],
)
def test_width_of_activations(name: str, width: float) -> None:
    """Numbers that a layer keeps for a token, added up by hand from the published sizes."""
    found = from_config(CONFIGS[name][0]).quantities("causal")["activation_width"]
    assert found == pytest.approx(width, rel=1e-15)


def test_small_network() -> None:
    """2-3-1 has 9 weights, 4 neurons and 4 biases, and without biases none."""
    assert Network((2, 3, 1)).quantities() == {"weights": 9, "biases": 4, "neurons": 4}
    assert Network((2, 3, 1), biases=False).quantities()["biases"] == 0


def test_image_classifier() -> None:
    """784-300-100-10: 266610 parameters, as summed by hand in textbooks: 235500 + 30100 + 1010."""
    values = Network((784, 300, 100, 10)).quantities()
    assert values["weights"] + values["biases"] == 266610
    assert values["neurons"] == 410
