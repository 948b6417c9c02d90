"""Compared step by step: the dense definition and the sparse algorithm, exactly or within rounding."""
