"""Small implementation, by definition; try `python -m proofs.conformance --impl proofs.conformance.examples.dense:train`."""

import numpy as np


def train(X, y, loss, lam, indices, average, centred):
    """SGD on dense rows, or its average; centred or not. Returns the predictor (w, b) for raw rows."""
    rows = X.toarray()  # adds up what is stored twice
    xbar = rows.mean(axis=0) if centred else np.zeros(X.shape[1])
    rows = rows - xbar
    w, b = np.zeros(X.shape[1]), 0.0
    w_sum, b_sum = 0 * w, 0 * b
    for t, i in enumerate(indices, start=1):
        g = derivative(loss, w @ rows[i] + b, y[i])
        w = (1 - 1 / t) * w - g / (lam * t) * rows[i]
        b = (1 - 1 / t) * b - g / (lam * t)
        w_sum, b_sum = w_sum + w, b_sum + b
    if average:
        w, b = w_sum / len(indices), b_sum / len(indices)
    return w, b - w @ xbar


def derivative(loss, p, y):
    if loss == "absolute":
        return -1 if p <= y else 1
    if loss == "squared":
        return p - y
    if loss == "hinge":
        return -y if p * y <= 1 else 0
    return -y / (1 + np.exp(min(p * y, 700)))
