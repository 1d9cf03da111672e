"""A clip's files of ground truth as a job for whichever worker is free, beside their frames."""

from dataclasses import dataclass
from pathlib import Path

from mimegen.compositing.passfiles import PassSource, write_pass


@dataclass(frozen=True, eq=False)
class PassFilesJob:
    """The files of ``source`` as the folder ``target``."""

    source: PassSource
    target: Path

    def run(self) -> None:
        """Publish the folder; raises as ``write_pass``."""
        if not self.source.folder.is_dir():
            raise FileNotFoundError(f"{self.source.folder} is gone")
        write_pass(self.source, self.target)
