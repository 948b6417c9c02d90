"""Arguments of `casgd` and its help; refuse here, with status 2, all that can be refused before anything is read."""

import argparse
import contextlib
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from reference import LOSSES
from reference.averaging import AVERAGES
from reference.losses import hint
from reference.sampling import ORDERS

from ..reading.examples import STANDARD_INPUT
from ..runs.algorithms import ALGORITHMS
from ..runs.files import check_writable
from ..training.settings import DEFAULTS, DEFAULTS_FOR_NUMBERS, ELSEWHERE, EPOCHS, ORDER, Settings, losses
from . import model_file
from .apply import evaluate, predict
from .certify import certify
from .convert import convert
from .outputs import RECOGNISE, is_own
from .sweep import sweep
from .train import train

FILES = """\
FILE is svmlight text: a line an example, label column:value column:value …;
blank lines, comments from # on and qid: are ignored. It is compressed if it
ends in .gz, .bz2, .xz or .zst; - is text on standard input. A FILE that ends in
.npz is a sparse matrix as scipy.sparse.save_npz writes it, or the arrays data,
indices, indptr and shape of a CSR matrix; the labels are the array y in the
same file, or in a file of their own if the command has --labels.
"""

_LABELS = (
    f"The loss says what the labels are. They are classes for these losses: {', '.join(losses(binary=True))}. Any two numbers "
    "will do (-1 +1, 0 1, 1 2): the greater one is the paper's +1. More than two must be whole numbers; then one model is "
    "trained for each class against all others, all in one pass over the rows. They are numbers to predict for these losses: "
    f"{', '.join(losses(binary=False))}."
)
LABELS = textwrap.fill(_LABELS, 80) + "\n"

