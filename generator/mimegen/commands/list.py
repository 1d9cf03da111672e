"""``mimegen list``: list everything that options accept."""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from pydantic import RootModel

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_folders
from mimegen.base.yaml_file import read_description, read_yaml
from mimegen.choreography.action import Action, TakeFacts
from mimegen.choreography.stances import STANCES, Stance
from mimegen.choreography.styles import styles
from mimegen.commands.common import DONE, exits_cleanly, library_option
from mimegen.faces.words import action_units, emotions
from mimegen.faults.fault import fault_kinds
from mimegen.groundtruth.kinds import DEPTH, FLOW, KEYPOINTS, MASK, NORMALS, PARTS
from mimegen.library.catalogue import Catalogue
from mimegen.library.imported import imported_takes
from mimegen.library.score_facts import score_facts
from mimegen.library.takefile import notes_of
from mimegen.motion.hand_shapes import hand_shapes
from mimegen.plan.front import PLAN_VIEW
from mimegen.plan.variants import CAST, GROUPS, MIME, POINTLIGHT
from mimegen.pointlight.landmarks import dot_sets
from mimegen.pointlight.manipulation import WHO
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.pointlight.presets import presets, read_display
from mimegen.shots.look import looks

# In characters. Longer cells shift the cells after them.
WIDEST = 44
# What each kind of ground truth contains for every frame.
HOLDS = {
    KEYPOINTS: "positions of all joints in world, camera and image coordinates",
    DEPTH: "distance from the camera in metres",
    MASK: "pixels of each performer and of the shadow",
    NORMALS: "surface normals in camera coordinates",
    FLOW: "motion of every pixel to the next and to the previous frame",
    PARTS: "body part and garment at every pixel",
}
# Two words in variants that are not names of characters.
WORDS_OF_MIME = ("\nbase is the man, or the character that --character names; adversarial is MIME's"
                 " word for\nthe spacesuit. All other names of 'mimegen list characters' may stand"
                 " there too.")

# Rows of a table, each by column name.
Listing = list[dict[str, Any]]


def _actions(catalogue: Catalogue) -> Listing:
    return [_action(entry.action) for entry in catalogue.actions.values()]


def _action(action: Action) -> dict[str, Any]:
    return {"id": action.id, "labels": list(action.labels),
            "aligned_background": action.aligned_background,
            "misaligned_background": action.misaligned_background,
            "sets": {name: list(codes) for name, codes in action.sets.items()},
            "ambiguous": action.ambiguous, "aliases": list(action.aliases)}


def _sets(catalogue: Catalogue) -> Listing:
    return [{"set": name, "actions": len(catalogue.in_set(name)), "names": len(one.members),
             "missing": list(catalogue.missing_from(name)), "about": one.about,
             "source": one.source} for name, one in catalogue.sets.items()]


def _of_set(catalogue: Catalogue, name: str) -> Listing:
    """Return the actions of a set, with the names that the set uses for them."""
    return [{"in_set": list(entry.action.sets[name]), **_action(entry.action)}
            for entry in catalogue.in_set(name).values()]


def _takes(catalogue: Catalogue) -> Listing:
    return [{"take": take, "action": entry.action.id, "file": file.name,
             "aliases": list(entry.action.takes.get(take, TakeFacts()).aliases),
             "notes": list(notes_of(file))}
            for entry in catalogue.actions.values() for take, file in entry.takes.items()]


def _cues(catalogue: Catalogue) -> Listing:
    return [{"id": entry.action.id, "labels": list(entry.action.labels),
             "region": entry.action.cue.region,
             "explanations": list(entry.action.cue.explanations),
             "stances": list(score_facts(entry.take(None)).stances)}
            for entry in catalogue.cues.values() if entry.action.cue]


def _directed(catalogue: Catalogue) -> Listing:
    return [{"id": name, "labels": list(entry.action.labels), "takes": list(entry.takes)}
            for name, entry in catalogue.directed.items()]


def _hands(catalogue: Catalogue) -> Listing:
    return [{"id": name, "labels": list(entry.action.labels), "takes": list(entry.takes),
             "group": entry.action.semantic_group}
            for name, entry in catalogue.hands.items()]


