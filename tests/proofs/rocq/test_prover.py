"""Rocq's verdicts: every claim is proved, a false theory or program is not, and the message names theorem and equation."""

import re
from pathlib import Path

import pytest

from proofs.paper import LABELS
from proofs.rocq import claims as ledger
from proofs.rocq import prover
from proofs.rocq.__main__ import main
from proofs.rocq.prover import OF_THE_REALS, THEORIES, Check, Unproved, axioms_of, claims

ALL = sorted(file.stem for file in THEORIES.glob("*.v"))


def test_claims_have_labels_of_the_paper_and_lines_of_their_definitions():
    lines = (THEORIES / "Statements.v").read_text("utf8").splitlines()
    assert len(claims()) == len(re.findall(r"^Definition \w+ : Prop", "\n".join(lines), re.MULTILINE))
    for claim in claims():
        assert set(claim.labels) <= LABELS.keys()
        assert lines[claim.line - 1].startswith(f"Definition {claim.name} : Prop")


def test_statements_are_short_enough_to_be_read():
    assert len((THEORIES / "Statements.v").read_text("utf8").splitlines()) <= 360


@pytest.mark.parametrize("theory", ALL)
def test_theory_admits_nothing(theory):
    assert (
        re.findall(r"\b(Admitted|Axiom|Axioms|Parameter|Parameters|admit|Conjecture)\b|Unset \w+", prover.theories()[theory])
        == []
    )


