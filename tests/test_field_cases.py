"""What went wrong in other software that does this job, and must not here: one small input each, and the right result.

Most of these faults were reported by users. They are told here in our own words, and tried on the functions and the estimators.
"""

import copy
import pickle
import random
import warnings
from itertools import product

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import reference
from efficient import CASGDClassifier, CASGDRegressor, State
from reference import LOSSES, Predictor, Problem
from reference.datasets import make_text
from reference.rows import as_rows

X = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 1]]))
Y = np.array([1.0, -1, 1, -1])
INDICES = [0, 1, 2, 3, 0, 2]

GOLDEN = {  # with lam = 1/2: w and b, to twelve digits
    ("sgd", "absolute"): [-0.666666666667, -1, 1, 0.666666666667],
    ("sgd", "squared"): [-1.27777777778, -3, 10.6666666667, 2.96666666667],
    ("sgd", "hinge"): [-0.666666666667, -1, 1, 0.666666666667],
    ("sgd", "log"): [-0.752066869134, -0.73105857863, 0.600117309966, 0.249390609192],
    ("asgd", "absolute"): [0.116666666667, -1.45, 1.67222222222, 0.622222222222],
    ("asgd", "squared"): [-1.66296296296, -4.35, 4.82777777778, 1.09444444444],
    ("asgd", "hinge"): [0.116666666667, -1.45, 1.67222222222, 0.622222222222],
    ("asgd", "log"): [-0.229142922399, -1.06003493901, 0.839335634947, 0.176427686275],
    ("casgd", "absolute"): [-1.07777777778, 0.733333333333, 0.955555555556, 1.03611111111],
    ("casgd", "squared"): [-0.629869634134, 1.48606184853, 1.12433292601, -0.0102081696192],
    ("casgd", "hinge"): [-1.16527777778, -0.695833333333, 0.731944444444, 2.35729166667],
    ("casgd", "log"): [-0.514407691656, -0.591595503856, 0.486594248311, 1.10055487295],
}


def fit(algorithm, X, y, loss, lam, indices, last=False):
    """(w, b) after these steps, for raw rows: the average where the algorithm has one, unless the last iterate is wanted."""
    state = State(Problem(X, y, loss, lam), algorithm).run(indices)
    predictor = state.last() if last or algorithm in ("sgd", "csgd") else state.average()
    return predictor.w, predictor.b


def classifier(algorithm="asgd", loss="log", steps=None, **options):
    """A classifier on the terms of the paper: steps of 1/(λt), the uniform average."""
    return CASGDClassifier(loss, 0.5, algorithm=algorithm, average="uniform", t0=0, n_steps=steps, **options)


def regressor(algorithm="asgd", loss="squared", steps=None, **options):
    return CASGDRegressor(loss, 0.5, algorithm=algorithm, average="uniform", t0=0, n_steps=steps, **options)


@pytest.mark.parametrize(("algorithm", "loss"), GOLDEN)
def test_sparse_and_dense_rows_train_the_same_predictor(algorithm, loss):
    for rows in (X, X.toarray()):
        w, b = fit(algorithm, rows, Y, loss, 0.5, INDICES)
        np.testing.assert_allclose([*w, b], GOLDEN[algorithm, loss], rtol=1e-11)
    kind = classifier if loss in ("hinge", "log") else regressor
    sparse, dense = (kind(algorithm, loss, 6, random_state=0).fit(rows, Y) for rows in (X, X.toarray()))
    np.testing.assert_array_equal(sparse.coef_, dense.coef_)
    np.testing.assert_array_equal(sparse.intercept_, dense.intercept_)
    np.testing.assert_allclose(sparse.predict(X), sparse.predict(X.toarray()), rtol=1e-14)


