"""All claims of this room, by the module that proves them."""

from types import ModuleType

from ..ledger import Job
from . import asgd, averaged, batch, casgd, convergence, extensions, losses, pivot, pseudocode, sgd, shipped

_MODULES = (losses, sgd, asgd, casgd, pivot, shipped, batch, averaged, extensions, convergence, pseudocode)

CLAIMS: dict[str, ModuleType] = {module.__name__.rpartition(".")[2]: module for module in _MODULES}
"""Each module states its claims by `jobs()`; the first of them are of its `PROOFS`, where it has proofs by equations."""


def jobs() -> list[Job]:
    """List the jobs of every module."""
    return [job for module in _MODULES for job in module.jobs()]
