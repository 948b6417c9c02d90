"""What makes the loops fast and changes no bit of their results: compilation, prefetching, vector instructions, blocks."""