@pytest.mark.nightly  # the ledger proves the same
@pytest.mark.usefixtures("rocq")
def test_main_proves_every_claim_and_names_its_axioms(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(f"{len(claims())} claims, {len(claims())} proved, 0 not\n")
    assert "translation [translation]" in printed
    assert printed.count("no axioms") + printed.count("axioms of the real numbers") == len(claims())


def test_main_without_rocq_names_the_cure(monkeypatch, capsys):
    monkeypatch.setattr("proofs.rocq.__main__.coqc", lambda: None)
    assert main([]) == 2
    assert "apt-get install coq libcoq-flocq" in capsys.readouterr().err
    monkeypatch.setattr(ledger, "coqc", lambda: None)
    assert ledger.jobs() == []


@pytest.mark.usefixtures("rocq")
def test_changed_token_fails_with_the_theorem_and_the_equation(copy):
    (verdict, *_) = Check(copy("efficient/csgd.py", "d + r - a * q", "d + r + a * q")).verdicts("Centring")
    assert not verdict.proved
    assert "csgd_body (eqn:pCenterDef" in verdict.figure
    assert "Loops.v, line" in verdict.figure


@pytest.mark.nightly
@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize(
    ("file", "old", "new", "theory", "lemma"),
    [
        ("reference/sgd.py", "(1 - 1 / t) * b - g", "(1 - 1 / t) * b + g", "Dense", "definition_is (eqn:GDStep)"),
        (
            "reference/losses.py",
            "return -1 if p <= y else 1",
            "return -1 if y <= p else 1",
            "Losses",
            "table1_holds (tab:losses)",
        ),
        ("reference/losses.py", "else near - p * y", "else near + p * y", "Losses", "table1_holds (tab:losses)"),
        ("efficient/kernels/batch.py", "hg[k] = h[k] * g[k]", "hg[k] = h[k] + g[k]", "Batch", "slopes_ok"),
        ("efficient/sgd.py", "p - p != 0", "p + p != 0", "Blocks", "sgd_cut"),
        ("efficient/asgd.py", "c = c + omega[j] * a", "c = c + omega[0] * a", "Blocks", "asgd_cut"),
        ("efficient/casgd.py", "projections[i] = dot(xbar, X, i)", "projections[i] = dot(xbar, X, 0)", "Blocks", "project_is"),
        ("efficient/kernels/batch.py", "finite = finite and p[k]", "finite = finite or p[k]", "Blocks", "all_finite"),
    ],
)
def test_changed_token_of_definition_loss_and_other_loops_is_not_proved(file, old, new, theory, lemma, copy):
    verdicts = Check(copy(file, old, new)).verdicts(theory)
    assert verdicts
    assert not any(verdict.proved for verdict in verdicts)
    assert lemma in verdicts[0].figure


@pytest.mark.usefixtures("rocq")
def test_refused_source_is_the_failure_of_every_claim(copy):
    verdicts = Check(copy("efficient/sgd.py", "a = a + g", "a = min(a, g)")).verdicts("Sparse")
    assert [verdict.proved for verdict in verdicts] == [False]
    assert "efficient/sgd.py, line" in verdicts[0].figure


@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize(
    ("proof", "why"),
    [
        ("Admitted.", "rests on dot_ok"),
        pytest.param(
            "Proof. intros W. split; [reflexivity|lia]. Qed.", "dot_ok (cost) is not proved", marks=pytest.mark.nightly
        ),
    ],
)
def test_theory_with_a_gap_is_not_proved(proof, why, monkeypatch):
    text = prover.theories()["Sparse"]
    start = text.index("Theorem dot_ok")
    begin, end = text.index("Proof.", start), text.index("Qed.", start) + len("Qed.")
    monkeypatch.setitem(prover.theories(), "Sparse", text[:begin] + proof + text[end:])
    (verdict,) = Check().verdicts("Sparse")
    assert not verdict.proved
    assert why in verdict.figure


def test_axioms_of_reads_each_answer():
    said = (
        "Closed under the global context\nAxioms:\nA.b : nat\n  = 3\nc\n  : forall x,\n    x\nClosed under the global context\n"
    )
    assert axioms_of(said) == [(), ("A.b", "c"), ()]
    assert "c" not in OF_THE_REALS


def test_packages_are_those_of_the_cure():
    assert tuple(Path(prover.HERE / "packages.txt").read_text("utf8").split()) == prover.PACKAGES
    assert prover.CURE.endswith("coq libcoq-flocq")


@pytest.mark.usefixtures("rocq")
def test_proof_that_does_not_end_is_not_proved(monkeypatch):
    monkeypatch.setattr(prover, "TIME_LIMIT", 1)
    with pytest.raises(Unproved, match=r"Endless\.v: no proof within 1 s"):
        Check().run(
            "Endless", "Fixpoint f n := match n with O => 0 | S m => f m + f m end. Definition late := Eval vm_compute in f 99."
        )


INSTANCES = """Require Import Base Generated Statements Bounds QArith Qcanon Reals Lra.
Lemma Qc_eqb_ok x y : Qc_eq_bool x y = true <-> x = y.
Proof. split; [apply Qc_eq_bool_correct|]. intros ->. unfold Qc_eq_bool. destruct (Qc_eq_dec y y); congruence. Qed.
Definition QO : Ops := {| K := Qc; K0 := 0%Qc; K1 := 1%Qc; Kadd := Qcplus; Kmul := Qcmult; Ksub := Qcminus; Kopp := Qcopp;
  Kdiv := Qcdiv; Kself := fun x => Qcminus x x; Keqb := Qc_eq_bool |}.
Definition QF : Fld := {| Fops := QO; Kinv := Qcinv; Kfield := Qcft; Kself_is := fun _ => eq_refl; Keqb_eq := Qc_eqb_ok |}.
Definition one_row : @rows QO := @Build_rows QO (fun _ => 1%Qc) (fun _ => 0%nat) (fun i => i).
Lemma rows_are_usable : @well_formed QF one_row 1.
Proof. intros i. unfold start, stop. cbn. split; lia. Qed.
Definition balls_contain := bounds_contain _ _ _ binary64_rounds.
Check balls_contain : @contains RF (bounds binary64 _ _) within_bound.
Lemma a_ball_of_many_numbers x : (-1 <= x <= 1)%R -> within_bound x (0, Some 1)%R.
Proof. intros H. unfold within_bound. cbn -[Rabs]. apply Rabs_le. lra. Qed.
Print Assumptions rows_are_usable.
Print Assumptions balls_contain.
Print Assumptions a_ball_of_many_numbers.
"""


@pytest.mark.ci
@pytest.mark.usefixtures("rocq")
def test_hypotheses_of_the_claims_hold_of_fractions_of_balls_of_many_numbers_and_of_binary64():
    check = Check()
    check.compile("Bounds")
    of_fractions, *of_reals = axioms_of(check.run("Instances", INSTANCES))
    assert of_fractions == ()
    assert len(of_reals) == 2
    assert set().union(*of_reals) <= OF_THE_REALS
