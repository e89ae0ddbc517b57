"""How a configuration's keys are asked for what differs between model types: heads, windows, MLPs and norms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from uncertain_botec.architecture.layers import Experts, Mlp
from uncertain_botec.architecture.reading import Reader
from uncertain_botec.architecture.shape import MOST_LAYERS

Windows = list[int | None]


def as_many_as_heads(read: Reader) -> int:
    """Multi-head attention."""
    return read.heads


def grouped_heads(read: Reader) -> int:
    """As many as stated, or as query heads."""
    return read.size("num_key_value_heads", absent=read.heads)


def stated_heads(read: Reader) -> int:
    """As many as stated."""
    return read.size("num_key_value_heads")


def falcon_heads(read: Reader) -> int:
    """One for all query heads, unless the newer or the older way is asked for."""
    if read.flag("new_decoder_architecture", absent=False):
        return read.size("num_kv_heads", absent=read.heads)
    return 1 if read.flag("multi_query", absent=True) else read.heads


def even(read: Reader) -> int:
    """The hidden size shared out among the heads."""
    return read.even_head_size()


def stated_or_even(read: Reader) -> int:
    """As stated, or the hidden size shared out among the heads."""
    return read.size("head_dim") if read.has("head_dim") else read.even_head_size()


def stated(read: Reader) -> int:
    """As stated."""
    return read.size("head_dim")


def no_windows(read: Reader) -> Windows:
    """Every layer attends to everything."""
    return [None] * read.layers


def same_window(read: Reader) -> Windows:
    """All layers have the window, if there is one."""
    return _windows(read, lambda _: True)


def switched_window(read: Reader) -> Windows:
    """All layers have the window, if it is switched on."""
    return same_window(read) if read.flag("use_sliding_window", absent=False) else no_windows(read)


def upper_windows(read: Reader) -> Windows:
    """The layers from a given one upwards have the window, if it is switched on."""
    if not read.flag("use_sliding_window", absent=False):
        return no_windows(read)
    first = read.size("max_window_layers", low=0)
    return _windows(read, lambda layer: layer >= first)


def alternating(period: int, key: str = "") -> Callable[[Reader], Windows]:
    """All layers have the window but every n-th, the last of its period."""

    def windows(read: Reader) -> Windows:
        every = read.size(key, absent=period) if key else period
        return _windows(read, lambda layer: (layer + 1) % every != 0)

    return windows


def _windows(read: Reader, windowed: Callable[[int], bool]) -> Windows:
    """Windows by a list of layer types where there is one, else by rule."""
    types = read.value("layer_types")
    layers = [windowed(layer) for layer in range(read.layers)]
    if types is not None and read.sound("num_hidden_layers"):
        words = ("full_attention", "sliding_attention")
        if not isinstance(types, list) or len(types) != read.layers or not all(word in words for word in types):
            expected = f"{read.layers} times full_attention or sliding_attention"
            read.fault("layer_types", "this is not a list of the layers' attention", expected, "correct it", types)
        else:
            layers = [word == "sliding_attention" for word in types]
    if not read.has("sliding_window") or not any(layers):
        return no_windows(read)
    window = read.size("sliding_window")
    return [window if has_window else None for has_window in layers]


def dense(key: str = "intermediate_size", times_hidden: int | None = None) -> Callable[[Reader, Mlp], list[Mlp]]:
    """The same MLP in every layer, of a stated size or else so many times as wide as the hidden state."""

    def layers(read: Reader, mlp: Mlp) -> list[Mlp]:
        absent = times_hidden * read.hidden_size if times_hidden else None
        return [replace(mlp, size=read.size(key, absent=absent))] * read.layers

    return layers


def four_times(read: Reader, mlp: Mlp) -> list[Mlp]:
    """The same MLP in every layer, four times as wide as the hidden state."""
    return [replace(mlp, size=4 * read.hidden_size)] * read.layers


def expanded(read: Reader, mlp: Mlp) -> list[Mlp]:
    """The same MLP in every layer, a stated number of times as wide as the hidden state."""
    return [replace(mlp, size=read.size("expansion_ratio", absent=4) * read.hidden_size)] * read.layers


def mixtral_experts(read: Reader, mlp: Mlp) -> list[Experts]:
    """Experts in every layer."""
    return [_experts(read, mlp, "num_local_experts", "intermediate_size")] * read.layers


def gpt_oss_experts(read: Reader, mlp: Mlp) -> list[Experts]:
    """Experts in every layer, with a bias in the router."""
    return [replace(one, router_bias=True) for one in mixtral_experts(read, mlp)]


def qwen_experts(shared: bool) -> Callable[[Reader, Mlp], list[Mlp | Experts]]:
    """Experts in every n-th layer that is not listed as dense."""

    def layers(read: Reader, mlp: Mlp) -> list[Mlp | Experts]:
        every = read.size("decoder_sparse_step", absent=1)
        listed = read.value("mlp_only_layers") or []
        if not isinstance(listed, list) or not all(type(layer) is int for layer in listed):
            read.fault("mlp_only_layers", "this is not a list of layers", "whole numbers", "correct it", listed)
            listed = []
        sparse = [layer not in listed and (layer + 1) % every == 0 for layer in range(read.layers)]
        experts = _experts(read, mlp, "num_experts", "moe_intermediate_size")
        if shared:
            one = replace(mlp, size=read.size("shared_expert_intermediate_size"))
            experts = replace(experts, shared=one, shared_gate=True)
        return _in_sparse_layers(read, mlp, experts, sparse)

    return layers


def deepseek_experts(router_bias: bool) -> Callable[[Reader, Mlp], list[Mlp | Experts]]:
    """Experts in all but the first layers, next to shared ones that are as wide."""

    def layers(read: Reader, mlp: Mlp) -> list[Mlp | Experts]:
        first = read.size("first_k_dense_replace", low=0, high=MOST_LAYERS)
        every = read.size("moe_layer_freq", absent=1)
        experts = _experts(read, mlp, "n_routed_experts", "moe_intermediate_size")
        shared = read.size("n_shared_experts", low=0, absent=0) * experts.expert.size
        one = replace(mlp, size=shared) if shared else None
        experts = replace(experts, shared=one, router_bias=router_bias)
        sparse = [layer >= first and layer % every == 0 for layer in range(read.layers)]
        return _in_sparse_layers(read, mlp, experts, sparse)

    return layers


def _in_sparse_layers(read: Reader, mlp: Mlp, experts: Experts, sparse: list[bool]) -> list[Mlp | Experts]:
    """Experts where they are, and a plain MLP elsewhere, whose size only then has to be stated."""
    if all(sparse):
        return [experts] * read.layers
    plain = replace(mlp, size=read.size("intermediate_size"))
    return [experts if has_experts else plain for has_experts in sparse]


def _experts(read: Reader, mlp: Mlp, experts_key: str, size_key: str) -> Experts:
    experts, per_token = read.size(experts_key), read.size("num_experts_per_tok")
    if per_token > experts and read.sound(experts_key):
        expected = f"at most {experts_key} = {experts}"
        read.fault("num_experts_per_tok", "there are not so many experts", expected, "correct it", per_token)
    return Experts(experts, per_token, replace(mlp, size=read.size(size_key)))


def falcon_norms(read: Reader) -> int:
    """Two, unless attention and MLP run side by side and share one."""
    newer = read.flag("new_decoder_architecture", absent=False)
    shared = read.flag("parallel_attn", absent=True) and read.size("num_ln_in_parallel_attn", absent=1 + newer) == 1
    return 1 if shared else 2


def stablelm_norms(read: Reader) -> int:
    """Two, unless attention and MLP run side by side."""
    return 1 if read.flag("use_parallel_residual", absent=False) else 2
