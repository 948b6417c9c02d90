"""One training program for the estimators and the command line: classes, epochs, objective, metrics; no scikit-learn."""
