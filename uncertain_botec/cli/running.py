"""One command from start to exit code: what went wrong, in a line for whoever can mend it."""

from __future__ import annotations

import atexit
import gc
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from uncertain_botec.cli import INTERRUPTED
from uncertain_botec.cli.printing import say
from uncertain_botec.cli.streams import OutputError, abandon, prepare
from uncertain_botec.errors import BotecError, PriorFileError

# As a shell tells of a process that SIGPIPE ended.
_GONE = 141


def run() -> None:
    """Run `botec`, turning what a user can mend into a message and exit code 2, never a traceback."""
    # Imports make objects that live as long as the process. Looking among them for garbage while they load, and once
    # more at exit, took a quarter of the time of a forecast.
    gc.disable()
    atexit.register(gc.freeze)
    try:
        prepare()
        from uncertain_botec.cli.app import app

        _run(app)
    except PriorFileError as error:
        _fail(f"{error}\n\n{_count(len(error.faults))}")
    except OutputError as error:
        abandon()
        if error.gone:
            sys.exit(_GONE)
        _fail(f"botec: {error}", 1)
    except BotecError as error:
        _fail("\n".join(f"botec: {fault}" for fault in getattr(error, "faults", (error,))))
    except MemoryError:
        _fail("botec: not enough memory for that many draws; ask for fewer with --draws")
    except Exception:  # the last resort that turns our own defects into exit code 1
        print(
            f"{traceback.format_exc()}\nbotec: this is a defect of botec, not of your input; please report it.",
            file=sys.stderr,
        )
        sys.exit(1)


def _fail(message: str, code: int = 2) -> NoReturn:
    say(message)
    sys.exit(code)


def _count(faults: int) -> str:
    return f"{faults} fault{'' if faults == 1 else 's'} found; nothing was run."


def _run(app: Callable[..., object]) -> None:
    """Run the command and write everything it printed."""
    code: Any = 0
    try:
        app(prog_name="botec")
    except SystemExit as stop:
        code = stop.code
    if code == INTERRUPTED:
        # Typer ends without a word.
        raise KeyboardInterrupt
    sys.stdout.flush()
    if code:
        # Our own defects arrive as exceptions: a code 1 of Typer is the user's doing, such as a shell it does not know.
        sys.exit(2 if code == 1 else code)
