"""A text about clips for a paper: methods, references, attribution and doubts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from mimegen import __version__
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.faces.words import emotions, face_works
from mimegen.manifest.row import Row
from mimegen.methods.clipset import ClipSet
from mimegen.methods.sentences import (
    OPENGL,
    is_display,
    of_clips,
    of_pictures,
    of_questions,
    of_versions,
)
from mimegen.methods.statements import absent, attributions, changes, doubts
from mimegen.methods.works import Work, defining, matching, works

# The format of questions that is ActPLD's.
FORCED_CHOICE = "3afc"
NONE = "none"
# How the note begins that names the estimator of a video's joints.
ESTIMATED = "joints were estimated from a video by"


@dataclass(frozen=True)
class Description:
    """What a paper states about clips; every number is counted from their rows."""

    methods: str
    works: dict[str, Work]
    attributions: tuple[str, ...]
    statements: tuple[str, ...]

    @classmethod
    def of(cls, clips: ClipSet) -> Self:
        """Return the description of a set of clips. Raises RequestError if there are none."""
        if not clips.rows:
            raise RequestError("there is no clip to describe")
        return cls(" ".join(_sentences(clips)), _works(clips), tuple(attributions(clips.rows)),
                   (*doubts(clips.rows), *changes(clips.rows),
                    *absent(clips.left_out, clips.failed)))

    @property
    def references(self) -> list[str]:
        """The works in plain text, sorted by author."""
        return sorted(work.reference for work in self.works.values())

    @property
    def bibtex(self) -> str:
        """The works as BibTeX entries."""
        return "\n\n".join(work.bibtex(key) for key, work in self.works.items()) + "\n"

    @property
    def text(self) -> str:
        """All of it, under headings."""
        parts = (("Methods", [self.methods]), ("References", self.references),
                 ("Attribution", [f"- {line}" for line in self.attributions] or [NONE]),
                 ("To state in the paper", [f"- {line}" for line in self.statements] or [NONE]))
        return "\n\n".join("\n".join((f"# {head}", *lines)) for head, lines in parts)

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def content(self) -> dict[str, Any]:
        """Return it as JSON content."""
        return {"methods": self.methods, "references": self.references, "bibtex": self.bibtex,
                "attribution": list(self.attributions), "to_state": list(self.statements)}


def describe(*paths: str | Path, clips: Path | None = None) -> Description:
    """Return the description of folders of clips and files of questions, taken together."""
    return Description.of(ClipSet.read(map(Path, paths), clips))


def _sentences(clips: ClipSet) -> Iterator[str]:
    yield from of_clips(clips.rows)
    yield from of_pictures(clips.rows)
    yield from of_questions(clips.questions)
    yield from of_versions(clips.rows)
    if clips.repeated:
        yield (f"{counted(clips.repeated, 'clip')} that several of the folders have"
               f" {'is' if clips.repeated == 1 else 'are'} counted once.")


def _works(clips: ClipSet) -> dict[str, Work]:
    """Return the works to cite by key, mimegen first."""
    rows, known = clips.rows, works()
    versions = sorted({row.mimegen_version or __version__ for row in rows})
    found = {"mimegen": known["mimegen"].model_copy(update={"version": ", ".join(versions)})}
    blender = sorted({row.blender_version for row in rows
                      if row.blender_version and _engine(row) != OPENGL})
    if blender:
        found["blender"] = known["blender"].model_copy(update={"version": ", ".join(blender)})
    if any(row.config_name for row in rows):
        found["mime"] = known["mime"]
    if any(one.format == FORCED_CHOICE for one in clips.questions):
        found["actpld"] = known["actpld"]
    systems = filter(None, (row.motion_system for row in rows))
    return found | matching(_sources(rows)) | defining(systems) | _of_faces(rows)


def _engine(row: Row) -> str | None:
    return None if is_display(row) else str((row.render_config or {}).get("engine", "cycles"))


def _sources(rows: tuple[Row, ...]) -> Iterator[str]:
    """Yield the texts of rows that name sources."""
    for row in rows:
        yield from filter(None, (row.motion_source, row.dot_set_source, row.character_source,
                                 row.background_source))
        yield from (note for note in row.motion_notes or () if note.startswith(ESTIMATED))


def _of_faces(rows: tuple[Row, ...]) -> dict[str, Work]:
    """Return the works that the shown emotions follow."""
    shown = {str((row.face or {}).get("emotion")) for row in rows}
    keys = sorted({key for name, emotion in emotions().items() if name in shown
                   for key in emotion.after})
    return {key: Work(kind="misc", note=face_works()[key].cites, doi=face_works()[key].doi)
            for key in keys}
