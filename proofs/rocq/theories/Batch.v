(* The loop for many models does to each model what the loop of Algorithm 3 does to one. *)
Require Import Base Generated Statements Sparse Loops.

Section Batch.
Context {F : Fld} {U : Undef}.
Add Field KF : Kfield.
Local Open Scope K_scope.
Context (X : rows) (n models : nat).
Hypothesis W : well_formed X n.

Definition v_of (w : nat -> nat -> nat -> K) k : nat -> K := fun j => w j 0%nat k.
Definition u_of (w : nat -> nat -> nat -> K) k : nat -> K := fun j => w j 1%nat k.

Lemma plus_times_0 x e : x + K0 * e = x. Proof. ring. Qed.
Lemma upd_same v j x : upd v j x j = x.
Proof. unfold upd. now rewrite Nat.eqb_refl. Qed.
Lemma upd_other v j x k : k <> j -> upd v j x k = v k.
Proof. unfold upd. destruct (Nat.eqb_spec k j); [contradiction|reflexivity]. Qed.

Lemma upd3_same w j part k x : upd3 w j part k x j part k = x.
Proof. unfold upd3. now rewrite !Nat.eqb_refl. Qed.
Lemma upd3_other w j part k x j' part' k' : (j' <> j \/ part' <> part \/ k' <> k) -> upd3 w j part k x j' part' k' = w j' part' k'.
Proof.
  intros H. unfold upd3. destruct (Nat.eqb_spec j' j), (Nat.eqb_spec part' part), (Nat.eqb_spec k' k); cbn [andb]; try reflexivity. exfalso. tauto.
Qed.

(* one model, of those that are read one by one or together *)
Lemma dot_of_ok w i d k c : d k = K0 -> exists c', batch_dot_of w X i d k c = (upd d k (dotn n (v_of w k) (dense X i)), c').
Proof.
  intros Hd. rewrite (dot_dense X n _ i W). destruct (W i) as [Hle _].
  unfold batch_dot_of, sparse_entries; cbv zeta; fold (start X i); fold (stop X i). rewrite Hd.
  set (s := start X i) in *. set (q := ((stop X i - s) / 4)%nat).
  assert (Hdm : (stop X i - s = 4 * q + (stop X i - s) mod 4)%nat) by (apply Nat.div_mod; lia).
  assert (Hm : ((stop X i - s) mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
  set (rest := (stop X i - (stop X i - s) mod 4)%nat).
  assert (Hr : (rest - s = 4 * q)%nat) by (unfold rest; lia).
  set (term := fun e => r_data X (s + e)%nat * v_of w k (r_indices X (s + e)%nat)).
  unfold for_range. replace ((rest - s + (4 - 1)) / 4)%nat with q.
  2:{ rewrite Hr. replace (4 * q + (4 - 1))%nat with (3 + q * 4)%nat by lia. rewrite Nat.div_add by lia. reflexivity. }
  match goal with |- context [loop q s 4 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : K * K * K * K * nat) => let '(d0, d1, d2, d3, _) := st in
      d0 + d1 + (d2 + d3) = sum (4 * m) term) q s 4 f s0) as L; destruct (loop q s 4 f s0) as [[[[d0 d1] d2] d3] c1] end.
  cbn beta iota in L.
  specialize (L ltac:(simpl; ring)).
  assert (L' : d0 + d1 + (d2 + d3) = sum (4 * q) term).
  { apply L. intros m [[[[e0 e1] e2] e3] c'] Hmq IH. unfold batch_dot_of_body; cbv zeta.
    replace (4 * Datatypes.S m)%nat with (4 * m + 4)%nat by lia. rewrite sum_split, <- IH. cbn [sum]. unfold term, v_of.
    replace (s + (4 * m + 0))%nat with (s + m * 4)%nat by lia.
    replace (s + (4 * m + 1))%nat with (s + m * 4 + 1)%nat by lia.
    replace (s + (4 * m + 2))%nat with (s + m * 4 + 2)%nat by lia.
    replace (s + (4 * m + 3))%nat with (s + m * 4 + 3)%nat by lia. ring. }
  clear L. rewrite count1. replace (stop X i - rest)%nat with ((stop X i - s) mod 4)%nat by (unfold rest; lia).
  set (left := ((stop X i - s) mod 4)%nat) in *.
  match goal with |- context [loop left rest 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : K * nat) => let '(e, _) := st in e + d1 + (d2 + d3) = sum (4 * q + m) term) left rest 1 f s0) as L;
    destruct (loop left rest 1 f s0) as [e c2] end.
  eexists. f_equal. f_equal. unfold stored. fold s. rewrite Hdm. apply L.
  - rewrite Nat.add_0_r. exact L'.
  - intros m [e' c'] Hml IH. unfold batch_dot_of_body2; cbv zeta.
    rewrite Nat.add_succ_r. cbn [sum]. rewrite <- IH. unfold term, v_of.
    replace (rest + m * 1)%nat with (s + (4 * q + m))%nat by (unfold rest in *; lia). ring.
Qed.

Lemma add_to_ok w g hg i k c : let w' := fst (batch_add_to w g hg X i k c) in
  (forall j, w' j 0%nat k = w j 0%nat k + g k * dense X i j) /\ (forall j, w' j 1%nat k = w j 1%nat k + hg k * dense X i j)
  /\ forall j part k', k' <> k -> w' j part k' = w j part k'.
Proof.
  unfold batch_add_to, sparse_entries; cbv zeta; fold (start X i); fold (stop X i).
  unfold for_range. rewrite count1. change (stop X i - start X i)%nat with (stored X i). set (s := start X i) in *.
  match goal with |- context [loop (stored X i) s 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> nat -> nat -> K) * nat) => let '(w', _) := st in
      let x j := sum m (fun e => if Nat.eqb (r_indices X (s + e)) j then r_data X (s + e) else K0) in
      (forall j, w' j 0%nat k = w j 0%nat k + g k * x j) /\ (forall j, w' j 1%nat k = w j 1%nat k + hg k * x j)
      /\ forall j part k', k' <> k -> w' j part k' = w j part k') (stored X i) s 1 f s0) as L; destruct (loop (stored X i) s 1 f s0) as [w' c'] end.
  cbn [fst]. unfold dense. fold s. apply L; clear L w' c'.
  - cbn [sum]. split; [intros; ring|]. split; [intros; ring|reflexivity].
  - intros m [w1 c1] Hm (H0 & H1 & H2). unfold batch_add_to_body; cbv zeta. rewrite Nat.mul_1_r. set (j0 := r_indices X (s + m)).
    cbn [sum]. fold j0. repeat split.
    + intros j. rewrite upd3_other by (right; left; discriminate). destruct (Nat.eq_dec j j0) as [->|Hne].
      * rewrite upd3_same, Nat.eqb_refl, H0. ring.
      * rewrite upd3_other by auto. rewrite (proj2 (Nat.eqb_neq j0 j)) by auto. rewrite H0. ring.
    + intros j. destruct (Nat.eq_dec j j0) as [->|Hne].
      * rewrite upd3_same, Nat.eqb_refl, H1. ring.
      * rewrite !upd3_other by auto. rewrite (proj2 (Nat.eqb_neq j0 j)) by auto. rewrite H1. ring.
    + intros j part k' Hk. rewrite !upd3_other by auto. now apply H2.
