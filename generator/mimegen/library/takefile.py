"""Take files of motion capture in a library: ``mocap/<action>/<take>.take.yaml``."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.names import inner_path
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.readers import ALSO_OTHERS, READERS, ReadOptions
from mimegen.readers.options import FPS_OF_FILE, parse_trim

TAKE_SUFFIX = ".take.yaml"
# Motion capture files that are takes even without a take file; a skeleton alone is not.
MOCAP_SUFFIXES = tuple(suffix for suffix in READERS if suffix not in ALSO_OTHERS)


# Paths in a library, which may come from others, must stay inside its folder.
Beside = Annotated[str, AfterValidator(inner_path)]


class TakeFile(Strict):
    """The origin of a take's motion and how its file is read; its files lie in the same folder.

    ``labels`` and backgrounds that are not given are the action's. ``trim`` is written like --trim.
    ``sample`` is the number of the take in files that hold several. ``notes`` are the assumptions
    and doubts of the reader during import. ``sha256_beside`` has the SHA-256 of the imported
    mapping and skeleton by file name.
    """

    file: Beside
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    original_name: str
    licence: str
    source: str
    actor: str = "recorded"
    labels: tuple[str, ...] | None = Field(default=None, min_length=1)
    aligned_background: str | None = None
    misaligned_background: str | None = None
    trim: str = "none"
    trim_found: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stack: str | None = None
    subject: str | None = None
    fps_of_file: float | None = Field(default=None, ge=FPS_OF_FILE[0], le=FPS_OF_FILE[1])
    sample: int | None = Field(default=None, ge=0)
    mapping: Beside | None = None
    skeleton: Beside | None = None
    sha256_beside: dict[Beside, str] = Field(default_factory=dict)
    mimegen_version: str | None = None


def read_take_file(path: Path) -> TakeFile:
    """Read a take file, or describe a motion capture file that has none.

    Without a take file, licence and source are "not stated". Raises RequestError, naming file, line
    and key, for errors, and if the motion's file differs from the imported one.
    """
    if not path.name.endswith(TAKE_SUFFIX):
        return TakeFile(file=path.name, sha256=file_hash(path), original_name=path.name,
                        licence="not stated", source="not stated")
    facts = read_yaml(path, TakeFile)
    motion = path.parent / facts.file
    if not motion.is_file():
        raise RequestError(f"{path}: its file {facts.file} does not exist")
    if file_hash(motion) != facts.sha256:
        raise RequestError(f"{motion}: differs from the imported file (its SHA-256 is not that in"
                           f" {path.name}); import it again with --replace, or as another take")
    return facts


def files_of(take: Path) -> list[str]:
    """Return the files that a take needs besides its take file, relative to its folder."""
    if not take.name.endswith(TAKE_SUFFIX):
        return [take.name]
    facts = read_yaml(take, TakeFile)
    return [name for name in (facts.file, facts.skeleton, facts.mapping) if name]


def options_of(path: Path, facts: TakeFile) -> ReadOptions:
    """Return the options for reading a take file's motion."""
    beside = path.parent
    return ReadOptions(facts.stack, beside / facts.mapping if facts.mapping else None,
                       beside / facts.skeleton if facts.skeleton else None,
                       parse_trim(facts.trim), facts.subject, facts.fps_of_file, facts.sample)


def notes_of(path: Path) -> tuple[str, ...]:
    """Return the notes in a take file; empty for a score, and for motion capture without one."""
    return read_yaml(path, TakeFile).notes if path.name.endswith(TAKE_SUFFIX) else ()


def mocap_takes(folder: Path) -> dict[str, Path]:
    """Return a folder's motion capture takes by name, with or without take files.

    Raises RequestError for an invalid take file.
    """
    files = {file.name.removesuffix(TAKE_SUFFIX): file for file in folder.glob(f"*{TAKE_SUFFIX}")}
    described = {read_yaml(file, TakeFile).file for file in files.values()}
    bare = {file.stem: file for file in sorted(folder.iterdir())
            if file.suffix.lower() in MOCAP_SUFFIXES and file.name not in described
            and not file.name.startswith(".")}
    return bare | files
