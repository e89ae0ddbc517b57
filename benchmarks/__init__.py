"""Speed, accuracy and memory beside squigglepy, NumPy, numba and others: `python -m benchmarks`."""
