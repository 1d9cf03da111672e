"""Check that a folder of clips is whole: its clips, rows, passes and the frames in the store."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.compositing.decode import decoded_clip
from mimegen.compositing.passfiles import camera_matrices, folder_hash, pass_facts
from mimegen.manifest.checking import contradictions, wrong_fields_message
from mimegen.manifest.file import MANIFEST, clip_path, rows_or_problems, typed_row
from mimegen.manifest.parts import PassFacts
from mimegen.manifest.record import facts_of, false_facts, has_record, same_value
from mimegen.manifest.row import Row
from mimegen.plan.shots import camera_from
from mimegen.production.passpieces import is_pass_folder, stray_passes
from mimegen.store.frames import checked_frame, frame_name
from mimegen.store.shotfacts import CameraRecord
from mimegen.store.store import Store

# Tolerance in frames per second: rates are whole numbers or NTSC's.
_SAME_RATE = 0.01
# Tolerance of what the matrices of one camera hold, in pixels and metres.
_SAME_CAMERA = 1e-4


@dataclass(frozen=True)
class BrokenFile:
    """A faulty file or folder, what is wrong with it, and the rows of the clips it affects.

    If ``of_pass``, ``file`` is the folder of a clip's ground truth and the clip itself is whole.
    ``false`` names the fields of the row that contradict the clip.
    """

    file: Path
    why: str
    rows: tuple[Row, ...] = ()
    of_pass: bool = False
    false: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """The numbers of things checked, the faults found, and ``notes`` on what was not checked.

    ``passes`` counts folders of ground truth.
    """

    clips: int
    shots: int
    frames: int
    passes: int
    faults: tuple[BrokenFile, ...]
    notes: tuple[str, ...]


def verify(out: Path, store: Store) -> Findings:
    """Read every clip, row, frame and pass of ``out`` and return what is wrong with them.

    Clips are decoded and hashed completely, as many at a time as there are cores. Raises
    RequestError if there is nothing to check.
    """
    if not (out / MANIFEST).is_file() and not any((out / "clips").glob("*")):
        raise RequestError(f"{out}: contains neither {MANIFEST} nor a clip; expected the folder"
                           " that render wrote to (mimegen status shows its progress)")
    lines = list(rows_or_problems(out))
    rows = [line for line in lines if isinstance(line, Row)]
    faults = [BrokenFile(out / MANIFEST, str(line).removeprefix(f"{out / MANIFEST}: "))
              for line in lines if not isinstance(line, Row)]
    shots, notes = _shots(rows), tuple[str, ...]()
    if shots and not (store.root / "shots").is_dir():
        shots, notes = {}, (f"{store.root}: not found, so frames were not checked; give the"
                            " store with --store",)
    notes += _without_record(out, rows)
    passes = _passes(rows)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = chain(pool.map(partial(_clip_faults, out), rows),
                      pool.map(partial(_row_faults, out, store), rows),
                      pool.map(partial(_shot_faults, store), shots.values()),
                      pool.map(partial(_pass_faults, out), passes.values()))
        faults += chain.from_iterable(found)
    faults += [*_double_rows(out, rows), *_one_clip_twice(out, rows), *_misnamed(out, rows),
               *_without_row(out, rows), *_passes_of_nobody(out, rows)]
    return Findings(len(rows), len(shots), sum(shot[0].frames for shot in shots.values()),
                    len(passes), tuple(faults), notes)


def _shots(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each shot, by shot key."""
    shots = defaultdict(list)
    for row in rows:
        if row.shot_key is not None:
            shots[row.shot_key].append(row)
    return dict(shots)


def _clip_faults(out: Path, row: Row) -> list[BrokenFile]:
    path = clip_path(out, row)
    return [BrokenFile(path, why, (row,)) for why in _problems_of(path, row)]


