"""What failures, checkpoints and restarts cost in time: the exact expectation, and a simulation of single runs."""

from __future__ import annotations

from uncertain_botec.formulas.base import Array, Luck, formula, namespace

_DALY = "Daly 2006, Future Generation Computer Systems 22, 303-312"
_FAILURES = ("node_failure_rate", "preemption_rate")

# Beyond this exponent a run takes more than 10^17 times as long as its steps.
_ENDLESS = 40.0


@formula(equation="accelerators / accelerators_per_node", source="definition", trigger=_FAILURES)
def nodes(accelerators: Array, accelerators_per_node: Array) -> Array:
    """Nodes that work on a run, N = n / g.

    Args:
        accelerators: n.
        accelerators_per_node: g, which fail together.

    Returns:
        N; less than one where the run takes a part of a node.

    Example: 16,384 accelerators by 8 are 2,048 nodes (Llama 3.1 405B).
    """
    return accelerators / accelerators_per_node


@formula(
    equation="1 / (nodes * (node_failure_rate + spot_share * preemption_rate))",
    source="Kokolis et al. 2024, arXiv 2410.21680, section III (MTTF of a job, 1 / N r_f)",
    trigger=_FAILURES,
    constant="failure",
)
def cluster_mtbf(nodes: Array, node_failure_rate: Array, spot_share: Array = 0, preemption_rate: Array = 0) -> Array:
    """Mean time between failures of the whole cluster, M = 1 / N (r_f + s r_p): any node's failure stops all of them.

    Failures are taken as independent and memoryless. The rule was found good for large jobs and poor for some of
    middling size (28.8 hours predicted, 7.9 measured at 1,024 accelerators), which is why r_f is a wide prior.

    Args:
        nodes: N.
        node_failure_rate: r_f, failures that stop the run, by node and time.
        spot_share: s, the part of the nodes that may be preempted.
        preemption_rate: r_p, preemptions by spot node and time.

    Returns:
        M in seconds.

    Example: 2,048 nodes at 6.50 failures per 1000 node-days: 1.80 hours (arXiv 2410.21680).
    """
    return 1 / (nodes * (node_failure_rate + spot_share * preemption_rate))


@formula(
    equation="sqrt(2 * checkpoint_write_time * cluster_mtbf)",
    source="Young 1974, Communications of the ACM 17, 530-531",
    output="checkpoint_interval",
    when={"checkpointing": ("young",)},
)
def interval_by_young(checkpoint_write_time: Array, cluster_mtbf: Array) -> Array:
    """Working time between checkpoints that loses least, to first order: τ = sqrt(2 d M).

    Args:
        checkpoint_write_time: d, in which the run stands still.
        cluster_mtbf: M.

    Returns:
        τ in seconds.

    Example: d = 300 s and M = 6 h: 3600 s.
    """
    xp = namespace(checkpoint_write_time, cluster_mtbf)
    return xp.sqrt(2 * checkpoint_write_time * cluster_mtbf)


@formula(
    equation=(
        "where(checkpoint_write_time < 2 * cluster_mtbf, sqrt(2 * checkpoint_write_time * cluster_mtbf)"
        " * (1 + sqrt(checkpoint_write_time / (2 * cluster_mtbf)) / 3 + checkpoint_write_time / (18 * cluster_mtbf))"
        " - checkpoint_write_time, cluster_mtbf)"
    ),
    source=f"{_DALY}, equation 37",
    output="checkpoint_interval",
    when={"checkpointing": ("daly",)},
)
def interval_by_daly(checkpoint_write_time: Array, cluster_mtbf: Array) -> Array:
    """Working time between checkpoints that loses least, τ = sqrt(2dM) (1 + sqrt(d/2M)/3 + (d/2M)/9) - d.

    Where a checkpoint takes twice the mean time between failures or more, τ = M.

    Args:
        checkpoint_write_time: d, in which the run stands still.
        cluster_mtbf: M.

    Returns:
        τ in seconds.

    Example: d = 300 s and M = 6 h: 3402.8 s.
    """
    xp = namespace(checkpoint_write_time, cluster_mtbf)
    d, m = checkpoint_write_time, cluster_mtbf
    half = d / (2 * m)
    return xp.where(d < 2 * m, xp.sqrt(2 * d * m) * (1 + xp.sqrt(half) / 3 + half / 9) - d, m)


@formula(equation="spare_nodes * accelerators_per_node", source="definition", trigger=("spare_nodes",))
def spare_accelerators(spare_nodes: Array, accelerators_per_node: Array) -> Array:
    """Accelerators held ready to replace failed ones, s = s_n g.

    Args:
        spare_nodes: s_n.
        accelerators_per_node: g.

    Returns:
        s in accelerators.

    Example: 16 spare nodes of 8: 128 accelerators.
    """
    return spare_nodes * accelerators_per_node


