(* [guarantee] Eq. 3 on indices drawn uniformly: E F of the mean of w_1, …, w_T with the weights t is within 2G²/(λ(T+1)) of the minimum. *)
Require Import Reals Lra Psatz List.
Open Scope R_scope.

Fixpoint rsum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => rsum m f + f m end.
Lemma rsum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> rsum n f = rsum n g.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn, H; auto. Qed.
Lemma rsum_lin n a f b g : rsum n (fun i => a * f i + b * g i) = a * rsum n f + b * rsum n g.
Proof. induction n; simpl; [ring|rewrite IHn; ring]. Qed.
Lemma rsum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> rsum n f <= rsum n g.
Proof. induction n; simpl; intros H; [lra|]. apply Rplus_le_compat; auto. Qed.
Lemma rsum_const n c : rsum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; ring|]. cbn [rsum]. rewrite IHn, S_INR. ring. Qed.

Definition harmonic T := rsum T (fun t => / INR (S t)).

(* ---------- the sequences of expectations ---------- *)
Section Sequences.
Context (lam G2 : R) (D e : nat -> R).
Hypothesis lam_pos : 0 < lam.
Hypothesis D_pos : forall t, 0 <= D t.
Hypothesis e_strong : forall t, lam / 2 * D t <= e t.
Hypothesis one_step : forall t, D (S t) <= D t - 2 / (lam * INR (S t)) * (e t + lam / 2 * D t) + G2 / (lam * INR (S t)) ^ 2.

Lemma INR_pos t : 0 < INR (S t). Proof. apply lt_0_INR. auto with arith. Qed.

Lemma gap t : e t <= lam * INR t / 2 * D t - lam * INR (S t) / 2 * D (S t) + G2 / (2 * lam * INR (S t)).
Proof.
  pose proof (INR_pos t) as H. pose proof (one_step t) as O.
  apply (Rmult_le_compat_l (lam * INR (S t) / 2)) in O; [|apply Rlt_le; nra].
  replace (lam * INR (S t) / 2 * (D t - 2 / (lam * INR (S t)) * (e t + lam / 2 * D t) + G2 / (lam * INR (S t)) ^ 2))
    with (lam * INR (S t) / 2 * D t - (e t + lam / 2 * D t) + G2 / (2 * lam * INR (S t))) in O by (field; lra).
  rewrite S_INR in *. lra.
Qed.

Lemma G2_pos : 0 <= G2.
Proof.
  pose proof (one_step 0) as O. pose proof (e_strong 0). pose proof (D_pos 0). pose proof (D_pos 1). simpl INR in O.
  replace (D 0%nat - 2 / (lam * 1) * (e 0%nat + lam / 2 * D 0%nat) + G2 / (lam * 1) ^ 2)
    with (D 0%nat - 2 * (e 0%nat / lam) - D 0%nat + G2 / lam ^ 2) in O by (field; lra).
  assert (0 <= e 0%nat / lam). { apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat; lra. }
  assert (Hq : 0 <= G2 / lam ^ 2) by lra. replace G2 with (G2 / lam ^ 2 * lam ^ 2) by (field; lra). apply Rmult_le_pos; nra.
Qed.

