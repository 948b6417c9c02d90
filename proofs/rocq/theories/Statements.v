(* Everything that is claimed. Whoever reads this file and Base.v need not read the proofs: the kernel has.

   A claim is a Definition … : Prop after a comment [labels of the paper] words. "For all F" means for all fields, such as the
   rational or the real numbers; sgd_steps, asgd_steps, …, sgd_last, … are the shipped functions, translated to Generated.v. *)
Require Import Base Generated.
Require Import Reals.

Section Programs.
Context {Ar : Ops} {U : Undef}.
Local Open Scope K_scope.
Definition zeros : nat -> K := fun _ => K0.

(* Whole runs of the shipped functions, from vectors of zeros: the loop, and the recovery of w, b and the cost. *)
Section Runs.
Context (X : rows) (y sample_weight : nat -> K) (dloss : K -> K -> K) (lam t0 : K) (indices : nat -> nat) (T : nat) (omega : nat -> K).
Definition run_sgd : (nat -> K) * K * nat :=
  let '(v, t, a, p, g, cost) := sgd_steps X y sample_weight lam dloss indices T t0 K0 zeros K0 0 in sgd_last lam (t + t0) v a cost.
Definition run_asgd : (nat -> K) * K * nat :=
  let '(v, u, t, a, c, h, total, p, g, cost) :=
    asgd_steps X y sample_weight lam dloss indices T t0 omega K0 zeros zeros K0 K0 K0 K0 0 in
  asgd_average lam (t + t0) v u c h total cost.
(* the mean row and θ first, of m rows with n columns; q = x̄ · x computed in each step *)
Context (n m : nat).
Definition the_mean : (nat -> K) * K * nat :=
  let '(rows_sum, total, cost) := casgd_add_up X sample_weight 0 m zeros K0 0 in casgd_centre rows_sum n total cost.
Definition run_csgd : (nat -> K) * K * nat :=
  let '(xbar, theta, cost) := the_mean in
  let '(v, t, a, z, r, p, g, cost) :=
    csgd_steps X y sample_weight lam dloss indices T t0 xbar theta zeros 0 K0 zeros K0 K0 K0 cost in
  csgd_last lam (t + t0) v a r xbar cost.
Definition run_casgd : (nat -> K) * K * nat :=
  let '(xbar, theta, cost) := the_mean in
  let '(v, u, t, a, c, h, total, z, r, s, p, g, cost) :=
    casgd_steps X y sample_weight lam dloss indices T t0 omega xbar theta zeros 0 K0 zeros zeros K0 K0 K0 K0 K0 K0 K0 cost in
  casgd_average lam (t + t0) v u c h total s xbar cost.
End Runs.
End Programs.

Section Words.
Context {F : Fld} {U : Undef}.
Local Open Scope K_scope.

(* f(0) + … + f(n − 1) for costs *)
Fixpoint nsum (n : nat) (f : nat -> nat) : nat := match n with O => O | S m => (nsum m f + f m)%nat end.

