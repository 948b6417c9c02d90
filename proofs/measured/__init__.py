"""Measure in floating point: averaging, convergence, stability, and accuracy on held-out rows."""
