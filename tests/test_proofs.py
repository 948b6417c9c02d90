"""Every label of the paper has a proof, every proof holds and fails on what is wrong; the README's slips are the ledger's."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import sympy
import z3

from efficient.runs.algorithms import ALGORITHMS
from proofs import paper, slips
from proofs.counted import cost
from proofs.ledger import Entry, Job, fill
from proofs.measured import averaging as averages
from proofs.proved import asgd as averaging
from proofs.proved import casgd as centring
from proofs.proved import claims, lines, mutants, prover, pseudocode, shipped
from proofs.proved import convergence as guarantee
from proofs.proved import extensions as beyond
from proofs.proved import losses as introduction
from proofs.proved import sgd as descent
from proofs.proved.__main__ import main as read_in_full
from proofs.proved.branches import branches
from proofs.proved.proof import Proof, jobs_of, proof
from proofs.proved.prover import Equation, Undecided, counterexample, is_identity, residual, split_sums, violation
from proofs.proved.symbols import V, X, g, h, k, lam, m, n, over_coordinates, over_examples, t, u, v, x
from reference import LOSSES

ROOT = Path(__file__).parent.parent

LABELS = [
    *("tab:losses", "eqn:objective", "eqn:gradient", "eqn:GDStep", "eqn:gradSum", "lem:v", "alg:sgd"),
    *("eqn:naiveAverage", "eqn:avgBias", "eqn:obDef", "eqn:sparseAverage", "eqn:buDef", "eqn:owDef", "alg:asgd"),
    *("eqn:explicitToImplicit", "eqn:wCenter", "eqn:zDef", "eqn:bTagCenter", "eqn:pCenterDef", "eqn:centerAvg", "eqn:sDef"),
    *("obCenterDef", "eqn:owCenterDef", "alg:casgd"),
]
"""The labels of the paper's LaTeX: one table, nineteen equations, one lemma, three algorithms."""

PROOFS = (
    *(*introduction.PROOFS, *descent.PROOFS, *averaging.PROOFS, *centring.PROOFS),
    *(*shipped.PROOFS, *beyond.PROOFS, *guarantee.PROOFS),
)


def test_every_label_has_a_proof():
    assert len(LABELS) == 24
    proved = {label for job in (*introduction.jobs(), *jobs_of(*PROOFS)) for label in job.labels}
    assert proved >= set(LABELS)
    assert {label for job in cost.jobs() for label in job.labels} == {"cost"}
    assert {name for name, label in paper.LABELS.items() if label.printed} == set(LABELS)
    assert paper.LABELS["eqn:buDef"].title == "eq. 9 (eqn:buDef)"


@pytest.mark.parametrize("each", PROOFS, ids=lambda each: f"{each.label} {each.algorithm} {each.claim[:30]}")
def test_the_proof_holds_and_refutes_every_corruption(each):
    (entry,) = each.check()
    assert entry.holds, entry.figure
    assert entry.mutants > 10 or len(list(each.steps())) * 3 >= entry.mutants > 0


@pytest.mark.parametrize(
    ("loss", "wrong"),
    [
        ("hinge", replace(LOSSES["hinge"], derivative=lambda p, y: -y if p * y < 1 else 0)),
        ("absolute", replace(LOSSES["absolute"], derivative=lambda p, y: -1 if p < y else 1)),
        ("squared", replace(LOSSES["squared"], value=lambda p, y: (p - y) * (p - y))),
    ],
)
def test_table_1_sees_a_tie_and_a_factor(loss, wrong):
    assert any(violation(claim) for claim in introduction.claims(wrong).values())


def test_a_wrong_claim_fails_with_residual_and_counterexample():
    @proof("eqn:owDef", "with h_t in place of h_{t−1}")
    def wrong():
        """The commonest mistake."""
        yield Equation("the mean", -((h + 1 / t) * (v + g * x) - (u + (h + 1 / t) * g * x)) / lam, -(h * v - u) / lam)

    (entry,) = wrong.check()
    assert not entry.as_expected
    assert "remains; z3: " in entry.figure
    assert "g*tau*x" in entry.figure or "v" in entry.figure


def test_a_proof_without_steps_is_none():
    (entry,) = Proof("lem:v", "nothing", "none", list).check()
    assert not entry.holds


def test_a_corruption_that_survives_is_reported(monkeypatch):
    monkeypatch.setattr("proofs.proved.proof.is_identity", lambda equation: True)
    (entry,) = descent.step_rearranged.check()
    assert not entry.holds
    assert "mutant not refuted" in entry.figure


