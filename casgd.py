"""Start the command line, so that Ctrl-C ends it in a line even while it is still loading."""

import sys


def main() -> int:
    """Run `casgd`; returns the exit status."""
    try:
        from efficient.__main__ import main as run
    except KeyboardInterrupt:
        print("casgd: interrupted", file=sys.stderr)
        return 130
    return run()
