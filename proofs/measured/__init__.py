"""Measured in floating point: convergence, averaging, stability, accuracy."""
