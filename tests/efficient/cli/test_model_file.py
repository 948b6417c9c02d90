"""Model files: as documented, back to the bit, and harmless where they are damaged or hostile."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import efficient
from efficient.cli.features import Transform, fit_transform_to
from efficient.cli.model_file import LONGEST_HEADER, Model, load_model
from reference import LOSSES, Predictor, Problem, draw_indices
from reference.datasets import make_generic, make_shifted


def make_model(classes=(-1.0, 1.0), transform="none", loss="log", n=6):
    rng = np.random.default_rng(0)
    models = 1 if classes is None or len(classes) == 2 else len(classes)
    predictors = [Predictor(rng.standard_normal(n), rng.standard_normal()) for _ in range(models)]
    X = make_generic(20, n, 3, seed=0).X if n else sp.csr_array((20, 0))
    known = None if classes is None else np.array(classes)
    return Model(predictors, LOSSES[loss], known, fit_transform_to(abs(X), transform), True, {"lam": 0.5})


MODELS = {
    "two classes": {},
    "four classes": {"classes": (0.0, 1.0, 2.0, 7.0)},
    "numbers": {"classes": None, "loss": "squared"},
    "tfidf": {"transform": "tfidf"},
    "scaled numbers": {"classes": None, "loss": "absolute", "transform": "scale"},
    "no columns": {"n": 0, "classes": None, "loss": "squared"},
}


def saved(tmp_path, **what):
    path = str(tmp_path / "a.model")
    make_model(**what).save(path)
    return path


def npy(array, version=(1, 0)):
    content = io.BytesIO()
    np.lib.format.write_array(content, np.asarray(array), version=version)
    return content.getvalue()


@pytest.mark.parametrize("what", MODELS.values(), ids=MODELS)
def test_model_comes_back_to_the_bit(tmp_path, what):
    model, path = make_model(**what), saved(tmp_path, **what)
    read = load_model(path)
    X = sp.csr_array(np.random.default_rng(1).random((30, model.n)))
    np.testing.assert_array_equal(read.scores(X), model.scores(X))
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert (read.loss, read.zero_based, read.training) == (model.loss, True, {"lam": 0.5})
    again = tmp_path / "again.model"
    read.save(str(again))
    assert again.read_bytes() == Path(path).read_bytes()


def test_pivoted_model_keeps_all_digits(tmp_path):
    X, y, _ = make_shifted(40, 6, 3, seed=0, offset=1e8)
    predictor = efficient.casgd(Problem(X, y, "log", 0.01), draw_indices(40, 400))
    assert predictor.pivoted is not None
    path = str(tmp_path / "a.model")
    Model([predictor], LOSSES["log"], np.array([-1.0, 1.0]), Transform("none", None), False, {}).save(path)
    np.testing.assert_array_equal(load_model(path).scores(X)[:, 0], predictor.predict(X))


@pytest.mark.parametrize("what", MODELS.values(), ids=MODELS)
def test_documentation_suffices_to_read_a_model(tmp_path, what):
    """Predict by the module's docstring alone, with numpy, json and dense rows."""
    path = saved(tmp_path, **what)
    archive = np.load(path)
    header = json.loads(archive["header.json"])
    assert (header["format"], header["version"]) == ("casgd model", 2)
    X = np.random.default_rng(2).random((30, header["columns"]))
    x = X
    if header["transform"] != "none":
        x = X * archive["factor"]
    if header["transform"] == "tfidf":
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
    if header["pivot"]:
        x = x - archive["pivot"]
    score = x @ archive["weights"].T + archive["bias"]
    if header["classes"] is None:
        predicted = score[:, 0]
    elif len(header["classes"]) == 2:
        predicted = np.where(score[:, 0] > 0, header["classes"][1], header["classes"][0])
    else:
        predicted = np.array(header["classes"])[score.argmax(axis=1)]
    np.testing.assert_allclose(load_model(path).predict(sp.csr_array(X)), predicted, rtol=1e-12, atol=1e-14)
    with zipfile.ZipFile(path) as zipped:
        for member in zipped.infolist():
            assert (member.date_time, member.compress_type) == ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED)


def test_scores_fill_up_columns_and_ignore_those_beyond():
    model = make_model()
    X = sp.csr_array(np.random.default_rng(3).random((5, 6)))
    wider = sp.csr_array(sp.hstack([X, sp.csr_array(np.ones((5, 3)))]))
    np.testing.assert_array_equal(model.scores(wider), model.scores(X))
    narrow = X.toarray()
    narrow[:, 4:] = 0
    np.testing.assert_array_equal(model.scores(sp.csr_array(narrow[:, :4])), model.scores(sp.csr_array(narrow)))
    with pytest.raises(FloatingPointError, match="row 1 "):
        model.scores(sp.csr_array(np.array([np.ones(6), 1.7e308 * np.sign(model.predictors[0].w)])))


# hostile and damaged files