@formula(
    equation="nodes * node_failure_rate * repair_time",
    source="Little 1961, Operations Research 9, 383-387",
    trigger=("repair_time",),
    constant="node",
)
def nodes_in_repair(nodes: Array, node_failure_rate: Array, repair_time: Array) -> Array:
    """Nodes under repair at a time, on average: B = N r_f R_n.

    Args:
        nodes: N, that work.
        node_failure_rate: r_f.
        repair_time: R_n, from a node's failure until it can be used again.

    Returns:
        B in nodes.

    Example: 2,048 nodes at 6.50 failures per 1000 node-days and repairs of 24 hours: 13.3 nodes.
    """
    return nodes * node_failure_rate * repair_time


@formula(
    equation="repair_time * maximum(0, 1 - spare_nodes / nodes_in_repair)",
    source="fluid limit of the Erlang loss formula",
    trigger=("repair_time",),
)
def spare_wait(repair_time: Array, nodes_in_repair: Array, spare_nodes: Array = 0) -> Array:
    """Wait for a repair where no spare is left, averaged over failures: w = R_n max(0, 1 - s / B).

    Spares cover a share s / B of the failures in the long run. Fluctuations are left out, so that this is a lower bound
    while s is within a few sqrt(B) of B.

    Args:
        repair_time: R_n.
        nodes_in_repair: B, on average.
        spare_nodes: s, held ready.

    Returns:
        w in seconds.

    Example: without spares every failure waits for its repair: 24 hours.
    """
    xp = namespace(repair_time, nodes_in_repair, spare_nodes)
    return repair_time * xp.maximum(0, 1 - spare_nodes / nodes_in_repair)


@formula(equation="stepping_time * (1 + evaluation_fraction)", source="definition", trigger=_FAILURES)
def working_time(stepping_time: Array, evaluation_fraction: Array = 0) -> Array:
    """Time that steps and evaluation take without any failure, T_w = T_s (1 + e).

    Args:
        stepping_time: T_s.
        evaluation_fraction: e, pauses for evaluation over stepping time.

    Returns:
        T_w in seconds.

    Example: 50 days of steps and 2 % of evaluation are 51 days.
    """
    return stepping_time * (1 + evaluation_fraction)


@formula(
    equation=(
        "ceil(working_time / checkpoint_interval) * (cluster_mtbf + spare_wait) * exp(restart_time / cluster_mtbf)"
        " * (exp((working_time / ceil(working_time / checkpoint_interval) + checkpoint_write_time) / cluster_mtbf) - 1)"
    ),
    source=f"{_DALY}, equation 20, with whole intervals",
    output="running_time",
    when={"failures": ("expected",)},
    trigger=_FAILURES,
)
def expected_running_time(
    working_time: Array,
    checkpoint_interval: Array,
    checkpoint_write_time: Array,
    restart_time: Array,
    cluster_mtbf: Array,
    spare_wait: Array = 0,
) -> Array:
    """Expected time for work, checkpoints, lost work and restarts: E = n (M + w) e^(R/M) (e^((T_w/n + d)/M) - 1).

    Exact for memoryless failures, which may also strike during checkpoints and restarts, though not while the run waits
    for a repair; it is cut into n = ceil(T_w / τ) equal intervals that each end in a checkpoint. Infinite where d >= M:
    a checkpoint takes longer to write than the cluster runs between failures, and nobody would wait for what the
    formula still gives.

    Args:
        working_time: T_w, steps and evaluation.
        checkpoint_interval: τ, working time between checkpoints.
        checkpoint_write_time: d, in which the run stands still.
        restart_time: R, from a failure to the next new step, with a spare at hand.
        cluster_mtbf: M.
        spare_wait: w, for a repair, averaged over failures.

    Returns:
        E in seconds.

    Example: d = 300 s, M = 6 h, τ = 3402.8 s (Daly's): T_w / E = 0.8425 for R = 0, and 0.8194 for R = 600 s.
    """
    xp = namespace(working_time, checkpoint_interval, checkpoint_write_time, restart_time, cluster_mtbf, spare_wait)
    n = xp.maximum(1, xp.ceil(working_time / checkpoint_interval))
    interval = (working_time / n + checkpoint_write_time) / cluster_mtbf
    restart = restart_time / cluster_mtbf
    endless = (checkpoint_write_time >= cluster_mtbf) | (interval + restart > _ENDLESS)
    tries = xp.exp(xp.minimum(restart, _ENDLESS)) * xp.expm1(xp.minimum(interval, _ENDLESS))
    return xp.where(endless, xp.inf * working_time, n * (cluster_mtbf + spare_wait) * tries)


