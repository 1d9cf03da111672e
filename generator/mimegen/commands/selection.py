"""What is to be made: the options that render, plan and others share, and what they stand for."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mimegen.commands.altering import with_altering
from mimegen.commands.common import (
    as_seeds,
    blender_option,
    library_option,
    style_option,
    warn,
    with_reading,
)
from mimegen.commands.gait import walker_options
from mimegen.groundtruth.kinds import ENGINES, KINDS
from mimegen.plan.variants import GROUPS, MIME
from mimegen.request import Planned, RenderRequest
from mimegen.request.render_request import GAIT
from mimegen.request.values import frequencies, intensities

_FILE = click.Path(path_type=Path)

def selection_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options that select what is made, given to the command as ``planned``.

    Raises RequestError, when the command is called, for what does not exist.
    """

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        request = _request(given)
        # A command without a farm renders nothing: it plans.
        planned = Planned.of(request, given.get("settings"), warn)
        return command(*args, **given, planned=planned)

    options: Callable[..., int] = with_reading("auto")(with_altering(walker_options(
        library_option(blender_option(wrapped)))))
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


def _request(given: dict[str, Any]) -> RenderRequest:
    """Take a request's fields out of what was given; only what the user typed is passed on."""
    context = click.get_current_context()
    given["library"] = given.pop("libraries")
    fields = {name: given.pop(name) for name in RenderRequest.model_fields}
    typed = {name: value for name, value in fields.items()
             if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return RenderRequest.of(**typed | {"library": fields["library"]})


def _read_by(reader: Callable[[Any], Any]
             ) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a callback that reads a value as requests do, and fails as click's options do."""
    def read(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
        try:
            return reader(text)
        except ValueError as problem:
            raise click.BadParameter(str(problem)) from problem
    return read


_OPTIONS = (
    click.option("--action", metavar="A[,B]|all|cues|set:NAME",
                 help="Actions and cues to render, by id, label, alias or number in a set, as in"
                      " A16; set:NAME is all of a set (mimegen list sets)."),
    click.option("--scene", metavar="NAME|FILE[,...]|all",
                 help="Scenes of one or two performers to render instead of actions."),
    click.option("--permutations", type=_FILE, metavar="SPEC.jsonl",
                 help="Render the clips listed in SPEC.jsonl, which mimegen permute wrote. Of the"
                      " options that change a clip, only --config may be combined with it."),
    click.option("--motion", type=_FILE, metavar="FILE",
                 help="A motion file (BVH, FBX, GLB, C3D, AMC, SMPL, HumanML3D and others) to"
                      " render instead of actions."),
    click.option("--partner", type=_FILE, metavar="FILE",
                 help="The motion file of a second person recorded together with --motion."),
    click.option("--label", multiple=True,
                 help="Name of what --motion shows; repeat it for synonyms."),
    click.option("--aligned", metavar="NAME", help="Background that fits what --motion shows."),
    click.option("--misaligned", metavar="NAME",
                 help="Background that misleads about what --motion shows."),
    click.option("--licence", default="not stated",
                 help="Licence of --motion, written to the manifest."),
    click.option("--variants", default="all", show_default=True, metavar="NAME[,NAME]",
                 help=f"Variants to render: groups ({', '.join(GROUPS)}) or cells such as"
                      f" {MIME[0]},"
                      " woman+aligned@270."),
    click.option("--character", metavar="NAME|FILE|random:SEED",
                 help="Character for 'base': a name, a rigged FBX or GLB file, or a random"
                      " person."),
    click.option("--partner-character", metavar="NAME|FILE|random:SEED",
                 help="Character of the second performer, in actions and scenes for two."),
    click.option("--config", default="auto", show_default=True, metavar="NAME|FILE",
                 help="Render config: size, frame rate, light and quality (mimegen list configs)."),
    click.option("--take", metavar="T|all|N", help="Take of the action, or number of the take in a"
                                                   " --motion file of several.  [default: the"
                                                   " first]"),
    click.option("--seed", default="0", show_default=True, callback=as_seeds,
                 metavar="N|A:B",
                 help="Random seed of the take; A:B renders every seed from A up to, not"
                      " including, B."),
    click.option("--set-seed", type=click.IntRange(0, 999_999_999), metavar="N",
                 help="Seed for randomizing all backgrounds; use beach:7 for one."),
    click.option("--fault", multiple=True, metavar="NAME=AMOUNT",
                 help="Fault to add on purpose and its amount, 0 to 1; may be repeated"
                      " (mimegen list faults)."),
    style_option("Style of choreographed takes (mimegen list styles).  [default: drawn by the"
                 " seed]"),
    click.option("--stance", metavar="S[,S]|all",
                 help="Stance in which cues are performed.  [default: each cue's first]"),
    click.option("--intensity", metavar="I[,I]", callback=_read_by(intensities),
                 help="Size of a cue's movements, 0 to 1.  [default: 1]"),
    click.option("--frequency", metavar="N[,N]", callback=_read_by(frequencies),
                 help="Number of times that a cue's movement is repeated.  [default: as written]"),
    click.option("--device", default="auto", show_default=True, metavar="NAME",
                 help="Device that renders: optix, cuda, hip, oneapi, metal or cpu; cuda:1"
                      " selects the"
                      " second GPU."),
    click.option("--passes", metavar="NAME[,NAME]|all",
                 help=f"Ground truth to write for every clip: {', '.join(KINDS)}; flow:flo"
                      " writes .flo"
                      " files."),
    click.option("--passes-from", type=click.Choice(ENGINES), default=ENGINES[0],
                 show_default=True, help="Engine that renders ground-truth passes."),
)
# Under what each is found in the help.
HEADINGS = {
    "Actions and takes": (
        "action", "scene", "take", "seed", "permutations", "style", "tempo", "mirror", "fault",
        "stance", "intensity", "frequency"),
    "Gaits: walk, run and the like": GAIT,
    "Variants": (
        "variants", "character", "partner_character", "set_seed", "libraries"),
    "Your own motion capture": (
        "motion", "partner", "label", "aligned", "misaligned", "licence", "trim", "subject",
        "stack", "mapping", "skeleton", "fps_of_file", "smpl_model"),
    "The picture": (
        "config", "camera", "elevation", "lens", "light", "harmonise", "passes", "passes_from"),
}
