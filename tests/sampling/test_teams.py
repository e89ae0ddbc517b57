"""Processes that count together: the same arrays everywhere, and one that is lost ends all the others with a reason."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from ports import free_port

from uncertain_botec.errors import BotecError, SamplingError, UsageError
from uncertain_botec.sampling import connections, processes
from uncertain_botec.sampling.processes import ALONE, ProcessLostError, Team, join

GREETING = b"botec processes 1\n"

LIMIT = 20.0
"""Seconds after which a test says that something hangs."""

# What every real process does around the line that a test is about.
PROGRAM = """
import os, signal, sys, time
import numpy as np
from uncertain_botec.errors import BotecError, SamplingError
from uncertain_botec.sampling import processes
port, size, rank, grace = sys.argv[1:5]
processes.GRACE = float(grace)
# Where the shell that started the tests has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with processes.join(f"127.0.0.1:{port}", int(size), int(rank), patience=15) as team:
        print("here", flush=True)
        WORK
except BotecError as error:
    print(f"botec: {error}", file=sys.stderr)
    sys.exit(2)
"""

Start = Callable[..., list["subprocess.Popen[str]"]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start real processes that meet and then do the work; they are gone after the test."""
    with contextlib.ExitStack() as running:

        def begin(work: str, size: int, grace: float = 10.0) -> list[subprocess.Popen[str]]:
            port, made = free_port(), []
            for rank in range(size):
                command = [sys.executable, "-c", PROGRAM.replace("WORK", work), str(port), str(size), str(rank)]
                pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
                one = subprocess.Popen([*command, str(grace)], text=True, **pipes)
                running.callback(one.communicate)
                running.callback(one.kill)
                made.append(one)
            return made

        yield begin


def met(children: list[subprocess.Popen[str]]) -> None:
    """Wait until all processes have met."""
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"


def connected(port: int) -> socket.socket:
    """A connection with what will soon listen at the port."""
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=LIMIT)
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise AssertionError("nobody listens")


def hello(text: str) -> bytes:
    """What a process says of itself."""
    return b"\x00" + len(text).to_bytes(8, "little") + text.encode()


def begun(function: Callable[..., object], *arguments: Any, **options: Any) -> Future[Any]:
    """A call in a thread that nobody waits for at the end, so that one that hangs fails its test alone."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def together(size: int, work: Callable[[Team], object], host: str = "127.0.0.1") -> list[Any]:
    """What the work comes to, or the error that the block ends with, in every member of a team of threads."""
    coordinator = f"{host}:{free_port()}"

    def one(rank: int) -> object:
        try:
            with join(coordinator, size, rank) as team:
                return work(team)
        except (BotecError, OSError, ValueError) as error:
            return error

    return [future.result(timeout=LIMIT) for future in [begun(one, rank) for rank in range(size)]]


def member(coordinator: str, size: int, rank: int) -> list[list[int]]:
    """Meet the others and gather the numbers of all."""
    with join(coordinator, size, rank, patience=LIMIT) as team:
        return [array.tolist() for (array,) in team.gather([np.array([rank])])]


def arrays_of(rank: int) -> list[np.ndarray]:
    """Arrays of many kinds, of which shapes and types depend on the process."""
    return [
        np.arange(7 * rank, dtype=np.float64).reshape(rank, 7) / 3,
        np.array(rank - 1.5, dtype=np.float32),
        np.full(3 + rank, rank, dtype=np.uint8 if rank % 2 else np.int64)[::2],
        np.array([[True, False]] * rank, dtype=bool),
        np.array([np.nan, -np.inf, -0.0]),
        np.asfortranarray(np.arange(6).reshape(2, 3) + rank),
        np.array([f"número {rank}"]),
    ][: 7 - rank % 2]


def described(gathered: list[list[np.ndarray]]) -> list[list[tuple[str, tuple[int, ...], bytes]]]:
    """Arrays as what must not change: types, shapes and bits."""
    return [[(array.dtype.str, array.shape, array.tobytes()) for array in arrays] for arrays in gathered]


@pytest.mark.parametrize("size", [2, 4])
def test_real_processes_gather_the_same(start: Start, size: int) -> None:
    """All processes get everybody's arrays in the order of ranks, leave with code 0, and say nothing."""
    work = "each = team.gather([np.arange(team.rank + 2) * 0.1, np.array([team.rank], dtype=np.int16)])\n"
    work += "        print([(array.dtype.str, array.tolist()) for arrays in each for array in arrays])"
    expected = [
        one for rank in range(size) for one in [("<f8", [number * 0.1 for number in range(rank + 2)]), ("<i2", [rank])]
    ]
    for child in start(work, size):
        out, err = child.communicate(timeout=LIMIT)
        assert (out, err, child.returncode) == (f"here\n{expected}\n", "", 0)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_gather_keeps_bits_shapes_and_types(size: int) -> None:
    """What is gathered, several times in a row, has the bits, shapes and types that were given, in every process."""
    gathered = together(size, lambda team: [described(team.gather(arrays_of(team.rank + turn))) for turn in range(3)])
    expected = [described([arrays_of(rank + turn) for rank in range(size)]) for turn in range(3)]
    assert gathered == [expected] * size