def rewritten(path, change=None, header=None, leave=(), compression=zipfile.ZIP_STORED, **arrays):
    """Put other members in the place of some of the model file."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        members["header.json"] = json.dumps(json.loads(members["header.json"]) | change).encode()
    if header is not None:
        members["header.json"] = header
    for name, array in arrays.items():
        members[f"{name}.npy"] = array if isinstance(array, bytes) else npy(array)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name in members:
            if name not in leave:
                archive.writestr(name, members[name])
    return path


def refused(path, *words):
    with pytest.raises(ValueError, match=r"a\.model' is no model file that can be used: .") as caught:
        load_model(path)
    for word in words:
        assert word in str(caught.value)


class Payload:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_pickle_is_not_executed(tmp_path):
    harm, path = tmp_path / "harm", saved(tmp_path)
    rewritten(path, weights=np.array([Payload(harm)], dtype=object))
    with np.load(path, allow_pickle=True) as trusting:  # the payload works
        _ = trusting["weights"]
    assert harm.exists()
    harm.rmdir()
    refused(path, "weights")
    refused(rewritten(saved(tmp_path), header=pickle.dumps(Payload(harm))))
    Path(path).write_bytes(pickle.dumps(Payload(harm)))
    refused(path)
    with zipfile.ZipFile(saved(tmp_path), "a") as archive:
        archive.writestr("extra.pkl", pickle.dumps(Payload(harm)))
    load_model(path)
    assert not harm.exists()


def test_zip_bomb_takes_no_memory(tmp_path):
    path = saved(tmp_path)
    rewritten(path, {"columns": 3_000_000}, weights=np.zeros((1, 3_000_000)), compression=zipfile.ZIP_DEFLATED)
    assert Path(path).stat().st_size < 1e5
    tracemalloc.start()
    refused(path, "not stored as it is")
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


@pytest.mark.parametrize("columns", [10**7, 10**12, 10**30])
def test_declared_size_allocates_nothing(tmp_path, columns):
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (1, {columns}), }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(shape)) + shape + bytes(64)
    path = rewritten(saved(tmp_path), {"columns": columns}, weights=content)
    tracemalloc.start()
    refused(path, "the array weights must")
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("format", ["another"]),
        ("version", [3, "1", None]),
        ("loss", ["perceptron", [], "squared"]),
        ("classes", [None, [1], [1, 1], [1, -1], ["a", "b"], [0, True], [0, 1, 2], [0, 10**400]]),
        ("columns", [7, -1, 6.0, True]),
        ("zero_based", [1]),
        ("transform", ["pickle", "tfidf"]),
        ("pivot", [True, None]),
        ("training", [7, float("nan")]),
    ],
)
def test_wrong_header_is_refused(tmp_path, name, values):
    for value in values:
        refused(rewritten(saved(tmp_path), {name: value}))
    with zipfile.ZipFile(saved(tmp_path)) as archive:
        header = json.loads(archive.read("header.json"))
    del header[name]
    refused(rewritten(saved(tmp_path), header=json.dumps(header).encode()), name)


@pytest.mark.parametrize(
    "header", [b"", b"7", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"format": "casgd model"', b" " * (LONGEST_HEADER + 1)]
)
def test_header_that_is_none_is_refused(tmp_path, header):
    refused(rewritten(saved(tmp_path), header=header))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("weights", np.full((1, 6), np.nan)),
        ("bias", np.array([np.inf])),
        ("weights", np.zeros((1, 6), np.float32)),
        ("weights", np.zeros((1, 6), complex)),
        ("weights", np.zeros((6, 1))),
        ("weights", np.zeros(6)),
        ("weights", npy(np.zeros((1, 6)), (2, 0))),
        ("weights", npy(np.zeros((1, 6))) + bytes(8)),
        ("weights", npy(np.zeros((1, 6)))[:-8]),
        ("bias", np.array(1.0)),
        ("bias", np.array(["1"])),
    ],
)
def test_wrong_array_is_refused(tmp_path, name, array):
    refused(rewritten(saved(tmp_path), **{name: array}), f"the array {name} must")


def test_array_in_fortran_order_is_refused(tmp_path):
    refused(rewritten(saved(tmp_path, **MODELS["four classes"]), weights=np.zeros((6, 4)).T), "weights", "C order")


@pytest.mark.parametrize("name", ["weights.npy", "bias.npy", "header.json", "factor.npy"])
def test_missing_member_is_named(tmp_path, name):
    refused(rewritten(saved(tmp_path, transform="tfidf"), leave=(name,)), name.removesuffix(".npy"))


def test_name_may_occur_once(tmp_path):
    path = saved(tmp_path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bias.npy", b"")
    refused(path, "same name")


def test_every_cut_is_noticed(tmp_path):
    path = Path(saved(tmp_path))
    whole = path.read_bytes()
    for content in (*(whole[:length] for length in range(0, len(whole), 7)), b"1 1:1\n", bytes(1000)):
        path.write_bytes(content)
        refused(path)


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return [Path(saved(folder, **what)).read_bytes() for what in MODELS.values()], folder / "a.model"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ("format", "version", "loss", "columns", "zero_based", "classes", "transform", "pivot", "training")


@settings(max_examples=100 if settings.default.max_examples == 100 else 8000, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damaged_file_is_refused_or_gives_a_finite_model(contents, data):
    whole, path = contents
    content = bytearray(data.draw(st.sampled_from(whole)))
    path.write_bytes(content)
    kind = data.draw(st.sampled_from(["bytes", "splice", "header", "array"]))
    if kind == "bytes":
        for _ in range(data.draw(st.integers(1, 8))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
    elif kind == "splice":
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        content[start:stop] = data.draw(st.binary(max_size=40))
        path.write_bytes(content)
    elif kind == "array":
        name = data.draw(st.sampled_from(["weights", "bias", "factor", "pivot"]))
        shape = data.draw(st.sampled_from([(1, 6), (4, 6), (1,), (4,), (6,), (), (0,), (1, 0)]))
        values = data.draw(st.floats() | st.floats(width=32).map(np.float32) | st.integers(0, 9))
        rewritten(path, {"pivot": name == "pivot"}, **{name: np.full(shape, values)})
    else:
        rewritten(path, {data.draw(st.sampled_from(FIELDS)): data.draw(JSON)})
    try:
        model = load_model(str(path))
    except ValueError:
        return
    try:
        scores = model.scores(sp.csr_array(np.ones((2, 3))))
    except FloatingPointError:
        return
    assert np.isfinite(scores).all()
    assert model.predict(sp.csr_array(np.ones((2, 3)))).shape == (2,)
