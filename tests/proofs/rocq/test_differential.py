"""Run the translation in Rocq, on its binary64 numbers and on its fractions: the very bits of the shipped loops.

The shipped side is `State` and `States`: compiled loops on floats, the same source as plain Python on fractions.
"""

from fractions import Fraction

import numpy as np
import pytest

from efficient.runs.algorithms import ALGORITHMS
from efficient.runs.batch import start
from proofs.rocq.prover import Check
from reference import Problem
from reference.averaging import polynomial

CHUNKS, CASES = 18, 2
"""Files, and for each seed of a file: four loops and the loop for many models, on floats and on fractions."""

HEAD = """Require Import Base Generated List Arith Floats QArith Qabs.
Import ListNotations.
Definition F64 : Ops := {| K := float; K0 := 0%float; K1 := 1%float; Kadd := PrimFloat.add; Kmul := PrimFloat.mul;
  Ksub := PrimFloat.sub; Kopp := PrimFloat.opp; Kdiv := PrimFloat.div; Kself := fun x => PrimFloat.sub x x;
  Keqb := PrimFloat.eqb |}.
Definition U64 : @Undef F64 := @Build_Undef F64 nan 99.
Definition max64 (x y : float) := if PrimFloat.ltb x y then y else x.
#[local] Instance A64 : @Analysis F64 := @Build_Analysis F64 PrimFloat.leb PrimFloat.abs max64 (fun x => x) (fun x => x).
Definition QOps : Ops := {| K := Q; K0 := 0%Q; K1 := 1%Q; Kadd := fun x y => Qred (x + y); Kmul := fun x y => Qred (x * y);
  Ksub := fun x y => Qred (x - y); Kopp := Qopp; Kdiv := fun x y => Qred (x / y); Kself := fun x => Qred (x - x);
  Keqb := Qeq_bool |}.
Definition UQ : @Undef QOps := @Build_Undef QOps (77 # 1) 99.
Definition maxQ (x y : Q) := if Qle_bool y x then x else y.
#[local] Instance AQ : @Analysis QOps := @Build_Analysis QOps Qle_bool Qabs maxQ (fun x => x) (fun x => x).
Definition at_ {A} (d : A) l := fun i => nth i l d.
Definition sameQ x y := forallb (fun xy => Qeq_bool (fst xy) (snd xy)) (combine x y).
"""


def binary(x) -> str:
    return f"({float(x).hex()})%float"


def fraction(x) -> str:
    return f"({Fraction(x).numerator} # {Fraction(x).denominator})%Q"


