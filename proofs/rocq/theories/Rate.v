(* [guarantee] The rate of what the shipped Algorithms 2 and 3 return. *)
Require Import Reals RealField Lra Lia List Arith.
Require Import Base Generated Sparse Loops Centring Guarantee.
Require Statements.
Import Statements(nsum, zeros, dense, well_formed, now, predict, slope, iter, w_, b_, implicit, total_w, total_b, total_implicit, ROps, RF, run_asgd, run_casgd, centred, usable, suits, within, draws, ones, steps_as_weights, rate2, rate3).

Open Scope R_scope.

#[local] Existing Instance RF.

Notation omega := steps_as_weights.

Lemma inj_INR t : inj t = INR t.
Proof. induction t; [reflexivity|]. rewrite S_INR, <- IHt. reflexivity. Qed.
Lemma sum_rsum n f : sum n f = rsum n f.
Proof. induction n; [reflexivity|]. cbn [rsum]. rewrite <- IHn. reflexivity. Qed.

Section Rate.
Context {U : Undef}.
(* any rows x_i: those of the matrix, or those less their mean *)
Context (xs : nat -> nat -> R) (n m : nat) (y : nat -> R) (loss dloss : R -> R -> R) (lam L R2 : R).
Hypothesis m_pos : (0 < m)%nat.
Hypothesis lam_pos : 0 < lam.

Definition V := ((nat -> R) * R)%type.
Definition zeroV : V := (fun _ => 0, 0).
Definition linV (a : R) (u : V) (b : R) (v : V) : V := (fun k => a * fst u k - b * fst v k, a * snd u - b * snd v).
Definition ipV (u v : V) : R := dotn n (fst u) (fst v) + snd u * snd v.
Definition row (i : nat) : V := (xs i, 1).

Lemma linV_fst a u b v k : fst (linV a u b v) k = a * fst u k - b * fst v k. Proof. reflexivity. Qed.
Lemma linV_snd a u b v : snd (linV a u b v) = a * snd u - b * snd v. Proof. reflexivity. Qed.

Lemma ipV_lin a u b v z : ipV (linV a u b v) z = a * ipV u z - b * ipV v z.
Proof.
  unfold ipV, linV. cbn [fst snd]. pose proof (@dotn_lin RF n a (- b) (fst u) (fst v) (fst z)) as H.
  assert (E : dotn n (fun k => a * fst u k - b * fst v k) (fst z) = dotn n (fun k => a * fst u k + - b * fst v k) (fst z))
    by (apply (@dotn_ext RF); [intros; simpl; ring|reflexivity]).
  rewrite E. etransitivity; [apply f_equal2; [exact H|reflexivity]|]. simpl. ring.
Qed.
Lemma ipV_zero z : ipV zeroV z = 0.
Proof. unfold ipV, zeroV, dotn. cbn [fst snd]. rewrite (@sum_ext RF n _ (fun _ => K0)) by (intros; simpl; ring). rewrite (@sum_zero RF). simpl. ring. Qed.
Lemma ipV_sym u v : ipV u v = ipV v u.
Proof. unfold ipV. apply f_equal2; [apply (@dotn_comm RF)|apply Rmult_comm]. Qed.
Lemma ipV_pos u : 0 <= ipV u u.
Proof.
  unfold ipV, dotn. rewrite sum_rsum. assert (0 <= rsum n (fun k => fst u k * fst u k)) as H.
  { rewrite <- (Rmult_0_r (INR n)), <- (rsum_const n 0). apply rsum_le. intros. nra. }
  assert (0 <= snd u * snd u) by nra. simpl in *. lra.
Qed.

Definition F := objective m V ipV row y loss lam.
Definition it := iter n xs y ones dloss lam 0.
Definition itL := iterL V zeroV linV ipV row y dloss lam.

