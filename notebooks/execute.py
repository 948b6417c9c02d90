"""Execute the notebooks, so that they show what the library computes.

    python notebooks/execute.py                        all of them, in place
    python notebooks/execute.py notebooks/01_sgd.ipynb  these only
    python notebooks/execute.py --check                write nothing; fail if one fails, or shows what it no longer computes

Each runs in a new kernel, as many at a time as there are processors. Sources, outputs and tags are kept. Times, widgets, and
all that differs from run to run or names this machine are not.
"""

import argparse
import asyncio
import base64
import io
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from PIL import Image

from proofs.pictures.alternative import image_alternative

HERE = Path(__file__).resolve().parent
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET = "application/vnd.jupyter.widget-view+json"
LARGEST = 600_000
"""Limit of the bytes of a notebook."""
PERSONAL = re.compile(r"/home/|/root/|/tmp/|/Users/|/private/|\b[A-Z]:\\|site-packages| at 0x[0-9a-f]{6}")
"""Traces of one machine or one run in outputs and sources."""


def read(path: Path):
    return nbformat.read(path, as_version=4)


async def execute(path: Path):
    """Run a notebook; return it with its new outputs, without what differs from run to run."""
    notebook = read(path)
    client = NotebookClient(notebook, timeout=300, startup_timeout=120, record_timing=False, store_widget_state=False)
    client.extra_arguments = ["--log-level=ERROR"]
    client.resources = {"metadata": {"path": str(path.parent)}}
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    await client.async_execute(env=env)
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(output for output in cell.outputs if WIDGET not in output.get("data", {}))
            describe(cell)
        cell.metadata = nbformat.from_dict(presented(cell))
    return notebook


def presented(cell) -> dict:
    """Make the metadata of a cell: its tags, and its place in a talk.

    A heading begins a slide, other text one below it, and code stays with its text. A cell tagged "check" is left out of
    the talk, and one of imports.
    """
    tags = cell.metadata.get("tags", [])
    heading, text = cell.source.startswith("#"), cell.cell_type == "markdown"
    imports = not text and all(line.startswith(("import ", "from ")) for line in cell.source.splitlines() if line)
    place = "skip" if imports or "check" in tags else "slide" if text and heading else "subslide" if text else "-"
    return {"slideshow": {"slide_type": place}, **({"tags": tags} if tags else {})}


def describe(cell) -> None:
    """Add to the pictures of a cell what they show, in words."""
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            output.metadata = nbformat.from_dict({"image/png": {"alt": image_alternative(cell.source)}})


def joined(outputs) -> list:
    """Join each stream into one piece, since the number of pieces is chance, and shrink each picture."""
    whole: list = []
    for output in outputs:
        if "metadata" in output:
            output.metadata = nbformat.from_dict({})
        if "image/png" in output.get("data", {}):
            output.data["image/png"] = smaller(output.data["image/png"])
        before = whole[-1] if whole else {}
        if output.output_type == "stream" == before.get("output_type") and output.name == before.get("name"):
            before.text += output.text
        else:
            whole.append(output)
    return whole


def smaller(png: str) -> str:
    """Reduce a picture to 128 colours, a third of the bytes; a plot needs no more."""
    small = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


def faults(notebook) -> list[str]:
    """List what a reader must not find in this notebook."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        found.append("its cells were not executed once each, from top to bottom")
    if not any(cell.outputs for cell in code):
        found.append("it has no outputs")
    for number, cell in enumerate(notebook.cells):
        texts = [cell.source]
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"cell {number} ends in {output.ename}: {output.evalue}")
            if output.get("name") == "stderr":
                found.append(f"cell {number} warns: {output.text.strip()}")
            texts += [output.get("text", ""), *(text for kind, text in output.get("data", {}).items() if "text" in kind)]
            if "image/png" in output.get("data", {}) and "image/png" not in output.metadata:
                found.append(f"cell {number} has a picture without words for those who do not see it: execute it again")
        names = [match[0] for text in texts for match in PERSONAL.finditer(text)]
        if names:
            found.append(f"cell {number} names a place of this machine or run: {names[0]!r}")
    size = len(nbformat.writes(notebook).encode())
    if size > LARGEST:
        found.append(f"it has {size} bytes, more than {LARGEST}: draw smaller pictures")
    return found


def shown(notebook) -> list[list[list[str]]]:
    """List the kinds of output of each cell: numbers and pixels may differ between machines, kinds may not."""
    outputs = [cell.get("outputs", []) for cell in notebook.cells]
    return [[sorted(output.get("data", {output.output_type: ""})) for output in each] for each in outputs]


async def run(path: Path, check: bool, processors: asyncio.Semaphore) -> bool:
    """Execute one notebook; write it unless `check` or it has faults; print its faults and return whether it has none."""
    try:
        async with processors:
            notebook = await execute(path)
        wrong = faults(notebook)
        if check and shown(notebook) != shown(read(path)):
            wrong.append("its outputs are not those of its code: execute it again")
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        wrong = ["a cell failed\n" + re.sub(r"\x1b\[[\d;]*m", "", str(error))]  # without the colours of a terminal
    for each in wrong:
        print(f"{path.name}: {each}", file=sys.stderr, flush=True)
    if not wrong:
        if not check:
            path.write_text(nbformat.writes(notebook) + "\n", "utf8")
        print(f"{path.name}: executed", flush=True)
    return not wrong


async def run_all(paths: list[Path], check: bool) -> bool:
    processors = asyncio.Semaphore(os.cpu_count() or 1)
    return all(await asyncio.gather(*(run(path, check, processors) for path in paths)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a cell fails or an output is not current")
    parser.add_argument("notebooks", nargs="*", type=Path, help="by default all in this folder")
    options = parser.parse_args(arguments)
    for path in options.notebooks:
        if not path.is_file() or path.suffix != ".ipynb":
            parser.error(f"{path} is no notebook: name files that end in .ipynb, or none for all in {HERE.name}/")
    return 0 if asyncio.run(run_all(options.notebooks or sorted(HERE.glob("*.ipynb")), options.check)) else 1


if __name__ == "__main__":
    sys.exit(main())
