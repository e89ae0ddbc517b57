"""What a prior file chooses by name rather than by number, and what those names stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Choice:
    """A key of a prior file whose value is one of a few words.

    Attributes:
        name: the key.
        options: the words, each with what it means.
        default: the word that counts where none is stated, or None where the choice is then simply not made.
        meaning: one line for people.
    """

    name: str
    options: Mapping[str, str]
    default: str | None
    meaning: str


_CHOICES = (
    Choice(
        "flop_convention",
        {
            "6nd": "6 N D: every active parameter, no attention scores",
            "palm": "6 N + 12 L H Q T by token: every active parameter, attention under a full mask",
            "megatron": "matrix products and attention under a full mask, as in the Megatron papers",
            "exact": "matrix products, and attention layer by layer under the mask that is really there",
        },
        "6nd",
        "how model FLOP are counted",
    ),
    Choice(
        "attention_mask",
        {"full": "every token attends to the whole sequence", "causal": "tokens attend to those before them"},
        None,
        "which attention scores count (exact: causal unless stated; palm and megatron: full unless stated)",
    ),
    Choice(
        "recompute",
        {
            "none": "activations are kept",
            "selective": "attention is computed again in the backward pass",
            "full": "every layer is computed again in the backward pass",
        },
        None,
        "which activations are recomputed",
    ),
    Choice(
        "attention_kernel",
        {"fused": "scores are never stored (FlashAttention)", "unfused": "scores are stored"},
        "fused",
        "whether attention scores take memory",
    ),
    Choice(
        "optimizer",
        {
            "adam": "mixed precision: fp32 copy and two fp32 moments",
            "adam-fp32-gradients": "mixed precision with gradients in fp32 besides: fp32 copy and two fp32 moments",
            "adam-8bit": "fp32 copy and two 8-bit moments",
            "sgd": "fp32 copy and fp32 momentum",
            "muon": "fp32 copy and fp32 momentum; embeddings, which stay with Adam, not counted apart",
        },
        None,
        "which optimizer's states take memory",
    ),
    Choice(
        "checkpointing",
        {"young": "Young's interval, to first order", "daly": "Daly's interval, to higher order"},
        "daly",
        "how often checkpoints are written, where checkpoint_interval is not stated",
    ),
    Choice(
        "failures",
        {
            "expected": "the expected time that failures take",
            "simulated": "the time they take in one run, drawn at random: luck besides uncertainty",
        },
        "expected",
        "how failures enter",
    ),
    Choice(
        "purchase",
        {
            "on-demand": "all accelerators rented on demand",
            "spot": "all on spot",
            "reserved": "all under a commitment",
            "owned": "all owned",
            "mixed": "spot_share, reserved_share and owned_share as stated, the rest on demand",
        },
        "on-demand",
        "how accelerators are paid for",
    ),
    Choice(
        "scaling",
        {
            "peak": "the fleet for the peak is held and paid for all the time",
            "mean": "the fleet follows its load, and its mean is paid for",
        },
        "peak",
        "which fleet of a service is paid for",
    ),
)

CHOICES: Mapping[str, Choice] = MappingProxyType({choice.name: choice for choice in _CHOICES})

# What a choice states about inputs, in base units (bytes per parameter, fractions).
# Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1 (Adam); Dettmers et al. 2022, arXiv 2110.02861 (8-bit moments).
_STATES: Mapping[tuple[str, str], Mapping[str, float]] = MappingProxyType(
    {
        ("optimizer", name): {
            "weight_bytes_per_parameter": 2.0,
            "gradient_bytes_per_parameter": gradient,
            "optimizer_bytes_per_parameter": states,
        }
        for name, gradient, states in (
            ("adam", 2.0, 12.0),
            ("adam-fp32-gradients", 4.0, 12.0),
            ("adam-8bit", 2.0, 6.0),
            ("sgd", 2.0, 8.0),
            ("muon", 2.0, 8.0),
        )
    }
    | {
        ("purchase", word): {share: 1.0}
        for word, share in (
            ("on-demand", "on_demand_share"),
            ("spot", "spot_share"),
            ("reserved", "reserved_share"),
            ("owned", "owned_share"),
        )
    }
)


def resolved(stated: Mapping[str, str]) -> dict[str, str]:
    """Every choice that is made: as stated, or by default."""
    made = {name: word for name, choice in CHOICES.items() if (word := stated.get(name, choice.default)) is not None}
    exact = made["flop_convention"] == "exact"
    return {"attention_mask": "causal" if exact else "full"} | made


def stated_by(choice: str, word: str) -> Mapping[str, float]:
    """The inputs that a choice states, in base units."""
    return _STATES.get((choice, word), {})
