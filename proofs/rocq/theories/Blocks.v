(* The loops cut into blocks of steps, and their exit where a prediction overflows, in any arithmetic. *)
Require Import Base Generated Statements Sparse.

(* ---------- what is paid changes no result ---------- *)
Definition costless {S : Type} (f : nat -> S * nat) := forall c c', fst (f c) = fst (f c').

Lemma loop_costless {S} n e step (f : nat -> S * nat -> S * nat) : (forall e s, costless (fun c => f e (s, c))) ->
  forall s, costless (fun c => loop n e step f (s, c)).
Proof.
  intros H. revert e. induction n; intros e s c c'; cbn [loop]; [reflexivity|].
  pose proof (H e s c c') as E. cbv beta in E. destruct (f e (s, c)), (f e (s, c')). cbn [fst] in E. subst. apply IHn.
Qed.

Ltac tuples := repeat match goal with x : (_ * _)%type |- _ => destruct x end.
(* the same call at two costs *)
Ltac twice H := cbv beta in H; match type of H with fst ?a = fst ?b => destruct a, b; cbn [fst] in H; subst; tuples end.
Ltac range := unfold for_range;
  match goal with |- context [loop ?n ?e ?step ?f (?s, ?c)] => match goal with |- context [loop n e step f (s, ?c')] =>
    lazymatch c' with c => fail | _ => let H := fresh in
      assert (H : forall place st, costless (fun paid => f place (st, paid))); [|let E := fresh in pose proof (loop_costless n e step f H s c c') as E; clear H; twice E] end end end.

Ltac body := intros ? ? ? ?; tuples; reflexivity.

Section Costs.
Context {Ar : Ops} {U : Undef}.

Lemma dot_costless v X i : costless (sparse_dot v X i).
Proof. intros c c'. unfold sparse_dot, sparse_entries; cbv zeta. range; [body|]. range; [body|reflexivity]. Qed.
Lemma add_costless v g X i : costless (sparse_add v g X i).
Proof. intros c c'. unfold sparse_add, sparse_entries; cbv zeta. destruct (negb _); [|reflexivity]. range; [body|reflexivity]. Qed.
Lemma add_both_costless v g u hg X i : costless (sparse_add_both v g u hg X i).
Proof. intros c c'. unfold sparse_add_both, sparse_entries; cbv zeta. destruct (negb _); [|reflexivity]. range; [body|reflexivity]. Qed.
Lemma q_costless len projections xbar X i : costless (fun c => if negb (Nat.eqb len 0) then (projections i, c) else sparse_dot xbar X i c).
Proof. intros c c'. destruct (negb _); [reflexivity|apply dot_costless]. Qed.

Lemma dot_of_costless w X i d k : costless (batch_dot_of w X i d k).
Proof. intros c c'. unfold batch_dot_of, sparse_entries; cbv zeta. range; [body|]. range; [body|reflexivity]. Qed.
Lemma add_to_costless w g hg X i k : costless (batch_add_to w g hg X i k).
Proof. intros c c'. unfold batch_add_to, sparse_entries; cbv zeta. range; [body|reflexivity]. Qed.

End Costs.

Ltac pay := match goal with
  | |- context [sparse_dot ?v ?X ?i ?c] => match goal with |- context [sparse_dot v X i ?c'] => lazymatch c' with c => fail | _ => let E := fresh in pose proof (dot_costless v X i c c') as E; twice E end end
  | |- context [sparse_add_both ?v ?g ?u ?hg ?X ?i ?c] => match goal with |- context [sparse_add_both v g u hg X i ?c'] => lazymatch c' with c => fail | _ => let E := fresh in pose proof (add_both_costless v g u hg X i c c') as E; twice E end end
  | |- context [sparse_add ?v ?g ?X ?i ?c] => match goal with |- context [sparse_add v g X i ?c'] => lazymatch c' with c => fail | _ => let E := fresh in pose proof (add_costless v g X i c c') as E; twice E end end
  | |- context [batch_dot_of ?w ?X ?i ?d ?k ?c] => match goal with |- context [batch_dot_of w X i d k ?c'] => lazymatch c' with c => fail | _ => let E := fresh in pose proof (dot_of_costless w X i d k c c') as E; twice E end end
  | |- context [batch_add_to ?w ?g ?hg ?X ?i ?k ?c] => match goal with |- context [batch_add_to w g hg X i k ?c'] => lazymatch c' with c => fail | _ => let E := fresh in pose proof (add_to_costless w g hg X i k c c') as E; twice E end end
  end.

Section AllModels.
Context {Ar : Ops} {U : Undef}.
Lemma dots_costless w models X i d : costless (batch_dots w models X i d).
Proof.
  intros c c'. unfold batch_dots; cbv zeta. range; [body|]. range.
  { intros ? ? ? ?; tuples. unfold batch_dots_body3; cbv zeta. range; [|reflexivity]. intros ? ? ? ?; unfold batch_dots_body2; cbv zeta. pay. reflexivity. }
  range; [|reflexivity]. intros ? ? ? ?; unfold batch_dots_body4; cbv zeta. pay. reflexivity.
Qed.
Lemma add_to_all_costless w models g hg X i : costless (batch_add_to_all w models g hg X i).
Proof.
  intros c c'. unfold batch_add_to_all; cbv zeta. range; [body|]. match goal with |- context [if ?b then _ else _] => destruct b end; [|reflexivity]. range.
  { intros ? ? ? ?; tuples. unfold batch_add_to_all_body3; cbv zeta. range; [|reflexivity]. intros ? ? ? ?; unfold batch_add_to_all_body2; cbv zeta. pay. reflexivity. }
  range; [|reflexivity]. intros ? ? ? ?; unfold batch_add_to_all_body4; cbv zeta. pay. reflexivity.
Qed.
End AllModels.

(* ---------- a loop that may end, cut in two ---------- *)
Definition less_cost {S : Type} (stepped : bool * (S * nat)) := (fst stepped, fst (snd stepped)).

Lemma break_same {S} (f g : nat -> S * nat -> bool * (S * nat)) : (forall j s c c', less_cost (f j (s, c)) = less_cost (g j (s, c'))) ->
  forall n e s c c', fst (loop_break n e 1 f (s, c)) = fst (loop_break n e 1 g (s, c')).
Proof.
  intros H n. induction n; intros e s c c'; cbn [loop_break]; [reflexivity|]. pose proof (H e s c c') as E.
  destruct (f e (s, c)) as [b [s1 c1]], (g e (s, c')) as [b' [s1' c1']]. injection E as -> ->. destruct b'; [reflexivity|apply IHn].
Qed.

(* what in_pieces and overflow say of a loop *)
Definition cut {Ar : Ops} (l : shipped) :=
  (forall s T1 T2, let s1 := fst (run l 0 T1 s) in
    1 <= T1 -> 1 <= T2 -> ok l s1 = true -> Keqb (t_of l s1) K0 = false -> fst (run l T1 T2 s1) = fst (run l 0 (T1 + T2) s))
  /\ forall s T0 T, T0 < T -> 1 <= T0 \/ Keqb (t_of l s) K0 = false ->
    (forall T1, 1 <= T1 <= T0 -> ok l (fst (run l 0 T1 s)) = true) -> ok l (fst (run l 0 (S T0) s)) = false ->
    run l 0 T s = run l 0 (S T0) s /\ kept_of l (fst (run l 0 T s)) = kept_of l (fst (run l 0 T0 s)).

Section Cut.
Context {Ar : Ops} (l : shipped) {S : Type} (f : nat -> S * nat -> bool * (S * nat)) (out : S * nat -> state l * nat) (enter : state l -> S).
Definition leave s := fst (out (s, 0)).
Hypothesis out_costless : forall s, costless (fun c => out (s, c)).
Hypothesis same_step : forall j s c c', less_cost (f j (s, c)) = less_cost (f j (enter (leave s), c')).
Hypothesis ends : forall j s, fst (f j s) = negb (ok l (leave (fst (snd (f j s)))))
  /\ (fst (f j s) = true -> kept_of l (leave (fst (snd (f j s)))) = kept_of l (leave (fst s))).
Hypothesis later : forall first T st, Keqb (t_of l st) K0 = false -> run l first T st = out (loop_break T 0 1 (fun j => f (first + j)) (enter st, 3)).
Hypothesis begins : forall st, Keqb (t_of l st) K0 = true -> exists s, forall T, run l 0 T st = out (loop_break (T - 1) 1 1 f s).

Lemma leaves s : fst (out s) = leave (fst s).
Proof. destruct s. apply out_costless. Qed.

Lemma break_shift n m e s : loop_break n e 1 (fun j => f (m + j)) s = loop_break n (m + e) 1 f s.
Proof. revert e s. induction n; intros e s; cbn [loop_break]; [reflexivity|]. destruct (f (m + e) s) as [b s1]. now rewrite IHn, Nat.add_assoc. Qed.

Lemma break_app m n e s : m = 0 \/ ok l (leave (fst (loop_break m e 1 f s))) = true ->
  loop_break (m + n) e 1 f s = loop_break n (e + m) 1 f (loop_break m e 1 f s).
Proof.
  revert e s. induction m; intros e s H; [now rewrite Nat.add_0_r|]. destruct H as [H|H]; [discriminate|]. cbn [Nat.add loop_break] in *.
  pose proof (proj1 (ends e s)) as E. destruct (f e s) as [b s1]. cbn [fst snd] in E. destruct b.
  - rewrite H in E. discriminate.
  - replace (e + Datatypes.S m) with (e + 1 + m) by lia. apply IHm. auto.
Qed.

Lemma break_costless n e s c c' : fst (loop_break n e 1 f (s, c)) = fst (loop_break n e 1 f (s, c')).
Proof. apply break_same. intros j st d d'. now rewrite (same_step j st d 0), (same_step j st d' 0). Qed.
Lemma break_enter n e s c c' : 1 <= n -> fst (loop_break n e 1 f (enter (leave s), c)) = fst (loop_break n e 1 f (s, c')).
Proof.
  intros Hn. destruct n; [lia|]. cbn [loop_break]. pose proof (same_step e s c' c) as E.
  destruct (f e (s, c')) as [b [s1 c1]], (f e (enter (leave s), c)) as [b' [s1' c1']]. injection E as -> ->. destruct b'; [reflexivity|apply break_costless].
Qed.

Lemma pieces st T1 T2 : let s1 := fst (run l 0 T1 st) in
  1 <= T1 -> 1 <= T2 -> ok l s1 = true -> Keqb (t_of l s1) K0 = false -> fst (run l T1 T2 s1) = fst (run l 0 (T1 + T2) st).
Proof.
  intros s1 H1 H2 Hok Ht. rewrite later by exact Ht. subst s1.
  assert (M : forall k s, k <= 1 -> (forall T, run l 0 T st = out (loop_break (T - k) k 1 f s)) ->
    fst (out (loop_break T2 0 1 (fun j => f (T1 + j)) (enter (fst (run l 0 T1 st)), 3))) = fst (run l 0 (T1 + T2) st)).
  { intros k s Hk E. rewrite !E, !leaves in *. f_equal. replace (T1 + T2 - k) with (T1 - k + T2) by lia. rewrite break_app by auto.
    rewrite break_shift, Nat.add_0_r. replace (k + (T1 - k)) with T1 by lia. destruct (loop_break (T1 - k) k 1 f s) as [s2 c2]. now apply break_enter. }
  destruct (Keqb (t_of l st) K0) eqn:E; [destruct (begins st E) as [s Hs]; now apply (M 1 s)|].
  apply (M 0 (enter st, 3)); [lia|]. intros T. now rewrite later, Nat.sub_0_r by exact E.
Qed.

Lemma exit st T0 T : T0 < T -> 1 <= T0 \/ Keqb (t_of l st) K0 = false ->
  (forall T1, 1 <= T1 <= T0 -> ok l (fst (run l 0 T1 st)) = true) -> ok l (fst (run l 0 (Datatypes.S T0) st)) = false ->
  run l 0 T st = run l 0 (Datatypes.S T0) st /\ kept_of l (fst (run l 0 T st)) = kept_of l (fst (run l 0 T0 st)).
Proof.
  intros HT Hfirst Hok Hoff.
  assert (M : forall k s, k <= T0 -> k <= 1 -> (forall T, run l 0 T st = out (loop_break (T - k) k 1 f s)) ->
    run l 0 T st = run l 0 (Datatypes.S T0) st /\ kept_of l (fst (run l 0 T st)) = kept_of l (fst (run l 0 T0 st))).
  { intros k s Hk Hk' E. rewrite !E, !leaves in *. set (s0 := loop_break (T0 - k) k 1 f s) in *.
    assert (H0 : T0 - k = 0 \/ ok l (leave (fst s0)) = true).
    { destruct (Nat.eq_dec (T0 - k) 0); [auto|]. right. specialize (Hok T0 ltac:(lia)). rewrite E, leaves in Hok. exact Hok. }
    assert (A : forall n, loop_break (T0 - k + n) k 1 f s = loop_break n T0 1 f s0).
    { intros n. rewrite break_app by exact H0. now replace (k + (T0 - k)) with T0 by lia. }
    replace (Datatypes.S T0 - k) with (T0 - k + 1) in * by lia. replace (T - k) with (T0 - k + Datatypes.S (T - T0 - 1)) by lia. rewrite !A in *. cbn [loop_break] in *.
    pose proof (ends T0 s0) as [En Un]. destruct (f T0 s0) as [b s1]. cbn [fst snd] in *. destruct b; [auto|].
    rewrite Hoff in En. discriminate. }
  destruct (Keqb (t_of l st) K0) eqn:E.
  - destruct Hfirst as [Hfirst|]; [|discriminate]. destruct (begins st E) as [s Hs]. now apply (M 1 s).
  - apply (M 0 (enter st, 3)); [lia|lia|]. intros T'. now rewrite later, Nat.sub_0_r by exact E.
Qed.

Lemma cut_ok : cut l. Proof. split; [exact pieces|exact exit]. Qed.
End Cut.

(* ---------- the shipped loops are such loops ---------- *)
Section Shipped.
Context {Ar : Ops} {U : Undef} (X : rows) (sample_weight : nat -> K) (dloss : K -> K -> K) (indices : nat -> nat) (omega : nat -> K).
Context (y : nat -> K) (lam t0 : K) (models : nat) (ys : nat -> nat -> K) (lams t0s : nat -> K).
Context (xbar : nat -> K) (theta : K) (projections : nat -> K) (len : nat).

Definition sgd_out (st : K * K * K * (nat -> K) * K * nat) := let '(t, p, g, v, a, cost) := st in (v, t, a, p, g, cost + 1).
Definition asgd_out (st : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * nat) := let '(t, p, g, v, u, a, c, h, total, cost) := st in (v, u, t, a, c, h, total, p, g, cost + 1).
Definition csgd_out (st : K * K * K * (nat -> K) * K * K * K * nat) := let '(t, p, g, v, a, z, r, cost) := st in (v, t, a, z, r, p, g, cost + 1).
Definition casgd_out (st : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat) := let '(t, p, g, v, u, a, c, h, total, z, r, s, cost) := st in (v, u, t, a, c, h, total, z, r, s, p, g, cost + 1).
Ltac bodies := cbv beta iota delta [leave fst sgd_out asgd_out csgd_out casgd_out sgd_steps_body asgd_steps_body csgd_steps_body casgd_steps_body] zeta.
Ltac both lemma c c' := lazymatch c' with c => fail | _ => let E := fresh in pose proof (lemma c c') as E; twice E end.
Ltac overflows := match goal with |- context [if negb (Keqb (Kself ?p) K0) then _ else _] =>
  let H := fresh "EK" in destruct (Keqb (Kself p) K0) eqn:H end; cbn [negb].
Ltac q_of tac := match goal with |- context [if negb (Nat.eqb len 0) then (projections ?i, ?c) else _] => tac i c end.
(* one step, from two states that differ in the cost and in p and g, which it does not read *)
Ltac same := intros ? ? ? ?; tuples; bodies; pay; try q_of ltac:(fun i c => match goal with |- context [(projections i, ?c')] =>
  lazymatch c' with c => fail | _ => let E := fresh in pose proof (q_costless len projections xbar X i c c') as E; twice E end end);
  overflows; [pay|]; reflexivity.
Ltac runs := repeat match goal with
  | |- context [sparse_dot ?v X ?i ?c] => lazymatch v with xbar => fail | _ => destruct (sparse_dot v X i c) end
  | |- context [sparse_add ?v ?g X ?i ?c] => destruct (sparse_add v g X i c)
  | |- context [sparse_add_both ?v ?g ?u ?hg X ?i ?c] => destruct (sparse_add_both v g u hg X i c); tuples
  end; try q_of ltac:(fun i c => destruct (if negb (Nat.eqb len 0) then (projections i, c) else sparse_dot xbar X i c)).
Ltac step := intros ? ?; tuples; bodies; runs; overflows; runs; (split; [|first [discriminate | reflexivity]]);
  cbv beta iota delta [fst snd ok finite sgd_loop asgd_loop csgd_loop casgd_loop];
    match goal with H : Keqb _ _ = _ |- _ => rewrite H; reflexivity end.
Ltac opened := repeat match goal with x : state _ |- _ => destruct x as [? ?] | x : (_ * _)%type |- _ => destruct x end;
  cbv beta iota delta [t_of run sgd_loop asgd_loop csgd_loop casgd_loop sgd_steps asgd_steps csgd_steps casgd_steps for_break] zeta.
Ltac late := intros first T st; opened; intros H; rewrite H, count1, Nat.sub_0_r; reflexivity.
Ltac starts := intros st; opened; intros H; rewrite H; runs;
  match goal with |- context [loop_break _ 1 1 _ ?s] => exists s end; intros T; rewrite count1; reflexivity.
Ltac cuts := [> intros ? ? ?; tuples; reflexivity | same | step | late | starts].

Notation sgd := (sgd_loop X sample_weight dloss indices y lam t0).
Lemma sgd_cut : cut sgd.
Proof.
  apply (cut_ok sgd (sgd_steps_body X y sample_weight lam dloss indices t0)
    sgd_out (fun '(v, t, a, p, g) => (t, undef, undef, v, a))); cuts.
Qed.
Lemma asgd_cut : cut (asgd_loop X sample_weight dloss indices omega y lam t0).
Proof.
  apply (cut_ok (asgd_loop X sample_weight dloss indices omega y lam t0) (asgd_steps_body X y sample_weight lam dloss indices t0 omega)
    asgd_out
    (fun '(v, u, t, a, c, h, total, p, g) => (t, undef, undef, v, u, a, c, h, total))); cuts.
Qed.
Lemma csgd_cut : cut (csgd_loop X sample_weight dloss indices y lam t0 xbar theta projections len).
Proof.
  apply (cut_ok (csgd_loop X sample_weight dloss indices y lam t0 xbar theta projections len)
    (csgd_steps_body X y sample_weight lam dloss indices t0 xbar theta projections len)
    csgd_out (fun '(v, t, a, z, r, p, g) => (t, undef, undef, v, a, z, r))); cuts.
Qed.
Lemma casgd_cut : cut (casgd_loop X sample_weight dloss indices omega y lam t0 xbar theta projections len).
Proof.
  apply (cut_ok (casgd_loop X sample_weight dloss indices omega y lam t0 xbar theta projections len)
    (casgd_steps_body X y sample_weight lam dloss indices t0 omega xbar theta projections len)
    casgd_out
    (fun '(v, u, t, a, c, h, total, z, r, s, p, g) => (t, undef, undef, v, u, a, c, h, total, z, r, s))); cuts.
Qed.

(* the loop for many models: `finite` says if all predictions are *)
Lemma all_finite t a r d q p c : exists p' c',
  for_range 0 models 1 (batch_steps_body2 lams t0s t a r d q) (p, true, c) = (p', forallb (fun k => finite (p' k)) (seq 0 models), c').
Proof.
  unfold for_range. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop models 0 1 ?f ?s] => pose proof (loop_ind (fun m (st : (nat -> K) * bool * nat) =>
    let '(p', finite_, _) := st in finite_ = forallb (fun k => finite (p' k)) (seq 0 m)) models 0 1 f s eq_refl) as L;
    destruct (loop models 0 1 f s) as [[p' finite_] c'] end.
  exists p', c'. rewrite L; [reflexivity|]. clear L. intros m [[p1 finite1] c1] _ ->. unfold batch_steps_body2; cbv zeta.
  rewrite Nat.mul_1_r, Nat.add_0_l, seq_S, forallb_app. cbn [forallb Nat.add]. rewrite Bool.andb_true_r. f_equal. clear.
  assert (E : forall b, m <= b -> forall v x, forallb (fun k => finite (v k)) (seq 0 m) = forallb (fun k => finite (upd v b x k)) (seq 0 m)).
  { intros b. induction m; intros Hb v x; [reflexivity|]. rewrite seq_S, !forallb_app, <- IHm by lia. cbn [forallb Nat.add]. unfold upd at 1.
    destruct (Nat.eqb_spec m b); [lia|reflexivity]. }
  now apply E.
Qed.

Notation batch := (batch_loop X sample_weight dloss indices omega models ys lams t0s xbar theta projections len).
Notation numbers := (nat -> K).
Definition batch_out (st : K * numbers * numbers * numbers * numbers * (nat -> nat -> nat -> K) * numbers * numbers * numbers * numbers * numbers * numbers * numbers * nat) :=
  let '(t, d, p, g, hg, w, a, c, h, total, z, r, s, cost) := st in (w, a, c, h, total, z, r, s, p, g, hg, d, t, cost + 1).
Lemma batch_cut : cut batch.
Proof.
  apply (cut_ok batch (batch_steps_body5 X ys sample_weight lams models dloss indices t0s omega xbar theta projections len models) batch_out
    (fun '(w, a, c, h, total, z, r, s, p, g, hg, d, t) => (t, d, p, g, hg, w, a, c, h, total, z, r, s))).
  - intros ? ? ?. tuples. reflexivity.
  - intros j st cost cost'. tuples. cbv beta iota delta [leave fst batch_out batch_steps_body5] zeta.
    match goal with |- context [batch_dots ?w ?m ?X ?i ?d ?c] => match goal with |- context [batch_dots w m X i d ?c'] => both (dots_costless w m X i d) c c' end end.
    q_of ltac:(fun i c => match goal with |- context [(projections i, ?c')] => both (q_costless len projections xbar X i) c c' end).
    range; [body|]. match goal with |- context [if negb ?b then _ else _] => destruct b end; [|reflexivity]. cbn [negb].
    range; [body|].
    match goal with |- context [batch_add_to_all ?w ?m ?g ?hg ?X ?i ?c] => match goal with |- context [batch_add_to_all w m g hg X i ?c'] => both (add_to_all_costless w m g hg X i) c c' end end.
    range; [body|reflexivity].
  - intros j st. tuples. cbv beta iota delta [leave fst snd batch_out batch_steps_body5] zeta.
    match goal with |- context [batch_dots ?w ?m ?X ?i ?d ?c] => destruct (batch_dots w m X i d c) as [d2 c2] end.
    q_of ltac:(fun i c => destruct (if negb (Nat.eqb len 0) then (projections i, c) else sparse_dot xbar X i c) as [q c3]).
    match goal with |- context [for_range 0 models 1 (batch_steps_body2 lams t0s ?t ?a ?r d2 q) (?p, true, ?c)] => destruct (all_finite t a r d2 q p c) as (p2 & c4 & ->) end.
    destruct (forallb (fun k => finite (p2 k)) (seq 0 models)) eqn:E; cbn [negb]; [|split; [cbn; now rewrite E|reflexivity]].
    match goal with |- context [for_range 0 models 1 (batch_steps_body3 ?a ?b ?c ?d ?e ?f) ?s] => destruct (for_range 0 models 1 (batch_steps_body3 a b c d e f) s); tuples end.
    match goal with |- context [batch_add_to_all ?w ?m ?g ?hg ?X ?i ?c] => destruct (batch_add_to_all w m g hg X i c) end.
    match goal with |- context [for_range 0 models 1 ?f ?s] => destruct (for_range 0 models 1 f s); tuples end.
    split; [cbn; now rewrite E|discriminate].
  - intros first T st. opened. cbv beta iota delta [t_of run batch_loop batch_steps for_break] zeta. intros H; rewrite H, count1, Nat.sub_0_r. reflexivity.
  - intros st. opened. cbv beta iota delta [t_of run batch_loop batch_steps for_break] zeta. intros H; rewrite H.
    q_of ltac:(fun i c => destruct (if negb (Nat.eqb len 0) then (projections i, c) else sparse_dot xbar X i c) as [q c3]).
    match goal with |- context [for_range 0 models 1 ?f ?s] => destruct (for_range 0 models 1 f s); tuples end.
    match goal with |- context [batch_add_to_all ?w ?m ?g ?hg ?X ?i ?c] => destruct (batch_add_to_all w m g hg X i c) end.
    match goal with |- context [loop_break _ 1 1 _ ?s] => exists s end. intros T. now rewrite count1.
Qed.
End Shipped.

Lemma shipped_cut {Ar : Ops} {U : Undef} X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len :
  Forall cut (shipped_loops X sample_weight dloss indices omega y lam t0 models ys lams t0s xbar theta projections len).
Proof. repeat apply Forall_cons; auto using sgd_cut, asgd_cut, csgd_cut, casgd_cut, batch_cut. Qed.

Theorem overflow_holds : overflow.
Proof. unfold overflow; intros; eapply Forall_impl; [|apply shipped_cut]. intros l [_ H]. exact H. Qed.

(* ---------- the passes over the rows ---------- *)
Lemma loop_app {S} m n e (f : nat -> S -> S) s : loop (m + n) e 1 f s = loop n (e + m) 1 f (loop m e 1 f s).
Proof. revert e s. induction m; intros e s; cbn [Nat.add loop]; [now rewrite Nat.add_0_r|]. rewrite IHm. f_equal. lia. Qed.

Theorem in_pieces_holds : in_pieces.
Proof.
  unfold in_pieces; intros. split; [eapply Forall_impl; [|apply shipped_cut]; intros l [H _]; exact H|]. intros m1 m2 sums total.
  assert (C : forall e (s : (nat -> K) * K), costless (fun c => casgd_add_up_body X sample_weight e (s, c))).
  { intros e s c c'; tuples. unfold casgd_add_up_body; cbv zeta. pay. reflexivity. }
  assert (D : forall e (s : nat -> K), costless (fun c => casgd_project_body X xbar e (s, c))).
  { intros e s c c'. unfold casgd_project_body; cbv zeta. pay. reflexivity. }
  unfold casgd_add_up, casgd_project, for_range; cbv zeta. rewrite !count1, !Nat.sub_0_r. replace (m1 + m2 - m1) with m2 by lia. rewrite !loop_app. cbn [Nat.add].
  match goal with |- context [loop m1 0 1 ?f (sums, total, ?c)] => destruct (loop m1 0 1 f (sums, total, c)) as [[sums1 total1] c1] end.
  match goal with |- context [loop m1 0 1 ?f (projections, ?c)] => destruct (loop m1 0 1 f (projections, c)) as [projections1 c2] end. cbn [fst]. split.
  - pose proof (loop_costless m2 m1 1 _ C (sums1, total1) 1 c1) as E. cbv beta in E. cbn [Nat.add] in *. twice E. reflexivity.
  - pose proof (loop_costless m2 m1 1 _ D projections1 1 c2) as E. cbv beta in E. cbn [Nat.add] in *. twice E. reflexivity.
Qed.

(* ---------- projections computed beforehand ---------- *)
Lemma project_is {Ar : Ops} {U : Undef} X xbar projections m i c : i < m -> fst (casgd_project X xbar 0 m projections c) i = fst (sparse_dot xbar X i 0).
Proof.
  unfold casgd_project, for_range; cbv zeta. rewrite count1, Nat.sub_0_r.
  match goal with |- context [loop m 0 1 ?f ?s] => pose proof (loop_ind (fun n (st : (nat -> K) * nat) => forall i, i < n ->
    fst st i = fst (sparse_dot xbar X i 0)) m 0 1 f s) as L; destruct (loop m 0 1 f s) as [found paid] end.
  apply L; [lia|]. intros n [p c1] _ IH k Hk. unfold casgd_project_body; cbv zeta. rewrite Nat.mul_1_r.
  match goal with |- context [sparse_dot xbar X ?a ?b] => pose proof (dot_costless xbar X a b 0) as E; destruct (sparse_dot xbar X a b) end.
  cbn [fst Nat.add] in *. unfold upd. destruct (Nat.eqb_spec k n) as [->|]; [exact E|apply IH; lia].
Qed.

Section Known.
Context {Ar : Ops} {U : Undef} (X : rows) (sample_weight : nat -> K) (dloss : K -> K -> K) (indices : nat -> nat) (omega : nat -> K).
Context (y : nat -> K) (lam t0 : K) (xbar : nat -> K) (theta : K).
Context (m : nat) (known : nat -> K).
Hypothesis drawn : forall j, indices j < m.
Hypothesis known_is : forall i, i < m -> known i = fst (sparse_dot xbar X i 0).

Lemma q_known i c c' : i < m -> fst (if negb (Nat.eqb m 0) then (known i, c) else sparse_dot xbar X i c) = fst (sparse_dot xbar X i c').
Proof. intros Hi. destruct (Nat.eqb_spec m 0); [lia|]. cbn [negb fst]. rewrite known_is by exact Hi. apply dot_costless. Qed.

(* the same step on both sides, but for the way to q *)
Ltac q_same := cbn [Nat.eqb negb]; match goal with |- ?one = ?other =>
  match one with context [if negb (Nat.eqb m 0) then (known ?i, ?c) else _] => match other with context [sparse_dot xbar X i ?c'] =>
  let E := fresh in pose proof (q_known i c c' (drawn _)) as E; twice E end end end.
Ltac known_body := intros ? ? ? ?; tuples; cbv beta iota delta [csgd_steps_body casgd_steps_body] zeta; pay; q_same;
  match goal with |- context [if negb (Keqb ?p K0) then _ else _] => destruct (negb (Keqb p K0)) end; [|pay]; reflexivity.
Ltac known_run := cbv beta iota delta [csgd_steps casgd_steps for_break] zeta;
  match goal with |- context [if Keqb ?t K0 then _ else _] => destruct (Keqb t K0) end;
  [match goal with |- context [sparse_add ?v ?g ?X ?i ?c] => destruct (sparse_add v g X i c) end; q_same|]; rewrite count1;
  match goal with |- ?one = ?other => match one with context [loop_break ?n ?e 1 ?f (?s, ?c)] => match other with context [loop_break n e 1 ?g (s, ?c')] =>
    let E := fresh in assert (E : fst (loop_break n e 1 f (s, c)) = fst (loop_break n e 1 g (s, c'))); [apply break_same|twice E; reflexivity] end end end; known_body.
Lemma csgd_known T t v a z r : fst (csgd_steps X y sample_weight lam dloss indices T t0 xbar theta known m t v a z r 0)
  = fst (csgd_steps X y sample_weight lam dloss indices T t0 xbar theta zeros 0 t v a z r 0).
Proof. known_run. Qed.
Lemma casgd_known T t v u a c h total z r s : fst (casgd_steps X y sample_weight lam dloss indices T t0 omega xbar theta known m t v u a c h total z r s 0)
  = fst (casgd_steps X y sample_weight lam dloss indices T t0 omega xbar theta zeros 0 t v u a c h total z r s 0).
Proof. known_run. Qed.
End Known.

Theorem projections_known_holds : projections_known.
Proof.
  intros Ar U X y sample_weight lam dloss indices T t0 omega xbar theta projections m t v u a c h total z r s drawn known.
  split; [apply csgd_known|apply casgd_known]; auto; intros i Hi; now apply project_is.
Qed.
