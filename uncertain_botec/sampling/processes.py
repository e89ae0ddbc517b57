"""Several processes that count one run together: they meet at one address, gather arrays, and end together."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from types import TracebackType
from typing import Self

import numpy as np

from uncertain_botec.errors import BotecError, UsageError
from uncertain_botec.sampling.connections import (
    Array,
    Link,
    address_of,
    call,
    listener_at,
    pack,
    reason_of,
    shown,
    unpack,
)
from uncertain_botec.sampling.launchers import told_by

# Plain connections, not `jax.distributed`: there a lost coordinator, a process that never comes and an address without
# answer abort the process with a stack trace, a taken port crashes it, and the callback that could come first cannot be
# called from Python (jax 0.10.2, tried on CPUs). Only counts are shared, so JAX need not know of other processes.

PATIENCE = 120.0
"""Seconds to wait until every process has come, unless the caller says otherwise."""

GRACE = 10.0
"""Seconds that a process may go on once the run is over, before it is ended from within."""

# Seconds that whoever connects has to show that it is one of us.
_HANDSHAKE = 10.0

_HELLO, _WELCOME, _PARTS, _TROUBLE, _GOODBYE = range(5)


class ProcessLostError(BotecError):
    """The run is over because one of its processes died, failed, never came, or was told something else."""


class Team:
    """The processes of one run, as one of them sees them; the work goes into a `with` block.

    Process 0 is connected with every other. The block ends when all have reached its end. A process that leaves it with
    an exception, dies or is cut off ends the run everywhere: the others raise `ProcessLostError` from what they wait in
    or from `check`, and if they are still in the block after `GRACE` seconds, print it and exit with code 2. A process
    that dies is noticed at once, a machine that vanishes after half a minute; one that hangs is waited for.

    Attributes:
        rank: the number of this process, from 0.
        size: how many there are.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self._names = {rank: f"process {rank} (pid {os.getpid()} on {socket.gethostname()})"}
        self._links: dict[int, Link] = {}
        self._inbox: defaultdict[int, deque[bytes]] = defaultdict(deque)
        self._finished: set[int] = set()
        self._complete = self._inside = self._left = False
        self._trouble: str | None = None
        self._last_resort = threading.Timer(GRACE, self._exit)
        self._last_resort.daemon = True
        self._news, self._passed_on = threading.Condition(), threading.Event()

    def gather(self, parts: Sequence[Array]) -> list[list[Array]]:
        """Everybody's arrays, in the order of ranks and the same everywhere; shapes and types may differ between them.

        Every process calls it equally often. Arrays are of numbers, truth values or text.
        """
        mine = pack(parts)
        if self.rank == 0:
            everybody = [mine, *(self._take(rank) for rank in range(1, self.size))]
            for rank in range(1, self.size):
                for packed in everybody:
                    self._send(rank, _PARTS, packed)
        else:
            self._send(0, _PARTS, mine)
            everybody = [self._take(0) for _ in range(self.size)]
        return [unpack(packed) for packed in everybody]

    def agree(self, text: str) -> None:
        """Refuse to go on where processes were told different things.

        Args:
            text: all that decides the numbers, such as the prior file as it was read and the options, line by line.

        Raises:
            ProcessLostError: in every process, naming those that differ from process 0, and the first line that does.
        """
        told = [array.tobytes().decode() for (array,) in self.gather([np.frombuffer(text.encode(), np.uint8)])]
        if others := [rank for rank, theirs in enumerate(told) if theirs != told[0]]:
            ours, theirs = _first_difference(told[0], told[others[0]])
            raise ProcessLostError(
                f"{_numbered(others)} {'was' if len(others) == 1 else 'were'} told something else than process 0: "
                f"{theirs} in process {others[0]}, {ours} in process 0; "
                "start all with the same options, files and version of botec"
            )

    def check(self) -> None:
        """Raise if the run is over; costs nothing, so that long work can ask often."""
        if self._trouble is not None:
            raise ProcessLostError(self._trouble)

    def fail(self, message: str) -> None:
        """End the run in the other processes, with this message; leaving the block with an exception does the same."""
        first = (message.strip() or "without a reason").splitlines()[0]
        self._end(f"{self._names[self.rank]} failed: {first}")

    def __enter__(self) -> Self:
        if self._trouble is not None:
            # A block that is not entered is not left either.
            self._hang_up()
        self.check()
        self._inside = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.size == 1:
            return
        try:
            if error is None:
                self._finish()
        except BaseException as late:
            error = late
            raise
        finally:
            if isinstance(error, ProcessLostError):
                self._end(str(error))
            elif error is not None:
                self.fail(_why(error))
            # A thread that heard of the trouble first may still be telling the others.
            if self._trouble is not None:
                self._passed_on.wait(1.0)
            self._hang_up()

    def _hang_up(self) -> None:
        self._inside, self._left = False, True
        self._last_resort.cancel()
        for link in self._links.values():
            link.close()

    def _finish(self) -> None:
        """Wait until everybody is done, so that nobody leaves a run that fails afterwards."""
        if self.rank > 0:
            self._send(0, _GOODBYE)
        for rank in self._links:
            if self._heard(rank):
                raise ProcessLostError(f"{self._names[rank]} still counts, and {self._names[self.rank]} is done")
        if self.rank == 0:
            for link in self._links.values():
                # Who is killed at the very end has done its part.
                with contextlib.suppress(OSError):
                    link.send(_GOODBYE)

    def _take(self, rank: int) -> bytes:
        """The next arrays of one process."""
        if not self._heard(rank):
            raise ProcessLostError(f"{self._names[rank]} is done, and {self._names[self.rank]} still counts")
        return self._inbox[rank].popleft()

    def _heard(self, rank: int) -> bool:
        """Wait until a process has sent arrays, or is done, which is False."""
        self._wait(lambda: bool(self._inbox[rank]) or rank in self._finished)
        return bool(self._inbox[rank])

    def _wait(self, reached: Callable[[], bool]) -> None:
        with self._news:
            self._news.wait_for(lambda: self._trouble is not None or reached())
        self.check()

    def _send(self, rank: int, kind: int, payload: bytes = b"") -> None:
        try:
            self._links[rank].send(kind, payload)
        except OSError:
            # What the other said last is still to be read, and says more than that it is gone.
            with self._news:
                self._news.wait_for(lambda: self._trouble is not None, timeout=1.0)
            self._lose(rank)
            self.check()
            raise ProcessLostError(f"{self._names[rank]} is gone") from None

    def _listen(self, rank: int, link: Link) -> None:
        """What one other process says, until it says no more; runs in a thread of its own."""
        try:
            while True:
                kind, payload = link.receive()
                if kind == _TROUBLE:
                    self._end(payload.decode(), teller=rank)
                with self._news:
                    if kind == _PARTS:
                        self._inbox[rank].append(payload)
                    elif kind == _GOODBYE:
                        self._finished.add(rank)
                    elif kind == _WELCOME:
                        self._complete = True
                    self._news.notify_all()
        except OSError:
            if rank not in self._finished:
                self._lose(rank)
        finally:
            link.silent.set()

    def _lose(self, rank: int) -> None:
        self._end(
            f"{self._names[rank]} is gone: it ended without a word, was killed, ran out of memory or is cut off; "
            "see what it said last, and start all processes again"
        )

    def _end(self, text: str, teller: int | None = None) -> None:
        """The run is over: tell this process and the others, of which the teller knows."""
        with self._news:
            if self._trouble is not None or self._left or self.size == 1:
                return
            self._trouble = text
            self._news.notify_all()
            links = list(self._links.items())
            self._last_resort.start()
        for rank, link in links:
            if rank != teller:
                with contextlib.suppress(OSError):
                    link.send(_TROUBLE, text.encode())
        self._passed_on.set()

    def _exit(self) -> None:
        if self._inside:
            print(f"botec: {self._trouble}", file=sys.stderr, flush=True)
            os._exit(2)

    def _receive(self, address: tuple[str, int], patience: float) -> None:
        """Process 0: wait for all others."""
        deadline = time.monotonic() + patience
        with listener_at(*address) as listener:
            listener.settimeout(0.02)
            while len(self._links) < self.size - 1:
                self.check()
                if time.monotonic() > deadline:
                    missing = [rank for rank in range(1, self.size) if rank not in self._links]
                    raise ProcessLostError(
                        f"{self.size - len(missing)} of {self.size} processes came to {shown(address)} within "
                        f"{patience:g} s; {_numbered(missing)} did not: see what kept them, or wait longer"
                    )
                with contextlib.suppress(TimeoutError):
                    connection, _ = listener.accept()
                    threading.Thread(target=self._admit, args=(connection,), daemon=True).start()
        for rank in self._links:
            self._send(rank, _WELCOME)

    def _admit(self, connection: socket.socket) -> None:
        """Take somebody in who knows the greeting; anybody else, such as a port scanner, is sent away."""
        link = Link(connection)
        try:
            link.greet(_HANDSHAKE)
            rank, size, name = _introduced(link.receive(most=1024)[1])
        except (OSError, ValueError):
            connection.close()
            return
        connection.settimeout(None)
        fault = ""
        with self._news:
            if size != self.size:
                fault = f"{name} was told of {size} processes, process 0 of {self.size}"
            elif rank in self._names:
                fault = f"{name} has the number of {self._names[rank]}"
            else:
                self._links[rank], self._names[rank] = link, name
        if fault:
            fault += "; give every process a number of its own, from 0, and the same number of processes"
            self._end(fault)
            # Until the other has hung up, so that it reads why.
            with contextlib.suppress(OSError), connection:
                link.send(_TROUBLE, fault.encode())
                link.receive()
            return
        self._listen(rank, link)

    def _visit(self, address: tuple[str, int], patience: float) -> None:
        """Any other process: come to process 0 and wait until all have come."""
        deadline, pause = time.monotonic() + patience, 0.05
        while True:
            try:
                link = call(address, max(0.1, min(_HANDSHAKE, deadline - time.monotonic())))
                break
            except OSError as error:
                if time.monotonic() + pause > deadline:
                    raise UsageError(
                        f"process 0 does not answer at {shown(address)} within {patience:g} s ({reason_of(error)}): "
                        "start it there, mend --coordinator, or open the port between the machines"
                    ) from None
            time.sleep(pause)
            pause = min(1.0, 2 * pause)
        self._links[0], self._names[0] = link, f"process 0 (at {shown(address)})"
        threading.Thread(target=self._listen, args=(0, link), daemon=True).start()
        self._send(0, _HELLO, f"{self.rank} {self.size} {self._names[self.rank]}".encode())
        self._wait(lambda: self._complete)


