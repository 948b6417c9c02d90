(* What the sparse vector operations compute and cost, for every row, of any number of stored entries. *)
Require Import Base Generated Statements.

Section Sparse.
Context {F : Fld} {U : Undef}.
Add Field KF : Kfield.
Local Open Scope K_scope.

Lemma Keqb_refl x : Keqb x x = true. Proof. now apply Keqb_eq. Qed.

Lemma sum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn, H by auto with arith. reflexivity. Qed.
Lemma sum_add n f g : sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n; simpl; [ring|rewrite IHn; ring]. Qed.
Lemma sum_scale n a f : sum n (fun k => a * f k) = a * sum n f.
Proof. induction n; simpl; [ring|rewrite IHn; ring]. Qed.
Lemma sum_zero n : sum n (fun _ => K0) = K0.
Proof. induction n; simpl; [reflexivity|rewrite IHn; ring]. Qed.
Lemma sum_split m n f : sum (m + n) f = sum m f + sum n (fun e => f (m + e)%nat).
Proof. induction n; [rewrite Nat.add_0_r; simpl; ring|]. rewrite Nat.add_succ_r; simpl. rewrite IHn. ring. Qed.
Lemma dotn_ext n w w' x x' : (forall k, (k < n)%nat -> w k = w' k) -> (forall k, (k < n)%nat -> x k = x' k) -> dotn n w x = dotn n w' x'.
Proof. intros H H'. apply sum_ext. intros k Hk. now rewrite H, H'. Qed.
Lemma dotn_lin n a b w w' x : dotn n (fun k => a * w k + b * w' k) x = a * dotn n w x + b * dotn n w' x.
Proof.
  unfold dotn. rewrite <- !sum_scale, <- sum_add. apply sum_ext. intros; ring.
Qed.
Lemma dotn_comm n w x : dotn n w x = dotn n x w.
Proof. apply sum_ext; intros; ring. Qed.

Lemma one_place n j a (v : nat -> K) : (j < n)%nat -> sum n (fun k => v k * (if Nat.eqb j k then a else K0)) = v j * a.
Proof.
  induction n; intros H; [lia|]. simpl. destruct (Nat.eqb_spec j n) as [->|Hne].
  - rewrite (sum_ext n _ (fun _ => K0)). { rewrite sum_zero. ring. }
    intros k Hk. destruct (Nat.eqb_spec n k); [lia|ring].
  - rewrite IHn by lia. ring.
Qed.

Lemma dot_dense X n v i : well_formed X n ->
  dotn n v (dense X i) = sum (stored X i) (fun e => r_data X (start X i + e) * v (r_indices X (start X i + e))).
Proof.
  intros W. destruct (W i) as [Hle Hin]. unfold dense, dotn.
  assert (forall m, (m <= stored X i)%nat ->
    sum n (fun k => v k * sum m (fun e => if Nat.eqb (r_indices X (start X i + e)) k then r_data X (start X i + e) else K0))
    = sum m (fun e => r_data X (start X i + e) * v (r_indices X (start X i + e)))) as H; [|now apply H].
  unfold stored. induction m; intros Hm.
  - simpl. rewrite (sum_ext n _ (fun _ => K0)); [apply sum_zero|intros; ring].
  - simpl. rewrite <- IHm by lia.
    rewrite (sum_ext n _ (fun k => v k * sum m (fun e => if Nat.eqb (r_indices X (start X i + e)) k then r_data X (start X i + e) else K0)
       + v k * (if Nat.eqb (r_indices X (start X i + m)) k then r_data X (start X i + m) else K0))) by (intros; ring).
    rewrite sum_add, one_place by (apply Hin; lia). ring.
Qed.

Lemma dense_out X n i k : well_formed X n -> (n <= k)%nat -> dense X i k = K0.
Proof.
  intros W Hk. destruct (W i) as [Hle Hin]. unfold dense. rewrite (sum_ext _ _ (fun _ => K0)); [apply sum_zero|].
  intros e He. unfold stored in He. destruct (Nat.eqb_spec (r_indices X (start X i + e)) k); [|reflexivity].
  specialize (Hin (start X i + e)%nat). lia.
Qed.

Lemma loop_ind {S} (P : nat -> S -> Prop) n e step f s :
  P 0%nat s -> (forall m s, (m < n)%nat -> P m s -> P (Datatypes.S m) (f (e + m * step)%nat s)) -> P n (loop n e step f s).
Proof.
  revert P e s. induction n; intros P e s H0 H; simpl; [exact H0|].
  apply (IHn (fun m s => P (Datatypes.S m) s)).
  - specialize (H 0%nat s). rewrite Nat.mul_0_l, Nat.add_0_r in H. apply H; [lia|exact H0].
  - intros m s' Hm Hp. replace (e + step + m * step)%nat with (e + Datatypes.S m * step)%nat by (simpl; lia). apply H; [lia|exact Hp].
