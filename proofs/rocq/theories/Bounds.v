(* [alg:sgd, alg:asgd, alg:casgd] Floats with bounds: each operation keeps them, so each run does. *)
Require Import Reals Lra.
Require Import Base Generated Statements Inclusion.
From Flocq Require Import Core.
Open Scope R_scope.

Section Bounds.
Context (rnd : R -> R) (eps eta : R).
Hypothesis H : rounds rnd eps eta.

Lemma eps_pos : 0 <= eps. Proof. apply H. Qed.
Lemma eta_pos : 0 <= eta. Proof. apply H. Qed.
Lemma near z : Rabs (rnd z - z) <= eps * Rabs (rnd z) + eta. Proof. apply H. Qed.
Lemma twice z : rnd (rnd z) = rnd z. Proof. apply H. Qed.
Lemma rnd_opp z : rnd (- z) = - rnd z. Proof. apply H. Qed.
Lemma rnd_1 : rnd 1 = 1. Proof. apply H. Qed.
Lemma rnd_0 : rnd 0 = 0. Proof. pose proof (rnd_opp 0) as E. rewrite Ropp_0 in E. lra. Qed.

(* rounded after an exact operation whose operands were off *)
Lemma add_rounding z x f : Rabs (z - x) <= f -> Rabs (rnd z - x) <= f + eps * Rabs (rnd z) + eta.
Proof. intros D. pose proof (near z). replace (rnd z - x) with ((rnd z - z) + (z - x)) by ring. eapply Rle_trans; [apply Rabs_triang|lra]. Qed.

Lemma product_off x y a b d e : Rabs (a - x) <= d -> Rabs (b - y) <= e -> Rabs (a * b - x * y) <= Rabs a * e + Rabs b * d + d * e.
Proof.
  intros D E. replace (a * b - x * y) with (a * (b - y) + (b * (a - x) + - ((a - x) * (b - y)))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang (b * (a - x)) (- ((a - x) * (b - y)))) as T.
  rewrite Rabs_Ropp in T. rewrite !Rabs_mult in *.
  pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos a) E). pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos b) D).
  pose proof (Rmult_le_compat _ _ _ _ (Rabs_pos (a - x)) (Rabs_pos (b - y)) D E). lra.
Qed.
Lemma quotient_off x y a b d e : Rabs (a - x) <= d -> Rabs (b - y) <= e -> e < Rabs b ->
  Rabs (a / b - x / y) <= (d + Rabs (a / b) * e) / (Rabs b - e).
Proof.
  intros D E Hb. assert (Y : Rabs b - e <= Rabs y) by (pose proof (Rabs_triang (b - y) y); replace (b - y + y) with b in * by ring; lra).
  assert (b <> 0) by (intros ->; rewrite Rabs_R0 in *; pose proof (Rabs_pos (0 - y)); lra).
  assert (y <> 0) by (intros ->; rewrite Rabs_R0 in *; lra).
  replace (a / b - x / y) with (((a - x) + - (a / b * (b - y))) * / y) by (field; split; assumption). rewrite Rabs_mult, Rabs_inv.
  assert (N : Rabs (a - x + - (a / b * (b - y))) <= d + Rabs (a / b) * e).
  { eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, Rabs_mult. pose proof (Rmult_le_compat_l _ _ _ (Rabs_pos (a / b)) E). lra. }
  unfold Rdiv at 3. apply Rmult_le_compat; [apply Rabs_pos| |exact N|apply Rinv_le_contravar; lra].
  left. apply Rinv_0_lt_compat. lra.
Qed.

