"""Turn declared permutations into a plan; each line has its own config, and lines share shots."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.faces.overlay import FaceOverlay
from mimegen.faults.fault import Fault, fault_kinds, parse_faults
from mimegen.library.cast import CastMember, cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.gait_take import GaitTake
from mimegen.library.places import load_background
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.sequence_take import sequence_take
from mimegen.library.take import LibraryTake
from mimegen.library.takes import altered, library_take
from mimegen.plan.clips import NAMED, ChosenBackground, DisplayClip, PlannedClip
from mimegen.plan.permute.declaration import OWN_STYLE, VIDEO, Declaration, Permutation
from mimegen.plan.plan import CastingPlan, Plan, check_displays, check_shadow, display_of
from mimegen.plan.shots import Rendering, Shot
from mimegen.plan.variants import Variant, parse_variants
from mimegen.plan.view import ViewOverrides
from mimegen.shots.config import RenderConfig, read_config

# Fields that do not change a clip's shot: its background, and how it was drawn.
_NOT_OF_SHOTS = {"background_kind", "background", "set_seed", "pair", "sub_seed", "frame_redraws",
                 "view_redraws"}


def permuted_plan(catalogue: Catalogue, permutations: Sequence[Permutation], device: str,
                  config: RenderConfig | None = None) -> Plan:
    """Return the plan of declared clips; ``config`` replaces the configs that they declare.

    Clips that share a shot come together, at the position of the first of them. Raises
    RequestError, before anything is made, if the library lacks something declared or a take's file
    differs from the declared one.
    """
    for permutation in permutations:
        _check(catalogue, permutation, config)
    videos = [one for one in permutations if one.declaration.display == VIDEO]
    displays = [one for one in permutations if one.declaration.display != VIDEO]
    shots: dict[str, list[Permutation]] = {}
    for one in videos:
        shots.setdefault(_shot_name(one.declaration, config), []).append(one)

    def castings() -> Iterator[CastingPlan]:
        parts = sorted([*shots.values(), *([one] for one in displays)],
                       key=lambda part: part[0].number)
        return (_casting_plan(catalogue, part, device, config) for part in parts)

    return Plan(castings, clips=len(videos), shots=len(shots), displays=len(displays))


def _shot_name(declared: Declaration, config: RenderConfig | None) -> str:
    """Return a key that is equal for declarations with the same shot."""
    left_out = set(_NOT_OF_SHOTS)
    if declared.fault is not None and fault_kinds()[declared.fault].acts_on == "frames":
        left_out |= {"fault", "fault_amount"}
    if config is not None:
        left_out.add("config")
    content = declared.model_dump(mode="json", exclude_none=True, exclude=left_out)
    return content_key(content | {"azimuth": declared.azimuth % 360})


def _check(catalogue: Catalogue, permutation: Permutation, config: RenderConfig | None) -> None:
    """Raise RequestError, naming the item, for a declaration that cannot be carried out."""
    declared, item = permutation.declaration, f"item {permutation.number}"
    try:
        take = take_of(catalogue, declared)
        members_of(catalogue, declared, take)
        check_displays([variant_of(catalogue, declared)], faults_of(declared))
        load_background(_background(catalogue, declared).file, declared.set_seed)
        check_shadow(config_of(
            config or read_config(catalogue.file("config", declared.config)), declared),
            faults_of(declared))
    except RequestError as problem:
        raise RequestError(f"{item}: {problem}") from problem
    _check_file(item, take.file, declared.motion_sha256)
    if declared.then is not None:
        second = catalogue.action(declared.then.action).take(declared.then.take)
        _check_file(item, second, declared.then.motion_sha256)


def _check_file(item: str, file: Path, sha256: str) -> None:
    """Raise RequestError if a file differs from the declared one."""
    if file_hash(file) != sha256:
        raise RequestError(f"{item}: {file}: differs from the declared file (its SHA-256 is"
                           " another); restore the declared file, or sample new permutations")


def _casting_plan(catalogue: Catalogue, permutations: Sequence[Permutation], device: str,
                  config: RenderConfig | None) -> CastingPlan:
    """Return the plan of a display, or of the clips of one shot."""
    parts = [_planned(catalogue, one, device, config) for one in permutations]
    return CastingPlan(parts[0].casting, tuple(clip for part in parts for clip in part.clips),
                       parts[0].displays)


def _planned(catalogue: Catalogue, permutation: Permutation, device: str,
             config: RenderConfig | None) -> CastingPlan:
    """Return the plan of one declared clip or display."""
    declared = permutation.declaration
    take = take_of(catalogue, declared)
    casting = Casting(take, members_of(catalogue, declared, take), faults_of(declared))
    config = config_of(config or read_config(catalogue.file("config", declared.config)), declared)
    variant = variant_of(catalogue, declared)
    if variant.words is not None:
        return CastingPlan(casting, (), (DisplayClip(
            variant, casting, config, *display_of(variant, config), permutation),))
    shot = Shot(casting, variant.angle, Rendering(config, device))
    return CastingPlan(casting, (PlannedClip(
        variant, shot, _background(catalogue, declared), permutation),))


def take_of(catalogue: Catalogue, declared: Declaration) -> LibraryTake:
    """Return the declared take. Raises RequestError if the library has no such take."""
    style = None if declared.style == OWN_STYLE else declared.style
    take = _sequence_of(catalogue, declared, style) or library_take(
        catalogue.action(declared.action), declared.take, declared.seed, style, declared.manner)
    assert isinstance(take, ScoreTake | RecordedTake | GaitTake)
    overlay = None if declared.emotion is None else FaceOverlay(declared.emotion)
    return altered(take, declared.tempo, declared.mirror, overlay, bool(declared.reverse))


def _sequence_of(catalogue: Catalogue, declared: Declaration, style: str | None
                 ) -> LibraryTake | None:
    """Return the take of two actions; None if only one is declared."""
    if declared.then is None:
        return None
    parts = (declared.action, declared.take), (declared.then.action, declared.then.take)
    return sequence_take(catalogue, parts, declared.seed, style)


def members_of(catalogue: Catalogue, declared: Declaration,
               take: LibraryTake) -> tuple[CastMember, ...]:
    """Return the performers. Raises RequestError for an unknown character."""
    names = [declared.character, declared.partner or declared.character][:take.performers]
    return tuple(cast_member(catalogue, name) for name in names)


def faults_of(declared: Declaration) -> tuple[Fault, ...]:
    """Return the declared faults. Raises RequestError for an unknown fault."""
    if declared.fault is None:
        return ()
    return parse_faults([f"{declared.fault}={declared.fault_amount}"])


def config_of(config: RenderConfig, declared: Declaration) -> RenderConfig:
    """Return a render config with the declared camera and light.

    Raises RequestError as ``ViewOverrides``.
    """
    return ViewOverrides(declared.elevation, declared.lens,
                         (declared.light_azimuth, declared.light_elevation),
                         declared.light_strength).of(config)


def variant_of(catalogue: Catalogue, declared: Declaration) -> Variant:
    """Return the variant of a declaration. Raises RequestError for unknown display words."""
    angle = f"@{declared.azimuth % 360:g}"
    if declared.display != VIDEO:
        return parse_variants(declared.display + angle, set(), set())[0]
    word = declared.background if declared.background_kind == NAMED else declared.background_kind
    return Variant(declared.character, word, declared.azimuth % 360, set_seed=declared.set_seed)


def _background(catalogue: Catalogue, declared: Declaration) -> ChosenBackground:
    file = catalogue.file("background", declared.background)
    return ChosenBackground(declared.background_kind, declared.background, file, declared.set_seed)
