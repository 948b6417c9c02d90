"""Test that a loss is added in one place: with Huber among LOSSES, and no other change, every kind of evidence knows it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.ledger import read_json

HERE = Path(__file__).parent


def run(code: str) -> str:
    """Run code in a process of its own in which Huber is a built-in loss."""
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    command = [sys.executable, "-c", f"import huber\n{code}"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("label", "kinds"),
    [
        ("tab:losses", {"proved"}),
        ("alg:sgd", {"exact", "float"}),
        ("cost", set()),  # its entries count all losses together
    ],
)
def test_ledger_new_loss_has_entries(label, kinds, tmp_path):
    file = tmp_path / "proofs.json"
    run(f"from proofs.__main__ import main\nassert main(['--only', {label!r}, '--json', {str(file)!r}]) == 0")
    assert {entry.kind for entry in read_json(file) if entry.loss == "huber"} >= kinds


OFFERS = """
import numpy as np
from efficient import CASGDRegressor
from efficient.__main__ import main
from proofs import pictures

X, y = np.arange(40.0)[:, None] % 7, np.arange(40.0) % 7
one, other = (CASGDRegressor(loss=loss, random_state=0).fit(X, y) for loss in ("huber", huber.LOSSES["huber"]))
assert one.coef_ == other.coef_ > 0
assert main("train rows.svm -o model --loss huber --lam 0.01".split()) == 0
assert "huber" in [ax.get_title() for ax in np.ravel(pictures.losses())]
"""


def test_estimator_command_line_and_picture_offer_new_loss(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("".join(f"{i % 5 - 2 + 0.1 * i} 1:{i % 5} 2:1\n" for i in range(40)), "utf8")
    run(OFFERS)


def test_estimator_without_new_loss_refuses_it():
    code = "from efficient import CASGDRegressor\nCASGDRegressor(loss='huber').fit([[1.0], [2.0]], [1.0, 2.0])"
    with pytest.raises(AssertionError, match="loss must be"):
        run(f"del huber.LOSSES['huber']\n{code}")
