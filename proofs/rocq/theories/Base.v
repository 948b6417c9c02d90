(* What the translation is written in: an arithmetic, arrays as functions from places, sparse rows, and two loops. *)
Require Export Arith Lia Field List.
Require Export Field_theory.

(* an arithmetic: nothing is asked of the operations *)
Class Ops := {
  K : Type; K0 : K; K1 : K;
  Kadd : K -> K -> K; Kmul : K -> K -> K; Ksub : K -> K -> K; Kopp : K -> K; Kdiv : K -> K -> K;
  Kself : K -> K; (* x - x, of one variable and itself *)
  Keqb : K -> K -> bool
}.
(* one that is a field, whose equality can be decided *)
Class Fld := {
  Fops : Ops; Kinv : @K Fops -> @K Fops;
  Kfield : field_theory (@K0 Fops) K1 Kadd Kmul Ksub Kopp Kdiv Kinv (@eq K);
  Kself_is : forall x : @K Fops, Kself x = Ksub x x; Keqb_eq : forall x y : @K Fops, Keqb x y = true <-> x = y
}.
#[global] Existing Instance Fops.
(* what the losses use besides *)
Class Analysis {Ar : Ops} := { Kleb : K -> K -> bool; Kabs : K -> K; Kmax : K -> K -> K; Kexp : K -> K; Klog1p : K -> K }.
(* what Python's variables hold that are not assigned yet: nothing may depend on it *)
Class Undef {Ar : Ops} := { undef : K; undef_place : nat }.

Declare Scope K_scope.
Delimit Scope K_scope with K.
Infix "+" := Kadd : K_scope.
Infix "*" := Kmul : K_scope.
Infix "-" := Ksub : K_scope.
Infix "/" := Kdiv : K_scope.
Notation "- x" := (Kopp x) : K_scope.

Section Base.
Context {Ar : Ops}.

(* the integer n as a number: 1 + … + 1 *)
Fixpoint inj (n : nat) : K := match n with O => K0 | S m => (inj m + K1)%K end.

(* f(0) + … + f(n − 1), and v · x in n coordinates *)
Fixpoint sum (n : nat) (f : nat -> K) : K := match n with O => K0 | S m => (sum m f + f m)%K end.
Definition dotn n (w x : nat -> K) := sum n (fun k => (w k * x k)%K).

(* scipy's compressed rows: the entries of row i stand at the places indptr[i], …, indptr[i + 1] − 1 *)
Record rows := { r_data : nat -> K; r_indices : nat -> nat; r_indptr : nat -> nat }.

(* v[j] = x, and w[j, part, k] = x *)
Definition upd (v : nat -> K) (j : nat) (x : K) : nat -> K := fun k => if Nat.eqb k j then x else v k.
Definition upd3 (w : nat -> nat -> nat -> K) (j part k : nat) (x : K) : nat -> nat -> nat -> K :=
  fun j' part' k' => if (Nat.eqb j' j && Nat.eqb part' part && Nat.eqb k' k)%bool then x else w j' part' k'.

(* for e in range(low, high, step): s = f(e, s) *)
Fixpoint loop {S} (n e step : nat) (f : nat -> S -> S) (s : S) : S :=
  match n with O => s | Datatypes.S m => loop m (e + step) step f (f e s) end.
Definition for_range {S} (low high step : nat) (f : nat -> S -> S) (s : S) : S :=
  loop ((high - low + (step - 1)) / step) low step f s.

(* the same, where f also says if the loop ends there *)
Fixpoint loop_break {S} (n e step : nat) (f : nat -> S -> bool * S) (s : S) : S :=
  match n with O => s | Datatypes.S m => let (broken, s) := f e s in if broken then s else loop_break m (e + step) step f s end.
Definition for_break {S} (low high step : nat) (f : nat -> S -> bool * S) (s : S) : S :=
  loop_break ((high - low + (step - 1)) / step) low step f s.
End Base.
