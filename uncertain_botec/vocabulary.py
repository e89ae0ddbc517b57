"""The vocabulary: every name that a formula may take or give, each stated once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from uncertain_botec.quantities import Quantity

# What may be nothing; a line of the bill; a ratio that is at least one; a plain number.
_zero = partial(Quantity, open="")
_bill = partial(Quantity, unit="USD", example='"1e6 USD"', open="")
_ratio = partial(Quantity, unit="fraction", low=1.0, open="")
_count = partial(Quantity, unit="count", open="")
_layout = partial(_count, whole=True)

# Append only: a name's position is its column in the point sets, so moving a line would change everybody's draws.
# Draws of the first sixteen columns are spread most evenly together, so common uncertain inputs come first.
_VOCABULARY = (
    # --- training: what it takes and what it gives
    Quantity(
        "parameters", "parameters", "parameters that take part in each token (active ones for MoE)", '"70e9 parameter"'
    ),
    Quantity("tokens", "tokens", "training tokens seen, repeats included", '"15T token"'),
    Quantity("accelerators", "accelerators", "accelerators working on the run at a time", "2048"),
    Quantity("peak_flop_per_s", "FLOP/accelerator-second", "dense peak of one accelerator", '"312 TFLOP/s"'),
    Quantity("mfu", "fraction", "model FLOP utilisation while stepping: useful FLOP over dense peak", "0.4", high=1.0),
    _zero(
        "failure_overhead",
        "fraction",
        "extra time as a fraction of the stepping time: failures, restarts, pauses, evaluation",
        '"10 %"',
        usual_high=1.0,
    ),
    _zero(
        "price_per_accelerator_hour",
        "USD/accelerator-hour",
        "price of one accelerator for one hour, on demand",
        '"2.2 USD/hour"',
    ),
    Quantity("training_flop", "FLOP", "model FLOP of the whole run", '"8e23 FLOP"'),
    Quantity("training_time", "days", "wall-clock time from the first step to the last", '"45 day"'),
    Quantity(
        "accelerator_hours", "accelerator-hours", "accelerators times wall-clock time", '"1.7e6 accelerator-hour"'
    ),
    _bill("cost", meaning="everything on the bill"),
    # --- inputs that are often uncertain
    Quantity(
        "node_failure_rate",
        "failures/node-day",
        "interruptions that stop the run, by node and day",
        '"0.0065 failure/node-day"',
    ),
    _zero("restart_time", "minutes", "from a failure to the next new step, with a spare at hand", '"15 minute"'),
    Quantity("checkpoint_bandwidth", "GB/s", "aggregate bandwidth at which checkpoints are written", '"200 GB/s"'),
    Quantity(
        "power_ratio",
        "fraction",
        "power drawn at the node over the accelerators' thermal design power",
        "1.38",
        usual_high=3.0,
    ),
    _ratio("pue", meaning="power usage effectiveness: power of the whole site over that of its nodes", example="1.12"),
    _zero("grid_intensity", "kg/MWh", "CO2 equivalent emitted by energy drawn from the grid", '"350 kg/MWh"'),
    _zero("electricity_price", "USD/kWh", "price of energy", '"0.08 USD/kWh"'),
    _zero(
        "price_trend", "1/year", "log change of accelerator prices by year, expected", '"-0.1 / year"', low=-math.inf
    ),
    _zero(
        "price_shock",
        "1/year^0.5",
        "log change of accelerator prices beyond the trend: a random walk's step in one year",
        '"0.35 / year^0.5"',
        low=-math.inf,
    ),
    _zero("startup_time", "hours", "from the start of the run to full speed", '"6 hour"'),
    _zero("evaluation_fraction", "fraction", "time spent in evaluation pauses over stepping time", '"2 %"', high=10.0),
    Quantity("repair_time", "hours", "from a node's failure until it can be used again", '"24 hour"'),
    _zero(
        "preemption_rate",
        "preemptions/node-day",
        "preemptions of spot nodes, by node and day",
        '"0.1 preemption/node-day"',
    ),
    _zero("spot_price_per_accelerator_hour", "USD/accelerator-hour", "spot price", '"1.4 USD/hour"'),
    _zero("reserved_price_per_accelerator_hour", "USD/accelerator-hour", "price under a commitment", '"1.9 USD/hour"'),
    _zero("accelerator_price", "USD/accelerator", "price of buying one accelerator", '"30000 USD"'),
    _ratio("server_overhead", meaning="price of a server over that of the accelerators in it", example="1.65"),
    _ratio("interconnect_overhead", meaning="price of a cluster over that of its servers", example="1.23"),
    _zero("hardware_price_decay", "1/year", "rate at which the price of a given performance falls", '"0.32 / year"'),
    _zero("colocation_price", "USD/kW-month", "space and cooling, by power of the nodes", '"150 USD/kW-month"'),
    _zero("storage_price", "USD/GB-month", "price of keeping data", '"0.02 USD/GB-month"'),
    _zero("egress_price", "USD/GB", "price of moving data out", '"0.09 USD/GB"'),
    _zero(
        "experiment_ratio",
        "fraction",
        "compute of experiments and failed runs over that of the final run",
        '"50 %"',
    ),
    Quantity(
        "staff_share",
        "fraction",
        "people's part of the whole development cost",
        '"40 %"',
        high=1.0,
        open="high",
    ),
    Quantity("bytes_per_token", "byte/token", "data set bytes for each token that is stored", '"2 byte/token"'),
    Quantity(
        "checkpoint_bytes_per_parameter", "byte/parameter", "checkpoint bytes for each parameter", '"14 byte/parameter"'
    ),
    Quantity(
        "usable_memory_fraction",
        "fraction",
        "accelerator memory left to weights, states and activations by the runtime and fragmentation",
        "0.9",
        high=1.0,
    ),
    # --- inputs that are mostly plans
    Quantity("accelerators_per_node", "accelerators/node", "accelerators that fail together", "8"),
    _zero("spare_nodes", "nodes", "nodes held ready to replace failed ones", "16"),
    _zero("idle_time", "days", "time that the accelerators are held before and after the run", '"3 day"'),
    Quantity("checkpoint_interval", "minutes", "stepping time between checkpoints", '"30 minute"'),
    Quantity("checkpoint_write_time", "seconds", "time that a checkpoint stops the run", '"60 s"'),
    _count("checkpoints_kept", meaning="checkpoints that are stored", example="10"),
    _zero("retention_time", "days", "how long data and checkpoints are kept after the run", '"365 day"'),
    Quantity("commitment", "days", "length of a reservation, which is paid in full", '"365 day"'),
    _zero("on_demand_share", "fraction", "part of the accelerators rented on demand", "1", high=1.0),
    _zero("spot_share", "fraction", "part of the accelerators on spot", "0.5", high=1.0),
    _zero("reserved_share", "fraction", "part of the accelerators under a commitment", "0.5", high=1.0),
    _zero("owned_share", "fraction", "part of the accelerators that is owned", "1", high=1.0),
    _zero("time_to_start", "years", "from the date of the prices to the start of the run", '"0.75 year"'),
    _zero("egress_bytes", "TB", "data moved out", '"100 TB"'),
    Quantity("thermal_design_power", "W/accelerator", "thermal design power of one accelerator", '"700 W"'),
    Quantity("accelerator_memory", "GB/accelerator", "memory of one accelerator", '"80 GB"'),
    Quantity("memory_bandwidth", "GB/accelerator-second", "memory bandwidth of one accelerator", '"3350 GB/s"'),
    # --- layout
    _layout("tensor_parallel", meaning="accelerators that share each layer", example="8", low=1.0),
    _layout("pipeline_parallel", meaning="pipeline stages", example="16", low=1.0),
    _layout("expert_parallel", meaning="accelerators that share each layer's experts", example="64", low=1.0),
    _layout(
        "sequence_parallel", meaning="whether activations are split along the sequence: 0 or 1", example="1", high=1.0
    ),
    _layout(
        "zero_stage",
        meaning="ZeRO stage: 1 shards optimizer states, 2 also gradients, 3 also weights",
        example="1",
        high=3.0,
    ),
    _layout("micro_batch", meaning="sequences in one micro-batch", example="1", low=1.0),
    _layout("micro_batches", meaning="micro-batches of one step in one pipeline", example="16", low=1.0),
    _layout("pipeline_interleave", meaning="model chunks of each pipeline stage", example="1", low=1.0),
    Quantity("weight_bytes_per_parameter", "byte/parameter", "bytes of a weight", '"2 byte/parameter"'),
    Quantity("gradient_bytes_per_parameter", "byte/parameter", "bytes of a gradient", '"2 byte/parameter"'),
    _zero("optimizer_bytes_per_parameter", "byte/parameter", "bytes of optimizer states", '"12 byte/parameter"'),
    # --- architecture
    Quantity("total_parameters", "parameters", "all parameters, also inactive experts", '"671e9 parameter"'),
    Quantity(
        "matmul_parameters",
        "parameters",
        "active parameters in matrix products, the output head included",
        '"69e9 parameter"',
    ),
    _zero("expert_parameters", "parameters", "parameters of all routed experts", '"650e9 parameter"'),
    _zero("output_head_parameters", "parameters", "vocabulary size times hidden size", '"262e6 parameter"'),
    _count("attention_width", meaning="heads times head size, summed over layers", example="655360"),
    Quantity("attended_tokens", "tokens", "tokens that a token attends to, on average", '"2048 token"'),
    _count("layers", meaning="transformer layers", example="80"),
    Quantity("hidden_size", "count", "width of the residual stream", "8192"),
    _count("attention_heads", meaning="query heads of a layer", example="64"),
    Quantity("vocabulary_size", "count", "entries of the vocabulary", "32000"),
    Quantity("sequence_length", "tokens", "tokens in a training sequence", "4096"),
    # --- fully connected networks
    _count("weights", meaning="connections between neurons", example="9"),
    _count("biases", meaning="biases of neurons", example="4"),
    _count("neurons", meaning="neurons, without the inputs", example="4"),
    Quantity("examples", "count", "training examples seen, repeats included", "1000"),
    # --- scaling law
    _zero("loss_floor", "fraction", "E: loss that neither size nor data removes, nats per token", "1.8172"),
    Quantity("parameter_coefficient", "count", "A of A / N^alpha", "482.01"),
    Quantity("token_coefficient", "count", "B of B / D^beta", "2085.43"),
    Quantity("parameter_exponent", "fraction", "alpha of A / N^alpha", "0.3478"),
    Quantity("token_exponent", "fraction", "beta of B / D^beta", "0.3658"),
    # --- computed: compute and time
    Quantity(
        "weight_flop_per_token",
        "FLOP/token",
        "FLOP of the weights for one token, forward and backward",
        '"4e11 FLOP/token"',
    ),
    _zero(
        "attention_flop_per_token",
        "FLOP/token",
        "FLOP of attention scores for one token, forward and backward",
        '"3e10 FLOP/token"',
    ),
    _zero(
        "recomputed_flop_per_token", "FLOP/token", "FLOP of recomputed activations for one token", '"1e11 FLOP/token"'
    ),
    Quantity("hardware_flop", "FLOP", "FLOP executed, with what is recomputed", '"9e23 FLOP"'),
    Quantity("hfu", "fraction", "hardware FLOP utilisation while stepping", "0.5", usual_high=1.0),
    Quantity("stepping_time", "days", "time spent in steps", '"40 day"'),
    _zero("working_time", "days", "time spent in steps and evaluation", '"41 day"'),
    _zero("nodes", "nodes", "nodes that work on the run", "256"),
    Quantity("cluster_mtbf", "hours", "mean time between failures of the whole cluster", '"3.1 hour"'),
    _zero("interruptions", "failures", "failures expected during the run", '"419 failure"'),
    _zero("spare_accelerators", "accelerators", "accelerators held ready to replace failed ones", "128"),
    Quantity("nodes_in_repair", "nodes", "nodes under repair at a time, on average", "12"),
    _zero("spare_wait", "minutes", "wait for a repair where no spare is left, averaged over failures", '"5 minute"'),
    Quantity("running_time", "days", "time for work, checkpoints, lost work and restarts", '"45 day"', endless=True),
    _zero("goodput", "fraction", "stepping time over wall-clock time", "0.9", high=1.0),
    Quantity("pipeline_bubble", "fraction", "part of a step that pipeline stages wait", '"5 %"', open="", high=1.0),
    # --- computed: memory and data
    _count("data_parallel", meaning="replicas of the model", example="128", low=1.0),
    Quantity(
        "parameters_per_accelerator",
        "parameters/accelerator",
        "parameters that one accelerator works on",
        '"1e9 parameter"',
    ),
    Quantity("weight_memory", "GB/accelerator", "weights on one accelerator", '"2 GB"'),
    Quantity("gradient_memory", "GB/accelerator", "gradients on one accelerator", '"2 GB"'),
    _zero("optimizer_memory", "GB/accelerator", "optimizer states on one accelerator", '"12 GB"'),
    _zero("activation_memory", "GB/accelerator", "activations on the first pipeline stage's accelerators", '"20 GB"'),
    _zero("logit_memory", "GB/accelerator", "logits on one accelerator", '"1 GB"'),
    Quantity("memory_per_accelerator", "GB/accelerator", "memory needed on one accelerator", '"60 GB"'),
    Quantity("usable_memory", "GB/accelerator", "memory that can be used on one accelerator", '"72 GB"'),
    Quantity("memory_utilisation", "fraction", "memory needed over memory usable", "0.8"),
    Quantity(
        "minimum_accelerators",
        "accelerators",
        "smallest cluster whose memory suffices in this layout",
        "512",
        endless=True,
    ),
    Quantity("dataset_bytes", "TB", "size of the data set", '"30 TB"'),
    Quantity("checkpoint_bytes", "TB", "size of one checkpoint", '"1 TB"'),
    _zero("loading_bandwidth", "MB/s", "data read by the run", '"10 MB/s"'),
    Quantity(
        "needed_checkpoint_bandwidth",
        "GB/s",
        "bandwidth that keeps checkpoints within their part of the time",
        '"100 GB/s"',
    ),
    Quantity("checkpoint_time_share", "fraction", "part of the time that checkpoints may take", '"1 %"', high=1.0),
    # --- computed: energy and money
    Quantity(
        "accelerator_power", "W/accelerator", "power drawn at the node for one accelerator in training", '"970 W"'
    ),
    Quantity("energy", "MWh", "energy drawn by the site", '"688 MWh"'),
    _zero("emissions", "tonnes", "CO2 equivalent of the energy", '"291 tonne"'),
    _zero("price_rise", "fraction", "relative change of accelerator prices until the start", '"-5 %"', low=-1.0),
    _bill("rental_cost", meaning="accelerators rented on demand"),
    _bill("spot_cost", meaning="accelerators on spot"),
    _bill("reserved_cost", meaning="accelerators under a commitment"),
    _zero(
        "acquisition_price",
        "USD/accelerator",
        "price of one accelerator with its part of server and network",
        '"60000 USD"',
    ),
    _bill("ownership_cost", meaning="owned accelerators, servers and network: the value lost during the run"),
    _bill("compute_cost", meaning="accelerators, rented and owned"),
    _bill("idle_cost", meaning="spare and idle accelerators"),
    _bill("electricity_cost", meaning="energy of owned accelerators"),
    _bill("colocation_cost", meaning="space for owned accelerators"),
    _bill("storage_cost", meaning="keeping data and checkpoints"),
    _bill("egress_cost", meaning="moving data out"),
    _bill("experiments_cost", meaning="experiments and failed runs"),
    _bill("staff_cost", meaning="people"),
    # --- computed: small networks and scaling
    Quantity("network_parameters", "parameters", "weights and biases", "13"),
    Quantity("forward_flop", "FLOP", "FLOP of one forward pass for one example", '"18 FLOP"'),
    Quantity("example_flop", "FLOP", "FLOP of training on one example: forward and backward", '"54 FLOP"'),
    Quantity(
        "optimal_parameters", "parameters", "parameters that give the least loss for the compute", '"7e10 parameter"'
    ),
    Quantity("optimal_tokens", "tokens", "tokens that give the least loss for the compute", '"1.4e12 token"'),
    Quantity("tokens_per_parameter", "token/parameter", "tokens for each parameter", '"20 token/parameter"'),
    Quantity("loss", "fraction", "predicted loss, nats per token", "1.9"),
    # --- appended later
    _bill("commitment_cost", meaning="what commitments leave unused"),
    _count(
        "activation_width",
        meaning="numbers that a layer keeps for each token and tensor parallelism splits",
        example="98304",
    ),
    # --- serving: who asks for what
    _zero("daily_users", "users", "users on a day", '"100e6 user"'),
    _zero("users", "users", "all that have an account", '"300e6 user"'),
    _zero("requests_per_user", "requests/user-day", "requests of a daily user on that day", '"10 request/user-day"'),
    _ratio("peak_factor", meaning="requests in the busiest time of the day over their daily mean", example="2"),
    Quantity("prompt_tokens", "tokens/request", "tokens of a prompt, mean over requests", '"1000 token/request"'),
    Quantity(
        "output_tokens",
        "tokens/request",
        "tokens of an answer, mean over requests",
        '"300 token/request"',
        low=1.0,
        open="",
    ),
    _zero(
        "prompt_tokens_spread",
        "fraction",
        "standard deviation of prompt lengths over requests, as a part of their mean",
        "1.2",
        usual_high=10.0,
    ),
    _zero(
        "output_tokens_spread",
        "fraction",
        "standard deviation of output lengths over requests, as a part of their mean",
        "1",
        usual_high=10.0,
    ),
    _zero(
        "cached_fraction", "fraction", "part of the prompts' tokens whose keys and values are cached", "0.4", high=1.0
    ),
    Quantity(
        "target_utilisation",
        "fraction",
        "part of a replica's capacity that may be asked of it at the peak",
        "0.7",
        high=1.0,
    ),
    # --- serving: how
    Quantity("prefill_mfu", "fraction", "model FLOP utilisation while prompts are read", "0.5", high=1.0),
    Quantity(
        "decode_mfu", "fraction", "model FLOP utilisation of a decoding step that is bound by compute", "0.4", high=1.0
    ),
    Quantity(
        "mbu", "fraction", "memory bandwidth utilisation of a decoding step that is bound by reading", "0.6", high=1.0
    ),
    _zero(
        "step_overhead",
        "ms",
        "time of a decoding step beside products and attention: launches, sampling, communication",
        '"2 ms"',
    ),
    Quantity("kv_bytes_per_number", "bytes", "bytes of a number in the key-value cache", '"2 byte"'),
    _count("kv_width", meaning="numbers in the key-value cache for one token, over all layers", example="163840"),
    Quantity("cache_heads", "count", "heads of keys and values; one for latent attention", "8", low=1.0, open=""),
    Quantity("expert_share", "fraction", "part of the routed experts that a token is sent to", "0.03125", high=1.0),
    _count("decode_attention_width", meaning="attention_width in the form that is used for decoding", example="655360"),
    _zero("draft_tokens", "count", "tokens drafted for each decoding step (speculative decoding)", "3"),
    _zero("acceptance_rate", "fraction", "chance that a drafted token is accepted", "0.7", high=1.0),
    _zero("draft_cost", "fraction", "time of drafting one token as a part of a decoding step", "0.05"),
    Quantity(
        "time_per_output_token_target", "ms/token", "slowest that tokens may come under full load", '"50 ms/token"'
    ),
    _count("batch_limit", meaning="requests that the engine decodes at a time at most", example="256", low=1.0),
    Quantity("generation_steps", "count", "steps of a generating model by request (denoising steps, frames)", "30"),
    Quantity(
        "step_flop",
        "FLOP/request",
        "FLOP of one of them, with guidance's second pass where there is one",
        '"12e12 FLOP/request"',
    ),
    _zero("spare_replicas", "replicas", "replicas held ready in case others fail", "1"),
    Quantity("period", "months", "time that the bill is for", '"1 month"'),
    _zero("request_bytes", "kB/request", "data that comes in with a request", '"4 kB/request"'),
    _zero("response_bytes", "kB/request", "data that goes out with an answer", '"10 kB/request"'),
    _zero("bytes_per_user", "kB/user", "data kept of a user", '"10 kB/user"'),
    _zero("index_overhead", "fraction", "what indexes take beside the data they lead to", '"25 %"'),
    _zero("log_bytes_per_request", "kB/request", "log of a request", '"2 kB/request"'),
    _zero("log_retention", "days", "how long logs are kept", '"30 day"'),
    # --- serving: computed
    _zero("request_rate", "requests/s", "requests, averaged over the day", '"11574 request/s"'),
    _zero("peak_request_rate", "requests/s", "requests in the busiest time of the day", '"23000 request/s"'),
    Quantity("replica_accelerators", "accelerators/replica", "accelerators of one replica", "8"),
    Quantity(
        "dense_weight_memory", "GB/accelerator", "weights on one accelerator that every token passes through", '"17 GB"'
    ),
    _zero("expert_weight_memory", "GB/accelerator", "routed experts on one accelerator", '"11 GB"'),
    Quantity("kv_bytes_per_token", "kB/token", "key-value cache of one token", '"328 kB/token"'),
    Quantity(
        "kv_shards", "accelerators/replica", "accelerators among which a replica's cache is split without copies", "8"
    ),
    _zero("kv_memory", "GB/replica", "memory of a replica that is left to the key-value cache", '"438 GB/replica"'),
    Quantity(
        "context_tokens",
        "tokens/request",
        "tokens in the cache of a request that decodes, on average",
        '"1200 token/request"',
    ),
    _zero("memory_batch", "requests/replica", "requests whose cache a replica can hold at a time", "326"),
    _zero("fitting_batch", "requests/replica", "requests that a replica takes at a time at most", "256"),
    _zero("latency_batch", "requests/replica", "requests that decode at a time with none of them too slow", "35"),
    _zero("batch", "requests/replica", "requests that decode at a time under full load", "64"),
    Quantity("prefill_flop", "FLOP/request", "FLOP of reading one prompt", '"3e14 FLOP/request"', open=""),
    Quantity("prefill_time", "ms/request", "time of a replica that one prompt takes", '"74 ms/request"', open=""),
    Quantity("dense_read_time", "ms", "time in which the weights that every token passes through are read", '"8 ms"'),
    _zero("expert_read_time", "ms", "time in which all routed experts are read", '"5 ms"'),
    _zero(
        "expert_miss", "fraction", "chance that one request leaves a routed expert alone in a step", "0.97", high=1.0
    ),
    Quantity(
        "decode_compute_time",
        "ms/request",
        "time by which a request lengthens a step that is bound by compute",
        '"0.02 ms/request"',
    ),
    Quantity("decode_attention_time", "ms/request", "time of a step for one request's attention", '"0.05 ms/request"'),
    _zero("accepted_tokens", "count", "drafted tokens that a step accepts, on average", "2"),
    Quantity(
        "speculation_saving",
        "fraction",
        "part of the time for an output token that drafting saves",
        "0.5",
        low=-math.inf,
        high=1.0,
        open="high",
    ),
    Quantity("step_time", "ms", "time of a decoding step of a full batch", '"12 ms"'),
    Quantity("request_flop", "FLOP/request", "FLOP of one request", '"3.6e14 FLOP/request"'),
    Quantity(
        "replica_time",
        "s.replica/request",
        "time of a whole replica that a request takes under full load",
        '"0.1 s.replica/request"',
        endless=True,
    ),
    _zero(
        "replica_request_rate",
        "requests/replica-s",
        "requests that a replica serves under full load",
        '"10 request/replica-s"',
    ),
    _zero(
        "replica_token_rate", "tokens/replica-s", "output tokens of a replica under full load", '"2500 token/replica-s"'
    ),
    _zero("replicas", "replicas", "replicas that serve the peak, without spare ones", "4", endless=True),
    _zero("mean_replicas", "replicas", "replicas that serve the daily mean", "2", endless=True),
    _zero(
        "mean_accelerators",
        "accelerators",
        "accelerators of a fleet that follows its load, on average",
        "16",
        endless=True,
    ),
    _zero("servers", "nodes", "whole servers of the fleet for the peak", "4", endless=True),
    _zero(
        "utilisation", "fraction", "what is asked of the fleet at the peak over what it can serve", "0.7", endless=True
    ),
    _zero("running_requests", "requests/replica", "requests that decode at a time at the peak", "18"),
    Quantity("time_per_output_token", "ms/token", "time between two tokens at the peak", '"15 ms/token"'),
    _zero("slots", "requests", "requests that the whole fleet serves at a time", "192", endless=True),
    _zero(
        "queue_probability", "fraction", "chance that a request has to wait for a slot at the peak", "0.01", high=1.0
    ),
    _zero("queue_wait", "s", "mean wait for a slot at the peak", '"0.1 s"', endless=True),
    _zero(
        "service_spread",
        "fraction",
        "standard deviation of the time of service over requests, as a part of its mean",
        "1",
    ),
    _zero("prefill_wait", "s", "mean wait at the peak until a prompt is read", '"0.05 s"'),
    Quantity(
        "time_to_first_token",
        "s",
        "time until the first token at the peak, on average",
        '"0.2 s"',
        open="",
        endless=True,
    ),
    Quantity(
        "response_time", "s", "time until the whole answer at the peak, on average", '"5 s"', open="", endless=True
    ),
    _zero("fleet_power", "kW", "power of the site when the whole fleet is busy", '"1000 kW"', endless=True),
    _zero("ingress_bandwidth", "MB/s", "data that comes in at the peak", '"90 MB/s"'),
    _zero("egress_bandwidth", "MB/s", "data that goes out at the peak", '"230 MB/s"'),
    _zero("user_bytes", "TB", "data kept of users", '"1.25 TB"'),
    _zero("log_bytes", "TB", "logs that are kept", '"60 TB"'),
    # --- token economics
    _zero("api_input_price", "USD/Mtoken", "list price of an API for input tokens", '"0.5 USD/Mtoken"'),
    _zero("api_cached_price", "USD/Mtoken", "list price of an API for cached input tokens", '"0.1 USD/Mtoken"'),
    _zero("api_output_price", "USD/Mtoken", "list price of an API for output tokens", '"1.5 USD/Mtoken"'),
    _zero("input_price", "USD/Mtoken", "what is charged for input tokens", '"0.6 USD/Mtoken"'),
    _zero("cached_price", "USD/Mtoken", "what is charged for cached input tokens", '"0.1 USD/Mtoken"'),
    _zero("output_price", "USD/Mtoken", "what is charged for output tokens", '"2 USD/Mtoken"'),
    _zero(
        "subscription_price",
        "USD/user-month",
        "what an account pays, those that pay nothing included",
        '"0.5 USD/user-month"',
    ),
    _zero("training_cost", "USD", "what training has cost, to be recovered", '"6e6 USD"'),
    _zero("cost_per_request", "USD/request", "whole bill over all requests", '"0.001 USD/request"', endless=True),
    _zero("cost_per_user", "USD/user-month", "whole bill over daily users", '"0.2 USD/user-month"', endless=True),
    _zero(
        "cost_per_input_token",
        "USD/Mtoken",
        "cost of reading a token that is not cached",
        '"0.4 USD/Mtoken"',
        endless=True,
    ),
    _zero("cost_per_output_token", "USD/Mtoken", "cost of writing a token", '"1.3 USD/Mtoken"', endless=True),
    _zero("cost_per_generated_token", "USD/Mtoken", "whole bill over output tokens", '"1.8 USD/Mtoken"', endless=True),
    _zero(
        "api_cost_per_request", "USD/request", "cost of a request over an API at list prices", '"0.0008 USD/request"'
    ),
    _bill("api_cost", meaning="the same requests over an API at list prices"),
    _zero("cost_over_api", "fraction", "own cost over that of the API", "0.7", endless=True),
    _zero(
        "replica_cost_rate",
        "USD/replica-hour",
        "cost of a replica with its part of the rest of the bill",
        '"24 USD/replica-hour"',
    ),
    _zero(
        "break_even_request_rate",
        "requests/s",
        "requests from which on one's own fleet costs less than the API",
        '"8 request/s"',
        endless=True,
    ),
    _zero("charge_per_request", "USD/request", "what is charged for a request", '"0.002 USD/request"'),
    _bill("revenue", meaning="what comes in over the period"),
    Quantity(
        "gross_margin",
        "fraction",
        "part of the revenue that serving leaves",
        "0.6",
        low=-math.inf,
        high=1.0,
        open="",
        endless=True,
    ),
    _zero("recovery_time", "months", "time in which the margin pays the training", '"9 month"', endless=True),
    _zero(
        "recovery_tokens",
        "tokens",
        "output tokens over which the margin pays the training",
        '"5e10 token"',
        endless=True,
    ),
    _zero(
        "served_request_rate",
        "requests/replica-s",
        "requests that a replica takes in at the peak",
        '"7 request/replica-s"',
    ),
)

QUANTITIES: Mapping[str, Quantity] = MappingProxyType({quantity.name: quantity for quantity in _VOCABULARY})

COLUMNS: Mapping[str, int] = MappingProxyType({quantity.name: column for column, quantity in enumerate(_VOCABULARY)})

# Tables of prices by accelerator, and the input that each states.
PRICES: Mapping[str, str] = MappingProxyType(
    {
        "prices": "price_per_accelerator_hour",
        "spot_prices": "spot_price_per_accelerator_hour",
        "reserved_prices": "reserved_price_per_accelerator_hour",
    }
)

COST, TIME = "cost", "training_time"

# What a risk review tests: the name in [limits], and the output it limits from above. These outputs are the headlines:
# what is reviewed, explained and drawn first of those that an estimator gives.
LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "budget": COST,
        "deadline": TIME,
        "first_token": "time_to_first_token",
        "next_token": "time_per_output_token",
        "response": "response_time",
    }
)