@pytest.mark.parametrize(
    ("loss", "lam"), [*product(["hinge", "log"], [1e-6, 1e-2, 1.0, 1e3]), ("squared", 1.0), ("squared", 1e3)]
)
@pytest.mark.parametrize("algorithm", ["sgd", "asgd", "casgd"])
def test_no_step_forgets_the_scaling_of_those_in_between(algorithm, loss, lam):
    rng = np.random.default_rng(0)
    rows = rng.random((30, 12)) * (rng.random((30, 12)) < 0.2)
    rows[:, [5, 7]] = 0
    rows[0, 7] = 3  # column 5 is never seen, column 7 in the first step only
    problem = Problem(rows, np.where(rng.random(30) < 0.5, -1.0, 1.0), loss, lam)
    indices = np.r_[0, rng.integers(1, 30, 199)]
    w, b = fit(algorithm, rows, problem.y, loss, lam, indices)
    wanted = getattr(reference, algorithm)(problem, indices)
    scale = max(1.0, abs(wanted.w).max())
    assert abs(w - wanted.w).max() < 1e-8 * scale and abs(b - wanted.b) < 1e-8 * scale
    assert w[5] == 0 and w[7] != 0


def test_centring_moves_the_zeros_too():
    dense, mean = X.toarray(), X.toarray().mean(axis=0)
    w, b = fit("casgd", X, Y, "squared", 0.5, INDICES)
    w_explicit, b_explicit = fit("asgd", dense - mean, Y, "squared", 0.5, INDICES)
    np.testing.assert_allclose(w, w_explicit, atol=1e-10)
    assert b == pytest.approx(b_explicit - w_explicit @ mean, abs=1e-10)
    wrong = X.copy()
    wrong.data -= wrong.data.mean()  # the stored entries alone
    assert abs(fit("asgd", wrong, Y, "squared", 0.5, INDICES)[0] - w).max() > 1e-3


def test_a_constant_added_to_the_columns_changes_no_centred_prediction():
    dense, constant = X.toarray(), np.array([3.0, -2, 0.5])
    w, b = fit("casgd", dense, Y, "log", 0.5, INDICES)
    w_moved, b_moved = fit("casgd", dense + constant, Y, "log", 0.5, INDICES)
    np.testing.assert_allclose(w_moved, w, atol=1e-10)
    assert b_moved == pytest.approx(b - w @ constant, abs=1e-10)
    w, w_moved = (fit("asgd", rows, Y, "log", 0.5, INDICES)[0] for rows in (dense, dense + constant))
    assert abs(w - w_moved).max() > 1e-3
    near, far = (classifier("casgd", steps=40, random_state=0).fit(rows, Y) for rows in (dense, dense + constant))
    np.testing.assert_allclose(far.decision_function(dense + constant), near.decision_function(dense), atol=1e-10)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_a_large_mean_cancels_no_digits(offset):
    dense = X.toarray()
    w, _ = fit("casgd", dense, Y, "squared", 0.5, INDICES)
    w_far, _ = fit("casgd", dense + offset, Y, "squared", 0.5, INDICES)
    np.testing.assert_allclose(w_far, w, rtol=1e-6 if offset == 1e8 else 1e-9)  # x + 1e8 itself keeps eight digits of x
    near, far = (regressor("casgd", steps=40, random_state=0).fit(rows, Y) for rows in (dense, dense + offset))
    np.testing.assert_allclose(far.predict(dense + offset), near.predict(dense), rtol=1e-6)


def test_the_mean_of_many_single_precision_entries():
    column = sp.csr_array(np.full((3_000_000, 1), 0.1, np.float32))
    assert abs(as_rows(column).mean(np.ones(3_000_000))[0] - 0.1) < 1e-6
    assert abs(State(Problem(column, np.zeros(3_000_000), "squared", 1.0), "casgd").xbar[0]) < 0.1 + 1e-6


def test_the_average_leaves_out_the_beginning_and_not_the_end():
    rows, y = np.array([[1.0, 0], [0, 2]]), np.array([1.0, -1])
    w, b = fit("asgd", rows, y, "hinge", 0.5, [0])
    assert [*w, b] == [2, 0, 2]  # w_1; w_0 = 0 is not in the mean
    w, b = fit("asgd", rows, y, "hinge", 0.5, [0, 1])
    assert [*w, b] == [1.5, -1, 1]  # of w_1 = (2, 0), b_1 = 2 and w_2 = (1, −2), b_2 = 0


