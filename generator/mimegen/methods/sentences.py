"""Sentences of a methods section, each computed from the rows of a set of clips."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mimegen.base.counted import counted, listed
from mimegen.evaluation.question import Question
from mimegen.manifest.row import UPRIGHT, Row
from mimegen.manifest.travel import is_scaled, scaled_quantities, scaled_words
from mimegen.methods.counting import MOST_NAMED, named, ranged, spans, tally

Rows = Sequence[Row]
OPENGL = "raster"
# Motions that are no recordings, by `motion_kind`: what each is made from.
MADE = {"score": "written choreographies", "gait": "a model of gait", "hands": "written hand"
        " actions", "face": "recipes of facial action units", "scene": "written scenes"}
# How a performance was altered, by field of the row.
ALTERED = {"tempo": "shown at another tempo", "mirrored": "mirrored left to right",
           "reversed": "played backwards", "style": "performed in a style", "stance": "performed in"
           " a stance", "intensity": "shown at another intensity", "frequency": "shown with another"
           " number of repeats", "face": "given a facial expression, speech or gaze"}
# Fields that tell one performance from another.
_PERFORMANCE = ("action", "take", "seed", "style", "stance", "intensity", "frequency", "tempo",
                "mirrored", "reversed", "gait", "hand_action", "face", "faults")


def of_clips(rows: Rows) -> Iterator[str]:
    """Yield the sentences about all clips: how many, of what, by whom, from which sides."""
    yield _amount(rows)
    yield from _kinds(rows)
    yield _motions(rows)
    yield from _gaits(rows)
    yield from _alterations(rows)
    yield from _performers(rows)
    yield from _travels(rows)
    yield from _variants(rows)
    yield from _sides(rows)
    yield from _backgrounds(rows)


def of_pictures(rows: Rows) -> Iterator[str]:
    """Yield a sentence for each render config and each kind of point-light display."""
    for facts, same in _parted(rows, _picture_facts):
        yield _pictures(json.loads(facts), same, len(rows))
    displays = [row for row in rows if is_display(row)]
    for _, same in _parted(displays, lambda row: [row.display, row.dot_set, row.dots_from]):
        yield _display(same)


def of_versions(rows: Rows) -> Iterator[str]:
    """Yield what made the clips, in which versions, and that they can be made again."""
    versions = tally(row.mimegen_version or "of an unknown version" for row in rows)
    yield (f"The clips were made with mimegen {versions}; the manifest has the seed, the settings"
           " and content hashes of each.")


def of_questions(questions: Sequence[Question]) -> Iterator[str]:
    """Yield a sentence for each kind of question."""
    for facts, same in _parted(questions, lambda one: list(one.question_type)):
        format_, asks, prompting = json.loads(facts)
        shown = len({clip.sample_id for one in same for clip in one.shown})
        options = [len(one.options) for one in same if one.options]
        free = "" if len(options) == len(same) else " with free answers"
        chance = "" if free or not options else (
            f", with {ranged(options, digits=0)} options each, so that guessing is right in"
            f" {sum(1 / count for count in options) / len(options):.1%} of the cases")
        yield (f"{counted(len(same), 'question')} ({format_}, about the {asks}, {prompting}"
               f" prompting, drawn with seed {spans(one.seed for one in same)}) asked about"
               f" {counted(shown, 'clip')}{free}{chance}.")


def is_display(row: Row) -> bool:
    """Return whether a clip shows points of light or the like instead of a body."""
    return row.display is not None


def performances(rows: Rows) -> int:
    """Return the number of different performances."""
    return len({json.dumps([getattr(row, name) for name in _PERFORMANCE], sort_keys=True)
                for row in rows})


def _amount(rows: Rows) -> str:
    actions = [row.action.replace("_", " ") for row in rows]
    total = sum(row.frames / row.fps for row in rows)
    of = f" ({names})" if (names := named(actions)) else ""
    return (f"The stimuli are {counted(len(rows), 'video clip')} of"
            f" {counted(len(set(actions)), 'action')}{of}, {total:.1f} s in all"
            f" ({ranged((row.frames / row.fps for row in rows), ' s')} each).")


def _kinds(rows: Rows) -> Iterator[str]:
    """Yield how many clips are displays or controls, if any."""
    controls = sum(row.shows_nobody for row in rows)
    displays = sum(map(is_display, rows))
    bodies = len(rows) - controls - displays
    found = [f"{counted(count, 'clip')} {'shows' if count == 1 else 'show'} {what}"
             for count, what in ((bodies, "a rendered body"), (displays, "a point-light display"),
                                 (controls, "a place without a performer, as a control"))
             if count]
    if len(found) > 1:
        yield f"{listed(found)}."
    elif displays:
        yield "All are point-light displays."


def _motions(rows: Rows) -> str:
    """Return the sentence about performances and what their motion is made from."""
    parts = []
    recorded = [row for row in rows if row.is_recorded]
    for kind, same in _parted([row for row in rows if not row.is_recorded],
                              lambda row: row.motion_kind):
        seeds = sorted({row.seed for row in same})
        of = spans(seeds) if len(seeds) <= MOST_NAMED else f"{seeds[0]} to {seeds[-1]}, not all"
        parts.append(f"{counted(performances(same), 'performance')} from {MADE[json.loads(kind)]}"
                     f" (seed{'s' if len(seeds) > 1 else ''} {of})")
    if recorded:
        files = {row.motion_sha256 or row.motion_file for row in recorded}
        of = f" ({kinds})" if (kinds := named(map(_file_kind, recorded))) else ""
        parts.append(f"{counted(performances(recorded), 'performance')} from"
                     f" {counted(len(files), 'motion file')}{of}")
    return f"They show {listed(parts)}."


def _file_kind(row: Row) -> str:
    """Return the ending of a motion file and what is known of its contents, never their source."""
    kind = (row.motion_kind or "unknown").upper()
    known = row.motion_system not in (None, "unknown")
    return f"{kind} with {row.motion_system}" if known else kind


def _gaits(rows: Rows) -> Iterator[str]:
    """Yield the options of gaits, if they are few enough to name."""
    options = [_options((row.gait or {}).get("asked")) for row in rows if row.gait]
    if options and len(set(options)) <= MOST_NAMED:
        yield f"The options of the gaits are {tally(options)}."


def _options(asked: Any) -> str:
    found = [f"{name} {_word(value) or ('yes' if value else 'no')}"
             for name, value in sorted(asked.items())] if isinstance(asked, dict) else []
    return ", ".join(found) or "the action's own"


def _alterations(rows: Rows) -> Iterator[str]:
    """Yield how many clips show altered performances."""
    found = [f"{count} {'was' if count == 1 else 'were'} {what}{_which(rows, name)}"
             for name, what in ALTERED.items()
             if (count := sum(bool(getattr(row, name)) for row in rows))]
    if found:
        yield f"Of the clips, {listed(found)}."


def _which(rows: Rows, name: str) -> str:
    """Return the values of an alteration in brackets, if they are words or numbers."""
    words = named(word for row in rows if (word := _word(getattr(row, name))))
    return f" ({words})" if words else ""


def _word(value: Any) -> str:
    """Return the value of an alteration as a word; empty if it has none."""
    if isinstance(value, dict):
        return _word(value.get("emotion"))
    if value is None or isinstance(value, bool):
        return ""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _performers(rows: Rows) -> Iterator[str]:
    """Yield the characters, and the partners in scenes of two."""
    shown = [row for row in rows if not row.shows_nobody]
    people = [row.avatar for row in shown if row.avatar]
    if people:
        which = "" if len(people) == len(shown) else f" of {counted(len(people), 'clip')}"
        yield f"{_subject('character', people, which)} {tally(people)}."
    if own := sum(row.avatar is None for row in shown):
        yield (f"{counted(own, 'clip')} {'has' if own == 1 else 'have'} no character: the"
               " dots are those of the motion data itself.")
    if two := [row for row in rows if row.partner_avatar or (row.performers or 1) > 1]:
        partners = [row.partner_avatar for row in two if row.partner_avatar]
        of = "" if len(partners) == len(two) else f" of {counted(len(partners), 'clip')}"
        second = f"; the second character{of} is {tally(partners)}" if partners else ""
        show = "shows" if len(two) == 1 else "show"
        yield f"{counted(len(two), 'clip')} {show} two people{second}."


def _travels(rows: Rows) -> Iterator[str]:
    """Yield how distances and speeds of recordings differ on characters of another size."""
    scaled = [row for row in rows if is_scaled(row.travel_scale)]
    if not scaled:
        return
    what = scaled_quantities(any(row.tempo for row in scaled)).capitalize()
    which = "" if len(scaled) == len(rows) else f" in {counted(len(scaled), 'clip')}"
    scales = [row.travel_scale or 1.0 for row in scaled]
    said = {scaled_words(scale) for scale in scales}
    if len(said) == 1:
        yield f"{what}{which} are {said.pop()}."
        return
    yield (f"{what}{which} are {ranged(scales, digits=3)} times those of the recordings, because"
           " they are scaled with the length of the characters' legs; the manifest has each clip's"
           " factor (travel_scale).")


def _variants(rows: Rows) -> Iterator[str]:
    """Yield the variants in MIME's names, if they are few enough to name."""
    variants = [row.config_name for row in rows if row.config_name]
    if variants and len(set(variants)) <= MOST_NAMED:
        which = "" if len(variants) == len(rows) else f" of {counted(len(variants), 'clip')}"
        yield (f"{_subject('variant', variants, which)} {tally(variants)}, written as in MIME (Cho"
               " et al., 2025): character, background and camera angle.")


