(* What the loops keep, step by step, is what the paper says of the iterates of eq. 3. *)
Require Import Base Generated Statements Sparse.

Section Algorithms.
Context {F : Fld} {U : Undef}.
Add Field KF : Kfield.
Local Open Scope K_scope.

Lemma div_eq L p q : L <> K0 -> L * p = q -> q / L = p.
Proof. intros H <-. field. exact H. Qed.
Lemma mul_nz a b : a <> K0 -> b <> K0 -> a * b <> K0.
Proof. intros Ha Hb H. apply Hb. transitivity (K1 / a * (a * b)); [field; exact Ha|rewrite H; field; exact Ha]. Qed.
Lemma opp_nz a : a <> K0 -> - a <> K0.
Proof. intros H E. apply H. transitivity (- - a); [ring|rewrite E; ring]. Qed.

Lemma step_w lam N N1 w V g x : lam <> K0 -> N1 <> K0 -> N1 = N + K1 -> lam * N * w = - V ->
  lam * N1 * ((K1 - K1 / N1) * w - g / (lam * N1) * x) = - (V + g * x).
Proof.
  intros Hl HN E H. transitivity (lam * (N1 - K1) * w - g * x); [field; auto|].
  rewrite E. replace (lam * (N + K1 - K1) * w) with (lam * N * w) by ring. rewrite H. ring.
Qed.
Lemma step_b lam N N1 b a g : lam <> K0 -> N1 <> K0 -> N1 = N + K1 -> lam * N * b = - a ->
  lam * N1 * ((K1 - K1 / N1) * b - g / (lam * N1)) = - (a + g).
Proof.
  intros Hl HN E H. transitivity (lam * (N1 - K1) * b - g); [field; auto|].
  rewrite E. replace (lam * (N + K1 - K1) * b) with (lam * N * b) by ring. rewrite H. ring.
Qed.
Lemma dotn_scale n L w V x : (forall k, L * w k = - V k) -> L * dotn n w x = - dotn n V x.
Proof.
  intros H. unfold dotn. rewrite <- sum_scale.
  replace (- sum n (fun k => V k * x k)) with (sum n (fun k => (- K1) * (V k * x k))) by (rewrite sum_scale; ring).
  apply sum_ext. intros k _. transitivity (L * w k * x k); [ring|rewrite H; ring].