def test_the_average_is_the_uniform_mean_of_all_iterates():
    iterates = [fit("sgd", X, Y, "log", 0.5, INDICES[:t]) for t in range(1, 7)]
    w, b = fit("asgd", X, Y, "log", 0.5, INDICES)
    np.testing.assert_allclose(w, np.mean([w for w, _ in iterates], axis=0), atol=1e-12)
    assert b == pytest.approx(np.mean([b for _, b in iterates]), abs=1e-12)


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_the_average_is_what_predicts(algorithm):
    found = regressor(algorithm, steps=6, sampling="cyclic").fit(X, Y)
    w, b = fit(algorithm, X, Y, "squared", 0.5, np.arange(6) % 4)
    np.testing.assert_array_equal(found.coef_, w)
    assert found.intercept_[0] == b
    np.testing.assert_allclose(found.predict(X), X @ w + b)
    assert abs(w - fit(algorithm, X, Y, "squared", 0.5, np.arange(6) % 4, last=True)[0]).max() > 1e-3


def test_the_last_centred_predictor_knows_the_centre_and_is_read_twice_the_same():
    w, b = fit("casgd", X, Y, "squared", 0.5, INDICES, last=True)
    np.testing.assert_allclose([*w, b], [-1.09945605, 0.62508996, 0.70767053, 1.70796306927999], atol=1e-8)
    state = State(Problem(X, Y, "squared", 0.5), "casgd").run(INDICES)
    np.testing.assert_array_equal(state.last().w, state.last().w)
    assert state.last().b == b


def test_calls_in_sequence_go_on_counting_steps():
    found = regressor()
    for rows in (slice(0, 1), slice(1, 3), slice(3, 4), slice(0, 4)):
        found.partial_fit(X[rows], Y[rows])
    w, b = fit("asgd", X, Y, "squared", 0.5, [0, 1, 2, 3, 0, 1, 2, 3])
    np.testing.assert_array_equal(found.coef_, w)
    assert found.intercept_[0] == b and found.t_ == 8


@pytest.mark.parametrize("algorithm", ["asgd", "casgd"])
def test_a_stream_of_three_classes_of_which_one_never_comes(algorithm):
    found = classifier(algorithm, "hinge")
    for _ in range(3):
        found.partial_fit(X[:2], ["a", "b"], classes=["a", "b", "c"])
        assert found.coef_.shape == (3, 3) and found.intercept_.shape == (3,)
    assert list(found.classes_) == ["a", "b", "c"] and len(found.predict(X)) == 4


def test_any_sequence_of_indices_is_followed():
    w, b = fit("sgd", X, Y, "hinge", 0.5, [3, 3, 3, 0, 3])
    wanted = reference.sgd(Problem(X, Y, "hinge", 0.5), [3, 3, 3, 0, 3])
    np.testing.assert_allclose([*w, b], [*wanted.w, wanted.b], atol=1e-12)
    counts = np.bincount(reference.draw_indices(4, 4000, rng=0), minlength=4)
    assert len(set(counts)) > 1  # drawn with replacement, not shuffled


def test_the_log_loss_overflows_nowhere():
    loss, derivative = LOSSES["log"].value, LOSSES["log"].derivative
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        assert derivative(-1000, 1) == -1 and derivative(1000, -1) == 1 and derivative(0, 1) == -0.5
        assert abs(derivative(1000, 1)) < 1e-300
        assert loss(-1000, 1) == 1000 and 0 <= loss(1000, 1) < 1e-300
        assert loss(40, 1) == pytest.approx(4.248354255291589e-18, rel=1e-12)  # not log(1 + …), which is 0
        assert np.isfinite(fit("asgd", X, Y, "log", 1e-9, INDICES)[0]).all()


def test_which_subgradient_is_taken_at_a_kink():
    hinge, absolute = LOSSES["hinge"].derivative, LOSSES["absolute"].derivative
    assert (hinge(1, 1), hinge(-1, -1), hinge(1.0000001, 1)) == (-1, 1, 0)
    assert (absolute(2, 2), absolute(2.1, 2), absolute(0, 0)) == (-1, 1, -1)
    w, b = fit("sgd", sp.csr_array([[0.5]]), [0.0], "absolute", 1.0, [0, 0])
    assert (w[0], b) == (0, 0)


