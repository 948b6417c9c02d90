"""Command line `casgd`, also `python -m efficient`: a thin shell over the training program."""
