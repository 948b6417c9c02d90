"""Train for the estimators and the command line, by one program: classes, epochs, objective, metrics; no scikit-learn."""
