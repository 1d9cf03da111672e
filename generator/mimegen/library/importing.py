"""Motion capture into a user's own library: the file as it is, and a take file beside it."""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from mimegen import __version__
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish, publishing, sweep
from mimegen.base.names import LONGEST, path_name
from mimegen.choreography.action import Action
from mimegen.library.catalogue import Catalogue, plain
from mimegen.library.takefile import TAKE_SUFFIX, TakeFile
from mimegen.motion.trimming import Span, segments
from mimegen.readers import ReadOptions, Recording, Trim, read_motion
from mimegen.readers.asf_amc import skeleton_file
from mimegen.readers.files import buffers_beside, check_file
from mimegen.readers.trimming import span_of


@dataclass(frozen=True)
class ImportRequest:
    """What a person says about a file that goes into their library."""

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


@dataclass(frozen=True)
class Imported:
    """What was added: the action's id, whether it is new, and the takes with their seconds."""

    action: str
    is_new: bool
    takes: dict[str, tuple[float, float]]
    notes: tuple[str, ...]


def import_take(request: ImportRequest) -> Imported:
    """Add a file's motion to a library, as one take or, segmented, as one for each part.

    Nothing is changed where that fails. Raises RequestError where the file holds no motion of one
    person, the request contradicts the library, or a take of the name is there already.
    """
    _check(request)
    recording = read_motion(request.file, replace(request.reading, trim=Trim()))
    catalogue = Catalogue.with_libraries((request.library,) if request.library.is_dir() else ())
    action, is_new = _action(catalogue, request)
    for background in filter(None, (request.aligned, request.misaligned)):
        catalogue.file("background", background)
    name = _take_name(request.take or request.file.stem)
    takes = _takes(request, recording, name)
    copies = _copies(request, name)
    texts = {f"{take}{TAKE_SUFFIX}": _take_text(request, is_new, copies, span,
                                                recording.motion.frames)
             for take, span in takes.items()}
    if is_new:
        texts["action.yaml"] = _yaml(action.model_dump(mode="json", exclude_defaults=True))
    folder = request.library / "mocap" / action.id
    known = () if is_new else catalogue.actions[action.id].takes
    _refuse_taken(folder, (*copies, *texts), [take for take in takes if take in known])
    _write(folder, copies, texts)
    done = _imported(action, is_new, takes, recording)
    near = catalogue.near_action(request.action) if is_new else None
    return replace(done, notes=(*done.notes, f"{action.id} is a new action; did you mean {near}?"
                                f" Then remove {folder} and import again")) if near else done


def _check(request: ImportRequest) -> None:
    """Raise RequestError for what is wrong before anything is read."""
    if request.library.exists() and not request.library.is_dir():
        raise RequestError(f"{request.library}: is a file; --library wants a folder")
    if not all(label.strip() for label in request.labels):
        raise RequestError("--label is empty; say what the take shows")
    check_file(request.file)
    for buffer in buffers_beside(request.file):
        raise RequestError(f"{request.file}: its motion lies in {buffer.name} beside it; export it"
                           " as .glb, which holds all")


def _takes(request: ImportRequest, recording: Recording, name: str) -> dict[str, Span]:
    """Return the spans of the takes to add, by their names."""
    spans = _spans(request, recording)
    if not request.segment:
        return dict(zip([name], spans, strict=True))
    return {f"{name}_{number:02}": span for number, span in enumerate(spans, start=1)}


def _refuse_taken(folder: Path, files: Iterable[str], takes: Sequence[str]) -> None:
    """Raise RequestError where a file is there already, or the action has one of the takes."""
    for taken in (*(file for file in files if (folder / file).exists()), *takes):
        raise RequestError(f"{folder / taken}: is there already; name another take with --take")


def _imported(action: Action, is_new: bool, takes: Mapping[str, Span], recording: Recording
              ) -> Imported:
    fps = recording.motion.fps
    seconds = {take: (span.first / fps, span.last / fps) for take, span in takes.items()}
    cuts = (f"cut: {why}" for span in takes.values() for why in span.reasons)
    return Imported(action.id, is_new, seconds, (*recording.notes, *cuts))


def _action(catalogue: Catalogue, request: ImportRequest) -> tuple[Action, bool]:
    """Return the library's action of the name, or a new one, and whether it is new."""
    try:
        return catalogue.action(request.action).action, False
    except RequestError:
        name = re.sub(r"[^a-z0-9_]+", "", plain(request.action))
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or path_name(name) != name:
        raise RequestError(f"--action {request.action}: expected a name of letters (a to z) and"
                           f" digits that starts with a letter, at most {LONGEST}")
    return Action(
        id=name, name=request.action, labels=request.labels or (request.action,),
        aligned_background=request.aligned, misaligned_background=request.misaligned,
        semantic_group="not stated", recognised_by="not stated", licence=request.licence,
        author="imported"), True


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
        raise RequestError("--segment finds spans by itself; leave out --trim")
    return segments(recording.motion, recording.roles)


def _copies(request: ImportRequest, name: str) -> dict[str, Path]:
    """Return what is copied, by the name it gets."""
    file, reading = request.file, request.reading
    copies = {f"{name}{file.suffix.lower()}": file}
    if file.suffix.lower() == ".amc":
        copies[f"{name}.asf"] = skeleton_file(file, reading.skeleton)
    if reading.mapping is not None:
        copies[f"{name}.roles.yaml"] = reading.mapping
    return copies


def _take_text(request: ImportRequest, is_new: bool, copies: dict[str, Path], span: Span,
               frames: int) -> str:
    names = list(copies)
    trim = Trim() if (span.first, span.last) == (0, frames - 1) else Trim(
        "span", span.first, span.last, in_frames=True)
    facts = TakeFile(
        file=names[0], sha256=file_hash(request.file), original_name=request.file.name,
        licence=request.licence, source=request.source,
        labels=request.labels if request.labels and not is_new else None,
        aligned_background=None if is_new else request.aligned,
        misaligned_background=None if is_new else request.misaligned,
        trim=str(trim), trim_found=span.reasons,
        stack=request.reading.stack, subject=request.reading.subject,
        mapping=next((name for name in names if name.endswith(".roles.yaml")), None),
        skeleton=next((name for name in names if name.endswith(".asf")), None),
        mimegen_version=__version__)
    return _yaml(facts.model_dump(mode="json", exclude_defaults=True))


def _yaml(content: dict[str, object]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _write(folder: Path, copies: dict[str, Path], texts: dict[str, str]) -> None:
    """Write all files or none; the take files, without which mocap is no take, come last."""
    sweep(folder.parent)
    if folder.exists():
        sweep(folder)
        _add(folder, copies, texts)
        return
    with publishing(folder) as aside:
        _add(aside, copies, texts)


def _add(folder: Path, copies: dict[str, Path], texts: dict[str, str]) -> None:
    """Write all files into a folder that has none of them, or none."""
    added: list[Path] = []
    try:
        for name, file in copies.items():
            with publishing(folder / name, synced=True) as part:
                shutil.copyfile(file, part)
            added.append(folder / name)
        for name, text in texts.items():
            publish(folder / name, text, synced=True)
            added.append(folder / name)
    except BaseException:
        for file in added:
            file.unlink(missing_ok=True)
        raise