Theorem distance t : D (S t) <= G2 / (lam ^ 2 * INR (S t)).
Proof.
  pose proof G2_pos as HG. induction t.
  - pose proof (one_step 0) as O. pose proof (e_strong 0). pose proof (D_pos 0). simpl INR in *.
    replace (D 0%nat - 2 / (lam * 1) * (e 0%nat + lam / 2 * D 0%nat) + G2 / (lam * 1) ^ 2)
      with (- (2 / lam * e 0%nat) + G2 / (lam ^ 2 * 1)) in O by (field; lra).
    assert (0 <= 2 / lam * e 0%nat). { apply Rmult_le_pos; [|nra]. apply Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat; lra. } lra.
  - pose proof (one_step (S t)) as O. pose proof (e_strong (S t)) as Es. pose proof (D_pos (S t)) as Dp.
    pose proof (INR_pos t) as H1. pose proof (INR_pos (S t)) as H2. rewrite (S_INR (S t)) in *. set (s := INR (S t)) in *.
    assert (1 <= s) by (unfold s; rewrite S_INR; pose proof (pos_INR t); lra).
    assert (Hi : 0 < 2 / (lam * (s + 1))). { apply Rmult_lt_0_compat; [lra|]. apply Rinv_0_lt_compat; nra. }
    assert (D (S (S t)) <= (1 - 2 / (s + 1)) * D (S t) + G2 / (lam * (s + 1)) ^ 2).
    { eapply Rle_trans; [exact O|]. replace ((1 - 2 / (s + 1)) * D (S t)) with (D (S t) - 2 / (lam * (s + 1)) * (lam * D (S t))) by (field; lra).
      assert (2 / (lam * (s + 1)) * (lam * D (S t)) <= 2 / (lam * (s + 1)) * (e (S t) + lam / 2 * D (S t))) by (apply Rmult_le_compat_l; lra). lra. }
    assert (0 <= 1 - 2 / (s + 1)). { apply Rmult_le_reg_r with (s + 1); [lra|]. replace ((1 - 2 / (s + 1)) * (s + 1)) with (s - 1) by (field; lra). lra. }
    assert ((1 - 2 / (s + 1)) * D (S t) <= (1 - 2 / (s + 1)) * (G2 / (lam ^ 2 * s))) by (apply Rmult_le_compat_l; assumption).
    assert (G2 / (lam ^ 2 * (s + 1)) - ((1 - 2 / (s + 1)) * (G2 / (lam ^ 2 * s)) + G2 / (lam * (s + 1)) ^ 2) = G2 / (lam ^ 2 * (s * (s + 1) ^ 2))) by (field; lra).
    assert (0 <= G2 / (lam ^ 2 * (s * (s + 1) ^ 2))). { apply Rmult_le_pos; [exact HG|]. apply Rlt_le, Rinv_0_lt_compat. apply Rmult_lt_0_compat; [nra|]. apply Rmult_lt_0_compat; nra. }
    lra.
Qed.

(* Σ t e_t for t = 0, …, T *)
Theorem weighted_sum T : rsum (S T) (fun t => INR t * e t) <=
  (2 * INR (S T) - 1 - harmonic (S T)) * (G2 / (2 * lam)) - lam * INR T * INR (S T) / 2 * D (S T).
Proof.
  induction T.
  - unfold harmonic. simpl. replace (2 * 1 - 1 - (0 + / 1)) with 0 by field. lra.
  - cbn [rsum] in *. unfold harmonic in *. cbn [rsum] in *. pose proof (gap (S T)) as Gp. pose proof (distance T) as Dt. pose proof (INR_pos T) as H.
    pose proof (INR_pos (S T)) as H'.
    assert (L : lam * INR (S T) / 2 * D (S T) <= G2 / (2 * lam)).
    { apply (Rmult_le_compat_l (lam * INR (S T) / 2)) in Dt; [|apply Rlt_le; nra].
      replace (lam * INR (S T) / 2 * (G2 / (lam ^ 2 * INR (S T)))) with (G2 / (2 * lam)) in Dt by (field; lra). exact Dt. }
    apply (Rmult_le_compat_l (INR (S T))) in Gp; [|lra].
    replace (INR (S T) * (lam * INR (S T) / 2 * D (S T) - lam * INR (S (S T)) / 2 * D (S (S T)) + G2 / (2 * lam * INR (S (S T)))))
      with (lam * INR (S T) * INR (S T) / 2 * D (S T) - lam * INR (S T) * INR (S (S T)) / 2 * D (S (S T)) + (1 - / INR (S (S T))) * (G2 / (2 * lam))) in Gp
      by (replace (INR (S T)) with (INR (S (S T)) - 1) by (rewrite (S_INR (S T)); ring); field; lra).
    rewrite (S_INR (S T)) at 1. rewrite (S_INR T) in IHT, L. rewrite (S_INR T). rewrite (S_INR T) in Gp. lra.
Qed.
End Sequences.

(* ---------- expectation over indices drawn uniformly from 0, …, m − 1; a history has the latest index first ---------- *)
Section Expectation.
Context (m : nat).
Hypothesis m_pos : (0 < m)%nat.
Definition average (f : nat -> R) := / INR m * rsum m f.
Fixpoint E (t : nat) (f : list nat -> R) : R := match t with O => f nil | S s => E s (fun l => average (fun i => f (i :: l))) end.

