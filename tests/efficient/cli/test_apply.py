"""casgd predict and casgd evaluate."""

from pathlib import Path

import numpy as np
import pytest

from efficient import CASGDClassifier, CASGDRegressor
from efficient.cli.features import Transform
from efficient.cli.model_file import Model, load_model
from efficient.reading.svmlight import load_svmlight
from reference import LOSSES, Predictor


def write_model(classes=(-1.0, 1.0), n=1):
    predictors = [Predictor(np.ones(n) + k, 0.0) for k in range(1 if len(classes) == 2 else len(classes))]
    Model(predictors, LOSSES["hinge"], np.array(classes), Transform("none", None), False, {}).save("m")


@pytest.mark.usefixtures("folder")
def test_predictions_and_scores_are_those_of_the_model(works):
    Path("many.svm").write_text("".join(f"0 1:{i % 7} 2:{i % 3}\n" for i in range(2345)))  # more than are printed at once
    X = load_svmlight("many.svm").X
    for file in ("a.svm", "b.svm"):
        works("train", file, "-o", "m")
        model = load_model("m")
        rows = zip(model.predict(X), model.scores(X), strict=True)
        wanted = "".join("\t".join([f"{label:g}", *map(repr, map(float, scores))]) + "\n" for label, scores in rows)
        assert works("predict", "m", "many.svm", "--scores") == wanted
        assert works("predict", "m", "many.svm") == "".join(line.split("\t")[0].strip() + "\n" for line in wanted.splitlines())


@pytest.mark.usefixtures("folder")
def test_predictions_go_to_a_file_whole_or_not_at_all(works, fails):
    works("train", "a.svm", "-o", "a.model")
    assert works("predict", "a.model", "a.svm", "-o", "out.txt") == ""
    assert Path("out.txt").read_text() == works("predict", "a.model", "a.svm")
    Path("bad.svm").write_text("1 1:1\n1 x:1\n")
    for command in (["predict", "a.model", "bad.svm", "--force", "-o", "out.txt"], ["train", "bad.svm", "-o", "a.model"]):
        before = Path(command[-1]).read_bytes()
        fails(1, ["'bad.svm', line 2"], *command)
        assert Path(command[-1]).read_bytes() == before
    assert not list(Path().glob("*.part"))


def test_evaluate_prints_the_error_of_each_class(casgd, works):
    write_model()
    Path("c.svm").write_text("-1 1:1\n-1 1:-1\n-1 1:-2\n1 1:1\n1 1:-1\n1 1:-2\n1 1:2\n")
    assert works("evaluate", "m", "c.svm").splitlines() == [
        "7 rows",
        f"loss   {(2 + 2 + 3) / 7:.6g}",
        f"error  {3 / 7:.6g}",
        "class -1: 3 rows, error 0.333333",
        "class 1: 4 rows, error 0.5",
    ]


@pytest.mark.parametrize("count", [10, 11])
def test_evaluate_refuses_an_unknown_label(casgd, works, fails, count):
    write_model(np.arange(float(count)), n=3)
    Path("c.svm").write_text("0 1:1\n88 1:1\n1 1:1\n99 1:1\n77 2:1\n")
    known = ", ".join(map(str, range(10))) + (", …" if count > 10 else "")
    fails(1, [f"'c.svm' must be classes of the model, {known}; got 88"], "evaluate", "m", "c.svm")
    works("predict", "m", "c.svm")


@pytest.mark.usefixtures("folder")
def test_columns_beyond_the_model_are_ignored_and_noted(casgd, works):
    works("train", "a.svm", "-o", "a.model", "--tfidf")
    narrow = "0 1:2 3:0.5\n1 2:1\n"
    Path("narrow.svm").write_text(narrow)
    Path("wide.svm").write_text(narrow.replace("0.5", "0.5 7:9"))
    Path("huge.svm").write_text(narrow.replace("0.5", "0.5 2147483647:9"))  # would ask for gigabytes
    predicted = works("predict", "a.model", "narrow.svm", "--scores")
    for name, columns in (("wide.svm", 7), ("huge.svm", 2147483647)):
        status, out, err = casgd("predict", "a.model", name, "--scores")
        assert (status, out) == (0, predicted)
        assert err == f"casgd: '{name}' has {columns} columns and the model 3: columns unknown in training are ignored\n"
    # as training on as many columns gives
    Path("as_wide.svm").write_text(Path("a.svm").read_text().rstrip() + " 7:0\n")
    works("train", "as_wide.svm", "-o", "wide.model", "--tfidf")
    assert works("predict", "wide.model", "wide.svm", "--scores") == predicted


def test_predictions_that_overflow_are_refused(casgd, fails):
    write_model(n=3)
    Path("b.svm").write_text("1 1:1\n1 1:1e308 2:1e308 3:1e308\n")
    fails(1, ["row 1", "overflows"], "predict", "m", "b.svm")


@pytest.mark.usefixtures("folder")
def test_predict_takes_rows_without_labels_and_evaluate_says_what_is_lacking(works, fails):
    works("train", "a.svm", "-o", "m", "--epochs", 1)
    rows = [line.partition(" ")[2] for line in Path("a.svm").read_text().splitlines()]
    Path("rows.svm").write_text("\ufeff" + "\n".join(rows))
    predicted = works("predict", "m", "a.svm", "--scores")
    assert works("predict", "m", "rows.svm", "--scores") == predicted
    assert works("predict", "m", "-", "--scores", stdin=Path("rows.svm").read_bytes()) == predicted
    for command in (["evaluate", "m", "rows.svm"], ["train", "rows.svm", "-o", "n"], ["convert", "rows.svm", "-o", "n.npz"]):
        fails(1, ["'rows.svm', line 1", "no label", "casgd predict needs none"], *command)
    Path("rows.csv").write_text("1,2,3\n4,5,6\n")
    fails(1, ["'rows.csv', line 1", "CSV", "dump_svmlight_file"], "predict", "m", "rows.csv")


@pytest.mark.parametrize(("estimator", "options"), [(CASGDClassifier, []), (CASGDRegressor, ["--loss", "squared"])])
@pytest.mark.usefixtures("folder")
def test_defaults_give_the_model_of_the_estimator_to_the_bit(works, estimator, options):
    works("train", "a.svm", "-o", "m", *options)
    X, y, _ = load_svmlight("a.svm")
    fitted, (predictor,) = estimator(random_state=0).fit(X, y), load_model("m").predictors
    np.testing.assert_array_equal(np.ravel(fitted.coef_), predictor.w)
    assert fitted.intercept_ == [predictor.b]