def _problems_of(path: Path, row: Row) -> Iterator[str]:
    """Yield what is wrong with a clip's file: missing, changed, damaged, or unlike its row."""
    if not path.is_file():
        yield "is missing"
        return
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != row.sha256:
            yield "its SHA-256 is not the row's"
    if path.suffix != ".mp4":
        return
    try:
        video = decoded_clip(path)
    except RequestError as problem:
        yield str(problem).removeprefix(f"{path}: ")
        return
    if video.frames != row.frames:
        yield f"has {video.frames} frames, its row says {row.frames}"
    if (video.width, video.height) != (row.width, row.height):
        yield f"is {video.width}x{video.height}, its row says {row.width}x{row.height}"
    if abs(video.fps - row.fps) > _SAME_RATE:
        yield f"has {video.fps:g} frames a second, its row says {row.fps:g}"


def _row_faults(out: Path, store: Store, row: Row) -> list[BrokenFile]:
    path = clip_path(out, row)
    false = [*dict.fromkeys([*contradictions(row), *_false_facts(path, row, store)])]
    if not false:
        return []
    return [BrokenFile(path, wrong_fields_message(row, false), (row,), false=tuple(false))]


def _false_facts(path: Path, row: Row, store: Store) -> list[str]:
    """Return the row's fields that contradict the record in the clip, or else in the store."""
    try:
        false = false_facts(path, row)
    except OSError:
        return []
    return _belied(row, store) if false is None else false


def _belied(row: Row, store: Store) -> list[str]:
    """Return the fields of a row that differ from the store's record of the same file."""
    content = None if row.clip_key is None else store.clip_row(row.clip_key)
    try:
        typed = None if content is None else typed_row(content)
    except ValueError:
        return []
    if typed is None or typed.sha256 != row.sha256:
        return []
    stated = facts_of(row)
    return [name for name, value in facts_of(typed).items()
            if value is not None and not same_value(value, stated[name])]


def _without_record(out: Path, rows: Iterable[Row]) -> tuple[str, ...]:
    """Return a note on clips without an embedded record; empty if there are none."""
    clips = [clip_path(out, row) for row in rows]
    count = sum(path.is_file() and not has_record(path) for path in clips)
    if not count:
        return ()
    return (f"{counted(count, 'clip')} without a record of what is shown (no MP4 file, or made"
            " before there were records): what their rows say of it was compared with the store"
            " alone",)


def _shot_faults(store: Store, rows: Sequence[Row]) -> list[BrokenFile]:
    """Return the faults of a shot: its facts, and frames that are absent or damaged."""
    key = rows[0].shot_key or ""
    folder = store.shot_folder(key)
    faults, absent = [], []
    facts = store.shot_facts(key)
    frames = rows[0].frames if facts is None else facts["frames"]
    if facts is None or not all(_is_of(row, frames) for row in rows):
        faults.append(BrokenFile(folder / "shot.json", "is absent, damaged, or says another number"
                                 " of frames than the row", tuple(rows)))
    for number in range(frames):
        path = folder / frame_name(number)
        try:
            checked_frame(path)
        except FileNotFoundError:
            absent.append(number)
        except (ValueError, OSError):
            faults.append(BrokenFile(path, "its checksum does not fit", tuple(rows)))
    if absent:
        faults.append(BrokenFile(folder, f"lacks {_spans(absent)}", tuple(rows)))
    return faults


def _is_of(row: Row, frames: int) -> bool:
    """Return whether a clip's length fits its shot's; a clip cut off on purpose must be shorter."""
    cut = any(fault["name"] == "cut_off" for fault in row.faults or ())
    return row.frames < frames if cut else row.frames == frames


def _passes(rows: Iterable[Row]) -> dict[str, list[tuple[Row, PassFacts]]]:
    """Return the rows and pass facts that refer to each folder of ground truth, by its name."""
    found = defaultdict(list)
    for row in rows:
        for facts in (row.passes or {}).values():
            found[facts.folder].append((row, facts))
    return dict(found)


