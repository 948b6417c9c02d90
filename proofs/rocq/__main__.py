"""Check every claim in Rocq, from the shipped Python: `python -m proofs.rocq`."""

import argparse
import sys
from collections.abc import Sequence

from efficient.runs.terminal import print_any_letter

from .fragment import Refused
from .prover import CURE, Check, coqc, version
from .sources import generated


def main(arguments: Sequence[str] | None = None) -> int:
    print_any_letter()
    argparse.ArgumentParser(prog="python -m proofs.rocq", description=__doc__).parse_args(arguments)
    if coqc() is None:
        print(f"proofs.rocq: Rocq is not installed, nothing was checked. {CURE}", file=sys.stderr)
        return 2
    print(f"Rocq {version()}, on the shipped Python as translated")
    try:
        generated()
    except Refused as error:
        print(f"proofs.rocq: refused: {error}", file=sys.stderr)
        return 1
    wrong = total = 0
    try:
        for verdict in Check().all():
            total, wrong = total + 1, wrong + (not verdict.proved)
            print(f"{verdict.claim.name} [{', '.join(verdict.claim.labels)}]")
            print(f"    {verdict.claim.words}")
            print(f"    {verdict.claim.place}, proved in {verdict.claim.theory}.v: {verdict.figure}", flush=True)
    except KeyboardInterrupt:
        print("proofs.rocq: interrupted", file=sys.stderr)
        return 130
    print(f"{total} claims, {total - wrong} proved, {wrong} not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