Fixpoint hist (pi : nat -> nat) (t : nat) : list nat := match t with O => nil | S s => pi s :: hist pi s end.
Lemma hist_length pi t : length (hist pi t) = t. Proof. induction t; simpl; congruence. Qed.
Lemma hist_ext pi pi' t : (forall j, (j < t)%nat -> pi j = pi' j) -> hist pi t = hist pi' t.
Proof. induction t; simpl; intros H; [reflexivity|]. rewrite H, IHt; auto. Qed.
Lemma hist_rev l : hist (fun j => nth j (rev l) O) (length l) = l.
Proof.
  induction l as [|i l IH]; [reflexivity|]. cbn [length hist rev]. rewrite app_nth2; rewrite rev_length; [|lia].
  rewrite Nat.sub_diag. cbn [nth]. f_equal. etransitivity; [|exact IH]. apply hist_ext. intros j Hj. rewrite app_nth1; [reflexivity|now rewrite rev_length].
Qed.

Lemma now_INR t : now 0 t = INR t. Proof. unfold now. rewrite inj_INR. simpl. ring. Qed.

Lemma it_itL pi t : it pi t = itL (hist pi t).
Proof.
  induction t; [reflexivity|]. cbn [hist]. unfold it, itL in *. cbn [iter iterL length]. rewrite IHt, hist_length.
  destruct (iterL V zeroV linV ipV row y dloss lam (hist pi t)) as [w b]. rewrite now_INR. unfold sgd_step, linV. cbn [fst snd row].
  assert (G : slope n xs y ones dloss (w, b) (pi t) = slope_at V ipV row y dloss (w, b) (pi t)).
  { unfold slope, slope_at, predict, ipV, ones. cbn [fst snd row]. simpl. rewrite Rmult_1_l, Rmult_1_r. reflexivity. }
  match goal with |- context [@slope ?p0 ?p1 ?p2 ?p3 ?p4 ?p5 ?p6 ?p7] => replace (@slope p0 p1 p2 p3 p4 p5 p6 p7) with (slope_at V ipV row y dloss (w, b) (pi t)) by (symmetry; exact G) end.
  apply f_equal2; [reflexivity|]. simpl. ring.
Qed.

Lemma sum_omega T : sum T omega = total T.
Proof. induction T; [unfold total; simpl; field|]. rewrite total_S, <- IHT. reflexivity. Qed.

Lemma sumW_is pi T k : fst (sumW V zeroV linV ipV row y dloss lam (hist pi T)) k = total_w n xs y ones dloss lam 0 pi omega T k.
Proof.
  induction T; [reflexivity|]. cbn [hist sumW]. change (pi T :: hist pi T) with (hist pi (S T)). rewrite hist_length. unfold total_w in *. cbn [sum].
  rewrite <- IHT. unfold w_. fold it. rewrite it_itL. rewrite linV_fst. unfold itL, steps_as_weights. cbn [Kadd Kmul Fops RF ROps].
  change (@fst (nat -> @K ROps) (@K ROps)) with (@fst (nat -> R) R). change (@snd (nat -> @K ROps) (@K ROps)) with (@snd (nat -> R) R). ring.
Qed.
Lemma sumB_is pi T : snd (sumW V zeroV linV ipV row y dloss lam (hist pi T)) = total_b n xs y ones dloss lam 0 pi omega T.
Proof.
  induction T; [reflexivity|]. cbn [hist sumW]. change (pi T :: hist pi T) with (hist pi (S T)). rewrite hist_length. unfold total_b in *. cbn [sum].
  rewrite <- IHT. unfold b_. fold it. rewrite it_itL. rewrite linV_snd. unfold itL, steps_as_weights. cbn [Kadd Kmul Fops RF ROps].
  change (@fst (nat -> @K ROps) (@K ROps)) with (@fst (nat -> R) R). change (@snd (nat -> @K ROps) (@K ROps)) with (@snd (nat -> R) R). ring.
Qed.

Lemma F_ext u v : (forall k, (k < n)%nat -> fst u k = fst v k) -> snd u = snd v -> F u = F v.
Proof.
  intros Hf Hs. unfold F, objective, ipV. rewrite Hs. rewrite (@dotn_ext RF n (fst u) (fst v) (fst u) (fst v)) by auto. f_equal.
  unfold average. f_equal. apply rsum_ext. intros i _. now rewrite (@dotn_ext RF n (fst u) (fst v) (fst (row i)) (fst (row i))) by auto.
Qed.


