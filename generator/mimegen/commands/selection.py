"""What is to be made: the options that render, plan and others share, and what they stand for."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mimegen.base.errors import RequestError
from mimegen.commands.altering import ALTERING, Altering, altering_options
from mimegen.commands.common import (
    library_option,
    reading_options,
    seed_range,
    style_option,
    warn,
)
from mimegen.commands.sources import refuse_strangers, takes_of
from mimegen.farm.settings import FarmSettings
from mimegen.faults.fault import parse_faults
from mimegen.library.catalogue import Catalogue
from mimegen.plan.passes import WantedPasses
from mimegen.plan.permute.declaration import read_spec
from mimegen.plan.permute.planned import permuted_plan
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import GROUPS, MIME, parse_variants
from mimegen.production.passtasks import BELOW
from mimegen.stage.auto import auto_config, choose_device
from mimegen.stage.config import RenderConfig, read_config
from mimegen.stage.devices import DEVICE_KINDS, OPENGL, Device
from mimegen.stage.follow import follows
from mimegen.stage.passes.kinds import ENGINES, KINDS, Engine

_FILE = click.Path(path_type=Path)
# A clip of more is longer than anything of the library.
MOST_TIMES = 20


@dataclass(frozen=True)
class Selection:
    """The plan of what was selected, the config and device that are to make it, and the passes.

    ``automatic`` says that nobody named the config, ``staged`` that scenes were asked for.
    """

    plan: Plan
    config: RenderConfig
    device: Device
    passes: WantedPasses | None = None
    automatic: bool = False
    staged: bool = False


def selection_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that select what is made, given to the command as ``selection``.

    Raises RequestError, when the command is called, for what there is not.
    """

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        context = click.get_current_context()
        if given["permutations"] is not None:
            _refuse_what_is_declared(context)
        refuse_strangers(context)
        selected = {name: given.pop(name) for name in _NAMES}
        # A command without a farm renders nothing: it plans.
        farm = given.get("settings")
        return command(*args, **given, selection=_selected(**selected, farm=farm))

    options: Callable[..., int] = reading_options("auto")(
        altering_options(library_option(wrapped)))
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


def _numbers(kind: Callable[[str], Any], low: float, high: float, said: str
             ) -> Callable[[click.Context, click.Parameter, str | None], list[Any]]:
    """Return what reads ``N,N``: numbers from ``low`` to ``high``; [None] where nobody said."""
    def read(_context: click.Context, _option: click.Parameter, text: str | None) -> list[Any]:
        if text is None:
            return [None]
        try:
            numbers = [kind(word) for word in text.split(",")]
        except ValueError:
            numbers = []
        if not numbers or not all(low <= number <= high for number in numbers):
            raise click.BadParameter(f"{text}: expected {said}")
        return numbers
    return read


_intensities = _numbers(float, 0, 1, "numbers from 0 to 1, as 0.5 or 0,0.5,1")
_frequencies = _numbers(int, 1, MOST_TIMES, f"whole numbers from 1 to {MOST_TIMES}, as 2 or 1,2,4")