EXAMPLES = {
    "casgd": """\
  casgd sweep mails.svm --tfidf                         find the best lam
  casgd train mails.svm --tfidf --lam 1e-4 -o mails.model
  casgd evaluate mails.model later.svm
  casgd predict mails.model new.svm > labels.txt
""",
    "train": """\
  casgd train mails.svm -o mails.model
  casgd train mails.svm.gz -o mails.model --tfidf --loss log --hold-out 0.2
  casgd train ratings.svm -o ratings.model --loss squared --scale --epochs 20
  casgd train counts.npz --labels y.npy -o counts.model
  casgd train big.svm -o big.model --out-of-core /scratch
  casgd train part*.npz --workers 2 -o all.model
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
    "convert": """\
  casgd convert big.svm.gz -o big.npz
  casgd train big.npz -o big.model --order blocked
""",
    "certify": """\
  casgd train mails.svm --epochs 1 -o mails.model
  casgd certify mails.model mails.svm
  casgd certify mails.model mails.svm --rows new.svm --json mails.json
""",
    "sweep": """\
  casgd sweep mails.svm --tfidf
  casgd sweep mails.svm --loss log --lam 1e-6,1e-5,1e-4 --folds 10 --epochs 5
""",
}

TRAIN = """\
After each epoch a line is printed: F, the objective that is minimised (for csgd
and casgd that of the centred rows; its mean over the classes if there are more
than two), the mean loss, and the error, or MSE and R2 for numbers; the same of
the rows held out; and the seconds that the steps took, in the first epoch with
compiling. Equal rows are held out together. tf-idf and scaling are those of
scikit-learn, fitted to the rows that are not held out, and stored in the model.

With --out-of-core DIR the text is converted to an .npz in that folder, as casgd
convert does, unless it is there already. The rows are then read as they are
needed, in blocks whose order is random (--order blocked), so that the memory is
for the weights and some 50 bytes a row only.

With --workers N each FILE is a part of the rows, and N processes run an epoch
on each and average the states, by Dask. That is for rows that one process
cannot hold: E epochs on P FILEs are worth about E/P of one training. The model
depends on the seed and the FILEs, not on N. Text is read anew for each epoch:
convert it, or give --out-of-core DIR. Needs the extra [dask].

With --checkpoint the state is saved after every epoch, and twice a minute in
long ones. The same command then resumes, even after kill -9, and gives the
model of an uninterrupted run to the bit. With more --epochs it trains longer.
"""

SWEEP = """\
Cross-validation: each fold in turn is held out, and models for all values of
lam are trained on the other folds at once, in one pass over the rows. Equal
rows are in one fold. The best lam is that of the lowest error, or of the lowest
loss for numbers and where errors are equal. A value whose iterates overflow is
out. The last line is the command that trains with the best lam.
"""

CONVERT = """\
The .npz holds the same rows and labels. All commands take it in place of the
text; nothing of it is read before it is needed, so it may be larger than the
memory, which is for the weights and some 50 bytes a row only. It must not
change while a command reads it: a file that is cut off ends the command, at
once, with no more than its last checkpoint.
"""

PREDICT = """\
The model file knows how columns are numbered and how rows are transformed. A
row has zeros in the columns that it lacks. Columns beyond those of the model
are ignored, as columns of zeros in training would be, and a line on standard
error says so. The rows of FILE may lack their labels, which are not looked at.
"""

EVALUATE = """\
Prints the mean loss, and the error, of each class too, or MSE and R2 if the
model predicts numbers. Columns are treated as by casgd predict.
"""

CERTIFY = """\
FILE is the file that MODEL was trained on. The training is repeated exactly, on
balls: numbers with a rigorous radius. Printed is within how much of the exact
weights those of the model are, how many digits are certified, the first step at
which float64 took another side of a kink, and how much the problem amplifies
rounding; with --json all of it for each weight. Needs the extra [certify], and
about 50 microseconds for each entry of each row drawn.
"""

STATUS = """\
Exit status: 0; 1 for bad data and 2 for bad usage, with a line on standard
error that says why; 130 after Ctrl-C.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the options, with the function to call as `run`; end the program with status 2 if they are unusable."""
    parser = _parser("casgd", _Parser, f"{LABELS}\n{FILES}\n{STATUS}\n{model_file.__doc__}")
    parser.description = "Linear learning with sparse data, by averaged SGD on centred rows."
    parser.add_argument("--version", action="version", version=f"casgd {_version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, run, summary, about in (
        ("train", train, "train a model on a file", TRAIN + "\n" + LABELS),
        ("predict", predict, "predict the label of each row of a file", PREDICT),
        ("evaluate", evaluate, "print loss and error of a model on a file", EVALUATE),
        ("certify", certify, "print how many digits of a model are right", CERTIFY),
        ("sweep", sweep, "find the best lam by cross-validation", SWEEP + "\n" + LABELS),
        ("convert", convert, "convert text to an .npz that is read at once", CONVERT),
    ):
        command = _parser(name, commands.add_parser, f"{about}\n{FILES}\n{STATUS}", help=summary)
        command.set_defaults(run=run, parser=command, command=name)
        add = command.add_argument
        if name in ("predict", "evaluate", "certify"):
            add("model", metavar="MODEL", help="a model file, written by casgd train")
        several: dict[str, Any] = {"nargs": "+"} if name == "train" else {}
        add("examples", metavar="FILE", help="the examples, see below; - is standard input", **several)
        if name not in ("predict", "convert"):
            add("--labels", metavar="FILE", help="the labels of an .npz: .npy, or text with one number a line")
        if name == "train":
            add("-o", "--output", metavar="MODEL", required=True, help="the model file to write")
            lam = f"λ > 0, the regularisation of w and b (default: {DEFAULTS.lam:g})"
            add("--lam", type=_lam, default=DEFAULTS.lam, metavar="LAM", help=lam)
            _add_learning(command)
            share = "the share of the rows to hold out of training and measure on (default: 0)"
            add("--hold-out", type=_share, default=0.0, metavar="SHARE", help=share)
            add("--out-of-core", metavar="DIR", help="folder for the rows of a text that do not fit into memory, see below")
            add("--checkpoint", metavar="FILE", help="file to save the state in, and to resume from if it exists")
            add("--workers", type=_whole(1), metavar="N", help="train on several FILEs in so many processes, see below")
        elif name == "sweep":
            lams = [10.0**power for power in range(-6, 1)]
            add("--lam", type=_lams, default=lams, metavar="LAM,LAM,…", help="the values to try (default: 1e-6,1e-5,…,1)")
            _add_learning(command)
            add("--folds", type=_whole(2), default=5, metavar="N", help="number of parts of the rows (default: 5)")
            add("--jobs", type=_whole(1), default=1, metavar="N", help="folds that are trained at a time (default: 1)")
        elif name == "convert":
            add("-o", "--output", metavar="OUT.npz", required=True, help="the file to write")
            add("--zero-based", action="store_true", help="columns of the text are numbered from 0 on, not from 1")
        elif name == "certify":
            add("--rows", metavar="FILE", help="rows whose predictions are certified too, like FILE")
            add("--json", metavar="OUT", help="a file to write, with a bound for each weight and prediction")
        elif name == "predict":
            add("-o", "--output", metavar="OUT", help="the file to write (default: standard output)")
            each = "after each label a tab and the score w · x + b, or for more than two classes the score of each"
            add("--scores", action="store_true", help=each)
        if name in RECOGNISE:
            add("--force", action="store_true", help="overwrite a file even if it is none that this command writes")
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options, unknown = parser.parse_known_args(arguments)
    options.arguments = arguments
    if unknown:  # refused by the command, whose --help lists its options
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{_hints(unknown, options.parser)}")
    _check(options)
    return options


def _version() -> str:
    try:
        return version("casgd")
    except PackageNotFoundError:
        return "(not installed)"


def _parser(name: str, make, about: str, **others) -> argparse.ArgumentParser:
    epilog = f"Examples:\n{EXAMPLES[name]}\n{about.strip()}".replace("%", "%%")
    return make(name, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **others)


def _add_learning(command: argparse.ArgumentParser) -> None:
    """Add the options that train and sweep have in common, with the defaults of the estimators."""
    add = command.add_argument
    loss = f"(default: {DEFAULTS.loss}, for classes; give {DEFAULTS_FOR_NUMBERS.loss} for numbers to predict)"
    add("--loss", type=_loss, metavar="{" + ",".join(sorted(LOSSES)) + "}", default=DEFAULTS.loss, help=loss)
    add("--algorithm", choices=tuple(ALGORITHMS), default=DEFAULTS.algorithm, help=f"(default: {DEFAULTS.algorithm})")
    average = f"averaging weights: t for step t if weighted, 1 as in the paper if uniform (default: {DEFAULTS.average})"
    add("--average", choices=tuple(AVERAGES), help=average)
    epochs = f"steps, in units of the number of rows (default: {EPOCHS})"
    add("--epochs", type=_whole(1), default=EPOCHS, metavar="N", help=epochs)
    order = "rows are drawn with replacement (iid), each once an epoch (permuted; blocked, for many), or as they stand (cyclic)"
    out_of_core = ", or blocked with --out-of-core" if command.prog.endswith("train") else ""
    add("--order", choices=ORDERS, help=f"{order} (default: {ORDER}{out_of_core})")
    add("--seed", type=_whole(0, 2**32 - 1), default=0, metavar="N", help="seed of all that is drawn (default: 0)")
    t0 = "steps are 1/(λ(t + t0)); auto is 0 for losses of bounded slope, else large enough for safe steps"
    add("--t0", type=_t0, default=DEFAULTS.t0, metavar="T0", help=f"{t0} (default: {DEFAULTS.t0})")
    transforms = command.add_mutually_exclusive_group()
    tfidf = "weigh counts by how rare their column is, then scale rows to unit length"
    transforms.add_argument("--tfidf", dest="transform", action="store_const", const="tfidf", help=tfidf)
    scale = "divide each column by its greatest absolute value"
    transforms.add_argument("--scale", dest="transform", action="store_const", const="scale", help=scale)
    command.set_defaults(transform="none")
    zero_based = "columns of svmlight text are numbered from 0 on, not from 1; the model remembers it"
    add("--zero-based", action="store_true", help=zero_based)


def _hints(unknown: list[str], command: argparse.ArgumentParser) -> str:
    """Say how an option is called here that other programs have, or that is nearly one of the command."""
    hints = []
    for option in (argument.partition("=")[0] for argument in unknown if argument.startswith("-")):
        name = option.lstrip("-").replace("-", "_")
        if name in ELSEWHERE:
            hints.append(f"; {name} elsewhere is {ELSEWHERE[name][1]} here")
        elif near := get_close_matches(option, re.findall(r"--[\w-]+", command.format_usage()), n=1, cutoff=0.8):
            hints.append(f"; is it {near[0]}?")
    if command.prog.endswith("sweep") and not unknown[0].startswith("-"):
        hints.append("; join the values of --lam by commas")
    return "".join(hints)


def _check(options: argparse.Namespace) -> None:
    """Check combinations of options."""
    error = options.parser.error
    inputs = [*(getattr(options, name, None) for name in ("model", "labels", "rows"))]
    if isinstance(options.examples, list):
        options.parts, options.examples = options.examples, options.examples[0]
        inputs += options.parts
        _check_parts(options)
    else:
        inputs.append(options.examples)
    if getattr(options, "labels", None) is not None and not options.examples.endswith(".npz"):
        error("--labels goes with a FILE that ends in .npz; svmlight text holds its labels itself")
    if getattr(options, "out_of_core", None) is not None:
        texts = [path for path in options.parts if path != STANDARD_INPUT and not path.endswith(".npz")]
        if not texts:
            error("--out-of-core goes with a FILE of text; an .npz of casgd convert is out of core already")
        if options.hold_out or options.transform != "none":
            error("--out-of-core does not go with --hold-out, --tfidf or --scale, which copy the rows")
        options.order = options.order or "blocked"
    if options.run is convert and not options.output.endswith(".npz"):
        error(f"-o must end in .npz; got {options.output!r}")
    if hasattr(options, "average"):
        options.order = options.order or ORDER
        averaging = ALGORITHMS[options.algorithm].averaging
        if options.average is not None and not averaging:
            error(f"--average: {options.algorithm} does not average; use asgd or casgd")
        options.average = (options.average or DEFAULTS.average) if averaging else None
        options.settings = Settings(*(getattr(options, name) for name in Settings._fields))
    named = [getattr(options, name, None) for name in ("output", "checkpoint", "json")]
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
        resumed = path == getattr(options, "checkpoint", None)  # another file is refused when it is read
        if os.path.exists(path) and not (resumed or options.force or is_own(options.command, path)):
            error(f"{path!r} is there, and casgd {options.command} has not written it: give --force to overwrite it")


def _check_parts(options: argparse.Namespace) -> None:
    """Check what goes with several files, and with --workers."""
    if options.workers is None:
        if len(options.parts) > 1:
            options.parser.error(f"{len(options.parts)} FILEs are parts of one training: give --workers N too")
        return
    if STANDARD_INPUT in options.parts:
        options.parser.error("--workers goes with FILEs that all processes can open, not with standard input")
    for name in ("labels", "hold_out", "checkpoint"):
        if getattr(options, name):
            options.parser.error(f"--{name.replace('_', '-')} does not go with --workers")
    if options.transform != "none":
        options.parser.error(f"--{options.transform} does not go with --workers: transform the FILEs first")


def _value(wanted: str, convert: Callable[[str], Any], right: Callable[[Any], bool] = lambda value: True):
    """Make the function that converts the text of an option, or refuses it."""

    def parsed(text: str):
        with contextlib.suppress(ValueError):
            value = convert(text)
            if right(value):
                return value
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")

    return parsed


def _whole(least: int, most: float = math.inf):
    span = f">= {least}" if most == math.inf else f"from {least} to {most}"
    return _value(f"a whole number {span}", int, lambda value: least <= value <= most)


def _finite(text: str) -> float:
    if not 0 <= float(text) < math.inf:
        raise ValueError
    return float(text)


def _loss(text: str) -> str:
    if text not in LOSSES:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(LOSSES)}{hint(text)}")
    return text


_lam = _value("a number > 0", _finite, lambda lam: lam > 0)
_lams = _value("numbers > 0", lambda text: [_lam(each) for each in text.split(",")])
_t0 = _value("auto, or a number >= 0", lambda text: text if text == "auto" else _finite(text))
_share = _value("a share of the rows, >= 0 and < 1", _finite, lambda share: share < 1)
