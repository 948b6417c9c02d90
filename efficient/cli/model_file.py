"""Model file, version 1, as `casgd train` writes it.

It is a zip archive of numpy arrays (.npz, which numpy.load reads) whose members
are stored, not compressed:

header.json     a JSON object, in UTF-8:
    format      "casgd model"
    version     1
    loss        its name: one of those that `casgd train --help` lists
    columns     n, the number of weights of a model
    zero_based  whether the first column of svmlight text is called 0, not 1
    classes     the labels in increasing order; null if numbers are predicted
    transform   of a row x first: "none"; "scale": x_j becomes x_j factor_j;
                "tfidf": the same, and x is then divided by ‖x‖
    pivot       whether the score is w · (x − pivot) + bias, not w · x + bias
    training    the settings, for people to read: nothing depends on them
weights.npy     float64 (K, n), in C order: K = 1; one model for each class if
                there are more than two
bias.npy        float64 (K,)
factor.npy      float64 (n,), unless transform is "none"
pivot.npy       float64 (n,), if pivot is true

Every number is finite. The prediction is the score if classes is null; of two
classes the second if the score is > 0, else the first; of more the class with
the greatest score. Reading a file executes nothing that is in it, and takes no
more memory than a few times its size.
"""

import json
import os
import zipfile
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from reference import LOSSES, Loss, Predictor

from ..runs.files import check_stored, write_whole
from ..training.classes import count_models, decide
from ..training.models import scores
from .features import TRANSFORMS, Transform