IDENTITIES = [
    Equation("", (x + 1) ** 2, x**2 + 2 * x + 1),
    Equation("", 1 / lam - 1 / (lam + 1), 1 / (lam * (lam + 1))),
    Equation("", over_coordinates(3 * V[k] * g + X[k] + 2), 3 * g * over_coordinates(V[k]) + over_coordinates(X[k]) + 2 * n),
]
FALSEHOODS = [
    Equation("", (x + 1) ** 2, x**2 + 2 * x),
    Equation("", 1 / lam - 1 / (lam + 1), 1 / (lam * (lam + 2))),
    Equation("", over_coordinates(V[k] * X[k]), over_coordinates(V[k]) * over_coordinates(X[k])),
    Equation("", over_examples(g) / m, g + 1),
]


@pytest.mark.parametrize("identity", IDENTITIES, ids=str)
def test_both_provers_prove(identity):
    assert residual(identity) == 0
    assert counterexample(identity) is None
    assert is_identity(identity)


@pytest.mark.parametrize("falsehood", FALSEHOODS, ids=str)
def test_both_provers_refute(falsehood):
    assert residual(falsehood) != 0
    assert "=" in counterexample(falsehood)
    assert not is_identity(falsehood)


def test_what_corruptions_do():
    spoilt = {str(each.right) for each in prover.mutants(Equation("", x, g * h + 2))}
    assert {"g*h", "g*h - 2", "-g*h + 2", "2*g*h + 2", "g*h + 3", "h*(g + 1) + 2", "-g*h - 2", "g*x + 2"} <= spoilt
    assert "g*h + 2" not in spoilt
    assert not any(is_identity(each) for each in prover.mutants(Equation("", g * h + 2, g * h + 2)))


def test_sums_are_split_whatever_n():
    assert split_sums(over_coordinates(g * V[k] + h)) == g * over_coordinates(V[k]) + h * n


def test_branches_visits_every_way():
    def steps(p, y):
        if p < 0:
            return -1
        return abs(p - y) if p > y else 0

    p, y = z3.Reals("p y")
    found = [([answer for _, answer in conditions], str(value)) for conditions, value in branches(steps, p, y)]
    assert sorted(found, key=str) == [
        ([False, False], "0"),
        ([False, True, False], "-(p - y)"),
        ([False, True, True], "p - y"),
        ([True], "-1"),
    ]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_single_token_corruptions_of_the_code_are_refuted(name):
    (entry,) = shipped.refute(name)
    assert entry.holds, entry.figure
    assert entry.mutants == entry.refuted > 200


def test_a_surviving_corruption_fails(monkeypatch):
    # without the points where g is 0 or 1, skipping where g = 1 goes unseen: g is a symbol, and no symbol is 1
    monkeypatch.setattr(mutants, "POINTS", mutants.POINTS[:1])
    (entry,) = shipped.refute("sgd")
    assert not entry.holds
    assert "not refuted: " in entry.figure and "if g != 0: 0 -> 1" in entry.figure


def test_claims_that_refute_the_shipped_program_too_are_no_evidence(monkeypatch):
    def fails(*arguments):
        raise TypeError

    monkeypatch.setattr(mutants, "induction", fails)
    (entry,) = shipped.refute("sgd")
    assert not entry.holds
    assert entry.figure == "the shipped program itself is broken"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_all_claims_hold_of_the_shipped_algorithm(name):
    assert mutants.failure(ALGORITHMS[name]) is None


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_operation_that_ignores_the_columns_is_refuted(name):
    def dot(v, X, i):
        values = X.data[X.indptr[i] : X.indptr[i + 1]]
        return sum(values[e] * v[e] for e in range(len(values)))

    wrong = ALGORITHMS[name]._replace(steps=mutants.rebind(ALGORITHMS[name].steps, dot=dot))
    assert mutants.failure(wrong) == "refuted"


def test_sums_over_two_indices_are_refused():
    twice = sympy.Sum(V[k], (k, 1, n), (sympy.Symbol("i", integer=True), 1, m))
    with pytest.raises(ValueError, match="unpack"):
        split_sums(twice)


def test_undecided_is_no_verdict(monkeypatch):
    monkeypatch.setattr("proofs.proved.prover.Z3_EFFORT", 1)
    with pytest.raises(Undecided):
        counterexample(Equation("hard", (x + g) ** 3 * (h + v) / lam, (x + g) ** 2 * (h + v) * (x + g) / lam))
    (entry,) = averaging.mean_weights.check()
    assert not entry.holds


@pytest.mark.parametrize("name", ALGORITHMS)
def test_line_by_line(name):
    (entry,) = pseudocode.read(name)
    assert entry.holds, entry.figure
    assert lines.in_order([("c ← c + 2", "c = c + 2")], ALGORITHMS[name].steps) == ["c ← c + 2"]


