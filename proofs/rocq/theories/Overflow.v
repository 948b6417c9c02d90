(* The exit of the loops where a prediction overflows, in any arithmetic. *)
Require Import Base Generated Statements Sparse.

Section Overflow.
Context {Ar : Ops} {S kept : Type} (f : nat -> S -> bool * S) (p_of : S -> K) (kept_of : S -> kept).
Hypothesis ends : forall j s, fst (f j s) = negb (finite (p_of (snd (f j s)))).
Hypothesis undone : forall j s, fst (f j s) = true -> kept_of (snd (f j s)) = kept_of s.

Lemma loop_ends n e s : (forall n', 1 <= n' <= n -> finite (p_of (loop_break n' e 1 f s)) = true) ->
  finite (p_of (loop_break (Datatypes.S n) e 1 f s)) = false ->
  forall m, n < m -> loop_break m e 1 f s = loop_break (Datatypes.S n) e 1 f s /\ kept_of (loop_break m e 1 f s) = kept_of (loop_break n e 1 f s).
Proof.
  revert e s. induction n; intros e s Hf Hn m Hm; (destruct m; [lia|]); cbn [loop_break] in *; pose proof (ends e s) as E; pose proof (undone e s) as D.
  - destruct (f e s) as [b s']. cbn [fst snd] in *. destruct b; [split; [reflexivity|now apply D]|].
    rewrite Hn in E. discriminate.
  - pose proof (Hf 1 ltac:(lia)) as H1. cbn [loop_break] in H1. destruct (f e s) as [b s'] eqn:Ef. cbn [fst snd] in *.
    assert (Hs : finite (p_of s') = true) by (destruct b; exact H1). rewrite Hs in E. cbn in E. subst b.
    apply (IHn (e + 1) s'); [|exact Hn|lia]. intros n' Hn'. specialize (Hf (Datatypes.S n') ltac:(lia)). cbn [loop_break] in Hf. now rewrite Ef in Hf.
Qed.

Lemma run_ends {R : Type} (G : S -> R) (p_in : R -> K) (kept_in : R -> kept) first s (run : nat -> R) : first <= 1 ->
  (forall T, 1 <= T -> run T = G (loop_break (T - first) first 1 f s)) ->
  (forall s, p_in (G s) = p_of s) -> (forall s, kept_in (G s) = kept_of s) -> ends_undone run p_in kept_in.
Proof.
  intros H1 Hr Hp Hk T0 T HT Hf Hn. rewrite !Hr by lia. rewrite Hr, Hp in Hn by lia. replace (Datatypes.S T0 - first) with (Datatypes.S (T0 - first)) in * by lia.
  assert (A : forall n', 1 <= n' <= T0 - first -> finite (p_of (loop_break n' first 1 f s)) = true).
  { intros n' Hn'. specialize (Hf (n' + first) ltac:(lia)). rewrite Hr, Hp in Hf by lia. now replace (n' + first - first) with n' in Hf by lia. }
  destruct (loop_ends (T0 - first) first s A Hn (T - first) ltac:(lia)) as [E1 E2]. rewrite E1. split; [reflexivity|]. rewrite E1 in E2. now rewrite !Hk.
Qed.
End Overflow.

(* the body of a loop: it ends if and only if p is not finite, and then nothing that is kept has changed *)
Ltac cases :=
  repeat match goal with
  | |- context [sparse_dot ?v ?X ?i ?c] => destruct (sparse_dot v X i c)
  | |- context [if negb (Nat.eqb ?n 0) then _ else _] => destruct (negb (Nat.eqb n 0))
  end;
  match goal with |- context [if negb (Keqb (Kself ?p) K0) then _ else _] => let H := fresh "EK" in destruct (Keqb (Kself p) K0) eqn:H end; cbn [negb];
  repeat match goal with
  | |- context [sparse_add ?v ?g ?X ?i ?c] => destruct (sparse_add v g X i c)
  | |- context [sparse_add_both ?v ?g ?u ?hg ?X ?i ?c] => destruct (sparse_add_both v g u hg X i c) as [[? ?] ?]
  end; cbn [fst snd]; first [reflexivity | discriminate | match goal with H : Keqb _ _ = _ |- _ => rewrite H; reflexivity end].

Theorem overflow_holds : overflow.
Proof.
  intros Ar U X y sample_weight lam dloss indices t0 omega xbar theta projections len t v u a c h total z r s. split; [|split; [|split]].
  - unfold sgd_steps; cbv zeta. set (f := sgd_steps_body X y sample_weight lam dloss indices t0).
    pose (G := (fun '(t, p, g, v, a, cost) => (v, t, a, p, g, (cost + 1)%nat)) : K * K * K * (nat -> K) * K * nat -> (nat -> K) * K * K * K * K * nat).
    pose (P := (fun '(t, p, g, v, a, cost) => p) : K * K * K * (nat -> K) * K * nat -> K).
    assert (E : forall j st, fst (f j st) = negb (finite (P (snd (f j st))))).
    { intros j [[[[[t2 p2] g2] v2] a2] cost2]. unfold P, f, sgd_steps_body, finite; cbv zeta. cases. }
    pose (Q := (fun '(t, p, g, v, a, cost) => (v, a)) : K * K * K * (nat -> K) * K * nat -> (nat -> K) * K).
    assert (D : forall j st, fst (f j st) = true -> Q (snd (f j st)) = Q st).
    { intros j [[[[[t2 p2] g2] v2] a2] cost2]. unfold Q, f, sgd_steps_body; cbv zeta. cases. }
    destruct (Keqb t K0).
    + match goal with |- context [sparse_add ?va ?ga X ?ia ?ca] => destruct (sparse_add va ga X ia ca) as [v1 c1] end.
      eapply (run_ends f P Q E D G _ _ 1); [lia| |intros [[[[[t2 p2] g2] v2] a2] cost2]; reflexivity|intros [[[[[t2 p2] g2] v2] a2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
    + eapply (run_ends f P Q E D G _ _ 0); [lia| |intros [[[[[t2 p2] g2] v2] a2] cost2]; reflexivity|intros [[[[[t2 p2] g2] v2] a2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
  - unfold asgd_steps; cbv zeta. set (f := asgd_steps_body X y sample_weight lam dloss indices t0 omega).
    pose (G := (fun '(t, p, g, v, u, a, c, h, total, cost) => (v, u, t, a, c, h, total, p, g, (cost + 1)%nat)) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * nat -> (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat).
    pose (P := (fun '(t, p, g, v, u, a, c, h, total, cost) => p) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * nat -> K).
    assert (E : forall j st, fst (f j st) = negb (finite (P (snd (f j st))))).
    { intros j [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]. unfold P, f, asgd_steps_body, finite; cbv zeta. cases. }
    pose (Q := (fun '(t, p, g, v, u, a, c, h, total, cost) => (v, u, a, c, h, total)) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * nat -> (nat -> K) * (nat -> K) * K * K * K * K).
    assert (D : forall j st, fst (f j st) = true -> Q (snd (f j st)) = Q st).
    { intros j [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]. unfold Q, f, asgd_steps_body; cbv zeta. cases. }
    destruct (Keqb t K0).
    + match goal with |- context [sparse_add ?va ?ga X ?ia ?ca] => destruct (sparse_add va ga X ia ca) as [v1 c1] end.
      eapply (run_ends f P Q E D G _ _ 1); [lia| |intros [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]; reflexivity|intros [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
    + eapply (run_ends f P Q E D G _ _ 0); [lia| |intros [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]; reflexivity|intros [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
  - unfold csgd_steps; cbv zeta. set (f := csgd_steps_body X y sample_weight lam dloss indices t0 xbar theta projections len).
    pose (G := (fun '(t, p, g, v, a, z, r, cost) => (v, t, a, z, r, p, g, (cost + 1)%nat)) : K * K * K * (nat -> K) * K * K * K * nat -> (nat -> K) * K * K * K * K * K * K * nat).
    pose (P := (fun '(t, p, g, v, a, z, r, cost) => p) : K * K * K * (nat -> K) * K * K * K * nat -> K).
    assert (E : forall j st, fst (f j st) = negb (finite (P (snd (f j st))))).
    { intros j [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]. unfold P, f, csgd_steps_body, finite; cbv zeta. cases. }
    pose (Q := (fun '(t, p, g, v, a, z, r, cost) => (v, a, z, r)) : K * K * K * (nat -> K) * K * K * K * nat -> (nat -> K) * K * K * K).
    assert (D : forall j st, fst (f j st) = true -> Q (snd (f j st)) = Q st).
    { intros j [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]. unfold Q, f, csgd_steps_body; cbv zeta. cases. }
    destruct (Keqb t K0).
    + match goal with |- context [sparse_add ?va ?ga X ?ia ?ca] => destruct (sparse_add va ga X ia ca) as [v1 c1] end.
      match goal with |- context [if negb (Nat.eqb len 0) then (projections ?ia, ?ca) else _] => destruct (if negb (Nat.eqb len 0) then (projections ia, ca) else sparse_dot xbar X ia ca) as [q cq] end.
      eapply (run_ends f P Q E D G _ _ 1); [lia| |intros [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]; reflexivity|intros [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
    + eapply (run_ends f P Q E D G _ _ 0); [lia| |intros [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]; reflexivity|intros [[[[[[[t2 p2] g2] v2] a2] z2] r2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
  - unfold casgd_steps; cbv zeta. set (f := casgd_steps_body X y sample_weight lam dloss indices t0 omega xbar theta projections len).
    pose (G := (fun '(t, p, g, v, u, a, c, h, total, z, r, s, cost) => (v, u, t, a, c, h, total, z, r, s, p, g, (cost + 1)%nat)) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat -> (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * K * K * K * nat).
    pose (P := (fun '(t, p, g, v, u, a, c, h, total, z, r, s, cost) => p) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat -> K).
    assert (E : forall j st, fst (f j st) = negb (finite (P (snd (f j st))))).
    { intros j [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]. unfold P, f, casgd_steps_body, finite; cbv zeta. cases. }
    pose (Q := (fun '(t, p, g, v, u, a, c, h, total, z, r, s, cost) => (v, u, a, c, h, total, z, r, s)) : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat -> (nat -> K) * (nat -> K) * K * K * K * K * K * K * K).
    assert (D : forall j st, fst (f j st) = true -> Q (snd (f j st)) = Q st).
    { intros j [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]. unfold Q, f, casgd_steps_body; cbv zeta. cases. }
    destruct (Keqb t K0).
    + match goal with |- context [sparse_add ?va ?ga X ?ia ?ca] => destruct (sparse_add va ga X ia ca) as [v1 c1] end.
      match goal with |- context [if negb (Nat.eqb len 0) then (projections ?ia, ?ca) else _] => destruct (if negb (Nat.eqb len 0) then (projections ia, ca) else sparse_dot xbar X ia ca) as [q cq] end.
      eapply (run_ends f P Q E D G _ _ 1); [lia| |intros [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]; reflexivity|intros [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
    + eapply (run_ends f P Q E D G _ _ 0); [lia| |intros [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]; reflexivity|intros [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]; reflexivity].
      intros T HT. unfold for_break. rewrite count1. reflexivity.
Qed.
