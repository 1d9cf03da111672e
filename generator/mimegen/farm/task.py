"""What a worker does in one go."""

from dataclasses import dataclass

import numpy as np

from mimegen.stage.jobs import ShotJob
from mimegen.stage.scenery.job import SetJob


@dataclass(frozen=True, eq=False)
class Task:
    """A job that one worker does in one go, and what to call it in an error."""

    job: ShotJob | SetJob
    title: str

    def remaining(self) -> "Task | None":
        """Return the part that is not published yet; None if there is none."""
        if isinstance(self.job, SetJob):
            return None if self.job.target.exists() else self
        missing = self.job.missing.copy()
        for frame, camera in np.argwhere(missing):
            missing[frame, camera] = not self.job.frame_file(frame, camera).exists()
        return Task(self.job.only(missing), self.title) if missing.any() else None
