"""Read labelled examples: svmlight text, compressed or not, at the speed of its bytes."""
