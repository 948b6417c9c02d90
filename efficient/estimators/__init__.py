"""scikit-learn's interface to the training program."""
