"""Checkpoint of an unfinished training: its run, and the settings that it depends on, in one file."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from reference import Problem
from reference.averaging import AveragingWeights

from ..runs.batch import resume
from ..runs.files import check_stored, reason, write_whole
from ..runs.run import Run

MEMBER = "settings.json"

FORMAT = {"format": 2}
"""Number of the format, stored among the settings; files of version 0.1 have none."""


class Checkpoint(NamedTuple):
    """Path of the checkpoint, and the settings that must be the same to resume.

    The file is what `Run.save` writes with one more member, settings.json.
    """

    path: str
    settings: dict[str, Any]

    def save(self, run: Run) -> None:
        """Write the file, whole or not at all: kill -9 leaves this checkpoint or the one before."""

        def write(file: BinaryIO) -> None:
            run.write(file)
            with zipfile.ZipFile(file, "a") as archive:
                archive.writestr(MEMBER, json.dumps(FORMAT | self.settings))

        write_whole(self.path, write)

    def load(self, problems: list[Problem], averaging_weights: AveragingWeights | None) -> Run | None:
        """Load the run that was saved last; None if there is no file yet.

        Raises ValueError if it was saved with other settings or for other rows, or is damaged.
        """
        if not Path(self.path).exists():
            return None
        cure = "Give the same options and data, or remove it to begin anew"
        try:
            with zipfile.ZipFile(self.path) as archive:
                check_stored(archive, os.path.getsize(self.path))
                saved = json.loads(archive.read(MEMBER))
            wanted = FORMAT | self.settings
            unequal = [name for name in wanted if saved.get(name) != wanted[name]]
        except Exception as error:  # any error that a damaged archive makes its reader raise
            raise ValueError(f"{self.path!r} is no checkpoint: {reason(error)}. {cure}") from None
        for name in unequal:
            now = wanted[name]
            raise ValueError(f"{self.path!r} was saved with {name} = {saved.get(name)!r}; got {name} = {now!r}. {cure}")
        try:
            return resume(self.path, problems, averaging_weights)
        except ValueError as error:
            raise ValueError(f"{error}. {cure}") from None