ALONE = Team()
"""A process by itself."""


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    rank: int | None = None,
    *,
    patience: float = PATIENCE,
    environment: Mapping[str, str] = os.environ,
) -> Team:
    """Meet the other processes of this run.

    What is not stated is taken from the launcher: `srun` of Slurm, `mpirun` of Open MPI, or the index of a Kubernetes
    job; and from JAX_COORDINATOR_ADDRESS and JAX_COORDINATOR_PORT.

    Args:
        coordinator: HOST:PORT of process 0, which waits there for the others. Best is a port above 61000: those below
            Linux gives to any connection.
        processes: how many there are.
        rank: the number of this one, from 0.
        patience: seconds to wait until all have come.
        environment: what the launcher told.

    Returns:
        The team, whose `with` block holds the work.

    Raises:
        UsageError: an argument that cannot be used or is missing, a port that is taken, an address without answer.
        ProcessLostError: not everybody came, or not with the same arguments.
    """
    told = told_by(environment)
    coordinator = told[0] if coordinator is None else coordinator
    processes = told[1] if processes is None else processes
    rank = told[2] if rank is None else rank
    if processes is not None and processes < 1:
        raise UsageError(f"--processes {processes}: expected at least 1")
    if processes is not None and rank is not None and not 0 <= rank < processes:
        raise UsageError(f"--process-id {rank}: {processes} processes have the numbers 0 to {processes - 1}")
    if processes == 1:
        return ALONE
    if coordinator is None or processes is None or rank is None:
        stated = {"--coordinator HOST:PORT": coordinator, "--processes N": processes, "--process-id I": rank}
        missing = ", ".join(flag for flag, value in stated.items() if value is None)
        raise UsageError(f"no launcher tells how the processes find each other: state {missing}, or start with srun")
    address, team = address_of(coordinator), Team(rank, processes)
    # Within its block, so that what goes wrong here ends the others too.
    with contextlib.ExitStack() as block:
        block.push(team)
        if rank == 0:
            team._receive(address, patience)
        else:
            team._visit(address, patience)
        block.pop_all()
    return team


def _introduced(payload: bytes) -> tuple[int, int, str]:
    """The number of whoever comes, how many it was told of, and its name; ValueError if it is nobody."""
    rank, size, name = payload.decode().split(" ", 2)
    if not 0 < int(rank) < int(size):
        raise ValueError("no such number")
    return int(rank), int(size), name


def _why(error: BaseException) -> str:
    """What went wrong, for the other processes."""
    if isinstance(error, BotecError):
        return str(error)
    # Rich ends like this where the reader of its output has gone.
    return f"it ended with code {error.code}" if isinstance(error, SystemExit) else f"{type(error).__name__} {error}"


def _numbered(ranks: Sequence[int]) -> str:
    return f"process{'' if len(ranks) == 1 else 'es'} {', '.join(map(str, ranks))}"


def _first_difference(ours: str, theirs: str) -> tuple[str, str]:
    """The first lines that differ, short enough for a message."""
    pairs = zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue="")
    one, other = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    return one[:80] or "nothing", other[:80] or "nothing"
