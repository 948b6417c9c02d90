"""Train on rows that are in parts, with Dask: the states of all parts are averaged after each epoch."""

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"efficient.distributed needs {error.name}: pip install -e '.[dask]' in a clone") from error

from .estimators import CASGDClassifier, CASGDRegressor

__all__ = ["CASGDClassifier", "CASGDRegressor"]
