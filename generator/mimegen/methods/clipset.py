"""The clips and questions that a text is about, from one or several outputs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import Question
from mimegen.evaluation.question_sets import QuestionSets
from mimegen.manifest.file import MANIFEST, some_rows
from mimegen.manifest.left_out import LeftOutCell, read_left_out
from mimegen.manifest.row import Row
from mimegen.production.journal import STATUS
from mimegen.production.status import FAILED, STOPPED, status

_OR_QUESTIONS = ", or a file of questions"


@dataclass(frozen=True)
class ClipSet:
    """Clips, each once, and the questions about them, if any.

    ``repeated`` counts the clips that several of the folders have. ``failed`` are the clips that
    were not made, with the reason.
    """

    rows: tuple[Row, ...]
    questions: tuple[Question, ...] = ()
    repeated: int = 0
    left_out: tuple[LeftOutCell, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, paths: Iterable[Path], clips: Path | None = None) -> Self:
        """Read folders that render or pointlight wrote, and files of questions.

        ``clips`` is the folder of the clips that questions are about, by default that of each file
        of questions. Raises RequestError for a folder without rows, and for a question about a clip
        that has none.
        """
        distinct = list(dict.fromkeys(paths))
        folders = [path for path in distinct if path.is_dir()]
        files = [path for path in distinct if not path.is_dir()]
        sets = QuestionSets.read(files)
        rows = [row for folder in folders for row in some_rows(folder, _OR_QUESTIONS)]
        repeated = len(rows) - len(_distinct(rows))
        rows += [row for file, questions in sets.files.items()
                 for row in _asked(file, questions, clips or file.parent)]
        return cls(
            tuple(_distinct(rows).values()), tuple(sets.questions), repeated,
            tuple(cell for folder in folders for cell in read_left_out(folder)),
            tuple(one for folder in folders for one in _failures(folder)))


def _distinct(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    return {(row.sample_id, row.sha256): row for row in rows}


def _asked(file: Path, questions: Sequence[Question], folder: Path) -> list[Row]:
    """Return the rows of the clips that questions show."""
    if not (folder / MANIFEST).is_file():
        raise RequestError(f"{folder / MANIFEST}: no such file; name the folder of the clips that"
                           f" {file.name} is about with --clips")
    rows = {row.sample_id: row for row in some_rows(folder)}
    shown = dict.fromkeys(name for one in questions for name in (
        *(clip.sample_id for clip in one.shown), *(clip.sample_id for clip in one.examples)))
    for name in shown:
        if name not in rows:
            raise RequestError(f"{file}: asks about {name}, which has no row in"
                               f" {folder / MANIFEST}; name the folder of the clips with --clips")
    return [rows[name] for name in shown]


def _failures(folder: Path) -> list[tuple[str, str]]:
    if not (folder / STATUS).is_dir():
        return []
    return sorted((name, str(clip.get("why"))) for name, clip in
                  status(folder)["clip_states"].items()
                  if clip["state"] in (FAILED, STOPPED))
