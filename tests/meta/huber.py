"""Add the Huber loss to the built-in ones, as one entry in reference/losses.py would: imported before anything else."""

from reference.losses import LOSSES, Loss


def huber(p, y):
    distance = abs(p - y)
    return distance * distance / 2 if distance <= 1 else (2 * distance - 1) / 2


def huber_derivative(p, y):
    return -1 if p - y < -1 else 1 if p - y > 1 else p - y


LOSSES["huber"] = Loss(
    "huber",
    huber,
    huber_derivative,
    slope_bound=1,
    curvature=lambda g: 1 * (abs(g) < 1),
    conjugate=LOSSES["squared"].conjugate,
    formula=(
        "Piecewise(((p - y)**2/2, Abs(p - y) <= 1), (Abs(p - y) - Rational(1, 2), True))",
        "Piecewise((-1, p - y < -1), (1, p - y > 1), (p - y, True))",
    ),
    scikit_learn={"loss": "huber", "epsilon": 1.0},
)
