"""Rebuild plans from the rows of existing clips, so that the clips can be made again."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.paths import data_folder
from mimegen.choreography.manner import CueManner
from mimegen.faces.overlay import FaceOverlay
from mimegen.faults.fault import parse_faults
from mimegen.hands.compiling import HandName
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import loaded_background_key
from mimegen.library.scene_take import SCENE, scene_take
from mimegen.library.take import LibraryTake
from mimegen.library.takes import altered, library_take, user_take
from mimegen.manifest.row import Row
from mimegen.plan.permute.declaration import Declaration, Permutation
from mimegen.plan.permute.planned import config_of, permuted_plan
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.readers.options import ReadOptions, parse_trim
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.look import CameraLook

# Fields of a row that are used to make its clip again, ...
_BELIEVED = frozenset({
    "action", "take", "seed", "style", "stance", "intensity", "frequency", "render_config_name",
    "render_config", "clip_key", "avatar", "partner_avatar", "config_name", "device",
    "camera_look", "face", "gait", "hand_action", "tempo", "mirrored", "reversed", "faults",
    "permutation", "motion_sha256", "motion_kind", "dots_seed", "dots_from", "condition", "grid",
    "people_shown"})
# ... and further fields that are used if it shows a user's own file.
_BELIEVED_OF_FILES = frozenset({
    "labels", "licence", "background_config", "background_name", "motion_stack", "motion_subject",
    "motion_trim", "motion_mapping_sha256", "partner_motion_sha256", "motion_fps_of_file",
    "motion_take", "motion_smpl_model_sha256", "semantic_group"})
# Render configs stored in rows, by name: one name may have stood for several configs.
Configs = dict[str, list[RenderConfig]]


@dataclass(frozen=True)
class Sources:
    """The sources of takes: a library, and a user's own ``files`` by SHA-256."""

    catalogue: Catalogue
    files: dict[str, Path]

    @classmethod
    def of(cls, catalogue: Catalogue, files: Iterable[Path]) -> Self:
        """Return the sources. Raises RequestError if a file cannot be read."""
        try:
            return cls(catalogue, {file_hash(file): file for file in files})
        except OSError as problem:
            raise RequestError(f"{problem.filename}: {problem.strerror}") from problem

    def file(self, sha256: str | None, what: str) -> Path | None:
        """Return the file with this hash; None for None.

        Raises RequestError if the file was not given.
        """
        if sha256 is not None and sha256 not in self.files:
            raise RequestError(f"{what} is needed; give it with --motion FILE")
        return None if sha256 is None else self.files[sha256]


@dataclass(frozen=True)
class Declared:
    """What several rows of one casting have in common, so that one plan makes them all.

    ``look`` is the render config as JSON, or a display's clip key. ``face``, ``camera_look`` and
    ``permutation`` are the rows' fields as JSON. ``hand`` and ``gait`` are the options that were
    requested. ``performer`` and ``partner`` are the words by which a user requests these
    characters.
    """

    action: str
    take: str
    seed: int
    style: str | None
    manner: CueManner
    config: str
    look: str
    performer: str | None
    partner: str | None
    device: str
    opaque: bool
    tempo: float
    mirror: bool
    reverse: bool
    faults: tuple[str, ...]
    hand: HandName | None
    gait: str | None
    face: str | None
    camera_look: str | None
    permutation: str | None


def believed_of(sources: Sources, row: Row) -> frozenset[str]:
    """Return the fields of a row that are used to make its clip again."""
    return _BELIEVED | _BELIEVED_OF_FILES if row.motion_sha256 in sources.files else _BELIEVED


def grouped(rows: Iterable[Row]) -> dict[Declared, list[Row]]:
    """Group rows by what they have in common; one plan makes the clips of a group."""
    groups = defaultdict(list)
    for row in rows:
        groups[declared_of(row)].append(row)
    return dict(groups)


