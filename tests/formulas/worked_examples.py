"""One worked example for every formula: its inputs, and the value that comes out, as a prior file would state them."""

from __future__ import annotations

from typing import Any

from serving_examples import SERVING_EXAMPLES

# By the function's name: inputs, result, and to how many parts the published or hand-computed result is known.
Example = tuple[dict[str, Any], Any, float]

LAYOUT = {"tensor_parallel": 8, "pipeline_parallel": 1}
ZERO = {
    "total_parameters": "7.5e9 parameter",
    "accelerators": 64,
    "parameters_per_accelerator": "7.5e9 parameter",
}
BIG = {"layers": 48, "hidden_size": 6144, "sequence_length": "2048 token", "micro_batch": 4, "pipeline_interleave": 1}
CHINCHILLA = {
    "parameter_coefficient": 482.01,
    "token_coefficient": 2085.43,
    "parameter_exponent": 0.3478,
    "token_exponent": 0.3658,
}
RENEWAL = {
    "working_time": "3402777.78 s",
    "checkpoint_interval": "3402.77778 s",
    "checkpoint_write_time": "300 s",
    "restart_time": "600 s",
    "cluster_mtbf": "6 hour",
    "spare_wait": "0 s",
}

EXAMPLES: dict[str, Example] = {
    # compute
    "training_flop": ({"parameters": "174.6e9 parameter", "tokens": "300e9 token"}, "3.14e23 FLOP", 2e-3),
    "weight_flop_of_all_parameters": ({"parameters": "540.35e9 parameter"}, "3.2421e12 FLOP/token", 1e-6),
    "weight_flop_of_matrix_products": ({"matmul_parameters": "174.57e9 parameter"}, "1.0474e12 FLOP/token", 1e-4),
    "attention_flop_per_token": (
        {"attention_width": 118 * 48 * 256, "attended_tokens": "2048 token"},
        "3.5635e10 FLOP/token",
        1e-4,
    ),
    "training_flop_by_token": (
        {
            "weight_flop_per_token": f"{6 * (12 * 12 * 768**2 + 50257 * 768)} FLOP/token",
            "attention_flop_per_token": f"{12 * 12 * 768 * 1024} FLOP/token",
            "tokens": "1024 token",
        },
        "874944921600 FLOP",
        1e-15,
    ),
    "recomputed_flop_by_rule_of_thumb": ({"weight_flop_per_token": "4.2e11 FLOP/token"}, "1.4e11 FLOP/token", 1e-12),
    "recomputed_flop_in_full": (
        {
            "weight_flop_per_token": f"{6 * (12 * 96 * 12288**2 + 51200 * 12288)} FLOP/token",
            "attention_flop_per_token": f"{12 * 96 * 12288 * 2048} FLOP/token",
            "output_head_parameters": f"{51200 * 12288} parameter",
            "matmul_parameters": f"{12 * 96 * 12288**2 + 51200 * 12288} parameter",
        },
        "3.5754e11 FLOP/token",
        1e-4,
    ),
    "recomputed_flop_of_attention": (
        {"attention_flop_per_token": "2.8991e10 FLOP/token"},
        "9.6637e9 FLOP/token",
        1e-4,
    ),
    "recomputed_flop_as_published": (
        {"attention_flop_per_token": "2.8991e10 FLOP/token"},
        "2.8991e10 FLOP/token",
        1e-12,
    ),
    "hardware_flop": (
        {"training_flop": "4.2e23 FLOP", "recomputed_flop_per_token": "1.4e11 FLOP/token", "tokens": "1e12 token"},
        "5.6e23 FLOP",
        1e-12,
    ),
    "hfu": ({"mfu": 0.462, "hardware_flop": "2.5e24 FLOP", "training_flop": "2e24 FLOP"}, 0.5775, 1e-12),
    "tokens": ({"training_flop": "3.14e23 FLOP", "parameters": "174.6e9 parameter"}, "299.7e9 token", 1e-3),
    # duration
    "stepping_time": (
        {"training_flop": "6.888e18 FLOP", "accelerators": 16, "peak_flop_per_s": "312 TFLOP/s", "mfu": 0.0284},
        "13.5 hour",
        1e-3,
    ),
    "training_time": ({"stepping_time": "40 day", "failure_overhead": "20 %"}, "48 day", 1e-12),
    "accelerator_hours": ({"accelerators": 2048, "training_time": "54.2 day"}, "2.664e6 accelerator-hour", 1e-3),
    "goodput": ({"stepping_time": "40 day", "training_time": "50 day"}, 0.8, 1e-12),
    # reliability
    "nodes": ({"accelerators": 16384, "accelerators_per_node": "8 accelerator/node"}, "2048 node", 1e-12),
    "cluster_mtbf": (
        {
            "nodes": 2048,
            "node_failure_rate": "0.0065 failure/node-day",
            "spot_share": 0,
            "preemption_rate": "0 / node-day",
        },
        "1.80 hour",
        3e-3,
    ),
    "interval_by_young": ({"checkpoint_write_time": "300 s", "cluster_mtbf": "6 hour"}, "3600 s", 1e-12),
    "interval_by_daly": ({"checkpoint_write_time": "300 s", "cluster_mtbf": "6 hour"}, "3402.8 s", 1e-5),
    "nodes_in_repair": (
        {"nodes": 2048, "node_failure_rate": "0.0065 failure/node-day", "repair_time": "24 hour"},
        "13.3 node",
        2e-3,
    ),
    "spare_accelerators": (
        {"spare_nodes": 16, "accelerators_per_node": "8 accelerator/node"},
        128,
        1e-12,
    ),
    "spare_wait": ({"repair_time": "24 hour", "nodes_in_repair": 13.3, "spare_nodes": 0}, "24 hour", 1e-12),
    "working_time": ({"stepping_time": "50 day", "evaluation_fraction": "2 %"}, "51 day", 1e-12),
    "expected_running_time": (RENEWAL, f"{3402777.78 / 0.8194} s", 1e-4),
    "failure_overhead": (
        {"running_time": "46 day", "stepping_time": "40 day", "startup_time": "2 day"},
        "20 %",
        1e-12,
    ),
    "interruptions": (
        {"training_time": "54 day", "cluster_mtbf": "3.093 hour", "spare_wait": "0 minute"},
        "419 failure",
        1e-3,
    ),
    # storage
    "dataset_bytes": ({"tokens": "15e12 token", "bytes_per_token": "2 byte/token"}, "30 TB", 1e-12),
    "checkpoint_bytes": (
        {"total_parameters": "176.2e9 parameter", "checkpoint_bytes_per_parameter": "13 byte/parameter"},
        "2.3 TB",
        5e-3,
    ),
    "checkpoint_write_time": ({"checkpoint_bytes": "2.3 TB", "checkpoint_bandwidth": "57.5 GB/s"}, "40 s", 1e-12),
    "needed_checkpoint_bandwidth": (
        {"checkpoint_bytes": "2.3 TB", "checkpoint_interval": "60 minute", "checkpoint_time_share": "1 %"},
        "63.9 GB/s",
        1e-3,
    ),
    "loading_bandwidth": (
        {"tokens": "15e12 token", "bytes_per_token": "2 byte/token", "training_time": "54 day"},
        "6.43 MB/s",
        1e-3,
    ),
    # memory
    "data_parallel": ({"accelerators": 3072, "tensor_parallel": 8, "pipeline_parallel": 64}, 6, 1e-12),
    "parameters_per_accelerator_with_experts": (
        {
            "total_parameters": "46702792704 parameter",
            "expert_parameters": "45097156608 parameter",
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "expert_parallel": 8,
        },
        "7242780672 parameter",
        1e-12,
    ),
    "parameters_per_accelerator": (
        {"total_parameters": f"{12 * 96 * 12288**2} parameter", "tensor_parallel": 8, "pipeline_parallel": 8},
        "2717908992 parameter",
        1e-12,
    ),
    "weight_memory": (ZERO | {"zero_stage": 3, "weight_bytes_per_parameter": "2 byte/parameter"}, "0.234375 GB", 1e-12),
    "gradient_memory": (
        ZERO | {"zero_stage": 1, "gradient_bytes_per_parameter": "2 byte/parameter"},
        "15 GB",
        1e-12,
    ),
    "optimizer_memory": (
        ZERO | {"zero_stage": 1, "optimizer_bytes_per_parameter": "12 byte/parameter"},
        "1.40625 GB",
        1e-12,
    ),
    "activation_memory": (
        BIG | LAYOUT | {"activation_width": 12 * 6144, "attention_heads": 64, "sequence_parallel": 0},
        "59.25 GiB",
        1e-12,
    ),
    "activation_memory_of_fused_attention": (
        BIG | LAYOUT | {"activation_width": 12 * 6144, "sequence_parallel": 1},
        "9.5625 GiB",
        1e-12,
    ),
    "activation_memory_under_selective_recompute": (
        {
            "layers": 96,
            "hidden_size": 12288,
            "activation_width": 12 * 12288,
            "sequence_length": "2048 token",
            "micro_batch": 1,
            "pipeline_interleave": 3,
            "tensor_parallel": 8,
            "pipeline_parallel": 8,
            "sequence_parallel": 1,
        },
        "12.3515625 GiB",
        1e-12,
    ),
    "activation_memory_under_full_recompute": (BIG | {"pipeline_parallel": 1}, "4.5 GiB", 1e-12),
    "logit_memory": (
        {"sequence_length": "2048 token", "micro_batch": 4, "vocabulary_size": 51200, "tensor_parallel": 8},
        "200 MiB",
        1e-12,
    ),
    "memory_per_accelerator": (
        {
            "weight_memory": "15 GB",
            "gradient_memory": "0.234375 GB",
            "optimizer_memory": "1.40625 GB",
            "activation_memory": "0 GB",
            "logit_memory": "0 GB",
        },
        "16.640625 GB",
        1e-12,
    ),
    "usable_memory": ({"accelerator_memory": "80 GB", "usable_memory_fraction": 0.9}, "72 GB", 1e-12),
    "memory_utilisation": ({"memory_per_accelerator": "54 GB", "usable_memory": "72 GB"}, 0.75, 1e-12),
    "minimum_accelerators": (
        {
            "total_parameters": "7.5e9 parameter",
            "parameters_per_accelerator": "7.5e9 parameter",
            "zero_stage": 3,
            "weight_bytes_per_parameter": "2 byte/parameter",
            "gradient_bytes_per_parameter": "2 byte/parameter",
            "optimizer_bytes_per_parameter": "12 byte/parameter",
            "activation_memory": "10 GB",
            "usable_memory": "40 GB",
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "logit_memory": "0 GB",
            "expert_parallel": 1,
        },
        4,
        1e-12,
    ),
    "pipeline_bubble": ({"pipeline_parallel": 8, "micro_batches": 16, "pipeline_interleave": 3}, 7 / 55, 1e-12),
    # energy
    "accelerator_power": ({"thermal_design_power": "700 W", "power_ratio": 1.38}, "966 W", 1e-12),
    "energy": (
        {"accelerator_hours": "1720320 accelerator-hour", "accelerator_power": "400 W", "pue": 1},
        "688.128 MWh",
        1e-12,
    ),
    "emissions": ({"energy": "688.128 MWh", "grid_intensity": "0.4235 kg/kWh"}, "291.42 tonne", 2e-5),
    # cost
    "price_rise": (
        {"price_trend": "-0.1 / year", "price_shock": "0 / year^0.5", "time_to_start": "1 year"},
        "-9.516 %",
        1e-4,
    ),
    "on_demand_share": ({"spot_share": "60 %", "reserved_share": "30 %", "owned_share": 0}, 0.1, 1e-12),
    "rental_cost": (
        {
            "accelerator_hours": "2.788e6 accelerator-hour",
            "on_demand_share": 1,
            "price_per_accelerator_hour": "2 USD/hour",
            "price_rise": 0,
        },
        "5.576e6 USD",
        1e-12,
    ),
    "spot_cost": (
        {
            "accelerator_hours": "1e6 accelerator-hour",
            "spot_share": 0.5,
            "spot_price_per_accelerator_hour": "1.5 USD/hour",
            "price_rise": 0,
        },
        "0.75e6 USD",
        1e-12,
    ),
    "reserved_cost": (
        {
            "accelerator_hours": "1e6 accelerator-hour",
            "reserved_share": 1,
            "reserved_price_per_accelerator_hour": "1.9 USD/hour",
            "price_rise": 0,
        },
        "1.9e6 USD",
        1e-12,
    ),
    "commitment_cost": (
        {
            "accelerators": 1000,
            "reserved_share": 1,
            "training_time": "45 day",
            "commitment": "1 year",
            "reserved_price_per_accelerator_hour": "2 USD/hour",
            "spare_accelerators": 0,
            "idle_time": "0 day",
            "price_rise": 0,
        },
        "15.372e6 USD",
        1e-12,
    ),
    "acquisition_price": (
        {"accelerator_price": "30000 USD", "server_overhead": 1.65, "interconnect_overhead": 1 / 0.81},
        "61111 USD",
        1e-5,
    ),
    "ownership_cost": (
        {
            "accelerator_hours": "1 accelerator-hour",
            "owned_share": 1,
            "acquisition_price": "61111 USD",
            "hardware_price_decay": "0.322362 / year",
        },
        "2.2473 USD",
        1e-4,
    ),
    "compute_cost": (
        {"rental_cost": "1e6 USD", "spot_cost": "0 USD", "reserved_cost": "2e6 USD", "ownership_cost": "0 USD"},
        "3e6 USD",
        1e-12,
    ),
    "idle_cost": (
        {
            "compute_cost": "1e6 USD",
            "accelerators": 2048,
            "training_time": "30 day",
            "spare_accelerators": 128,
            "idle_time": "0 day",
        },
        "62500 USD",
        1e-12,
    ),
    "electricity_cost": (
        {"energy": "688.1 MWh", "owned_share": 1, "electricity_price": "0.08 USD/kWh"},
        "55048 USD",
        1e-12,
    ),
    "colocation_cost": (
        {
            "accelerator_hours": "730500 accelerator-hour",
            "accelerator_power": "1 kW",
            "owned_share": 1,
            "colocation_price": "150 USD/kW-month",
        },
        "150000 USD",
        1e-12,
    ),
    "storage_cost": (
        {
            "dataset_bytes": "30 TB",
            "checkpoint_bytes": "1 TB",
            "checkpoints_kept": 10,
            "training_time": "30.4375 day",
            "retention_time": "0 day",
            "storage_price": "0.02 USD/GB-month",
        },
        "800 USD",
        1e-12,
    ),
    "egress_cost": ({"egress_bytes": "100 TB", "egress_price": "0.09 USD/GB"}, "9000 USD", 1e-12),
    "experiments_cost": (
        {
            "experiment_ratio": 1,
            "compute_cost": "5e6 USD",
            "idle_cost": "0 USD",
            "electricity_cost": "0 USD",
            "colocation_cost": "0 USD",
        },
        "5e6 USD",
        1e-12,
    ),
    "staff_cost": (
        {
            "staff_share": "40 %",
            "compute_cost": "5e6 USD",
            "idle_cost": "0 USD",
            "electricity_cost": "0 USD",
            "colocation_cost": "0 USD",
            "storage_cost": "0 USD",
            "egress_cost": "0 USD",
            "experiments_cost": "1e6 USD",
            "commitment_cost": "0 USD",
        },
        "4e6 USD",
        1e-12,
    ),
    "cost": (
        {
            "compute_cost": "5e6 USD",
            "idle_cost": "0 USD",
            "electricity_cost": "0 USD",
            "colocation_cost": "0 USD",
            "storage_cost": "0.1e6 USD",
            "egress_cost": "0 USD",
            "experiments_cost": "0 USD",
            "staff_cost": "0 USD",
            "commitment_cost": "0 USD",
        },
        "5.1e6 USD",
        1e-12,
    ),
    # small networks and scaling
    "network_parameters": ({"weights": 9, "biases": 4}, "13 parameter", 1e-12),
    "forward_flop": ({"weights": 9, "neurons": 4, "biases": 4}, "18 FLOP", 1e-12),
    "example_flop": ({"forward_flop": "18 FLOP"}, "54 FLOP", 1e-12),
    "network.training_flop": ({"example_flop": "54 FLOP", "examples": 1000}, "54000 FLOP", 1e-12),
    "optimal_parameters": ({"training_flop": "5.88e23 FLOP", **CHINCHILLA}, "7.302e10 parameter", 1e-3),
    "optimal_tokens": ({"training_flop": "5.88e23 FLOP", **CHINCHILLA}, "1.342e12 token", 1e-3),
    "tokens_per_parameter": (
        {"optimal_tokens": "1.3422e12 token", "optimal_parameters": "7.302e10 parameter"},
        "18.4 token/parameter",
        2e-3,
    ),
    "loss": (
        {
            "optimal_parameters": "7.302e10 parameter",
            "optimal_tokens": "1.342e12 token",
            "loss_floor": 1.8172,
            **CHINCHILLA,
        },
        1.9739,
        1e-4,
    ),
} | SERVING_EXAMPLES
