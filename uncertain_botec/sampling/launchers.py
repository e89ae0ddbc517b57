"""What launchers tell the processes that they start: where they meet, how many they are, and which one this is."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping


def told_by(environment: Mapping[str, str]) -> tuple[str | None, int | None, int | None]:
    """Coordinator, number of processes and rank, as far as a launcher tells them."""
    get = environment.get
    host, size, rank, job = None, None, get("JOB_COMPLETION_INDEX"), ""
    # Open MPI first: within Slurm its daemons are started by srun, whose variables count daemons.
    if "OMPI_COMM_WORLD_RANK" in environment:
        size, rank = get("OMPI_COMM_WORLD_SIZE"), get("OMPI_COMM_WORLD_RANK")
        launcher = get("OMPI_MCA_orte_hnp_uri", "")
        job = get("PMIX_NAMESPACE", launcher)
        at = re.search(r"tcp://([^,:]+)|tcp6://(\[[^,\]]+)", launcher)
        if get("OMPI_COMM_WORLD_LOCAL_SIZE") == size:
            host = "127.0.0.1"
        elif at:
            host = at[1] or f"{at[2]}]"
    # A batch script has most of the variables too, but only srun tells of a step.
    elif "SLURM_STEP_NODELIST" in environment and "SLURM_PROCID" in environment:
        size, rank = get("SLURM_STEP_NUM_TASKS", get("SLURM_NTASKS")), get("SLURM_PROCID")
        job = f"{get('SLURM_JOB_ID')}.{get('SLURM_STEP_ID')}"
        # The first of `node[001-003,7]-ib,other`.
        first = re.match(r"(?:[^,\[]|\[[^\]]*\])*", get("SLURM_STEP_NODELIST", ""))
        host = re.sub(r"\[([^,\-\]]*)[^\]]*\]", r"\1", first[0]) if first else None
    # Above the ports that Linux gives out by itself, and seldom the same for two jobs on one machine.
    port = get("JAX_COORDINATOR_PORT") or 61440 + zlib.crc32(job.encode()) % 4096
    coordinator = get("JAX_COORDINATOR_ADDRESS") or (f"{host}:{port}" if host else None)
    return coordinator, int(size) if size else None, int(rank) if rank else None
