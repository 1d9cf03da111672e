"""An action of a library and the files of its takes."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mimegen.base.errors import RequestError, near_misses
from mimegen.choreography.action import Action
from mimegen.library.takefile import mocap_takes

SCORE_SUFFIX = ".score.yaml"
GAIT_SUFFIX = ".gait.yaml"


@dataclass(frozen=True)
class Entry:
    """An action and the folders that hold its takes, the user's own folders first.

    ``asked`` is the take by whose alias the action was requested, if it was.
    """

    action: Action
    folders: tuple[Path, ...]
    asked: str | None = None

    @property
    def file(self) -> Path:
        """The file that describes the action: its ``action.yaml``."""
        return self.folders[-1] / "action.yaml"

    @cached_property
    def takes(self) -> dict[str, Path]:
        """The files of its takes by name, alphabetical within a folder; the first is the default.

        They are scores, gaits, take files of motion capture, and motion capture files themselves.
        """
        found: dict[str, Path] = {}
        for folder in self.folders:
            own = {file.name.removesuffix(suffix): file for suffix in (SCORE_SUFFIX, GAIT_SUFFIX)
                   for file in folder.glob(f"*{suffix}")}
            found |= {name: file for name, file in sorted((mocap_takes(folder) | own).items())
                      if name not in found}
        return found

    def take(self, name: str | None) -> Path:
        """Return the file of the named take, else of the one requested by alias, else the default.

        Raises RequestError, with similar names, for an unknown name.
        """
        if not self.takes:
            raise RequestError(f"{self.folders[0]}: contains no take; add a *{SCORE_SUFFIX} or a"
                               " motion capture file")
        name = name or self.asked
        if name is None:
            return next(iter(self.takes.values()))
        if name not in self.takes:
            raise RequestError(
                f"action {self.action.id} has no take '{name}'{near_misses(name, self.takes)}"
            )
        return self.takes[name]