Qed.

Lemma loop_break_ind {S} (P : nat -> S -> Prop) n e step (f : nat -> S -> bool * S) s :
  P 0%nat s -> (forall m s, (m < n)%nat -> P m s -> fst (f (e + m * step)%nat s) = false /\ P (Datatypes.S m) (snd (f (e + m * step)%nat s))) ->
  P n (loop_break n e step f s).
Proof.
  revert P e s. induction n; intros P e s H0 H; simpl; [exact H0|].
  destruct (H 0%nat s) as [Hb Hp]; [lia|exact H0|]. rewrite Nat.mul_0_l, Nat.add_0_r in Hb, Hp.
  destruct (f e s) as [broken s'] eqn:E. simpl in Hb, Hp. subst broken.
  apply (IHn (fun m s => P (Datatypes.S m) s)); [exact Hp|].
  intros m s'' Hm Hpm. replace (e + step + m * step)%nat with (e + Datatypes.S m * step)%nat by (simpl; lia). apply H; [lia|exact Hpm].
Qed.

Lemma count1 low high : ((high - low + (1 - 1)) / 1)%nat = (high - low)%nat.
Proof. rewrite Nat.div_1_r. lia. Qed.

(* dot: four partial sums, any number of entries *)
(* [cost] *)
Theorem dot_ok X n v i c : well_formed X n ->
  fst (sparse_dot v X i c) = dotn n v (dense X i) /\ (snd (sparse_dot v X i c) <= c + 5 * stored X i + 10)%nat.
Proof.
  intros W. rewrite (dot_dense X n v i W). destruct (W i) as [Hle _].
  unfold sparse_dot, sparse_entries; cbv zeta; fold (start X i); fold (stop X i).
  set (s := start X i) in *. set (q := ((stop X i - s) / 4)%nat).
  assert (Hdm : (stop X i - s = 4 * q + (stop X i - s) mod 4)%nat) by (apply Nat.div_mod; lia).
  assert (Hm : ((stop X i - s) mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
  set (rest := (stop X i - (stop X i - s) mod 4)%nat).
  assert (Hr : (rest - s = 4 * q)%nat) by (unfold rest; lia).
  set (term := fun e => r_data X (s + e)%nat * v (r_indices X (s + e)%nat)).
  unfold for_range. replace ((rest - s + (4 - 1)) / 4)%nat with q.
  2:{ rewrite Hr. replace (4 * q + (4 - 1))%nat with (3 + q * 4)%nat by lia. rewrite Nat.div_add by lia. reflexivity. }
  set (c0 := (c + 1 + 1 + 3 + 1 + 1 + 1)%nat).
  pose proof (loop_ind (fun m (st : K * K * K * K * nat) => let '(d0, d1, d2, d3, c') := st in
     d0 + d1 + (d2 + d3) = sum (4 * m) term /\ (c' = c0 + 17 * m)%nat)
     q s 4 (sparse_dot_body v (r_indices X) (r_data X)) (K0, K0, K0, K0, c0)) as L.
  destruct (loop q s 4 _ _) as [[[[d0 d1] d2] d3] c1].
  destruct L as [L Lc]. { split; [simpl; ring|lia]. }
  { intros m [[[[e0 e1] e2] e3] c'] Hmq [IH Ic]. unfold sparse_dot_body; cbv zeta. split; [|lia].
    replace (4 * Datatypes.S m)%nat with (4 * m + 4)%nat by lia. rewrite sum_split, <- IH. cbn [sum]. unfold term.
    replace (s + (4 * m + 0))%nat with (s + m * 4)%nat by lia.
    replace (s + (4 * m + 1))%nat with (s + m * 4 + 1)%nat by lia.
    replace (s + (4 * m + 2))%nat with (s + m * 4 + 2)%nat by lia.
    replace (s + (4 * m + 3))%nat with (s + m * 4 + 3)%nat by lia. ring. }
  rewrite count1. replace (stop X i - rest)%nat with ((stop X i - s) mod 4)%nat by (unfold rest; lia).
  set (left := ((stop X i - s) mod 4)%nat) in *.
  pose proof (loop_ind (fun m (st : K * nat) => let '(d, c') := st in
     d + d1 + (d2 + d3) = sum (4 * q + m) term /\ (c' = c1 + 1 + 5 * m)%nat)
     left rest 1 (sparse_dot_body2 v (r_indices X) (r_data X)) (d0, (c1 + 1)%nat)) as L2.
  destruct (loop left rest 1 _ _) as [d c2].
  destruct L2 as [L2 L2c]. { split; [rewrite Nat.add_0_r; exact L|lia]. }
  { intros m [e c'] Hml [IH Ic]. unfold sparse_dot_body2; cbv zeta. split; [|lia].
    rewrite Nat.add_succ_r. cbn [sum]. rewrite <- IH. unfold term.
    replace (rest + m * 1)%nat with (s + (4 * q + m))%nat by (unfold rest in *; lia). ring. }
  simpl. rewrite L2. split.
  - unfold stored. fold s. rewrite Hdm. reflexivity.
  - unfold stored, c0 in *. fold s. lia.
Qed.

Lemma upd_at v j x k : upd v j x k = if Nat.eqb k j then x else v k.
Proof. reflexivity. Qed.

(* [cost] *)
Theorem add_ok X v g i c : (start X i <= stop X i)%nat ->
  (forall k, fst (sparse_add v g X i c) k = v k + g * dense X i k)
  /\ (snd (sparse_add v g X i c) <= c + 7 * stored X i + 8)%nat.
Proof.
  intros Hle. unfold sparse_add; cbv zeta. destruct (Keqb g K0) eqn:G; simpl negb; cbv iota.
  - apply Keqb_eq in G. subst g. simpl. split; [intros; ring|lia].
  - unfold sparse_entries; cbv zeta. fold (start X i); fold (stop X i). set (s := start X i) in *.
    unfold for_range. rewrite count1. fold (stored X i).
    set (c0 := (c + 1 + 1 + 1 + 3 + 1)%nat).
    pose proof (loop_ind (fun m (st : (nat -> K) * nat) => let '(v', c') := st in
      (forall k, v' k = v k + g * sum m (fun e => if Nat.eqb (r_indices X (s + e)) k then r_data X (s + e) else K0))
      /\ (c' = c0 + 7 * m)%nat)
      (stored X i) s 1 (sparse_add_body g (r_indices X) (r_data X)) (v, c0)) as L.
    change (stop X i - s)%nat with (stored X i).
    destruct (loop (stored X i) s 1 _ _) as [v' c'].
    destruct L as [L Lc]. { split; [intros; simpl; ring|lia]. }
    { intros m [v1 c1] Hm [IH Ic]. unfold sparse_add_body; cbv zeta. split; [|lia].
      intros k. rewrite upd_at, !IH. simpl. replace (s + m * 1)%nat with (s + m)%nat by lia.
      rewrite (Nat.eqb_sym k). destruct (Nat.eqb_spec (r_indices X (s + m)) k) as [->|]; ring. }
    simpl. split; [intros; apply L|unfold c0 in *; lia].
Qed.

(* [cost] *)
Theorem add_both_ok X v g u hg i c : (start X i <= stop X i)%nat -> (g = K0 -> hg = K0) ->
  let '(v', u', c') := sparse_add_both v g u hg X i c in
  (forall k, v' k = v k + g * dense X i k) /\ (forall k, u' k = u k + hg * dense X i k) /\ (c' <= c + 9 * stored X i + 8)%nat.
Proof.
  intros Hle Hg. unfold sparse_add_both; cbv zeta. destruct (Keqb g K0) eqn:G; simpl negb; cbv iota.
  - apply Keqb_eq in G. rewrite (Hg G), G. simpl. repeat split; [intros; ring|intros; ring|lia].
  - unfold sparse_entries; cbv zeta. fold (start X i); fold (stop X i). set (s := start X i) in *.
    unfold for_range. rewrite count1. change (stop X i - s)%nat with (stored X i).
    set (c0 := (c + 1 + 1 + 1 + 3 + 1)%nat).
    pose proof (loop_ind (fun m (st : (nat -> K) * (nat -> K) * nat) => let '(v', u', c') := st in
      (forall k, v' k = v k + g * sum m (fun e => if Nat.eqb (r_indices X (s + e)) k then r_data X (s + e) else K0))
      /\ (forall k, u' k = u k + hg * sum m (fun e => if Nat.eqb (r_indices X (s + e)) k then r_data X (s + e) else K0))
      /\ (c' = c0 + 9 * m)%nat)
      (stored X i) s 1 (sparse_add_both_body g hg (r_indices X) (r_data X)) (v, u, c0)) as L.
    destruct (loop (stored X i) s 1 _ _) as [[v' u'] c'].
    destruct L as (L & L' & Lc). { repeat split; [intros; simpl; ring|intros; simpl; ring|lia]. }
    { intros m [[v1 u1] c1] Hm (IH & IH' & Ic). unfold sparse_add_both_body; cbv zeta. split; [|split; [|lia]];
      intros k; rewrite upd_at, ?IH, ?IH'; simpl; replace (s + m * 1)%nat with (s + m)%nat by lia;
      rewrite (Nat.eqb_sym k); destruct (Nat.eqb_spec (r_indices X (s + m)) k) as [->|]; ring. }
    repeat split; [intros; apply L|intros; apply L'|unfold c0 in *; lia].
Qed.
End Sparse.

Theorem dot_is_right_holds : dot_is_right.
Proof. intros F U X n v i cost W. now apply dot_ok. Qed.