def _emotions(_catalogue: Catalogue) -> Listing:
    return [{"emotion": name, "units": " ".join(f"{unit}:{size:g}" for unit, size in
                                                emotion.units.items()), "source": emotion.source}
            for name, emotion in emotions().items()]


def _units(_catalogue: Catalogue) -> Listing:
    return [{"unit": f"AU{number}", "name": unit.name, "sides": unit.sides}
            for number, unit in action_units().units.items()]


def _files(files: Mapping[str, Path]) -> Listing:
    return [{"name": name, "description": read_description(file), "file": str(file)}
            for name, file in files.items()]


def _groups(catalogue: Catalogue) -> Listing:
    return [{"group": group, "actions": list(actions)}
            for group, actions in catalogue.groups.items()]


def _styles(_: Catalogue) -> Listing:
    return [{"style": name, "drawn by seeds": "no" if style.affect else "yes", "changes": [
        f"{key} {_number(value)}" for key, value in style.model_dump(
            exclude_defaults=True, exclude={"affect"}).items()
    ]} for name, style in styles().items()]


def _number(value: float | Sequence[float]) -> str:
    return f"{value:g}" if isinstance(value, float) else " ".join(f"{one:g}" for one in value)


def _stances(_: Catalogue) -> Listing:
    """Return the stances of mimegen and of libraries; later folders replace the same name."""
    files = [folder / "cues" / STANCES for folder in data_folders()]
    return list({name: {"stance": name, "about": stance.about, "file": str(file)}
                 for file in files if file.is_file()
                 for name, stance in read_yaml(file, RootModel[dict[str, Stance]]).root.items()
                 }.values())


def _hand_shapes(_: Catalogue) -> Listing:
    return [{"hand_shape": name, **{finger: [*map(_number, bends)] for finger, bends in
                                    shape.model_dump(exclude={"spread", "touches"}).items()}}
            for name, shape in hand_shapes().items()]


def _passes(_: Catalogue) -> Listing:
    return [{"pass": name, "holds": holds} for name, holds in HOLDS.items()]


def _variants(_: Catalogue) -> Listing:
    return [{"variant": name, "character": _who(name),
             "groups": [group for group, names in GROUPS.items() if name in names]}
            for name in (*MIME, *POINTLIGHT)]


def _who(variant: str) -> str | None:
    """Return the character that a variant shows by default; None for dots."""
    word, is_cell, _ = variant.partition("+")
    return CAST.get(word, word) if is_cell else None


def _displays(_: Catalogue) -> Listing:
    return [{"display": name, "description": read_display(name).description}
            for name in presets()]


def _dots(_: Catalogue) -> Listing:
    return [{"dots": name, "description": one.description, "source": one.source}
            for name, one in dot_sets().items()]


def _manipulations(_: Catalogue) -> Listing:
    return [{"manipulation": name, "parameters": sorted(one.model_fields, key=WHO.__eq__),
             "algorithm": one.algorithm} for name, one in MANIPULATIONS.items()]


# Imported here because pairs take longer to import than everything else.
def _factors(_: Catalogue) -> Listing:
    from mimegen.plan.permute.factors import FACTORS

    return [{"factor": factor.name, "needs": factor.told_by.says, "the_two_clips": factor.about}
            for factor in FACTORS.values()]


def _faults(_: Catalogue) -> Listing:
    return [{"fault": name, "says": one.says, "at_1": f"{one.most:g} {one.unit}",
             "acts_on": one.acts_on, "lowers": one.lowers}
            for name, one in fault_kinds().items()]


class Kind(NamedTuple):
    """A kind of listed items: its description, and the function that lists them."""

    says: str
    listing: Callable[[Catalogue], Listing]


