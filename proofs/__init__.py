"""Show that `reference` and `efficient` are the same algorithms: `python -m proofs` prints the evidence as a ledger."""

import efficient

if not hasattr(efficient, "State"):
    raise ImportError(
        f"the package `efficient` at {efficient.__path__} is not this project's package. "
        "Install this project into a virtual environment of its own"
    )
