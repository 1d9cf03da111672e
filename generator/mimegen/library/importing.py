"""Import motion capture into a user's library: an unchanged copy of the file and a take file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import yaml

from mimegen import __version__
from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import file_hash
from mimegen.base.names import MAX_NAME_BYTES, path_name
from mimegen.base.yaml_file import Strict
from mimegen.choreography.action import Action
from mimegen.library.catalogue import Catalogue
from mimegen.library.naming import plain
from mimegen.library.takefile import TAKE_SUFFIX, TakeFile
from mimegen.library.takefolder import TakeFolder
from mimegen.motion.trimming import Span, segments
from mimegen.readers import ReadOptions, Recording, Trim, read_motion
from mimegen.readers.asf_amc import skeleton_file
from mimegen.readers.files import buffers_beside, check_file
from mimegen.readers.trimming import span_of

Value = TypeVar("Value")
ACTION_FILE = "action.yaml"
# Author of the actions that imports write.
IMPORTED = "imported"


@dataclass(frozen=True)
class ImportRequest:
    """A file to import into a user's library, and the options that describe it.

    ``group`` is the semantic group of the action, None if not given. If ``replaces``, new takes
    replace takes of the same name in the library.
    """

    file: Path
    action: str
    library: Path
    take: str | None
    labels: tuple[str, ...]
    aligned: str | None
    misaligned: str | None
    licence: str
    source: str
    segment: bool
    reading: ReadOptions
    group: str | None = None
    replaces: bool = False


@dataclass(frozen=True)
class Imported:
    """What was added: the action's id, whether it is new, and each take's span in seconds."""

    action: str
    is_new: bool
    takes: dict[str, tuple[float, float]]
    notes: tuple[str, ...]


def import_take(request: ImportRequest) -> Imported:
    """Add a file's motion to a library as one take or, if segmented, as one for each part.

    On failure nothing is changed. Raises RequestError if the file has no motion of a single person,
    if the request contradicts the library, or if a take of that name exists and is not to be
    replaced.
    """
    _check(request)
    recording = read_motion(request.file, replace(request.reading, trim=Trim()))
    catalogue = Catalogue.with_libraries((request.library,) if request.library.is_dir() else ())
    for background in filter(None, (request.aligned, request.misaligned)):
        catalogue.file("background", background)
    group, doubts = _group(catalogue, request.group)
    request = replace(request, group=group)
    known = _known_action(catalogue, request.action)
    if known is not None and known.id not in catalogue.actions:
        raise RequestError(f"--action {request.action}: {known.id} is a hand action, gesture, cue"
                           " or face, to which no motion can be added; choose another name")
    name = _take_name(request.take or request.file.stem)
    takes = _takes(request, recording, name)
    folder = TakeFolder(request.library / "mocap" / (known or _new_action(request)).id, name)
    _refuse_taken(catalogue, known, folder, takes, request)
    action = _action(known, folder, takes, request)
    copies = folder.places(_copies(request, name))
    texts = _texts(action, known, takes, copies, request, recording)
    notes = (*doubts, *_doubts_of(catalogue, known, action, request))
    folder.write(copies, texts, request.replaces)
    done = _imported(action, known is None, takes, recording)
    return replace(done, notes=(*done.notes, *notes))


def _check(request: ImportRequest) -> None:
    """Raise RequestError for errors that can be found before anything is read."""
    if request.library.exists() and not request.library.is_dir():
        raise RequestError(f"{request.library}: is a file; --library expects a folder")
    if not all(label.strip() for label in request.labels):
        raise RequestError("--label is empty; give the action that the take shows")
    for option, text in (("--licence", request.licence), ("--source", request.source),
                         ("--group", request.group), ("--action", request.action)):
        if text is not None and not text.strip():
            raise RequestError(f"{option} is empty; give a value or leave it out")
    if request.reading.smpl_model is not None:
        raise RequestError("--smpl-model is licensed and is not copied into a library; write a BVH"
                           " with mimegen retarget --smpl-model, and import that")
    check_file(request.file)
    for buffer in buffers_beside(request.file):
        raise RequestError(f"{request.file}: its motion is stored in {buffer.name} next to it;"
                           " export it as .glb, which is a single file")


def _takes(request: ImportRequest, recording: Recording, name: str) -> dict[str, Span]:
    """Return the spans of the takes to add, by name."""
    spans = _spans(request, recording)
    if not request.segment:
        return dict(zip([name], spans, strict=True))
    return {f"{name}_{number:02}": span for number, span in enumerate(spans, start=1)}


def _refuse_taken(catalogue: Catalogue, known: Action | None, folder: TakeFolder,
                  takes: Mapping[str, Span], request: ImportRequest) -> None:
    """Raise RequestError if a take exists already and must not be replaced."""
    theirs = catalogue.entry(known.id).takes if known else {}
    for take in takes:
        if folder.holds(take) and not request.replaces:
            raise RequestError(f"{folder.folder / take}: already exists; choose another name with"
                               " --take, or replace it with --replace")
        if take in theirs and not folder.holds(take):
            raise RequestError(f"--take {take}: {theirs[take]} already exists and was not imported"
                               " to this library; choose another name with --take")


def _imported(action: Action, is_new: bool, takes: Mapping[str, Span], recording: Recording
              ) -> Imported:
    fps = recording.motion.fps
    seconds = {take: (span.first / fps, span.last / fps) for take, span in takes.items()}
    cuts = (f"cut: {why}" for span in takes.values() for why in span.reasons)
    return Imported(action.id, is_new, seconds, (*recording.notes, *cuts))


def _known_action(catalogue: Catalogue, name: str) -> Action | None:
    """Return the library's action of this name, or of the id that a new one would have.

    Actions of hands and faces, gestures and cues take no motion: only their own ids stand for them.
    """
    own = _action_id(name)
    for word in (name, own):
        try:
            found = catalogue.action(word).action
        except RequestError:
            continue
        if found.id in catalogue.actions or found.id == own:
            return found
    return None


def _action_id(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "", plain(name))


def _new_action(request: ImportRequest) -> Action:
    """Return an action as the request describes it. Raises RequestError for an invalid name."""
    name = _action_id(request.action)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or path_name(name) != name:
        raise RequestError(f"--action {request.action}: expected a name of letters (a to z) and"
                           f" digits that starts with a letter, at most {MAX_NAME_BYTES}")
    return Action(
        id=name, name=request.action, labels=request.labels or (request.action,),
        aligned_background=request.aligned, misaligned_background=request.misaligned,
        semantic_group=request.group, recognised_by="not stated", licence=request.licence,
        author=IMPORTED)


def _action(known: Action | None, folder: TakeFolder, takes: Mapping[str, Span],
            request: ImportRequest) -> Action:
    """Return the action to be written to the action's file.

    If all takes of the action are replaced, it gets the values given in the request and keeps the
    rest. Otherwise only its group can change. Raises RequestError if the group contradicts the
    library.
    """
    if known is None:
        return _new_action(request)
    if folder.has_action and request.replaces and folder.holds_only(takes):
        fields = {"labels": request.labels, "aligned_background": request.aligned,
                "misaligned_background": request.misaligned, "semantic_group": request.group,
                "licence": request.licence}
        return known.model_copy(update={key: value for key, value in fields.items() if value})
    if request.group is None or request.group == known.semantic_group:
        return known
    if not folder.has_action or (known.semantic_group and not request.replaces):
        raise RequestError(f"--group {request.group}: {known.id} belongs to the group"
                           f" '{known.semantic_group}'; leave --group out"
                           + (", or change it with --replace" if folder.has_action else ""))
    return known.model_copy(update={"semantic_group": request.group})


def _group(catalogue: Catalogue, group: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Return a group in the library's spelling, and a note if the library does not have it."""
    if group is None:
        return None, ()
    found = catalogue.group_named(group)
    if found in catalogue.groups:
        return found, ()
    return group, (f"the group '{group}' is new{near_misses(group, catalogue.groups)}",)


