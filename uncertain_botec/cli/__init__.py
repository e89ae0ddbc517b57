"""The command line: it parses, calls one library function and prints.

Exit codes: 0 fine; 1 a defect of ours; 2 bad usage or bad input; 3 a stated requirement is not met.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from uncertain_botec.errors import BotecError, PriorFileError


def main() -> None:
    """Run `botec`, turning what a user can mend into a message and exit code 2, never a traceback."""
    # Imports make objects that live as long as the process. Looking among them for garbage while they load, and once
    # more at exit, took a quarter of the time of a forecast.
    gc.disable()
    atexit.register(gc.freeze)
    from uncertain_botec.cli.app import app

    try:
        _run(app)
    except PriorFileError as error:
        _fail(f"{error}\n\n{_count(len(error.faults))}")
    except BotecError as error:
        _fail(f"botec: {error}")
    except BrokenPipeError:
        # Whoever read the output has gone: say nothing, and keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(2)
    except KeyboardInterrupt:
        _fail("botec: interrupted")
    except MemoryError:
        _fail("botec: not enough memory for that many draws; ask for fewer with --draws")
    except Exception:  # the last resort that turns our own defects into exit code 1
        print(
            f"{traceback.format_exc()}\nbotec: this is a defect of botec, not of your input; please report it.",
            file=sys.stderr,
        )
        sys.exit(1)


def _fail(message: str) -> None:
    print(message, file=sys.stderr)
    sys.exit(2)


def _count(faults: int) -> str:
    return f"{faults} fault{'' if faults == 1 else 's'} found; nothing was run."


def _run(app: Callable[..., object]) -> None:
    """Run the command and write everything it printed.

    Our own defects arrive as exceptions, so that an exit code 1 of Typer or rich is the user's doing: it is what they
    end with when the reader of their output has gone.
    """
    code: Any = 0
    try:
        app(prog_name="botec")
    except SystemExit as stop:
        code = stop.code
    if sys.__stdout__ is not None:
        sys.__stdout__.flush()
    if code:
        sys.exit(2 if code == 1 else code)
