"""Find takes and views without faults; keep the findings in the user's cache.

``$XDG_CACHE_HOME/mimegen/lint.jsonl`` has a line for each score, seed, style and tempo, performed
by the standard person; one for each of these performed by a person drawn by seed; and one for each
view of a place.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from mimegen.base.code import code_key
from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.base.lines import append_line, json_lines
from mimegen.base.user_cache import cache_folder
from mimegen.choreography.checks import checks_file, missed
from mimegen.choreography.flaws import too_fast
from mimegen.choreography.perform import LOOKED_AT_FPS, chosen_take
from mimegen.compositing.background import background_key
from mimegen.library.cast import CastMember
from mimegen.library.casting import Casting
from mimegen.library.score_take import ScoreTake
from mimegen.motion.editing import at_rate
from mimegen.plan.background_visibility import MIN_SHOWN_SHARE, background_shown, standing_camera
from mimegen.plan.clips import ChosenBackground
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig


@dataclass(frozen=True)
class GoodTakes:
    """The faults of takes and of views of places, each checked only once."""

    file: Path
    known: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def of_user() -> "GoodTakes":
        """Return what was found earlier by this user."""
        file = cache_folder() / "lint.jsonl"
        return GoodTakes(file, _read(file))

    def findings(self, take: ScoreTake, people: Sequence[CastMember] = ()) -> list[str]:
        """Return what is wrong with a take, played forwards; empty if nothing.

        It lists what lint finds, why the take cannot be performed, or what it fails to show when
        performed by ``people``.
        """
        unvaried = replace(take, mirror=False, reverse=False, tempo=max(take.tempo, 1.0))
        checks = checks_file(take.score)
        shown = file_hash(checks) if checks.is_file() else None
        key = content_key(unvaried.key, shown, code_key("mimegen.choreography.perform"))
        found = self._cached(key, lambda: _found(take))
        if found or not people or not shown:
            return found
        casting = Casting(replace(unvaried, tempo=1.0), tuple(people))
        key = content_key(casting.key, shown, code_key("mimegen.choreography.checks"))
        return self._cached(key, lambda: _missed_by(casting, take))

    def place_findings(self, chosen: ChosenBackground, config: RenderConfig, angle_deg: float
                       ) -> list[str]:
        """Return a fault if a view, framed on a standing person, hardly shows its place.

        Empty if it shows enough, or if that cannot be determined.
        """
        camera = standing_camera(config, angle_deg)
        key = content_key(background_key(chosen.file), file_hash(chosen.file), chosen.seed,
                          asdict(camera), angle_deg, MIN_SHOWN_SHARE, code_key(
                              "mimegen.scenery.place_visibility",
                              "mimegen.compositing.scene_visibility", "mimegen.library.places"))
        return self._cached(key, lambda: _hardly_shown(chosen, camera, angle_deg))

    def _cached(self, key: str, find: Callable[[], list[str]]) -> list[str]:
        if key not in self.known:
            self.known[key] = find()
            self._keep(key)
        return self.known[key]

    def _keep(self, key: str) -> None:
        """Append a line; processes can do so at once, since short lines are written atomically."""
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.file, json.dumps({"key": key, "findings": self.known[key]}))


def _found(take: ScoreTake) -> list[str]:
    """Return what lint finds in a take; at a higher tempo also movements that are too fast."""
    try:
        seen = chosen_take(take.score, take.seed, take.style)
    except RequestError as problem:
        return [str(problem)]
    found = list(seen.wrong)
    if take.tempo > 1:
        found += [finding for motion in seen.motions
                  for finding in too_fast(at_rate(motion, LOOKED_AT_FPS * take.tempo))]
    return [str(finding) for finding in found]


def _missed_by(casting: Casting, take: ScoreTake) -> list[str]:
    try:
        scene = casting.perform(LOOKED_AT_FPS)
    except RequestError as problem:
        return [str(problem)]
    motions = [performance.motion for performance in scene]
    return [str(one) for one in missed(motions, take.score, take.seed, take.style)]


def _hardly_shown(chosen: ChosenBackground, camera: Camera, angle_deg: float) -> list[str]:
    try:
        shown = background_shown(chosen.background, chosen.key, camera, angle_deg)
    except RequestError:
        # The error is reported when the clip is rendered.
        return []
    return [] if shown is None or shown >= MIN_SHOWN_SHARE else [f"shows {shown:g} of its place"]


def _read(file: Path) -> dict[str, list[str]]:
    """Return what a file says; a line cut off by a killed process is skipped."""
    known: dict[str, list[str]] = {}
    with suppress(OSError):
        for entry in json_lines(file.read_bytes()):
            with suppress(KeyError, TypeError):
                known.setdefault(entry["key"], list(entry["findings"]))
    return known