Qed.

(* a loop over all models that changes what belongs to model k in its turn: fours first, then those left over *)
Lemma fours left : (left mod 4 = 0)%nat -> ((left - 0 + (4 - 1)) / 4 = left / 4)%nat /\ (4 * (left / 4) = left)%nat.
Proof.
  intros H. pose proof (Nat.div_mod left 4 ltac:(lia)) as D. rewrite H in D. split; [|lia].
  rewrite D at 1. replace (4 * (left / 4) + 0 - 0 + (4 - 1))%nat with (3 + left / 4 * 4)%nat by lia. rewrite Nat.div_add by lia. reflexivity.
Qed.

Lemma dots_ok w i d c : exists c' d', batch_dots w models X i d c = (d', c')
  /\ forall k, (k < models)%nat -> d' k = dotn n (v_of w k) (dense X i).
Proof.
  unfold batch_dots; cbv zeta. set (left := (models - models mod 4)%nat).
  pose proof (Nat.div_mod models 4 ltac:(lia)) as D. pose proof (Nat.mod_upper_bound models 4 ltac:(lia)) as B.
  assert (L4 : (left mod 4 = 0)%nat).
  { unfold left. replace (models - models mod 4)%nat with (models / 4 * 4)%nat by lia. now apply Nat.mod_mul. }
  destruct (fours left L4) as [C4 E4].
  unfold for_range at 1. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * nat) => let '(d', _) := st in forall k, (k < m)%nat -> d' k = K0) models 0 1 f s0) as Z;
    destruct (loop models 0 1 f s0) as [d0 c0] end.
  assert (Z' : forall k, (k < models)%nat -> d0 k = K0).
  { apply Z; [intros; lia|]. intros m [d1 c1] Hm IH. unfold batch_dots_body; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
    intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [apply upd_same|rewrite upd_other by assumption; apply IH; lia]. }
  clear Z. set (want := fun k => dotn n (v_of w k) (dense X i)).
  set (P := fun m (d' : nat -> K) => (forall k, (k < m)%nat -> d' k = want k) /\ forall k, (m <= k < models)%nat -> d' k = K0).
  assert (One : forall m d1 c1, (m < models)%nat -> P m d1 -> exists d2 c2, batch_dot_of w X i d1 m c1 = (d2, c2) /\ P (S m) d2).
  { intros m d1 c1 Hm [P1 P2]. destruct (dot_of_ok w i d1 m c1 (P2 m ltac:(lia))) as [c2 Hd]. eexists _, _. split; [exact Hd|]. split.
    - intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [apply upd_same|rewrite upd_other by assumption; apply P1; lia].
    - intros k Hk. rewrite upd_other by lia. apply P2. lia. }
  unfold for_range at 1. rewrite C4.
  match goal with |- context [loop (left / 4) 0 4 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * nat) => let '(d', _) := st in P (4 * m)%nat d') (left / 4) 0 4 f s0) as L;
    destruct (loop (left / 4) 0 4 f s0) as [d1 c1] end.
  assert (L' : P left d1).
  { rewrite <- E4. apply L; [split; [intros; lia|exact (fun k Hk => Z' k (proj2 Hk))]|].
    intros m [d2 c2] Hm IH. unfold batch_dots_body3; cbv zeta. rewrite Nat.add_0_l. unfold for_range. rewrite count1.
    replace (m * 4 + 4 - m * 4)%nat with 4%nat by lia.
    match goal with |- context [loop 4 (m * 4) 1 ?f ?s0] =>
      pose proof (loop_ind (fun l (st : (nat -> K) * nat) => let '(d', _) := st in P (4 * m + l)%nat d') 4 (m * 4) 1 f s0) as Q;
      destruct (loop 4 (m * 4) 1 f s0) as [d3 c3] end.
    replace (4 * S m)%nat with (4 * m + 4)%nat by lia. apply Q; [now rewrite Nat.add_0_r|].
    intros l [d4 c4] Hl IHl. unfold batch_dots_body2; cbv zeta. replace (m * 4 + l * 1)%nat with (4 * m + l)%nat by lia.
    match goal with |- context [batch_dot_of w X i d4 ?k0 ?c0] => destruct (One k0 d4 c0 ltac:(unfold left in *; lia) IHl) as (d5 & c5 & -> & H5) end.
    now rewrite Nat.add_succ_r. }
  clear L. unfold for_range. rewrite count1.
  match goal with |- context [loop (models - left) left 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * nat) => let '(d', _) := st in P (left + m)%nat d') (models - left) left 1 f s0) as L;
    destruct (loop (models - left) left 1 f s0) as [d2 c2] end.
  exists c2, d2. split; [reflexivity|]. intros k Hk. assert (R : P (left + (models - left))%nat d2).
  { apply L; [now rewrite Nat.add_0_r|]. intros m [d3 c3] Hm IH. unfold batch_dots_body4; cbv zeta. rewrite Nat.mul_1_r.
    match goal with |- context [batch_dot_of w X i d3 ?k0 ?c0] => destruct (One k0 d3 c0 ltac:(unfold left in *; lia) IH) as (d5 & c5 & -> & H5) end.
    now rewrite Nat.add_succ_r. }
  apply R. unfold left. lia.
Qed.

Lemma add_to_all_ok w g hg i c : (forall k, (k < models)%nat -> g k = K0 -> hg k = K0) ->
  exists c' w', batch_add_to_all w models g hg X i c = (w', c') /\ forall k, (k < models)%nat ->
    (forall j, w' j 0%nat k = w j 0%nat k + g k * dense X i j) /\ (forall j, w' j 1%nat k = w j 1%nat k + hg k * dense X i j).
Proof.
  intros Hg. unfold batch_add_to_all; cbv zeta. set (left := (models - models mod 4)%nat).
  pose proof (Nat.div_mod models 4 ltac:(lia)) as D. pose proof (Nat.mod_upper_bound models 4 ltac:(lia)) as B.
  assert (L4 : (left mod 4 = 0)%nat).
  { unfold left. replace (models - models mod 4)%nat with (models / 4 * 4)%nat by lia. now apply Nat.mod_mul. }
  destruct (fours left L4) as [C4 E4].
  unfold for_range at 1. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : bool * nat) => let '(moves, _) := st in moves = false -> forall k, (k < m)%nat -> g k = K0) models 0 1 f s0) as Z;
    destruct (loop models 0 1 f s0) as [moves c0] end.
  assert (Z' : moves = false -> forall k, (k < models)%nat -> g k = K0).
  { apply Z; [intros; lia|]. intros m [b c1] Hm IH. unfold batch_add_to_all_body; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
    intros Hb k Hk. apply Bool.orb_false_iff in Hb. destruct Hb as [-> Hn]. destruct (Nat.eq_dec k m) as [->|]; [|apply IH; [reflexivity|lia]].
    apply Bool.negb_false_iff in Hn. now apply Keqb_eq. }
  clear Z. destruct moves.
  2:{ eexists _, _. split; [reflexivity|]. intros k Hk. rewrite (Hg k Hk (Z' eq_refl k Hk)), (Z' eq_refl k Hk). split; intros; ring. }
  clear Z'. set (P := fun m (w' : nat -> nat -> nat -> K) =>
    (forall k, (k < m)%nat -> (forall j, w' j 0%nat k = w j 0%nat k + g k * dense X i j) /\ (forall j, w' j 1%nat k = w j 1%nat k + hg k * dense X i j))
    /\ forall k j part, (m <= k)%nat -> w' j part k = w j part k).
  assert (One : forall m w1 c1, P m w1 -> exists w2 c2, batch_add_to w1 g hg X i m c1 = (w2, c2) /\ P (S m) w2).
  { intros m w1 c1 [P1 P2]. pose proof (add_to_ok w1 g hg i m c1) as A. cbv zeta in A. destruct (batch_add_to w1 g hg X i m c1) as [w2 c2]. cbn [fst] in A.
    destruct A as (A0 & A1 & A2). eexists _, _. split; [reflexivity|]. split.
    - intros k Hk. destruct (Nat.eq_dec k m) as [->|Hne].
      + split; intros j; [rewrite A0|rewrite A1]; rewrite P2 by lia; reflexivity.
      + split; intros j; rewrite A2 by exact Hne; apply P1; lia.
    - intros k j part Hk. rewrite A2 by lia. apply P2. lia. }
  unfold for_range at 1. rewrite C4.
  match goal with |- context [loop (left / 4) 0 4 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> nat -> nat -> K) * nat) => let '(w', _) := st in P (4 * m)%nat w') (left / 4) 0 4 f s0) as L;
    destruct (loop (left / 4) 0 4 f s0) as [w1 c1] end.
  assert (L' : P left w1).
  { rewrite <- E4. apply L; [split; [intros; lia|reflexivity]|].
    intros m [d2 c2] Hm IH. unfold batch_add_to_all_body3; cbv zeta. rewrite Nat.add_0_l. unfold for_range. rewrite count1.
    replace (m * 4 + 4 - m * 4)%nat with 4%nat by lia.
    match goal with |- context [loop 4 (m * 4) 1 ?f ?s0] =>
      pose proof (loop_ind (fun l (st : (nat -> nat -> nat -> K) * nat) => let '(d', _) := st in P (4 * m + l)%nat d') 4 (m * 4) 1 f s0) as Q;
      destruct (loop 4 (m * 4) 1 f s0) as [d3 c3] end.
    replace (4 * S m)%nat with (4 * m + 4)%nat by lia. apply Q; [now rewrite Nat.add_0_r|].
    intros l [d4 c4] Hl IHl. unfold batch_add_to_all_body2; cbv zeta. replace (m * 4 + l * 1)%nat with (4 * m + l)%nat by lia.
    match goal with |- context [batch_add_to d4 g hg X i ?k0 ?c0] => destruct (One k0 d4 c0 IHl) as (d5 & c5 & -> & H5) end.
    now rewrite Nat.add_succ_r. }
  clear L. unfold for_range. rewrite count1.
  match goal with |- context [loop (models - left) left 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> nat -> nat -> K) * nat) => let '(w', _) := st in P (left + m)%nat w') (models - left) left 1 f s0) as L;
    destruct (loop (models - left) left 1 f s0) as [w2 c2] end.
  exists c2, w2. split; [reflexivity|]. assert (R : P (left + (models - left))%nat w2).
  { apply L; [now rewrite Nat.add_0_r|]. intros m [d3 c3] Hm IH. unfold batch_add_to_all_body4; cbv zeta. rewrite Nat.mul_1_r.
    match goal with |- context [batch_add_to d3 g hg X i ?k0 ?c0] => destruct (One k0 d3 c0 IH) as (d5 & c5 & -> & H5) end.
    now rewrite Nat.add_succ_r. }
  intros k Hk. apply R. unfold left. lia.
Qed.

Section Steps.
Context (y : nat -> nat -> K) (sample_weight : nat -> K) (dloss : K -> K -> K) (lam t0 : nat -> K) (indices : nat -> nat) (omega : nat -> K).
Context (xbar : nat -> K) (theta : K) (projections : nat -> K) (len : nat).

Lemma self_zero p : Keqb (Kself p) K0 = true.
Proof. replace (Kself p) with K0 by (rewrite Kself_is; ring). apply Keqb_refl. Qed.
Lemma q_is i : exists q, forall c, exists c', (if negb (Nat.eqb len 0) then (projections i, c) else sparse_dot xbar X i c) = (q, c').
Proof.
  destruct (negb (Nat.eqb len 0)).
  - exists (projections i). intros c. now exists c.
  - exists (dotn n xbar (dense X i)). intros c. pose proof (dot_ok X n xbar i c W) as [H _]. destruct (sparse_dot xbar X i c) as [q c']. cbn [fst] in H. subst q. now exists c'.
Qed.

Lemma predictions_ok t a r d q p c : exists c' p',
  for_range 0 models 1 (batch_steps_body2 lam t0 t a r d q) (p, true, c) = (p', true, c')
  /\ forall k, (k < models)%nat -> p' k = - (d k + r k - a k * q) / (lam k * (t - K1 + t0 k)).
Proof.
  unfold for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * bool * nat) => let '(p', finite, _) := st in finite = true
      /\ forall k, (k < m)%nat -> p' k = - (d k + r k - a k * q) / (lam k * (t - K1 + t0 k))) models 0 1 f s0) as L;
    destruct (loop models 0 1 f s0) as [[p' finite] c'] end.
  assert (R : finite = true /\ forall k, (k < models)%nat -> p' k = - (d k + r k - a k * q) / (lam k * (t - K1 + t0 k))).
  { apply L; [split; [reflexivity|intros; lia]|]. intros m [[p1 f1] c1] Hm [-> IH]. unfold batch_steps_body2; cbv zeta.
    rewrite Nat.mul_1_r, Nat.add_0_l. split; [now rewrite self_zero|].
    intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [apply upd_same|rewrite upd_other by assumption; apply IH; lia]. }
  destruct R as [-> R]. now exists c', p'.
Qed.

Lemma slopes_ok h p i g hg c : exists c' g' hg',
  for_range 0 models 1 (batch_steps_body3 y sample_weight dloss h p i) (g, hg, c) = (g', hg', c')
  /\ forall k, (k < models)%nat -> g' k = sample_weight i * dloss (p k) (y i k) /\ hg' k = h k * g' k.
Proof.
  unfold for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * (nat -> K) * nat) => let '(g', hg', _) := st in
      forall k, (k < m)%nat -> g' k = sample_weight i * dloss (p k) (y i k) /\ hg' k = h k * g' k) models 0 1 f s0) as L;
    destruct (loop models 0 1 f s0) as [[g' hg'] c'] end.
  exists c', g', hg'. split; [reflexivity|]. apply L; [intros; lia|].
  intros m [[g1 hg1] c1] Hm IH. unfold batch_steps_body3; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
  intros k Hk. destruct (Nat.eq_dec k m) as [->|]; [now rewrite !upd_same|rewrite !upd_other by assumption; apply IH; lia].
Qed.

Definition next (j : nat) (t q g : K) k (old : K * K * K * K * K * K * K) :=
  let '(a, c, h, total, z, r, s) := old in
  let a := a + g in let z := z + g * q in let r := a * theta - z in
  (a, c + omega j * a / (t + t0 k), h + omega j / (t + t0 k), total + omega j, z, r, s + omega j * r / (t + t0 k)).
Notation at7 k a c h total z r s := (a k, c k, h k, total k, z k, r k, s k).

Ltac seven Hm IH m := intros k; destruct (Nat.eq_dec k m) as [->|Hne];
  [rewrite !upd_same|rewrite !upd_other by assumption]; [|exact (IH k)].

Lemma numbers_ok j t g q a c h total z r s cost : exists cost' a' c' h' total' z' r' s',
  for_range 0 models 1 (batch_steps_body4 t0 omega theta t g q j) (a, c, h, total, z, r, s, cost) = (a', c', h', total', z', r', s', cost')
  /\ forall k, (k < models)%nat -> at7 k a' c' h' total' z' r' s' = next j t q (g k) k (at7 k a c h total z r s).
Proof.
  unfold for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * nat) =>
      let '(a', c', h', total', z', r', s', _) := st in
      (forall k, (k < m)%nat -> at7 k a' c' h' total' z' r' s' = next j t q (g k) k (at7 k a c h total z r s))
      /\ forall k, (m <= k)%nat -> at7 k a' c' h' total' z' r' s' = at7 k a c h total z r s) models 0 1 f s0) as L;
    destruct (loop models 0 1 f s0) as [[[[[[[a' c'] h'] total'] z'] r'] s'] cost'] end.
  exists cost', a', c', h', total', z', r', s'. split; [reflexivity|]. apply L; [split; [intros; lia|reflexivity]|].
  intros m [[[[[[[a1 c1] h1] total1] z1] r1] s1] cost1] Hm [IH IH']. unfold batch_steps_body4; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
  split; intros k Hk.
  - destruct (Nat.eq_dec k m) as [->|Hne]; [|rewrite !upd_other by assumption; apply IH; lia].
    rewrite !upd_same. specialize (IH' m (le_n m)). injection IH' as E1 E2 E3 E4 E5 E6 E7. rewrite E1, E2, E3, E4, E5, E7. reflexivity.
  - rewrite !upd_other by lia. apply IH'. lia.
Qed.

Lemma first_ok t i q p g hg a c h total z r s cost : exists cost' p' g' hg' a' c' h' total' z' r' s',
  for_range 0 models 1 (batch_steps_body y sample_weight dloss t0 omega theta t i q) (p, g, hg, a, c, h, total, z, r, s, cost)
    = (p', g', hg', a', c', h', total', z', r', s', cost')
  /\ forall k, (k < models)%nat -> let slope := sample_weight i * dloss K0 (y i k) in let r1 := slope * theta - slope * q in
    p' k = K0 /\ g' k = slope /\ hg' k = K0 /\ at7 k a' c' h' total' z' r' s'
      = (slope, omega 0%nat * slope / (t + t0 k), omega 0%nat / (t + t0 k), omega 0%nat, slope * q, r1, omega 0%nat * r1 / (t + t0 k)).
Proof.
  unfold for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s0] =>
    pose proof (loop_ind (fun m (st : (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * nat) =>
      let '(p', g', hg', a', c', h', total', z', r', s', _) := st in
      forall k, (k < m)%nat -> let slope := sample_weight i * dloss K0 (y i k) in let r1 := slope * theta - slope * q in
        p' k = K0 /\ g' k = slope /\ hg' k = K0 /\ at7 k a' c' h' total' z' r' s'
          = (slope, omega 0%nat * slope / (t + t0 k), omega 0%nat / (t + t0 k), omega 0%nat, slope * q, r1, omega 0%nat * r1 / (t + t0 k)))
      models 0 1 f s0) as L;
    destruct (loop models 0 1 f s0) as [[[[[[[[[[p' g'] hg'] a'] c'] h'] total'] z'] r'] s'] cost'] end.
  exists cost', p', g', hg', a', c', h', total', z', r', s'. split; [reflexivity|]. apply L; [intros; lia|].
  intros m [[[[[[[[[[p1 g1] hg1] a1] c1] h1] total1] z1] r1] s1] cost1] Hm IH. unfold batch_steps_body; cbv zeta. rewrite Nat.mul_1_r, Nat.add_0_l.
  intros k Hk. destruct (Nat.eq_dec k m) as [->|Hne]; [|rewrite !upd_other by assumption; apply IH; lia].
  rewrite !upd_same. auto.
Qed.

(* the state of model k among many, and that of the loop for one *)
Definition many := (K * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> nat -> nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * (nat -> K) * nat)%type.
Definition one := (K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat)%type.
Definition alike k (of_many : many) (of_one : one) :=
  let '(t, d, p, g, hg, w, a, c, h, total, z, r, s, _) := of_many in
  let '(t1, p1, g1, v1, u1, a1, c1, h1, total1, z1, r1, s1, _) := of_one in
  t = t1 /\ (forall j, v_of w k j = v1 j) /\ (forall j, u_of w k j = u1 j) /\ at7 k a c h total z r s = (a1, c1, h1, total1, z1, r1, s1).
Definition alike' k (of_many : many) (of_one : one) := alike k of_many of_one /\
  let '(t, d, p, g, hg, w, a, c, h, total, z, r, s, _) := of_many in
  let '(t1, p1, g1, v1, u1, a1, c1, h1, total1, z1, r1, s1, _) := of_one in p k = p1 /\ g k = g1.

Notation many_body := (batch_steps_body5 X y sample_weight lam models dloss indices t0 omega xbar theta projections len models).
Notation one_body k := (casgd_steps_body X (fun i => y i k) sample_weight (lam k) dloss indices (t0 k) omega xbar theta projections len).

Lemma body_alike k j (of_many : many) (of_one : one) : (k < models)%nat -> alike k of_many of_one ->
  fst (many_body j of_many) = false /\ fst (one_body k j of_one) = false /\ alike' k (snd (many_body j of_many)) (snd (one_body k j of_one)).
Proof.
  intros Hk. destruct of_many as [[[[[[[[[[[[[t d] p] g] hg] w] a] c] h] total] z] r] s] cost].
  destruct of_one as [[[[[[[[[[[[t1 p1] g1] v1] u1] a1] c1] h1] total1] z1] r1] s1] cost1].
  unfold alike. intros (<- & Hv & Hu & H7). injection H7 as <- <- <- <- <- <- <-.
  unfold batch_steps_body5, casgd_steps_body; cbv zeta. set (i := indices j). destruct (q_is i) as [q Hq].
  match goal with |- context [batch_dots w models X i d ?c0] => destruct (dots_ok w i d c0) as (c2 & d2 & -> & Hd) end.
  match goal with |- context [sparse_dot v1 X i ?c0] => pose proof (dot_ok X n v1 i c0 W) as [Hd1 _]; destruct (sparse_dot v1 X i c0) as [d1 c3] end.
  cbn [fst] in Hd1. rewrite (dotn_ext n v1 (v_of w k) (dense X i) (dense X i)) in Hd1 by auto. rewrite <- Hd in Hd1 by exact Hk. subst d1.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections i, ?ca) else sparse_dot xbar X i ?ca] => destruct (Hq ca) as [c4 ->] end.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections i, ?ca) else sparse_dot xbar X i ?ca] => destruct (Hq ca) as [c5 ->] end.
  match goal with |- context [for_range 0 models 1 (batch_steps_body2 _ _ ?ta _ _ _ _) (_, true, ?ca)] => destruct (predictions_ok ta a r d2 q p ca) as (c6 & p' & -> & Hp) end.
  specialize (Hp k Hk). rewrite !self_zero. cbn [negb].
  match goal with |- context [for_range 0 models 1 (batch_steps_body3 _ _ _ _ _ _) (_, _, ?ca)] => destruct (slopes_ok h p' i g hg ca) as (c7 & g' & hg' & -> & Hg) end.
  match goal with |- context [batch_add_to_all w models g' hg' X i ?ca] => destruct (add_to_all_ok w g' hg' i ca) as (c8 & w' & -> & Hw) end.
  { intros k' Hk' E. rewrite (proj2 (Hg k' Hk')), E. ring. }
  rewrite <- Hp. destruct (Hg k Hk) as [Hg1 Hg2]. rewrite <- Hg1. destruct (Hw k Hk) as [Hw0 Hw1].
  match goal with |- context [sparse_add_both v1 ?ga u1 ?ha X i ?ca] => pose proof (add_both_ok X v1 ga u1 ha i ca (proj1 (W i))) as A; destruct (sparse_add_both v1 ga u1 ha X i ca) as [[v2 u2] c9] end.
  destruct A as (Av & Au & _). { intros ->. ring. }
  match goal with |- context [for_range 0 models 1 (batch_steps_body4 _ _ _ ?ta _ _ _) (_, _, _, _, _, _, _, ?ca)] =>
    destruct (numbers_ok j ta g' q a c h total z r s ca) as (c10 & a' & c' & h' & total' & z' & r' & s' & -> & H7) end.
  specialize (H7 k Hk). cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. split.
  - split; [reflexivity|]. split; [|split].
    + intros e. rewrite Av. unfold v_of in *. rewrite Hw0, Hv. reflexivity.
    + intros e. rewrite Au. unfold u_of in *. rewrite Hw1, Hu, Hg2. reflexivity.
    + rewrite H7. reflexivity.
  - auto.
Qed.

Lemma loops_alike k T first (of_many : many) (of_one : one) : (k < models)%nat ->
  (if Nat.eqb T 0 then alike' else alike) k of_many of_one ->
  alike' k (loop_break T first 1 many_body of_many) (loop_break T first 1 (one_body k) of_one).
Proof.
  intros Hk. revert first of_many of_one. induction T; intros first of_many of_one H; [exact H|]. cbn [loop_break].
  assert (H' : alike k of_many of_one) by exact H. destruct (body_alike k first of_many of_one Hk H') as (E1 & E2 & E3).
  destruct (many_body first of_many) as [b1 s1], (one_body k first of_one) as [b2 s2]. cbn [fst snd] in *. subst b1 b2.
  apply IHT. destruct T; [exact E3|exact (proj1 E3)].
Qed.
End Steps.
End Batch.

Theorem many_models_holds : many_models.
Proof.
  intros F U X n models y sample_weight lam dloss indices T t0 omega xbar theta projections len t w a c h total z r s p g hg d k W HT Hk.
  unfold batch_steps, casgd_steps; cbv zeta. destruct (Keqb t K0).
  - set (i := indices 0%nat). destruct (q_is X n W xbar projections len i) as [q Hq].
    match goal with |- context [sparse_add ?va ?ga X i ?ca] => pose proof (add_ok X va ga i ca (proj1 (W i))) as [Av _]; destruct (sparse_add va ga X i ca) as [v1 c1] end.
    cbn [fst] in Av.
    match goal with |- context [if negb (Nat.eqb len 0) then (projections i, ?ca) else sparse_dot xbar X i ?ca] => destruct (Hq ca) as [c4 ->] end.
    match goal with |- context [if negb (Nat.eqb len 0) then (projections i, ?ca) else sparse_dot xbar X i ?ca] => destruct (Hq ca) as [c5 ->] end.
    match goal with |- context [for_range 0 models 1 (batch_steps_body _ _ _ _ _ _ ?ta _ _) (_, _, _, _, _, _, _, _, _, _, ?ca)] =>
      destruct (first_ok models y sample_weight dloss t0 omega theta ta i q p g hg a c h total z r s ca) as (c6 & p' & g' & hg' & a' & c' & h' & total' & z' & r' & s' & -> & H1) end.
    match goal with |- context [batch_add_to_all w models g' hg' X i ?ca] => destruct (add_to_all_ok X n models w g' hg' i ca) as (c8 & w' & -> & Hw) end.
    { intros k' Hk' _. apply (H1 k' Hk'). }
    unfold for_break. rewrite !count1.
    match goal with |- context [loop_break (T - 1) 1 1 (batch_steps_body5 _ _ _ _ _ _ _ _ _ _ _ _ _ _) ?sa] => match goal with |- context [loop_break (T - 1) 1 1 (casgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _) ?sb] =>
      pose proof (loops_alike X n models W y sample_weight dloss lam t0 indices omega xbar theta projections len k (T - 1) 1 sa sb Hk) as L;
      assert (Al : alike' k sa sb) end end.
    { clear L. destruct (H1 k Hk) as (P & G & HG & H7). destruct (Hw k Hk) as [Hw0 Hw1]. split; [|auto].
      split; [reflexivity|]. split; [|split; [|exact H7]].
      - intros e. unfold v_of. rewrite Hw0, Av, G. reflexivity.
      - intros e. unfold u_of. rewrite Hw1, HG. apply plus_times_0. }
    specialize (L ltac:(destruct (Nat.eqb (T - 1) 0); [exact Al|exact (proj1 Al)])). clear Al.
    destruct (loop_break _ _ _ (batch_steps_body5 _ _ _ _ _ _ _ _ _ _ _ _ _ _) _) as [[[[[[[[[[[[[t' d'] p2] g2] hg2] w2] a2] c2] h2] total2] z2] r2] s2] cost2].
    destruct (loop_break _ _ _ (casgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _) _) as [[[[[[[[[[[[t1 p1] g1] v2] u2] a3] c3] h3] total3] z3] r3] s3] cost3].
    destruct L as [(E1 & E2 & E3 & E4) [E5 E6]]. injection E4 as -> -> -> -> -> -> ->. rewrite E5, E6. auto.
  - unfold for_break. rewrite !count1, !Nat.sub_0_r.
    match goal with |- context [loop_break T 0 1 (batch_steps_body5 _ _ _ _ _ _ _ _ _ _ _ _ _ _) ?sa] => match goal with |- context [loop_break T 0 1 (casgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _) ?sb] =>
      pose proof (loops_alike X n models W y sample_weight dloss lam t0 indices omega xbar theta projections len k T 0 sa sb Hk) as L end end.
    destruct T; [lia|]. specialize (L ltac:(cbn [Nat.eqb]; repeat split)).
    destruct (loop_break _ _ _ (batch_steps_body5 _ _ _ _ _ _ _ _ _ _ _ _ _ _) _) as [[[[[[[[[[[[[t' d'] p2] g2] hg2] w2] a2] c2] h2] total2] z2] r2] s2] cost2].
    destruct (loop_break _ _ _ (casgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _) _) as [[[[[[[[[[[[t1 p1] g1] v2] u2] a3] c3] h3] total3] z3] r3] s3] cost3].
    destruct L as [(E1 & E2 & E3 & E4) [E5 E6]]. injection E4 as -> -> -> -> -> -> ->. rewrite E5, E6. auto.
Qed.