Lemma m_inv : 0 < / INR m. Proof. apply Rinv_0_lt_compat, lt_0_INR, m_pos. Qed.
Lemma average_le f g : (forall i, (i < m)%nat -> f i <= g i) -> average f <= average g.
Proof. intros H. apply Rmult_le_compat_l; [apply Rlt_le, m_inv|now apply rsum_le]. Qed.
Lemma average_lin a f b g : average (fun i => a * f i + b * g i) = a * average f + b * average g.
Proof. unfold average. rewrite rsum_lin. ring. Qed.
Lemma average_const c : average (fun _ => c) = c.
Proof. unfold average. rewrite rsum_const. field. apply not_0_INR. lia. Qed.
Definition drawn t (l : list nat) := length l = t /\ forall i, In i l -> (i < m)%nat.
Lemma E_le t f g : (forall l, drawn t l -> f l <= g l) -> E t f <= E t g.
Proof.
  revert f g. induction t; intros f g H; simpl; [apply H; split; [reflexivity|intros i []]|].
  apply IHt. intros l [Hl Hm]. apply average_le. intros i Hi. apply H. split; [simpl; now rewrite Hl|]. intros j [<-|Hj]; auto.
Qed.
Lemma E_ext t f g : (forall l, drawn t l -> f l = g l) -> E t f = E t g.
Proof. intros H. apply Rle_antisym; apply E_le; intros l Hl; rewrite H by assumption; lra. Qed.
Lemma E_lin t a f b g : E t (fun l => a * f l + b * g l) = a * E t f + b * E t g.
Proof.
  revert f g. induction t; intros f g; simpl; [reflexivity|]. rewrite <- IHt. apply E_ext. intros l _. apply average_lin.
Qed.
Lemma E_const t c : E t (fun _ => c) = c.
Proof. induction t; simpl; [reflexivity|]. transitivity (E t (fun _ => c)); [apply E_ext; intros; apply average_const|exact IHt]. Qed.
Lemma E_forget t f : E (S t) (fun l => f (tl l)) = E t f.
Proof. simpl. apply E_ext. intros. apply average_const. Qed.

(* ---------- any space with an inner product; lin a u b v is a u − b v ---------- *)
Context (V : Type) (zero : V) (lin : R -> V -> R -> V -> V) (ip : V -> V -> R).
Hypothesis ip_lin : forall a u b v z, ip (lin a u b v) z = a * ip u z - b * ip v z.
Hypothesis ip_zero : forall z, ip zero z = 0.
Hypothesis ip_sym : forall u v, ip u v = ip v u.
Hypothesis ip_pos : forall u, 0 <= ip u u.
Lemma ip_lin_r a u b v z : ip z (lin a u b v) = a * ip z u - b * ip z v.
Proof. rewrite ip_sym, ip_lin. now rewrite !(ip_sym z). Qed.
Ltac ips := repeat (rewrite ip_lin || rewrite ip_lin_r).
Ltac ips_in H := repeat (rewrite ip_lin in H || rewrite ip_lin_r in H).

Context (x : nat -> V) (y : nat -> R) (loss dloss : R -> R -> R) (lam L R2 : R).
Hypothesis lam_pos : 0 < lam.
Hypothesis convex : forall i p q, (i < m)%nat -> loss p (y i) + dloss p (y i) * (q - p) <= loss q (y i).
Hypothesis slope_bound : forall i p, (i < m)%nat -> - L <= dloss p (y i) <= L.
Hypothesis row_bound : forall i, (i < m)%nat -> ip (x i) (x i) <= R2.

(* eq. 1 *)
Definition objective w := lam / 2 * ip w w + average (fun i => loss (ip w (x i)) (y i)).
Definition slope_at w i := dloss (ip w (x i)) (y i).
(* eq. 3 *)
Definition sgd_step (t : nat) (i : nat) (w : V) := lin (1 - 1 / INR t) w (slope_at w i / (lam * INR t)) (x i).
Fixpoint iterL (l : list nat) : V := match l with nil => zero | i :: rest => sgd_step (length l) i (iterL rest) end.

