"""Time the loops on this machine: `python -m proofs.bench`."""

import argparse
import sys
from collections.abc import Sequence

from . import __doc__ as description
from . import add_arguments


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs.bench", description=description)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