def is_own_display(row: Row) -> bool:
    """Whether a row is that of a display of ``mimegen pointlight``, not of a variant."""
    return row.display is not None and row.config_name is None


def declared_of(row: Row) -> Declared:
    """Return what a row has in common with others of its group."""
    variant = row.config_name or ""
    base = variant.startswith(("base+", "pointlight")) or is_own_display(row)
    return Declared(
        row.action, row.take, row.seed, row.style,
        CueManner(row.stance, row.intensity, row.frequency), row.render_config_name or "",
        # Compare the config's content, not only its name: the config may have changed since. A
        # display's row holds no config, but its key depends on one.
        json.dumps(row.render_config if row.shot_key else row.clip_key, sort_keys=True),
        cast_word(row.avatar) if base else None, cast_word(row.partner_avatar),
        row.device or "cpu", row.plain_id is not None, float(row.tempo or 1), bool(row.mirrored),
        bool(row.reversed),
        tuple(f"{fault['name']}={fault['amount']}" for fault in row.faults or ()),
        _hand_asked(row), _as_json(_gait_asked(row)), _as_json(row.face),
        _as_json(row.camera_look), _as_json(row.permutation))


def _as_json(content: dict[str, Any] | None) -> str | None:
    return json.dumps(content, sort_keys=True) if content else None


def cast_word(name: str | None) -> str | None:
    """Return the word by which a user requests the character of this name."""
    if name is None:
        return None
    if name.endswith("_lights"):
        return f"lights:{cast_word(name.removesuffix('_lights'))}"
    return name.replace("_", ":") if re.fullmatch(r"random_\d+(_\d+)?", name) else name


def _stored_config(row: Row) -> RenderConfig | None:
    """Return the render config stored in a row; None for a display or if it is no longer valid."""
    if row.shot_key is not None:
        with suppress(ValidationError):
            return RenderConfig.model_validate_json(json.dumps(row.render_config))
    return None


def configs_of(rows: Iterable[Row]) -> Configs:
    """Return the render configs stored in rows, by name.

    Displays need them, because their own rows store none.
    """
    found: dict[str, dict[str, RenderConfig]] = defaultdict(dict)
    for row in rows:
        content = json.dumps(row.render_config, sort_keys=True)
        if content not in found[row.render_config_name or ""] and (config := _stored_config(row)):
            found[config.name][content] = config
    return {name: [*configs.values()] for name, configs in found.items()}


def plan_again(sources: Sources, declared: Declared, rows: Sequence[Row],
          configs: Configs) -> Plan:
    """Return the plan of these rows' clips. Raises RequestError if it would make other clips."""
    plan = _declared_plan(sources.catalogue, declared, rows[0]) if declared.permutation else (
        _named_plan(sources, declared, rows, configs))
    wanted = {row.plain_id or row.sample_id for row in rows}
    others = {clip.sample_id for clip in plan} ^ wanted
    if others:
        raise RequestError(f"the row would now make {', '.join(sorted(others - wanted))}; run its"
                           " request again")
    return plan


def edited(sources: Sources, rows: Iterable[Row]) -> dict[str, str]:
    """Return, by clip, which file of the user's shows something else now than when it was made.

    Files of mimegen's own may change with its version; clips are made again with the present ones.
    """
    found = {row.sample_id: _edited_file(sources.catalogue, row) for row in rows}
    return {name: f"{file} has changed since; restore it, or run the request again"
            for name, file in found.items() if file is not None}


def _edited_file(catalogue: Catalogue, row: Row) -> Path | None:
    """Return a file of the user's that is no longer what a row says of it; None if there is none.
    """
    for name, sha256 in ((row.avatar, row.character_sha256),
                         (row.partner_avatar, row.partner_character_sha256)):
        file = _users(catalogue.characters, (name or "").removesuffix("_lights"))
        if file is not None and sha256 is not None and file_hash(file) != sha256:
            return file
    file = _users(catalogue.backgrounds, row.background_name or "")
    if file is None or row.background_key is None:
        return None
    return None if loaded_background_key(file, row.set_seed) == row.background_key else file