Context (wstar : V).
Hypothesis minimiser : forall w, objective wstar <= objective w.
Definition diff u v := lin 1 u 1 v.
Definition sq u := ip u u.

(* the stochastic gradient along d *)
Definition along w i d := lam * ip w d + slope_at w i * ip (x i) d.

Lemma strong u v : objective u + average (fun i => along u i (diff v u)) + lam / 2 * sq (diff v u) <= objective v.
Proof.
  unfold objective, along, sq, diff.
  assert (Hc : average (fun i => loss (ip u (x i)) (y i)) + average (fun i => slope_at u i * (ip v (x i) - ip u (x i))) <= average (fun i => loss (ip v (x i)) (y i))).
  { rewrite <- (Rmult_1_l (average (fun i => loss (ip u (x i)) (y i)))), <- (Rmult_1_l (average (fun i => slope_at u i * _))), <- average_lin.
    apply average_le. intros i Hi. pose proof (convex i (ip u (x i)) (ip v (x i)) Hi). unfold slope_at. lra. }
  replace (average (fun i => lam * ip u (lin 1 v 1 u) + slope_at u i * ip (x i) (lin 1 v 1 u)))
    with (lam * ip u (lin 1 v 1 u) + average (fun i => slope_at u i * (ip v (x i) - ip u (x i)))).
  - ips. rewrite (ip_sym v u). nra.
  - transitivity (1 * average (fun _ => lam * ip u (lin 1 v 1 u)) + 1 * average (fun i => slope_at u i * (ip v (x i) - ip u (x i)))); [rewrite average_const; ring|].
    rewrite <- average_lin. unfold average. f_equal. apply rsum_ext. intros i _. rewrite !ip_lin_r, (ip_sym (x i) v), (ip_sym (x i) u). ring.
Qed.

(* F(w) − F* >= λ/2 ‖w − w*‖² *)
Lemma strong_at_minimum w : lam / 2 * sq (diff w wstar) <= objective w - objective wstar.
Proof.
  assert (H : forall th, 0 < th < 1 -> lam / 2 * ((1 - th) * sq (diff w wstar)) <= objective w - objective wstar).
  { intros th Hth. set (u := lin th w (- (1 - th)) wstar).
    pose proof (strong u wstar) as S1. pose proof (strong u w) as S2. pose proof (minimiser u) as Hm.
    assert (Q1 : sq (diff wstar u) = th ^ 2 * sq (diff w wstar)).
    { unfold sq, diff, u. ips. rewrite (ip_sym wstar w). ring. }
    assert (Q2 : sq (diff w u) = (1 - th) ^ 2 * sq (diff w wstar)).
    { unfold sq, diff, u. ips. rewrite (ip_sym wstar w). ring. }
    assert (Q3 : (1 - th) * average (fun i => along u i (diff wstar u)) + th * average (fun i => along u i (diff w u)) = 0).
    { rewrite <- average_lin. rewrite <- (average_const 0). unfold average. f_equal. apply rsum_ext. intros i _.
      assert (Hu : forall z, ip z u = th * ip z w + (1 - th) * ip z wstar) by (intros z; unfold u; rewrite ip_lin_r; ring).
      unfold along, diff. rewrite !ip_lin_r, (Hu u), (Hu (x i)). ring. }
    rewrite Q1 in S1. rewrite Q2 in S2. set (q := sq (diff w wstar)) in *.
    assert (objective u + lam / 2 * (th * (1 - th)) * q <= (1 - th) * objective wstar + th * objective w).
    { apply (Rmult_le_compat_l (1 - th)) in S1; [|lra]. apply (Rmult_le_compat_l th) in S2; [|lra]. nra. }
    apply Rmult_le_reg_l with th; [lra|]. nra. }
  destruct (Rle_or_lt (lam / 2 * sq (diff w wstar)) (objective w - objective wstar)) as [Hle|Hlt]; [exact Hle|exfalso].
  set (q := sq (diff w wstar)) in *. set (d := objective w - objective wstar) in *.
  assert (0 <= q) by apply ip_pos. pose proof (minimiser w). assert (0 <= d) by (unfold d; lra).
  assert (Hq : 0 < lam / 2 * q) by lra. set (Q := lam / 2 * q) in *.
  set (th := (Q - d) / (2 * Q)).
  assert (Ht : 0 < th < 1).
  { unfold th. split; [apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]|].
    apply Rmult_lt_reg_r with (2 * Q); [lra|]. replace ((Q - d) / (2 * Q) * (2 * Q)) with (Q - d) by (field; lra). lra. }
  specialize (H th Ht). replace (lam / 2 * ((1 - th) * q)) with ((1 - th) * Q) in H by (unfold Q; ring).
  replace ((1 - th) * Q) with ((Q + d) / 2) in H by (unfold th; field; lra). lra.
