(* [alg:sgd, alg:asgd, alg:casgd] The loops on balls contain the loops on numbers: each line of them does. *)
Require Import Base Generated Statements Sparse.

Section Inclusion.
Context {A B : Ops} {U : @Undef A} {V : @Undef B} (R : @K A -> @K B -> Prop).
(* what is asked of two arithmetics for a run in the one to follow a run in the other; a step with g = 0 is passed over *)
Record follows : Prop := {
  r_0 : R K0 K0; r_1 : R K1 K1;
  r_add : forall x b y c, R x b -> R y c -> R (x + y)%K (b + c)%K; r_sub : forall x b y c, R x b -> R y c -> R (x - y)%K (b - c)%K;
  r_mul : forall x b y c, R x b -> R y c -> R (x * y)%K (b * c)%K; r_div : forall x b y c, R x b -> R y c -> R (x / y)%K (b / c)%K;
  r_opp : forall x b, R x b -> R (- x)%K (- b)%K;
  zeros_equal : Keqb (@K0 A) K0 = true /\ Keqb (@K0 B) K0 = true;
  never_ends : (forall x : @K A, finite x = true) /\ forall b : @K B, finite b = true;
  passed : forall g c, R g c -> Keqb c K0 = true -> Keqb g K0 = true; times_0 : forall h g : @K A, Keqb g K0 = true -> Keqb (h * g)%K K0 = true;
  unchanged : forall g c x b y d, R g c -> Keqb g K0 = true -> R x b -> R y d -> R x (b + c * d)%K }.
Hypothesis C : follows.

#[local] Notation all := (Statements.all R).
Lemma all_upd f g j x b : all f g -> R x b -> all (upd f j x) (upd g j b).
Proof. intros H Hx k. unfold upd. destruct (Nat.eqb k j); auto. Qed.

Ltac law := first [apply (r_0 C) | apply (r_1 C) | apply (r_add C) | apply (r_sub C) | apply (r_mul C) | apply (r_div C) | apply (r_opp C)].
Ltac inside := repeat first [assumption | law].

Lemma loop_rel {S S'} (P : S -> S' -> Prop) f f' n e step s s' : P s s' -> (forall e s s', P s s' -> P (f e s) (f' e s')) ->
  P (loop n e step f s) (loop n e step f' s').
Proof. intros H Hf. revert e s s' H. induction n; intros e s s' H; cbn [loop]; auto. Qed.
Lemma range_rel {S S'} (P : S -> S' -> Prop) f f' low high step s s' : P s s' -> (forall e s s', P s s' -> P (f e s) (f' e s')) ->
  P (for_range low high step f s) (for_range low high step f' s').
