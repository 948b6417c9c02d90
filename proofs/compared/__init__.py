"""Compare the dense definition and the sparse algorithm step by step, exactly or within rounding."""
