"""Takes of motion capture in a library: ``mocap/<action>/<take>.take.yaml`` beside the files."""

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
# Files that are takes by themselves where no take file names them; a skeleton alone is not.
MOCAP_SUFFIXES = tuple(suffix for suffix in READERS if suffix not in ALSO_OTHERS)


# A library may come from somebody else; what it names lies in it.
Beside = Annotated[str, AfterValidator(inner_path)]


class TakeFile(Strict):
    """Where a take's motion comes from and how its file is read; files lie in the same folder.

    What is left out of ``labels`` and backgrounds is the action's. ``trim`` reads like --trim.
    ``sample`` is the number of the file's take that is used, of files that hold several.
    ``notes`` are the assumptions and doubts of the reader that imported it.
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
    mimegen_version: str | None = None


def read_take_file(path: Path) -> TakeFile:
    """Read a take file, or take a mocap file without one as it is: licence and source unknown.

    Raises RequestError, naming file, line and key, for what is wrong, and where the motion is
    not the one that was imported.
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


def options_of(path: Path, facts: TakeFile) -> ReadOptions:
    """Return how a take file's motion is read."""
    beside = path.parent
    return ReadOptions(facts.stack, beside / facts.mapping if facts.mapping else None,
                       beside / facts.skeleton if facts.skeleton else None,
                       parse_trim(facts.trim), facts.subject, facts.fps_of_file, facts.sample)


def notes_of(path: Path) -> tuple[str, ...]:
    """Return the doubts in a take file; none for a score, and for mocap without a take file."""
    return read_yaml(path, TakeFile).notes if path.name.endswith(TAKE_SUFFIX) else ()


def mocap_takes(folder: Path) -> dict[str, Path]:
    """Return a folder's takes of motion capture by name: take files, and mocap files without.

    Raises RequestError for a take file that is none.
    """
    files = {file.name.removesuffix(TAKE_SUFFIX): file for file in folder.glob(f"*{TAKE_SUFFIX}")}
    described = {read_yaml(file, TakeFile).file for file in files.values()}
    bare = {file.stem: file for file in sorted(folder.iterdir())
            if file.suffix.lower() in MOCAP_SUFFIXES and file.name not in described
            and not file.name.startswith(".")}
    return bare | files
