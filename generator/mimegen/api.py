"""The Python API: ``import mimegen as mg``. Everything here is re-exported by ``mimegen``.

Functions raise ``RequestError`` for what is wrong with a request or a file, with the same one-line
messages as the command line. Nothing is printed unless you ask for progress.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mimegen.base.blender import using_blender
from mimegen.base.errors import RequestError
from mimegen.base.paths import using_libraries
from mimegen.evaluation.question import Question
from mimegen.evaluation.question_sets import QuestionSets
from mimegen.evaluation.scoring import THRESHOLDS
from mimegen.farm.settings import FarmSettings
from mimegen.hands.compiling import HandName
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import scene_take
from mimegen.library.takes import library_take, user_take
from mimegen.methods import Description
from mimegen.objects.arguments import checked_choice, checked_seed, checked_settings
from mimegen.objects.clips import Clip, Clips
from mimegen.objects.dots import Dots
from mimegen.objects.media import Video
from mimegen.objects.performances import RetargetedTake
from mimegen.objects.records import Records
from mimegen.objects.results import Results
from mimegen.objects.takes import Take
from mimegen.readers.options import ReadOptions, parse_trim
from mimegen.request import RenderRequest
from mimegen.request.rendering import Failures, rendered

__all__ = [
    "ActionRecord",
    "Clip",
    "Clips",
    "ClipsFailedError",
    "Description",
    "Dots",
    "Question",
    "Records",
    "RenderRequest",
    "RequestError",
    "Results",
    "RetargetedTake",
    "Take",
    "Video",
    "actions",
    "evaluate",
    "load_motion",
    "open",
    "render",
    "scene",
    "take",
]
# The rate at which choreographed takes are performed unless you choose another.
TAKE_FPS = 30.0
Paths = str | Path | Sequence[str | Path]


class ActionRecord(NamedTuple):
    """An action of the library.

    ``sets`` are its names in the sets of actions that others publish, by set; ``ambiguous`` are
    those that viewers take for others.
    """

    id: str
    labels: tuple[str, ...]
    aliases: tuple[str, ...]
    semantic_group: str | None
    aligned_background: str | None
    misaligned_background: str | None
    takes: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    ambiguous: bool


class ClipsFailedError(RuntimeError):
    """Some clips could not be rendered; the others are whole and in ``clips``.

    ``failures`` maps the ``sample_id`` of each failed clip to the reason.
    """

    def __init__(self, failures: Failures, clips: Clips | None) -> None:
        first, why = next(iter(sorted(failures.items())))
        super().__init__(f"{len(failures)} clips failed; {first}: {why}")
        self.failures, self.clips = failures, clips


def actions(library: Paths = ()) -> Records[ActionRecord]:
    """Return the actions of the library, and of your own library folders.

    ``actions().frame()`` is a DataFrame with one row per action.
    """
    return Records(
        ActionRecord(one.action.id, tuple(one.action.labels), tuple(one.action.aliases),
                     one.action.semantic_group, one.action.aligned_background,
                     one.action.misaligned_background, tuple(one.takes), one.action.sets,
                     one.action.ambiguous)
        for one in _catalogue(library).actions.values())


def take(action: str, take: str | None = None, *, seed: int = 0, style: str | None = None,
         hand: HandName | None = None, fps: float = TAKE_FPS, library: Paths = ()) -> Take:
    """Return a take of an action by id, label or alias; by default its first.

    Another ``seed`` is another performance; ``hand`` is the one of a hand action. ``fps`` is the
    rate at which it is performed. Raises RequestError, with near misses, for an unknown action,
    take or style.
    """
    catalogue = _catalogue(library)
    with using_libraries(catalogue.libraries):
        found = library_take(catalogue.action(action), take, checked_seed(seed), style, hand=hand)
    return Take(found, catalogue, fps)


def scene(name: str | Path, *, seed: int = 0, style: str | None = None, fps: float = TAKE_FPS,
          library: Paths = ()) -> Take:
    """Return a scene by its name or file. Raises RequestError, with near misses, for no scene."""
    catalogue = _catalogue(library)
    with using_libraries(catalogue.libraries):
        return Take(scene_take(catalogue, str(name), checked_seed(seed), style), catalogue, fps)


def load_motion(file: str | Path, partner: str | Path | None = None, *, trim: str = "none",
                stack: str | None = None, mapping: str | Path | None = None,
                skeleton: str | Path | None = None, subject: str | None = None,
                fps_of_file: float | None = None, take: int | None = None,
                smpl_model: str | Path | None = None, fps: float | None = None,
                library: Paths = ()) -> Take:
    """Read a motion capture file of one person, or of two, or two files of one scene.

    The options are those of ``mimegen render --motion``, but the whole file is read, as by
    ``mimegen retarget``: ``trim="auto"`` removes T-poses and idle ends, as ``render`` does by
    default. ``fps`` resamples the motion; by default it keeps the file's rate. ``take.notes`` has
    every assumption and doubt about the file. Raises RequestError for a file that holds no motion
    of a person.
    """
    catalogue = _catalogue(library)
    reading = ReadOptions(stack, _path(mapping), _path(skeleton), parse_trim(trim), subject,
                          fps_of_file, take, _path(smpl_model))
    with using_libraries(catalogue.libraries):
        found = user_take(catalogue, Path(file).absolute(), (), None, None, "not stated",
                          _path(partner), reading)
    return Take(found, catalogue, fps)


def render(action: str | Sequence[str] | None = None, *, out: str | Path = "out",
           store: str | Path | None = None, opaque_names: bool = False, progress: bool = False,
           farm: FarmSettings | Mapping[str, Any] | None = None,
           blender: str | Path | None = None, **options: Any) -> Clips:
    """Render clips as ``mimegen render`` does, and return all clips of ``out``.

    ``options`` are the fields of ``RenderRequest``: ``variants="all"``, ``config="draft"``,
    ``seed="0:3"``, ``motion="walk.bvh"`` and so on. What ``out`` already holds is not rendered
    again. ``blender`` is the Blender to use: its program, a Python that has bpy, or that Python's
    virtual environment. Raises RequestError for a wrong request, and ClipsFailedError where single
    clips failed.
    """
    named = {} if action is None else {"action": action}
    request = RenderRequest.of(**named, **options)
    settings = farm if isinstance(farm, FarmSettings) else checked_settings(dict(farm or {}))
    folder = Path(out)
    with using_blender(blender):
        failures = rendered(request, folder, Path(store) if store else folder / "store", settings,
                            opaque=opaque_names, quiet=not progress)
    if failures:
        raise ClipsFailedError(failures, _clips_or_none(folder))
    return Clips(folder)


def _clips_or_none(folder: Path) -> Clips | None:
    try:
        return Clips(folder)
    except RequestError:
        return None


def open(out: str | Path) -> Clips:
    """Return the clips of a folder that ``mimegen render`` wrote.

    Raises RequestError where it holds no manifest, or one with a damaged row.
    """
    return Clips(out)


def evaluate(questions: Sequence[Question] | Paths,
             answers: Sequence[Mapping[str, Any]] | Paths, *,
             similarity: str = "wordllama") -> Results:
    """Score models' answers to questions, with intervals and contrasts.

    ``questions`` are a list, a file or several; ``answers`` are mappings with ``question_id``,
    ``model`` and ``output``, or files that ``mimegen evaluate`` reads. Raises RequestError for an
    answer to no question.
    """
    checked_choice("similarity", similarity, THRESHOLDS)
    return Results.of(_questions(questions), answers, similarity)


def _questions(questions: Sequence[Question] | Paths) -> list[Question]:
    """Return questions, those of files read."""
    listed = (questions,) if isinstance(questions, str | Path) else questions
    asked = [one for one in listed if isinstance(one, Question)]
    files = [Path(one) for one in listed if not isinstance(one, Question)]
    return [*asked, *QuestionSets.read(files).questions]


def _catalogue(library: Paths) -> Catalogue:
    folders = (library,) if isinstance(library, str | Path) else library
    # Takes are read later, perhaps from another working directory.
    return Catalogue.with_libraries(tuple(Path(folder).absolute() for folder in folders))


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file).absolute()