def _users(files: Mapping[str, Path], name: str) -> Path | None:
    """Return the file of this name, unless it is one of mimegen's own."""
    file = files.get(name)
    own = [data_folder().resolve() / kind for kind in ("rigs", "backgrounds")]
    return None if file is None or file.resolve().parent in own else file


def _declared_plan(catalogue: Catalogue, declared: Declared, row: Row) -> Plan:
    """Return the plan of a permutation, in the config it was rendered in."""
    content = json.loads(declared.permutation or "")
    number = content.pop("number")
    declaration = Declaration.model_validate(content)
    config = _config_before(catalogue, declaration, row) if row.shot_key else read_config(
        catalogue.file("config", declared.config))
    return permuted_plan(catalogue, [Permutation(number, declaration)], declared.device, config)


def _config_before(catalogue: Catalogue, declaration: Declaration, row: Row) -> RenderConfig:
    """Return the config that gives the row's config once the declared camera and light are applied.

    Raises RequestError if no such config exists any more.
    """
    known = []
    for name in (declaration.config, row.render_config_name or ""):
        with suppress(RequestError):
            known.append(read_config(catalogue.file("config", name)))
    for config in (*known, *filter(None, [_stored_config(row)])):
        if config_of(config, declaration).model_dump(mode="json") == row.render_config:
            return config
    raise RequestError(f"its render config {row.render_config_name} has changed; run its request"
                       " again")


def _named_plan(sources: Sources, declared: Declared, rows: Sequence[Row],
                configs: Configs) -> Plan:
    """Return the plan of the variants that rows name."""
    catalogue = sources.catalogue
    if rows[0].config_name is None or rows[0].render_config_name is None:
        raise RequestError("was not made by render or pointlight; run the command that made it"
                           " again")
    take = take_of(sources, declared, rows)
    names = ",".join(row.config_name or "" for row in rows)
    variants = parse_variants(names, set(catalogue.characters), set(catalogue.backgrounds))
    take = altered(take, declared.tempo, declared.mirror, face_of(sources, declared),
                   declared.reverse)
    plans = [make_plan(catalogue, [take], variants, config, declared.device,
                       declared.performer, declared.partner, parse_faults(declared.faults),
                       camera_look=_camera_look(declared))
             for config in _candidates(catalogue, rows[0], configs)]
    if len(plans) == 1:
        return plans[0]
    # If the code of a display has changed since, no config gives the old key.
    again = (plan for plan in plans if rows[0].clip_key in {clip.key for clip in plan})
    return next(again, plans[0])


def face_of(sources: Sources, declared: Declared) -> FaceOverlay | None:
    """Return the face overlay (emotion, captured face or text) that rows record for the performer.

    Raises RequestError if it no longer exists, or if the recording was not given.
    """
    if declared.face is None:
        return None
    content = json.loads(declared.face)
    file = sources.file(content.get("sha256"), f"its captured face {content.get('file')}")
    filmed = content.get("filmed")
    return FaceOverlay(content.get("emotion"), float(content.get("intensity", 1.0)), file,
                       content.get("say"), content.get("gaze"),
                       None if filmed is None else json.dumps(filmed, sort_keys=True))


def _camera_look(declared: Declared) -> CameraLook | None:
    """Return the camera look that rows record. Raises RequestError if it is not valid."""
    if declared.camera_look is None:
        return None
    try:
        return CameraLook.model_validate_json(declared.camera_look)
    except ValidationError as problem:
        raise RequestError(f"its camera_look is wrong ({problem.errors()[0]['msg']}); run its"
                           " request again") from None