(* how many entries row i of X stores (the paper's k); row i as a dense vector x_i; rows in their places *)
Definition start (X : rows) i := r_indptr X i. Definition stop (X : rows) i := r_indptr X (i + 1).
Definition stored X i := (stop X i - start X i)%nat.
Definition dense (X : rows) (i : nat) : nat -> K := fun k =>
  sum (stored X i) (fun e => if Nat.eqb (r_indices X (start X i + e)) k then r_data X (start X i + e) else K0).
Definition well_formed (X : rows) n :=
  forall i, (start X i <= stop X i)%nat /\ forall e, (start X i <= e < stop X i)%nat -> (r_indices X e < n)%nat.

(* Eq. 3 (eqn:GDStep) on rows x_i, the drawn example π_{t+1} being indices t: [w_t, b_t]. The paper has t0 = 0, sample_weight = 1. *)
Section Iterates.
Context (n : nat) (x : nat -> nat -> K) (y sample_weight : nat -> K) (dloss : K -> K -> K) (lam t0 : K) (indices : nat -> nat).
Definition now (t : nat) := inj t + t0. Definition predict (wb : (nat -> K) * K) (i : nat) := dotn n (fst wb) (x i) + snd wb.
Definition slope wb i := sample_weight i * dloss (predict wb i) (y i).
Fixpoint iter (t : nat) : (nat -> K) * K :=
  match t with
  | O => (fun _ => K0, K0)
  | S s => let (w, b) := iter s in let g := slope (w, b) (indices s) in
      (fun k => (K1 - K1 / now (S s)) * w k - g / (lam * now (S s)) * x (indices s) k,
       (K1 - K1 / now (S s)) * b - g / (lam * now (S s)))
  end.
Definition w_ t := fst (iter t). Definition b_ t := snd (iter t).
(* eq. 11 (eqn:explicitToImplicit): b' = b − w · x̄, for raw rows *)
Definition implicit (xbar : nat -> K) t := b_ t - dotn n (w_ t) xbar.
(* eqs. 5 and 16 (eqn:naiveAverage, eqn:centerAvg), times Σω; the paper has ω = 1 *)
Definition total_w (omega : nat -> K) T k := sum T (fun j => omega j * w_ (S j) k).
Definition total_b (omega : nat -> K) T := sum T (fun j => omega j * b_ (S j)).
Definition total_implicit omega xbar T := sum T (fun j => omega j * implicit xbar (S j)).
End Iterates.

(* x̄ of the rows 0, …, m − 1, and the rows less x̄ *)
Definition mean (m : nat) sample_weight X k := sum m (fun i => sample_weight i * dense X i k) / sum m sample_weight.
Definition centred (m : nat) sample_weight X i k := dense X i k - mean m sample_weight X k.

(* The shipped definition: `iterates` hands the predictor of each step, in its implicit form, to `average`. *)
Definition by_definition n (x : nat -> nat -> K) (centred : bool) xbar y sample_weight dloss lam t0 (indices : nat -> nat) T (omega : nat -> K) :=
  for_range 0 T 1 (fun j '(w, b, b', w_sum, b_sum, total) =>
    let '(p, g, w, b, b') := reference_step n x centred xbar y sample_weight lam dloss t0 (j + 1) (indices j) w b in
    let '(w_sum, b_sum, total) := reference_add (omega j) w b' w_sum b_sum total in
    (w, b, b', w_sum, b_sum, total)) (zeros, K0, K0, zeros, K0, K0).
Definition last_by_definition n x centred xbar y sample_weight dloss lam t0 indices T : (nat -> K) * K :=
  let '(w, _, b', _, _, _) := by_definition n x centred xbar y sample_weight dloss lam t0 indices T zeros in (w, b').
Definition mean_by_definition n x centred xbar y sample_weight dloss lam t0 indices T omega : (nat -> K) * K :=
  let '(_, _, _, w_sum, b_sum, total) := by_definition n x centred xbar y sample_weight dloss lam t0 indices T omega in
  reference_divide w_sum b_sum total.

(* what a run returned: w in n coordinates, and b *)
Definition finds n (found : (nat -> K) * K * nat) (wb : (nat -> K) * K) :=
  let '(w, b, _) := found in (forall k, (k < n)%nat -> w k = fst wb k) /\ b = snd wb.
(* well-formed rows, λ ≠ 0, t + t0 ≠ 0 for t >= 1, at least one step *)
Definition usable X n lam t0 T := well_formed X n /\ lam <> K0 /\ (forall t, now t0 (S t) <> K0) /\ (1 <= T)%nat.
End Words.

(* The shipped loops, for one model and for many. `run` takes T steps from a state such as it returns, on the indices first, first + 1, …;
   it returns the next state and the cost. `ok` says if the last prediction is finite, or all; `kept_of` is what was learned.
   A prediction p that overflowed is no finite number: p − p is not 0 then. *)
Definition finite {Ar : Ops} (p : K) := Keqb (Kself p) K0.
Record shipped {Ar : Ops} := { state : Type; run : nat -> nat -> state -> state * nat; t_of : state -> K; ok : state -> bool;
  kept : Type; kept_of : state -> kept }.
Section Shipped.
Context {Ar : Ops} {U : Undef} (X : rows) (sample_weight : nat -> K) (dloss : K -> K -> K) (indices : nat -> nat) (omega : nat -> K).
Context (y : nat -> K) (lam t0 : K) (models : nat) (ys : nat -> nat -> K) (lams t0s : nat -> K).
Context (xbar : nat -> K) (theta : K) (projections : nat -> K) (len : nat).
Definition from {A : Type} (first : nat) (f : nat -> A) : nat -> A := fun j => f (first + j).
Definition sgd_loop := {| state := (nat -> K) * K * K * K * K;
  run first T '(v, t, a, p, g) := sgd_steps X y sample_weight lam dloss (from first indices) T t0 t v a 0;
  t_of '(v, t, a, p, g) := t; ok '(v, t, a, p, g) := finite p; kept_of '(v, t, a, p, g) := (v, a) |}.
Definition asgd_loop := {| state := (nat -> K) * (nat -> K) * K * K * K * K * K * K * K;
  run first T '(v, u, t, a, c, h, total, p, g) :=
    asgd_steps X y sample_weight lam dloss (from first indices) T t0 (from first omega) t v u a c h total 0;
  t_of '(v, u, t, a, c, h, total, p, g) := t; ok '(v, u, t, a, c, h, total, p, g) := finite p;
  kept_of '(v, u, t, a, c, h, total, p, g) := (v, u, a, c, h, total) |}.
Definition csgd_loop := {| state := (nat -> K) * K * K * K * K * K * K;
  run first T '(v, t, a, z, r, p, g) :=
    csgd_steps X y sample_weight lam dloss (from first indices) T t0 xbar theta projections len t v a z r 0;
  t_of '(v, t, a, z, r, p, g) := t; ok '(v, t, a, z, r, p, g) := finite p; kept_of '(v, t, a, z, r, p, g) := (v, a, z, r) |}.
Definition casgd_loop := {| state := (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * K * K * K;
  run first T '(v, u, t, a, c, h, total, z, r, s, p, g) := casgd_steps X y sample_weight lam dloss (from first indices) T t0
    (from first omega) xbar theta projections len t v u a c h total z r s 0;
  t_of '(v, u, t, a, c, h, total, z, r, s, p, g) := t; ok '(v, u, t, a, c, h, total, z, r, s, p, g) := finite p;
  kept_of '(v, u, t, a, c, h, total, z, r, s, p, g) := (v, u, a, c, h, total, z, r, s) |}.
Definition batch_loop := let numbers := nat -> K in {| state := (nat -> nat -> nat -> K) * numbers * numbers * numbers * numbers * numbers *
    numbers * numbers * numbers * numbers * numbers * numbers * K;
  run first T '(w, a, c, h, total, z, r, s, p, g, hg, d, t) := batch_steps X ys sample_weight lams models dloss (from first indices) T t0s
    (from first omega) xbar theta projections len t w models a c h total z r s p g hg d 0;
  t_of '(w, a, c, h, total, z, r, s, p, g, hg, d, t) := t;
  ok '(w, a, c, h, total, z, r, s, p, g, hg, d, t) := forallb (fun k => finite (p k)) (seq 0 models);
  kept_of '(w, a, c, h, total, z, r, s, p, g, hg, d, t) := (w, a, c, h, total, z, r, s) |}.
Definition shipped_loops := sgd_loop :: asgd_loop :: csgd_loop :: casgd_loop :: batch_loop :: nil.
End Shipped.

(* [cost] the shipped dot product is v · x_i, at a cost of at most 5k + 10 *)
Definition dot_is_right : Prop := forall (F : Fld) (U : Undef) X n v i cost, well_formed X n ->
  fst (sparse_dot v X i cost) = dotn n v (dense X i) /\ snd (sparse_dot v X i cost) <= cost + 5 * stored X i + 10.

(* [alg:sgd, lem:v] the shipped Algorithm 1 returns w_T and b_T, for all T, n, rows, losses, t0 and weights, at O(n + Tk) *)
Definition algorithm1 : Prop := forall (F : Fld) (U : Undef) X n y sample_weight dloss lam t0 indices T, usable X n lam t0 T ->
  let '(w, b, cost) := run_sgd X y sample_weight dloss lam t0 indices T in
  (forall k, w k = w_ n (dense X) y sample_weight dloss lam t0 indices T k) /\ b = b_ n (dense X) y sample_weight dloss lam t0 indices T
  /\ cost <= nsum T (fun j => 12 * stored X (indices j) + 32) + 5.

(* [alg:asgd, eqn:naiveAverage, eqn:owDef, eqn:obDef] the shipped Algorithm 2 returns the mean of the iterates 1, …, T *)
Definition algorithm2 : Prop := forall (F : Fld) (U : Undef) X n y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> sum T omega <> K0 ->
  let '(w, b, cost) := run_asgd X y sample_weight dloss lam t0 indices T omega in
  (forall k, w k = total_w n (dense X) y sample_weight dloss lam t0 indices omega T k / sum T omega)%K
  /\ b = (total_b n (dense X) y sample_weight dloss lam t0 indices omega T / sum T omega)%K
  /\ cost <= nsum T (fun j => 14 * stored X (indices j) + 40) + 9.

(* [eqn:wCenter, eqn:bTagCenter] the shipped centred SGD returns w_T and b'_T of eq. 3 on the rows x − x̄ *)
Definition centred_sgd : Prop := forall (F : Fld) (U : Undef) X n m y sample_weight dloss lam t0 indices T,
  usable X n lam t0 T -> let x := centred m sample_weight X in finds n (run_csgd X y sample_weight dloss lam t0 indices T n m)
    (w_ n x y sample_weight dloss lam t0 indices T, implicit n x y sample_weight dloss lam t0 indices (mean m sample_weight X) T).

(* [alg:casgd, eqn:centerAvg, obCenterDef, eqn:owCenterDef] the shipped Algorithm 3 returns the mean of the iterates on the rows x − x̄,
   whose bias is that for raw rows *)
Definition algorithm3 : Prop := forall (F : Fld) (U : Undef) X n m y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> sum T omega <> K0 ->
  let x := centred m sample_weight X in finds n (run_casgd X y sample_weight dloss lam t0 indices T omega n m)
    (fun k => total_w n x y sample_weight dloss lam t0 indices omega T k / sum T omega,
     total_implicit n x y sample_weight dloss lam t0 indices omega (mean m sample_weight X) T / sum T omega)%K.

(* [alg:sgd, alg:asgd, eqn:GDStep] what the shipped Algorithms 1 and 2 return is what the shipped dense definition returns *)
Definition same_as_definition : Prop := forall (F : Fld) (U : Undef) X n y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> sum T omega <> K0 -> let x := dense X in
  finds n (run_sgd X y sample_weight dloss lam t0 indices T) (last_by_definition n x false zeros y sample_weight dloss lam t0 indices T)
  /\ finds n (run_asgd X y sample_weight dloss lam t0 indices T omega)
    (mean_by_definition n x false zeros y sample_weight dloss lam t0 indices T omega).

(* [alg:casgd, eqn:explicitToImplicit] and what the shipped Algorithm 3 and centred SGD return, that on the rows x − x̄ *)
Definition same_as_centred_definition : Prop := forall (F : Fld) (U : Undef) X n m y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> sum T omega <> K0 -> let x := dense X in let xbar := mean m sample_weight X in
  finds n (run_csgd X y sample_weight dloss lam t0 indices T n m) (last_by_definition n x true xbar y sample_weight dloss lam t0 indices T)
  /\ finds n (run_casgd X y sample_weight dloss lam t0 indices T omega n m)
    (mean_by_definition n x true xbar y sample_weight dloss lam t0 indices T omega).

(* [cost] a whole run of the shipped Algorithm 3 takes at most 9n + Σ_i (7k_i + 13) + Σ_t (19k_t + 60) + 14 statements and subscripts *)
Definition algorithm3_cost : Prop := forall (F : Fld) (U : Undef) X n m y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> sum T omega <> K0 ->
  snd (run_casgd X y sample_weight dloss lam t0 indices T omega n m)
  <= 9 * n + nsum m (fun i => 7 * stored X i + 13) + nsum T (fun j => 19 * stored X (indices j) + 60) + 14.

(* [alg:sgd, alg:asgd, alg:casgd] if a prediction overflows the run ends, that step undone: from there on more indices change nothing, and
   what was learned is what was before that step, which may be the first of a block. No law is asked of the arithmetic. *)
Definition overflow : Prop := forall Ar U X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len,
  Forall (fun l : shipped => forall s T0 T, T0 < T -> 1 <= T0 \/ Keqb (t_of l s) K0 = false ->
    (forall T1, 1 <= T1 <= T0 -> ok l (fst (run l 0 T1 s)) = true) -> ok l (fst (run l 0 (S T0) s)) = false ->
    run l 0 T s = run l 0 (S T0) s /\ kept_of l (fst (run l 0 T s)) = kept_of l (fst (run l 0 T0 s)))
  (@shipped_loops Ar U X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len).

(* [alg:sgd, alg:asgd, alg:casgd] T1 steps, and T2 more from the state that they return, are a run of T1 + T2 steps: in any arithmetic, unless
   a prediction overflowed in the first part or its t is 0 again. The sums over the rows may be cut likewise. *)
Definition in_pieces : Prop := forall Ar U X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len,
  Forall (fun l : shipped => forall s T1 T2, let s1 := fst (run l 0 T1 s) in
    1 <= T1 -> 1 <= T2 -> ok l s1 = true -> Keqb (t_of l s1) K0 = false -> fst (run l T1 T2 s1) = fst (run l 0 (T1 + T2) s))
  (@shipped_loops Ar U X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len)
  /\ forall m1 m2 sums total, let '(sums1, total1, _) := casgd_add_up X sample_weight 0 m1 sums total 0 in
    fst (casgd_add_up X sample_weight m1 (m1 + m2) sums1 total1 0) = fst (casgd_add_up X sample_weight 0 (m1 + m2) sums total 0)
    /\ fst (casgd_project X xbar m1 (m1 + m2) (fst (casgd_project X xbar 0 m1 projections 0)) 0)
      = fst (casgd_project X xbar 0 (m1 + m2) projections 0).

(* [alg:casgd] with q = x̄ · x computed for all m rows beforehand the centred loops return what they do without, in any arithmetic *)
Definition projections_known : Prop := forall (Ar : Ops) (U : Undef) X y sample_weight lam dloss indices T t0 omega xbar theta projections m
  t v u a c h total z r s, (forall j, indices j < m) -> let known := fst (casgd_project X xbar 0 m projections 0) in
  let csgd q len := fst (csgd_steps X y sample_weight lam dloss indices T t0 xbar theta q len t v a z r 0) in
  let casgd q len := fst (casgd_steps X y sample_weight lam dloss indices T t0 omega xbar theta q len t v u a c h total z r s 0) in
  csgd known m = csgd zeros 0 /\ casgd known m = casgd zeros 0.

(* [translation] Algorithm 3, or centred SGD, on rows moved by a constant vector: the same w, b' less w · shift, the same predictions *)
Definition translation : Prop := forall (F : Fld) (U : Undef) X X' shift n m y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> usable X' n lam t0 T -> sum m sample_weight <> K0 -> sum T omega <> K0 -> (forall t, indices t < m) ->
  (forall i k, i < m -> k < n -> dense X' i k = dense X i k + shift k)%K ->
  let same found found' := let '(w, b, _) := found in let '(w', b', _) := found' in finds n found' (w, b - dotn n w shift)%K
    /\ forall i, i < m -> (dotn n w' (dense X' i) + b' = dotn n w (dense X i) + b)%K in
  same (run_casgd X y sample_weight dloss lam t0 indices T omega n m) (run_casgd X' y sample_weight dloss lam t0 indices T omega n m)
  /\ same (run_csgd X y sample_weight dloss lam t0 indices T n m) (run_csgd X' y sample_weight dloss lam t0 indices T n m).

(* [alg:casgd] the shipped loop for many models does to each model k what the loop of Algorithm 3 does to one, from any state *)
Definition many_models : Prop := forall (F : Fld) (U : Undef) X n models y sample_weight lam dloss indices T t0 omega xbar theta projections len
  t w a c h total z r s p g hg d k, well_formed X n -> 1 <= T -> k < models ->
  let '(w', a', c', h', total', z', r', s', p', g', _, _, t', _) :=
    batch_steps X y sample_weight lam models dloss indices T t0 omega xbar theta projections len t w models a c h total z r s p g hg d 0 in
  let '(v1, u1, t1, a1, c1, h1, total1, z1, r1, s1, p1, g1, _) :=
    casgd_steps X (fun i => y i k) sample_weight (lam k) dloss indices T (t0 k) omega xbar theta projections len
      t (fun j => w j 0 k) (fun j => w j 1 k) (a k) (c k) (h k) (total k) (z k) (r k) (s k) 0 in
  t' = t1 /\ (forall j, w' j 0 k = v1 j) /\ (forall j, w' j 1 k = u1 j)
  /\ (a' k, c' k, h' k, total' k, z' k, r' k, s' k, p' k, g' k) = (a1, c1, h1, total1, z1, r1, s1, p1, g1).

(* [pivot] Algorithm 3, or centred SGD, on rows less a pivot, with b' less w · pivot, is the same on the rows *)
Definition pivot_is_a_translation : Prop := forall (F : Fld) (U : Undef) X X' pivot n m y sample_weight dloss lam t0 indices T omega,
  usable X n lam t0 T -> usable X' n lam t0 T -> sum m sample_weight <> K0 -> sum T omega <> K0 -> (forall t, indices t < m) ->
  (forall i k, i < m -> k < n -> dense X' i k = dense X i k - pivot k)%K ->
  let same found found' := let '(w', b', _) := found' in finds n found (w', b' - dotn n w' pivot)%K in
  same (run_casgd X y sample_weight dloss lam t0 indices T omega n m) (run_casgd X' y sample_weight dloss lam t0 indices T omega n m)
  /\ same (run_csgd X y sample_weight dloss lam t0 indices T n m) (run_csgd X' y sample_weight dloss lam t0 indices T n m).

(* Runs in two arithmetics from inputs that are alike by R end alike: in all four algorithms. *)
Section Alike.
Context {A B : Ops} {U : @Undef A} {V : @Undef B} (R : @K A -> @K B -> Prop).
Definition all (f : nat -> @K A) (g : nat -> @K B) := forall k, R (f k) (g k).
Definition end_alike (found : (nat -> @K A) * @K A * nat) (found' : (nat -> @K B) * @K B * nat) :=
  let '(w, b, _) := found in let '(w', b', _) := found' in all w w' /\ R b b'.
Definition runs_alike := forall X X' y y' s s' dloss dloss' lam lam' t0 t0' indices T omega omega' n m,
  r_indices X = r_indices X' -> r_indptr X = r_indptr X' -> all (r_data X) (r_data X') -> all y y' -> all s s' -> all omega omega' ->
  R lam lam' -> R t0 t0' -> (forall p q z z', R p q -> R z z' -> R (dloss p z) (dloss' q z')) ->
  end_alike (run_sgd X y s dloss lam t0 indices T) (run_sgd X' y' s' dloss' lam' t0' indices T)
  /\ end_alike (run_asgd X y s dloss lam t0 indices T omega) (run_asgd X' y' s' dloss' lam' t0' indices T omega')
  /\ end_alike (run_csgd X y s dloss lam t0 indices T n m) (run_csgd X' y' s' dloss' lam' t0' indices T n m)
  /\ end_alike (run_casgd X y s dloss lam t0 indices T omega n m) (run_casgd X' y' s' dloss' lam' t0' indices T omega' n m).
End Alike.

(* Balls, or any numbers that stand for unknown ones: R x b says that b contains x. What is asked of their arithmetic: each operation on
   balls contains the operation on numbers; only a ball that contains nothing but 0 equals 0; and b - b, of a ball and itself, is 0, by
   which the loops ask for an overflow. An operation that raises an error in Python counts as one whose result contains all numbers: a run
   that ends had none. *)
Record contains {A : Fld} {B : Ops} (R : @K (@Fops A) -> @K B -> Prop) : Prop := {
  on_0 : R K0 K0; on_1 : R K1 K1;
  on_add : forall x b y c, R x b -> R y c -> R (x + y)%K (b + c)%K; on_sub : forall x b y c, R x b -> R y c -> R (x - y)%K (b - c)%K;
  on_mul : forall x b y c, R x b -> R y c -> R (x * y)%K (b * c)%K; on_div : forall x b y c, R x b -> R y c -> R (x / y)%K (b / c)%K;
  on_opp : forall x b, R x b -> R (- x)%K (- b)%K;
  zero_is_zero : Keqb (@K0 B) K0 = true; only_zero : forall x b, R x b -> Keqb b K0 = true -> x = K0; self_is_zero : forall b : @K B, finite b = true }.

(* [alg:sgd, alg:asgd, alg:casgd] the shipped algorithms on balls return balls that contain what they return on the numbers inside *)
Definition inclusion : Prop := forall (A : Fld) (B : Ops) (U : @Undef Fops) (V : @Undef B) (R : @K (@Fops A) -> @K B -> Prop),
  contains R -> runs_alike R.

(* The real numbers as a field. Eq. 2 (eqn:objective) on rows x_i, and the mean of f over all histories of t independent draws from
   0, …, m − 1, the latest first. *)
Definition Reqb (x y : R) : bool := if Req_EM_T x y then true else false.
Lemma Reqb_eq x y : Reqb x y = true <-> x = y.
Proof. unfold Reqb. destruct (Req_EM_T x y); split; congruence. Qed.
Definition ROps : Ops := {| K := R; K0 := 0%R; K1 := 1%R; Kadd := Rplus; Kmul := Rmult; Ksub := Rminus; Kopp := Ropp; Kdiv := Rdiv;
  Kself := fun x => x - x; Keqb := Reqb |}%R.
#[local] Instance RF : Fld := {| Fops := ROps; Kinv := Rinv; Kfield := Rfield; Kself_is := fun _ => eq_refl; Keqb_eq := Reqb_eq |}.

Local Open Scope R_scope.
Definition average (m : nat) (f : nat -> R) : R := / INR m * sum m f. Definition draws (l : list nat) (j : nat) : nat := nth j (rev l) O.
Fixpoint expectation (m t : nat) (f : list nat -> R) : R :=
  match t with O => f nil | S s => expectation m s (fun l => average m (fun i => f (i :: l))) end.
Definition objective n m (x : nat -> nat -> R) y (loss : R -> R -> R) (lam : R) (wb : (nat -> R) * R) : R :=
  lam / 2 * (dotn n (fst wb) (fst wb) + snd wb * snd wb) + average m (fun i => loss (predict n x wb i) (y i)).
(* a convex loss whose slopes are at most L for the labels y; rows with |x_i|² + 1 <= R2 *)
Definition suits m y (loss dloss : R -> R -> R) (L : R) := forall i p, (i < m)%nat ->
  (forall q, loss p (y i) + dloss p (y i) * (q - p) <= loss q (y i)) /\ - L <= dloss p (y i) <= L.
Definition within n m (x : nat -> nat -> R) R2 := forall i, (i < m)%nat -> dotn n (x i) (x i) + 1 <= R2.
Definition ones : nat -> R := fun _ => 1. Definition steps_as_weights (j : nat) : R := INR (S j).

#[local] Instance RA : Analysis := {| Kleb := fun x y => if Rle_dec x y then true else false;
  Kabs := Rabs; Kmax := Rmax; Kexp := exp; Klog1p := fun x => ln (1 + x) |}.

(* [tab:losses] the shipped losses and derivatives are those of Table 1, with the paper's side at the kink *)
Definition table1 : Prop := forall p y : R,
  loss_absolute p y = Rabs (p - y) /\ (p <= y -> loss_absolute_derivative p y = -1) /\ (y < p -> loss_absolute_derivative p y = 1)
  /\ loss_squared p y = (p - y) ^ 2 / 2 /\ loss_squared_derivative p y = p - y
  /\ loss_hinge p y = Rmax 0 (1 - p * y) /\ (p * y <= 1 -> loss_hinge_derivative p y = - y) /\ (1 < p * y -> loss_hinge_derivative p y = 0)
  /\ loss_log p y = ln (1 + exp (- (p * y))) /\ loss_log_derivative p y = - y / (1 + exp (p * y)).

(* [tab:losses] each derivative is a subgradient everywhere, so each loss is convex; slopes are at most 1, in hinge and log for labels ±1,
   and in the squared loss not bounded *)
Definition subgradients : Prop := forall p q y : R,
  let below (loss dloss : R -> R -> R) := loss p y + dloss p y * (q - p) <= loss q y in
  below loss_absolute loss_absolute_derivative /\ below loss_squared loss_squared_derivative
  /\ below loss_hinge loss_hinge_derivative /\ below loss_log loss_log_derivative
  /\ -1 <= loss_absolute_derivative p y <= 1
  /\ (y = 1 \/ y = -1 -> -1 <= loss_hinge_derivative p y <= 1 /\ -1 <= loss_log_derivative p y <= 1).

(* [guarantee] what the shipped Algorithm 2 returns with ω_t = t is expected within 8L²R²/(λ(T + 1)) of the minimum *)
Definition rate2 : Prop := forall (U : Undef) X n m y loss dloss lam L R2 wstar T, let x := dense X in let F := objective n m x y loss lam in
  well_formed X n -> (0 < m)%nat -> 0 < lam -> suits m y loss dloss L -> within n m x R2 -> (forall w, F wstar <= F w) -> (1 <= T)%nat ->
  expectation m T (fun l => F (fst (run_asgd X y ones dloss lam 0 (draws l) T steps_as_weights))) - F wstar
  <= 8 * (L ^ 2 * R2) / (lam * (INR T + 1)).

(* [guarantee] and what the shipped Algorithm 3 returns, as a predictor for the rows x − x̄, likewise *)
Definition rate3 : Prop := forall (U : Undef) X n m y loss dloss lam L R2 wstar T, let x := centred m ones X in let F := objective n m x y loss lam in
  well_formed X n -> (0 < m)%nat -> 0 < lam -> suits m y loss dloss L -> within n m x R2 -> (forall w, F wstar <= F w) -> (1 <= T)%nat ->
  let explicit (wb : (nat -> R) * R) := (fst wb, snd wb + dotn n (fst wb) (mean m ones X)) in
  expectation m T (fun l => F (explicit (fst (run_casgd X y ones dloss lam 0 (draws l) T steps_as_weights n m)))) - F wstar
  <= 8 * (L ^ 2 * R2) / (lam * (INR T + 1)).

(* An arithmetic that rounds each result, as that of floats does where nothing overflows or underflows. *)
Definition rounding (rnd : R -> R) : Ops := {| K := R; K0 := 0; K1 := 1; Kadd := fun x y => rnd (x + y); Kmul := fun x y => rnd (x * y);
  Ksub := fun x y => rnd (x - y); Kopp := Ropp; Kdiv := fun x y => rnd (x / y); Kself := fun x => rnd (x - x); Keqb := Reqb |}.

(* [cost] with a relative error eps of each operation, so where nothing underflows, the shipped dot product is within ((1 + eps)^(⌊k/4⌋ + k mod 4
   + 3) − 1) Σ|terms| of the exact one *)
Definition rounded_dot : Prop := forall rnd eps, 0 <= eps -> (forall x, Rabs (rnd x - x) <= eps * Rabs x) ->
  forall (U : @Undef (rounding rnd)) (v : nat -> R) (X : @rows (rounding rnd)) i cost, (r_indptr X i <= r_indptr X (i + 1))%nat ->
  let k := (r_indptr X (i + 1) - r_indptr X i)%nat in
  let term e : R := r_data X (r_indptr X i + e)%nat * v (r_indices X (r_indptr X i + e)%nat) in
  Rabs (fst (@sparse_dot (rounding rnd) U v X i cost) - sum k term) <= ((1 + eps) ^ (k / 4 + k mod 4 + 3) - 1) * sum k (fun e => Rabs (term e)).

(* Numbers that round, as floats do until one overflows: with a relative error of at most eps and, near 0, an absolute one of eta. *)
Definition rounds (rnd : R -> R) eps eta := 0 <= eps /\ 0 <= eta /\ rnd 1 = 1 /\
  forall z, Rabs (rnd z - z) <= eps * Rabs (rnd z) + eta /\ rnd (rnd z) = rnd z /\ rnd (- z) = - rnd z.

(* A float, and a bound of its distance from the number that it stands for, if one is known. Each bound is made of the two numbers of the
   operation, their bounds and the rounded result: a run finds it on its way, without the exact numbers. *)
Definition bounded := (R * option R)%type. Definition exactly (x : R) : bounded := (x, Some 0).
Definition within_bound (x : R) (b : bounded) := match snd b with Some e => Rabs (fst b - x) <= e | None => True end.
Definition bounds rnd eps eta : Ops :=
  let result z (bound : R -> R -> option R) (a b : bounded) := (rnd z, match snd a, snd b with
    | Some d, Some e => match bound d e with Some f => Some (f + eps * Rabs (rnd z) + eta) | None => None end | _, _ => None end) in
  {| K := bounded; K0 := exactly 0; K1 := exactly 1;
  Kadd := fun a b => result (fst a + fst b) (fun d e => Some (d + e)) a b; Ksub := fun a b => result (fst a - fst b) (fun d e => Some (d + e)) a b;
  Kmul := fun a b => result (fst a * fst b) (fun d e => Some (Rabs (fst a) * e + Rabs (fst b) * d + d * e)) a b;
  Kdiv := fun a b => result (fst a / fst b) (fun d e => if Rlt_dec e (Rabs (fst b))
    then Some ((d + Rabs (fst a / fst b) * e) / (Rabs (fst b) - e)) else None) a b;
  Kopp := fun a => (- fst a, snd a); Kself := fun a => exactly 0;
  Keqb := fun a b => match snd a, snd b with Some d, Some e => (Reqb d 0 && Reqb e 0 && Reqb (fst a) (fst b))%bool | _, _ => false end |}.

(* [alg:sgd, alg:asgd, alg:casgd] the shipped algorithms with bounds return the very floats of the shipped algorithms on floats, and the
   bounds hold: each is within its bound of what they return on exact numbers *)
Definition float_run : Prop := forall rnd eps eta, rounds rnd eps eta ->
  forall (U : @Undef (@Fops RF)) (V : @Undef (rounding rnd)) (W : @Undef (bounds rnd eps eta)),
  runs_alike (A := @Fops RF) (B := bounds rnd eps eta) within_bound
  /\ runs_alike (A := rounding rnd) (B := bounds rnd eps eta) (fun x b => x = fst b /\ rnd x = x).
