"""Bytes and bandwidth against published sizes and each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uncertain_botec.formulas import storage

DAY = 86400.0
positive = st.floats(1e-3, 1e3)


def test_data_set() -> None:
    """15e12 tokens of 2 bytes are 30 TB; read once in 54 days at 4 bytes each they take 12.9 MB/s."""
    assert storage.dataset_bytes(15e12, 2) == 30e12
    assert storage.loading_bandwidth(15e12, 4, 54 * DAY) == pytest.approx(12.9e6, abs=0.05e6)


def test_bloom_checkpoint() -> None:
    """BLOOM 176B: the published 2.3 TB lie between 12 and 14 bytes per parameter, 2.1 and 2.5 TB."""
    least, most = (storage.checkpoint_bytes(176247271424, size) for size in (12, 14))
    assert least < 2.3e12 < most
    assert (round(least / 1e12, 1), round(most / 1e12, 1)) == (2.1, 2.5)


def test_write_time_and_needed_bandwidth() -> None:
    """2.3 TB at 10 GB/s take 230 s; every 30 minutes in 1 % of the time they need 127.8 GB/s."""
    assert storage.checkpoint_write_time(2.3e12, 10e9) == 230
    assert storage.needed_checkpoint_bandwidth(2.3e12, 1800, 0.01) == pytest.approx(127.8e9, abs=0.05e9)


@given(positive, positive, st.floats(1e-3, 1.0))
def test_the_needed_bandwidth_keeps_the_share(size: float, interval: float, share: float) -> None:
    """Writing at the bandwidth that is needed takes exactly its part of the interval."""
    bandwidth = storage.needed_checkpoint_bandwidth(size, interval, share)
    assert storage.checkpoint_write_time(size, bandwidth) == pytest.approx(share * interval, rel=1e-12)


@given(positive, positive, positive)
def test_loading_for_the_whole_run_reads_the_data_set(tokens: float, size: float, time: float) -> None:
    """Bandwidth times time is what is read."""
    read = storage.loading_bandwidth(tokens, size, time) * time
    assert read == pytest.approx(storage.dataset_bytes(tokens, size), rel=1e-12)


def test_runs_without_end() -> None:
    """A run that never finishes reads nothing per second, and one without checkpoints needs no bandwidth for them."""
    assert storage.loading_bandwidth(15e12, 4, math.inf) == 0
    assert storage.needed_checkpoint_bandwidth(2.3e12, math.inf, 0.01) == 0
