"""Count the entries of arrays that the shipped loops touch."""