_OPTIONS = (
    click.option("--action", "actions", metavar="A[,B]|all|cues",
                 help="Actions and cues by id, label or alias."),
    click.option("--scene", "scenes", metavar="NAME|FILE[,...]|all",
                 help="Scenes of one or two performers instead of an action."),
    click.option("--permutations", type=_FILE, metavar="SPEC.jsonl",
                 help="Clips that mimegen permute declared; nothing else is said of them, but"
                      " --config for a look in another one."),
    click.option("--motion", type=_FILE, metavar="FILE",
                 help="Your own motion capture (BVH, FBX, C3D, AMC) instead of an action."),
    click.option("--partner", type=_FILE, metavar="FILE",
                 help="The second person's file, of the same scene as --motion."),
    click.option("--label", "labels", multiple=True,
                 help="What --motion shows; may be repeated."),
    click.option("--aligned", metavar="NAME", help="The background that fits --motion."),
    click.option("--misaligned", metavar="NAME",
                 help="The background that misleads about --motion."),
    click.option("--licence", default="not stated",
                 help="The licence of --motion, for the manifest."),
    click.option("--variants", default="all", show_default=True, metavar="NAME[,NAME]",
                 help=f"Groups ({', '.join(GROUPS)}) and cells such as {MIME[0]},"
                      " woman+aligned@270."),
    click.option("--character", metavar="NAME|FILE|random:SEED",
                 help="Who plays 'base': a name, a rigged FBX or GLB, or a random person."),
    click.option("--partner-character", metavar="NAME|FILE|random:SEED",
                 help="Who plays the second person of a scene."),
    click.option("--config", default="auto", show_default=True, metavar="NAME|FILE",
                 help="Size, rate, light and how finely (mimegen list configs)."),
    click.option("--take", metavar="T|all", help="A take of the action; its first by default."),
    click.option("--seed", "seeds", default="0", show_default=True, callback=seed_range,
                 metavar="N|A:B",
                 help="Another seed is another take; A:B is every seed from A to before B."),
    click.option("--set-seed", type=click.IntRange(0, 999_999_999), metavar="N",
                 help="Other places of their kinds: another seed of every set that varies; of one"
                      " alone, say beach:7."),
    click.option("--fault", "faults", multiple=True, metavar="NAME=AMOUNT",
                 help="Something made wrong on purpose, from 0 to 1; may be repeated"
                      " (mimegen list faults)."),
    style_option("How choreographed takes are performed.  [default: the seed's own way]"),
    click.option("--stance", "stances", metavar="S[,S]|all",
                 help="Of cues: how the person stands or sits.  [default: each cue's usual one]"),
    click.option("--intensity", "intensities", metavar="I[,I]", callback=_intensities,
                 help="Of cues: how far movements go, 0 to 1.  [default: 1, as written]"),
    click.option("--frequency", "frequencies", metavar="N[,N]", callback=_frequencies,
                 help="Of cues: how many times the movement is made.  [default: as written]"),
    click.option("--device", default="auto", show_default=True, metavar="NAME",
                 help="optix, cuda, hip, oneapi, metal or cpu; cuda:1 is the second of its kind."),
    click.option("--passes", metavar="NAME[,NAME]|all",
                 help=f"Ground truth of every clip: {', '.join(KINDS)}; flow:flo for .flo files."),
    click.option("--passes-from", type=click.Choice(ENGINES), default=ENGINES[0],
                 show_default=True, help="What looks for passes."),
)
# Under what each is found in the help.
HEADINGS = {
    "What is shown": (
        "actions", "scenes", "take", "seeds", "permutations", "style", "tempo", "mirror", "faults",
        "stances", "intensities", "frequencies"),
    "By whom, where, from which side": (
        "variants", "character", "partner_character", "set_seed", "libraries"),
    "Your own motion capture": (
        "motion", "partner", "labels", "aligned", "misaligned", "licence", "trim", "subject",
        "stack", "mapping", "skeleton", "fps_of_file"),
    "The picture": (
        "config", "camera", "elevation", "lens", "light", "harmonise", "passes", "passes_from"),
}
_NAMES = ("actions", "scenes", "permutations", "motion", "partner", "labels", "aligned",
          "misaligned", "licence", "variants", "character", "partner_character", "config", "take",
          "seeds", "set_seed", "faults", "style", "stances", "intensities",
          "frequencies", "device", "passes", "passes_from", "libraries", "reading",
          "altering")
_BESIDE_PERMUTATIONS = ("permutations", "config", "device", "passes", "passes_from", "libraries",
                        "reading")


def _selected(
    *, permutations: Path | None, variants: str, character: str | None,
    partner_character: str | None, config: str, set_seed: int | None, faults: tuple[str, ...],
    device: str, passes: str | None, passes_from: Engine, libraries: tuple[Path, ...],
    farm: FarmSettings | None, **source: Any,
) -> Selection:
    wanted = _wanted(passes, passes_from)
    catalogue = Catalogue.with_libraries(libraries)
    if permutations is not None:
        return replace(_declared(catalogue, permutations, config, device, farm), passes=wanted)
    takes = takes_of(catalogue, **source)
    if partner_character is not None and not any(take.performers == 2 for take in takes.takes):
        raise RequestError(f"--partner-character {partner_character}: nobody has a partner in what"
                           " is asked for; leave it out, or ask for an action for two")
    cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
    own_config, chosen = _config_and_device(catalogue, config, device, farm)
    altering: Altering = source["altering"]
    render_config = altering.config(own_config)
    plan = make_plan(catalogue, takes, cells, render_config, chosen.kind, character,
                     partner_character, parse_faults(faults), set_seed, altering.follow_place)
    if follows(render_config) and (wanted is not None or any(one.words for one in cells)):
        raise RequestError("--camera follow: ground truth and point-light displays have a camera"
                           " that stands; leave --passes and such variants out")
    if wanted is not None:
        _refuse_without_truth(plan, faults)
    return Selection(plan, render_config, chosen, wanted, config == "auto",
                     source["scenes"] is not None)