(* an operation on floats with bounds: nothing is to be shown where no bound is known *)
Ltac open_bounds := intros x [a [d|]] y [b [e|]] D E; unfold within_bound in *; cbn -[Rabs] in *; try exact I.
Lemma bounds_contain : contains (A := RF) (B := bounds rnd eps eta) within_bound.
Proof.
  constructor.
  - unfold within_bound. cbn -[Rabs]. rewrite Rminus_0_r, Rabs_R0. lra.
  - unfold within_bound. cbn -[Rabs]. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - open_bounds. apply add_rounding. replace (a + b - (x + y)) with ((a - x) + (b - y)) by ring. eapply Rle_trans; [apply Rabs_triang|lra].
  - open_bounds. apply add_rounding. replace (a - b - (x - y)) with ((a - x) + - (b - y)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
  - open_bounds. apply add_rounding. now apply product_off.
  - open_bounds. destruct (Rlt_dec e (Rabs b)); [|exact I]. apply add_rounding. now apply quotient_off.
  - intros x [a [d|]] D; unfold within_bound in *; cbn -[Rabs] in *; [|exact I]. replace (- a - - x) with (- (a - x)) by ring. now rewrite Rabs_Ropp.
  - cbn. now rewrite !(proj2 (Reqb_eq 0 0) eq_refl).
  - intros x [a [d|]] D E; cbn in E; [|discriminate]. apply andb_prop in E as [E Ea]. apply andb_prop in E as [Ed _].
    apply Reqb_eq in Ea, Ed. unfold within_bound in D. cbn -[Rabs] in *. subst. pose proof (Rabs_pos (0 - x)). destruct (Req_dec (0 - x) 0) as [|N]; [lra|].
    apply Rabs_pos_lt in N. lra.
  - intros b. unfold finite. cbn. now rewrite !(proj2 (Reqb_eq 0 0) eq_refl).
Qed.

(* the float of each pair is what floats alone give; a float is a number that is not changed by rounding *)
Lemma floats_follow : follows (A := rounding rnd) (B := bounds rnd eps eta) (fun x b => x = fst b /\ rnd x = x).
Proof.
  assert (Z : forall z : R, rnd z * 0 = 0) by (intros; ring). pose proof rnd_0. pose proof twice.
  constructor.
  1: { cbn. auto. }
  1: { cbn. pose proof rnd_1. auto. }
  1-4: intros x [a d] y [b e] [Ex Fx] [Ey Fy]; cbn in *; subst; split; [reflexivity|apply twice].
  - intros x [a d] [Ex Fx]; cbn in *; subst. split; [reflexivity|]. now rewrite rnd_opp, Fx.
  - cbn. now rewrite !(proj2 (Reqb_eq 0 0) eq_refl).
  - unfold finite. cbn. split; [intros x; rewrite Rminus_diag_eq, H0 by reflexivity|intros b]; now rewrite !(proj2 (Reqb_eq 0 0) eq_refl).
  - intros g [c [d|]] [E _] K; cbn in *; [|discriminate]. apply andb_prop in K as [_ K]. now subst.
  - intros h g G. cbn in *. apply Reqb_eq in G. subst. rewrite Rmult_0_r, H0. now apply Reqb_eq.
  - intros g [c dc] x [b db] y [d dd] [Eg _] G [Ex Fx] _. cbn in *. apply Reqb_eq in G. subst. rewrite Rmult_0_l, H0, Rplus_0_r. auto.
Qed.

(* What float_run asks of the derivative of the loss holds of the shipped squared loss, on floats with bounds as it stands in the source; and
   of the hinge, whose side is that of the float: where the bound leaves it open, the number may be on either. *)
Definition derivative_ok (on_numbers on_floats : R -> R -> R) (on_bounds : bounded -> bounded -> bounded) := forall p q z z',
  (within_bound p q -> within_bound z z' -> within_bound (on_numbers p z) (on_bounds q z')) /\
  (p = fst q /\ rnd p = p -> z = fst z' /\ rnd z = z -> on_floats p z = fst (on_bounds q z') /\ rnd (on_floats p z) = on_floats p z).
Lemma squared_ok : derivative_ok (@loss_squared_derivative ROps) (@loss_squared_derivative (rounding rnd)) (@loss_squared_derivative (bounds rnd eps eta)).
Proof. intros p q z z'. split; [apply (on_sub _ bounds_contain)|apply (r_sub _ floats_follow)]. Qed.

Definition hinge_bounds (p y : bounded) : bounded :=
  let m := @Kmul (bounds rnd eps eta) p y in
  (if Rle_dec (fst m) 1 then - fst y else 0,
   match snd m, snd y with Some d, Some e => Some (if Rlt_dec d (Rabs (fst m - 1)) then e else e + Rabs (fst y)) | _, _ => None end).