def _sides(rows: Rows) -> Iterator[str]:
    """Yield how far the camera was turned, and where it stands."""
    turned = [row.angle for row in rows if row.angle is not None]
    if any(turned):
        yield (f"The camera was turned by {tally(f'{angle:g} degrees' for angle in turned)}"
               " counterclockwise (seen from above) from the render config's own position.")
    elif turned:
        which = "All clips show" if len(turned) == len(rows) else (
            f"{counted(len(turned), 'clip')} {'shows' if len(turned) == 1 else 'show'}")
        yield f"{which} the view of the render config's own camera, which was not turned."
    views = [f"{row.view_azimuth_deg:g} degrees" for row in rows
             if row.view_azimuth_deg is not None]
    if views and len(set(views)) <= MOST_NAMED:
        yield (f"The camera stands at an azimuth of {tally(views)}, where 0 is in front of the"
               " first performer and 90 at their left.")


def _backgrounds(rows: Rows) -> Iterator[str]:
    """Yield the conditions and the names of the backgrounds of bodies."""
    rendered = [row for row in rows if not is_display(row) and row.background_config]
    if not rendered:
        return
    conditions = [str(row.background_config) for row in rendered]
    names = [row.background_name for row in rendered
             if row.background_name and row.background_name != "blank"]
    of = f" ({words})" if names and (words := named(names)) else ""
    places = f"; the places are {counted(len(set(names)), 'background')}{of}" if names else ""
    seeds = {row.set_seed for row in rendered if row.set_seed is not None}
    drawn = f", drawn with seed {spans(seeds)}" if seeds else ""
    which = "" if len(rendered) == len(rows) else (
        f" of the {counted(len(rendered), 'rendered clip')}")
    yield f"{_subject('background', conditions, which)} {tally(conditions)}{places}{drawn}."