@pytest.mark.parametrize("lam", [0, 0.0, -1.0, float("nan"), float("inf"), "0.1", None], ids=repr)
def test_a_useless_lambda_is_refused_before_it_divides(lam):
    with pytest.raises((TypeError, ValueError), match=r"^lam, the regularisation"):
        fit("sgd", X, Y, "hinge", lam, INDICES)
    with pytest.raises((TypeError, ValueError), match=r"^alpha must be a finite number > 0"):
        CASGDClassifier(alpha=lam).fit(X, Y)


def test_a_tiny_lambda_explodes_loudly():
    row, y = sp.csr_array(np.full((2, 4), 30.0)), np.array([1.0, -1])
    with pytest.raises(FloatingPointError, match="by step"):
        fit("asgd", row, y, "squared", 1e-6, np.zeros(400, dtype=int))
    with pytest.raises(FloatingPointError, match="by step"):
        CASGDRegressor(alpha=1e-6, algorithm="asgd", t0=0, n_steps=400).fit(row, y)
    assert np.isfinite(CASGDRegressor(alpha=1e-6, n_steps=400).fit(row, y).coef_).all()  # its own t0 is large enough
    for loss in ("hinge", "log"):
        assert np.isfinite(fit("asgd", row, y, loss, 1e-6, np.zeros(400, dtype=int))[0]).all()
        assert np.isfinite(CASGDClassifier(loss, alpha=1e-6, n_steps=400).fit(row, y).coef_).all()


def test_the_bias_is_regularised():
    y, dense = np.array([1.0, -1, 1, 2]), X.toarray()
    w, b = fit("asgd", X, y, "squared", 0.5, INDICES)
    value = Problem(X, y, "squared", 0.5).objective(Predictor(w, b))
    assert value == pytest.approx(0.25 * (w @ w + b * b) + np.mean(0.5 * (dense @ w + b - y) ** 2), rel=1e-12)
    rows = np.column_stack([dense, np.ones(4)])
    ridge = np.linalg.solve(rows.T @ rows / 4 + 0.5 * np.eye(4), rows.T @ y / 4)
    found = regressor(steps=400_000, random_state=0).fit(X, y)
    np.testing.assert_allclose([*found.coef_, *found.intercept_], ridge, atol=2e-2)


@pytest.mark.parametrize("types", [(np.int64, np.int64), (np.int32, np.int64)], ids=["int64", "mixed"])
def test_sparse_matrices_with_long_indices(types):
    long = X.copy()
    long.indices, long.indptr = long.indices.astype(types[0]), long.indptr.astype(types[1])
    np.testing.assert_array_equal(fit("casgd", long, Y, "log", 0.5, INDICES)[0], fit("casgd", X, Y, "log", 0.5, INDICES)[0])
    found, wanted = (regressor("casgd", steps=8, random_state=0).fit(rows, Y) for rows in (long, X))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    np.testing.assert_array_equal(found.predict(long), wanted.predict(X))


@pytest.mark.parametrize(
    "entries",
    [([2.0, 1, 3, 1, 4], [2, 0, 1, 2, 0], [0, 2, 3, 3, 5]), ([0.25, 2, 0.75, 3, 1, 4], [0, 2, 0, 1, 2, 0], [0, 3, 4, 4, 6])],
    ids=["unsorted", "repeated"],
)
def test_columns_in_any_order_and_columns_stored_twice(entries):
    odd = sp.csr_array(tuple(map(np.array, entries)), shape=(4, 3))
    for algorithm in ("sgd", "asgd", "casgd"):
        w, b = fit(algorithm, odd, Y, "squared", 0.5, INDICES)
        np.testing.assert_allclose([*w, b], GOLDEN[algorithm, "squared"], rtol=1e-11)
    found = regressor(steps=6, sampling="cyclic").fit(odd, Y)
    np.testing.assert_allclose(found.predict(odd), found.predict(X.toarray()), rtol=1e-14)
    assert not odd.has_canonical_format  # it was left as it came


