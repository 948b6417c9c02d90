(* Algorithm 3 from its first line to its last, and the theorem: it does not see where the origin is. *)
Require Import Base Generated Statements Sparse Loops.

Section Centre.
Context {F : Fld} {U : Undef}.
Add Field KF : Kfield.
Local Open Scope K_scope.

Lemma minus_is_plus x e : x - e = x + - e. Proof. ring. Qed.
Lemma pivot_back n w e b : b = b - dotn n w (fun k => - e k) - dotn n w e.
Proof.
  rewrite (dotn_comm n w e), (dotn_comm n w (fun k => - e k)), (dotn_ext n _ (fun k => (- K1) * e k + K0 * e k) w w) by (intros; ring || reflexivity).
  rewrite dotn_lin. ring.
Qed.
Lemma plus_0 x : K0 + x = x. Proof. ring. Qed.

(* [alg:casgd] *)
Theorem add_up_ok X weight lo hi xbar total c : (forall i, (start X i <= stop X i)%nat) ->
  let '(xbar', total', c') := casgd_add_up X weight lo hi xbar total c in
  (forall k, xbar' k = xbar k + sum (hi - lo) (fun e => weight (lo + e)%nat * dense X (lo + e) k))
  /\ total' = total + sum (hi - lo) (fun e => weight (lo + e)%nat)
  /\ (c' <= c + nsum (hi - lo) (fun e => 7 * stored X (lo + e) + 13) + 2)%nat.
Proof.
  intros O. unfold casgd_add_up, for_range; cbv zeta. rewrite count1.
  match goal with |- context [loop (hi - lo) lo 1 ?f ?s] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * K * nat) => let '(xbar', total', c') := st in
      (forall k, xbar' k = xbar k + sum m (fun e => weight (lo + e)%nat * dense X (lo + e) k))
      /\ total' = total + sum m (fun e => weight (lo + e)%nat)
      /\ (c' <= c + 1 + nsum m (fun e => 7 * stored X (lo + e) + 13))%nat) (hi - lo) lo 1 f s) as L;
    destruct (loop (hi - lo) lo 1 f s) as [[xb tot] c'] end.
  destruct L as (L1 & L2 & L3).
  - repeat split; [intros; simpl; ring|simpl; ring|simpl; lia].
  - intros m [[xb1 tot1] c1] Hm (H1 & H2 & H3). unfold casgd_add_up_body; cbv zeta. rewrite Nat.mul_1_r.
    match goal with |- context [sparse_add ?v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (O i)) as [Hv Hc]; destruct (sparse_add v g X i c0) as [v' c2] end.
    cbn [fst snd] in Hv, Hc. cbn [sum nsum]. repeat split; [intros; rewrite Hv, H1; ring|rewrite H2; ring|lia].
  - repeat split; [exact L1|exact L2|lia].
Qed.

(* [alg:casgd] *)
Theorem centre_ok n xbar total c :
  let '(xbar', theta, c') := casgd_centre xbar n total c in
  (forall k, (k < n)%nat -> xbar' k = xbar k / total) /\ theta = K1 + dotn n xbar' xbar' /\ (c' <= c + 9 * n + 3)%nat.
Proof.
  unfold casgd_centre, for_range; cbv zeta. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop n 0 1 ?f ?s] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * K * nat) => let '(xbar', theta, c') := st in
      (forall k, (k < m)%nat -> xbar' k = xbar k / total) /\ (forall k, (m <= k)%nat -> xbar' k = xbar k)
      /\ theta = K1 + dotn m xbar' xbar' /\ (c' = c + 2 + 7 * m)%nat) n 0 1 f s) as L;
    destruct (loop n 0 1 f s) as [[xb th] c'] end.
  destruct L as (L1 & L2 & L3 & L4).
  - repeat split; [intros; lia|simpl; unfold dotn; simpl; ring|lia].
  - intros m [[xb1 th1] c1] Hm (H1 & H2 & H3 & H4). unfold casgd_centre_body; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
    assert (E : forall k, (k < m)%nat -> upd xb1 m (xb1 m / total) k = xb1 k) by (intros k Hk; unfold upd; destruct (Nat.eqb_spec k m); [lia|reflexivity]).
    assert (E' : upd xb1 m (xb1 m / total) m = xb1 m / total) by (unfold upd; now rewrite Nat.eqb_refl).
    repeat split.
    + intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [rewrite E', H2 by lia; reflexivity|rewrite E by lia; apply H1; lia].
    + intros k Hk. unfold upd. destruct (Nat.eqb_spec k m); [lia|apply H2; lia].
    + unfold dotn. cbn [sum]. rewrite E', H3. unfold dotn.
      rewrite (sum_ext m (fun k => upd xb1 m (xb1 m / total) k * upd xb1 m (xb1 m / total) k) (fun k => xb1 k * xb1 k)) by (intros; now rewrite E). ring.
    + lia.
  - repeat split; [exact L1|exact L3|lia].
Qed.

Theorem project_ok X n xbar lo hi projections c : well_formed X n ->
  let '(projections', c') := casgd_project X xbar lo hi projections c in
  (forall i, (lo <= i < hi)%nat -> projections' i = dotn n xbar (dense X i))
  /\ (c' <= c + nsum (hi - lo) (fun e => 5 * stored X (lo + e) + 13) + 1)%nat.
Proof.
  intros W. unfold casgd_project, for_range; cbv zeta. rewrite count1.
  match goal with |- context [loop (hi - lo) lo 1 ?f ?s] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * nat) => let '(pr, c') := st in
      (forall i, (lo <= i < lo + m)%nat -> pr i = dotn n xbar (dense X i))
      /\ (c' <= c + 1 + nsum m (fun e => 5 * stored X (lo + e) + 13))%nat) (hi - lo) lo 1 f s) as L;
    destruct (loop (hi - lo) lo 1 f s) as [pr c'] end.
  destruct L as (L1 & L2).
  - split; [intros; lia|simpl; lia].
  - intros m [pr1 c1] Hm (H1 & H2). unfold casgd_project_body; cbv zeta. rewrite Nat.mul_1_r.
    match goal with |- context [sparse_dot xbar X ?i ?c0] => pose proof (dot_ok X n xbar i c0 W) as [Hd Hc]; destruct (sparse_dot xbar X i c0) as [d c2] end.
    cbn [fst snd] in Hd, Hc. split; [|cbn [nsum]; lia].
    intros i Hi. unfold upd. destruct (Nat.eqb_spec i (lo + m)) as [->|]; [exact Hd|apply H1; lia].
  - split; [intros; apply L1; lia|lia].
Qed.

(* ---------- Algorithm 3, whole ---------- *)
Section Whole.
Context (n m : nat) (y weight : nat -> K) (dloss : K -> K -> K) (lam t0 : K) (indices : nat -> nat) (omega : nat -> K) (T : nat).
Hypothesis lam_nz : lam <> K0.
Hypothesis now_nz : forall t, now t0 (S t) <> K0.
Hypothesis T_pos : (1 <= T)%nat.
Hypothesis weights_nz : sum m weight <> K0.
Hypothesis omegas_nz : sum T omega <> K0.

Notation whole X := (run_casgd X y weight dloss lam t0 indices T omega n m).
Notation mean X := (mean m weight X).
Notation centred_row X := (centred m weight X).

(* eq. 3 depends on the first n coordinates of the rows only *)
Lemma iter_ext xs xs' pi : (forall t k, (k < n)%nat -> xs (pi t) k = xs' (pi t) k) -> forall t,
  (forall k, (k < n)%nat -> fst (iter n xs y weight dloss lam t0 pi t) k = fst (iter n xs' y weight dloss lam t0 pi t) k)
  /\ snd (iter n xs y weight dloss lam t0 pi t) = snd (iter n xs' y weight dloss lam t0 pi t).
Proof.
  intros E t. induction t as [|t [IHw IHb]]; [simpl; auto|]. cbn [iter].
  destruct (iter n xs y weight dloss lam t0 pi t) as [w b], (iter n xs' y weight dloss lam t0 pi t) as [w' b']. cbn [fst snd] in *. subst b'.
  assert (G : slope n xs y weight dloss (w, b) (pi t) = slope n xs' y weight dloss (w', b) (pi t)).
  { unfold slope, predict. cbn [fst snd]. now rewrite (dotn_ext n w w' (xs (pi t)) (xs' (pi t))) by auto. }
  rewrite G. split; [|reflexivity]. intros k Hk. now rewrite IHw, (E t k Hk) by exact Hk.
Qed.

(* [eqn:centerAvg, alg:casgd] *)
Theorem algorithm3_is_the_mean X : well_formed X n ->
  let '(w, b, cost) := whole X in
  (forall k, (k < n)%nat -> w k = total_w n (centred_row X) y weight dloss lam t0 indices omega T k / sum T omega)
  /\ b = total_implicit n (centred_row X) y weight dloss lam t0 indices omega (mean X) T / sum T omega
  /\ (cost <= 9 * n + nsum m (fun i => 7 * stored X i + 13) + nsum T (fun j => 19 * stored X (indices j) + 60) + 14)%nat.
Proof.
  intros W. unfold run_casgd, the_mean.
  pose proof (add_up_ok X weight 0 m zeros K0 0 (fun i => proj1 (W i))) as A. destruct (casgd_add_up _ _ _ _ _ _ _) as [[sx tot] c1].
  destruct A as (A1 & A2 & A3). rewrite Nat.sub_0_r in *.
  pose proof (centre_ok n sx tot c1) as C. destruct (casgd_centre _ _ _ _) as [[xb th] c2]. destruct C as (C1 & C2 & C3).
  pose proof (casgd_from_start X n y weight dloss lam t0 indices W lam_nz now_nz xb th C2 omega T indices omega zeros 0 zeros zeros K0 K0 K0 K0 K0 K0 K0 c2
    T_pos (fun j _ => eq_refl) (fun j _ => eq_refl) (or_introl eq_refl) (fun k => eq_refl) (fun k => eq_refl)) as L.
  destruct (casgd_steps _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[[[[v u] t] a] c] h] total] z] r] s] p] g] c3].
  destruct L as (-> & L & L3). pose proof L as (_ & _ & _ & Ht).
  pose proof (casgd_average_ok X n y weight dloss lam t0 indices lam_nz xb th omega) as AV.
  specialize (AV T v u a c h total z r s c3 ltac:(rewrite Ht; exact omegas_nz) L).
  assert (Hc : snd (casgd_average lam (inj T + t0) v u c h total s xb c3) = (c3 + 1 + 1 + 1 + 1 + 1)%nat) by reflexivity.
  destruct (casgd_average _ _ _ _ _ _ _ _ _ _) as [[w b] c4]. cbn [snd] in Hc. destruct AV as [Hw Hb].
  assert (X1 : forall k, (k < n)%nat -> xb k = mean X k).
  { intros k Hk. rewrite C1 by exact Hk. unfold Statements.mean. rewrite A1, A2. unfold zeros. cbn [Nat.add].
    replace (K0 + sum m (fun i => weight i * dense X i k)) with (sum m (fun i => weight i * dense X i k)) by ring.
    replace (K0 + sum m (fun i => weight i)) with (sum m weight) by (change (fun i => weight i) with weight; ring). reflexivity. }
  pose proof (iter_ext (fun i k => dense X i k - xb k) (centred_row X) indices) as E.
  assert (E0 : forall (t k : nat), (k < n)%nat -> dense X (indices t) k - xb k = centred_row X (indices t) k) by (intros; unfold centred; now rewrite X1).
  specialize (E E0). split; [|split].
  - intros k Hk. rewrite Hw. unfold total_w. rewrite (sum_ext T _ (fun j => omega j * w_ n (centred_row X) y weight dloss lam t0 indices (S j) k)); [reflexivity|].
    intros j _. unfold w_. now rewrite (proj1 (E (S j)) k Hk).
  - rewrite Hb. unfold total_implicit. rewrite (sum_ext T _ (fun j => omega j * implicit n (centred_row X) y weight dloss lam t0 indices (mean X) (S j))); [reflexivity|].
    intros j _. unfold implicit, b_, w_. rewrite (proj2 (E (S j))). rewrite (dotn_ext n _ (fst (iter n (centred_row X) y weight dloss lam t0 indices (S j))) xb (mean X)); auto.
    intros k Hk. apply (proj1 (E (S j)) k Hk).
  - cbn [Nat.add] in A3. rewrite Hc. lia.
Qed.

(* ---------- translation invariance ---------- *)
(* [translation] *)
Theorem translation_invariance X X' shift : well_formed X n -> well_formed X' n -> (forall t, (indices t < m)%nat) ->
  (forall i k, (i < m)%nat -> (k < n)%nat -> dense X' i k = dense X i k + shift k) ->
  let '(w, b, _) := whole X in let '(w', b', _) := whole X' in
  (forall k, (k < n)%nat -> w' k = w k) /\ b' = b - dotn n w shift
  /\ forall i, (i < m)%nat -> dotn n w' (dense X' i) + b' = dotn n w (dense X i) + b.
Proof.
  intros W W' Hi Hs. pose proof (algorithm3_is_the_mean X W) as A. pose proof (algorithm3_is_the_mean X' W') as A'.
  destruct (whole X) as [[w b] c], (whole X') as [[w' b'] c']. destruct A as (Aw & Ab & _), A' as (Aw' & Ab' & _).
  assert (M : forall k, (k < n)%nat -> mean X' k = mean X k + shift k).
  { intros k Hk. unfold Statements.mean. rewrite (sum_ext m (fun i => weight i * dense X' i k) (fun i => weight i * dense X i k + shift k * weight i)).
    - rewrite sum_add, sum_scale. field. exact weights_nz.
    - intros i Him. rewrite Hs by assumption. ring. }
  pose proof (iter_ext (centred_row X') (centred_row X) indices) as E.
  assert (E0 : forall (t k : nat), (k < n)%nat -> centred_row X' (indices t) k = centred_row X (indices t) k).
  { intros t k Hk. unfold centred. rewrite M, Hs by auto. ring. }
  specialize (E E0).
  assert (Ew : forall k, (k < n)%nat -> w' k = w k).
  { intros k Hk. rewrite Aw, Aw' by exact Hk. f_equal. apply sum_ext. intros j _. unfold w_. now rewrite (proj1 (E (S j)) k Hk). }
  assert (Eb : b' = b - dotn n w shift).
  { rewrite Ab, Ab'. assert (D : dotn n w shift = sum T (fun j => omega j * dotn n (w_ n (centred_row X) y weight dloss lam t0 indices (S j)) shift) / sum T omega).
    { apply eq_sym, div_eq; [exact omegas_nz|]. rewrite (dotn_ext n w (fun k => total_w n (centred_row X) y weight dloss lam t0 indices omega T k / sum T omega) shift shift) by auto.
      unfold dotn at 1. rewrite <- sum_scale.
      rewrite (sum_ext n _ (fun k => sum T (fun j => omega j * (w_ n (centred_row X) y weight dloss lam t0 indices (S j) k * shift k)))).
      - unfold dotn. clear. induction T as [|T' IH]; cbn [sum]; [apply sum_zero|]. rewrite sum_add, IH, sum_scale. reflexivity.
      - intros k _. unfold total_w. transitivity (sum T (fun j => omega j * w_ n (centred_row X) y weight dloss lam t0 indices (S j) k) * shift k); [field; exact omegas_nz|].
        transitivity (shift k * sum T (fun j => omega j * w_ n (centred_row X) y weight dloss lam t0 indices (S j) k)); [ring|].
        rewrite <- sum_scale. apply sum_ext. intros; ring. }
    rewrite D. unfold total_implicit.
    rewrite (sum_ext T (fun j => omega j * implicit n (centred_row X') y weight dloss lam t0 indices (mean X') (S j))
      (fun j => omega j * implicit n (centred_row X) y weight dloss lam t0 indices (mean X) (S j) + (- K1) * (omega j * dotn n (w_ n (centred_row X) y weight dloss lam t0 indices (S j)) shift))).
    - rewrite sum_add, sum_scale. field. exact omegas_nz.
    - intros j _. unfold implicit, b_, w_. rewrite (proj2 (E (S j))).
      rewrite (dotn_ext n (fst (iter n (centred_row X') y weight dloss lam t0 indices (S j))) (fst (iter n (centred_row X) y weight dloss lam t0 indices (S j)))
        (mean X') (fun k => mean X k + K1 * shift k)).
      + rewrite (dotn_comm n _ (fun k => mean X k + K1 * shift k)), dotn_grow, !(dotn_comm n _ (fst _)). ring.
      + intros k Hk. apply (proj1 (E (S j)) k Hk).
      + intros k Hk. rewrite M by exact Hk. ring. }
  split; [exact Ew|]. split; [exact Eb|]. intros i Him. rewrite Eb.
  rewrite (dotn_ext n w' w (dense X' i) (fun k => dense X i k + K1 * shift k)); auto.
  - rewrite (dotn_comm n w), dotn_grow, !(dotn_comm n _ w). ring.
  - intros k Hk. rewrite Hs by assumption. ring.
Qed.
End Whole.
End Centre.

Theorem centred_sgd_holds : centred_sgd.
Proof.
  intros F U X n m y weight dloss lam t0 indices T (W & Hl & Hn & HT). unfold finds, run_csgd, the_mean; cbv zeta.
  pose proof (add_up_ok X weight 0 m zeros K0 0 (fun i => proj1 (W i))) as A. destruct (casgd_add_up _ _ _ _ _ _ _) as [[sx tot] c1].
  destruct A as (A1 & A2 & A3). rewrite Nat.sub_0_r in *.
  pose proof (centre_ok n sx tot c1) as C. destruct (casgd_centre _ _ _ _) as [[xb th] c2]. destruct C as (C1 & C2 & C3).
  pose proof (csgd_from_start X n y weight dloss lam t0 indices W Hl Hn xb th C2 T indices zeros 0 zeros K0 K0 K0 c2
    HT (fun j _ => eq_refl) (or_introl eq_refl) (fun k => eq_refl)) as L.
  destruct (csgd_steps _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[v t] a] z] r] p] g] c3]. destruct L as (-> & L & _).
  pose proof (csgd_last_ok X n y weight dloss lam t0 indices Hl Hn xb th C2 T v a z r c3 HT L) as B.
  destruct (csgd_last _ _ _ _ _ _ _) as [[w b] c]. destruct B as [Bw Bb].
  assert (X1 : forall k, (k < n)%nat -> xb k = mean m weight X k).
  { intros k Hk. rewrite C1 by exact Hk. unfold mean. rewrite A1, A2. unfold zeros. cbn [Nat.add]. rewrite !plus_0. reflexivity. }
  pose proof (iter_ext n y weight dloss lam t0 (fun i k => (dense X i k - xb k)%K) (centred m weight X) indices) as E.
  assert (E0 : forall (t k : nat), (k < n)%nat -> (dense X (indices t) k - xb k)%K = centred m weight X (indices t) k) by (intros; unfold centred; now rewrite X1).
  specialize (E E0 T). split; [intros k Hk; rewrite Bw; apply (proj1 E k Hk)|].
  rewrite Bb. unfold implicit, b_, w_. rewrite (proj2 E). rewrite (dotn_ext n _ (fst (iter n (centred m weight X) y weight dloss lam t0 indices T)) xb (mean m weight X)); auto.
  intros k Hk. apply (proj1 E k Hk).
Qed.

Theorem algorithm3_holds : algorithm3.
Proof.
  intros F U X n m y weight dloss lam t0 indices T omega (W & Hl & Hn & HT) Ho.
  pose proof (algorithm3_is_the_mean n m y weight dloss lam t0 indices omega T Hl Hn HT Ho X W) as A.
  destruct (run_casgd _ _ _ _ _ _ _ _ _ _ _) as [[w b] c]. destruct A as (Aw & Ab & _). exact (conj Aw Ab).
Qed.

Theorem algorithm3_cost_holds : algorithm3_cost.
Proof.
  intros F U X n m y weight dloss lam t0 indices T omega (W & Hl & Hn & HT) Ho.
  pose proof (algorithm3_is_the_mean n m y weight dloss lam t0 indices omega T Hl Hn HT Ho X W) as A.
  destruct (run_casgd _ _ _ _ _ _ _ _ _ _ _) as [[w b] c]. now destruct A as (_ & _ & Hc).
Qed.

Section Last.
Context {F : Fld} {U : Undef}.
Add Field KL : Kfield.
Local Open Scope K_scope.
(* [translation] *)
Lemma translation_of_last X X' shift n m y weight dloss lam t0 indices T : usable X n lam t0 T -> usable X' n lam t0 T -> sum m weight <> K0 ->
  (forall t, (indices t < m)%nat) -> (forall i k, (i < m)%nat -> (k < n)%nat -> dense X' i k = dense X i k + shift k) ->
  let '(w, b, _) := run_csgd X y weight dloss lam t0 indices T n m in let '(w', b', _) := run_csgd X' y weight dloss lam t0 indices T n m in
  (forall k, (k < n)%nat -> w' k = w k) /\ b' = b - dotn n w shift
  /\ forall i, (i < m)%nat -> dotn n w' (dense X' i) + b' = dotn n w (dense X i) + b.
Proof.
  intros HU HU' Hm Hi Hs. pose proof (centred_sgd_holds F U X n m y weight dloss lam t0 indices T HU) as A.
  pose proof (centred_sgd_holds F U X' n m y weight dloss lam t0 indices T HU') as A'. unfold finds in A, A'; cbv zeta in A, A'.
  destruct (run_csgd X _ _ _ _ _ _ _ _ _) as [[w b] c], (run_csgd X' _ _ _ _ _ _ _ _ _) as [[w' b'] c']. cbn [fst snd] in *. destruct A as (Aw & ->), A' as (Aw' & ->).
  assert (M : forall k, (k < n)%nat -> mean m weight X' k = mean m weight X k + K1 * shift k).
  { intros k Hk. unfold mean. rewrite (sum_ext m (fun i => weight i * dense X' i k) (fun i => weight i * dense X i k + shift k * weight i)).
    - rewrite sum_add, sum_scale. field. exact Hm.
    - intros i Him. rewrite Hs by assumption. ring. }
  assert (E0 : forall (t k : nat), (k < n)%nat -> centred m weight X' (indices t) k = centred m weight X (indices t) k) by (intros; unfold centred; rewrite M, Hs by auto; ring).
  destruct (iter_ext n y weight dloss lam t0 _ _ indices E0 T) as [Ew Eb].
  assert (Hw : forall k, (k < n)%nat -> w' k = w k) by (intros k Hk; rewrite Aw, Aw' by exact Hk; apply Ew; exact Hk).
  assert (Hb : implicit n (centred m weight X') y weight dloss lam t0 indices (mean m weight X') T
    = implicit n (centred m weight X) y weight dloss lam t0 indices (mean m weight X) T - dotn n w shift).
  { unfold implicit, b_. rewrite Eb. rewrite (dotn_ext n _ w (mean m weight X') (fun k => mean m weight X k + K1 * shift k)) by (intros; rewrite <- ?Aw' by assumption; auto).
    rewrite (dotn_ext n (w_ _ _ _ _ _ _ _ _ _) w (mean m weight X) (mean m weight X)) by (intros; rewrite <- ?Aw by assumption; auto).
    rewrite (dotn_comm n w), dotn_grow, !(dotn_comm n _ w). ring. }
  split; [exact Hw|]. split; [exact Hb|]. intros i Him. rewrite Hb, (dotn_ext n w' w (dense X' i) (fun k => dense X i k + K1 * shift k)); auto.
  - rewrite (dotn_comm n w), dotn_grow, !(dotn_comm n _ w). ring.
  - intros k Hk. rewrite Hs by assumption. ring.
Qed.
End Last.

Theorem translation_holds : translation.
Proof.
  intros F U X X' shift n m y weight dloss lam t0 indices T omega HU HU' Hs Ho Hi Hx. pose proof HU as (W & Hl & Hn & HT). pose proof HU' as (W' & _).
  pose proof (translation_invariance n m y weight dloss lam t0 indices omega T Hl Hn HT Hs Ho X X' shift W W' Hi Hx) as A.
  pose proof (translation_of_last X X' shift n m y weight dloss lam t0 indices T HU HU' Hs Hi Hx) as B. unfold finds; cbv zeta. split; [clear B|clear A].
  - destruct (run_casgd X _ _ _ _ _ _ _ _ _ _) as [[w b] c], (run_casgd X' _ _ _ _ _ _ _ _ _ _) as [[w' b'] c']. cbn [fst snd]. tauto.
  - destruct (run_csgd X _ _ _ _ _ _ _ _ _) as [[w b] c], (run_csgd X' _ _ _ _ _ _ _ _ _) as [[w' b'] c']. cbn [fst snd]. tauto.
Qed.

Theorem pivot_is_a_translation_holds : pivot_is_a_translation.
Proof.
  intros F U X X' pivot n m y weight dloss lam t0 indices T omega UX UX' Hs Ho Hi Hx.
  pose proof (translation_holds F U X X' (fun k => Kopp (pivot k)) n m y weight dloss lam t0 indices T omega UX UX' Hs Ho Hi) as A.
  specialize (A ltac:(intros i k Him Hk; rewrite Hx by assumption; apply minus_is_plus)).
  destruct A as [A B]. unfold finds in *; cbv zeta in *. split; [clear B|clear A; rename B into A].
  - destruct (run_casgd X _ _ _ _ _ _ _ _ _ _) as [[w b] c], (run_casgd X' _ _ _ _ _ _ _ _ _ _) as [[w' b'] c']. cbn [fst snd] in *. destruct A as ((Aw & ->) & _).
    split; [intros k Hk; symmetry; now apply Aw|]. rewrite (dotn_ext n w' w pivot pivot) by auto. apply pivot_back.
  - destruct (run_csgd X _ _ _ _ _ _ _ _ _) as [[w b] c], (run_csgd X' _ _ _ _ _ _ _ _ _) as [[w' b'] c']. cbn [fst snd] in *. destruct A as ((Aw & ->) & _).
    split; [intros k Hk; symmetry; now apply Aw|]. rewrite (dotn_ext n w' w pivot pivot) by auto. apply pivot_back.
Qed.