Hypothesis convex : forall i p q, (i < m)%nat -> loss p (y i) + dloss p (y i) * (q - p) <= loss q (y i).
Hypothesis slope_bound : forall i p, (i < m)%nat -> - L <= dloss p (y i) <= L.
Hypothesis row_bound : forall i, (i < m)%nat -> dotn n (xs i) (xs i) + 1 <= R2.

(* E over all sequences of T indices, each of 0, …, m − 1 equally likely at each step, independently, of what any program returns
   whose F is that of the mean of the iterates *)
Theorem rate_of (shipped : (nat -> nat) -> nat -> V) wstar T :
  (forall indices, (forall t, (indices t < m)%nat) -> F (shipped indices T) = F (meanW V zeroV linV ipV row y dloss lam (hist indices T))) ->
  (forall w, F wstar <= F w) -> (1 <= T)%nat ->
  E m T (fun l => F (shipped (fun j => nth j (rev l) O) T)) - F wstar <= 8 * (L ^ 2 * R2) / (lam * (INR T + 1)).
Proof.
  intros Hs Hmin HT.
  assert (RB : forall i, (i < m)%nat -> ipV (row i) (row i) <= R2). { intros i Hi. unfold ipV. cbn [fst snd row]. pose proof (row_bound i Hi) as H. rewrite Rmult_1_r. exact H. }
  pose proof (rate m m_pos V zeroV linV ipV ipV_lin ipV_zero ipV_sym ipV_pos row y loss dloss lam L R2 lam_pos convex slope_bound RB wstar Hmin T HT) as H.
  fold F in H. replace (8 * (L ^ 2 * R2)) with (2 * (4 * (L ^ 2 * R2))) by ring.
  rewrite (E_ext m m_pos T (fun l => F (shipped (fun j => nth j (rev l) O) T)) (fun l => F (meanW V zeroV linV ipV row y dloss lam l))); [exact H|].
  intros l [Hl Hm]. rewrite Hs.
  - rewrite <- Hl, hist_rev. reflexivity.
  - intros t. destruct (Nat.lt_ge_cases t (length (rev l))) as [Ht|Ht]; [|now rewrite nth_overflow].
    apply Hm, in_rev, nth_In, Ht.
Qed.
End Rate.

Ltac Rring := match goal with |- @eq _ ?l ?r => change (@eq R l r) end; ring.
Lemma now_nz t : now 0 (S t) <> K0. Proof. rewrite now_INR. apply not_0_INR. discriminate. Qed.

Section Shipped.
Context {U : Undef}.
Context (X : rows) (n m : nat) (y : nat -> R) (loss dloss : R -> R -> R) (lam L R2 : R).
Hypothesis W : well_formed X n.
Hypothesis m_pos : (0 < m)%nat.
Hypothesis lam_pos : 0 < lam.

Definition shipped_asgd (indices : nat -> nat) (T : nat) : V := fst (run_asgd X y ones dloss lam 0 indices T omega).

Lemma is_usable T : (1 <= T)%nat -> usable X n lam 0 T.
Proof. intros HT. split; [exact W|]. split; [simpl; lra|]. split; [exact now_nz|exact HT]. Qed.
Lemma omegas_nz T : (1 <= T)%nat -> sum T omega <> K0.
Proof. intros HT. rewrite sum_omega. assert (1 <= INR T) by (apply (le_INR 1); exact HT). unfold total. simpl. nra. Qed.

Theorem shipped_is_mean indices T : (1 <= T)%nat -> F (dense X) n m y loss lam (shipped_asgd indices T) = F (dense X) n m y loss lam (meanW V zeroV linV (ipV n) (row (dense X)) y dloss lam (hist indices T)).
Proof.
  intros HT. unfold shipped_asgd.
  pose proof (algorithm2_holds RF U X n y ones dloss lam 0 indices T omega (is_usable T HT) (omegas_nz T HT)) as B.
  destruct (run_asgd _ _ _ _ _ _ _ _ _) as [[w b] c]. destruct B as (Bw & Bb & _).
  apply F_ext; cbn [fst snd].
  - intros k _. rewrite Bw, sum_omega. unfold meanW. rewrite linV_fst, hist_length, sumW_is. cbn [Kdiv Fops RF ROps zeroV fst]. unfold Rdiv. ring.
  - rewrite Bb, sum_omega. unfold meanW. rewrite linV_snd, hist_length, sumB_is. cbn [Kdiv Fops RF ROps zeroV snd]. unfold Rdiv. ring.