def test_large_arrays() -> None:
    """Arrays larger than what the system buffers arrive whole."""
    numbers = np.random.default_rng(1).random((3, 1 << 18))
    for each in together(3, lambda team: team.gather([numbers[team.rank]])):
        assert np.array_equal(np.stack([array for (array,) in each]), numbers)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "[::1]"])
def test_addresses_of_this_machine(host: str) -> None:
    """Processes of one machine meet at its loopback addresses, of both kinds, by name or by number."""
    try:
        socket.create_server((host.strip("[]"), 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    assert together(2, lambda team: team.rank, host=host) == [0, 1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_address_of_this_machine_is_closed_to_others(host: str) -> None:
    """Who names a loopback address waits there alone, not at every address that the machine has."""
    port = free_port()
    first = begun(member, f"{host}:{port}", 2, 0)
    connected(port).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port))
    assert member(f"{host}:{port}", 2, 1) == first.result(timeout=LIMIT) == [[0], [1]]


def test_a_block_that_is_not_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has met the others but not begun is not ended from within, and hears of a loss when the work begins."""
    monkeypatch.setattr(processes, "GRACE", 0.1)
    port = free_port()
    first = begun(join, f"127.0.0.1:{port}", 2, 0)
    with connected(port) as dying:
        dying.sendall(GREETING + hello("1 2 somebody"))
        team = first.result(timeout=LIMIT)
    time.sleep(0.5)
    with pytest.raises(ProcessLostError, match="somebody is gone"), team:
        raise AssertionError("the work begins")


def test_gathered_arrays_are_nobody_elses() -> None:
    """What is gathered may be written to without changing what was given."""
    given = np.zeros(2)
    ((got,),) = ALONE.gather([given])
    got += 1
    assert given.tolist() == [0, 0]


def test_objects_are_refused() -> None:
    """Arrays whose bytes mean nothing to another process are refused where they are given."""
    with pytest.raises(TypeError, match="object"):
        ALONE.gather([np.array([None])])


@pytest.mark.parametrize("victim", [0, 1, 2])
@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_death_ends_the_others_that_wait(start: Start, victim: int, how: str) -> None:
    """Who waits for a process that dies ends within five seconds, with code 2 and one line that names it."""
    leaving = "os._exit(0)" if how == "ended" else "time.sleep(60)"
    children = start(f"time.sleep(0.3) or {leaving} if team.rank == {victim} else team.gather([])", 3)
    met(children)
    began = time.monotonic()
    if how == "killed":
        children[victim].send_signal(signal.SIGKILL)
    for rank, child in enumerate(children):
        _, err = child.communicate(timeout=LIMIT)
        if rank != victim:
            assert child.returncode == 2
            assert err.startswith(f"botec: process {victim} (")
            assert " is gone: " in err
            assert err.count("\n") == 1
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("victim", [0, 1])
def test_a_death_ends_the_others_that_are_busy(start: Start, victim: int) -> None:
    """Who never asks is ended from within when its time of grace is over, with code 2 and the reason, not before."""
    children = start("while True: np.sort(np.ones(1000))", 3, grace=1.0)
    met(children)
    children[victim].send_signal(signal.SIGKILL)
    began = time.monotonic()
    for rank, child in enumerate(children):
        _, err = child.communicate(timeout=LIMIT)
        if rank != victim:
            assert child.returncode == 2
            assert err.startswith(f"botec: process {victim} (")
            assert err.count("\n") == 1
    assert 0.9 < time.monotonic() - began < 4


def test_busy_processes_can_ask(start: Start) -> None:
    """Work that asks now and then ends at once, long before the time of grace is over."""
    children = start("while True: team.check()", 2, grace=60.0)
    met(children)
    began = time.monotonic()
    children[1].send_signal(signal.SIGKILL)
    _, err = children[0].communicate(timeout=LIMIT)
    assert (children[0].returncode, err.startswith("botec: process 1 (pid ")) == (2, True)
    assert time.monotonic() - began < 5


def test_an_interrupt_ends_the_others(start: Start) -> None:
    """Ctrl-C in a process that waits for the others interrupts it at once, and they hear why."""
    children = start("team.gather([]) if team.rank else [team.check() for _ in iter(int, 1)]", 3, grace=60.0)
    met(children)
    time.sleep(0.2)
    children[1].send_signal(signal.SIGINT)
    _, err = children[1].communicate(timeout=LIMIT)
    assert "KeyboardInterrupt" in err
    for child in (children[0], children[2]):
        _, err = child.communicate(timeout=LIMIT)
        assert (child.returncode, err.endswith("failed: KeyboardInterrupt\n")) == (2, True)


@pytest.mark.parametrize("culprit", [0, 1])
def test_an_exception_ends_the_others_with_its_message(start: Start, culprit: int) -> None:
    """The others end with code 2 and the first line of what went wrong, the culprit with the error itself."""
    work = f"if team.rank == {culprit}: raise SamplingError('mfu is infinite\\nin 3 draws')\n        team.gather([])"
    children = start(work, 3)
    for rank, child in enumerate(children):
        _, err = child.communicate(timeout=LIMIT)
        assert child.returncode == 2
        if rank == culprit:
            assert err == "botec: mfu is infinite\nin 3 draws\n"
        else:
            name = f"process {culprit} (pid {children[culprit].pid} on {socket.gethostname()})"
            assert err == f"botec: {name} failed: mfu is infinite\n"


def test_the_last_to_fail_ends_those_that_are_done() -> None:
    """Nobody leaves the block well when another fails after the last arrays were gathered."""

    def work(team: Team) -> None:
        team.gather([])
        if team.rank == 0:
            time.sleep(0.2)
            raise OSError("the disk is full")

    lost = together(3, work)
    assert isinstance(lost[0], OSError)
    for error in lost[1:]:
        assert isinstance(error, ProcessLostError)
        assert str(error).endswith("failed: OSError the disk is full")


def test_a_slow_line_brings_the_same_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Process 0 does not leave before everybody has heard why, and so is not itself taken for the one that is lost."""
    send = connections.Link.send

    def late(link: Any, kind: int, payload: bytes = b"") -> None:
        if kind == processes._TROUBLE:
            time.sleep(0.2)
        send(link, kind, payload)

    def work(team: Team) -> None:
        team.gather([])
        if team.rank == 2:
            raise SamplingError("mfu is infinite")
        team.gather([])

    monkeypatch.setattr(connections.Link, "send", late)
    for error in together(3, work)[:2]:
        assert str(error).endswith("failed: mfu is infinite")
        assert str(error).startswith("process 2 (")


def test_fail_without_an_exception() -> None:
    """A process can end the run in the others and go on by itself."""

    def work(team: Team) -> None:
        if team.rank == 2:
            team.fail("no space left")
        else:
            team.gather([])

    lost = together(3, work)
    assert all(isinstance(error, ProcessLostError) for error in lost)
    assert all("failed: no space left" in str(error) for error in lost)


@pytest.mark.parametrize("early", [0, 1])
def test_gathering_less_often_is_no_hang(early: int) -> None:
    """A process that is done while the others still gather ends the run instead of keeping them waiting."""
    lost = together(3, lambda team: None if team.rank == early else team.gather([]))
    assert all(isinstance(error, ProcessLostError) for error in lost)
    assert "is done" in str(lost[0])


def test_different_settings_are_refused() -> None:
    """Where processes were told different things, all of them say which processes and which line."""
    told = {1: "seed = 7\ndraws = 9", 3: "seed = 6"}
    lost = together(4, lambda team: team.agree(told.get(team.rank, "seed = 7\ndraws = 8")))
    assert all(isinstance(error, ProcessLostError) for error in lost)
    assert len({str(error) for error in lost}) == 1
    assert "processes 1, 3 were told something else than process 0: draws = 9 in process 1, draws = 8" in str(lost[0])


def test_equal_settings_are_accepted() -> None:
    """Where all were told the same, also nothing, the run goes on."""
    assert together(3, lambda team: [team.agree("seed = 7\nµ = 0.4"), team.agree("")]) == [[None, None]] * 3


def test_who_never_comes_is_named() -> None:
    """When patience ends, those that came end with how many that were and who is missing."""
    coordinator = f"127.0.0.1:{free_port()}"
    for future in [begun(join, coordinator, 4, rank, patience=1.0) for rank in (0, 2)]:
        with pytest.raises(ProcessLostError, match=r"2 of 4 processes came to .* within 1 s; processes 1, 3 did"):
            future.result(timeout=LIMIT)


def test_a_death_before_all_have_come() -> None:
    """Who dies while others are still awaited ends those that came."""
    port = free_port()
    first = begun(join, f"127.0.0.1:{port}", 3, 0)
    with connected(port) as dying:
        dying.sendall(GREETING + hello("1 3 somebody"))
    with pytest.raises(ProcessLostError, match="somebody is gone"):
        first.result(timeout=LIMIT)


def test_nobody_at_the_address() -> None:
    """Where process 0 is not to be found, the message says where it was sought and how to mend it."""
    with pytest.raises(UsageError, match=r"does not answer at 127\.0\.0\.1:\d+ within 0.3 s \(Connection refused\)"):
        join(f"127.0.0.1:{free_port()}", 2, 1, patience=0.3)


def test_somebody_else_at_the_address() -> None:
    """What answers but is no botec is told from a process 0 that is late."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.9 and so on\r\n")
                connection.recv(1024)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(UsageError, match="is no botec"):
            join(f"127.0.0.1:{listener.getsockname()[1]}", 2, 1)
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "any-other-name.invalid"])
def test_a_port_that_is_taken(host: str) -> None:
    """Process 0 says at once that its port is taken."""
    with socket.create_server(("", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UsageError, match=rf"cannot listen at port {port} \(Address already in use\)"):
            join(f"{host}:{port}", 2, 0)


def test_strangers_are_sent_away() -> None:
    """Connections that are silent, talk something else, or claim impossible numbers do not disturb those that meet."""
    port = free_port()
    said = (b"", b"GET / HTTP/1.1\r\n\r\n", GREETING + b"\x00" * 6 + b"\x01" * 3, GREETING + hello("7 2 nobody"))

    with contextlib.ExitStack() as strangers:
        first = begun(member, f"127.0.0.1:{port}", 2, 0)
        for words in said:
            strangers.enter_context(connected(port)).sendall(words)
        assert member(f"127.0.0.1:{port}", 2, 1) == first.result(timeout=LIMIT) == [[0], [1]]


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ([(2, 0), (3, 1)], "was told of 3 processes, process 0 of 2"),
        ([(3, 0), (3, 1), (3, 1)], "has the number of process 1 "),
    ],
)
def test_contradictory_numbers(stated: list[tuple[int, int]], said: str) -> None:
    """Processes that were told different sizes, or the same number, all say so."""
    coordinator = f"127.0.0.1:{free_port()}"
    for future in [begun(join, coordinator, size, rank) for size, rank in stated]:
        with pytest.raises(ProcessLostError, match=said):
            future.result(timeout=LIMIT)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("node1:61500", 0, 0), "--processes 0: expected at least 1"),
        (("node1:61500", 2, 2), "--process-id 2: 2 processes have the numbers 0 to 1"),
        (("node1:61500", 2, -1), "--process-id -1"),
        (("node1", 2, 0), "--coordinator node1: expected HOST:PORT"),
        (("node1:0", 2, 0), "expected HOST:PORT"),
        (("node1:65536", 2, 0), "expected HOST:PORT"),
        (("fd00::1:61500", 2, 0), "expected HOST:PORT"),
        (("http://node1:61500", 2, 0), "expected HOST:PORT"),
        ((":61500", 2, 0), "expected HOST:PORT"),
        ((None, None, None), "state --coordinator HOST:PORT, --processes N, --process-id I, or start with srun"),
        (("node1:61500", None, 1), "state --processes N, or"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: tuple[str | None, int | None, int | None], said: str) -> None:
    """What cannot be used is refused at once, with what would be accepted."""
    with pytest.raises(UsageError) as caught:
        join(*arguments, environment={})
    assert said in str(caught.value)


def launched(environment: Mapping[str, str]) -> tuple[str, int, list[int]]:
    """Where processes 0 and 1 of a launcher meet, of how many, and who they are, all as the environment tells."""
    found: list[tuple[str, int, int]] = []

    class Meeting(Exception):  # noqa: N818 - it stops what would wait for others
        pass

    def meet(team: Team, address: tuple[str, int], patience: float) -> None:
        found.append((f"{address[0]} {address[1]}", team.size, team.rank))
        raise Meeting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Team, "_receive", meet)
        patch.setattr(Team, "_visit", meet)
        for rank in "01":
            with pytest.raises(Meeting):
                join(environment={name: value.replace("RANK", rank) for name, value in environment.items()})
    (place, size, _), (other_place, other_size, _) = found
    assert (place, size) == (other_place, other_size)
    return place, size, [rank for *_, rank in found]


SLURM = {"SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0", "SLURM_PROCID": "RANK", "SLURM_STEP_NUM_TASKS": "4"}
OPEN_MPI = {"OMPI_COMM_WORLD_RANK": "RANK", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}


@pytest.mark.parametrize(
    ("environment", "host"),
    [
        ({**SLURM, "SLURM_STEP_NODELIST": "node7"}, "node7"),
        ({**SLURM, "SLURM_STEP_NODELIST": "node7,node9"}, "node7"),
        ({**SLURM, "SLURM_STEP_NODELIST": "node[007-012,20],other"}, "node007"),
        ({**SLURM, "SLURM_STEP_NODELIST": "node[3,5-7]"}, "node3"),
        ({**SLURM, "SLURM_STEP_NODELIST": "rack[2-3]-node[11,14]-ib,other"}, "rack2-node11-ib"),
        ({**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "153157.0;tcp://10.96.0.1,10.148.0.1:34911"}, "10.96.0.1"),
        ({**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "131452.0;tcp6://[fe80::b9b:ac5d,2620:10d::2]:43370"}, "fe80::b9b:ac5d"),
        ({**OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_SIZE": "4", "PMIX_NAMESPACE": "prterun-vm-1100@1"}, "127.0.0.1"),
        # Open MPI's daemons within Slurm: the variables of srun count daemons, here one of a single one.
        (
            {**SLURM, "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_NODELIST": "a"}
            | {**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "153157.0;tcp://10.96.0.1:34911"},
            "10.96.0.1",
        ),
    ],
)
def test_launchers_tell(environment: dict[str, str], host: str) -> None:
    """Slurm's srun and Open MPI's mpirun tell where to meet, how many there are, and who this one is."""
    place, size, ranks = launched(environment)
    assert (place.split()[0], size, ranks) == (host, 4, [0, 1])
    assert 61440 <= int(place.split()[1]) < 65536


def test_jobs_of_one_machine_meet_apart() -> None:
    """Two jobs, and two steps of one, get ports of their own; a stated port or address wins."""
    environment = {**SLURM, "SLURM_STEP_NODELIST": "node7"}
    changes = [{}, {"SLURM_JOB_ID": "4712"}, {"SLURM_STEP_ID": "1"}]
    assert len({launched(environment | change)[0] for change in changes}) == 3
    assert launched({**environment, "JAX_COORDINATOR_PORT": "5000"})[0] == "node7 5000"
    assert launched({**environment, "JAX_COORDINATOR_ADDRESS": "other:6000"})[0] == "other 6000"


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({"JOB_COMPLETION_INDEX": "1"}, "state --coordinator HOST:PORT, --processes N, or"),
        (OPEN_MPI | {"OMPI_COMM_WORLD_RANK": "1"}, "state --coordinator HOST:PORT, or"),
        # What a batch script sees that does not use srun: not a step of its own.
        ({"SLURM_JOB_ID": "4711", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "--process-id I, or start with srun"),
    ],
)
def test_what_launchers_leave_open(environment: dict[str, str], missing: str) -> None:
    """Only what the launcher does not tell is asked for."""
    with pytest.raises(UsageError, match=missing):
        join(environment=environment)


@pytest.mark.parametrize("arguments", [(None, 1, None), ("node1:61500", 1, 0), (None, 1, 0)])
def test_one_process_is_alone(arguments: tuple[str | None, int, int | None]) -> None:
    """One process needs no address, gathers its own arrays, agrees with itself, and ends nothing when it fails."""
    with join(*arguments, environment={}) as team:
        assert (team.rank, team.size) == (0, 1)
        assert team.gather([np.arange(3)])[0][0].tolist() == [0, 1, 2]
        team.agree("seed = 7")
        team.fail("nothing")
        team.check()
    with pytest.raises(SamplingError), team:
        raise SamplingError("too large")
    with team:
        team.check()


def test_meeting_needs_no_jax() -> None:
    """A process can meet the others before it spends seconds on loading JAX, and hears at once of those that fail."""
    code = "import sys, uncertain_botec.sampling.processes; print('jax' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "False False\n"
