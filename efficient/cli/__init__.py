"""The parts of the command line `casgd`, also `python -m efficient`: train, predict, evaluate, sweep."""
