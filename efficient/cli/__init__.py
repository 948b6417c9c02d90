"""Run the training program from the shell, as `casgd` or `python -m efficient`: train, predict, evaluate, certify, sweep."""