def _picture_facts(row: Row) -> list[Any]:
    config = row.render_config or {}
    sampling = config.get("sampling")
    samples = sampling.get("samples") if isinstance(sampling, dict) else None
    look = None if row.camera_look is None else str(row.camera_look.get("name"))
    made_by = (None, None) if is_display(row) else (
        row.render_config_name, config.get("engine", "cycles"))
    return [*made_by, row.width, row.height, row.fps, row.blender_version, row.device, samples,
            look, row.light_tint is not None]


def _pictures(facts: list[Any], same: Rows, total: int) -> str:
    """Return the sentence about the pictures of one render config."""
    config, engine, width, height, fps, blender, device, samples, look, lit = facts
    which = counted(len(same), "clip") if len(same) != total else (
        "All clips" if total > 1 else "The clip")
    be = "are" if len(same) != 1 else "is"
    if engine is None:
        by = "drawn as dots without a render engine"
    elif engine == OPENGL:
        by = "drawn by mimegen's OpenGL renderer"
    else:
        by = (f"rendered by Cycles of Blender {blender or 'of an unknown version'}"
              + (f" on {device}" if device else "")
              + (f" with at most {samples} samples a pixel" if samples else ""))
    also = (f", with the camera look {look}" if look else "") + (
        ", with figures lit like their background" if lit else "")
    named_config = f" (render config {config})" if config and engine is not None else ""
    return (f"{which} {be} {width} x {height} pixels at {fps:g} frames a second,"
            f" {by}{also}{named_config}.")


def _display(rows: Rows) -> str:
    """Return the sentence about point-light displays of one kind."""
    first = rows[0]
    source = f" after {first.dot_set_source}" if first.dot_set_source else ""
    sizes = [row.dot_diameter_deg for row in rows if row.dot_diameter_deg is not None]
    heights = [row.figure_height_deg for row in rows if row.figure_height_deg is not None]
    distances = [row.distance_cm for row in rows if row.distance_cm is not None]
    seen = "" if not (sizes and heights and distances) else (
        f"; seen from {ranged(distances, ' cm')} the dots are {ranged(sizes, ' degrees', 3)} wide"
        f" and a standing figure is {ranged(heights, ' degrees')} high")
    dots = ranged((row.dot_count or 0 for row in rows), digits=0)
    return (f"{counted(len(rows), 'point-light display')} ({first.display}) "
            f"{'has' if len(rows) == 1 else 'have'} {dots} dots of the set {first.dot_set}{source},"
            f" taken from the {first.dots_from}, in {tally(str(row.projection) for row in rows)}"
            f" projection{seen}. {_conditions(rows)}")


def _conditions(rows: Rows) -> str:
    """Return the conditions of displays: what was done to the dots, or that they are upright."""
    return f"Condition: {tally(map(_condition, rows), 'display')}."


def _condition(row: Row) -> str:
    if row.condition is not None:
        return row.condition
    words = (row.config_name or "").partition("@")[0].split(":")[1:]
    return " + ".join(words or [str(one.get("name")) for one in row.manipulations or ()]) or UPRIGHT


def _parted(items: Iterable[Any], facts: Callable[[Any], Any]) -> list[tuple[str, list[Any]]]:
    """Return items with the same facts together, by these facts as JSON; the largest first."""
    parts: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        parts[json.dumps(facts(item))].append(item)
    return sorted(parts.items(), key=lambda part: (-len(part[1]), part[0]))


def _subject(noun: str, values: Iterable[str], which: str = "") -> str:
    return f"The {noun}{which} is" if len(set(values)) == 1 else f"The {noun}s{which} are"
