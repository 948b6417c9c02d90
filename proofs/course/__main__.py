"""Build the course as a static site that runs in the browser: `python -m proofs.course site DIR`, then serve DIR."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from efficient.runs.terminal import print_any_letter

from . import live


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site; the exit status is 0 if it stands."""
    print_any_letter()
    parser = argparse.ArgumentParser(prog="python -m proofs.course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    site = commands.add_parser("site", help="lectures and exercises, run and marked in the browser")
    site.add_argument("folder", type=Path, metavar="DIR", help="the folder of the site; made if there is none")
    site.add_argument(
        "--pyodide", type=Path, metavar="FOLDER", help="a Pyodide distribution to put in the site, which then needs no network"
    )
    options = parser.parse_args(arguments)
    try:
        live.build(options.folder, options.pyodide)
    except ValueError as error:
        parser.error(str(error))
    except ModuleNotFoundError as error:
        sys.exit(f"proofs.course site needs {error.name}: pip install -e '.[site]' in a clone")
    except OSError as error:
        print(f"proofs.course: {error.filename}: {error.strerror}; the site was not written", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("proofs.course: interrupted; the site was not written", file=sys.stderr)
        return 130
    print(options.folder / "index.html")
    print(f"to see it: {Path(sys.executable).name} -m http.server --directory {options.folder}, then http://localhost:8000")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