Qed.

(* ‖λw + g x‖² <= 4L²R² *)
Definition gradient w i := lin lam w (- slope_at w i) (x i).
Lemma slope_sq w i : (i < m)%nat -> slope_at w i ^ 2 * ip (x i) (x i) <= L ^ 2 * R2.
Proof.
  intros Hi. pose proof (slope_bound i (ip w (x i)) Hi) as Hs. pose proof (row_bound i Hi). pose proof (ip_pos (x i)). unfold slope_at.
  set (g := dloss (ip w (x i)) (y i)) in *. assert (g ^ 2 <= L ^ 2) by nra. assert (0 <= g ^ 2) by nra.
  apply Rmult_le_compat; assumption.
Qed.

Lemma bounded l t : drawn t l -> lam ^ 2 * ip (iterL l) (iterL l) <= L ^ 2 * R2.
Proof.
  revert t. induction l as [|i l IH]; intros t [Hl Hm].
  - simpl. rewrite ip_zero. assert (Hr := slope_sq zero 0 m_pos). pose proof (ip_pos (x 0%nat)). assert (0 <= slope_at zero 0 ^ 2) by nra. nra.
  - assert (B := IH (length l) (conj eq_refl (fun j Hj => Hm j (or_intror Hj)))).
    assert (Sl := slope_sq (iterL l) i (Hm i (or_introl eq_refl))).
    cbn [iterL length]. unfold sgd_step. set (w := iterL l) in *. set (g := slope_at w i) in *.
    ips. rewrite (ip_sym (x i) w). pose proof (INR_pos (length l)) as HI. set (s := INR (S (length l))) in *.
    set (a := 1 / s). assert (Ha : 0 < a <= 1).
    { unfold a, Rdiv. rewrite Rmult_1_l. split; [now apply Rinv_0_lt_compat|]. unfold s. rewrite S_INR. pose proof (pos_INR (length l)).
      rewrite <- Rinv_1. apply Rinv_le_contravar; lra. }
    replace (g / (lam * s)) with (a * g / lam) by (unfold a; field; lra).
    replace (lam ^ 2 * ((1 - a) * ((1 - a) * ip w w - a * g / lam * ip w (x i)) - a * g / lam * ((1 - a) * ip w (x i) - a * g / lam * ip (x i) (x i))))
      with ((1 - a) ^ 2 * (lam ^ 2 * ip w w) - 2 * (1 - a) * a * (lam * g * ip w (x i)) + a ^ 2 * (g ^ 2 * ip (x i) (x i))) by (field; lra).
    pose proof (ip_pos (lin lam w (- g) (x i))) as P. ips_in P. rewrite (ip_sym (x i) w) in P.
    assert (- (2 * (lam * g * ip w (x i))) <= lam ^ 2 * ip w w + g ^ 2 * ip (x i) (x i)) by lra.
    set (A := lam ^ 2 * ip w w) in *. set (C := g ^ 2 * ip (x i) (x i)) in *. set (Bq := lam * g * ip w (x i)) in *.
    assert ((1 - a) * a * (- (2 * Bq)) <= (1 - a) * a * (A + C)) by (apply Rmult_le_compat_l; nra). nra.
Qed.