KINDS: dict[str, Kind] = {
    "actions": Kind("Actions for --action: ids, labels and aliases.", _actions),
    "takes": Kind("Takes of each action, for --take.", _takes),
    "sets": Kind("Sets of actions that others publish, for --action set:NAME.", _sets),
    "groups": Kind("Semantic groups and their actions.", _groups),
    "cues": Kind("Nonverbal cues, for --action.", _cues),
    "directed": Kind("Gestures with a take for each direction, for --action and --take.",
                     _directed),
    "hands": Kind("Actions of hands alone, letters and hand shapes, for --action.", _hands),
    "emotions": Kind("Emotions of faces, for --emotion and the face track of scores.", _emotions),
    "action-units": Kind("Action units of faces (FACS), for the face track of scores.", _units),
    "scenes": Kind("Scenes of one or two performers, for --scene.",
                   lambda catalogue: _files(catalogue.scenes)),
    "characters": Kind("Characters, for variants and --character.",
                       lambda catalogue: _files(catalogue.characters)),
    "backgrounds": Kind("Sets, pictures and colors, for variants.",
                        lambda catalogue: _files(catalogue.backgrounds)),
    "configs": Kind("Render configs, for --config.", lambda catalogue: _files(catalogue.configs)),
    "looks": Kind("Looks of real cameras, for --camera-look.", lambda _: _files(looks())),
    "variants": Kind("Variants for --variants, and their groups.", _variants),
    "styles": Kind("Styles of choreographed takes, for --style.", _styles),
    "stances": Kind("Stances in which cues are performed, for --stance.", _stances),
    "hand-shapes": Kind("Hand shapes for scores: bends of each finger's joints in degrees.",
                        _hand_shapes),
    "passes": Kind("Kinds of ground truth, for --passes.", _passes),
    "displays": Kind("Point-light displays, for pointlight --display.", _displays),
    "dots": Kind("Dot sets, for pointlight --dots.", _dots),
    "manipulations": Kind("Manipulations of dots, for pointlight -m.", _manipulations),
    "factors": Kind("Factors that the clips of a minimal pair differ in, for pairs --factors.",
                    _factors),
    "faults": Kind("Faults to add on purpose, for --fault NAME=AMOUNT.", _faults),
}
SCHEMA = "schema"
# Kinds of which --imported lists a part.
_OF_IMPORTS = ("actions", "takes")
# Kinds after which the name of a set is often written, and options without a value.
_OF_SETS = ("actions", "sets")
_FLAGS = ("imported", "ids", "json")


class _KindName(click.Choice[str]):
    """The name of a kind; words may be separated by blanks, hyphens or underscores."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind's name; fail for an unknown word."""
        return super().convert("-".join(value.lower().replace("_", " ").split()), param, ctx)


# Columns that only --json shows, by kind; for all other kinds, ``file``.
_HIDDEN: dict[str, tuple[str, ...]] = {"takes": (), "sets": ("file", "missing", "source")}


# Further words are refused with a hint, which says more than click's own message.
@click.command("list", context_settings={"allow_extra_args": True})
@click.argument("kind", metavar="[KIND]", type=_KindName([*KINDS, SCHEMA]), required=False)
@click.option("--set", "of_set", metavar="NAME",
              help="With actions: list only those of this set (mimegen list sets).")
@click.option("--imported", "imported_alone", is_flag=True,
              help="With actions or takes: list only those that mimegen import added to --library.")
