"""Ports of this machine where processes that a test starts can meet."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket

# Below the ports that the system gives to connections, which may come between the choice of a port and its use; and in
# places of their own for processes that test side by side.
PORTS = itertools.count(20000 + os.getpid() * 97 % 12000)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    for port in PORTS:
        with contextlib.suppress(OSError), socket.create_server(("", port)):
            return port
    raise AssertionError("there is always another")
