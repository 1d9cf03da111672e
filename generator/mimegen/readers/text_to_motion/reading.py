"""Turn the joints of text-to-motion models into a recording in mimegen's convention."""

from dataclasses import replace
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.motion.axes import with_z_up
from mimegen.readers.canonical import canonical_recording
from mimegen.readers.options import ReadOptions
from mimegen.readers.position_layouts import file_layout, in_order_of, smpl_layout
from mimegen.readers.positions import motion_of_positions
from mimegen.readers.recording import Recording
from mimegen.readers.text_to_motion.layouts import FPS, KIT, Takes, TextMotion, data_set

# Characters of a prompt that are kept.
MAX_PROMPT_LETTERS = 200
# Names of the axes in the file, by their names after Y was made Z.
IN_FILE = {"X": "X", "-X": "-X", "Y": "-Z", "-Y": "Z", "Z": "Y", "-Z": "-Y"}


def recording_of_takes(path: Path, takes: Takes, options: ReadOptions) -> Recording:
    """Return the recording of a file's take: the first, or the one of ``options.take``.

    Raises RequestError if there is no take with that number.
    """
    number = options.take or 0
    if number >= takes.count:
        raise RequestError(f"{path}: --take {number}: the file has {takes.count} takes, 0 to"
                           f" {takes.count - 1}")
    found = takes.take(number)
    joints = found.positions.shape[1]
    usual = FPS[joints]
    fps = options.fps_of_file or takes.fps or usual
    notes = _notes(takes, number, found, None if options.fps_of_file or takes.fps else usual)
    layout = file_layout("kit").layout if joints == KIT else smpl_layout()
    positions = file_layout("kit").placed(found.positions) if joints == KIT \
        else found.positions[:, :len(layout.skeleton.names)]
    motion = motion_of_positions(layout, with_z_up(positions), fps, found.planted)
    recording = canonical_recording(path, motion, takes.format, notes, options, known=layout.roles)
    labelled = replace(recording, prompt=_prompt(found), system=_system(found))
    # ``canonical_recording`` names axes after the turn to Z up; restore the file's own.
    return replace(labelled, up_axis="Y", up_source=f"{takes.format} has Y up") \
        if recording.up_axis == "Z" else replace(labelled, up_axis=IN_FILE[recording.up_axis])


def _system(found: TextMotion) -> str:
    """Return what the file has: a data set's vectors, or positions, which may be from anywhere."""
    name = data_set(found.positions.shape[1])
    return f"{name} vectors" if found.is_vectors else in_order_of(name)


def _prompt(found: TextMotion) -> str | None:
    """Return the prompt on one line, shortened, or None."""
    text = " ".join((found.prompt or "").split())[:MAX_PROMPT_LETTERS].strip(" .")
    return text or None


def _notes(takes: Takes, number: int, found: TextMotion, fps: float | None) -> tuple[str, ...]:
    """Return notes on the rate, the rotations, the number of takes and the prompt."""
    notes = [] if fps is None else [
        f"the file has no frame rate: {fps:g} fps is assumed, as {takes.format} has; give the true"
        " one with --fps-of-file"]
    notes.append("the file has joint positions only: rotations are computed from them"
                 + (", and feet stand still where the file says that they touch the ground"
                    if found.planted else ""))
    if takes.count > 1:
        notes.append(f"take {number} of {takes.count} is read; choose another with --take N")
    if found.prompt:
        notes.append(f"its prompt is {_prompt(found)!r}")
    return tuple(notes)
