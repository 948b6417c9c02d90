"""Ledger with every label, every verdict and hostile text, in the ledger's way of writing."""

import matplotlib.pyplot as plt

from proofs.ledger import Entry
from proofs.paper import LABELS
from proofs.report.figures import PICTURES, Drawn, svg

HOSTILE = "<script>document.title = 'taken'</script> [a](javascript:1) {{ 7 * 7 }} ```\n<b>"
"""Name of a data set that is HTML, Markdown and a template."""


def _ledger() -> list[Entry]:
    entries = []
    for number, label in enumerate(LABELS):
        claim, figure = f"Σ_{{j<=t}} w_j = −(h_t v_t − u_t)/λ for `add_both` >= {number}", f"{number + 2} steps, 5 of 5 refuted"
        entries.append(Entry(label, claim, "proved", "for all t and n", figure, True, mutants=5, refuted=5))
        for loss, holds, expected in (("log", True, True), ("hinge", False, False)):
            claim, evidence = "b'_t is E‖ĝ_{T+1}‖², 2^T of them", "==, λ = 1/100"
            figure = f"p_t differs at ybar = -1, {loss} " + "9" * 40
            entries.append(
                Entry(label, claim, "exact", evidence, figure, holds, "spam counts", "casgd", loss, expected=expected)
            )
    entries.append(Entry("cost", "c_t is too small", "counted", "", "1 of 2 runs equal", False))
    entries.append(Entry("E4", "t = 1 divides by 0", "float", "float64", "2.0", True, expected=False))
    entries.append(Entry("cost", "a claim", "kernel", "by Rocq", "3", True))
    entries.append(Entry("cost", f"a\n\n# claim {HOSTILE}", "counted", HOSTILE, HOSTILE, True, HOSTILE, HOSTILE, HOSTILE))
    return entries


LEDGER = _ledger()


def small_pictures(*_) -> list[Drawn]:
    """Draw one small plot in place of every picture."""
    plt.switch_backend("agg")
    axes = plt.figure(figsize=(4, 3)).subplots()
    axes.plot([1, 2], label="line")
    return [Drawn(picture, svg(picture.name, axes), ["a < b"] if picture.lines else []) for picture in PICTURES]
