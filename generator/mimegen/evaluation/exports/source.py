"""What an export reads: a folder of clips, or questions about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.media import ffmpeg_input
from mimegen.base.names import plain_name
from mimegen.evaluation.opaque import opaque_name
from mimegen.evaluation.question import Question, read_questions
from mimegen.manifest.file import MANIFEST, clip_path, some_rows
from mimegen.manifest.row import Row

# Which folder is expected if there are no clips in the one that was given.
_WHERE = " (the questions' folder, or --clips)"


@dataclass(frozen=True)
class Source:
    """Clips by opaque name, in that order, and the questions about them, if any.

    ``file`` is the manifest or the file of questions; ``folder`` is that of the manifest.
    """

    file: Path
    folder: Path
    clips: Mapping[str, Row]
    questions: tuple[Question, ...] = ()

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the file."""
        return file_hash(self.file)

    def clip(self, name: str) -> Path:
        """Return the path of the clip with an opaque name.

        Raises RequestError if it is missing, not a video, or outside the folder.
        """
        path = clip_path(self.folder, self.clips[name])
        ffmpeg_input(path)
        if not path.is_file():
            raise RequestError(f"{path}: no such file, but {self.folder / MANIFEST} has a row for"
                               " it; render again (no clip is rendered twice)")
        return path


def read_source(path: Path, clips: Path | None) -> Source:
    """Read a folder that mimegen render wrote, or a file of questions about one.

    ``clips`` is that folder, by default the one of the questions. Raises RequestError if there are
    no rows, or a question's clip has none.
    """
    if path.is_dir():
        # Clips without a performer, or of faces that are hidden, have labels that they do not show.
        of_action = (row for row in some_rows(path, _WHERE) if row.shows_its_action)
        return Source(path / MANIFEST, path, _named(
            (opaque_name(row), row) for row in of_action))
    questions = read_questions(path)
    folder = clips or path.parent
    rows = {row.sample_id: row for row in some_rows(folder, _WHERE)}
    questions = [_named_clip(one, rows.get(one.sample_id)) for one in questions]
    shown = [(clip.clip, clip.sample_id, one.question_id) for one in questions
             for clip in one.shown]
    shown += [(example.clip, example.sample_id, one.question_id) for one in questions
              for example in one.examples]
    for _, sample, question in shown:
        if sample not in rows:
            raise RequestError(f"{path}: question {question} is about {sample}, which has no row in"
                               f" {folder / MANIFEST}; give the folder of the clips with --clips")
    named = _named((name, rows[sample]) for name, sample, _ in shown)
    return Source(path, folder, named, tuple(questions))


def _named_clip(question: Question, row: Row | None) -> Question:
    """Return a question with an opaque name for its clip, which other programs' files may lack."""
    if question.clip or row is None:
        return question
    return question.model_copy(update={"clip": opaque_name(row)})


def _named(found: Iterable[tuple[str, Row]]) -> dict[str, Row]:
    """Return rows by name, in the order of the names, which reveals nothing.

    Raises RequestError if a name is unsafe or two clips share one, as two folders of ``--names
    opaque`` may.
    """
    rows: dict[str, Row] = {}
    for name, row in found:
        if not _is_plain(name) or rows.setdefault(name, row).sample_id != row.sample_id:
            raise RequestError(f"{row.sample_id}: {name!r} is not a valid clip name: expected"
                               " letters, digits and _ . -, and a name that no other clip has")
    return dict(sorted(rows.items()))


def _is_plain(name: str) -> bool:
    try:
        return bool(plain_name(name))
    except ValueError:
        return False
