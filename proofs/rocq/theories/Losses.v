(* [tab:losses] The four losses, from their Python source, over the real numbers. *)
Require Import Reals Lra Psatz.
Require Import Base Generated Statements.
Open Scope R_scope.

Lemma log1p_exp s : (if Rle_dec 0 s then ln (1 + exp (- Rabs s)) else ln (1 + exp (- Rabs s)) - s) = ln (1 + exp (- s)).
Proof.
  destruct (Rle_dec 0 s) as [H|H]; [now rewrite Rabs_right by lra|]. rewrite Rabs_left by lra. rewrite Ropp_involutive.
  pose proof (exp_pos s). pose proof (exp_pos (- s)).
  assert (E : 1 + exp (- s) = (1 + exp s) * exp (- s)). { rewrite Rmult_plus_distr_r, <- exp_plus, Rplus_opp_r, exp_0. ring. }
  rewrite E, ln_mult, ln_exp by lra. ring.
Qed.
Lemma log_slope s y : - y * (if Rle_dec 0 s then exp (- Rabs s) else 1) / (1 + exp (- Rabs s)) = - y / (1 + exp s).
Proof.
  pose proof (exp_pos s). destruct (Rle_dec 0 s) as [H'|H'].
  - rewrite Rabs_right by lra. rewrite exp_Ropp. field. split; lra.
  - rewrite Rabs_left by lra. rewrite Ropp_involutive. field. lra.
Qed.

Theorem table1_holds : table1.
Proof.
  intros p y. unfold loss_absolute, loss_absolute_derivative, loss_squared, loss_squared_derivative, loss_hinge, loss_hinge_derivative, loss_log, loss_log_derivative.
  cbn. repeat split.
  - intros H. destruct (Rle_dec p y); lra.
  - intros H. destruct (Rle_dec p y); lra.
  - field.
  - intros H. destruct (Rle_dec (p * y) 1); lra.
  - intros H. destruct (Rle_dec (p * y) 1); lra.
  - rewrite <- (log1p_exp (p * y)). destruct (Rle_dec 0 (p * y)); reflexivity.
  - rewrite <- (log_slope (p * y) y). destruct (Rle_dec 0 (p * y)); reflexivity.
Qed.

Lemma ln_below a b : 0 < a -> a <= b -> ln a <= ln b.
Proof. intros Ha [H | ->]; [apply Rlt_le, ln_increasing; assumption|apply Rle_refl]. Qed.

(* ln(1 + e^−s) is above its tangents *)
Lemma log_convex s t : ln (1 + exp (- s)) - (t - s) / (1 + exp s) <= ln (1 + exp (- t)).
Proof.
  pose proof (exp_pos s) as Hs. pose proof (exp_pos (- s)) as Hs'. pose proof (exp_pos (- t)) as Ht'.
  set (l := / (1 + exp (- s))). set (m := - (t - s) / (1 + exp s)).
  assert (Hl : 1 - l = / (1 + exp s)). { unfold l. rewrite exp_Ropp. field. lra. }
  assert (l0 : 0 < l) by (unfold l; apply Rinv_0_lt_compat; lra). assert (l1 : 0 < 1 - l) by (rewrite Hl; apply Rinv_0_lt_compat; lra).
  assert (Hm : m = - (1 - l) * (t - s)) by (unfold m; rewrite Hl; unfold Rdiv; ring).
  assert (A : exp m * (1 + (0 - m)) <= exp 0).
  { replace (exp 0) with (exp m * exp (0 - m)) by (rewrite <- exp_plus; f_equal; ring). apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|apply exp_ineq1_le]. }
  assert (B : exp m * (1 + (- (t - s) - m)) <= exp (- (t - s))).
  { replace (exp (- (t - s))) with (exp m * exp (- (t - s) - m)) by (rewrite <- exp_plus; f_equal; ring). apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|apply exp_ineq1_le]. }
  rewrite exp_0 in A.
  assert (C : exp m <= l * 1 + (1 - l) * exp (- (t - s))).
  { apply (Rmult_le_compat_l l) in A; [|lra]. apply (Rmult_le_compat_l (1 - l)) in B; [|lra].
    replace (exp m) with (l * (exp m * (1 + (0 - m))) + (1 - l) * (exp m * (1 + (- (t - s) - m)))); [lra|]. rewrite Hm at 2 4. ring_simplify. rewrite Hm. ring. }
  assert (D : l * 1 + (1 - l) * exp (- (t - s)) = (1 + exp (- t)) / (1 + exp (- s))).
  { rewrite Hl. replace (- (t - s)) with (- t + s) by ring. rewrite exp_plus. unfold l. rewrite (exp_Ropp s). field. lra. }
  rewrite D in C. apply ln_below in C; [|apply exp_pos]. rewrite ln_exp in C. unfold Rdiv in C. rewrite ln_mult, ln_Rinv in C; try lra.
  - unfold m in C. replace ((t - s) / (1 + exp s)) with (- (- (t - s) / (1 + exp s))) by (unfold Rdiv; ring). lra.
  - apply Rinv_0_lt_compat. lra.
Qed.

Theorem subgradients_holds : subgradients.
Proof.
  intros p q y below. destruct (table1_holds p y) as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10).
  destruct (table1_holds q y) as (F1 & _ & _ & F4 & _ & F6 & _ & _ & F9 & _). unfold below. repeat split.
  - rewrite E1, F1. destruct (Rle_lt_dec p y) as [H|H]; [rewrite (E2 H)|rewrite (E3 H)]; unfold Rabs; repeat destruct (Rcase_abs _); lra.
  - rewrite E4, F4, E5. pose proof (pow2_ge_0 (q - p)). nra.
  - rewrite E6, F6. destruct (Rle_lt_dec (p * y) 1) as [H|H]; [rewrite (E7 H)|rewrite (E8 H)]; unfold Rmax; repeat destruct (Rle_dec _ _); nra.
  - rewrite E9, F9, E10. pose proof (log_convex (p * y) (q * y)) as C. replace (- y / (1 + exp (p * y)) * (q - p)) with (- ((q * y - p * y) / (1 + exp (p * y)))) by (unfold Rdiv; ring). lra.
  - destruct (Rle_lt_dec p y) as [H|H]; [rewrite (E2 H)|rewrite (E3 H)]; lra.
  - destruct (Rle_lt_dec p y) as [H|H]; [rewrite (E2 H)|rewrite (E3 H)]; lra.
  - destruct (Rle_lt_dec (p * y) 1) as [G|G]; [rewrite (E7 G)|rewrite (E8 G)]; lra.
  - destruct (Rle_lt_dec (p * y) 1) as [G|G]; [rewrite (E7 G)|rewrite (E8 G)]; lra.
  - rewrite E10. pose proof (exp_pos (p * y)). assert (0 < / (1 + exp (p * y)) < 1). { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. } unfold Rdiv. destruct H as [-> | ->]; lra.
  - rewrite E10. pose proof (exp_pos (p * y)). assert (0 < / (1 + exp (p * y)) < 1). { split; [apply Rinv_0_lt_compat; lra|]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. } unfold Rdiv. destruct H as [-> | ->]; lra.
Qed.
