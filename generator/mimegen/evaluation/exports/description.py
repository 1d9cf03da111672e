"""Sentences that describe a set of clips, each written from the rows of the clips."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mimegen.base.counted import counted, listed
from mimegen.evaluation.exports.licences import UNKNOWN
from mimegen.manifest.row import Row

GAIT = "gait"
# The names of a display's pictures by drawing style; dots are the default.
PICTURES = {"stick": "stick-figure display", "silhouette": "silhouette display"}
# How clips of each kind are made.
RENDERED = "rendered clip"
MAKING = {
    RENDERED: "In rendered clips, motion is retargeted to 3D characters, rendered, and composed"
              " over backgrounds.",
    "markers": "Dots of recorded markers are at the markers themselves.",
    "motion": "Dots of recorded or written motion are at joints of the motion's own skeleton.",
    "character": "Dots of characters are at the joints of 3D characters, to which motion is"
                 " retargeted.",
    "walker": "Dots of walkers are at the joints of a walker whose motion mimegen computes.",
}
# The fields in which clips of a set may differ on purpose, in words.
VARIED = {"action": "action", "take": "take", "seed": "seed", "avatar": "character",
          "view_azimuth_deg": "side", "angle": "camera angle", "background_name": "background",
          "condition": "condition of the dots", "dots_seed": "seed of the dots",
          "display": "display", "gait": "gait", "tempo": "tempo", "style": "style",
          "fps": "frame rate", "render_config_name": "render config"}
# The settings of a gait that make another walker.
WALKER = ("manner", "style", "gender", "weight", "nervous", "happy", "age", "fatigue",
          "intoxicated", "seed")


@dataclass(frozen=True)
class SetDescription:
    """Sentences about the rows of a set.

    Unless ``names_files``, motion files are given by hash alone: names may be answers.
    """

    rows: Sequence[Row]
    names_files: bool = True

    @property
    def abstract(self) -> str:
        """How many clips of what, and who performs."""
        actions = len({row.action for row in self.rows})
        return (f"{counted(len(self.rows), 'clip')} of {counted(actions, 'human action')}:"
                f" {_tally(map(_kind, self.rows))}. Performers: {self.performers}. Made with"
                " mimegen.")

    @property
    def performers(self) -> str:
        """The characters, recordings and walkers, each counted."""
        shown = [row for row in self.rows if not row.shows_nobody]
        characters = sorted({name for row in shown for name in (row.avatar, row.partner_avatar)
                             if name is not None})
        plain = [row for row in shown if row.avatar is None]
        recorded = {_recording(row) for row in plain if row.is_recorded}
        walkers = {_walker(row) for row in plain if row.motion_kind == GAIT}
        written = {(row.action, row.take, row.seed) for row in plain
                   if not row.is_recorded and row.motion_kind != GAIT}
        found = [
            f"{counted(len(characters), 'character')} ({', '.join(characters)})"
            if characters else "",
            f"{counted(len(recorded), 'recording')} without a character (rows do not state how"
            " many people were recorded)" if recorded else "",
            counted(len(walkers), "computed walker") if walkers else "",
            f"{counted(len(written), 'written performance')} without a character"
            if written else ""]
        return listed([text for text in found if text]) or "none"

    @property
    def varied(self) -> str:
        """What differs between clips; fields that only some clips have are not compared."""
        found = [word for name, word in VARIED.items()
                 if len({json.dumps(value, sort_keys=True) for row in self.rows
                         if (value := getattr(row, name)) is not None}) > 1]
        return f"Clips differ in: {', '.join(found)}." if found else "All clips are of one kind."

    @property
    def making(self) -> str:
        """How the clips are made, a sentence for each kind."""
        kinds = {_making(row) for row in self.rows}
        return " ".join(text for kind, text in MAKING.items() if kind in kinds)

    @property
    def motion(self) -> str:
        """Where the motion comes from: what mimegen makes it from, and every recorded file."""
        return " ".join(text for text in (self._made_motion, self._recorded_motion) if text)

    @property
    def _made_motion(self) -> str:
        walks = sum(row.motion_kind == GAIT for row in self.rows)
        written = sum(not row.is_recorded for row in self.rows) - walks
        parts = [f"motion of {counted(count, 'clip')} {what}" for count, what in (
            (written, "is computed from mimegen's written choreographies"),
            (walks, "is computed by mimegen's gait model")) if count]
        return f"{_first(listed(parts))}." if parts else ""

    @property
    def _recorded_motion(self) -> str:
        files = Counter(file for row in self.rows if row.is_recorded
                        for file in _files(row, self.names_files))
        if not files:
            return ""
        clips = sum(row.is_recorded for row in self.rows)
        hidden = "" if self.names_files else " (the private manifest has the files' names)"
        return (f"Motion of {counted(clips, 'clip')} is recorded, or otherwise read from"
                f" {counted(len(files), 'file')}{hidden}: "
                + "; ".join(f"{file}, {counted(count, 'clip')}"
                            for file, count in sorted(files.items())) + ".")

    @property
    def remaking(self) -> str:
        """What is needed to make the clips again."""
        needed = ("" if not any(row.is_recorded for row in self.rows) else
                  " Clips of recorded motion also need the recorded files, which are identified by"
                  " their hashes.")
        return f"The same version of mimegen makes the clips again from their rows.{needed}"

    @property
    def people(self) -> str:
        """Whether the clips show people, and whether these can be recognised."""
        if not any(row.is_recorded for row in self.rows):
            return "No real person is shown."
        return ("No filmed person is shown. Recorded motion comes from people, who may be"
                " recognised by how they move.")


def _kind(row: Row) -> str:
    """Return what a clip is, as a noun that takes an s."""
    if row.shows_nobody:
        return "control clip"
    if row.type != "pointlight":
        return RENDERED
    picture = PICTURES.get(row.display_style or "", "point-light display")
    return f"{picture} of {_dots(row)}"


def _dots(row: Row) -> str:
    if row.dots_from == "character":
        return "characters' joints"
    if row.motion_kind == GAIT:
        return "computed walkers"
    if row.dots_from == "markers":
        return "recorded markers"
    return f"joints of {'recorded' if row.is_recorded else 'written'} motion"


def _making(row: Row) -> str:
    if row.type != "pointlight":
        return RENDERED
    walker = row.dots_from == "motion" and row.motion_kind == GAIT
    return "walker" if walker else row.dots_from or "motion"


def _tally(kinds: Iterable[str]) -> str:
    return listed([_plural(count, kind) for kind, count in sorted(Counter(kinds).items())])


def _plural(count: int, kind: str) -> str:
    """Return "2 point-light displays of recorded markers"."""
    noun, of, rest = kind.partition(" of ")
    return f"{counted(count, noun)}{of}{rest}"


def _recording(row: Row) -> tuple[object, ...]:
    return (row.motion_sha256 or row.motion_file, row.motion_subject, row.motion_take,
            row.motion_stack, row.motion_first_frame, row.motion_last_frame)


def _walker(row: Row) -> str:
    gait = row.gait or {}
    return json.dumps([gait.get(name) for name in WALKER])


def _files(row: Row, with_name: bool) -> list[str]:
    """Return the description of each of a row's motion files: name, hash, source and licence."""
    files = dict.fromkeys(((row.motion_file, row.motion_sha256),
                           (row.partner_motion_file or row.motion_file,
                            row.partner_motion_sha256 or row.motion_sha256)))
    terms = f"source {row.motion_source or UNKNOWN}, licence {row.licence or UNKNOWN}"
    return [f"{f'{name}, ' if with_name and name else ''}SHA-256 {sha256 or UNKNOWN}, {terms}"
            for name, sha256 in files]


def _first(text: str) -> str:
    """Return a text that begins a sentence."""
    return text[:1].upper() + text[1:]