FORMAT, VERSION = "casgd model", 1
LONGEST_HEADER = 1 << 22
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""Date of every member, so that the same model is the same file."""


@dataclass(frozen=True, eq=False)
class Model:
    """Trained model and all that is needed to apply it to raw rows.

    Parameters
    ----------
    predictors : list of Predictor
        One; or one for each class if there are more than two.
    loss : Loss
    classes : ndarray, or None if numbers are predicted
    transform : Transform
    zero_based : bool
        Numbering of the columns of svmlight files, for training and predicting.
    training : dict
        Settings, for people to read.
    """

    predictors: list[Predictor]
    loss: Loss
    classes: np.ndarray | None
    transform: Transform
    zero_based: bool
    training: dict[str, Any]

    @property
    def n(self) -> int:
        return len(self.predictors[0].w)

    def scores(self, X: sp.csr_array) -> np.ndarray:
        """Predict with each model for each raw row, shape (m, K).

        Columns that X lacks are 0; those beyond n are ignored.
        Raises FloatingPointError if one of them overflows.

        Cost: O(K(n + mk)).
        """
        X = X[:, : self.n]
        return scores(self.predictors, self.transform.apply(sp.csr_array((X.data, X.indices, X.indptr), (X.shape[0], self.n))))

    def predict(self, X: sp.csr_array) -> np.ndarray:
        """Predict the label or number of each raw row; errors and cost as `scores`."""
        return decide(self.scores(X), self.classes)

    def save(self, path: str) -> None:
        """Write the model to a file, whole or not at all."""
        weights = np.array([predictor.w for predictor in self.predictors])
        at = [predictor if predictor.pivoted is None else predictor.pivoted for predictor in self.predictors]
        arrays = {"weights": weights, "bias": np.array([predictor.b for predictor in at])}
        if self.transform.factor is not None:
            arrays["factor"] = self.transform.factor
        pivot = at[0].xbar
        if pivot is not None:
            arrays["pivot"] = pivot
        header = {
            "format": FORMAT,
            "version": VERSION,
            "loss": self.loss.name,
            "columns": self.n,
            "zero_based": self.zero_based,
            "classes": None if self.classes is None else self.classes.tolist(),
            "transform": self.transform.name,
            "pivot": "pivot" in arrays,
            "training": self.training,
        }

        def write(file: BinaryIO) -> None:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo("header.json", BEGINNING), json.dumps(header, indent=1))
                for name, array in arrays.items():
                    with archive.open(zipfile.ZipInfo(f"{name}.npy", BEGINNING), "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array.astype("<f8"))

        write_whole(path, write)


def load_model(path: str) -> Model:
    """Read a model file.

    Raises
    ------
    ValueError
        It is not a model file of this version, or a damaged or malicious one.
    OSError
        It cannot be read.

    Cost: O(Kn), and no more memory than a few times the size of the file.
    """
    with open(path, "rb") as file:
        try:
            return _read(file)
        except Exception as error:  # any error that a damaged archive makes its reader raise
            reason = str(error) or type(error).__name__
            raise ValueError(f"{os.fspath(path)!r} is no model file that can be used: {reason}") from None


def _read(file: BinaryIO) -> Model:
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        members = check_stored(archive, size)
        if "header.json" not in members or members["header.json"].file_size > LONGEST_HEADER:
            raise ValueError(f"it has no header.json of at most {LONGEST_HEADER} bytes")
        header = _checked(json.loads(archive.read("header.json"), parse_constant=_refuse))
        n, classes = header["columns"], header["classes"]
        models = count_models(classes)
        shapes = {"weights": (models, n), "bias": (models,)}
        shapes |= {"factor": (n,)} if header["transform"] != "none" else {}
        shapes |= {"pivot": (n,)} if header["pivot"] else {}
        arrays = {name: _read_array(archive, members, name, shape) for name, shape in shapes.items()}
    predictors = list(map(Predictor, arrays["weights"], arrays["bias"]))
    if header["pivot"]:
        predictors = [_moved(predictor, arrays["pivot"]) for predictor in predictors]
    return Model(
        predictors,
        LOSSES[header["loss"]],
        None if classes is None else np.array(classes, dtype=np.float64),
        Transform(header["transform"], arrays.get("factor")),
        header["zero_based"],
        header["training"],
    )


def _moved(stored: Predictor, pivot: np.ndarray) -> Predictor:
    """Make the predictor whose bias is stored as that around a pivot."""
    around = Predictor(stored.w, stored.b, pivot)
    with np.errstate(all="ignore"):  # b' may not have the digits, but does not make the predictions either
        return Predictor(stored.w, around.implicit().b, pivoted=around)


def _refuse(constant: str):
    raise ValueError(f"its header has the number {constant}")


def _checked(header: Any) -> dict[str, Any]:
    """Check that everything in the header is as documented, and return it."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f'its header does not say "format": "{FORMAT}"')
    if header.get("version") != VERSION:
        raise ValueError(f"it has version {str(header.get('version'))[:20]} of the format, and this program reads {VERSION}")
    loss, classes = header.get("loss"), header.get("classes")
    as_documented = {
        "loss": loss in list(LOSSES),
        "columns": type(header.get("columns")) is int and header["columns"] >= 0,
        "zero_based": isinstance(header.get("zero_based"), bool),
        "classes": loss in list(LOSSES) and "classes" in header and _are_classes(classes, LOSSES[loss]),
        "transform": header.get("transform") in TRANSFORMS,
        "pivot": isinstance(header.get("pivot"), bool),
        "training": isinstance(header.get("training"), dict),
    }
    for name, right in as_documented.items():
        if not right:
            raise ValueError(f'its header has no usable "{name}"')
    return header


def _are_classes(classes: Any, loss: Loss) -> bool:
    if not loss.binary:
        return classes is None
    if not (isinstance(classes, list) and len(classes) >= 2 and {type(label) for label in classes} <= {int, float}):
        return False
    labels = np.array(classes, dtype=np.float64)
    return bool(np.isfinite(labels).all() and (np.diff(labels) > 0).all())


def _read_array(archive: zipfile.ZipFile, members: dict, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Read an array of the expected shape; allocate nothing for one of another."""
    if f"{name}.npy" not in members:
        raise ValueError(f"it lacks the array {name}")
    with archive.open(f"{name}.npy") as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"the array {name} has another version of numpy's format than 1.0")
        found, fortran, dtype = np.lib.format.read_array_header_1_0(member)
        if found != shape or fortran or dtype != np.dtype("<f8"):
            order = " in Fortran order" if fortran else ""
            got = f"{dtype} of shape {str(found)[:80]}{order}"
            raise ValueError(f"the array {name} must be float64 of shape {shape} in C order; got {got}")
        content = member.read()
    if len(content) != 8 * int(np.prod(shape, dtype=object)):
        raise ValueError(f"the array {name} is cut off")
    array = np.frombuffer(content, dtype="<f8").reshape(shape)
    if not np.isfinite(array).all():
        raise ValueError(f"the array {name} holds a number that is not finite")
    return array