class Case:
    """Random rows, labels of several models, draws and constants; the two sides of the comparison."""

    def __init__(self, name: str, models: int, exact: bool, seed: int):
        self.rng = rng = np.random.default_rng([seed, models, exact, *name.encode()])
        self.algorithm, self.name, self.models, self.exact = ALGORITHMS[name], name, models, exact
        self.number = (lambda e: Fraction(round(4 * e), 4)) if exact else float  # short fractions: Rocq is slow on long ones
        self.show = fraction if exact else binary
        self.ops, self.undef = ("QOps", "UQ") if exact else ("F64", "U64")
        self.m, self.n, self.T = 5, 11, 9
        dense = np.where(rng.random((self.m, self.n)) < 0.6, np.round(rng.normal(size=(self.m, self.n)), 2), 0)
        dense[0], dense[1] = 0, rng.normal(size=self.n)  # a row without entries and a full one
        dense[:, rng.integers(self.n)] = 0
        X = np.array([[self.number(e) for e in row] for row in dense], dtype=object) if exact else dense
        self.loss = str(rng.choice(["absolute", "squared", "hinge"]))
        self.lam = [self.number(e) for e in rng.choice([0.5, 0.25, 2] if exact else [0.1, 0.5, 0.03], models)]
        self.t0 = [self.number(e) for e in rng.choice([0, 1.5], models)]
        self.weight = [self.number(e) for e in rng.choice([1, 0.25, 3], self.m)]
        self.indices = rng.integers(0, self.m, self.T)
        self.labels = [[self.number(e) for e in rng.choice([-1, 1], self.m)] for _ in range(models)]
        first = Problem(X, self.labels[0], self.loss, self.lam[0], sample_weight=self.weight)
        self.problems = [first.variant(y=y, lam=lam) for y, lam in zip(self.labels, self.lam, strict=True)]

    def shipped(self) -> list:
        """Return w and b of every model, one after the other, by the shipped code."""
        weights = polynomial(1) if self.algorithm.averaging else None
        run = start(self.problems, self.name, t0=self.t0 if self.models > 1 else self.t0[0], averaging_weights=weights)
        assert run.pivot is None
        run.run(self.indices)
        found = run.average() if self.algorithm.averaging else run.last()
        return [part for each in (found if self.models > 1 else [found]) for part in (*each.w, each.b)]

    def array(self, numbers) -> str:
        zero = self.show(0)
        return f"(@at_ (@K {self.ops}) {zero} [{'; '.join(self.show(each) for each in numbers)}])"

    @staticmethod
    def places(numbers) -> str:
        return f"(at_ 0%nat [{'; '.join(str(int(each)) for each in numbers)}]%nat)"

    def text(self, k: int) -> str:
        """Write the same run in Gallina, and that it gives what the shipped code gives."""
        rows, algorithm, zero = self.problems[0].X, self.algorithm, self.show(0)
        nothing, with_undef = f"(fun _ : nat => {zero})", f"{self.ops} {self.undef}"
        dloss = f"(loss_{self.loss}_derivative (Ar := {self.ops}))"
        omega = self.array([self.number(t) for t in range(1, self.T + 1)])
        mean = f"let xb := {nothing} in let th := {self.show(1)} in "
        if algorithm.centred:
            rows_and_weights = f"X{k} {self.array(self.weight)}"
            mean = (
                f"let '(sx, tot, c_) := @casgd_add_up {with_undef} {rows_and_weights} 0 {self.m} {nothing} {zero} 0%nat in "
                f"let '(xb, th, c_) := @casgd_centre {with_undef} sx {self.n} tot c_ in "
            )
        draws = f"{self.places(self.indices)} {self.T}%nat"
        run = (self.single if self.models == 1 else self.many)(k, mean, with_undef, dloss, draws, omega, nothing)
        wanted = "[" + "; ".join(self.show(each) for each in self.shipped()) + "]"
        same = f"sameQ run{k} {wanted} = true" if self.exact else f"run{k} = {wanted}"
        return (
            f"Definition X{k} : @rows {self.ops} := "
            f"@Build_rows {self.ops} {self.array(rows.data)} {self.places(rows.indices)} {self.places(rows.indptr)}.\n"
            f"Definition run{k} := ({run})%list.\n"
            f"Lemma same{k} : {same}. Proof. vm_compute. reflexivity. Qed.\n"
        )

    def recovered(self, j: int) -> str:
        """Make w and b of model j from the state, whose parts have the paper's letters."""
        algorithm = self.algorithm
        recovery, function = (algorithm.average, "average") if algorithm.averaging else (algorithm.last, "last")
        parts = " ".join({"xbar": "xb"}.get(each, each) for each in recovery.parts)
        now = f"(@Kadd {self.ops} t {self.show(self.t0[j])})"
        call = f"@{self.name}_{function} {self.ops} {self.show(self.lam[j])} {now} {parts} 0%nat"
        return f"let '(w, b, _) := {call} in map w (seq 0 {self.n}) ++ [b]"

    def single(self, k, mean, with_undef, dloss, draws, omega, nothing) -> str:
        algorithm, zero = self.algorithm, self.show(0)
        more = (f" {omega}" if algorithm.averaging else "") + (f" xb th {nothing} 0%nat" if algorithm.centred else "")
        given = " ".join([zero, *[nothing] * len(algorithm.vectors), *[zero] * len(algorithm.scalars), "0%nat"])
        names = ", ".join([*algorithm.vectors, "t", *algorithm.scalars, "p", "g", "c_"])
        start = f"X{k} {self.array(self.labels[0])} {self.array(self.weight)} {self.show(self.lam[0])} {dloss}"
        steps = f"@{self.name}_steps {with_undef} {start} {draws} {self.show(self.t0[0])}{more} {given}"
        return f"({mean}let '({names}) := {steps} in {self.recovered(0)})"

    def many(self, k, mean, with_undef, dloss, draws, omega, nothing) -> str:
        labels = f"(fun i k : nat => nth k (nth i [{'; '.join(self.row(i) for i in range(self.m))}] nil) {self.show(0)})"
        given = " ".join([nothing] * 11)
        projections = f"{nothing} {0 if self.algorithm.centred else self.m}%nat"
        start = f"X{k} {labels} {self.array(self.weight)} {self.array(self.lam)} {self.models}%nat {dloss}"
        shared = f"{draws} {self.array(self.t0)} {omega} xb th {projections}"
        state = f"{self.show(0)} (fun _ _ : nat => {nothing}) {self.models}%nat {given} 0%nat"
        steps = f"@batch_steps {with_undef} {start} {shared} {state}"
        names = "room, as_, cs, hs, totals, zs, rs, ss, ps, gs, hgs, ds, t, c_"
        scalars = {"a": "as_", "c": "cs", "h": "hs", "total": "totals", "r": "rs", "s": "ss"}
        models = []
        for j in range(self.models):
            unpacked = "".join(f"let {name} := {array} {j}%nat in " for name, array in scalars.items())
            vectors = f"let v := fun i => room i 0%nat {j}%nat in let u := fun i => room i 1%nat {j}%nat in "
            models.append(f"({unpacked}{vectors}{self.recovered(j)})")
        return f"({mean}let '({names}) := {steps} in {' ++ '.join(models)})"

    def row(self, i: int) -> str:
        return f"[{'; '.join(self.show(labels[i]) for labels in self.labels)}]"


def cases(chunk: int) -> list[Case]:
    return [
        Case(name, models, exact, chunk * CASES + seed)
        for seed in range(CASES)
        for exact in (False, True)
        for name, models in [*((name, 1) for name in ALGORITHMS), ("casgd", 6), ("asgd", 5)]
    ]


@pytest.fixture(scope="module")
def compiled():
    check = Check()
    check.compile("Generated")
    return check


@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize("chunk", [0, *(pytest.param(chunk, marks=pytest.mark.nightly) for chunk in range(1, CHUNKS))])
def test_translation_gives_the_bits_of_the_shipped_loops(chunk, compiled):
    compiled.run(f"Differential{chunk}", HEAD + "\n".join(case.text(k) for k, case in enumerate(cases(chunk))))


@pytest.mark.usefixtures("rocq")
@pytest.mark.parametrize("exact", [False, True])
def test_translation_of_another_run_is_told_apart(exact, compiled, monkeypatch):
    case = Case("casgd", 1, exact, 0)
    wrong = case.shipped()
    wrong[-1] = np.nextafter(wrong[-1], 9) if not exact else wrong[-1] + Fraction(1, 2**200)
    monkeypatch.setattr(case, "shipped", lambda: wrong)
    with pytest.raises(Exception, match="same0"):
        compiled.run(f"Wrong{exact}", HEAD + case.text(0))