Proof. intros H Hf. unfold for_range. now apply loop_rel. Qed.
Lemma break_rel {S S'} (P : S -> S' -> Prop) (f : nat -> S -> bool * S) (f' : nat -> S' -> bool * S') low high step s s' : P s s' ->
  (forall e s s', P s s' -> fst (f e s) = false /\ fst (f' e s') = false /\ P (snd (f e s)) (snd (f' e s'))) ->
  P (for_break low high step f s) (for_break low high step f' s').
Proof.
  intros H Hf. unfold for_break. generalize ((high - low + (step - 1)) / step) as n. intros n. revert low s s' H. induction n; intros low s s' H; cbn [loop_break]; [exact H|].
  destruct (Hf low s s' H) as (E & E' & H'). destruct (f low s) as [b1 s1], (f' low s') as [b1' s1']. cbn [fst snd] in *. subst b1 b1'. now apply IHn.
Qed.

Context (X : @rows A) (X' : @rows B).
Hypothesis same_columns : r_indices X = r_indices X'.
Hypothesis same_places : r_indptr X = r_indptr X'.
Hypothesis data_inside : all (r_data X) (r_data X').

Lemma dot_in v v' i c c' : all v v' -> R (fst (sparse_dot v X i c)) (fst (sparse_dot v' X' i c')).
Proof.
  intros Hv. unfold sparse_dot, sparse_entries; cbv zeta. rewrite <- same_places, <- same_columns.
  set (P := fun (st : @K A * K * K * K * nat) (st' : @K B * K * K * K * nat) =>
    let '(d0, d1, d2, d3, _) := st in let '(e0, e1, e2, e3, _) := st' in R d0 e0 /\ R d1 e1 /\ R d2 e2 /\ R d3 e3).
  match goal with |- context [for_range ?lo ?hi 4 ?f ?s] => match goal with |- context [for_range lo hi 4 ?f' ?s'] =>
    lazymatch f with f' => fail | _ => pose proof (range_rel P f f' lo hi 4 s s') as L; destruct (for_range lo hi 4 f s) as [[[[d0 d1] d2] d3] n1], (for_range lo hi 4 f' s') as [[[[e0 e1] e2] e3] n1'] end end end.
  assert (L' : R d0 e0 /\ R d1 e1 /\ R d2 e2 /\ R d3 e3).
  { apply L; [repeat split; law|]. intros e [[[[x0 x1] x2] x3] m] [[[[y0 y1] y2] y3] m'] (H0 & H1 & H2 & H3). unfold sparse_dot_body; cbv zeta.
    repeat split; inside; auto. }
  clear L. destruct L' as (H0 & H1 & H2 & H3).
  set (Q := fun (st : @K A * nat) (st' : @K B * nat) => R (fst st) (fst st')).
  match goal with |- context [for_range ?lo ?hi 1 ?f (d0, ?s)] => match goal with |- context [for_range lo hi 1 ?f' (e0, ?s')] =>
    assert (L : Q (for_range lo hi 1 f (d0, s)) (for_range lo hi 1 f' (e0, s'))); [apply range_rel|destruct (for_range lo hi 1 f (d0, s)) as [d n2], (for_range lo hi 1 f' (e0, s')) as [e n2']] end end.
  - exact H0.
  - intros e [x m] [y m'] H. unfold Q, sparse_dot_body2 in *; cbv zeta. cbn [fst] in *. inside; auto.
  - unfold Q in L. cbn [fst] in *. inside; auto.
Qed.

Lemma range_keeps {S} (P : S -> Prop) f low high s : P s -> (forall e s, P s -> P (f e s)) -> P (for_range low high 1 f s).
Proof. intros H Hf. apply (range_rel (fun (_ : unit) => P) (fun _ u => u) f low high 1 tt); auto. Qed.

Lemma add_in v v' g g' i c c' : all v v' -> R g g' -> all (fst (sparse_add v g X i c)) (fst (sparse_add v' g' X' i c')).
Proof.
  intros Hv Hg. unfold sparse_add, sparse_entries; cbv zeta. rewrite <- same_places, <- same_columns.
  set (Q := fun (st : (nat -> @K A) * nat) (st' : (nat -> @K B) * nat) => all (fst st) (fst st')).
  destruct (Keqb g' K0) eqn:E'; [rewrite (passed C g g' Hg E'); exact Hv|]. destruct (Keqb g K0) eqn:E; cbn [negb].
  - match goal with |- context [for_range ?lo ?hi 1 ?f' (v', ?n')] =>
      assert (L : Q (v, 0%nat) (for_range lo hi 1 f' (v', n'))); [|destruct (for_range lo hi 1 f' (v', n')); exact L] end.
    apply range_keeps; [exact Hv|]. intros e [w m] H k. unfold sparse_add_body; cbv zeta. cbn [fst]. unfold upd.
    destruct (Nat.eqb_spec k (r_indices X e)) as [->|]; [eapply (unchanged C g); eauto|]; apply H.
  - match goal with |- context [for_range ?lo ?hi 1 ?f' (v', ?n')] => match goal with |- context [for_range lo hi 1 ?f (v, ?n)] =>
      assert (L : Q (for_range lo hi 1 f (v, n)) (for_range lo hi 1 f' (v', n'))); [|destruct (for_range lo hi 1 f' (v', n')), (for_range lo hi 1 f (v, n)); exact L] end end.
    apply range_rel; [exact Hv|]. intros e [w m] [w' m'] H. unfold Q, sparse_add_body in *; cbv zeta. cbn [fst] in *. apply all_upd; [exact H|]. inside; auto.
Qed.

Lemma add_both_in v v' g g' u u' hg hg' i c c' : all v v' -> R g g' -> all u u' -> R hg hg' -> (Keqb g K0 = true -> Keqb hg K0 = true) ->
  all (fst (fst (sparse_add_both v g u hg X i c))) (fst (fst (sparse_add_both v' g' u' hg' X' i c')))
  /\ all (snd (fst (sparse_add_both v g u hg X i c))) (snd (fst (sparse_add_both v' g' u' hg' X' i c'))).
Proof.
  intros Hv Hg Hu Hh Hz. unfold sparse_add_both, sparse_entries; cbv zeta. rewrite <- same_places, <- same_columns.
  set (Q := fun (st : (nat -> @K A) * (nat -> @K A) * nat) (st' : (nat -> @K B) * (nat -> @K B) * nat) =>
    all (fst (fst st)) (fst (fst st')) /\ all (snd (fst st)) (snd (fst st'))).
  destruct (Keqb g' K0) eqn:E'; [rewrite (passed C g g' Hg E'); now split|]. destruct (Keqb g K0) eqn:E; cbn [negb].
  - match goal with |- context [for_range ?lo ?hi 1 ?f' (v', u', ?n')] =>
      assert (L : Q (v, u, 0%nat) (for_range lo hi 1 f' (v', u', n'))); [|destruct (for_range lo hi 1 f' (v', u', n')) as [[? ?] ?]; exact L] end.
    apply range_keeps; [now split|]. intros e [[w x] m] [H H']. unfold Q, sparse_add_both_body in *; cbv zeta. cbn [fst snd] in *. unfold upd.
    split; intros k; (destruct (Nat.eqb_spec k (r_indices X e)) as [->|]; [|auto]); [eapply (unchanged C g)|eapply (unchanged C hg)]; eauto.
  - match goal with |- context [for_range ?lo ?hi 1 ?f' (v', u', ?n')] => match goal with |- context [for_range lo hi 1 ?f (v, u, ?n)] =>
      assert (L : Q (for_range lo hi 1 f (v, u, n)) (for_range lo hi 1 f' (v', u', n')));
        [|destruct (for_range lo hi 1 f' (v', u', n')) as [[? ?] ?], (for_range lo hi 1 f (v, u, n)) as [[? ?] ?]; exact L] end end.
    apply range_rel; [now split|]. intros e [[w x] m] [[w' x'] m'] [H H']. unfold Q, sparse_add_both_body in *; cbv zeta. cbn [fst snd] in *.
    split; apply all_upd; try assumption; inside; auto.
Qed.

Lemma self_a (p : @K A) : negb (Keqb (Kself p) K0) = false. Proof. pose proof (proj1 (never_ends C) p) as H. unfold finite in H. now rewrite H. Qed.
Lemma self_b (b : @K B) : negb (Keqb (Kself b) K0) = false. Proof. pose proof (proj2 (never_ends C) b) as H. unfold finite in H. now rewrite H. Qed.
Lemma all_zeros : all zeros zeros. Proof. intros k. apply (r_0 C). Qed.

Context (y weight : nat -> @K A) (y' weight' : nat -> @K B) (dloss : @K A -> @K A -> @K A) (dloss' : @K B -> @K B -> @K B).
Context (lam t0 : @K A) (lam' t0' : @K B) (indices : nat -> nat) (omega : nat -> @K A) (omega' : nat -> @K B).
Hypothesis (Hy : all y y') (Hweight : all weight weight') (Homega : all omega omega') (Hlam : R lam lam') (Ht0 : R t0 t0').
Hypothesis Hdloss : forall p q z z', R p q -> R z z' -> R (dloss p z) (dloss' q z').

Ltac within := repeat first [assumption | apply all_zeros | match goal with H : all ?f ?g |- R (?f ?k) (?g ?k) => exact (H k) end | apply Hdloss
  | law].
(* the same operation on both sides *)
Ltac dots v v' H := match goal with |- context [sparse_dot v X ?i ?c] => match goal with |- context [sparse_dot v' X' i ?c'] =>
  let D := fresh "D" in pose proof (dot_in v v' i c c' H) as D; destruct (sparse_dot v X i c) as [? ?], (sparse_dot v' X' i c') as [? ?]; cbn [fst] in D end end.
Ltac adds v v' H := match goal with |- context [sparse_add v ?g X ?i ?c] => match goal with |- context [sparse_add v' ?g' X' i ?c'] =>
  let G := fresh "G" in let D := fresh "D" in assert (G : R g g') by within;
  pose proof (add_in v v' g g' i c c' H G) as D; destruct (sparse_add v g X i c) as [? ?], (sparse_add v' g' X' i c') as [? ?]; cbn [fst] in D end end.
Ltac adds_both v v' u u' H H' := match goal with |- context [sparse_add_both v ?g u ?hg X ?i ?c] => match goal with |- context [sparse_add_both v' ?g' u' ?hg' X' i ?c'] =>
  let G := fresh "G" in let G' := fresh "G" in let Z := fresh "Z" in let D := fresh "D" in assert (G : R g g') by within; assert (G' : R hg hg') by within;
  assert (Z : Keqb g K0 = true -> Keqb hg K0 = true) by (apply (times_0 C));
  pose proof (add_both_in v v' g g' u u' hg hg' i c c' H G H' G' Z) as D; destruct (sparse_add_both v g u hg X i c) as [[? ?] ?], (sparse_add_both v' g' u' hg' X' i c') as [[? ?] ?];
  cbn [fst snd] in D; destruct D as [? ?] end end.

Section Mean.
Context (n m : nat).
Lemma mean_in : let '(xb, th, _) := the_mean X weight n m in let '(xb', th', _) := the_mean X' weight' n m in all xb xb' /\ R th th'.
Proof.
  unfold the_mean, casgd_add_up; cbv zeta.
  set (P := fun (st : (nat -> @K A) * @K A * nat) (st' : (nat -> @K B) * @K B * nat) => let '(x, a, _) := st in let '(x', a', _) := st' in all x x' /\ R a a').
  match goal with |- context [for_range 0 m 1 ?f ?s0] => match goal with |- context [for_range 0 m 1 ?f' (@zeros B, ?k0, ?c0)] =>
    assert (L : P (for_range 0 m 1 f s0) (for_range 0 m 1 f' (@zeros B, k0, c0)));
      [|destruct (for_range 0 m 1 f s0) as [[x a] c], (for_range 0 m 1 f' (@zeros B, k0, c0)) as [[x' a'] c']] end end.
  { apply range_rel; [split; [apply all_zeros|law]|]. intros e [[x a] c] [[x' a'] c'] [H H']. unfold P, casgd_add_up_body; cbv zeta.
    adds x x' H. split; within. }
  destruct L as [Hx Ha]. unfold casgd_centre; cbv zeta.
  match goal with |- context [for_range 0 n 1 ?f (x, ?k, ?c1)] => match goal with |- context [for_range 0 n 1 ?f' (x', ?k', ?c1')] =>
    assert (L : P (for_range 0 n 1 f (x, k, c1)) (for_range 0 n 1 f' (x', k', c1')));
      [|destruct (for_range 0 n 1 f (x, k, c1)) as [[x1 a1] c2], (for_range 0 n 1 f' (x', k', c1')) as [[x1' a1'] c2']; exact L] end end.
  apply range_rel; [split; within|]. intros e [[x1 a1] c1] [[x1' a1'] c1'] [H H']. unfold P, casgd_centre_body; cbv zeta.
  assert (all (upd x1 e (x1 e / a)%K) (upd x1' e (x1' e / a')%K)) by (apply all_upd; within). split; within.
Qed.
End Mean.

Section Loops.
Context (xbar : nat -> @K A) (xbar' : nat -> @K B) (theta : @K A) (theta' : @K B).
Hypothesis (Hxbar : all xbar xbar') (Htheta : R theta theta').

Definition sgd_alike (st : @K A * @K A * @K A * (nat -> @K A) * @K A * nat) (st' : @K B * @K B * @K B * (nat -> @K B) * @K B * nat) :=
  let '(t1, p1, g1, v1, a1, _) := st in let '(t2, p2, g2, v2, a2, _) := st' in R t1 t2 /\ R p1 p2 /\ R g1 g2 /\ all v1 v2 /\ R a1 a2.
Lemma sgd_body_in e st st' : sgd_alike st st' ->
  let a := sgd_steps_body X y weight lam dloss indices t0 e st in let b := sgd_steps_body X' y' weight' lam' dloss' indices t0' e st' in
  fst a = false /\ fst b = false /\ sgd_alike (snd a) (snd b).
Proof.
  destruct st as [[[[[t1 p1] g1] v1] a1] cost1], st' as [[[[[t2 p2] g2] v2] a2] cost2]. intros (Ht & Hp & Hg & Hv & Ha). unfold sgd_steps_body; cbv zeta. 
  dots v1 v2 Hv.  rewrite self_a, self_b. adds v1 v2 Hv.
  cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. unfold sgd_alike. repeat split; within.
Qed.
Lemma sgd_steps_in T c c' :
  let '(v1, t1, a1, p1, g1, _) := sgd_steps X y weight lam dloss indices T t0 K0 zeros K0 c in
  let '(v2, t2, a2, p2, g2, _) := sgd_steps X' y' weight' lam' dloss' indices T t0' K0 zeros K0 c' in
  all v1 v2 /\ R t1 t2 /\ R a1 a2 /\ R p1 p2 /\ R g1 g2.
Proof.
  unfold sgd_steps; cbv zeta. destruct (zeros_equal C) as [-> ->]. 
  adds (@zeros A) (@zeros B) all_zeros. 
  let fa := constr:(sgd_steps_body X y weight lam dloss indices t0) in let fb := constr:(sgd_steps_body X' y' weight' lam' dloss' indices t0') in
  match goal with |- context [for_break 1 T 1 fa ?s0] => match goal with |- context [for_break 1 T 1 fb ?s0'] =>
    assert (L : sgd_alike (for_break 1 T 1 fa s0) (for_break 1 T 1 fb s0'));
      [apply break_rel; [|intros; now apply sgd_body_in]|destruct (for_break 1 T 1 fa s0) as [[[[[t3 p3] g3] v3] a3] cost3], (for_break 1 T 1 fb s0') as [[[[[t4 p4] g4] v4] a4] cost4]] end end.
  - unfold sgd_alike. repeat split; within.
  - unfold sgd_alike in L. repeat (let H := fresh in destruct L as [H L]). repeat split; assumption.
Qed.

Definition asgd_alike (st : @K A * @K A * @K A * (nat -> @K A) * (nat -> @K A) * @K A * @K A * @K A * @K A * nat) (st' : @K B * @K B * @K B * (nat -> @K B) * (nat -> @K B) * @K B * @K B * @K B * @K B * nat) :=
  let '(t1, p1, g1, v1, u1, a1, c1, h1, total1, _) := st in let '(t2, p2, g2, v2, u2, a2, c2, h2, total2, _) := st' in R t1 t2 /\ R p1 p2 /\ R g1 g2 /\ all v1 v2 /\ all u1 u2 /\ R a1 a2 /\ R c1 c2 /\ R h1 h2 /\ R total1 total2.
Lemma asgd_body_in e st st' : asgd_alike st st' ->
  let a := asgd_steps_body X y weight lam dloss indices t0 omega e st in let b := asgd_steps_body X' y' weight' lam' dloss' indices t0' omega' e st' in
  fst a = false /\ fst b = false /\ asgd_alike (snd a) (snd b).
Proof.
  destruct st as [[[[[[[[[t1 p1] g1] v1] u1] a1] c1] h1] total1] cost1], st' as [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]. intros (Ht & Hp & Hg & Hv & Hu & Ha & Hc & Hh & Htotal). unfold asgd_steps_body; cbv zeta. 
  dots v1 v2 Hv.  rewrite self_a, self_b. adds_both v1 v2 u1 u2 Hv Hu.
  cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. unfold asgd_alike. repeat split; within.
Qed.
Lemma asgd_steps_in T c c' :
  let '(v1, u1, t1, a1, c1, h1, total1, p1, g1, _) := asgd_steps X y weight lam dloss indices T t0 omega K0 zeros zeros K0 K0 K0 K0 c in
  let '(v2, u2, t2, a2, c2, h2, total2, p2, g2, _) := asgd_steps X' y' weight' lam' dloss' indices T t0' omega' K0 zeros zeros K0 K0 K0 K0 c' in
  all v1 v2 /\ all u1 u2 /\ R t1 t2 /\ R a1 a2 /\ R c1 c2 /\ R h1 h2 /\ R total1 total2 /\ R p1 p2 /\ R g1 g2.
Proof.
  unfold asgd_steps; cbv zeta. destruct (zeros_equal C) as [-> ->]. 
  adds (@zeros A) (@zeros B) all_zeros. 
  let fa := constr:(asgd_steps_body X y weight lam dloss indices t0 omega) in let fb := constr:(asgd_steps_body X' y' weight' lam' dloss' indices t0' omega') in
  match goal with |- context [for_break 1 T 1 fa ?s0] => match goal with |- context [for_break 1 T 1 fb ?s0'] =>
    assert (L : asgd_alike (for_break 1 T 1 fa s0) (for_break 1 T 1 fb s0'));
      [apply break_rel; [|intros; now apply asgd_body_in]|destruct (for_break 1 T 1 fa s0) as [[[[[[[[[t3 p3] g3] v3] u3] a3] c3] h3] total3] cost3], (for_break 1 T 1 fb s0') as [[[[[[[[[t4 p4] g4] v4] u4] a4] c4] h4] total4] cost4]] end end.
  - unfold asgd_alike. repeat split; within.
  - unfold asgd_alike in L. repeat (let H := fresh in destruct L as [H L]). repeat split; assumption.
Qed.

Definition csgd_alike (st : @K A * @K A * @K A * (nat -> @K A) * @K A * @K A * @K A * nat) (st' : @K B * @K B * @K B * (nat -> @K B) * @K B * @K B * @K B * nat) :=
  let '(t1, p1, g1, v1, a1, z1, r1, _) := st in let '(t2, p2, g2, v2, a2, z2, r2, _) := st' in R t1 t2 /\ R p1 p2 /\ R g1 g2 /\ all v1 v2 /\ R a1 a2 /\ R z1 z2 /\ R r1 r2.
Lemma csgd_body_in e st st' : csgd_alike st st' ->
  let a := csgd_steps_body X y weight lam dloss indices t0 xbar theta zeros 0 e st in let b := csgd_steps_body X' y' weight' lam' dloss' indices t0' xbar' theta' zeros 0 e st' in
  fst a = false /\ fst b = false /\ csgd_alike (snd a) (snd b).
Proof.
  destruct st as [[[[[[[t1 p1] g1] v1] a1] z1] r1] cost1], st' as [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]. intros (Ht & Hp & Hg & Hv & Ha & Hz & Hr). unfold csgd_steps_body; cbv zeta. cbn [Nat.eqb negb].
  dots v1 v2 Hv. dots xbar xbar' Hxbar. rewrite self_a, self_b. adds v1 v2 Hv.
  cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. unfold csgd_alike. repeat split; within.
Qed.
Lemma csgd_steps_in T c c' :
  let '(v1, t1, a1, z1, r1, p1, g1, _) := csgd_steps X y weight lam dloss indices T t0 xbar theta zeros 0 K0 zeros K0 K0 K0 c in
  let '(v2, t2, a2, z2, r2, p2, g2, _) := csgd_steps X' y' weight' lam' dloss' indices T t0' xbar' theta' zeros 0 K0 zeros K0 K0 K0 c' in
  all v1 v2 /\ R t1 t2 /\ R a1 a2 /\ R z1 z2 /\ R r1 r2 /\ R p1 p2 /\ R g1 g2.
Proof.
  unfold csgd_steps; cbv zeta. destruct (zeros_equal C) as [-> ->]. cbn [Nat.eqb negb].
  adds (@zeros A) (@zeros B) all_zeros. dots xbar xbar' Hxbar.
  let fa := constr:(csgd_steps_body X y weight lam dloss indices t0 xbar theta zeros 0) in let fb := constr:(csgd_steps_body X' y' weight' lam' dloss' indices t0' xbar' theta' zeros 0) in
  match goal with |- context [for_break 1 T 1 fa ?s0] => match goal with |- context [for_break 1 T 1 fb ?s0'] =>
    assert (L : csgd_alike (for_break 1 T 1 fa s0) (for_break 1 T 1 fb s0'));
      [apply break_rel; [|intros; now apply csgd_body_in]|destruct (for_break 1 T 1 fa s0) as [[[[[[[t3 p3] g3] v3] a3] z3] r3] cost3], (for_break 1 T 1 fb s0') as [[[[[[[t4 p4] g4] v4] a4] z4] r4] cost4]] end end.
  - unfold csgd_alike. repeat split; within.
  - unfold csgd_alike in L. repeat (let H := fresh in destruct L as [H L]). repeat split; assumption.
Qed.

Definition casgd_alike (st : @K A * @K A * @K A * (nat -> @K A) * (nat -> @K A) * @K A * @K A * @K A * @K A * @K A * @K A * @K A * nat) (st' : @K B * @K B * @K B * (nat -> @K B) * (nat -> @K B) * @K B * @K B * @K B * @K B * @K B * @K B * @K B * nat) :=
  let '(t1, p1, g1, v1, u1, a1, c1, h1, total1, z1, r1, s1, _) := st in let '(t2, p2, g2, v2, u2, a2, c2, h2, total2, z2, r2, s2, _) := st' in R t1 t2 /\ R p1 p2 /\ R g1 g2 /\ all v1 v2 /\ all u1 u2 /\ R a1 a2 /\ R c1 c2 /\ R h1 h2 /\ R total1 total2 /\ R z1 z2 /\ R r1 r2 /\ R s1 s2.
Lemma casgd_body_in e st st' : casgd_alike st st' ->
  let a := casgd_steps_body X y weight lam dloss indices t0 omega xbar theta zeros 0 e st in let b := casgd_steps_body X' y' weight' lam' dloss' indices t0' omega' xbar' theta' zeros 0 e st' in
  fst a = false /\ fst b = false /\ casgd_alike (snd a) (snd b).
Proof.
  destruct st as [[[[[[[[[[[[t1 p1] g1] v1] u1] a1] c1] h1] total1] z1] r1] s1] cost1], st' as [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]. intros (Ht & Hp & Hg & Hv & Hu & Ha & Hc & Hh & Htotal & Hz & Hr & Hs). unfold casgd_steps_body; cbv zeta. cbn [Nat.eqb negb].
  dots v1 v2 Hv. dots xbar xbar' Hxbar. rewrite self_a, self_b. adds_both v1 v2 u1 u2 Hv Hu.
  cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. unfold casgd_alike. repeat split; within.
Qed.
Lemma casgd_steps_in T c c' :
  let '(v1, u1, t1, a1, c1, h1, total1, z1, r1, s1, p1, g1, _) := casgd_steps X y weight lam dloss indices T t0 omega xbar theta zeros 0 K0 zeros zeros K0 K0 K0 K0 K0 K0 K0 c in
  let '(v2, u2, t2, a2, c2, h2, total2, z2, r2, s2, p2, g2, _) := casgd_steps X' y' weight' lam' dloss' indices T t0' omega' xbar' theta' zeros 0 K0 zeros zeros K0 K0 K0 K0 K0 K0 K0 c' in
  all v1 v2 /\ all u1 u2 /\ R t1 t2 /\ R a1 a2 /\ R c1 c2 /\ R h1 h2 /\ R total1 total2 /\ R z1 z2 /\ R r1 r2 /\ R s1 s2 /\ R p1 p2 /\ R g1 g2.
Proof.
  unfold casgd_steps; cbv zeta. destruct (zeros_equal C) as [-> ->]. cbn [Nat.eqb negb].
  adds (@zeros A) (@zeros B) all_zeros. dots xbar xbar' Hxbar.
  let fa := constr:(casgd_steps_body X y weight lam dloss indices t0 omega xbar theta zeros 0) in let fb := constr:(casgd_steps_body X' y' weight' lam' dloss' indices t0' omega' xbar' theta' zeros 0) in
  match goal with |- context [for_break 1 T 1 fa ?s0] => match goal with |- context [for_break 1 T 1 fb ?s0'] =>
    assert (L : casgd_alike (for_break 1 T 1 fa s0) (for_break 1 T 1 fb s0'));
      [apply break_rel; [|intros; now apply casgd_body_in]|destruct (for_break 1 T 1 fa s0) as [[[[[[[[[[[[t3 p3] g3] v3] u3] a3] c3] h3] total3] z3] r3] s3] cost3], (for_break 1 T 1 fb s0') as [[[[[[[[[[[[t4 p4] g4] v4] u4] a4] c4] h4] total4] z4] r4] s4] cost4]] end end.
  - unfold casgd_alike. repeat split; within.
  - unfold casgd_alike in L. repeat (let H := fresh in destruct L as [H L]). repeat split; assumption.
Qed.
End Loops.

Ltac close := unfold end_alike; split; [intros k; within|within].

Lemma run_sgd_in T : end_alike R (run_sgd X y weight dloss lam t0 indices T) (run_sgd X' y' weight' dloss' lam' t0' indices T).
Proof.
  unfold run_sgd. pose proof (sgd_steps_in T 0%nat 0%nat) as L.
  destruct (sgd_steps X _ _ _ _ _ _ _ _ _ _ _) as [[[[[v1 t1] a1] p1] g1] c1], (sgd_steps X' _ _ _ _ _ _ _ _ _ _ _) as [[[[[v2 t2] a2] p2] g2] c2].
  destruct L as (Hv & Ht & Ha & _). unfold sgd_last; cbv zeta. close.
Qed.
Lemma run_asgd_in T : end_alike R (run_asgd X y weight dloss lam t0 indices T omega) (run_asgd X' y' weight' dloss' lam' t0' indices T omega').
Proof.
  unfold run_asgd. pose proof (asgd_steps_in T 0%nat 0%nat) as L.
  destruct (asgd_steps X _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[v1 u1] t1] a1] c1] h1] total1] p1] g1] cost1],
    (asgd_steps X' _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[v2 u2] t2] a2] c2] h2] total2] p2] g2] cost2].
  destruct L as (Hv & Hu & Ht & Ha & Hc & Hh & Htotal & _). unfold asgd_average; cbv zeta. close.
Qed.
Lemma run_csgd_in T n m : end_alike R (run_csgd X y weight dloss lam t0 indices T n m) (run_csgd X' y' weight' dloss' lam' t0' indices T n m).
Proof.
  unfold run_csgd. pose proof (mean_in n m) as M. destruct (the_mean X _ _ _) as [[xb th] c], (the_mean X' _ _ _) as [[xb' th'] c']. destruct M as [Hx Hth].
  pose proof (csgd_steps_in xb xb' th th' Hx Hth T c c') as L.
  destruct (csgd_steps X _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[v1 t1] a1] z1] r1] p1] g1] cost1],
    (csgd_steps X' _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[v2 t2] a2] z2] r2] p2] g2] cost2].
  destruct L as (Hv & Ht & Ha & Hz & Hr & _). unfold csgd_last; cbv zeta. close.
Qed.
Lemma run_casgd_in T n m : end_alike R (run_casgd X y weight dloss lam t0 indices T omega n m) (run_casgd X' y' weight' dloss' lam' t0' indices T omega' n m).
Proof.
  unfold run_casgd. pose proof (mean_in n m) as M. destruct (the_mean X _ _ _) as [[xb th] c], (the_mean X' _ _ _) as [[xb' th'] c']. destruct M as [Hx Hth].
  pose proof (casgd_steps_in xb xb' th th' Hx Hth T c c') as L.
  destruct (casgd_steps X _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[[[[v1 u1] t1] a1] c1] h1] total1] z1] r1] s1] p1] g1] cost1],
    (casgd_steps X' _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[[[[v2 u2] t2] a2] c2] h2] total2] z2] r2] s2] p2] g2] cost2].
  destruct L as (Hv & Hu & Ht & Ha & Hc & Hh & Htotal & Hz & Hr & Hs & _). unfold casgd_average; cbv zeta. close.
Qed.
End Inclusion.

Theorem alike {A B : Ops} (U : @Undef A) (V : @Undef B) (R : @K A -> @K B -> Prop) : follows R -> runs_alike R.
Proof.
  intros C X X' y y' s s' dloss dloss' lam lam' t0 t0' indices T omega omega' n m Hc Hp Hd Hy Hs Ho Hl Ht Hdl. split; [|split; [|split]].
  - exact (run_sgd_in R C X X' Hc Hp Hd y s y' s' dloss dloss' lam t0 lam' t0' indices Hy Hs Hl Ht Hdl T).
  - exact (run_asgd_in R C X X' Hc Hp Hd y s y' s' dloss dloss' lam t0 lam' t0' indices omega omega' Hy Hs Ho Hl Ht Hdl T).
  - exact (run_csgd_in R C X X' Hc Hp Hd y s y' s' dloss dloss' lam t0 lam' t0' indices Hy Hs Hl Ht Hdl T n m).
  - exact (run_casgd_in R C X X' Hc Hp Hd y s y' s' dloss dloss' lam t0 lam' t0' indices omega omega' Hy Hs Ho Hl Ht Hdl T n m).
Qed.

(* a field is followed by whatever contains its numbers *)
Section Contained.
Context (A : Fld) (B : Ops) (R : @K (@Fops A) -> @K B -> Prop).
Add Field KA : (@Kfield A).
Lemma contained : contains R -> follows R.
Proof.
  intros C. destruct C. constructor; auto.
  - split; [apply Keqb_refl|assumption].
  - split; [|assumption]. intros x. unfold finite. rewrite Kself_is. apply Keqb_eq. ring.
  - intros g c Hg Hc. apply Keqb_eq. eauto.
  - intros h g Hg. apply Keqb_eq in Hg. apply Keqb_eq. rewrite Hg. ring.
  - intros g c x b y d Hg G Hx Hy. apply Keqb_eq in G. replace x with (x + g * y)%K by (rewrite G; ring). auto.
Qed.
End Contained.

Theorem inclusion_holds : inclusion.
Proof. intros A B U V R C. apply alike, contained, C. Qed.