@formula(
    equation="working_time + checkpoints + lost work + restarts + waits of one run, drawn failure by failure",
    source=f"simulation of the renewal process behind {_DALY}, equation 20",
    output="running_time",
    when={"failures": ("simulated",)},
    trigger=_FAILURES,
)
def simulated_running_time(
    working_time: Array,
    checkpoint_interval: Array,
    checkpoint_write_time: Array,
    restart_time: Array,
    cluster_mtbf: Array,
    luck: Luck,
    spare_wait: Array = 0,
) -> Array:
    """Time that one run takes for work, checkpoints, lost work and restarts, with its failures drawn at random.

    The process whose mean is `expected_running_time`: each event is one failure, an exponential time after the one
    before. A limited number of failures is drawn one by one; what is left of the run then has so many that its time is
    drawn at once, from a lognormal law with the exact mean and variance.

    Args:
        working_time: T_w, steps and evaluation.
        checkpoint_interval: τ, working time between checkpoints.
        checkpoint_write_time: d, in which the run stands still.
        restart_time: R, from a failure to the next new step, with a spare at hand.
        cluster_mtbf: M.
        luck: where the randomness comes from.
        spare_wait: w, for a repair, averaged over failures.

    Returns:
        Seconds, one run per draw.

    Example: d = 300 s, M = 6 h, τ = 3402.8 s, R = 600 s: T_w over the mean of this is 0.8194.
    """
    xp = namespace(working_time, checkpoint_interval, checkpoint_write_time, restart_time, cluster_mtbf, spare_wait)
    m = cluster_mtbf
    n = xp.maximum(1, xp.ceil(working_time / checkpoint_interval))
    interval = working_time / n + checkpoint_write_time
    endless = (checkpoint_write_time >= m) | ((interval + restart_time) / m > _ENDLESS)

    def failure(state: Array, exponential: Array) -> Array:
        """The next failure; before the first one there is nothing to restart from."""
        finished, left, clock, restart = state
        until = exponential * m
        done = xp.floor(xp.maximum(until - restart, 0) / interval)
        finishes = done >= left
        clock = clock + xp.where(finished, 0, xp.where(finishes, restart + left * interval, until + spare_wait))
        left = xp.where(finished | finishes, 0, left - done)
        return finished | finishes, left, clock, restart_time

    finished, left, clock, _ = luck.fold(failure, (endless, xp.where(endless, 0, n), 0.0 * n, 0.0 * n))
    mean, variance = _rest(xp, left, interval, restart_time, m)
    least = restart_time + left * interval
    excess = xp.maximum(mean - least, 1e-30 * m)
    width = xp.log1p(variance / excess**2)
    lost = excess * xp.exp(xp.sqrt(width) * luck.normal() - width / 2)
    # As many waits as failures, which strike at the rate 1/M in the time that is not spent waiting.
    rest = (least + lost) * (1 + spare_wait / m)
    return xp.where(endless, xp.inf, clock + xp.where(finished, 0, rest))


def _rest(xp: Array, left: Array, interval: Array, restart: Array, m: Array) -> tuple[Array, Array]:
    """Mean and variance of the time from a failure to the end of a run with `left` intervals to go.

    A restart or an interval is tried until no failure strikes in it: a geometric number of failures, each of which
    takes an exponential time that is known to be short of the length; after those of an interval comes a restart.
    """

    def failures(length: Array) -> tuple[Array, Array, Array, Array]:
        # Mean and variance of the number of failed tries, and of the time that one of them takes: an exponential time
        # truncated to [0, length), m (1 - x / (e^x - 1)) and m^2 (1 - x^2 e^x / (e^x - 1)^2); by series where x is 0.
        x = xp.minimum(length / m, _ENDLESS)
        tries = xp.expm1(x)
        safe = xp.maximum(x, 1e-3)
        ratio = safe / xp.expm1(safe)
        mean = m * xp.where(x > 1e-3, 1 - ratio, x / 2)
        spread = m**2 * xp.where(x > 1e-3, 1 - ratio**2 * xp.exp(safe), x**2 / 12)
        return tries, tries * (tries + 1), mean, spread

    tries, variance, mean, spread = failures(restart)
    restart_mean = restart + tries * mean
    restart_variance = tries * spread + variance * mean**2
    tries, variance, mean, spread = failures(interval)
    each_mean = interval + tries * (mean + restart_mean)
    each_variance = tries * (spread + restart_variance) + variance * (mean + restart_mean) ** 2
    return restart_mean + left * each_mean, restart_variance + left * each_variance


@formula(
    equation="(running_time + startup_time) / stepping_time - 1",
    source="definition",
    trigger=_FAILURES,
)
def failure_overhead(running_time: Array, stepping_time: Array, startup_time: Array = 0) -> Array:
    """Everything that is not stepping, as a fraction of the stepping time: f = (E + T_0) / T_s - 1.

    Args:
        running_time: E, work, checkpoints, lost work and restarts.
        stepping_time: T_s.
        startup_time: T_0, from the start of the run to full speed.

    Returns:
        A fraction.

    Example: 40 days of steps that take 46 days and 2 days to get going: an overhead of 20 %.
    """
    return (running_time + startup_time) / stepping_time - 1


@formula(equation="training_time / (cluster_mtbf + spare_wait)", source="definition", constant="failure")
def interruptions(training_time: Array, cluster_mtbf: Array, spare_wait: Array = 0) -> Array:
    """Failures expected during the run, k = t / (M + w): one in M of the time that is not spent waiting for repairs.

    Args:
        training_time: t, with what failures take.
        cluster_mtbf: M.
        spare_wait: w, for a repair, averaged over failures.

    Returns:
        A number of failures.

    Example: 54 days at 3.09 hours between failures: 419 (Llama 3.1 405B, arXiv 2407.21783).
    """
    return training_time / (cluster_mtbf + spare_wait)