@click.option("--ids", "ids_alone", is_flag=True,
              help="Print only the names that options accept, one per line.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@library_option
@click.pass_context
@exits_cleanly
def list_command(context: click.Context, kind: str | None, of_set: str | None,
                 imported_alone: bool, ids_alone: bool, as_json: bool,
                 libraries: tuple[Path, ...]) -> int:
    """List what options accept: actions, characters and so on.

    Without KIND, list the kinds. KIND is one of them, such as actions, characters or hand-shapes,
    or schema: the JSON Schema of a manifest's rows.
    """
    if ids_alone and as_json:
        raise RequestError("--ids and --json are mutually exclusive")
    _refuse_more_words(kind, context.args, libraries)
    if kind == SCHEMA:
        if ids_alone:
            raise RequestError("--ids: does not apply to schema, which is no list")
        from mimegen.manifest.schema import row_schema

        click.echo(json.dumps(row_schema(), indent=1, ensure_ascii=False))
        return DONE
    if imported_alone:
        _check_imported(kind, libraries)
    catalogue = Catalogue.with_libraries(libraries)
    if of_set is not None and kind != "actions":
        raise RequestError(f"--set {of_set}: requires the kind 'actions'")
    rows = _rows(catalogue, kind, of_set)
    if imported_alone:
        rows = _imported(catalogue, rows)
    if ids_alone:
        click.echo("".join(f"{name}\n" for name in _ids(rows)), nl=False)
    elif as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        _print_table(rows, _HIDDEN.get(kind or "", ("file",)))
        # Notes are for people: programs read only the table.
        for note in _notes(catalogue, kind, of_set):
            click.echo(note, err=True)
    return DONE


def _refuse_more_words(kind: str | None, words: Sequence[str], libraries: tuple[Path, ...]
                       ) -> None:
    """Raise RequestError if there are words after the kind."""
    if words:
        raise RequestError(_of_more_words(kind, words, Catalogue.with_libraries(libraries).sets))


def _of_more_words(kind: str | None, words: Sequence[str], sets: Iterable[str]) -> str:
    """Return why words after the kind are refused, and what to write instead."""
    word = words[0]
    name = word.removeprefix("set:")
    refused = f"list {kind} {' '.join(words)}: expected nothing after '{kind}'"
    if name in sets:
        return f"{refused}; mimegen list actions --set {name} lists the actions of this set"
    if word in _FLAGS:
        return f"{refused}; write mimegen list {kind} --{word}"
    if word in KINDS:
        return f"{refused}; list one kind at a time, as in mimegen list {word}"
    if Path(word).is_dir():
        return f"{refused}; write mimegen list {kind} --library {word} if it is a library"
    return (f"{refused}; select with --set NAME (for actions) or --library DIR"
            f"{near_misses(name, sets) if kind in _OF_SETS else ''}")


def _rows(catalogue: Catalogue, kind: str | None, of_set: str | None) -> Listing:
    if of_set is not None:
        return _of_set(catalogue, of_set)
    return KINDS[kind].listing(catalogue) if kind else _kinds()


def _check_imported(kind: str | None, libraries: tuple[Path, ...]) -> None:
    """Raise RequestError if --imported does not apply."""
    if kind not in _OF_IMPORTS:
        raise RequestError("--imported: requires the kind 'actions' or 'takes'")
    if not libraries:
        raise RequestError("--imported: requires --library DIR, the library that you import to")


def _imported(catalogue: Catalogue, rows: Listing) -> Listing:
    """Return the rows of actions or takes that were imported."""
    takes = {(action, take) for action, entry in catalogue.actions.items()
             for take in imported_takes(entry.takes)}
    actions = {action for action, _ in takes}
    return [row for row in rows if row.get("id") in actions
            or (row.get("action"), row.get("take")) in takes]


def _ids(rows: Listing) -> Iterator[str]:
    """Yield the name in each row, which is what its option accepts."""
    for row in rows:
        yield str(row["id"] if "id" in row else next(iter(row.values())))


def _notes(catalogue: Catalogue, kind: str | None, of_set: str | None) -> Iterator[str]:
    if kind == "variants":
        yield WORDS_OF_MIME
        yield PLAN_VIEW
    if of_set is not None and (missing := catalogue.missing_from(of_set)):
        names = catalogue.sets[of_set].members
        labelled = [code if code == names[code] else f"{code} {names[code]}" for code in missing]
        yield (f"{of_set}: no action yet for {len(missing)} of its {len(names)} names:"
               f" {'; '.join(labelled)}")


def _kinds() -> Listing:
    schema = {"kind": SCHEMA, "lists": "JSON Schema of a manifest's rows."}
    return [*({"kind": name, "lists": kind.says} for name, kind in KINDS.items()), schema]


def _print_table(rows: Listing, without: Container[str]) -> None:
    """Print rows under column headings; nothing without rows."""
    if not rows:
        return
    keys = [key for key in rows[0] if key not in without]
    lines = [[key.replace("_", " ").upper() for key in keys],
             *([_cell(row[key]) for key in keys] for row in rows)]
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*lines, strict=True)]
    for line in lines:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)
                             ).rstrip())


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    return (", ".join(value) if isinstance(value, list | dict) else str(value or "")) or "-"
