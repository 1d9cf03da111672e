"""The common description of every take, wherever its motion comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mimegen.base.files import file_hash
from mimegen.base.seeds import generator
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.faces.overlay import FaceOverlay
from mimegen.faces.speech import said_within
from mimegen.library.keys import altering_code, reversing_code
from mimegen.manifest.timeline import SPEECH, Interval
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray

RELAXED = "relaxed"
# A motion and, if known, its joints by role.
Source = tuple[Motion, Mapping[str, str] | None]


@dataclass(frozen=True, kw_only=True)
class TakeDescription:
    """The description of a performance of an action.

    ``aligned`` and ``misaligned`` name backgrounds; they and the semantic group are None if not
    given. ``file`` holds the motion, or how to make it. ``tempo`` is the speed as a factor,
    ``mirror`` swaps left and right, ``reverse`` plays the take backwards, and ``overlay`` is an
    additional motion of the first performer's face.
    """

    action: str
    name: str
    labels: tuple[str, ...]
    aligned: str | None
    misaligned: str | None
    file: Path
    actor: str
    licence: str
    semantic_group: str | None = None
    intentions: tuple[str, ...] = ()
    tempo: float = 1.0
    mirror: bool = False
    reverse: bool = False
    overlay: FaceOverlay | None = None

    def faces(self, fps: float) -> tuple[Mapping[str, FloatArray], ...]:
        """Return an empty tuple: the take has no motion of faces."""
        return ()

    @property
    def altered_words(self) -> tuple[str, ...]:
        """The words for the alterations in a clip's name; empty, and not in keys, without any."""
        tempo = () if self.tempo == 1 else (f"tempo{self.tempo:g}",)
        face = () if self.overlay is None else self.overlay.words
        return (*tempo, *(("mirrored",) if self.mirror else ()),
                *(("reversed",) if self.reverse else ()), *face)

    @property
    def _moves_otherwise(self) -> bool:
        return self.tempo != 1 or self.mirror

    @property
    def altered_key(self) -> tuple[str, ...]:
        """The part of the content key for the alterations."""
        moved = (*self.altered_words, altering_code()) if self._moves_otherwise else ()
        return (*moved, "reversed", reversing_code()) if self.reverse else moved

    def seen_front(self, front_deg: float) -> float:
        """Return an azimuth after mirroring, if the take is mirrored."""
        return 2 * MIME_AZIMUTH_DEG - front_deg if self.mirror else front_deg

    def described(self) -> dict[str, Any]:
        """Return the description's fields for a manifest."""
        return {
            "action": self.action, "take": self.name, "actor": self.actor,
            "labels": list(self.labels), "semantic_group": self.semantic_group,
            "intentions": list(self.intentions), "licence": self.licence,
            "motion_file": self.file.name, "motion_sha256": file_hash(self.file),
            **({"tempo": self.tempo, "mirrored": self.mirror} if self._moves_otherwise else {}),
            **({"reversed": True} if self.reverse else {}),
            **({} if self.overlay is None else {"face": self.overlay.facts}),
        }

    def stated(self) -> dict[str, Any]:
        """Return the manifest's fields that files state and no content key covers, as labels."""
        # The hash is that of the file that was performed, which may have been edited since.
        return {name: value for name, value in self.described().items()
                if name not in ("motion_file", "motion_sha256")}


class LibraryTake(Protocol):
    """One performance of an action: its description and its motions."""

    def __hash__(self) -> int:
        """Return a hash, equal for equal takes."""

    @property
    def action(self) -> str:
        """The action's id."""

    @property
    def name(self) -> str:
        """The take's name, unique within the action."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The correct answers to what is shown."""

    @property
    def semantic_group(self) -> str | None:
        """The kind of action, as one word; None if not given."""

    @property
    def aligned(self) -> str | None:
        """The background that fits the action; None if not given."""

    @property
    def misaligned(self) -> str | None:
        """The background that misleads; None if not given."""

    @property
    def file(self) -> Path:
        """The file that holds the motion, or how to make it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the performers, without duplicates of a shared one."""

    @property
    def seed(self) -> int:
        """The seed; each seed makes another take of a score. 0 for motion capture."""

    @property
    def tempo(self) -> float:
        """The speed, as a multiple of that performed or written."""

    @property
    def mirror(self) -> bool:
        """Whether left and right are swapped, after retargeting."""

    @property
    def reverse(self) -> bool:
        """Whether it is played backwards, after retargeting."""

    @property
    def overlay(self) -> FaceOverlay | None:
        """An additional motion of the first performer's face."""

    @property
    def front_deg(self) -> float:
        """The azimuth that the first performer faces at the start: 0 is -Y, 90 is +X.

        For a take played backwards, this is the start of the performance, and so the end of the
        clip.
        """

    @property
    def hand_shape(self) -> str:
        """The shape of fingers without motion of their own."""

    @property
    def version(self) -> tuple[str, ...]:
        """Words that distinguish takes of one name in a clip's name."""

    @property
    def words(self) -> tuple[str, ...]:
        """Stable words that name the take; they seed the randomness of its displays."""

    @property
    def performers(self) -> int:
        """The number of people in the take."""

    @property
    def key(self) -> str:
        """The content key of the motions: files, seed, and the code and data that make them."""

    @property
    def timeline(self) -> list[Interval] | None:
        """The timeline of the take played forwards; None if it is unknown."""

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion in one world frame.

        A score is performed at ``fps``; motion capture keeps its own frame rate and has its joints
        by role.
        """

    def frames(self, fps: float) -> int:
        """Return the number of frames at a rate, for any body; no score is performed for this."""

    def faces(self, fps: float) -> tuple[Mapping[str, FloatArray], ...]:
        """Return the motion of each performer's face, values (F,) by channel; may be empty."""

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""

    def stated(self) -> dict[str, Any]:
        """Return the manifest's fields that files state and no content key covers, as labels."""


def with_speech(take: LibraryTake, found: list[Interval]) -> list[Interval]:
    """Return a take's timeline with the speech of its face overlay added, as far as it is spoken.

    Words that are not over when the take ends are left out.
    """
    overlay = take.overlay
    span = None if overlay is None else overlay.spoken_span(
        generator(take.seed, *take.words, "face", 0))
    if overlay is None or overlay.speech is None or span is None:
        return found
    lasts = max((one.end_s for one in found), default=span[1])
    share = (min(span[1], lasts) - span[0]) / (span[1] - span[0])
    said = said_within(overlay.say or "", share * overlay.speech.duration)
    if not said:
        return found
    own = Interval(kind=SPEECH, name=said, start_s=round(span[0], 3),
                   end_s=round(min(span[1], lasts), 3))
    return sorted([*found, own], key=lambda one: one.start_s)
