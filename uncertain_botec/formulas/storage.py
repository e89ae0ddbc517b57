"""How many bytes data and checkpoints take, and the bandwidth they need."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, formula


@formula(equation="tokens * bytes_per_token", source="definition", trigger=("bytes_per_token",))
def dataset_bytes(tokens: Array, bytes_per_token: Array) -> Array:
    """Size of the data set, S = D b.

    Tokens count as often as they are seen, so that repeated ones make it an upper bound.

    Args:
        tokens: D, seen.
        bytes_per_token: b; about 4 to 5 of text, 2 to 4 of token numbers.

    Returns:
        Bytes.

    Example: 15e12 tokens at 2 bytes: 30 TB.
    """
    return tokens * bytes_per_token


@formula(
    equation="total_parameters * checkpoint_bytes_per_parameter",
    source="definition",
    trigger=("checkpoint_bytes_per_parameter",),
)
def checkpoint_bytes(total_parameters: Array, checkpoint_bytes_per_parameter: Array) -> Array:
    """Size of one checkpoint, S_c = N b_c.

    Args:
        total_parameters: N, all of them.
        checkpoint_bytes_per_parameter: b_c; 12 for an fp32 copy and two fp32 moments, 14 with 16-bit weights.

    Returns:
        Bytes.

    Example: BLOOM 176B, N = 176247271424, b_c = 12 to 14: 2.1 to 2.5 TB, and 2.3 TB were reported.
    """
    return total_parameters * checkpoint_bytes_per_parameter


@formula(
    equation="checkpoint_bytes / checkpoint_bandwidth",
    source="definition",
    trigger=("checkpoint_bandwidth",),
)
def checkpoint_write_time(checkpoint_bytes: Array, checkpoint_bandwidth: Array) -> Array:
    """Time that a checkpoint stops the run while it is written, d = S_c / B.

    A checkpoint that is copied aside and written while the run goes on stops it for less: state that time instead.

    Args:
        checkpoint_bytes: S_c.
        checkpoint_bandwidth: B, of all writers together.

    Returns:
        Seconds.

    Example: 2.3 TB at 10 GB/s: 230 s.
    """
    return checkpoint_bytes / checkpoint_bandwidth


@formula(
    equation="checkpoint_bytes / (checkpoint_time_share * checkpoint_interval)",
    source="definition",
    trigger=("checkpoint_time_share",),
)
def needed_checkpoint_bandwidth(
    checkpoint_bytes: Array, checkpoint_interval: Array, checkpoint_time_share: Array
) -> Array:
    """Bandwidth that writes a checkpoint within its part of the time between two, B = S_c / (q τ).

    Args:
        checkpoint_bytes: S_c.
        checkpoint_interval: τ, stepping time between checkpoints.
        checkpoint_time_share: q, writing time over τ.

    Returns:
        Bytes per second, of all writers together; zero where there are no checkpoints, τ without end.

    Example: 2.3 TB every 30 minutes in 1 % of the time: 127.8 GB/s.
    """
    return checkpoint_bytes / (checkpoint_time_share * checkpoint_interval)


@formula(
    equation="tokens * bytes_per_token / training_time",
    source="definition",
    trigger=("bytes_per_token",),
)
def loading_bandwidth(tokens: Array, bytes_per_token: Array, training_time: Array) -> Array:
    """Data that a run reads on average, B = D b / t.

    Args:
        tokens: D, seen.
        bytes_per_token: b, as stored.
        training_time: t.

    Returns:
        Bytes per second; zero for a run that never finishes.

    Example: 15e12 tokens of 4 bytes in 54 days: 12.9 MB/s.
    """
    return tokens * bytes_per_token / training_time
