"""Connections between processes: what goes over them, and how one finds the other."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
import socket
import struct
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from uncertain_botec.errors import UsageError

# Seconds without an answer after which a machine counts as gone. A process that dies is noticed at once.
_SILENCE = 30

_GREETING = b"botec processes 1\n"
_FRAME = struct.Struct("<BQ")

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s\[\]:/@]+):(\d{1,5})")

Array = np.ndarray[Any, Any]


class Link:
    """One connection; what goes over it is a kind, a length and that many bytes.

    Attributes:
        silent: set once the other end says no more.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.silent = threading.Event()
        self._connection, self._sending = connection, threading.Lock()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        # The system asks whether the other machine is there, so that a busy interpreter is not taken for a dead one.
        each = {"IDLE": _SILENCE // 6, "INTVL": _SILENCE // 6, "CNT": 5}
        options = {f"TCP_KEEP{name}": value for name, value in each.items()} | {"TCP_USER_TIMEOUT": 1000 * _SILENCE}
        for name, value in options.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def greet(self, patience: float) -> None:
        """Show that this is botec, and see that the other is: ValueError if not."""
        self._connection.settimeout(patience)
        self._connection.sendall(_GREETING)
        if self._exactly(len(_GREETING)) != _GREETING:
            raise ValueError("a stranger")

    def send(self, kind: int, payload: bytes = b"") -> None:
        """Send whole, whichever thread."""
        with self._sending:
            self._connection.sendall(_FRAME.pack(kind, len(payload)) + payload)

    def receive(self, most: int = 1 << 62) -> tuple[int, bytes]:
        """The next kind and bytes; OSError when there are no more."""
        kind, length = _FRAME.unpack(self._exactly(_FRAME.size))
        if length > most:
            raise ConnectionError("too long")
        return kind, self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data, done = bytearray(count), 0
        while done < count:
            came = self._connection.recv_into(memoryview(data)[done:])
            if came == 0:
                raise ConnectionError("the other end is closed")
            done += came
        return bytes(data)

    def close(self) -> None:
        """Say no more, and give the other end a second to read what was said."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
            self.silent.wait(1.0)
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()


def address_of(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or not 0 < int(match[2]) < 1 << 16:
        raise UsageError(f"--coordinator {text}: expected HOST:PORT, such as node1:61500 or [fd00::1]:61500")
    return match[1].strip("[]"), int(match[2])


def shown(address: tuple[str, int]) -> str:
    """HOST:PORT again."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listener_at(host: str, port: int) -> socket.socket:
    """Where process 0 waits: for this machine alone if that is what the address says, otherwise for all."""
    try:
        with contextlib.suppress(ValueError):
            if host == "localhost" or ipaddress.ip_address(host).is_loopback:
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                return socket.create_server((host, port), family=family)
        # Not the host's own address: /etc/hosts may say that it is a loopback, where nobody else can come.
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        return socket.create_server(("", port))
    except OSError as error:
        raise UsageError(
            f"process 0 cannot listen at port {port} ({reason_of(error)}): "
            "name another in every process with --coordinator HOST:PORT"
        ) from None


def call(address: tuple[str, int], patience: float) -> Link:
    """Connect with process 0, or raise OSError."""
    connection = socket.create_connection(address, timeout=patience)
    # Where nobody listens, a connection from this machine can by chance meet itself.
    if connection.getsockname() == connection.getpeername():
        connection.close()
        raise ConnectionError("nobody listens there")
    try:
        link = Link(connection)
        try:
            link.greet(patience)
        except ValueError:
            raise UsageError(f"what answers at {shown(address)} is no botec: mend --coordinator") from None
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return link


def reason_of(error: OSError) -> str:
    """Why, without Python's additions."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)


def pack(parts: Sequence[Array]) -> bytes:
    """Arrays as bytes that can be read without running what they say."""
    arrays = [np.asarray(part) for part in parts]
    if strange := {str(array.dtype) for array in arrays if array.dtype.kind not in "biufcSU"}:
        raise TypeError(f"arrays of {', '.join(sorted(strange))} cannot be gathered")
    header = json.dumps([(array.dtype.str, array.shape) for array in arrays]).encode()
    return b"".join([struct.pack("<Q", len(header)), header, *(array.tobytes() for array in arrays)])


def unpack(packed: bytes) -> list[Array]:
    """The arrays that `pack` was given."""
    (length,) = struct.unpack_from("<Q", packed)
    start, arrays = 8 + length, []
    for dtype, shape in json.loads(packed[8:start]):
        # A copy lies where the arithmetic is fast and may be written to.
        arrays.append(np.ndarray(tuple(shape), np.dtype(dtype), packed, start).copy())
        start += arrays[-1].nbytes
    return arrays
