(* How far the shipped dot product in floats can be from the exact one. *)
Require Import Reals Lra Lia Arith Psatz.
Require Import Base Generated Guarantee.
Require Sparse Statements.
Import Statements(rounding, rounded_dot, RF).
From Flocq Require Import Core Relative.
Open Scope R_scope.

Section Rounding.
(* the standard model: every operation is exact, then rounded with a relative error of at most eps *)
Context (rnd : R -> R) (eps : R).
Hypothesis eps_pos : 0 <= eps.
Hypothesis rnd_ok : forall x, Rabs (rnd x - x) <= eps * Rabs x.

#[local] Instance FlOps : Ops := rounding rnd.

Definition start (X : @rows FlOps) i := r_indptr X i.
Definition stop (X : @rows FlOps) i := r_indptr X (i + 1).
Definition stored X i := (stop X i - start X i)%nat.

(* d is a computed sum of s, whose terms have the absolute values' sum A *)
Definition near (e d s A : R) := Rabs (d - s) <= (e - 1) * A /\ Rabs s <= A.

Lemma near_0 e : 1 <= e -> near e 0 0 0.
Proof. intros H. unfold near. rewrite Rminus_0_r, Rabs_R0. lra. Qed.
Lemma near_more e e' d s A : e <= e' -> near e d s A -> near e' d s A.
Proof. intros H [N B]. split; [|exact B]. pose proof (Rabs_pos s). apply Rle_trans with (1 := N). apply Rmult_le_compat_r; lra. Qed.
Lemma near_join e d s A d' s' A' : 1 <= e -> near e d s A -> near e d' s' A' -> near (e * (1 + eps)) (rnd (d + d')) (s + s') (A + A').
Proof.
  intros He [N B] [N' B']. split; [|eapply Rle_trans; [apply Rabs_triang|lra]].
  replace (rnd (d + d') - (s + s')) with ((rnd (d + d') - (d + d')) + ((d - s) + (d' - s'))) by ring.
  pose proof (rnd_ok (d + d')) as Hr. assert (Rabs (d + d') <= e * (A + A')).
  { replace (d + d') with ((s + s') + ((d - s) + (d' - s'))) by ring. eapply Rle_trans; [apply Rabs_triang|].
    pose proof (Rabs_triang s s'). pose proof (Rabs_triang (d - s) (d' - s')). lra. }
  assert (eps * Rabs (d + d') <= eps * (e * (A + A'))) by (apply Rmult_le_compat_l; assumption).
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (d - s) (d' - s')). lra.
Qed.
Lemma near_term t : near (1 + eps) (rnd t) t (Rabs t).
Proof. split; [|lra]. replace (1 + eps - 1) with eps by ring. apply rnd_ok. Qed.

Lemma pow_ge m : 1 <= (1 + eps) ^ m. Proof. apply pow_R1_Rle. lra. Qed.
Lemma pow_mono m m' : (m <= m')%nat -> (1 + eps) ^ m <= (1 + eps) ^ m'.
Proof. intros H. apply Rle_pow; [lra|exact H]. Qed.

Lemma near_step m d s A t : near ((1 + eps) ^ S m) d s A -> near ((1 + eps) ^ S (S m)) (rnd (d + rnd t)) (s + t) (A + Rabs t).
Proof.
  intros H. replace ((1 + eps) ^ S (S m)) with ((1 + eps) ^ S m * (1 + eps)) by (simpl; ring).
  apply near_join; [apply pow_ge|exact H|]. apply near_more with (1 + eps); [|apply near_term].
  rewrite <- (pow_1 (1 + eps)) at 1. apply pow_mono. lia.
Qed.

Theorem float_dot {U : Undef} (v : nat -> R) (X : @rows FlOps) (i c : nat) : (start X i <= stop X i)%nat ->
  let term (e : nat) : R := r_data X (start X i + e)%nat * v (r_indices X (start X i + e)%nat) in let k := stored X i in
  Rabs (fst (sparse_dot v X i c) - rsum k term) <= ((1 + eps) ^ (k / 4 + k mod 4 + 3) - 1) * rsum k (fun e => Rabs (term e)).
Proof.
  intros Hle term k. unfold sparse_dot, sparse_entries; cbv zeta; fold (start X i); fold (stop X i).
  set (s := start X i) in *. set (q := ((stop X i - s) / 4)%nat).
  assert (Hk : k = (stop X i - s)%nat) by reflexivity.
  assert (Hdm : (stop X i - s = 4 * q + (stop X i - s) mod 4)%nat) by (apply Nat.div_mod; lia).
  assert (Hm : ((stop X i - s) mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
  set (rest := (stop X i - (stop X i - s) mod 4)%nat). assert (Hr : (rest - s = 4 * q)%nat) by (unfold rest; lia).
  unfold for_range. replace ((rest - s + (4 - 1)) / 4)%nat with q.
  2:{ rewrite Hr. replace (4 * q + (4 - 1))%nat with (3 + q * 4)%nat by lia. rewrite Nat.div_add by lia. reflexivity. }
  set (c0 := (c + 1 + 1 + 3 + 1 + 1 + 1)%nat). set (P := fun m (f : nat -> R) => rsum m f).
  pose proof (Sparse.loop_ind (fun m (st : R * R * R * R * nat) => let '(d0, d1, d2, d3, _) := st in exists s0 s1 s2 s3 A0 A1 A2 A3,
     near ((1 + eps) ^ S m) d0 s0 A0 /\ near ((1 + eps) ^ S m) d1 s1 A1 /\ near ((1 + eps) ^ S m) d2 s2 A2 /\ near ((1 + eps) ^ S m) d3 s3 A3
     /\ s0 + s1 + s2 + s3 = rsum (4 * m) term /\ A0 + A1 + A2 + A3 = rsum (4 * m) (fun e => Rabs (term e)))
     q s 4 (sparse_dot_body v (r_indices X) (r_data X)) (0, 0, 0, 0, c0)) as L.
  change (@K0 FlOps) with 0. destruct (loop q s 4 _ _) as [[[[d0 d1] d2] d3] c1].
  destruct L as (s0 & s1 & s2 & s3 & A0 & A1 & A2 & A3 & N0 & N1 & N2 & N3 & Es & EA).
  { exists 0, 0, 0, 0, 0, 0, 0, 0. pose proof (near_0 _ (pow_ge 1)) as Z. split; [exact Z|]. split; [exact Z|]. split; [exact Z|]. split; [exact Z|]. rewrite Nat.mul_0_r. cbn [rsum]. split; ring. }
  { intros m [[[[e0 e1] e2] e3] c'] Hmq (s0 & s1 & s2 & s3 & A0 & A1 & A2 & A3 & N0 & N1 & N2 & N3 & Es & EA).
    unfold sparse_dot_body; cbv zeta. cbn [Kadd Kmul FlOps].
    assert (T : forall j f, (j <= 3)%nat -> f (s + m * 4 + j)%nat = f (s + (4 * m + j))%nat :> R) by (intros; f_equal; lia).
    exists (s0 + term (4 * m)%nat), (s1 + term (4 * m + 1)%nat), (s2 + term (4 * m + 2)%nat), (s3 + term (4 * m + 3)%nat).
    exists (A0 + Rabs (term (4 * m)%nat)), (A1 + Rabs (term (4 * m + 1)%nat)), (A2 + Rabs (term (4 * m + 2)%nat)), (A3 + Rabs (term (4 * m + 3)%nat)).
    replace (s + m * 4)%nat with (s + 4 * m)%nat by lia. rewrite <- !Nat.add_assoc.
    split; [now apply near_step|]. split; [now apply near_step|]. split; [now apply near_step|]. split; [now apply near_step|].
    replace (4 * S m)%nat with (S (S (S (S (4 * m))))) by lia. cbn [rsum]. rewrite <- Es, <- EA.
    replace (S (4 * m)) with (4 * m + 1)%nat by lia. replace (S (4 * m + 1)) with (4 * m + 2)%nat by lia. replace (S (4 * m + 2)) with (4 * m + 3)%nat by lia.
    split; ring. }
  rewrite Sparse.count1. replace (stop X i - rest)%nat with ((stop X i - s) mod 4)%nat by (unfold rest; lia).
  set (left := ((stop X i - s) mod 4)%nat) in *.
  pose proof (Sparse.loop_ind (fun m (st : R * nat) => let '(d, _) := st in exists s' A',
     near ((1 + eps) ^ S (q + m)) d s' A' /\ s' + s1 + s2 + s3 = rsum (4 * q + m) term /\ A' + A1 + A2 + A3 = rsum (4 * q + m) (fun e => Rabs (term e)))
     left rest 1 (sparse_dot_body2 v (r_indices X) (r_data X)) (d0, (c1 + 1)%nat)) as L2.
  destruct (loop left rest 1 _ _) as [d c2]. destruct L2 as (s' & A' & N & Es' & EA').
  { exists s0, A0. rewrite !Nat.add_0_r. auto. }
  { intros m [e c'] Hml (s' & A' & N & Es' & EA'). unfold sparse_dot_body2; cbv zeta. cbn [Kadd Kmul FlOps].
    exists (s' + term (4 * q + m)%nat), (A' + Rabs (term (4 * q + m)%nat)). rewrite !Nat.add_succ_r. cbn [rsum]. rewrite <- Es', <- EA'.
    replace (rest + m * 1)%nat with (s + (4 * q + m))%nat by (unfold rest in *; lia).
    split; [now apply near_step|split; ring]. }
  cbn [fst Kadd FlOps]. fold k in Hk. rewrite Hk. rewrite Hdm at 1 4. fold left in Hdm.
  assert (M : (S q <= S (q + left))%nat) by lia. pose proof (pow_mono _ _ M) as PM.
  pose proof (near_join _ _ _ _ _ _ _ (pow_ge (S (q + left))) N (near_more _ _ _ _ _ PM N1)) as J1.
  pose proof (near_join _ _ _ _ _ _ _ (pow_ge (S (q + left))) (near_more _ _ _ _ _ PM N2) (near_more _ _ _ _ _ PM N3)) as J2.
  assert (E1 : 1 <= (1 + eps) ^ S (q + left) * (1 + eps)) by (pose proof (pow_ge (S (q + left))); nra).
  pose proof (near_join _ _ _ _ _ _ _ E1 J1 J2) as [J _].
  replace ((1 + eps) ^ S (q + left) * (1 + eps) * (1 + eps)) with ((1 + eps) ^ (q + left + 3)) in J.
  2:{ replace (q + left + 3)%nat with (S (S (S (q + left)))) by lia. simpl. ring. }
  replace (s' + s1 + (s2 + s3)) with (s' + s1 + s2 + s3) in J by ring. replace (A' + A1 + (A2 + A3)) with (A' + A1 + A2 + A3) in J by ring.
  rewrite Es', EA' in J. exact J.
Qed.
End Rounding.

(* binary64 without overflow and underflow: Flocq's rounding to nearest, ties to even, 53 digits *)
Definition binary64 := round radix2 (FLX_exp 53) ZnearestE.
Corollary binary64_dot {U : @Undef (FlOps binary64)} (v : nat -> R) (X : @rows (FlOps binary64)) (i c : nat) : (start binary64 X i <= stop binary64 X i)%nat ->
  let term (e : nat) : R := r_data X (start binary64 X i + e)%nat * v (r_indices X (start binary64 X i + e)%nat) in let k := stored binary64 X i in
  Rabs (fst (@sparse_dot (FlOps binary64) U v X i c) - rsum k term) <= ((1 + / 2 ^ 53) ^ (k / 4 + k mod 4 + 3) - 1) * rsum k (fun e => Rabs (term e)).
Proof.
  apply float_dot.
  - apply Rlt_le, Rinv_0_lt_compat, pow_lt. lra.
  - intros x. pose proof (relative_error_N_FLX radix2 53 eq_refl (fun t => negb (Z.even t)) x) as H.
    eapply Rle_trans; [exact H|]. apply Rmult_le_compat_r; [apply Rabs_pos|]. unfold u_ro. simpl. lra.
Qed.

Theorem rounded_dot_holds : rounded_dot.
Proof.
  intros rnd eps He Hr U v X i cost Hle k term. pose proof (float_dot rnd eps He Hr v X i cost Hle) as D. cbv zeta in D.
  assert (E : forall n f, @Base.sum (@Fops RF) n f = rsum n f) by (induction n; intros f; [reflexivity|cbn [rsum]; rewrite <- IHn; reflexivity]).
  rewrite !E. exact D.
Qed.