Lemma gradient_bound l t i : drawn t l -> (i < m)%nat -> sq (gradient (iterL l) i) <= 4 * (L ^ 2 * R2).
Proof.
  intros Hl Hi. pose proof (bounded l t Hl) as B. pose proof (slope_sq (iterL l) i Hi) as Sl. unfold sq, gradient.
  set (w := iterL l) in *. set (g := slope_at w i) in *. pose proof (ip_pos (lin lam w g (x i))) as P.
  ips_in P. ips. rewrite (ip_sym (x i) w) in *. nra.
Qed.

Lemma step_distance t l : drawn t l ->
  average (fun i => sq (diff (sgd_step (S t) i (iterL l)) wstar)) <=
  sq (diff (iterL l) wstar) - 2 / (lam * INR (S t)) * (objective (iterL l) - objective wstar + lam / 2 * sq (diff (iterL l) wstar))
  + 4 * (L ^ 2 * R2) / (lam * INR (S t)) ^ 2.
Proof.
  intros Hl. pose proof (INR_pos t) as Hs. set (w := iterL l). set (c := / (lam * INR (S t))).
  assert (Hc : 0 < c) by (apply Rinv_0_lt_compat; nra).
  assert (Av : average (fun i => sq (diff (sgd_step (S t) i w) wstar)) <=
     average (fun i => 1 * (sq (diff w wstar) + c ^ 2 * (4 * (L ^ 2 * R2))) + (2 * c) * along w i (diff wstar w))).
  { apply average_le. intros i Hi. pose proof (gradient_bound l t i Hl Hi) as Gb. fold w in Gb.
    assert (Id : sq (diff (sgd_step (S t) i w) wstar) = sq (diff w wstar) + 2 * c * along w i (diff wstar w) + c ^ 2 * sq (gradient w i)).
    { unfold sq, diff, sgd_step, gradient, along, c. set (g := slope_at w i). ips.
      rewrite (ip_sym wstar w), (ip_sym (x i) w), (ip_sym (x i) wstar). field. lra. }
    rewrite Id. assert (c ^ 2 * sq (gradient w i) <= c ^ 2 * (4 * (L ^ 2 * R2))) by (apply Rmult_le_compat_l; [nra|assumption]). lra. }
  rewrite average_lin, average_const in Av. pose proof (strong w wstar) as St.
  assert (Sy : sq (diff wstar w) = sq (diff w wstar)) by (unfold sq, diff; ips; rewrite (ip_sym wstar w); ring).
  rewrite Sy in St. apply (Rmult_le_compat_l (2 * c)) in St; [|lra].
  replace (2 / (lam * INR (S t))) with (2 * c) by (unfold c; field; lra).
  replace (4 * (L ^ 2 * R2) / (lam * INR (S t)) ^ 2) with (c ^ 2 * (4 * (L ^ 2 * R2))) by (unfold c; field; lra). lra.
Qed.

Definition D t := E t (fun l => sq (diff (iterL l) wstar)).
Definition e t := E t (fun l => objective (iterL l)) - objective wstar.

Lemma E_minus t f c : E t (fun l => f l - c) = E t f - c.
Proof.
  transitivity (1 * E t f + (-1) * E t (fun _ => c)); [|rewrite E_const; ring]. rewrite <- E_lin. apply E_ext. intros; ring.
Qed.

(* the mean of w_1, …, w_T, weights 1, …, T *)
Fixpoint sumW (l : list nat) : V := match l with nil => zero | i :: rest => lin 1 (sumW rest) (- INR (length l)) (iterL l) end.
Fixpoint sumF (l : list nat) : R := match l with nil => 0 | i :: rest => sumF rest + INR (length l) * objective (iterL l) end.
Definition total T := INR T * (INR T + 1) / 2.
Definition meanW (l : list nat) : V := lin (/ total (length l)) (sumW l) 0 zero.

Lemma total_S T : total (S T) = total T + INR (S T).
Proof. unfold total. rewrite S_INR. field. Qed.

