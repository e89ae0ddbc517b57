#!/usr/bin/env bash
# Eight inputs, 1e9 draws, on an accelerator: time per draw against the chip's ceilings, and the same quantiles as the
# processor's. Needs JAX, NumPy and SciPy. Where OUT names a folder or a file, the figures are written there as JSON.
#   benchmarks/gpu.sh
#   benchmarks/gpu.sh --device cpu --draws 2^22     # the same without an accelerator
set -euo pipefail
out="${OUT:-}"
[[ "$out" == "" || "$out" == /* ]] || out="$PWD/$out"
[[ ! -d "$out" ]] || out="$out/accelerator.json"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec timeout 590 "${PYTHON:-python3}" -m benchmarks.accelerator ${out:+--json "$out"} "$@"
