"""The models that are measured, as prior files."""

from __future__ import annotations

FIVE_LOGNORMALS = """\
title = "Five lognormals"
estimator = "training"

[inputs]
accelerators = 2048
failure_overhead = 0
parameters = { family = "lognormal", median = "70e9 parameter", sigma = 0.02 }
tokens = { family = "lognormal", median = "2e12 token", sigma = 0.1 }
peak_flop_per_s = { family = "lognormal", median = "312 TFLOP/s", sigma = 0.05 }
mfu = { family = "lognormal", median = 0.4, sigma = 0.12 }
price_per_accelerator_hour = { family = "lognormal", median = "2.2 USD/hour", sigma = 0.25 }
"""

# The five inputs of the training estimator that are usually uncertain, and nothing else.
SIMPLE = """\
title = "Simple"
estimator = "training"
include = ["accelerators/h100-sxm", "prices/neocloud-2026", "utilisation/overhead-published"]

[inputs]
parameters = { family = "lognormal", p10 = "65e9 parameter", p90 = "75e9 parameter" }
tokens = { family = "lognormal", p10 = "14T token", p90 = "16T token" }
accelerators = 4096
mfu = { family = "logit-normal", p10 = 0.3, p90 = 0.5 }
"""

# Everything that the training estimator computes: an architecture, memory, failures, energy, data and a whole bill.
EVERYTHING = """\
title = "Everything"
estimator = "training"
failures = "{failures}"
flop_convention = "exact"
recompute = "selective"
optimizer = "adam"
include = [
  "accelerators/h100-sxm", "prices/neocloud-2026", "prices/drift-2026", "energy/us-grid", "energy/hyperscaler-pue",
  "energy/node-power", "reliability/datacenter-8gpu-nodes", "reliability/run-upkeep", "storage/object-storage-2026",
  "storage/checkpoint-adam", "storage/parallel-file-system", "storage/token-ids", "memory/usable",
]

[architecture]
layers = 80
hidden_size = 8192
attention_heads = 64
kv_heads = 8
mlp = "gated"
mlp_size = 28672
vocabulary_size = 128256
tied_embeddings = false
sequence_length = 8192

[inputs]
tokens = {{ family = "lognormal", p10 = "14T token", p90 = "16T token" }}
accelerators = 4096
mfu = {{ family = "logit-normal", p10 = 0.3, p90 = 0.5 }}
spare_nodes = 16
idle_time = "3 day"
checkpoints_kept = 10
experiment_ratio = {{ family = "lognormal", p10 = "30 %", p90 = "150 %" }}
staff_share = {{ family = "logit-normal", p10 = 0.25, p90 = 0.5 }}
time_to_start = "0.75 year"
tensor_parallel = 8
pipeline_parallel = 4
pipeline_interleave = 1
sequence_parallel = 1
micro_batch = 1
micro_batches = 16
zero_stage = 1
"""