def _candidates(catalogue: Catalogue, row: Row, configs: Configs
                ) -> list[RenderConfig]:
    """Return the config stored in a row; for a display, all known configs of its config's name."""
    if (own := _stored_config(row)) is not None:
        return [own]
    name = row.render_config_name or ""
    known = configs.get(name, [])
    with suppress(RequestError):
        return [*known, read_config(catalogue.file("config", name))]
    return known or [read_config(catalogue.file("config", name))]


def take_of(sources: Sources, declared: Declared, rows: Sequence[Row]) -> LibraryTake:
    """Return the take that rows show. Raises RequestError if it is unknown or has changed."""
    row = rows[0]
    if row.motion_sha256 in sources.files:
        return _own_take(sources, rows)
    if row.motion_kind == SCENE:
        return _unchanged(scene_take(sources.catalogue, declared.take, declared.seed,
                                     declared.style), row.motion_sha256)
    entry = sources.catalogue.all_entries.get(declared.action)
    if entry is None or declared.take not in entry.takes:
        raise RequestError(f"its take {row.motion_file} of {declared.action} is in no known"
                           f" library; give --library, or --motion {row.motion_file}")
    return _unchanged(library_take(
        entry, declared.take, declared.seed, declared.style, declared.manner,
        json.loads(declared.gait or "{}"), declared.hand), row.motion_sha256)


def other_partner_of(sources: Sources, row: Row) -> LibraryTake | None:
    """Return the take of another action whose partner a display shows as the second person.

    None if it shows no such partner. Raises RequestError if the take is unknown or has changed.
    """
    for person in row.people_shown or ():
        if person.action is None:
            continue
        entry = sources.catalogue.all_entries.get(person.action)
        if entry is None or person.take not in entry.takes:
            raise RequestError(f"the take {person.motion_file} of {person.action}, of its second"
                               " person, is in no known library; give --library")
        return _unchanged(library_take(entry, person.take, person.seed or 0),
                          person.motion_sha256)
    return None


def _hand_asked(row: Row) -> HandName | None:
    """Return the hand that was requested for a hand action, None if none was."""
    asked = (row.hand_action or {}).get("asked")
    return asked if asked in ("left", "right", "both") else None


def _gait_asked(row: Row) -> dict[str, Any]:
    """Return the gait options that were requested, without the style, which has its own field."""
    asked = (row.gait or {}).get("asked") or {}
    return {name: value for name, value in asked.items() if name != "style"}


def _unchanged(take: LibraryTake, sha256: str | None) -> LibraryTake:
    if file_hash(take.file) != sha256:
        raise RequestError(f"{take.file}: has changed (its SHA-256 is another); restore it, or"
                           " render the clip again")
    return take


def _own_take(sources: Sources, rows: Sequence[Row]) -> LibraryTake:
    """Return the take of a user's own file (--motion), read with the options in these rows.

    It has the name that the file had when the clips were made.
    """
    row = rows[0]
    behind = {each.background_config: each.background_name for each in rows}
    options = ReadOptions(
        stack=row.motion_stack, subject=row.motion_subject,
        mapping=sources.file(row.motion_mapping_sha256, "its bone mapping"),
        trim=parse_trim(row.motion_trim or "none"), fps_of_file=row.motion_fps_of_file,
        take=row.motion_take,
        smpl_model=sources.file(row.motion_smpl_model_sha256, "its SMPL model"))
    file = sources.file(row.motion_sha256, str(row.motion_file))
    assert file is not None, "it was looked up"
    # A file's name is no label by which the library's actions are searched.
    labels = () if row.labels == [Path(str(row.motion_file)).stem] else tuple(row.labels)
    take = user_take(
        sources.catalogue, file, labels, behind.get("aligned"),
        behind.get("misaligned"), row.licence or "not stated",
        sources.file(row.partner_motion_sha256, str(row.partner_motion_file)), options,
        group=row.semantic_group)
    return replace(take, action=row.action, name=row.take, labels=tuple(row.labels))