def _doubts_of(catalogue: Catalogue, known: Action | None, action: Action,
               request: ImportRequest) -> tuple[str, ...]:
    """Return notes on an action that may be misspelt or that has no semantic group."""
    notes: tuple[str, ...] = ()
    near = None if known else catalogue.near_action(request.action)
    if near:
        notes = (f"{action.id} is a new action; did you mean {near}? If so, undo this with mimegen"
                 f" take remove --action {action.id} --library {request.library}, and import again",
                 )
    if action.semantic_group is None:
        notes += (f"{action.id} has no semantic group, so no other action is similar to it; set one"
                  " with --group NAME (see mimegen list groups)",)
    return notes


def take_location(request: ImportRequest) -> tuple[str, str]:
    """Return the action's id and the take's name: requests with the same ones are of one take."""
    return _action_id(request.action), _take_name(request.take or request.file.stem)


def _take_name(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_").lower()
    if not name:
        raise RequestError(f"--take {text!r}: expected letters and digits")
    return path_name(name)


def _spans(request: ImportRequest, recording: Recording) -> list[Span]:
    """Return the span of each take to add."""
    if not request.segment:
        return [span_of(request.file, recording, request.reading.trim)]
    if request.reading.trim.kind == "span":
        raise RequestError("--segment finds the spans itself; leave out --trim")
    return segments(recording.motion, recording.roles)


def _copies(request: ImportRequest, name: str) -> dict[str, Path]:
    """Return the files to copy, by their names in the library."""
    file, reading = request.file, request.reading
    copies = {f"{name}{file.suffix.lower()}": file}
    if file.suffix.lower() == ".amc":
        copies[f"{name}.asf"] = skeleton_file(file, reading.skeleton)
    if reading.mapping is not None:
        copies[f"{name}.roles.yaml"] = reading.mapping
    return copies


def _texts(action: Action, known: Action | None, takes: Mapping[str, Span],
           copies: Mapping[str, Path], request: ImportRequest, recording: Recording
           ) -> dict[str, str]:
    """Return the text files to write, by name: the action's if it changes, then the takes'."""
    texts = {} if action == known else {ACTION_FILE: yaml_of(action)}
    return texts | {f"{take}{TAKE_SUFFIX}": _take_text(request, action, copies, span,
                                                          recording)
                    for take, span in takes.items()}


def _take_text(request: ImportRequest, action: Action, copies: Mapping[str, Path], span: Span,
               recording: Recording) -> str:
    """Return the text of a take file."""
    names = list(copies)
    trim = Trim() if (span.first, span.last) == (0, recording.motion.frames - 1) else Trim(
        "span", span.first, span.last, in_frames=True)
    facts = TakeFile(
        file=names[0], sha256=file_hash(request.file), original_name=request.file.name,
        licence=request.licence, source=request.source,
        labels=_differing(request.labels or None, tuple(action.labels)),
        aligned_background=_differing(request.aligned, action.aligned_background),
        misaligned_background=_differing(request.misaligned, action.misaligned_background),
        trim=str(trim), trim_found=span.reasons, notes=recording.notes,
        stack=request.reading.stack, subject=request.reading.subject,
        fps_of_file=request.reading.fps_of_file, sample=request.reading.take,
        mapping=next((name for name in names if name.endswith(".roles.yaml")), None),
        skeleton=next((name for name in names if name.endswith(".asf")), None),
        sha256_beside={name: file_hash(copies[name]) for name in names[1:]},
        mimegen_version=__version__)
    return yaml_of(facts)


def _differing(given: Value | None, of_action: Value | None) -> Value | None:
    """Return a take's own value; None if it only repeats that of its action."""
    return None if given == of_action else given


def yaml_of(facts: Strict) -> str:
    """Return an action or a take file as the text that an import writes."""
    return yaml.safe_dump(facts.model_dump(mode="json", exclude_defaults=True), sort_keys=False,
                          allow_unicode=True)
