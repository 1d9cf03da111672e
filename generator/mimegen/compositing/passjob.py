"""Writing a clip's files of ground truth, as a job for any free worker."""

from dataclasses import dataclass
from pathlib import Path

from mimegen.compositing.passfiles import PassSource, write_pass


@dataclass(frozen=True, eq=False)
class PassFilesJob:
    """Write the files of ``source`` into the folder ``target``."""

    source: PassSource
    target: Path

    def run(self) -> None:
        """Publish the folder; raises the same errors as ``write_pass``.

        Raises FileNotFoundError if the frames' folder is gone.
        """
        if not self.source.folder.is_dir():
            raise FileNotFoundError(f"{self.source.folder} is gone")
        write_pass(self.source, self.target)
