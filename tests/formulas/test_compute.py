"""FLOP conventions against published counts, and recomputation against the Megatron papers."""

from __future__ import annotations

import pytest

from uncertain_botec.formulas import compute

# h, l, GPUs, batch, TFLOP/s per GPU, parameters in billions: Narayanan et al. 2021, arXiv 2104.04473, table 1.
MEGATRON = [
    (2304, 24, 1.7),
    (6144, 40, 18.4),
    (12288, 80, 145.6),
    (25600, 128, 1008.0),
]
V, S = 51200, 2048


def matmul(h: int, layers: int) -> float:
    """Weights in matrix products of a GPT: 12 l h^2 + V h."""
    return 12 * layers * h**2 + V * h


def by_token(h: int, layers: int) -> tuple[float, float]:
    """FLOP of the weights and of attention for one token, megatron convention."""
    return (
        compute.weight_flop_of_matrix_products(matmul(h, layers)),
        compute.attention_flop_per_token(layers * h, S),
    )


def test_gpt3() -> None:
    """GPT-3: 174.6e9 parameters, 300e9 tokens, 3.14e23 FLOP (arXiv 2005.14165, table D.1), and the tokens back."""
    assert compute.training_flop(174.6e9, 300e9) == pytest.approx(3.14e23, rel=2e-3)
    assert compute.tokens(3.14e23, 174.6e9) == pytest.approx(299.7e9, rel=1e-3)


def test_palm_utilisation() -> None:
    """PaLM 540B: 238.3e3 tokens/s on 6,144 chips of 275e12 FLOP/s are an MFU of 46.2 % (arXiv 2204.02311, table 3)."""
    weights = compute.weight_flop_of_all_parameters(540.35e9)
    attention = compute.attention_flop_per_token(118 * 48 * 256, 2048)
    flop = compute.training_flop_by_token(weights, attention, 238.3e3)
    assert flop / (6144 * 275e12) == pytest.approx(0.462, abs=5e-4)


@pytest.mark.parametrize(("h", "layers", "billions"), MEGATRON)
def test_megatron_iteration(h: int, layers: int, billions: float) -> None:
    """By token, 72 l h^2 (1 + s/6h + V/12lh) without recompute and 96 l h^2 (1 + s/6h + V/16lh) with all of it."""
    weights, attention = by_token(h, layers)
    model = 72 * layers * h**2 * (1 + S / (6 * h) + V / (12 * layers * h))
    assert weights + attention == pytest.approx(model, rel=1e-12)
    again = compute.recomputed_flop_in_full(weights, attention, V * h, matmul(h, layers))
    full = 96 * layers * h**2 * (1 + S / (6 * h) + V / (16 * layers * h))
    assert weights + attention + again == pytest.approx(full, rel=1e-12)
    parameters = 12 * layers * h**2 * (1 + 13 / (12 * h) + (V + S) / (12 * layers * h))
    assert parameters / 1e9 == pytest.approx(billions, abs=0.06 if billions < 1000 else 0.6)


@pytest.mark.parametrize(
    ("parameters", "tokens", "accelerators", "achieved", "days"),
    [(175e9, 300e9, 1024, 140e12, 34), (1008e9, 450e9, 3072, 163e12, 84)],
)
def test_megatron_days(parameters: float, tokens: float, accelerators: int, achieved: float, days: int) -> None:
    """Full recompute by the rule of thumb: 8 T P / (n X) is 34 days for 175B and 84 for 1008B (arXiv 2104.04473)."""
    again = compute.recomputed_flop_by_rule_of_thumb(compute.weight_flop_of_all_parameters(parameters))
    flop = compute.hardware_flop(compute.training_flop(parameters, tokens), again, tokens)
    assert flop == pytest.approx(8 * parameters * tokens, rel=1e-12)
    assert flop / (accelerators * achieved) / 86400 == pytest.approx(days, abs=0.5)


def test_selective_recompute_as_published() -> None:
    """175B on 64 A100 at 13.75 s per iteration: MFU 51.4 %, HFU 52.8 % (arXiv 2205.05198, table 5)."""
    h, layers, batch = 12288, 96, 64
    weights, attention = by_token(h, layers)
    tokens = batch * S
    model = compute.training_flop_by_token(weights, attention, tokens)
    hardware = compute.hardware_flop(model, compute.recomputed_flop_as_published(attention), tokens)
    peak = 64 * 312e12 * 13.75
    mfu = model / peak
    assert mfu == pytest.approx(0.514, abs=5e-4)
    assert compute.hfu(mfu, hardware, model) == pytest.approx(0.528, abs=5e-4)
    # Counted as what is really executed again, the forward pass alone, it is 51.9 %.
    own = compute.hardware_flop(model, compute.recomputed_flop_of_attention(attention), tokens)
    assert compute.hfu(mfu, own, model) == pytest.approx(0.5185, abs=5e-4)


def test_nanogpt_sizing() -> None:
    """12 layers, h = 768, V = 50257, T = 1024: forward 291648307200, training 874944921600, PaLM 875062886400 FLOP."""
    h, layers, vocabulary, length = 768, 12, 50257, 1024
    weights = compute.weight_flop_of_matrix_products(12 * layers * h**2 + vocabulary * h)
    attention = compute.attention_flop_per_token(layers * h, length)
    assert (weights + attention) * length / 3 == 291648307200
    assert compute.training_flop_by_token(weights, attention, length) == 874944921600
    # PaLM's rule on all parameters but the position embedding, which nanoGPT leaves out: 124337664 - 1024 x 768.
    palm = compute.weight_flop_of_all_parameters(124337664 - length * h)
    assert compute.training_flop_by_token(palm, attention, length) == 875062886400