@pytest.mark.parametrize("name", paper.ERRATA)
def test_slips_and_remarks(name):
    entries = list(slips.entries(name))
    assert all(entry.as_expected for entry in entries), [entry.line() for entry in entries]
    assert any(entry.holds for entry in entries)
    if paper.ERRATA[name].kind != "remark":
        assert any(not entry.holds for entry in entries)


def test_the_readme_has_the_slips_of_the_ledger():
    rows = re.findall(r"^\| (E\d+) \|.*$", (ROOT / "README.md").read_text("utf8"), re.MULTILINE)
    assert rows == list(paper.ERRATA) == list(slips.CHECKS)
    assert paper.errata_table() in (ROOT / "README.md").read_text("utf8")


def test_the_code_names_only_known_slips():
    for folder in ("reference", "efficient"):
        for file in (ROOT / folder).glob("*.py"):
            assert set(re.findall(r"\b(E\d+)\b", file.read_text("utf8"))) <= paper.ERRATA.keys()


def test_errata_can_be_read_alone(capsys):
    assert slips.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == len(paper.ERRATA) + sum(
        len(list(slips.entries(name))) for name in paper.ERRATA
    )


@pytest.mark.parametrize("name", ["sgd", "losses", "shipped", "pseudocode"])
def test_a_module_is_shown_in_full(name, monkeypatch, capsys):
    module = claims.CLAIMS[name]
    monkeypatch.setattr(
        module, "PROOFS", getattr(module, "PROOFS", ())[:2], raising=False
    )  # the rest would take long and show no more
    assert read_in_full([name]) == 0
    shown = capsys.readouterr().out
    assert all(f"{each.label}: {each.claim}" in shown for each in module.PROOFS)
    assert shown.count("remains: 0") == sum(len(list(each.steps())) for each in module.PROOFS)
    for each in module.PROOFS:  # what is assumed, from the docstring of the function behind it
        assert getattr(each.steps, "func", each.steps).__doc__.split("\n")[0] in shown
    assert shown.count(": holds") == len(module.jobs())


def test_an_unknown_module_is_refused(capsys):
    with pytest.raises(SystemExit):
        read_in_full(["introduction"])
    assert "NAME must be one of losses, sgd, " in capsys.readouterr().err


def test_safe_steps_and_streams():
    entries = [*beyond.safe_steps(), *beyond.stream()]
    assert len(entries) == 4
    assert all(entry.holds for entry in entries), [entry.line() for entry in entries]


FEW = averages.Setting("tweets", "absolute", 1e-3, "asgd", False, (0.3, 1, 3))


def test_averages_as_measured(monkeypatch):
    shares = averages.suboptimality(FEW, seeds=3)
    assert shares.shape == (3, 3, 4)
    assert (shares > 0).all()
    monkeypatch.setattr(averages, "suboptimality", lambda setting: shares)
    assert all(entry.as_expected for entry in averages.compare(FEW))
    # the verdicts follow the numbers: last and uniform exchanged and made small, the others made worse
    exchanged = shares[:, :, [1, 0, 1, 1]] / 100
    monkeypatch.setattr(averages, "suboptimality", lambda setting: exchanged)
    assert not any(entry.as_expected for entry in averages.compare(FEW))


def test_why_averages_gain_or_not(monkeypatch):
    ratios = (0.1, 10.0)
    assert all(entry.holds for entry in averages.why(ratios)), [entry.line() for entry in averages.why(ratios)]
    monkeypatch.setitem(averages.SQUARES, "uniform", 1.5)
    monkeypatch.setattr(averages, "expected_gain", lambda ratios: [1 / (1 + ratio) for ratio in ratios])
    assert not any(entry.holds for entry in averages.why(ratios))


def test_a_picture_of_averages():
    import matplotlib as mpl

    mpl.use("Agg")
    from proofs import pictures

    ax = pictures.averages(setting=FEW, seeds=2)
    assert [line.get_label() for line in ax.lines[:4]] == list(averages.KINDS)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert "passes" in ax.get_xlabel()


def test_a_long_list_of_jobs_is_shared_out_in_order():
    entries = list(fill([Job((label,), label, partial(_entry, label)) for label in LABELS]))
    assert [entry.label for entry in entries] == LABELS
    assert list(fill([Job(("cost",), "one", partial(_entry, "cost"))], only="alg:sgd")) == []


def _entry(label):
    yield Entry(label, "claim", "evidence", "figure", True)


def test_symbols_of_the_proofs_are_real():
    assert all(symbol.is_real for symbol in (x, v, u, g, h, lam, t))
    assert lam.is_positive and not sympy.Symbol("h", real=True).is_positive
