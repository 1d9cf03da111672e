"""From motion capture files to motions in the house's convention."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.readers.asf_amc import read_asf_amc
from mimegen.readers.bvh import read_bvh_recording
from mimegen.readers.c3d import read_c3d
from mimegen.readers.fbx import read_fbx
from mimegen.readers.files import check_file
from mimegen.readers.npz import read_npz
from mimegen.readers.options import AS_FOUND, ReadOptions, Trim
from mimegen.readers.points import Points, read_points, subjects_of
from mimegen.readers.recording import Recording, problems_of
from mimegen.readers.roles import Roles, find_roles
from mimegen.readers.trimming import cut, span_of

__all__ = ["Points", "ReadOptions", "Recording", "Roles", "Trim", "find_roles", "read_motion",
           "read_points", "subjects_of"]


READERS: dict[str, Callable[[Path, ReadOptions], Recording]] = {
    ".bvh": read_bvh_recording,
    ".fbx": read_fbx,
    ".glb": read_fbx,
    ".gltf": read_fbx,
    ".npz": read_npz,
    ".c3d": read_c3d,
    ".amc": read_asf_amc,
    ".asf": read_asf_amc,
}
WITH_STACKS = (".fbx", ".glb", ".gltf")
# Rates (Hz) that need no doubt.
USUAL_FPS = (10.0, 1000.0)


def read_motion(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a motion capture file of one person, by the ending of its name.

    Raises RequestError, one line, for a file that is missing, of another kind, or damaged.
    """
    check_file(path)
    kind = path.suffix.lower()
    if kind not in READERS:
        raise RequestError(f"{path}: expected a motion file that ends in {', '.join(READERS)}")
    if options.stack is not None and kind not in WITH_STACKS:
        raise RequestError(f"{path}: only FBX and glTF files have animation stacks;"
                           " leave out --stack")
    if options.skeleton is not None and kind != ".amc":
        raise RequestError(f"{path}: only AMC files have a skeleton in another file;"
                           " leave out --skeleton")
    if options.subject is not None and kind != ".c3d":
        raise RequestError(f"{path}: only C3D files hold several subjects; leave out --subject")
    recording = _with_doubts_on_rate(READERS[kind](path, options), options.fps_of_file)
    recording = replace(recording, notes=(*recording.notes, *problems_of(recording)))
    return cut(recording, span_of(path, recording, options.trim))


def _with_doubts_on_rate(recording: Recording, said: float | None) -> Recording:
    """Return a recording with a note on a rate that the user gave, or that few recordings have."""
    fps = recording.motion.fps
    if said is not None:
        note = f"the rate is {said:g} fps, as --fps-of-file says"
    elif not USUAL_FPS[0] <= fps <= USUAL_FPS[1]:
        note = f"few recordings have {fps:g} fps; give the true rate with --fps-of-file if the" \
               " file is wrong"
    else:
        return recording
    return replace(recording, notes=(*recording.notes, note))
