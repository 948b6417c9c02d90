"""The arguments of `casgd` and its help; what can be refused before anything is read is refused here, with status 2."""

import argparse
import os
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from reference import LOSSES
from reference.arithmetic import check_lam, check_t0
from reference.sampling import ORDERS

from ..runs.algorithms import ALGORITHMS
from ..runs.files import check_writable
from . import model_file
from .apply import evaluate, predict
from .examples import STANDARD_INPUT
from .sweep import sweep
from .train import train

FILES = """\
FILE is svmlight text: a line an example, label column:value column:value …;
blank lines, comments from # on and qid: are passed over. It is compressed if it
ends in .gz or .bz2; - is svmlight text on standard input. A FILE that ends in
.npz is a sparse matrix as scipy.sparse.save_npz writes it, or the arrays data,
indices, indptr and shape of a CSR matrix; the labels are the array y in the
same file, or in a file of their own (--labels).
"""

LABELS = """\
With the losses hinge and log the labels are classes. Any two numbers will do
(-1 +1, 0 1, 1 2): the greater one is the paper's +1. More than two must be
whole numbers; then one model is trained for each class against all others, all
in one pass over the rows. With squared and absolute the labels are numbers to
predict.
"""

EXAMPLES = {
    "casgd": """\
  casgd sweep mails.svm --tfidf                         which lam is best?
  casgd train mails.svm --tfidf --lam 1e-4 -o mails.model
  casgd evaluate mails.model later.svm
  casgd predict mails.model new.svm > labels.txt
""",
    "train": """\
  casgd train mails.svm -o mails.model
  casgd train mails.svm.gz -o mails.model --tfidf --loss hinge --hold-out 0.2
  casgd train ratings.svm -o ratings.model --loss squared --scale --epochs 50
  casgd train counts.npz --labels y.npy -o counts.model
  zcat part*.gz | casgd train - -o all.model --checkpoint all.checkpoint
""",
    "predict": """\
  casgd predict mails.model new.svm > labels.txt
  casgd predict mails.model new.svm --scores -o scores.tsv
  head -100 new.svm | casgd predict mails.model -
""",
    "evaluate": """\
  casgd evaluate mails.model later.svm
  casgd evaluate counts.model later.npz --labels y.npy
""",
    "sweep": """\
  casgd sweep mails.svm --tfidf
  casgd sweep mails.svm --loss hinge --lam 1e-6,1e-5,1e-4 --folds 10 --epochs 5
""",
}

TRAIN = """\
After each epoch a line is printed: F, the objective that is minimised (for csgd
and casgd that of the centred rows; its mean over the classes if there are more
than two), the mean loss, and the error, or MSE and R2 for numbers; the same of
the rows held out; and the seconds that the steps took, in the first epoch with
compiling. Rows that repeat each other are held out together or not at all.
tf-idf and scaling are fitted to the rows that are not held out, and stored in
the model.

With --checkpoint the state is saved after every epoch, and twice a minute in
long ones. The same command then goes on from there, even after kill -9, and
gives the model of an uninterrupted run to the bit. With more --epochs it trains
longer.
"""

SWEEP = """\
Cross-validation: each fold in turn is held out, and models for all values of
lam are trained on the other folds at once, in one pass over the rows. Rows that
repeat each other are in one fold. The best lam is that of the lowest error, or
of the lowest loss for numbers and where errors are equal.
"""

PREDICT = """\
The model file knows how columns are numbered and how rows are transformed. A
row has zeros in the columns that it lacks. Columns beyond those of the model
are left out, and a line on standard error says so: the model knows nothing of
them, and if training had seen them, as columns of zeros, their weights would be
0. The labels in FILE are not read.
"""

EVALUATE = """\
Prints the mean loss, and the error, of each class too, or MSE and R2 if the
model predicts numbers. Columns are treated as by casgd predict.
"""

STATUS = """\
Exit status: 0; 1 if the data are bad, 2 if the usage is, with one line on
standard error that says why; 130 after Ctrl-C.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with the function to call as `run`; ends the program with status 2 if they are unusable."""
    parser = _parser("casgd", _Parser, f"{LABELS}\n{FILES}\n{STATUS}\n{model_file.__doc__}")
    parser.description = "Linear learning with sparse data: averaged SGD on centred rows that are never made dense."
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, run, summary, about in (
        ("train", train, "train a model on a file", TRAIN + "\n" + LABELS),
        ("predict", predict, "predict the label of each row of a file", PREDICT),
        ("evaluate", evaluate, "print loss and error of a model on a file", EVALUATE),
        ("sweep", sweep, "find the best lam by cross-validation", SWEEP + "\n" + LABELS),
    ):
        command = _parser(name, commands.add_parser, f"{about}\n{FILES}\n{STATUS}", help=summary)
        command.set_defaults(run=run, parser=command)
        add = command.add_argument
        if name in ("predict", "evaluate"):
            add("model", metavar="MODEL", help="a model file, written by casgd train")
        add("examples", metavar="FILE", help="the examples, see below; - is standard input")
        if name != "predict":
            add("--labels", metavar="FILE", help="the labels of an .npz: .npy, or text with one number a line")
        if name == "train":
            add("-o", "--output", metavar="MODEL", required=True, help="the model file to write")
            add("--lam", type=_lam, default=1e-4, metavar="LAM", help="λ > 0, the regularisation of w and b (default: 1e-4)")
            _add_learning(command)
            share = "the share of the rows to hold out of training and measure on (default: 0)"
            add("--hold-out", type=_fraction, default=0.0, metavar="SHARE", help=share)
            add("--checkpoint", metavar="FILE", help="where to save the state, and to go on from if it exists")
        elif name == "sweep":
            lams = [10.0**power for power in range(-6, 1)]
            add("--lam", type=_lams, default=lams, metavar="LAM,LAM,…", help="the values to try (default: 1e-6,1e-5,…,1)")
            _add_learning(command)
            add("--folds", type=_whole(2), default=5, metavar="N", help="how many parts to cut the rows into (default: 5)")
        elif name == "predict":
            add("-o", "--output", metavar="OUT", help="the file to write (default: standard output)")
            each = "after each label a tab and the score w · x + b, or for more than two classes the score of each"
            add("--scores", action="store_true", help=each)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:  # said by the command, whose --help lists what it knows
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    _check(options)
    return options


