"""Make the loops fast without changing a bit of their results: compilation, prefetching, vector instructions, blocks."""