Qed.
Lemma dotn_sub_r n w x x' : dotn n w (fun k => x k - x' k) = dotn n w x - dotn n w x'.
Proof. rewrite !(dotn_comm n w). rewrite (dotn_ext n _ (fun k => K1 * x k + (- K1) * x' k) w w); [rewrite dotn_lin; ring|intros; ring|reflexivity]. Qed.
Lemma dotn_sub_l n V a x' x : dotn n (fun k => V k - a * x' k) x = dotn n V x - a * dotn n x' x.
Proof. rewrite (dotn_ext n _ (fun k => K1 * V k + (- a) * x' k) x x); [rewrite dotn_lin; ring|intros; ring|reflexivity]. Qed.
Lemma dotn_grow n v g x xb : dotn n (fun k => v k + g * x k) xb = dotn n v xb + g * dotn n x xb.
Proof. rewrite (dotn_ext n _ (fun k => K1 * v k + g * x k) xb xb); [rewrite dotn_lin; ring|intros; ring|reflexivity]. Qed.

Section Loops.
Context (X : rows) (n : nat) (y weight : nat -> K) (dloss : K -> K -> K) (lam t0 : K) (pi : nat -> nat).
Hypothesis W : well_formed X n.
Hypothesis lam_nz : lam <> K0.
Hypothesis now_nz : forall t, now t0 (S t) <> K0.

Let order i : (start X i <= stop X i)%nat := proj1 (W i).

Lemma now_S t : now t0 (S t) = now t0 t + K1.
Proof. unfold now. simpl. ring. Qed.
Lemma self_sub p : negb (Keqb (Kself p) K0) = false.
Proof. replace (Kself p) with K0 by (rewrite Kself_is; ring). now rewrite Keqb_refl. Qed.

(* ---------- Algorithm 1 ---------- *)
Section Uncentred.
Let xs := dense X.
Let it := iter n xs y weight dloss lam t0 pi.

Definition Lemma1 t (v : nat -> K) (a : K) :=
  (forall k, lam * now t0 t * fst (it t) k = - v k) /\ lam * now t0 t * snd (it t) = - a.

(* [lem:v] *)
Lemma prediction t v a i : now t0 t <> K0 -> Lemma1 t v a ->
  - (dotn n v (xs i) + a) / (lam * ((inj t + K1) - K1 + t0)) = predict n xs (it t) i.
Proof.
  intros Hn [Hw Hb]. replace (lam * (inj t + K1 - K1 + t0)) with (lam * now t0 t) by (unfold now; ring).
  apply div_eq; [now apply mul_nz|]. unfold predict.
  transitivity (lam * now t0 t * dotn n (fst (it t)) (xs i) + lam * now t0 t * snd (it t)); [ring|].
  rewrite Hb, (dotn_scale n _ _ v) by exact Hw. ring.
Qed.

Lemma Lemma1_step t v a g v' : g = slope n xs y weight dloss (it t) (pi t) -> Lemma1 t v a ->
  (forall k, v' k = v k + g * xs (pi t) k) -> Lemma1 (S t) v' (a + g).
Proof.
  intros Hg [Hw Hb] Hv. unfold Lemma1. unfold it in *. simpl. destruct (iter n xs y weight dloss lam t0 pi t) as [w b] eqn:E.
  rewrite <- Hg. simpl in *. split; [intros k; rewrite Hv; apply step_w with (N := now t0 t)|apply step_b with (N := now t0 t)];
  auto using now_S. Qed.

Lemma Lemma1_0 : Lemma1 0 (fun _ => K0) K0.
Proof. split; simpl; intros; ring. Qed.
Lemma predict_0 i : predict n xs (it 0) i = K0.
Proof. unfold predict. simpl. rewrite <- (sum_zero n) at 2. replace (sum n (fun _ => K0)) with (dotn n (fun _ => K0) (xs i) ) by (apply sum_ext; intros; ring). ring. Qed.

(* [lem:v, alg:sgd] *)
Lemma sgd_body indices j t p g v a c : (1 <= t)%nat -> indices j = pi t -> Lemma1 t v a ->
  let '(broken, (t', p', g', v', a', c')) := sgd_steps_body X y weight lam dloss indices t0 j (inj t, p, g, v, a, c) in
  broken = false /\ t' = inj (S t) /\ p' = predict n xs (it t) (pi t) /\ g' = slope n xs y weight dloss (it t) (pi t)
  /\ Lemma1 (S t) v' a' /\ (c' <= c + (12 * stored X (indices j) + 32))%nat.
Proof.
  intros Ht Hj HL. unfold sgd_steps_body; cbv zeta. rewrite Hj.
  match goal with |- context [sparse_dot v X ?i ?c0] => pose proof (dot_ok X n v i c0 W) as [Hd Hc]; destruct (sparse_dot v X i c0) as [d c1] end.
  cbn [fst snd] in Hd, Hc. rewrite Hd. rewrite prediction; [|destruct t; [lia|apply now_nz]|exact HL].
  rewrite self_sub. fold (slope n xs y weight dloss (it t) (pi t)). set (g' := slope n xs y weight dloss (it t) (pi t)).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv Hc']; destruct (sparse_add v g X i c0) as [v' c2] end.
  cbn [fst snd] in Hv, Hc'. repeat split; try (apply (Lemma1_step t v a g' v'); auto). fold xs. lia.
Qed.

Theorem sgd_from_start T indices v a c : (1 <= T)%nat -> (forall j, (j < T)%nat -> indices j = pi j) -> (forall k, v k = K0) ->
  let '(v', t', a', p', g', c') := sgd_steps X y weight lam dloss indices T t0 K0 v a c in
  t' = inj T /\ Lemma1 T v' a' /\ (c' <= c + nsum T (fun j => 12 * stored X (indices j) + 32) + 4)%nat.
Proof.
  intros HT Hpi Hv. unfold sgd_steps; cbv zeta. rewrite Keqb_refl. rewrite (Hpi 0%nat HT).
  assert (Hg : weight (pi 0) * dloss K0 (y (pi 0)) = slope n xs y weight dloss (it 0) (pi 0)) by (unfold slope; now rewrite predict_0).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv' Hc']; destruct (sparse_add v g X i c0) as [v1 c1] end.
  cbn [fst snd] in Hv', Hc'. rewrite Hg in *. set (g0 := slope n xs y weight dloss (it 0) (pi 0)) in *.
  assert (H1 : Lemma1 1 v1 g0).
  { replace g0 with (K0 + g0) by ring. apply (Lemma1_step 0 (fun _ => K0) K0 g0); auto using Lemma1_0. intros k. now rewrite Hv', Hv. }
  unfold for_break. rewrite count1.
  match goal with |- context [loop_break (T - 1) 1 1 ?f ?s] =>
    pose proof (loop_break_ind (fun m (st : K * K * K * (nat -> K) * K * nat) => let '(t', p', g', v', a', c') := st in
      t' = inj (S m) /\ Lemma1 (S m) v' a' /\ (c' <= c + 3 + nsum (S m) (fun j => 12 * stored X (indices j) + 32))%nat) (T - 1) 1 1 f s) as L;
    destruct (loop_break (T - 1) 1 1 f s) as [[[[[t' p'] g'] v'] a'] c'] end.
  destruct L as (L1 & L2 & L3).
  - repeat split; try apply H1. cbn [nsum]. rewrite (Hpi 0%nat HT). lia.
  - intros m [[[[[t1 p1] g1] v2] a1] c2] Hm (-> & H3 & H2). rewrite Nat.mul_1_r.
    pose proof (sgd_body indices (S m) (S m) p1 g1 v2 a1 c2 ltac:(lia) (Hpi (S m) ltac:(lia)) H3) as B.
    change (1 + m)%nat with (S m).
    destruct (sgd_steps_body _ _ _ _ _ _ _ _ _) as [br [[[[[t3 p3] g3] v3] a3] c3]]. destruct B as (-> & -> & _ & _ & B1 & B2).
    cbn [fst snd]. repeat split; try apply B1. remember (S m) as sm. cbn [nsum]. lia.
  - replace (S (T - 1)) with T in * by lia. repeat split; try apply L2; [exact L1|lia].
Qed.

(* [lem:v] *)
Theorem sgd_last_ok t v a c : (1 <= t)%nat -> Lemma1 t v a ->
  let '(w, b, _) := sgd_last lam (inj t + t0) v a c in (forall k, w k = fst (it t) k) /\ b = snd (it t).
Proof.
  intros Ht [Hw Hb]. unfold sgd_last. assert (now t0 t <> K0) by (destruct t; [lia|apply now_nz]).
  split; [intros k|]; change (inj t + t0) with (now t0 t); (apply div_eq; [apply mul_nz; [now apply opp_nz|assumption]|]);
  [transitivity (- (lam * now t0 t * fst (it t) k)); [ring|rewrite Hw; ring]|transitivity (- (lam * now t0 t * snd (it t))); [ring|rewrite Hb; ring]].
Qed.

(* ---------- Algorithm 2 ---------- *)
Section Averaged.
Context (om : nat -> K).  (* the weight of the iterate after step t + 1 *)

Definition Asgd t (v u : nat -> K) (a c h total : K) :=
  Lemma1 t v a
  /\ (forall k, lam * total_w n xs y weight dloss lam t0 pi om t k = - (h * v k - u k))
  /\ lam * total_b n xs y weight dloss lam t0 pi om t = - c /\ total = sum t om.

Lemma sum_w_step V w H h x' N o c : lam <> K0 -> N <> K0 -> lam * w = - (h * V - H) -> lam * N * x' = - c ->
  lam * (w + o * x') = - ((h * V - H) + o / N * c).
Proof.
  intros Hl HN Hw Hx. transitivity (lam * w + o / N * (lam * N * x')); [field; auto|]. rewrite Hw, Hx. ring.
Qed.

(* [eqn:sparseAverage, eqn:avgBias] *)
Lemma Asgd_step t v u a c h total g v' u' : g = slope n xs y weight dloss (it t) (pi t) -> Asgd t v u a c h total ->
  (forall k, v' k = v k + g * xs (pi t) k) -> (forall k, u' k = u k + h * g * xs (pi t) k) ->
  Asgd (S t) v' u' (a + g) (c + om t * (a + g) / now t0 (S t)) (h + om t / now t0 (S t)) (total + om t).
Proof.
  intros Hg (HL & Hw & Hb & Ht) Hv Hu. pose proof (Lemma1_step t v a g v' Hg HL Hv) as HL'. destruct HL' as [HLw HLb].
  pose proof (now_nz t) as HN. repeat split; auto.
  - intros k. unfold total_w in *. cbn [sum]. transitivity (lam * sum t (fun j => om j * w_ n xs y weight dloss lam t0 pi (S j) k)
      + om t / now t0 (S t) * (lam * now t0 (S t) * fst (it (S t)) k)); [unfold w_, it; field; auto|].
    rewrite Hw, HLw, Hu, Hv. field; auto.
  - unfold total_b in *. cbn [sum]. transitivity (lam * sum t (fun j => om j * b_ n xs y weight dloss lam t0 pi (S j))
      + om t / now t0 (S t) * (lam * now t0 (S t) * snd (it (S t)))); [unfold b_, it; field; auto|].
    rewrite Hb, HLb. field; auto.
  - cbn [sum]. now rewrite Ht.
Qed.

Lemma Asgd_0 : Asgd 0 (fun _ => K0) (fun _ => K0) K0 K0 K0 K0.
Proof. unfold Asgd, total_w, total_b. repeat split; try apply Lemma1_0; intros; cbn [sum]; simpl; ring. Qed.

(* [eqn:buDef, eqn:avgBias, alg:asgd] *)
Lemma asgd_body indices omega j t p g v u a c h total cost : (1 <= t)%nat -> indices j = pi t -> omega j = om t ->
  Asgd t v u a c h total ->
  let '(broken, (t', p', g', v', u', a', c', h', total', cost')) :=
    asgd_steps_body X y weight lam dloss indices t0 omega j (inj t, p, g, v, u, a, c, h, total, cost) in
  broken = false /\ t' = inj (S t) /\ p' = predict n xs (it t) (pi t) /\ g' = slope n xs y weight dloss (it t) (pi t)
  /\ Asgd (S t) v' u' a' c' h' total' /\ (cost' <= cost + (14 * stored X (indices j) + 40))%nat.
Proof.
  intros Ht Hj Ho HA. pose proof HA as [HL _]. unfold asgd_steps_body; cbv zeta. rewrite Hj, Ho.
  match goal with |- context [sparse_dot v X ?i ?c0] => pose proof (dot_ok X n v i c0 W) as [Hd Hc]; destruct (sparse_dot v X i c0) as [d c1] end.
  cbn [fst snd] in Hd, Hc. rewrite Hd. rewrite prediction; [|destruct t; [lia|apply now_nz]|exact HL].
  rewrite self_sub. fold (slope n xs y weight dloss (it t) (pi t)). set (g' := slope n xs y weight dloss (it t) (pi t)).
  match goal with |- context [sparse_add_both v ?g u ?hg X ?i ?c0] =>
    pose proof (add_both_ok X v g u hg i c0 (order i)) as Hv; destruct (sparse_add_both v g u hg X i c0) as [[v' u'] c2] end.
  destruct Hv as (Hv & Hu & Hc'). { intros ->. ring. }
  split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. split; [|fold xs; lia].
  change (inj t + K1 + t0) with (now t0 (S t)). apply (Asgd_step t v u a c h total g' v' u'); auto.
Qed.

Notation asgd_cost := (fun indices j => (14 * stored X (indices j) + 40)%nat).

Lemma asgd_loop tau T first indices omega p g v u a c h total cost :
  (1 <= tau)%nat -> (forall j, (j < T)%nat -> indices (first + j)%nat = pi (tau + j)) ->
  (forall j, (j < T)%nat -> omega (first + j)%nat = om (tau + j)) -> Asgd tau v u a c h total ->
  let '(t', p', g', v', u', a', c', h', total', cost') :=
    loop_break T first 1 (asgd_steps_body X y weight lam dloss indices t0 omega) (inj tau, p, g, v, u, a, c, h, total, cost) in
  t' = inj (tau + T) /\ Asgd (tau + T) v' u' a' c' h' total'
  /\ (cost' <= cost + nsum T (fun j => asgd_cost indices (first + j)))%nat.
Proof.
  intros Ht Hpi Hom HA.
  match goal with |- context [loop_break T first 1 ?f ?s] =>
    pose proof (loop_break_ind (fun m (st : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * nat) =>
      let '(t', p', g', v', u', a', c', h', total', cost') := st in
      t' = inj (tau + m) /\ Asgd (tau + m) v' u' a' c' h' total' /\ (cost' <= cost + nsum m (fun j => asgd_cost indices (first + j)))%nat)
      T first 1 f s) as L; destruct (loop_break T first 1 f s) as [[[[[[[[[t' p'] g'] v'] u'] a'] c'] h'] total'] cost'] end.
  apply L; clear L.
  - rewrite Nat.add_0_r. cbn [nsum]. repeat split; try apply HA. lia.
  - intros m [[[[[[[[[t1 p1] g1] v1] u1] a1] c1] h1] total1] cost1] Hm (-> & H1 & H2). rewrite Nat.mul_1_r.
    pose proof (asgd_body indices omega (first + m) (tau + m) p1 g1 v1 u1 a1 c1 h1 total1 cost1 ltac:(lia) (Hpi m Hm) (Hom m Hm) H1) as B.
    destruct (asgd_steps_body _ _ _ _ _ _ _ _ _ _) as [br [[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] cost2]].
    destruct B as (-> & -> & _ & _ & B1 & B2). cbn [fst snd]. rewrite Nat.add_succ_r. cbn [nsum].
    split; [reflexivity|]. split; [reflexivity|]. split; [exact B1|lia].
Qed.

Lemma nsum_shift f T : nsum (S T) f = (f 0 + nsum T (fun j => f (1 + j)))%nat.
Proof. induction T; cbn [nsum] in *; [lia|]. rewrite IHT. cbn [Nat.add]. lia. Qed.

Theorem asgd_from_start T indices omega v u a c h total cost :
  (1 <= T)%nat -> (forall j, (j < T)%nat -> indices j = pi j) -> (forall j, (j < T)%nat -> omega j = om j) ->
  (forall k, v k = K0) -> (forall k, u k = K0) ->
  let '(v', u', t', a', c', h', total', p', g', cost') := asgd_steps X y weight lam dloss indices T t0 omega K0 v u a c h total cost in
  t' = inj T /\ Asgd T v' u' a' c' h' total' /\ (cost' <= cost + nsum T (asgd_cost indices) + 4)%nat.
Proof.
  intros HT Hpi Hom Hv Hu. unfold asgd_steps; cbv zeta. rewrite Keqb_refl, (Hpi 0%nat HT), (Hom 0%nat HT).
  assert (Hg : weight (pi 0) * dloss K0 (y (pi 0)) = slope n xs y weight dloss (it 0) (pi 0)) by (unfold slope; now rewrite predict_0).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv' Hc']; destruct (sparse_add v g X i c0) as [v1 c1] end.
  cbn [fst snd] in Hv', Hc'. rewrite Hg in *. set (g0 := slope n xs y weight dloss (it 0) (pi 0)) in *.
  change (K0 + K1 + t0) with (now t0 1).
  assert (H1 : Asgd 1 v1 u g0 (om 0%nat * g0 / now t0 1) (om 0%nat / now t0 1) (om 0%nat)).
  { pose proof (Asgd_step 0 (fun _ => K0) (fun _ => K0) K0 K0 K0 K0 g0 v1 u eq_refl Asgd_0) as A.
    replace g0 with (K0 + g0) at 1 by ring. replace (om 0%nat * g0 / now t0 1) with (K0 + om 0%nat * (K0 + g0) / now t0 1) by (field; apply now_nz).
    replace (om 0%nat / now t0 1) with (K0 + om 0%nat / now t0 1) by (field; apply now_nz).
    replace (om 0%nat) with (K0 + om 0%nat) at 3 by ring. apply A; intros k; [now rewrite Hv', Hv|rewrite Hu; ring]. }
  unfold for_break. rewrite count1.
  match goal with |- context [loop_break (T - 1) 1 1 _ (_, ?p, ?g, _, _, _, _, _, _, ?c0)] =>
    pose proof (asgd_loop 1 (T - 1) 1 indices omega p g v1 u g0 _ _ _ c0 ltac:(lia)
      (fun j Hj => Hpi (1 + j)%nat ltac:(lia)) (fun j Hj => Hom (1 + j)%nat ltac:(lia)) H1) as L end.
  change (K0 + K1) with (inj 1).
  destruct (loop_break (T - 1) 1 1 _ _) as [[[[[[[[[t' p'] g'] v'] u'] a'] c'] h'] total'] cost'].
  replace (1 + (T - 1))%nat with T in L by lia. destruct L as (L1 & L2 & L3). split; [exact L1|]. split; [exact L2|].
  replace T with (S (T - 1)) by lia. rewrite nsum_shift. rewrite (Hpi 0%nat HT). lia.
Qed.

(* [eqn:owDef, eqn:obDef] *)
Theorem asgd_average_ok t v u a c h total cost : total <> K0 -> Asgd t v u a c h total ->
  let '(w, b, _) := asgd_average lam (inj t + t0) v u c h total cost in
  (forall k, w k = total_w n xs y weight dloss lam t0 pi om t k / sum t om) /\ b = total_b n xs y weight dloss lam t0 pi om t / sum t om.
Proof.
  intros Hz (_ & Hw & Hb & Ht). unfold asgd_average; cbv zeta. rewrite <- Ht.
  split; [intros k|]; (apply div_eq; [apply mul_nz; [now apply opp_nz|assumption]|]).
  - transitivity (- (lam * total_w n xs y weight dloss lam t0 pi om t k)); [field; auto|rewrite Hw; ring].
  - transitivity (- (lam * total_b n xs y weight dloss lam t0 pi om t)); [field; auto|rewrite Hb; ring].
Qed.
End Averaged.
End Uncentred.

(* ---------- Algorithm 3, and csgd ---------- *)
Section Centred.
Context (xbar : nat -> K) (theta : K).
Hypothesis theta_ok : theta = K1 + dotn n xbar xbar.
Let xs := fun i k => dense X i k - xbar k.
Let it := iter n xs y weight dloss lam t0 pi.

Definition Centred t (v : nat -> K) (a z r : K) :=
  (forall k, lam * now t0 t * fst (it t) k = - (v k - a * xbar k)) /\ lam * now t0 t * snd (it t) = - a
  /\ z = dotn n v xbar /\ r = a * theta - z.

(* [eqn:pCenterDef] *)
Lemma centred_prediction t v a z r i : now t0 t <> K0 -> Centred t v a z r ->
  - (dotn n v (dense X i) + r - a * dotn n xbar (dense X i)) / (lam * ((inj t + K1) - K1 + t0)) = predict n xs (it t) i.
Proof.
  intros Hn (Hw & Hb & Hz & Hr). replace (lam * (inj t + K1 - K1 + t0)) with (lam * now t0 t) by (unfold now; ring).
  apply div_eq; [now apply mul_nz|]. unfold predict.
  transitivity (lam * now t0 t * dotn n (fst (it t)) (xs i) + lam * now t0 t * snd (it t)); [ring|].
  rewrite Hb, (dotn_scale n _ _ (fun k => v k - a * xbar k)) by exact Hw.
  unfold xs. rewrite dotn_sub_r, !dotn_sub_l, Hr, Hz, theta_ok. ring.
Qed.

(* [eqn:bTagCenter] *)
Lemma implicit_bias t v a z r : Centred t v a z r -> lam * now t0 t * implicit n xs y weight dloss lam t0 pi xbar t = - r.
Proof.
  intros (Hw & Hb & Hz & Hr). unfold implicit, b_, w_. fold it.
  transitivity (lam * now t0 t * snd (it t) - lam * now t0 t * dotn n (fst (it t)) xbar); [ring|].
  rewrite Hb, (dotn_scale n _ _ (fun k => v k - a * xbar k)) by exact Hw. rewrite dotn_sub_l, Hr, Hz, theta_ok. ring.
Qed.

(* the prediction of the implicit form on the raw row is that of the explicit form on the centred one *)
Lemma explicit_is_implicit t i : predict n xs (it t) i = dotn n (w_ n xs y weight dloss lam t0 pi t) (dense X i) + implicit n xs y weight dloss lam t0 pi xbar t.
Proof. unfold predict, implicit, w_, b_. fold it. unfold xs. rewrite dotn_sub_r. ring. Qed.

(* [eqn:wCenter, eqn:zDef, eqn:bTagCenter] *)
Lemma Centred_step t v a z r g v' q : g = slope n xs y weight dloss (it t) (pi t) -> Centred t v a z r ->
  (forall k, v' k = v k + g * dense X (pi t) k) -> q = dotn n xbar (dense X (pi t)) ->
  Centred (S t) v' (a + g) (z + g * q) ((a + g) * theta - (z + g * q)).
Proof.
  intros Hg (Hw & Hb & Hz & Hr) Hv Hq. unfold Centred, it in *. simpl. destruct (iter n xs y weight dloss lam t0 pi t) as [w b] eqn:E.
  rewrite <- Hg. simpl in *. split; [|split; [|split; [|reflexivity]]].
  - intros k. rewrite Hv. transitivity (- ((v k - a * xbar k) + g * xs (pi t) k)); [|unfold xs; ring].
    apply step_w with (N := now t0 t); auto using now_S.
  - apply step_b with (N := now t0 t); auto using now_S.
  - rewrite (dotn_ext n v' (fun k => v k + g * dense X (pi t) k) xbar xbar) by auto.
    rewrite dotn_grow, Hz, Hq, (dotn_comm n xbar). ring.
Qed.

Lemma Centred_0 : Centred 0 (fun _ => K0) K0 K0 K0.
Proof.
  unfold Centred. repeat split; simpl; intros; try ring. unfold dotn. rewrite (sum_ext n _ (fun _ => K0)) by (intros; ring). now rewrite sum_zero.
Qed.
Lemma predict_c0 i : predict n xs (it 0) i = K0.
Proof. unfold predict. simpl. unfold dotn. rewrite (sum_ext n _ (fun _ => K0)) by (intros; ring). rewrite sum_zero. ring. Qed.

(* q may be given for all rows, or for none *)
Definition projected (projections : nat -> K) (len : nat) := len = 0%nat \/ forall t, projections (pi t) = dotn n xbar (dense X (pi t)).

Lemma q_ok projections len t c : projected projections len ->
  let '(q, c') := if negb (Nat.eqb len 0) then (projections (pi t), c) else sparse_dot xbar X (pi t) c in
  q = dotn n xbar (dense X (pi t)) /\ (c' <= c + 5 * stored X (pi t) + 10)%nat.
Proof.
  intros H. destruct (Nat.eqb_spec len 0) as [E|E]; simpl.
  - pose proof (dot_ok X n xbar (pi t) c W) as D. destruct (sparse_dot xbar X (pi t) c). exact D.
  - destruct H as [H|H]; [contradiction|]. split; [apply H|lia].
Qed.

Section Averaged.
Context (om : nat -> K).

Definition Casgd t (v u : nat -> K) (a c h total z r s : K) :=
  Centred t v a z r
  /\ (forall k, lam * total_w n xs y weight dloss lam t0 pi om t k = - (h * v k - u k - c * xbar k))
  /\ lam * total_implicit n xs y weight dloss lam t0 pi om xbar t = - s /\ total = sum t om.

Lemma Casgd_step t v u a c h total z r s g v' u' q : g = slope n xs y weight dloss (it t) (pi t) -> Casgd t v u a c h total z r s ->
  (forall k, v' k = v k + g * dense X (pi t) k) -> (forall k, u' k = u k + h * g * dense X (pi t) k) -> q = dotn n xbar (dense X (pi t)) ->
  Casgd (S t) v' u' (a + g) (c + om t * (a + g) / now t0 (S t)) (h + om t / now t0 (S t)) (total + om t)
    (z + g * q) ((a + g) * theta - (z + g * q)) (s + om t * ((a + g) * theta - (z + g * q)) / now t0 (S t)).
Proof.
  intros Hg (HL & Hw & Hb & Ht) Hv Hu Hq. pose proof (Centred_step t v a z r g v' q Hg HL Hv Hq) as HL'.
  pose proof (implicit_bias _ _ _ _ _ HL') as HB. pose proof (now_nz t) as HN. split; [exact HL'|]. destruct HL' as [HLw _]. repeat split.
  - intros k. unfold total_w in *. cbn [sum]. transitivity (lam * sum t (fun j => om j * w_ n xs y weight dloss lam t0 pi (S j) k)
      + om t / now t0 (S t) * (lam * now t0 (S t) * fst (it (S t)) k)); [unfold w_, it; field; auto|].
    rewrite Hw, HLw, Hu, Hv. field; auto.
  - unfold total_implicit in *. cbn [sum]. transitivity (lam * sum t (fun j => om j * implicit n xs y weight dloss lam t0 pi xbar (S j))
      + om t / now t0 (S t) * (lam * now t0 (S t) * implicit n xs y weight dloss lam t0 pi xbar (S t))); [field; auto|].
    rewrite Hb, HB. field; auto.
  - cbn [sum]. now rewrite Ht.
Qed.

Lemma Casgd_0 : Casgd 0 (fun _ => K0) (fun _ => K0) K0 K0 K0 K0 K0 K0 K0.
Proof. unfold Casgd, total_w, total_implicit. repeat split; try apply Centred_0; intros; cbn [sum]; simpl; ring. Qed.

Notation casgd_cost := (fun indices j => (19 * stored X (indices j) + 60)%nat).

(* [eqn:pCenterDef, eqn:zDef, eqn:bTagCenter, eqn:sDef, alg:casgd] *)
Lemma casgd_body indices omega projections len j t p g v u a c h total z r s cost : (1 <= t)%nat -> indices j = pi t -> omega j = om t ->
  projected projections len -> Casgd t v u a c h total z r s ->
  let '(broken, (t', p', g', v', u', a', c', h', total', z', r', s', cost')) :=
    casgd_steps_body X y weight lam dloss indices t0 omega xbar theta projections len j (inj t, p, g, v, u, a, c, h, total, z, r, s, cost) in
  broken = false /\ t' = inj (S t) /\ p' = predict n xs (it t) (pi t) /\ g' = slope n xs y weight dloss (it t) (pi t)
  /\ Casgd (S t) v' u' a' c' h' total' z' r' s' /\ (cost' <= cost + casgd_cost indices j)%nat.
Proof.
  intros Ht Hj Ho HP HA. pose proof HA as [HL _]. unfold casgd_steps_body; cbv zeta. rewrite Hj, Ho.
  match goal with |- context [sparse_dot v X ?i ?c0] => pose proof (dot_ok X n v i c0 W) as [Hd Hc]; destruct (sparse_dot v X i c0) as [d c1] end.
  cbn [fst snd] in Hd, Hc. rewrite Hd.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections (pi ?i), ?c0) else _] =>
    pose proof (q_ok projections len i c0 HP) as Q; destruct (if negb (Nat.eqb len 0) then _ else _) as [q cq] end.
  destruct Q as [Hq Hcq]. rewrite Hq.
  rewrite centred_prediction with (z := z); [|destruct t; [lia|apply now_nz]|exact HL].
  rewrite self_sub. fold (slope n xs y weight dloss (it t) (pi t)). set (g' := slope n xs y weight dloss (it t) (pi t)).
  match goal with |- context [sparse_add_both v ?g u ?hg X ?i ?c0] =>
    pose proof (add_both_ok X v g u hg i c0 (order i)) as Hv; destruct (sparse_add_both v g u hg X i c0) as [[v' u'] c2] end.
  destruct Hv as (Hv & Hu & Hc'). { intros ->. ring. }
  split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|]. split; [|lia].
  change (inj t + K1 + t0) with (now t0 (S t)). apply (Casgd_step t v u a c h total z r s g' v' u'); auto.
Qed.

Lemma casgd_loop tau T first indices omega projections len p g v u a c h total z r s cost :
  (1 <= tau)%nat -> (forall j, (j < T)%nat -> indices (first + j)%nat = pi (tau + j)) ->
  (forall j, (j < T)%nat -> omega (first + j)%nat = om (tau + j)) -> projected projections len -> Casgd tau v u a c h total z r s ->
  let '(t', p', g', v', u', a', c', h', total', z', r', s', cost') :=
    loop_break T first 1 (casgd_steps_body X y weight lam dloss indices t0 omega xbar theta projections len)
      (inj tau, p, g, v, u, a, c, h, total, z, r, s, cost) in
  t' = inj (tau + T) /\ Casgd (tau + T) v' u' a' c' h' total' z' r' s'
  /\ (cost' <= cost + nsum T (fun j => casgd_cost indices (first + j)))%nat.
Proof.
  intros Ht Hpi Hom HP HA.
  match goal with |- context [loop_break T first 1 ?f ?s] =>
    pose proof (loop_break_ind (fun m (st : K * K * K * (nat -> K) * (nat -> K) * K * K * K * K * K * K * K * nat) =>
      let '(t', p', g', v', u', a', c', h', total', z', r', s', cost') := st in
      t' = inj (tau + m) /\ Casgd (tau + m) v' u' a' c' h' total' z' r' s' /\ (cost' <= cost + nsum m (fun j => casgd_cost indices (first + j)))%nat)
      T first 1 f s) as L; destruct (loop_break T first 1 f s) as [[[[[[[[[[[[t' p'] g'] v'] u'] a'] c'] h'] total'] z'] r'] s'] cost'] end.
  apply L; clear L.
  - rewrite Nat.add_0_r. cbn [nsum]. split; [reflexivity|]. split; [exact HA|lia].
  - intros m [[[[[[[[[[[[t1 p1] g1] v1] u1] a1] c1] h1] total1] z1] r1] s1] cost1] Hm (-> & H1 & H2). rewrite Nat.mul_1_r.
    pose proof (casgd_body indices omega projections len (first + m) (tau + m) p1 g1 v1 u1 a1 c1 h1 total1 z1 r1 s1 cost1 ltac:(lia) (Hpi m Hm) (Hom m Hm) HP H1) as B.
    destruct (casgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [br [[[[[[[[[[[[t2 p2] g2] v2] u2] a2] c2] h2] total2] z2] r2] s2] cost2]].
    destruct B as (-> & -> & _ & _ & B1 & B2). cbn [fst snd]. rewrite Nat.add_succ_r. cbn [nsum].
    split; [reflexivity|]. split; [reflexivity|]. split; [exact B1|lia].
Qed.

Theorem casgd_from_start T indices omega projections len v u a c h total z r s cost :
  (1 <= T)%nat -> (forall j, (j < T)%nat -> indices j = pi j) -> (forall j, (j < T)%nat -> omega j = om j) ->
  projected projections len -> (forall k, v k = K0) -> (forall k, u k = K0) ->
  let '(v', u', t', a', c', h', total', z', r', s', p', g', cost') :=
    casgd_steps X y weight lam dloss indices T t0 omega xbar theta projections len K0 v u a c h total z r s cost in
  t' = inj T /\ Casgd T v' u' a' c' h' total' z' r' s' /\ (cost' <= cost + nsum T (casgd_cost indices) + 4)%nat.
Proof.
  intros HT Hpi Hom HP Hv Hu. unfold casgd_steps; cbv zeta. rewrite Keqb_refl, (Hpi 0%nat HT), (Hom 0%nat HT).
  assert (Hg : weight (pi 0) * dloss K0 (y (pi 0)) = slope n xs y weight dloss (it 0) (pi 0)) by (unfold slope; now rewrite predict_c0).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv' Hc']; destruct (sparse_add v g X i c0) as [v1 c1] end.
  cbn [fst snd] in Hv', Hc'. rewrite Hg in *. set (g0 := slope n xs y weight dloss (it 0) (pi 0)) in *.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections (pi ?i), ?c0) else _] =>
    pose proof (q_ok projections len i c0 HP) as Q; destruct (if negb (Nat.eqb len 0) then _ else _) as [q cq] end.
  destruct Q as [Hq Hcq].
  change (K0 + K1 + t0) with (now t0 1).
  assert (H1 : Casgd 1 v1 u g0 (om 0%nat * g0 / now t0 1) (om 0%nat / now t0 1) (om 0%nat) (g0 * q) (g0 * theta - g0 * q)
     (om 0%nat * (g0 * theta - g0 * q) / now t0 1)).
  { pose proof (Casgd_step 0 (fun _ => K0) (fun _ => K0) K0 K0 K0 K0 K0 K0 K0 g0 v1 u q eq_refl Casgd_0) as A.
    replace g0 with (K0 + g0) at 1 by ring. replace (om 0%nat * g0 / now t0 1) with (K0 + om 0%nat * (K0 + g0) / now t0 1) by (field; apply now_nz).
    replace (om 0%nat / now t0 1) with (K0 + om 0%nat / now t0 1) by (field; apply now_nz).
    replace (om 0%nat * (g0 * theta - g0 * q) / now t0 1) with (K0 + om 0%nat * ((K0 + g0) * theta - (K0 + g0 * q)) / now t0 1) by (field; apply now_nz).
    replace (g0 * theta - g0 * q) with ((K0 + g0) * theta - (K0 + g0 * q)) by ring.
    replace (g0 * q) with (K0 + g0 * q) at 1 by ring.
    replace (om 0%nat) with (K0 + om 0%nat) at 3 by ring. apply A; auto; intros k; [now rewrite Hv', Hv|rewrite Hu; ring]. }
  unfold for_break. rewrite count1.
  match goal with |- context [loop_break (T - 1) 1 1 _ (_, ?p, ?g, _, _, _, _, _, _, _, _, _, ?c0)] =>
    pose proof (casgd_loop 1 (T - 1) 1 indices omega projections len p g v1 u g0 _ _ _ _ _ _ c0 ltac:(lia)
      (fun j Hj => Hpi (1 + j)%nat ltac:(lia)) (fun j Hj => Hom (1 + j)%nat ltac:(lia)) HP H1) as L end.
  change (K0 + K1) with (inj 1).
  destruct (loop_break (T - 1) 1 1 _ _) as [[[[[[[[[[[[t' p'] g'] v'] u'] a'] c'] h'] total'] z'] r'] s'] cost'].
  replace (1 + (T - 1))%nat with T in L by lia. destruct L as (L1 & L2 & L3). split; [exact L1|]. split; [exact L2|].
  replace T with (S (T - 1)) by lia. rewrite nsum_shift. rewrite (Hpi 0%nat HT). lia.
Qed.

(* [eqn:owCenterDef, obCenterDef] *)
Theorem casgd_average_ok t v u a c h total z r s cost : total <> K0 -> Casgd t v u a c h total z r s ->
  let '(w, b, _) := casgd_average lam (inj t + t0) v u c h total s xbar cost in
  (forall k, w k = total_w n xs y weight dloss lam t0 pi om t k / sum t om)
  /\ b = total_implicit n xs y weight dloss lam t0 pi om xbar t / sum t om.
Proof.
  intros Hz (_ & Hw & Hb & Ht). unfold casgd_average; cbv zeta. rewrite <- Ht.
  split; [intros k|]; (apply div_eq; [apply mul_nz; [now apply opp_nz|assumption]|]).
  - transitivity (- (lam * total_w n xs y weight dloss lam t0 pi om t k)); [field; auto|rewrite Hw; ring].
  - transitivity (- (lam * total_implicit n xs y weight dloss lam t0 pi om xbar t)); [field; auto|rewrite Hb; ring].
Qed.
End Averaged.

(* csgd *)
(* [eqn:pCenterDef, eqn:zDef, eqn:bTagCenter] *)
Lemma csgd_body indices projections len j t p g v a z r cost : (1 <= t)%nat -> indices j = pi t ->
  projected projections len -> Centred t v a z r ->
  let '(broken, (t', p', g', v', a', z', r', cost')) :=
    csgd_steps_body X y weight lam dloss indices t0 xbar theta projections len j (inj t, p, g, v, a, z, r, cost) in
  broken = false /\ t' = inj (S t) /\ Centred (S t) v' a' z' r' /\ (cost' <= cost + (17 * stored X (indices j) + 50))%nat.
Proof.
  intros Ht Hj HP HL. unfold csgd_steps_body; cbv zeta. rewrite Hj.
  match goal with |- context [sparse_dot v X ?i ?c0] => pose proof (dot_ok X n v i c0 W) as [Hd Hc]; destruct (sparse_dot v X i c0) as [d c1] end.
  cbn [fst snd] in Hd, Hc. rewrite Hd.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections (pi ?i), ?c0) else _] =>
    pose proof (q_ok projections len i c0 HP) as Q; destruct (if negb (Nat.eqb len 0) then _ else _) as [q cq] end.
  destruct Q as [Hq Hcq]. rewrite Hq.
  rewrite centred_prediction with (z := z); [|destruct t; [lia|apply now_nz]|exact HL].
  rewrite self_sub. fold (slope n xs y weight dloss (it t) (pi t)). set (g' := slope n xs y weight dloss (it t) (pi t)).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv Hc']; destruct (sparse_add v g X i c0) as [v' c2] end.
  cbn [fst snd] in Hv, Hc'. split; [reflexivity|]. split; [reflexivity|]. split; [|lia].
  apply (Centred_step t v a z r g' v'); auto.
Qed.

Theorem csgd_from_start T indices projections len v a z r cost :
  (1 <= T)%nat -> (forall j, (j < T)%nat -> indices j = pi j) -> projected projections len -> (forall k, v k = K0) ->
  let '(v', t', a', z', r', p', g', cost') :=
    csgd_steps X y weight lam dloss indices T t0 xbar theta projections len K0 v a z r cost in
  t' = inj T /\ Centred T v' a' z' r' /\ (cost' <= cost + nsum T (fun j => 17 * stored X (indices j) + 50) + 4)%nat.
Proof.
  intros HT Hpi HP Hv. unfold csgd_steps; cbv zeta. rewrite Keqb_refl, (Hpi 0%nat HT).
  assert (Hg : weight (pi 0) * dloss K0 (y (pi 0)) = slope n xs y weight dloss (it 0) (pi 0)) by (unfold slope; now rewrite predict_c0).
  match goal with |- context [sparse_add v ?g X ?i ?c0] => pose proof (add_ok X v g i c0 (order i)) as [Hv' Hc']; destruct (sparse_add v g X i c0) as [v1 c1] end.
  cbn [fst snd] in Hv', Hc'. rewrite Hg in *. set (g0 := slope n xs y weight dloss (it 0) (pi 0)) in *.
  match goal with |- context [if negb (Nat.eqb len 0) then (projections (pi ?i), ?c0) else _] =>
    pose proof (q_ok projections len i c0 HP) as Q; destruct (if negb (Nat.eqb len 0) then _ else _) as [q cq] end.
  destruct Q as [Hq Hcq].
  assert (H1 : Centred 1 v1 g0 (g0 * q) (g0 * theta - g0 * q)).
  { pose proof (Centred_step 0 (fun _ => K0) K0 K0 K0 g0 v1 q eq_refl Centred_0) as A.
    replace (g0 * theta - g0 * q) with ((K0 + g0) * theta - (K0 + g0 * q)) by ring.
    replace (g0 * q) with (K0 + g0 * q) at 1 by ring. replace g0 with (K0 + g0) at 1 by ring.
    apply A; auto; intros k; now rewrite Hv', Hv. }
  unfold for_break. rewrite count1. change (K0 + K1) with (inj 1).
  match goal with |- context [loop_break (T - 1) 1 1 ?f ?s] =>
    pose proof (loop_break_ind (fun m (st : K * K * K * (nat -> K) * K * K * K * nat) => let '(t', p', g', v', a', z', r', cost') := st in
      t' = inj (S m) /\ Centred (S m) v' a' z' r' /\ (cost' <= cost + 3 + nsum (S m) (fun j => 17 * stored X (indices j) + 50))%nat) (T - 1) 1 1 f s) as L;
    destruct (loop_break (T - 1) 1 1 f s) as [[[[[[[t' p'] g'] v'] a'] z'] r'] cost'] end.
  destruct L as (L1 & L2 & L3).
  - split; [reflexivity|]. split; [exact H1|]. cbn [nsum]. rewrite (Hpi 0%nat HT). lia.
  - intros m [[[[[[[t1 p1] g1] v2] a1] z1] r1] c2] Hm (-> & H3 & H2). rewrite Nat.mul_1_r.
    pose proof (csgd_body indices projections len (S m) (S m) p1 g1 v2 a1 z1 r1 c2 ltac:(lia) (Hpi (S m) ltac:(lia)) HP H3) as B.
    change (1 + m)%nat with (S m).
    destruct (csgd_steps_body _ _ _ _ _ _ _ _ _ _ _ _ _) as [br [[[[[[[t3 p3] g3] v3] a3] z3] r3] c3]]. destruct B as (-> & -> & B1 & B2).
    cbn [fst snd]. split; [reflexivity|]. split; [reflexivity|]. split; [exact B1|]. remember (S m) as sm. cbn [nsum]. lia.
  - replace (S (T - 1)) with T in * by lia. split; [exact L1|]. split; [exact L2|lia].
Qed.

(* [eqn:wCenter, eqn:bTagCenter] *)
Theorem csgd_last_ok t v a z r c : (1 <= t)%nat -> Centred t v a z r ->
  let '(w, b, _) := csgd_last lam (inj t + t0) v a r xbar c in
  (forall k, w k = w_ n xs y weight dloss lam t0 pi t k) /\ b = implicit n xs y weight dloss lam t0 pi xbar t.
Proof.
  intros Ht HC. pose proof (implicit_bias _ _ _ _ _ HC) as HB. destruct HC as [Hw _].
  unfold csgd_last; cbv zeta. assert (now t0 t <> K0) by (destruct t; [lia|apply now_nz]). change (inj t + t0) with (now t0 t).
  split; [intros k|]; (apply div_eq; [apply mul_nz; auto using opp_nz|]).
  - unfold w_. fold it. rewrite Hw. ring.
  - transitivity (- (lam * now t0 t * implicit n xs y weight dloss lam t0 pi xbar t)); [ring|rewrite HB; ring].
Qed.
End Centred.
End Loops.
End Algorithms.

Theorem algorithm1_holds : algorithm1.
Proof.
  intros F U X n y weight dloss lam t0 indices T (W & Hl & Hn & HT). unfold run_sgd.
  pose proof (sgd_from_start X n y weight dloss lam t0 indices W Hl Hn T indices zeros K0 0%nat HT (fun j _ => eq_refl) (fun k => eq_refl)) as A.
  destruct (sgd_steps _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[v t] a] p] g] cost]. destruct A as (-> & A & Hc).
  pose proof (sgd_last_ok X n y weight dloss lam t0 indices Hl Hn T v a cost HT A) as B.
  assert (Hc' : snd (sgd_last lam (inj T + t0)%K v a cost) = (cost + 1)%nat) by reflexivity.
  destruct (sgd_last _ _ _ _ _) as [[w b] c]. cbn [snd] in Hc'. destruct B as [Bw Bb]. split; [exact Bw|]. split; [exact Bb|lia].
Qed.

Theorem algorithm2_holds : algorithm2.
Proof.
  intros F U X n y weight dloss lam t0 indices T omega (W & Hl & Hn & HT) Ho. unfold run_asgd.
  pose proof (asgd_from_start X n y weight dloss lam t0 indices W Hl Hn omega T indices omega zeros zeros K0 K0 K0 K0 0%nat
    HT (fun j _ => eq_refl) (fun j _ => eq_refl) (fun k => eq_refl) (fun k => eq_refl)) as A.
  destruct (asgd_steps _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[[[[[[[v u] t] a] c] h] total] p] g] cost]. destruct A as (-> & A & Hc).
  pose proof A as (_ & _ & _ & Ht).
  pose proof (asgd_average_ok X n y weight dloss lam t0 indices Hl omega T v u a c h total cost ltac:(now rewrite Ht) A) as B.
  assert (Hc' : snd (asgd_average lam (inj T + t0)%K v u c h total cost) = (cost + 4)%nat) by (cbn; lia).
  destruct (asgd_average _ _ _ _ _ _ _ _) as [[w b] c']. cbn [snd] in Hc'. destruct B as [Bw Bb]. split; [exact Bw|]. split; [exact Bb|lia].
Qed.