def test_read_only_rows_and_rows_on_the_disk(tmp_path):
    frozen, y, indices = X.copy(), Y.copy(), np.array(INDICES)
    for array in (frozen.data, frozen.indices, frozen.indptr, y, indices):
        array.setflags(write=False)
    np.testing.assert_array_equal(fit("casgd", frozen, y, "log", 0.5, indices)[0], fit("casgd", X, Y, "log", 0.5, INDICES)[0])
    joblib.dump(X, tmp_path / "rows")
    mapped = joblib.load(tmp_path / "rows", mmap_mode="r")
    found, wanted = (regressor("casgd", steps=3, random_state=0).fit(rows, Y) for rows in (mapped, X))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("interface", ["array", "matrix"])
def test_every_sparse_container(form, interface):
    container = getattr(sp, f"{form}_{interface}")(X.toarray())
    w, b = fit("casgd", container, Y, "log", 0.5, INDICES)
    assert type(w) is np.ndarray and w.shape == (3,) and np.ndim(b) == 0
    np.testing.assert_allclose([*w, b], GOLDEN["casgd", "log"], rtol=1e-11)
    found, wanted = (regressor("casgd", steps=4, random_state=0).fit(rows, Y) for rows in (container, X))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    predictions = found.predict(container)
    assert type(predictions) is np.ndarray and predictions.shape == (4,)
    np.testing.assert_array_equal(predictions, wanted.predict(X))


def test_single_precision_rows_are_added_up_in_double():
    single, indices = X.astype(np.float32), np.arange(20_000) % 4
    w, b = fit("asgd", single, Y, "log", 0.5, indices)
    wanted, wanted_b = fit("asgd", X, Y, "log", 0.5, indices)
    np.testing.assert_allclose([*w, b], [*wanted, wanted_b], rtol=1e-9)
    found = classifier(steps=20_000, sampling="cyclic").fit(single, Y)
    np.testing.assert_array_equal(found.coef_[0], w)
    assert single.dtype == np.float32 and w.dtype == found.coef_.dtype == found.decision_function(single).dtype == np.float64


def test_a_column_or_row_that_does_not_exist():
    bad = sp.csr_array(([1.0], [0], [0, 1]), shape=(1, 3))
    bad.indices = np.array([7], dtype=bad.indices.dtype)
    other = sp.csc_array(([1.0], [0], [0, 1, 1, 1]), shape=(4, 3))
    other.indices = np.array([7], dtype=other.indices.dtype)
    trained = regressor(steps=3, random_state=0).fit(X, Y)
    for refused in (
        lambda: fit("asgd", bad, [1.0], "hinge", 0.5, [0]),
        lambda: regressor(steps=3).fit(bad, [1.0]),
        lambda: regressor(steps=3).fit(other, Y),
        lambda: trained.predict(bad),
        lambda: trained.predict(other),
        lambda: trained.predict(sp.csr_array((2, 5))),
    ):
        with pytest.raises(ValueError, match=r"malformed|5 features"):
            refused()
    for indices in ([4], [-5], [-1]):
        with pytest.raises(ValueError, match=r"indices must lie in 0\.\.3"):
            fit("sgd", X, Y, "hinge", 0.5, indices)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 3, 0, 2]], ids=str)
def test_the_sign_does_not_depend_on_which_label_comes_first(order):
    labels = np.array(["no", "yes", "no", "yes"])
    found = classifier(steps=400, sampling="cyclic").fit(X[order], labels[order])
    scores = found.decision_function(X)
    assert list(found.classes_) == ["no", "yes"] and scores[1] > 0 and scores[3] > 0
    assert (np.where(scores > 0, "yes", "no") == found.predict(X)).all()


def test_labels_0_and_1_do_not_switch_half_of_the_rows_off():
    weights = []
    for coding in ([-1, 1], [0, 1], [1, 2], [False, True], ["a", "b"]):
        weights.append(classifier(steps=6, sampling="cyclic").fit(X, np.array(coding)[[1, 0, 1, 0]]).coef_[0])
    for other in weights:
        np.testing.assert_array_equal(other, weights[0])
    for loss in ("hinge", "log"):
        with pytest.raises(ValueError, match=r"labels -1 and \+1"):
            fit("asgd", X, [1.0, 0, 1, 0], loss, 0.5, INDICES)