Qed.

Lemma total_implicit_is xs om xbar pi T : total_implicit n xs y ones dloss lam 0 pi om xbar T
  = total_b n xs y ones dloss lam 0 pi om T - dotn n (total_w n xs y ones dloss lam 0 pi om T) xbar.
Proof.
  unfold total_implicit, total_b. induction T.
  - cbn [sum]. unfold dotn, total_w. cbn [sum]. rewrite (@sum_ext RF n _ (fun _ => K0)) by (intros; apply Rmult_0_l). rewrite (@sum_zero RF). change (0 = 0 - 0). ring.
  - cbn [sum]. rewrite IHT. unfold implicit.
    assert (G := @dotn_grow RF n (total_w n xs y ones dloss lam 0 pi om T) (om T) (w_ n xs y ones dloss lam 0 pi (S T)) xbar).
    change (dotn n (total_w n xs y ones dloss lam 0 pi om (S T)) xbar)
      with (dotn n (fun k => (total_w n xs y ones dloss lam 0 pi om T k + om T * w_ n xs y ones dloss lam 0 pi (S T) k)%K) xbar).
    rewrite G. cbn [Kadd Kmul Ksub Fops RF ROps]. Rring.
Qed.

Definition shipped_casgd (indices : nat -> nat) (T : nat) : V := fst (run_casgd X y ones dloss lam 0 indices T omega n m).
Notation xbar := (@Statements.mean RF m ones X).
Definition explicit (wb : V) : V := (fst wb, snd wb + dotn n (fst wb) xbar).
Definition xc := centred m ones X.

Theorem shipped_casgd_is_mean indices T : (1 <= T)%nat ->
  F xc n m y loss lam (explicit (shipped_casgd indices T)) = F xc n m y loss lam (meanW V zeroV linV (ipV n) (row xc) y dloss lam (hist indices T)).
Proof.
  intros HT. unfold shipped_casgd.
  pose proof (algorithm3_holds RF U X n m y ones dloss lam 0 indices T omega (is_usable T HT) (omegas_nz T HT)) as A.
  destruct (run_casgd _ _ _ _ _ _ _ _ _ _ _) as [[w b] c]. destruct A as (Aw & Ab).
  apply F_ext; unfold explicit; cbn [fst snd].
  - intros k Hk. rewrite Aw by exact Hk. rewrite sum_omega. unfold meanW. rewrite linV_fst, hist_length, sumW_is. cbn [Kdiv Fops RF ROps zeroV fst]. unfold Rdiv, xc. ring.
  - rewrite Ab, sum_omega, total_implicit_is. unfold meanW. rewrite linV_snd, hist_length, sumB_is. cbn [Kdiv Fops RF ROps zeroV snd].
    change ROps with (@Fops RF). rewrite (@dotn_ext RF n w (fun k => @total_w RF n xc y ones dloss lam 0 indices omega T k / total T) xbar xbar); [|intros k Hk; rewrite Aw by exact Hk; rewrite sum_omega; reflexivity|reflexivity].
    assert (Sc : dotn n (fun k => @total_w RF n xc y ones dloss lam 0 indices omega T k / total T) xbar
      = / total T * dotn n (@total_w RF n xc y ones dloss lam 0 indices omega T) xbar).
    { unfold dotn. etransitivity; [|exact (@sum_scale RF n (/ total T) (fun k => (total_w n xc y ones dloss lam 0 indices omega T k * xbar k)%K))].
      apply (@sum_ext RF). intros k _. cbn [Kmul Fops RF ROps]. unfold Rdiv. Rring. }
    rewrite Sc. fold xc. unfold Rdiv. ring.
Qed.

Hypothesis convex : forall i p q, (i < m)%nat -> loss p (y i) + dloss p (y i) * (q - p) <= loss q (y i).
Hypothesis slope_bound : forall i p, (i < m)%nat -> - L <= dloss p (y i) <= L.

