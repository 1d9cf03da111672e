"""Read motion capture files as motions in mimegen's convention: metres, Z up, facing -Y."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from mimegen.base.errors import RequestError
from mimegen.readers.files import check_file
from mimegen.readers.kinds import USD, kind_of
from mimegen.readers.options import AS_FOUND, ReadOptions, Trim
from mimegen.readers.recording import Recording, problems_of
from mimegen.readers.roles import Roles, find_roles

__all__ = ["ReadOptions", "Recording", "Roles", "Trim", "find_roles", "kind_of", "read_motion"]


# Modules and functions that read several kinds of files.
_SCENES = ("mimegen.readers.fbx", "read_fbx")
_ARRAY_FILES = ("mimegen.readers.arrayfile", "read_arrays")
_MARKERS = ("mimegen.readers.c3d", "read_c3d")
_ANGLES = ("mimegen.readers.suits.mot", "read_mot")
_POSES = ("mimegen.readers.cameras3d.posejson", "read_pose_json")
_ASF = ("mimegen.readers.asf_amc", "read_asf_amc")
# Module and function that read a kind of file, by the ending of its name. Most commands read no
# recording, so a module is imported only when a file of its kind is read.
READERS: dict[str, tuple[str, str]] = {
    ".bvh": ("mimegen.readers.bvh", "read_bvh_recording"),
    ".fbx": _SCENES,
    ".glb": _SCENES,
    ".vrm": _SCENES,
    ".vrma": _SCENES,
    **dict.fromkeys(USD, _SCENES),
    ".gltf": _SCENES,
    ".npz": _ARRAY_FILES,
    ".npy": _ARRAY_FILES,
    ".pkl": _ARRAY_FILES,
    ".pickle": _ARRAY_FILES,
    ".pt": _ARRAY_FILES,
    ".pth": _ARRAY_FILES,
    ".c3d": _MARKERS,
    ".trc": _MARKERS,
    ".csv": ("mimegen.readers.tables", "read_csv"),
    ".tsv": _MARKERS,
    ".mvnx": ("mimegen.readers.suits.mvnx", "read_mvnx"),
    ".mot": _ANGLES,
    ".sto": _ANGLES,
    ".skeleton": ("mimegen.readers.cameras3d.ntu", "read_ntu"),
    ".json": _POSES,
    ".jsonl": _POSES,
    ".ndjson": _POSES,
    ".amc": _ASF,
    ".asf": _ASF,
}
# Kinds of files that hold arrays, animation stacks, several subjects or several takes.
ARRAYS = (".npz", ".npy", ".pkl", ".pickle", ".pt", ".pth")
WITH_STACKS = (".fbx", ".glb", ".gltf", ".vrm", ".vrma")
WITH_SUBJECTS = (".c3d", ".csv", ".tsv", ".skeleton", ".json", ".jsonl", ".ndjson", *ARRAYS)
WITH_TAKES = ARRAYS
# Endings that files other than motions often have too.
ALSO_OTHERS = (".asf", ".csv", ".json", ".jsonl", ".ndjson", ".mot", ".npy", ".pkl", ".pickle",
               ".pt", ".pth", ".sto", ".tsv")
# Endings that, in a folder of motions, mostly belong to files that hold no motion.
MANY_OTHERS = (".asf", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".mot", ".sto")
# Frame rates (Hz) that need no note.
USUAL_FPS = (10.0, 1000.0)


def read_motion(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a motion capture file of one person.

    The kind of file is found by its content, or else by the ending of its name. Raises
    RequestError, one line, for a file that is missing, of another kind, or damaged.
    """
    from mimegen.readers.trimming import cut, span_of

    check_file(path)
    kind = kind_of(path)
    if kind not in READERS:
        raise RequestError(f"{path}: expected a motion file that ends in {', '.join(READERS)}")
    _refuse_options(path, kind, options)
    recording = _with_doubts_on_rate(_reader_of(kind)(path, options), options.fps_of_file)
    named = (f"the file is read as {kind}, by its content",) \
        if path.suffix.lower() != kind and not {path.suffix.lower(), kind} <= {*ARRAYS} else ()
    recording = replace(recording, notes=(*named, *recording.notes, *problems_of(recording)))
    return cut(recording, span_of(path, recording, options.trim))


def _reader_of(kind: str) -> Callable[[Path, ReadOptions], Recording]:
    """Import and return the function that reads files of this kind."""
    module, name = READERS[kind]
    return cast("Callable[[Path, ReadOptions], Recording]",
                getattr(import_module(module), name))


def prompt_of(path: Path, options: ReadOptions = AS_FOUND) -> str | None:
    """Return the prompt that a text-to-motion model was given for a file's take, or None.

    Raises RequestError as ``read_motion``.
    """
    return read_motion(path, options).prompt if kind_of(path) in WITH_TAKES else None


def _refuse_options(path: Path, kind: str, options: ReadOptions) -> None:
    """Raise RequestError for options that do not apply to files of this kind."""
    if options.stack is not None and kind not in WITH_STACKS:
        raise RequestError(f"{path}: only FBX and glTF files have animation stacks;"
                           " leave out --stack")
    if options.skeleton is not None and kind != ".amc":
        raise RequestError(f"{path}: only AMC files have a skeleton in another file;"
                           " leave out --skeleton")
    if options.subject is not None and kind not in WITH_SUBJECTS:
        raise RequestError(f"{path}: only C3D files and what finds people in videos hold several"
                           " subjects; leave out --subject")
    if options.take is not None and kind not in WITH_TAKES:
        raise RequestError(f"{path}: only files of text-to-motion models hold several takes; leave"
                           " out --take")
    if options.smpl_model is not None and kind not in ARRAYS:
        raise RequestError(f"{path}: --smpl-model is for files of SMPL, SMPL-H and SMPL-X; leave it"
                           " out")


def _with_doubts_on_rate(recording: Recording, said: float | None) -> Recording:
    """Return a recording with a note if the user gave the frame rate, or if it is unusual."""
    fps = recording.motion.fps
    if said is not None:
        note = f"the rate is {said:g} fps, from --fps-of-file"
    elif not USUAL_FPS[0] <= fps <= USUAL_FPS[1]:
        note = f"few recordings have {fps:g} fps; give the true rate with --fps-of-file if the" \
               " file is wrong"
    else:
        return recording
    return replace(recording, notes=(*recording.notes, note))