@pytest.mark.parametrize("y", [np.zeros(4, int), np.array(["a"] * 4), np.array([False] * 4)], ids=str)
def test_one_class_only(y):
    for train in (classifier(steps=4).fit, CASGDClassifier(class_weight="balanced").fit):
        with pytest.raises(ValueError, match="classes has to be greater than one; got 1 class"):
            train(X, y)


def test_a_weight_belongs_to_its_row_and_says_how_often():
    none, ones = (regressor(steps=8, random_state=0).fit(X, Y, weight) for weight in (None, np.ones(4)))
    np.testing.assert_array_equal(none.coef_, ones.coef_)
    repeated = [0, 1, 1, 1, 1, 1, 2, 3]
    weighted = regressor(steps=8, random_state=1).fit(X, Y, sample_weight=[1, 5, 1, 1])
    np.testing.assert_array_equal(weighted.coef_, regressor(steps=8, random_state=1).fit(X[repeated], Y[repeated]).coef_)
    absent = regressor(steps=8, random_state=1).fit(X, Y, sample_weight=[1, 0, 1, 1])
    present = [0, 2, 3]
    np.testing.assert_array_equal(absent.coef_, regressor(steps=8, random_state=1).fit(X[present], Y[present]).coef_)


def test_seeds_repeat_and_nobody_elses_generator_is_touched():
    before, plain = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    one, again, other = (regressor(steps=50, random_state=seed).fit(X, Y).coef_ for seed in (7, 7, 8))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    found = regressor(steps=5, random_state=0)
    np.testing.assert_array_equal(found.fit(X, Y).coef_, found.fit(X, Y).coef_)
    for generator in (np.random.default_rng(3), np.random.RandomState(3), None):
        assert regressor(steps=5, random_state=generator).fit(X, Y).t_ == 5
    assert np.array_equal(np.random.get_state()[1], before) and random.getstate() == plain  # noqa: NPY002


def test_pickles_copies_and_clones():
    found = classifier("casgd", steps=6, random_state=0).fit(X, [0, 1, 0, 1])
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_array_equal(twin.predict(X), found.predict(X))
    assert clone(found).get_params() == found.get_params() and not hasattr(clone(found), "coef_")
    stream = classifier().partial_fit(X, [0, 1, 0, 1], classes=[0, 1])
    twin = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(stream.partial_fit(X, [0, 1, 0, 1]).coef_, twin.partial_fit(X, [0, 1, 0, 1]).coef_)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_come_in_nowhere(bad):
    poisoned, labels = X.copy(), Y.copy()
    poisoned.data[1] = labels[1] = bad
    trained = regressor(steps=2, random_state=0).fit(X, Y)
    for refused, (rows, y) in product(
        (lambda rows, y: fit("asgd", rows, y, "squared", 0.5, INDICES), lambda rows, y: regressor(steps=2).fit(rows, y)),
        ((poisoned, Y), (poisoned.toarray(), Y), (X, labels)),
    ):
        with pytest.raises(ValueError, match=r"finite|NaN|nan|inf"):
            refused(rows, y)
    for rows in (poisoned, poisoned.toarray()):
        with pytest.raises(ValueError, match=r"finite|NaN|nan|inf"):
            trained.predict(rows)


def test_silence_unless_asked(capfd):
    regressor(steps=100, random_state=0).fit(X, Y)
    classifier(steps=100, random_state=0).fit(X, [0, 1, 2, 1])
    assert capfd.readouterr() == ("", "")
    text = make_text(50, 200, 5, seed=0)
    seen = []
    of = Problem(text.X, text.y, "log", 0.5)
    watched = classifier(random_state=0, callback=lambda t, state: seen.append((t, of.objective(state.average()))))
    watched.set_params(n_epochs=3).fit(text.X, text.y)
    assert [t for t, _ in seen] == [50, 100, 150] and seen[-1][1] < seen[0][1]
    assert capfd.readouterr() == ("", "")
