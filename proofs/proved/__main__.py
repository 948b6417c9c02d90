"""Print the proofs in full, each step with what remains of it: `python -m proofs.proved [NAME …]`."""

import argparse
import sys
from collections.abc import Sequence

from efficient.runs.terminal import print_any_letter

try:
    from . import lines
    from .claims import CLAIMS
    from .proof import show
except ModuleNotFoundError as error:
    sys.exit(f"proofs.proved needs {error.name}: pip install -e '.[proofs]' in a clone")


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the modules that are named, or all; the exit status is 0 if every verdict is as expected."""
    print_any_letter()
    parser = argparse.ArgumentParser(prog="python -m proofs.proved", description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of {', '.join(CLAIMS)}; all by default")
    names = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        parser.error(f"NAME must be one of {', '.join(CLAIMS)}; got {unknown[0]!r}")
    status = 0
    for name in names or CLAIMS:
        if name == "pseudocode":
            print(lines.table())
        status |= show(CLAIMS[name])
    return status


if __name__ == "__main__":
    sys.exit(main())
