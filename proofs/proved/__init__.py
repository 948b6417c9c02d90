"""Prove for all t and n, by two provers, on formulas and on the shipped code."""