Lemma jensen l : (1 <= length l)%nat -> total (length l) * objective (meanW l) <= sumF l.
Proof.
  intros Hl. set (c := meanW l).
  assert (J : forall l', sumF l' >= total (length l') * objective c + average (fun i => along c i (lin 1 (sumW l') (total (length l')) c))).
  { induction l' as [|i l' IH].
    - simpl. unfold total. simpl. replace (0 * (0 + 1) / 2) with 0 by field.
      replace (average _) with (average (fun _ => 0)); [rewrite average_const; lra|]. unfold average. f_equal. apply rsum_ext. intros i _.
      unfold along. rewrite !ip_lin_r, (ip_sym c zero), (ip_sym (x i) zero), !ip_zero. ring.
    - cbn [sumF sumW length]. rewrite total_S. set (w := iterL (i :: l')). pose proof (strong c w) as St.
      assert (0 <= lam / 2 * sq (diff w c)) by (apply Rmult_le_pos; [lra|apply ip_pos]).
      assert (Ha : average (fun i0 => along c i0 (lin 1 (lin 1 (sumW l') (- INR (S (length l'))) w) (total (length l') + INR (S (length l'))) c))
        = 1 * average (fun i0 => along c i0 (lin 1 (sumW l') (total (length l')) c)) + INR (S (length l')) * average (fun i0 => along c i0 (diff w c))).
      { rewrite <- average_lin. unfold average. f_equal. apply rsum_ext. intros j _. unfold along, diff. rewrite !ip_lin_r. ring. }
      rewrite Ha. pose proof (INR_pos (length l')).
      assert (INR (S (length l')) * (objective c + average (fun i0 => along c i0 (diff w c))) <= INR (S (length l')) * objective w) by (apply Rmult_le_compat_l; lra). lra. }
  specialize (J l). assert (Tp : 0 < total (length l)).
  { unfold total. assert (1 <= INR (length l)) by (apply (le_INR 1); exact Hl). nra. }
  replace (average (fun i => along c i (lin 1 (sumW l) (total (length l)) c))) with (average (fun _ => 0)) in J; [rewrite average_const in J; lra|].
  unfold average. f_equal. apply rsum_ext. intros i _. assert (Hc : forall z, ip z c = / total (length l) * ip z (sumW l)) by (intros z; unfold c, meanW; rewrite ip_lin_r; ring).
  unfold along. rewrite !ip_lin_r, (Hc c), (Hc (x i)). field. lra.
Qed.

Lemma expected_sum T : E T sumF - total T * objective wstar = rsum (S T) (fun t => INR t * e t).
Proof.
  induction T.
  - simpl. unfold total. simpl. field.
  - cbn [rsum] in *. rewrite <- IHT, total_S. unfold e at 1.
    assert (H : E (S T) sumF = E T sumF + INR (S T) * E (S T) (fun l => objective (iterL l))).
    { transitivity (E (S T) (fun l => 1 * sumF (tl l) + INR (S T) * objective (iterL l))).
      - apply E_ext. intros l [Hl _]. destruct l as [|i l]; [discriminate|]. cbn [sumF tl]. rewrite Hl. lra.
      - rewrite E_lin, E_forget. ring. }
    rewrite H. ring.
Qed.

Theorem guarantee T : (1 <= T)%nat ->
  E T (fun l => objective (meanW l)) - objective wstar
  <= 4 * (L ^ 2 * R2) * (2 * INR T + 1 - harmonic (S T)) / (lam * INR T * (INR T + 1)).
Proof.
  intros HT.
  assert (Dp : forall t, 0 <= D t). { intros t. unfold D. rewrite <- (E_const t 0). apply E_le. intros. apply ip_pos. }
  assert (Es : forall t, lam / 2 * D t <= e t).
  { intros t. unfold e, D. rewrite <- E_minus. replace (lam / 2 * E t _) with (E t (fun l => lam / 2 * sq (diff (iterL l) wstar))).
    - apply E_le. intros. apply strong_at_minimum.
    - transitivity (lam / 2 * E t (fun l => sq (diff (iterL l) wstar)) + 0 * E t (fun _ => 0)); [|ring]. rewrite <- E_lin. apply E_ext. intros; ring. }
  assert (O : forall t, D (S t) <= D t - 2 / (lam * INR (S t)) * (e t + lam / 2 * D t) + 4 * (L ^ 2 * R2) / (lam * INR (S t)) ^ 2).
  { intros t. unfold D at 1. cbn [E]. set (k := 2 / (lam * INR (S t))). set (G := 4 * (L ^ 2 * R2) / (lam * INR (S t)) ^ 2).
    eapply Rle_trans with (E t (fun l => (1 - k * (lam / 2)) * sq (diff (iterL l) wstar) + (- k) * (objective (iterL l) - (objective wstar + G / k)))).
    - apply E_le. intros l Hl. pose proof (step_distance t l Hl) as Sd. fold k G in Sd.
      assert (Hk : k <> 0). { unfold k. pose proof (INR_pos t). apply Rgt_not_eq, Rmult_lt_0_compat; [lra|]. apply Rinv_0_lt_compat. nra. }
      replace ((1 - k * (lam / 2)) * sq (diff (iterL l) wstar) + - k * (objective (iterL l) - (objective wstar + G / k)))
        with (sq (diff (iterL l) wstar) - k * (objective (iterL l) - objective wstar + lam / 2 * sq (diff (iterL l) wstar)) + G) by (field; exact Hk).
      assert (Hlen : length l = t) by apply Hl.
      eapply Rle_trans; [|exact Sd]. apply Req_le. unfold average. f_equal. apply rsum_ext. intros i _. cbn [iterL length]. now rewrite Hlen.
    - rewrite E_lin, E_minus. fold (D t). unfold e.
      assert (Hk : k <> 0). { unfold k. pose proof (INR_pos t). apply Rgt_not_eq, Rmult_lt_0_compat; [lra|]. apply Rinv_0_lt_compat. nra. }
      apply Req_le. field. exact Hk. }
  pose proof (weighted_sum lam (4 * (L ^ 2 * R2)) D e lam_pos Dp Es O T) as WS. rewrite <- expected_sum in WS.
  assert (Tn : 1 <= INR T) by (apply (le_INR 1); exact HT). assert (Tp : 0 < total T) by (unfold total; nra).
  assert (J : total T * E T (fun l => objective (meanW l)) <= E T sumF).
  { replace (total T * E T (fun l => objective (meanW l))) with (E T (fun l => total T * objective (meanW l) + 0 * 0)) by (rewrite E_lin; ring).
    apply E_le. intros l [Hl _]. pose proof (jensen l ltac:(lia)) as J. rewrite Hl in J. lra. }
  assert (0 <= lam * INR T * INR (S T) / 2 * D (S T)).
  { apply Rmult_le_pos; [|apply Dp]. pose proof (INR_pos T). assert (0 < lam * INR T) by nra. nra. }
  apply Rmult_le_reg_l with (total T); [exact Tp|].
  replace (total T * (4 * (L ^ 2 * R2) * (2 * INR T + 1 - harmonic (S T)) / (lam * INR T * (INR T + 1))))
    with ((2 * INR (S T) - 1 - harmonic (S T)) * (4 * (L ^ 2 * R2) / (2 * lam))) by (unfold total; rewrite S_INR; field; lra).
  lra.
Qed.

Lemma harmonic_1 T : 1 <= harmonic (S T).
Proof.
  unfold harmonic. induction T; [simpl; lra|]. cbn [rsum] in *. assert (0 < / INR (S (S T))) by (apply Rinv_0_lt_compat, INR_pos). lra.
Qed.

Theorem rate T : (1 <= T)%nat -> E T (fun l => objective (meanW l)) - objective wstar <= 2 * (4 * (L ^ 2 * R2)) / (lam * (INR T + 1)).
Proof.
  intros HT. eapply Rle_trans; [apply guarantee, HT|]. pose proof (harmonic_1 T). assert (Tn : 1 <= INR T) by (apply (le_INR 1); exact HT).
  assert (G : 0 <= L ^ 2 * R2). { pose proof (slope_sq zero 0 m_pos). pose proof (ip_pos (x 0%nat)). assert (0 <= slope_at zero 0 ^ 2) by nra. nra. }
  replace (2 * (4 * (L ^ 2 * R2)) / (lam * (INR T + 1))) with (4 * (L ^ 2 * R2) * (2 * INR T) / (lam * INR T * (INR T + 1))) by (field; lra).
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; assert (0 < lam * INR T) by nra; nra|]. apply Rmult_le_compat_l; lra.
Qed.
End Expectation.