def _refuse_without_truth(plan: Plan, faults: tuple[str, ...]) -> None:
    """Raise RequestError where a plan's clips can have no ground truth."""
    if any(fault.kind.below for fault in parse_faults(faults)):
        raise RequestError(BELOW)
    if not plan.clips:
        raise RequestError("--passes: point-light displays have none, they show dots of the motion"
                           " itself; ask for a body's variant such as base+blank@0")


def _wanted(passes: str | None, passes_from: Engine) -> WantedPasses | None:
    if passes is not None:
        return WantedPasses.of(passes, passes_from)
    if passes_from != ENGINES[0]:
        raise RequestError(f"--passes-from {passes_from}: say with --passes which ground truth")
    return None


def _refuse_what_is_declared(context: click.Context) -> None:
    """Raise RequestError where an option says again what a specification declares."""
    options = {option.name: option.opts[0] for option in context.command.params}
    said = [options[name] for name in (*_NAMES, *ALTERING)
            if name in options and name not in _BESIDE_PERMUTATIONS
            and context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if said:
        raise RequestError(f"{said[0]}: --permutations declares its clips completely; leave one of"
                           " the two out")


def _declared(catalogue: Catalogue, path: Path, config: str, device: str,
              farm: FarmSettings | None) -> Selection:
    """Return the plan of a specification, whose clips share an engine."""
    declared = read_spec(path)
    names = [config] if config != "auto" else list(dict.fromkeys(
        one.declaration.config for one in declared))
    found = [_config_and_device(catalogue, name, device, farm) for name in names]
    if len({render_config.engine for render_config, _ in found}) > 1:
        raise RequestError(f"{path}: declares clips of two engines, configs {', '.join(names)};"
                           " part the lines in two files, or say --config")
    render_config, chosen = found[0]
    try:
        plan = permuted_plan(catalogue, declared, chosen.kind,
                             render_config if config != "auto" else None)
    except RequestError as problem:
        raise RequestError(f"{path}: {problem}") from problem
    return Selection(plan, render_config, chosen)


def _config_and_device(catalogue: Catalogue, config: str, device: str,
                       farm: FarmSettings | None) -> tuple[RenderConfig, Device]:
    """Return the render config, and what it is rendered on."""
    named = None if config == "auto" else read_config(catalogue.file("config", config))
    if named is not None and named.engine == "raster":
        if device.lower() not in ("auto", OPENGL):
            raise RequestError(f"--device {device}: {named.name} is drawn by OpenGL, which takes"
                               " what there is; leave --device out")
        return named, Device(OPENGL, 1)
    chosen = _device(device, farm)
    return named or read_config(catalogue.file("config", auto_config(chosen.kind))), chosen


def _device(wanted: str, farm: FarmSettings | None) -> Device:
    """Return the kind of device that is meant; only what renders on this machine needs it here."""
    if farm is None:
        kind = re.sub(r":\d+$", "", wanted)
        if kind.lower() == "auto":
            return choose_device("auto", warn)
        return _device_elsewhere(kind, FarmSettings())
    return choose_device(wanted, warn) if farm.farm == "local" else _device_elsewhere(wanted, farm)


def _device_elsewhere(wanted: str, farm: FarmSettings) -> Device:
    """Return the kind of device of a farm's machines, which cannot be asked of this one."""
    kind = wanted.lower()
    if kind == "auto" and not farm.gpus_per_task:
        return Device("cpu", 1)
    if kind not in DEVICE_KINDS:
        raise RequestError(f"--device {wanted}: name what the farm's machines render on:"
                           f" {', '.join(DEVICE_KINDS)}")
    return Device(kind, 1)
