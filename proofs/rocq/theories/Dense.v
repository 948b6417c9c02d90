(* The shipped dense definition is eq. 3, and its mean eqs. 5 and 16; so it returns what the shipped algorithms return. *)
Require Import Base Generated Statements Sparse Loops Centring.

Section Definition_.
Context {F : Fld} {U : Undef}.
Add Field KF : Kfield.
Local Open Scope K_scope.
Context (n : nat) (x : nat -> nat -> K) (is_centred : bool) (xbar y sample_weight : nat -> K) (dloss : K -> K -> K) (lam t0 : K).
Context (indices : nat -> nat) (omega : nat -> K).

Let xs i : nat -> K := if is_centred then (fun k => x i k - xbar k) else x i.
Let it := iter n xs y sample_weight dloss lam t0 indices.
Let bias t := if is_centred then implicit n xs y sample_weight dloss lam t0 indices xbar t else b_ n xs y sample_weight dloss lam t0 indices t.

(* [eqn:GDStep] *)
Lemma definition_is T :
  let '(w, b, b', w_sum, b_sum, total) := by_definition n x is_centred xbar y sample_weight dloss lam t0 indices T omega in
  (forall k, w k = fst (it T) k) /\ b = snd (it T) /\ (1 <= T -> b' = bias T)%nat
  /\ (forall k, w_sum k = total_w n xs y sample_weight dloss lam t0 indices omega T k)
  /\ b_sum = sum T (fun j => omega j * bias (S j)) /\ total = sum T omega.
Proof.
  unfold by_definition, for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop T 0 1 ?f ?s] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * K * K * (nat -> K) * K * K) => let '(w, b, b', w_sum, b_sum, total) := st in
      (forall k, w k = fst (it m) k) /\ b = snd (it m) /\ (1 <= m -> b' = bias m)%nat
      /\ (forall k, w_sum k = total_w n xs y sample_weight dloss lam t0 indices omega m k)
      /\ b_sum = sum m (fun j => omega j * bias (S j)) /\ total = sum m omega) T 0 1 f s) as L;
    destruct (loop T 0 1 f s) as [[[[[w b] b'] w_sum] b_sum] total] end.
  apply L; clear L.
  - repeat split; try reflexivity. lia.
  - intros m [[[[[w1 b1] b1'] w_sum1] b_sum1] total1] Hm (Hw & Hb & _ & Hws & Hbs & Ht).
    unfold reference_step, reference_add; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l, Nat.add_1_r.
    assert (Hx : (if is_centred then (fun k_ => x (indices m) k_ - xbar k_) else x (indices m)) = xs (indices m)) by (unfold xs; now destruct is_centred).
    rewrite Hx. change (inj (S m) + t0) with (now t0 (S m)).
    assert (Hp : dotn n w1 (xs (indices m)) + b1 = predict n xs (it m) (indices m)).
    { unfold predict. rewrite Hb. f_equal. apply dotn_ext; auto. }
    rewrite Hp. fold (slope n xs y sample_weight dloss (it m) (indices m)). set (g := slope n xs y sample_weight dloss (it m) (indices m)).
    assert (E : it (S m) = (fun k => (K1 - K1 / now t0 (S m)) * fst (it m) k - g / (lam * now t0 (S m)) * xs (indices m) k,
                            (K1 - K1 / now t0 (S m)) * snd (it m) - g / (lam * now t0 (S m)))).
    { unfold g, it. cbn [iter]. destruct (iter n xs y sample_weight dloss lam t0 indices m) as [w0 b0]. reflexivity. }
    assert (Ew : forall k, (K1 - K1 / now t0 (S m)) * w1 k - g / (lam * now t0 (S m)) * xs (indices m) k = fst (it (S m)) k).
    { intros k. rewrite E. cbn [fst]. now rewrite Hw. }
    assert (Eb : (K1 - K1 / now t0 (S m)) * b1 - g / (lam * now t0 (S m)) = snd (it (S m))) by (rewrite E, Hb; reflexivity).
    assert (Ei : (if is_centred then ((K1 - K1 / now t0 (S m)) * b1 - g / (lam * now t0 (S m)))
        - dotn n (fun k_ => (K1 - K1 / now t0 (S m)) * w1 k_ - g / (lam * now t0 (S m)) * xs (indices m) k_) xbar
        else ((K1 - K1 / now t0 (S m)) * b1 - g / (lam * now t0 (S m)))) = bias (S m)).
    { unfold bias, implicit, b_, w_. fold it. rewrite Eb. destruct is_centred; [|reflexivity]. f_equal. apply dotn_ext; auto. }
    repeat split.
    + exact Ew.
    + exact Eb.
    + intros _. exact Ei.
    + intros k. unfold total_w in *. cbn [sum]. rewrite Hws. unfold w_. fold it. rewrite <- Ew. reflexivity.
    + cbn [sum]. rewrite Hbs, <- Ei. reflexivity.
    + cbn [sum]. now rewrite Ht.
Qed.
End Definition_.

Theorem same_as_definition_holds : same_as_definition.
Proof.
  intros F U X n y weight dloss lam t0 indices T omega HU Ho.
  pose proof (algorithm1_holds F U X n y weight dloss lam t0 indices T HU) as A1. destruct (run_sgd _ _ _ _ _ _ _ _) as [[w b] c]. destruct A1 as (A1 & A2 & _).
  unfold finds, last_by_definition, mean_by_definition, reference_divide in *; cbv zeta in *.
  pose proof (definition_is n (dense X) false zeros y weight dloss lam t0 indices zeros T) as D1.
  destruct (by_definition _ _ _ _ _ _ _ _ _ _ T zeros) as [[[[[w1 b1] b1'] ws1] bs1] tot1]. destruct D1 as (D1 & _ & D2 & _). destruct HU as (W & Hl & Hn & HT). specialize (D2 HT).
  pose proof (algorithm2_holds F U X n y weight dloss lam t0 indices T omega (conj W (conj Hl (conj Hn HT))) Ho) as B.
  destruct (run_asgd _ _ _ _ _ _ _ _ _) as [[wm bm] cm]. destruct B as (B1 & B2 & _).
  pose proof (definition_is n (dense X) false zeros y weight dloss lam t0 indices omega T) as E.
  destruct (by_definition _ _ _ _ _ _ _ _ _ _ T omega) as [[[[[w2 b2] b2'] ws2] bs2] tot2]. destruct E as (_ & _ & _ & E1 & E2 & ->).
  cbn [fst snd]. split; split.
  - intros k _. rewrite A1, D1. reflexivity.
  - rewrite A2, D2. reflexivity.
  - intros k _. rewrite B1, E1. reflexivity.
  - rewrite B2, E2. reflexivity.
Qed.

Theorem same_as_centred_definition_holds : same_as_centred_definition.
Proof.
  intros F U X n m y weight dloss lam t0 indices T omega HU Ho x xbar.
  pose proof (centred_sgd_holds F U X n m y weight dloss lam t0 indices T HU) as A1. destruct (run_csgd _ _ _ _ _ _ _ _ _ _) as [[w b] c]. destruct A1 as (A1 & A2).
  unfold finds, last_by_definition, mean_by_definition, reference_divide in *; cbv zeta in *.
  pose proof (definition_is n (dense X) true xbar y weight dloss lam t0 indices zeros T) as D1.
  destruct (by_definition _ _ _ _ _ _ _ _ _ _ T zeros) as [[[[[w1 b1] b1'] ws1] bs1] tot1]. destruct D1 as (D1 & _ & D2 & _). destruct HU as (W & Hl & Hn & HT). specialize (D2 HT).
  pose proof (algorithm3_holds F U X n m y weight dloss lam t0 indices T omega (conj W (conj Hl (conj Hn HT))) Ho) as B.
  destruct (run_casgd _ _ _ _ _ _ _ _ _ _ _) as [[wm bm] cm]. destruct B as (B1 & B2).
  pose proof (definition_is n (dense X) true xbar y weight dloss lam t0 indices omega T) as E.
  destruct (by_definition _ _ _ _ _ _ _ _ _ _ T omega) as [[[[[w2 b2] b2'] ws2] bs2] tot2]. destruct E as (_ & _ & _ & E1 & E2 & ->).
  cbn [fst snd]. split; split.
  - intros k Hk. rewrite A1, D1 by exact Hk. reflexivity.
  - rewrite A2, D2. reflexivity.
  - intros k Hk. rewrite B1, E1 by exact Hk. reflexivity.
  - rewrite B2, E2. reflexivity.
Qed.
