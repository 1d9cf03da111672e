"""What every take tells, wherever its motion comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mimegen.base.files import file_hash
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.faces.overlay import FaceOverlay
from mimegen.library.keys import altering_code, reversing_code
from mimegen.manifest.timeline import Interval
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray

RELAXED = "relaxed"
# A motion and, where they are known, its joints by role.
Source = tuple[Motion, Mapping[str, str] | None]


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is said of a performance of an action.

    ``aligned`` and ``misaligned`` name backgrounds; None where nobody said, as of the semantic
    group. ``file`` holds the motion, or how to make it. ``tempo`` is how many times as fast it is
    performed, ``mirror`` whether left and right are swapped, ``reverse`` whether it is played
    backwards, ``overlay`` what the first performer's face does beside all that.
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
        """Return nothing: it says nothing of faces."""
        return ()

    @property
    def altered_words(self) -> tuple[str, ...]:
        """What was altered, in a clip's name; nothing, and no part of a key, where nothing was."""
        tempo = () if self.tempo == 1 else (f"tempo{self.tempo:g}",)
        face = () if self.overlay is None else self.overlay.words
        return (*tempo, *(("mirrored",) if self.mirror else ()),
                *(("reversed",) if self.reverse else ()), *face)

    @property
    def _moves_otherwise(self) -> bool:
        return self.tempo != 1 or self.mirror

    @property
    def altered_key(self) -> tuple[str, ...]:
        """What keys say of it."""
        moved = (*self.altered_words, altering_code()) if self._moves_otherwise else ()
        return (*moved, "reversed", reversing_code()) if self.reverse else moved

    def seen_front(self, front_deg: float) -> float:
        """Return an azimuth as it is once left and right are swapped, where they are."""
        return 2 * MIME_AZIMUTH_DEG - front_deg if self.mirror else front_deg

    def described(self) -> dict[str, Any]:
        """Return it for a manifest."""
        return {
            "action": self.action, "take": self.name, "actor": self.actor,
            "labels": list(self.labels), "semantic_group": self.semantic_group,
            "intentions": list(self.intentions), "licence": self.licence,
            "motion_file": self.file.name, "motion_sha256": file_hash(self.file),
            **({"tempo": self.tempo, "mirrored": self.mirror} if self._moves_otherwise else {}),
            **({"reversed": True} if self.reverse else {}),
            **({} if self.overlay is None else {"face": self.overlay.facts}),
        }


class LibraryTake(Protocol):
    """One performance of an action: described, and able to give its motions."""

    def __hash__(self) -> int:
        """Return the same number of takes that are equal."""

    @property
    def action(self) -> str:
        """The action's id."""

    @property
    def name(self) -> str:
        """The take's name among those of the action."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The right answers to what is shown."""

    @property
    def semantic_group(self) -> str | None:
        """What kind of action it is, in a word; None where nobody said."""

    @property
    def aligned(self) -> str | None:
        """The background that fits; None where nobody said."""

    @property
    def misaligned(self) -> str | None:
        """The background that misleads; None where nobody said."""

    @property
    def file(self) -> Path:
        """The file that holds the motion, or how to make it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of every performer that has one of its own."""

    @property
    def seed(self) -> int:
        """Another seed is another take of a score; motion capture has 0."""

    @property
    def tempo(self) -> float:
        """How many times as fast as it was performed or written."""

    @property
    def mirror(self) -> bool:
        """Whether left and right are swapped once it is on its performers."""

    @property
    def reverse(self) -> bool:
        """Whether it is played backwards once it is on its performers."""

    @property
    def overlay(self) -> FaceOverlay | None:
        """What the first performer's face does beside what the take says of it."""

    @property
    def front_deg(self) -> float:
        """The azimuth that the first performer faces at the start: 0 is -Y, 90 is +X.

        Played backwards, it is that at the end: of the performance, and not of the clip.
        """

    @property
    def hand_shape(self) -> str:
        """The shape of fingers of which the motion says nothing."""

    @property
    def version(self) -> tuple[str, ...]:
        """What tells takes of one name apart in a clip's name."""

    @property
    def words(self) -> tuple[str, ...]:
        """What it is called, in words that stay: they seed what is random in its displays."""

    @property
    def performers(self) -> int:
        """How many people the take shows."""

    @property
    def key(self) -> str:
        """What the motions depend on: files, seed, and the code and data that make them."""

    @property
    def timeline(self) -> list[Interval] | None:
        """What happens forwards, from when to when; None where nobody knows."""

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion in one world frame.

        A score is performed at ``fps``; mocap keeps its own frame rate and has its joints by role.
        """

    def frames(self, fps: float) -> int:
        """Return how many frames it has at a rate, on whomever; a score is not performed for it."""

    def faces(self, fps: float) -> tuple[Mapping[str, FloatArray], ...]:
        """Return what it says of each performer's face, values (F,) by channel; or nothing.
        """

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of it."""
