"""Print the accuracy of the estimators on held-out rows: mails and tweets."""

import argparse
from collections.abc import Sequence

from efficient.estimators.linear import CASGDClassifier, CASGDRegressor
from efficient.runs.terminal import print_any_letter
from reference.datasets import load_spam, load_tweets

from .accuracy import choices, compare


def main(arguments: Sequence[str] | None = None) -> None:
    print_any_letter()
    parser = argparse.ArgumentParser(prog="python -m proofs.measured", description=__doc__)
    parser.add_argument(
        "--defaults", action="store_true", help="compare the values that the estimators' defaults are chosen from"
    )
    options = parser.parse_args(arguments)
    for name, data, numbers in (("accuracy on spam", load_spam(), False), ("R² on tweets", load_tweets(), True)):
        print(f"{name}, mean over the seeds and standard deviation")
        if options.defaults:
            ours = (CASGDRegressor(), CASGDRegressor("absolute")) if numbers else (CASGDClassifier(), CASGDClassifier("log"))
            for what, values, gains in choices(data, ours, range(5, 25)):
                gain = f"{gains.mean():+.4f} ± {gains.std(ddof=1) / len(gains) ** 0.5:.4f}"
                print(
                    f"  {what:58} {values.mean():.4f} ± {values.std():.4f}, less the default {gain} (standard error)",
                    flush=True,
                )
            continue
        for what, values in compare(data, numbers, range(5)):
            print(f"  {what:42} {values.mean():.4f} ± {values.std():.4f}", flush=True)


if __name__ == "__main__":
    main()