def _pass_faults(out: Path, passes: Sequence[tuple[Row, PassFacts]]) -> list[BrokenFile]:
    """Return the faults of a folder of ground truth: its path, its facts and its files."""
    facts, folder = passes[0][1], out / passes[0][1].folder
    rows = tuple(row for row, _ in passes)
    if not is_pass_folder(Path(facts.folder)):
        return [BrokenFile(folder, "is named as a pass's folder, which it is not; it was not read",
                           rows)]
    if not folder.resolve().is_relative_to(out.resolve()):
        return [BrokenFile(folder, "leads outside of the manifest's folder; it was not read", rows)]
    if not folder.is_dir():
        return [BrokenFile(folder, "is missing", rows, of_pass=True)]
    if _contradicts_row(facts, folder):
        return [BrokenFile(folder, "its pass.json does not say what its row says of it", rows,
                           of_pass=True)]
    of_files = folder_hash(folder)
    if any(each.sha256 != of_files for _, each in passes):
        return [BrokenFile(folder, "its files are not those that its row knows", rows,
                           of_pass=True)]
    others = tuple(row for row, facts in passes if _is_of_another_clip(row, facts, folder))
    if others:
        return [BrokenFile(folder, "is ground truth of another kind or of another clip than its"
                           " row's", others, of_pass=True)]
    return []


def _is_of_another_clip(row: Row, facts: PassFacts, folder: Path) -> bool:
    """Return whether a pass's own facts contradict its row: kind, length, size, rate, camera."""
    known = pass_facts(folder)
    kind = next(kind for kind, each in (row.passes or {}).items() if each is facts)
    stated = {"kind": kind, "frames": row.frames, "fps": row.fps, "width": row.width,
              "height": row.height}
    if any(known.get(name, value) != value for name, value in stated.items()):
        return True
    # A simulated camera has a lens and a hand of its own.
    if row.camera is None or row.camera_look is not None or "camera" not in known:
        return False
    camera = camera_matrices(camera_from(cast(CameraRecord, row.camera.model_dump())))
    return any(not np.allclose(known["camera"][name], values, atol=_SAME_CAMERA)
               for name, values in camera.items())


def _contradicts_row(facts: PassFacts, folder: Path) -> bool:
    """Return whether the engine or files in a row differ from those in the pass's own facts."""
    try:
        known = pass_facts(folder)
        return (known["engine"], known["files"]) != (facts.engine, facts.files)
    except (ValueError, KeyError, TypeError):
        return True


def _spans(numbers: Sequence[int]) -> str:
    """Return ascending frame numbers as text, such as "3, 5-9", preceded by their count."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    ranges = [f"{first}-{last}" if last > first else f"{first}" for first, last in spans]
    return f"{len(numbers)} of its frames: {', '.join(ranges)}"


def _double_rows(out: Path, rows: Iterable[Row]) -> Iterator[BrokenFile]:
    for name, count in Counter(row.file_name for row in rows).items():
        if count > 1:
            yield BrokenFile(out / name, f"has {count} rows, expected one")


def _one_clip_twice(out: Path, rows: Iterable[Row]) -> Iterator[BrokenFile]:
    """Yield clips that are a copy of another row's clip, which would count twice in results."""
    first: dict[str, Row] = {}
    for row in rows:
        if row.clip_key is not None:
            other = first.setdefault(row.clip_key, row)
            if other.file_name != row.file_name:
                yield BrokenFile(out / row.file_name, f"is {other.file_name} once more, under"
                                 " another name: their rows have the same clip_key")


def _misnamed(out: Path, rows: Sequence[Row]) -> Iterator[BrokenFile]:
    """Yield clips whose row has the sample_id that belongs to another row's clip."""
    stems = {Path(row.file_name).stem for row in rows if row.clip_key is not None}
    for row in rows:
        if row.clip_key is not None and row.sample_id != Path(row.file_name).stem \
                and row.sample_id in stems:
            yield BrokenFile(out / row.file_name,
                             f"its row has the sample_id of another clip, {row.sample_id}")


def _without_row(out: Path, rows: Iterable[Row]) -> Iterator[BrokenFile]:
    known = {row.file_name for row in rows}
    for path in sorted((out / "clips").glob("*.mp4")):
        if not path.name.startswith(".") and f"clips/{path.name}" not in known:
            yield BrokenFile(path, "has no row in the manifest")


def _passes_of_nobody(out: Path, rows: Iterable[Row]) -> Iterator[BrokenFile]:
    for folder in stray_passes(out, rows):
        yield BrokenFile(folder, "no row names it; mimegen store --prune removes it")
