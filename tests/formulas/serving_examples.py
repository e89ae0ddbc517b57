"""The worked examples of serving, which `worked_examples` takes in: most are of Llama 2 70B on eight H100."""

from __future__ import annotations

from typing import Any

Example = tuple[dict[str, Any], Any, float]

STEP = {
    "dense_read_time": "5.22388 ms",
    "decode_compute_time": "17.6875 us/request",
    "decode_attention_time": "50.0806 us/request",
    "expert_read_time": "0 ms",
    "expert_miss": 0.0,
    "step_overhead": "0 ms",
}
SPLIT = {"cost_per_request": "0.001 USD/request", "prefill_time": "73.8 ms/request"}
WHOLE = {"replica_time": "100.1 ms.replica/request"}
RATE = "9.99 request/replica-s"
API = {"api_input_price": "0.5 USD/Mtoken", "api_cached_price": "0.1 USD/Mtoken", "api_output_price": "1.5 USD/Mtoken"}
CHARGED = {"input_price": "1 USD/Mtoken", "cached_price": "0.1 USD/Mtoken", "output_price": "4 USD/Mtoken"}
LENGTHS = {"prompt_tokens": "1000 token/request", "output_tokens": "200 token/request"}

SERVING_EXAMPLES: dict[str, Example] = {
    # decoding
    "replica_accelerators": ({"tensor_parallel": 1, "expert_parallel": 144}, 144, 1e-15),
    "dense_weight_memory": (
        {
            "total_parameters": "68976648192 parameter",
            "expert_parameters": "0 parameter",
            "tensor_parallel": 8,
            "weight_bytes_per_parameter": "2 byte/parameter",
        },
        "17.244162048 GB",
        1e-12,
    ),
    "expert_weight_memory": (
        {
            "expert_parameters": "45097156608 parameter",
            "replica_accelerators": 8,
            "weight_bytes_per_parameter": "2 byte/parameter",
        },
        "11.274289152 GB",
        1e-12,
    ),
    "kv_bytes_per_token": (
        {"kv_width": 2 * 32 * 32 * 128, "kv_bytes_per_number": "2 byte"},
        "524288 byte/token",
        1e-15,
    ),
    "kv_shards": ({"tensor_parallel": 16, "cache_heads": 8, "replica_accelerators": 16}, 8, 1e-15),
    "kv_memory": (
        {
            "usable_memory": "72 GB",
            "dense_weight_memory": "17.244 GB",
            "expert_weight_memory": "0 GB",
            "kv_shards": 8,
        },
        "438.0 GB/replica",
        1e-3,
    ),
    "context_tokens": (
        {**LENGTHS, "output_tokens_spread": 1.0},
        "1200 token/request",
        1e-15,
    ),
    "memory_batch": (
        {
            "kv_memory": "438 GB/replica",
            "context_tokens": "4096 token/request",
            "kv_bytes_per_token": "327680 byte/token",
        },
        326,
        1e-15,
    ),
    "prefill_flop": (
        {
            "parameters": "7e10 parameter",
            "attention_width": 655360,
            "prompt_tokens": "2048 token/request",
            "cached_fraction": 0.5,
            "prompt_tokens_spread": 0.0,
        },
        "1.475e14 FLOP/request",
        1e-3,
    ),
    "prefill_time": (
        {
            "prefill_flop": "2.922e14 FLOP/request",
            "replica_accelerators": 8,
            "peak_flop_per_s": "989.4 TFLOP/s",
            "prefill_mfu": 0.5,
        },
        "73.8 ms/request",
        1e-3,
    ),
    "dense_read_time": (
        {"dense_weight_memory": "17.5 GB", "memory_bandwidth": "3350 GB/s", "mbu": 1.0},
        "5.22 ms",
        1e-3,
    ),
    "expert_read_time": (
        {"expert_weight_memory": "11.274 GB", "memory_bandwidth": "3350 GB/s", "mbu": 0.6},
        "5.61 ms",
        1e-3,
    ),
    "decode_compute_time": (
        {
            "parameters": "7e10 parameter",
            "replica_accelerators": 8,
            "peak_flop_per_s": "989.4 TFLOP/s",
            "decode_mfu": 1.0,
            "draft_tokens": 0,
        },
        "17.69 us/request",
        1e-3,
    ),
    "decode_attention_time": (
        {
            "context_tokens": "4096 token/request",
            "kv_bytes_per_token": "327680 byte/token",
            "kv_shards": 8,
            "memory_bandwidth": "3350 GB/s",
            "mbu": 1.0,
            "decode_attention_width": 655360,
            "replica_accelerators": 8,
            "peak_flop_per_s": "989.4 TFLOP/s",
            "decode_mfu": 1.0,
            "draft_tokens": 0,
        },
        "50.1 us/request",
        1e-3,
    ),
    "accepted_tokens": ({"acceptance_rate": 0.8, "draft_tokens": 5}, 2.68928, 1e-12),
    "speculation_saving": ({"accepted_tokens": 2.68928, "draft_tokens": 5, "draft_cost": 0.05}, 0.6612, 1e-3),
    "expert_miss": ({"expert_share": 8 / 256, "draft_tokens": 0}, 0.96875, 1e-15),
    # serving
    "step_time": ({"batch": 64, **STEP}, "8.43 ms", 1e-3),
    "limited_batch": ({"memory_batch": 326, "batch_limit": 256}, 256, 1e-15),
    "fitting_batch": ({"memory_batch": 326}, 326, 1e-15),
    "latency_batch": (
        {
            "time_per_output_token_target": "20 ms/token",
            "fitting_batch": 326,
            "prefill_time": "73.8 ms/request",
            "output_tokens": "200 token/request",
            "speculation_saving": 0.0,
            **STEP,
        },
        35.26,
        1e-3,
    ),
    "batch_in_time": ({"latency_batch": 35.3}, 35, 1e-15),
    "batch": ({"fitting_batch": 326}, 326, 1e-15),
    "replica_time": (
        {
            "prefill_time": "73.8 ms/request",
            "output_tokens": "200 token/request",
            "step_time": "8.43 ms",
            "batch": 64,
            "speculation_saving": 0.0,
        },
        "100.1 ms.replica/request",
        1e-3,
    ),
    "replica_time_of_flop": (
        {
            "request_flop": "3.6e14 FLOP/request",
            "replica_accelerators": 1,
            "peak_flop_per_s": "312 TFLOP/s",
            "mfu": 0.4,
        },
        "2.8846 s.replica/request",
        1e-4,
    ),
    "request_flop": ({"generation_steps": 30, "step_flop": "12e12 FLOP/request"}, "3.6e14 FLOP/request", 1e-12),
    "replica_request_rate": ({"replica_time": "100.1 ms.replica/request"}, RATE, 1e-3),
    "replica_token_rate": (
        {"replica_request_rate": RATE, "output_tokens": "200 token/request"},
        "1998 token/replica-s",
        1e-12,
    ),
    # queueing
    "utilisation": (
        {"peak_request_rate": "11574 request/s", "replicas": 1655, "replica_request_rate": RATE},
        0.70,
        1e-3,
    ),
    "served_request_rate": (
        {"utilisation": 0.7, "replica_request_rate": RATE},
        "6.993 request/replica-s",
        1e-12,
    ),
    "running_requests": (
        {
            "served_request_rate": "6.993 request/replica-s",
            "batch": 64,
            "prefill_time": "73.8 ms/request",
            "output_tokens": "200 token/request",
            "speculation_saving": 0.0,
            **STEP,
        },
        17.64,
        1e-2,
    ),
    "time_per_output_token": (
        {
            "running_requests": 17.64,
            "served_request_rate": "6.993 request/replica-s",
            "prefill_time": "73.8 ms/request",
            "speculation_saving": 0.0,
            **STEP,
        },
        "12.61 ms/token",
        1e-2,
    ),
    "slots": ({"replicas": 3, "batch": 64}, 192, 1e-15),
    "slots_of_one": ({"replicas": 3}, 3, 1e-15),
    "queue_probability": ({"slots": 10, "utilisation": 0.8}, 0.4092, 1e-4),
    "queue_wait": (
        {
            "queue_probability": 0.8,
            "replica_time": "1 s.replica/request",
            "replicas": 1,
            "utilisation": 0.8,
            "service_spread": 1.0,
        },
        "4 s",
        1e-12,
    ),
    "service_spread": ({"output_tokens_spread": 1.1}, 1.1, 1e-15),
    "prefill_wait": (
        {
            "served_request_rate": "6.993 request/replica-s",
            "prefill_time": "73.8 ms/request",
            "prompt_tokens_spread": 1.0,
        },
        "78.7 ms",
        1e-3,
    ),
    "time_to_first_token": (
        {"queue_wait": "0 s", "prefill_wait": "78.7 ms", "prefill_time": "73.8 ms/request"},
        "152.5 ms",
        1e-12,
    ),
    "response_time": (
        {
            "time_to_first_token": "152.5 ms",
            "time_per_output_token": "12.61 ms/token",
            "output_tokens": "200 token/request",
        },
        "2.66 s",
        1e-2,
    ),
    "response_time_of_flop": ({"queue_wait": "0.5 s", "replica_time": "2.88 s.replica/request"}, "3.38 s", 1e-12),
    # fleet
    "request_rate": (
        {"daily_users": "100e6 user", "requests_per_user": "10 request/user-day"},
        "11574.07 request/s",
        1e-6,
    ),
    "peak_request_rate": ({"request_rate": "11574 request/s", "peak_factor": 2}, "23148 request/s", 1e-12),
    "replicas": (
        {"peak_request_rate": "11574 request/s", "replica_request_rate": RATE, "target_utilisation": 0.7},
        1656,
        1e-15,
    ),
    "mean_replicas": (
        {"request_rate": "5787 request/s", "replica_request_rate": RATE, "target_utilisation": 0.7},
        828,
        1e-15,
    ),
    "fleet_accelerators": ({"replicas": 1656, "replica_accelerators": 8, "spare_replicas": 10}, 13328, 1e-15),
    "mean_accelerators": ({"mean_replicas": 828, "replica_accelerators": 8, "spare_replicas": 10}, 6704, 1e-15),
    "servers": ({"accelerators": 13328, "accelerators_per_node": "8 accelerator/node"}, 1666, 1e-15),
    "held_hours": (
        {"servers": 1666, "accelerators_per_node": "8 accelerator/node", "period": "1 month"},
        "9.736e6 accelerator-hour",
        1e-4,
    ),
    "following_hours": (
        {"mean_accelerators": 6704, "accelerators_per_node": "8 accelerator/node", "period": "1 month"},
        "4.897e6 accelerator-hour",
        1e-4,
    ),
    "fleet_power": ({"accelerators": 13328, "accelerator_power": "966 W", "pue": 1.12}, "14420 kW", 1e-4),
    "ingress_bandwidth": (
        {"peak_request_rate": "23148 request/s", "request_bytes": "4 kB/request"},
        "92.592 MB/s",
        1e-12,
    ),
    "egress_bandwidth": (
        {"peak_request_rate": "23148 request/s", "response_bytes": "10 kB/request"},
        "231.48 MB/s",
        1e-12,
    ),
    "sent_bytes": (
        {"request_rate": "11574.07 request/s", "response_bytes": "10 kB/request", "period": "30 day"},
        "300 TB",
        1e-6,
    ),
    "user_bytes": (
        {"users": "100e6 user", "bytes_per_user": "10 kB/user", "index_overhead": 0.25},
        "1.25 TB",
        1e-12,
    ),
    "log_bytes": (
        {"request_rate": "11574.07 request/s", "log_bytes_per_request": "2 kB/request", "log_retention": "30 day"},
        "60 TB",
        1e-6,
    ),
    "service_storage_cost": (
        {"storage_price": "0.02 USD/GB-month", "period": "1 month", "user_bytes": "1.25 TB", "log_bytes": "60 TB"},
        "1225 USD",
        1e-12,
    ),
    # tokens
    "cost_per_request": (
        {"cost": "2e6 USD", "request_rate": "11574.07 request/s", "period": "1 month"},
        "0.0000657 USD/request",
        1e-3,
    ),
    "cost_per_user": (
        {
            "cost_per_request": "0.0000657 USD/request",
            "request_rate": "11574.07 request/s",
            "daily_users": "100e6 user",
        },
        "0.02 USD/user-month",
        1e-3,
    ),
    "cost_per_generated_token": (
        {"cost_per_request": f"{16 / (2500 * 3600) * 200} USD/request", "output_tokens": "200 token/request"},
        "1.7778 USD/Mtoken",
        1e-4,
    ),
    "cost_per_input_token": (
        {**SPLIT, **WHOLE, "prompt_tokens": "2048 token/request", "cached_fraction": 0.0},
        "0.36 USD/Mtoken",
        1e-3,
    ),
    "cost_per_output_token": (
        {**SPLIT, **WHOLE, "output_tokens": "200 token/request"},
        "1.314 USD/Mtoken",
        1e-3,
    ),
    "api_cost_per_request": ({**LENGTHS, **API, "cached_fraction": 0.0}, "0.0008 USD/request", 1e-12),
    "api_cost": (
        {"api_cost_per_request": "0.0008 USD/request", "request_rate": "10 request/s", "period": "30 day"},
        "20736 USD",
        1e-12,
    ),
    "cost_over_api": ({"cost": "15000 USD", "api_cost": "20736 USD"}, 0.723, 1e-3),
    "replica_cost_rate": (
        {"cost": "24 USD", "accelerator_hours": "8 accelerator-hour", "replica_accelerators": 8},
        "24 USD/replica-hour",
        1e-12,
    ),
    "break_even_request_rate": (
        {
            "replica_cost_rate": "24 USD/replica-hour",
            "api_cost_per_request": "0.0008 USD/request",
            "replica_request_rate": RATE,
            "target_utilisation": 0.9,
            "peak_factor": 1.0,
            "spare_replicas": 0,
        },
        "8.3333 request/s",
        1e-4,
    ),
    "charge_per_request": ({**LENGTHS, **CHARGED, "cached_fraction": 0.0}, "0.0018 USD/request", 1e-12),
    "revenue": (
        {
            "request_rate": "10 request/s",
            "period": "30 day",
            "charge_per_request": "0.0018 USD/request",
            "users": "1000 user",
            "subscription_price": f"{0.5 / 30} USD/user-day",
        },
        "47156 USD",
        1e-6,
    ),
    "gross_margin": ({"cost": "15000 USD", "revenue": "46656 USD"}, 0.6785, 1e-4),
    "recovery_time": (
        {"training_cost": "5.576e6 USD", "revenue": "1e6 USD", "cost": "0.4e6 USD", "period": "1 month"},
        "9.2933 month",
        1e-4,
    ),
    "recovery_tokens": (
        {"recovery_time": "9.2933 month", "request_rate": "10 request/s", "output_tokens": "200 token/request"},
        "4.888e10 token",
        1e-3,
    ),
}
