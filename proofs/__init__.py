"""The evidence that `reference` and `efficient` are the same algorithms: `python -m proofs` prints it as a ledger."""

import efficient
import reference

for _package in (reference, efficient):
    if _package is efficient and not hasattr(efficient, "State") or _package is reference and not hasattr(reference, "PAPER"):
        raise ImportError(
            f"the package at {_package.__path__} is a stranger: `proofs` needs the ones it is shipped with. "
            "Install this project into a virtual environment of its own"
        )