def _parser(name: str, make, about: str, **others) -> argparse.ArgumentParser:
    epilog = f"Examples:\n{EXAMPLES[name]}\n{about.strip()}".replace("%", "%%")
    return make(name, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **others)


def _add_learning(command: argparse.ArgumentParser) -> None:
    """The options that train and sweep have in common."""
    add = command.add_argument
    add("--loss", choices=sorted(LOSSES), default="log", help="(default: log)")
    add("--algorithm", choices=tuple(ALGORITHMS), default="casgd", help="(default: casgd)")
    average = "weigh the iterate of step t by t (default), or all alike as in the paper; sgd and csgd do not average"
    add("--average", choices=("weighted", "uniform"), help=average)
    add("--epochs", type=_whole(1), default=20, metavar="N", help="steps, in units of the number of rows (default: 20)")
    order = "rows are drawn with replacement (iid, the default), each once an epoch (permuted), or as they stand (cyclic)"
    add("--order", choices=ORDERS, default="iid", help=order)
    add("--seed", type=_whole(0), default=0, metavar="N", help="of all that is drawn (default: 0)")
    t0 = "steps are 1/(λ(t + t0)); auto, the default, is what the squared loss needs and 0 for the others"
    add("--t0", type=_t0, default="auto", metavar="T0", help=t0)
    transforms = command.add_mutually_exclusive_group()
    tfidf = "weigh counts by how rare their column is, then scale rows to unit length"
    transforms.add_argument("--tfidf", dest="transform", action="store_const", const="tfidf", help=tfidf)
    scale = "divide each column by its greatest absolute value"
    transforms.add_argument("--scale", dest="transform", action="store_const", const="scale", help=scale)
    command.set_defaults(transform="none")
    zero_based = "columns of svmlight text are numbered from 0 on, not from 1; the model remembers it"
    add("--zero-based", action="store_true", help=zero_based)


def _check(options: argparse.Namespace) -> None:
    """What one option alone does not show."""
    error = options.parser.error
    if getattr(options, "labels", None) is not None and not options.examples.endswith(".npz"):
        error("--labels goes with a FILE that ends in .npz; svmlight text holds its labels itself")
    if hasattr(options, "average"):
        averages = ALGORITHMS[options.algorithm].average is not None
        if options.average is not None and not averages:
            error(f"--average: {options.algorithm} does not average; use asgd or casgd")
        options.average = (options.average or "weighted") if averages else None
    inputs = [options.examples, getattr(options, "model", None), getattr(options, "labels", None)]
    named = [getattr(options, name, None) for name in ("output", "checkpoint")]
    outputs = [path for path in named if path is not None]
    for number, path in enumerate(outputs):
        if not path or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            error(f"{path!r} cannot be written: there is no such folder")
        if os.path.exists(path) and not os.path.isfile(path):  # a device would be replaced by a file
            error(f"{path!r} cannot be written: it is a folder or a device")
        try:
            check_writable(path)
        except OSError as refused:
            error(f"{path!r} cannot be written: {refused.strerror}")
        for other in inputs + outputs[:number]:
            if other not in (None, STANDARD_INPUT) and os.path.realpath(other) == os.path.realpath(path):
                error(f"{path!r} would be overwritten: give the output another name")


def _lam(text: str) -> float:
    return float(_checked(lambda: check_lam(float(text)), "a number > 0", text))


def _lams(text: str) -> list[float]:
    return [_lam(each) for each in text.split(",")]


def _t0(text: str) -> float | str:
    if text == "auto":
        return text
    return float(_checked(lambda: check_t0(float(text), np.float64), "auto, or a number >= 0", text))


def _fraction(text: str) -> float:
    def between_0_and_1() -> float:
        if not 0 <= float(text) < 1:
            raise ValueError
        return float(text)

    return _checked(between_0_and_1, "a share of the rows, >= 0 and < 1", text)


def _whole(least: int):
    def convert(text: str) -> int:
        def whole() -> int:
            if int(text) < least:
                raise ValueError
            return int(text)

        return _checked(whole, f"a whole number >= {least}", text)

    return convert


def _checked(convert, wanted: str, text: str):
    try:
        return convert()
    except (ValueError, TypeError):
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None