Theorem shipped_asgd_rate wstar T : (forall i, (i < m)%nat -> dotn n (dense X i) (dense X i) + 1 <= R2) ->
  (forall w, F (dense X) n m y loss lam wstar <= F (dense X) n m y loss lam w) -> (1 <= T)%nat ->
  E m T (fun l => F (dense X) n m y loss lam (shipped_asgd (fun j => nth j (rev l) O) T)) - F (dense X) n m y loss lam wstar
  <= 8 * (L ^ 2 * R2) / (lam * (INR T + 1)).
Proof. intros HR Hmin HT. apply (rate_of (@dense RF X) n m y loss dloss lam L R2 m_pos lam_pos convex slope_bound HR shipped_asgd); auto using shipped_is_mean. Qed.

Theorem shipped_casgd_rate wstar T : (forall i, (i < m)%nat -> dotn n (xc i) (xc i) + 1 <= R2) ->
  (forall w, F xc n m y loss lam wstar <= F xc n m y loss lam w) -> (1 <= T)%nat ->
  E m T (fun l => F xc n m y loss lam (explicit (shipped_casgd (fun j => nth j (rev l) O) T))) - F xc n m y loss lam wstar
  <= 8 * (L ^ 2 * R2) / (lam * (INR T + 1)).
Proof.
  intros HR Hmin HT. apply (rate_of xc n m y loss dloss lam L R2 m_pos lam_pos convex slope_bound HR (fun indices T => explicit (shipped_casgd indices T))); auto using shipped_casgd_is_mean.
Qed.
End Shipped.


(* the words of the statements are those of the proof *)
Section Words.
Context {U : Undef}.
Lemma average_is m f : Statements.average m f = Guarantee.average m f.
Proof. unfold Statements.average, Guarantee.average. f_equal. Qed.
Lemma expectation_is m t f : Statements.expectation m t f = E m t f.
Proof.
  revert f. induction t; intros f; [reflexivity|]. cbn [Statements.expectation E]. rewrite IHt.
  assert (H : forall t g h, (forall l, g l = h l) -> E m t g = E m t h).
  { induction t0; intros g h Hgh; cbn [E]; [apply Hgh|]. apply IHt0. intros l. unfold average. f_equal. apply rsum_ext. auto. }
  apply H. intros l. apply average_is.
Qed.
Lemma objective_is n m x y loss lam wb : Statements.objective n m x y loss lam wb = F x n m y loss lam wb.
Proof.
  unfold Statements.objective, F, Guarantee.objective. rewrite average_is. unfold ipV, Guarantee.average. f_equal. f_equal.
  apply rsum_ext. intros i _. unfold predict, row. cbn [fst snd]. now rewrite Rmult_1_r.
Qed.
End Words.

Lemma E_same m t f g : (forall l, f l = g l) -> E m t f = E m t g.
Proof.
  revert f g. induction t; intros f g H; cbn [E]; [apply H|]. apply IHt. intros l. unfold average. f_equal. apply rsum_ext. auto.
Qed.

Theorem rate2_holds : rate2.
Proof.
  intros U X n m y loss dloss lam L R2 wstar T x Fx W Hm Hl Hs Hr Hmin HT. unfold Fx, x in *. rewrite expectation_is, objective_is.
  rewrite (E_same m T _ (fun l => F (dense X) n m y loss lam (shipped_asgd X y dloss lam (draws l) T))) by (intros; apply objective_is).
  apply (shipped_asgd_rate X n m y loss dloss lam L R2 W Hm Hl); auto; try (intros; now apply Hs).
  intros w. rewrite <- !objective_is. apply Hmin.
Qed.

Theorem rate3_holds : rate3.
Proof.
  intros U X n m y loss dloss lam L R2 wstar T x Fx W Hm Hl Hs Hr Hmin HT explicit. unfold Fx, x in *. rewrite expectation_is, objective_is.
  rewrite (E_same m T _ (fun l => F (xc X m) n m y loss lam (Rate.explicit X n m (shipped_casgd X n m y dloss lam (draws l) T))))
    by (intros; apply objective_is).
  apply (shipped_casgd_rate X n m y loss dloss lam L R2 W Hm Hl); auto; try (intros; now apply Hs).
  intros w. pose proof (Hmin w) as H. rewrite !objective_is in H. exact H.
Qed.
