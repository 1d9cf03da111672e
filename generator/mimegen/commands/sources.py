"""What is performed: takes of the library, scenes, or a motion file, and the options of each."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import click
from click.core import ParameterSource

from mimegen.base.errors import RequestError
from mimegen.choreography.manner import Manner
from mimegen.commands.altering import Altering
from mimegen.library.catalogue import Catalogue, Entry
from mimegen.library.scene_take import scene_take
from mimegen.library.score_take import read_score_once
from mimegen.library.takes import SeededTakes, library_take, user_take
from mimegen.readers import ReadOptions

_OWN = "--motion: what the library holds has its own"
_READ = "--motion: it says how that file is read"
_CUE = "--action: it is said of cues"
# Options that mean nothing but beside one of these sources, and what is said of it.
_BESIDE = {
    "labels": ({"motion"}, _OWN), "aligned": ({"motion"}, _OWN), "misaligned": ({"motion"}, _OWN),
    "licence": ({"motion"}, _OWN), "partner": ({"motion"}, "--motion: both files are of one scene"),
    "trim": ({"motion"}, _READ), "stack": ({"motion"}, _READ), "mapping": ({"motion"}, _READ),
    "skeleton": ({"motion"}, _READ), "subject": ({"motion"}, _READ),
    "fps_of_file": ({"motion"}, _READ),
    "take": ({"actions"}, "--action: a scene has one, and its seeds, and a file is one"),
    "style": ({"actions", "scenes"}, "--action or --scene: recordings are as they were performed"),
    "stances": ({"actions"}, _CUE), "intensities": ({"actions"}, _CUE),
    "frequencies": ({"actions"}, _CUE),
}


def refuse_strangers(context: click.Context) -> None:
    """Raise RequestError where an option is said that means nothing to what is asked for."""
    said = {param.name: param.opts[0] for param in context.command.params if param.name is not None
            and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE}
    for name, (sources, why) in _BESIDE.items():
        if name in said and not sources & said.keys():
            raise RequestError(f"{said[name]} goes with {why}")


def takes_of(
    catalogue: Catalogue, *, actions: str | None, scenes: str | None, motion: Path | None,
    partner: Path | None, labels: tuple[str, ...], aligned: str | None, misaligned: str | None,
    licence: str, take: str | None, seeds: range, style: str | None, stances: str | None,
    intensities: list[float | None], frequencies: list[int | None], reading: ReadOptions,
    altering: Altering,
) -> SeededTakes:
    """Return what is performed. Raises RequestError for what there is not, or for two sources."""
    _one_source(catalogue, {"--action": actions, "--scene": scenes, "--motion": motion})
    if motion is not None:
        return SeededTakes((altering.take(user_take(
            catalogue, motion, labels, aligned, misaligned, licence, partner, reading)),), seeds)
    if scenes is not None:
        return _scene_takes(catalogue, scenes, seeds, style, altering)
    return _library_takes(catalogue, actions or "", take, seeds, style,
                          lambda file: _manners(file, stances, intensities, frequencies), altering)


def _one_source(catalogue: Catalogue, sources: dict[str, object]) -> None:
    said = [option for option, value in sources.items() if value is not None]
    if len(said) > 1:
        raise RequestError(f"{' and '.join(said)}: say one of them, each is a selection of its own")
    if not said:
        raise RequestError("say one of --action NAME, --scene NAME, --motion FILE and"
                           f" --permutations SPEC.jsonl (actions: {', '.join(catalogue.actions)};"
                           f" scenes: {', '.join(catalogue.scenes)})")


def _library_takes(catalogue: Catalogue, actions: str, take: str | None, seeds: range,
                   style: str | None, manners: Callable[[Path], list[Manner]],
                   altering: Altering) -> SeededTakes:
    takes = [altering.take(library_take(entry, name, seeds[0], style, manner))
             for entry in entries_of(catalogue, actions)
             for name in (list(entry.takes) if take == "all" else [take])
             for manner in manners(entry.take(name))]
    return SeededTakes(tuple(dict.fromkeys(takes)), seeds)


def _scene_takes(catalogue: Catalogue, scenes: str, seeds: range, style: str | None,
                 altering: Altering) -> SeededTakes:
    names = list(catalogue.scenes) if scenes.strip() == "all" else scenes.split(",")
    takes = [altering.take(scene_take(catalogue, name.strip(), seeds[0], style)) for name in names]
    return SeededTakes(tuple(dict.fromkeys(takes)), seeds)


def entries_of(catalogue: Catalogue, actions: str) -> list[Entry]:
    """Return the actions that ``A,B``, ``all`` or ``cues`` says. Raises RequestError for others."""
    if actions.strip() == "all":
        return list(catalogue.actions.values())
    if actions.strip() == "cues":
        return list(catalogue.cues.values())
    return [catalogue.action(name.strip()) for name in actions.split(",")]


def _manners(file: Path, stances: str | None, intensities: Sequence[float | None],
             frequencies: Sequence[int | None]) -> list[Manner]:
    """Return every manner that was asked for of a take; ``all`` are the stances that it has."""
    said: Sequence[str | None] = [None] if stances is None else [
        name.strip() for name in stances.split(",")]
    if said == ["all"]:
        said = read_score_once(file).stances
    return [Manner(*one) for one in product(said, intensities, frequencies)]