Lemma hinge_ok : derivative_ok (fun p y => if Rle_dec (p * y) 1 then - y else 0) (fun p y => if Rle_dec (rnd (p * y)) 1 then - y else 0) hinge_bounds.
Proof.
  intros p q z z'. split.
  - intros Hp Hz. pose proof (on_mul _ bounds_contain _ _ _ _ Hp Hz) as M. change (within_bound (p * z) (@Kmul (bounds rnd eps eta) q z')) in M.
    unfold hinge_bounds; cbv zeta. set (m := @Kmul (bounds rnd eps eta) q z') in *. destruct m as [m [d|]]; [|exact I]. destruct z' as [y [e|]]; [|exact I].
    unfold within_bound in *. cbn [fst snd] in *. revert M. generalize (p * z) as x. intros x M.
    assert (A : m - x <= d /\ x - m <= d) by (pose proof (Rle_abs (m - x)); pose proof (Rle_abs (- (m - x))); rewrite Rabs_Ropp in *; lra).
    pose proof (Rabs_pos (y - z)). pose proof (Rabs_pos y).
    assert (B : Rabs (- y - - z) <= e) by (replace (- y - - z) with (- (y - z)) by ring; now rewrite Rabs_Ropp).
    pose proof (Rabs_triang (- (y - z)) y) as T. rewrite Rabs_Ropp in T. replace (- (y - z) + y) with z in T by ring.
    destruct (Rlt_dec d (Rabs (m - 1))) as [D|D]; destruct (Rle_dec m 1), (Rle_dec x 1);
      rewrite ?Rminus_0_l, ?Rminus_0_r, ?Ropp_involutive, ?Rabs_Ropp, ?Rabs_R0 in *; try lra;
      exfalso; unfold Rabs in D; destruct (Rcase_abs (m - 1)); lra.
  - intros [-> _] [-> F]. split; [reflexivity|]. destruct (Rle_dec _ 1); [rewrite rnd_opp, F; reflexivity|apply rnd_0].
Qed.
End Bounds.

Theorem float_run_holds : float_run.
Proof.
  intros rnd eps eta H U V W. split.
  - apply (alike (A := @Fops RF) (B := bounds rnd eps eta)), (contained RF), (bounds_contain _ _ _ H).
  - apply (alike (A := rounding rnd) (B := bounds rnd eps eta)), (floats_follow _ _ _ H).
Qed.

(* binary64 until it overflows: 53 digits, a least number of 2^-1074, ties to even *)
Definition binary64 := round radix2 (FLT_exp (-1074) 53) ZnearestE.
Lemma power k : bpow radix2 (Z.neg k) = / 2 ^ Pos.to_nat k.
Proof. cbn [bpow]. now rewrite IZR_Zpower_pos. Qed.
Lemma binary64_rounds : rounds binary64 (/ 2 ^ 53) (/ 2 ^ 1075).
Proof.
  assert (P : forall k, 0 < / 2 ^ k) by (intros; apply Rinv_0_lt_compat, pow_lt; lra).
  assert (half : forall k, / 2 * / 2 ^ k = / 2 ^ S k) by (intros k; cbn [pow]; rewrite Rinv_mult; reflexivity).
  assert (V : Valid_exp (FLT_exp (-1074) 53)) by (apply FLT_exp_valid; reflexivity).
  split; [left; apply P|]. split; [left; apply P|]. split.
  { apply round_generic; [apply valid_rnd_N|]. apply (generic_format_bpow radix2 (FLT_exp (-1074) 53) 0). cbn. lia. }
  intros z. split; [|split; [apply round_generic; [apply valid_rnd_N|apply generic_format_round; [exact V|apply valid_rnd_N]]|apply round_NE_opp]].
  eapply Rle_trans; [apply (error_le_half_ulp_round radix2 _)|]. fold ZnearestE binary64. set (x := binary64 z). pose proof (Rabs_pos x) as X.
  destruct (Rlt_le_dec (Rabs x) (bpow radix2 (-1074 + 53))) as [Small|Large].
  - rewrite ulp_FLT_small by (reflexivity || assumption). rewrite power, half.
    change (S (Pos.to_nat 1074)) with 1075%nat. pose proof (Rmult_le_pos _ _ (Rlt_le _ _ (P 53%nat)) X). lra.
  - pose proof (ulp_FLT_le radix2 (-1074) 53 x) as L. change (bpow radix2 (1 - 53)) with (bpow radix2 (Z.neg 52)) in L. rewrite power in L. pose proof (half 52%nat) as E.
    assert (bpow radix2 (-1074 + 53 - 1) <= Rabs x) by (eapply Rle_trans; [apply bpow_le|exact Large]; lia).
    specialize (L H). change (Pos.to_nat 52) with 52%nat in L. pose proof (P 1075%nat). nra.
Qed.
