"""Make displays of ``mimegen pointlight`` again from their rows."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.faults.fault import parse_faults
from mimegen.library.cast import CastMember, cast_member
from mimegen.library.casting import Casting
from mimegen.library.gait_take import GaitTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import altered
from mimegen.manifest.row import Row
from mimegen.pointlight.filming import source_fps
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import DotScene, make_stimulus
from mimegen.production.displays import (
    cast_scene,
    looped,
    marker_scene,
    take_scene,
    write_files,
)
from mimegen.production.remaking import (
    Sources,
    cast_word,
    declared_of,
    edited,
    face_of,
    other_partner_of,
    take_of,
)

# Facts of a scene that the command states, ...
_STATED = ("condition", "grid")
# ... and further facts that the user states about a file, whatever the file is called now.
_STATED_OF_FILES = ("action", "take", "labels", "licence", "semantic_group", "motion_file",
                    "partner_motion_file")
_WINDOW = re.compile(r"-window\d+$")


def remake_displays(sources: Sources, out: Path, rows: Sequence[Row]
                    ) -> tuple[list[Row], dict[str, str]]:
    """Make displays and their windows again in ``out``; return their new rows.

    The second value holds the reasons of those that could not be made, by sample_id.
    """
    made: list[Row] = []
    refused = edited(sources, rows)
    clips = defaultdict(list)
    for row in rows:
        if row.sample_id not in refused:
            clips[_WINDOW.sub("", row.sample_id)].append(row)
    for name, group in clips.items():
        try:
            made += _made_again(sources, out, name, group[0])
        except RequestError as problem:
            refused |= {row.sample_id: str(problem) for row in group}
    return made, refused


def _made_again(sources: Sources, out: Path, name: str, row: Row) -> list[Row]:
    if row.window is None and row.file_name != f"{name}.mp4":
        raise RequestError("was written as a single file; run the command that made it again")
    display = _display(row)
    scene = _scene(sources, row, display)
    stimulus = make_stimulus(scene, display, row.dots_seed or 0)
    if stimulus.name != name:
        raise RequestError(f"the row would now make {stimulus.name}; run its request again")
    return write_files(stimulus, out, ())


def _display(row: Row) -> Display:
    try:
        return Display.model_validate_json(json.dumps(row.render_config))
    except ValidationError as problem:
        raise RequestError(f"its render_config is no display ({problem.errors()[0]['msg']}); run"
                           " its request again") from None


def _scene(sources: Sources, row: Row, display: Display) -> DotScene:
    """Return the scene of a row's dots. Raises RequestError if its motion is unknown."""
    scene = _marker_scene(sources, row, display) if row.dots_from == "markers" else (
        _take_scene(sources, row, display))
    names = (*_STATED, *(_STATED_OF_FILES if row.motion_sha256 in sources.files else ()))
    stated = {name: value for name in names if (value := getattr(row, name)) is not None}
    return replace(scene, facts=scene.facts | stated)


def _marker_scene(sources: Sources, row: Row, display: Display) -> DotScene:
    file = sources.file(row.motion_sha256, str(row.motion_file))
    if file is None:
        raise RequestError("its row has no motion_sha256; run its request again")
    scene = marker_scene(file, display, row.motion_subject, row.motion_fps_of_file)
    return replace(scene, name=path_name(Path(str(row.motion_file)).stem))


def _take_scene(sources: Sources, row: Row, display: Display) -> DotScene:
    declared = declared_of(row)
    take = altered(take_of(sources, declared, [row]), declared.tempo, declared.mirror,
                   face_of(sources, declared), declared.reverse)
    if isinstance(take, GaitTake) and (row.gait or {}).get("loop"):
        take = looped(take, display)
    other = other_partner_of(sources, row)
    if row.dots_from == "motion":
        return take_scene(take, display, other)
    casting = Casting(take, _members(sources, row, take), parse_faults(declared.faults))
    return cast_scene(casting, display, source_fps(display), other)


def _members(sources: Sources, row: Row, take: LibraryTake) -> tuple[CastMember, ...]:
    """Return the characters of a row; those of a user's files are found by their hashes."""
    named = ((row.avatar, row.character_sha256),
             (row.partner_avatar, row.partner_character_sha256))
    return tuple(cast_member(sources.catalogue, str(sources.files.get(sha256 or "")
                                                    or cast_word(name)))
                 for name, sha256 in named[:take.performers])
