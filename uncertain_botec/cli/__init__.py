"""The command line: it parses, calls one library function and prints.

Exit codes: 0 fine; 1 a defect of ours, or output that cannot be written; 2 bad usage or bad input; 3 a stated
requirement is not met; 130 interrupted; 141 the reader of the output has gone.
"""

import sys

INTERRUPTED = 130
"""As a shell tells of a process that SIGINT ended."""


def main() -> None:
    """Run `botec`; Ctrl-C is heard from here on, so that all else is imported within."""
    try:
        from uncertain_botec.cli.running import run

        run()
    except KeyboardInterrupt:
        print("botec: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
