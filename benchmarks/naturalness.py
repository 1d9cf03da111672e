"""Captured beside choreographed motion, on the same man, in numbers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kinematics
from captured import CLIPS, on_man
from mimegen.choreography.balance import mass_centre
from mimegen.choreography.ranges import joint_angles
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray

FPS = 60.0
# Takes that do what captured clips do, by the kind of those.
CHOREOGRAPHED = {
    "strike": ("boxing", "boxing_uppercut"),
    "swing": ("golf_swing", "tennis_serve", "tennis_swing", "baseball_swing"),
    "walk": ("soldiers_march", "zombie_march"),
    "meet": ("shake_hands", "high_five", "come_closer"),
    "dance": ("jumping_jacks", "chicken_dance", "spin_360", "tai_chi"),
}
PARTS = ("LeftHand", "RightHand", "Head", "Hips", "LeftFoot", "RightFoot")
# People who stand at ease move slower than this (m/s).
STILL_BODY, STILL_HAND = 0.10, 0.05


@dataclass(frozen=True)
class Seen:
    """A motion's joints, smoothed: ``places`` (F, J, 3), and hands (F, 2, 3) about the hips."""

    motion: Motion
    places: FloatArray

    def of(self, *names: str) -> FloatArray:
        """Return the places (F, K, 3) of joints."""
        return self.places[:, [self.motion.skeleton.index[name] for name in names]]

    @property
    def hands(self) -> FloatArray:
        """The wrists' places (F, 2, 3) from the hips, so that walking is no reaching."""
        return self.of("LeftHand", "RightHand") - self.of("Hips")

    @property
    def hand_speeds(self) -> FloatArray:
        """The wrists' speeds (F, 2) about the hips, in m/s."""
        return kinematics.speeds(self.hands, FPS)

    @property
    def part_speeds(self) -> FloatArray:
        """The speeds (F, 4) of both hands about the hips, of head and pelvis, in m/s."""
        return np.concatenate([self.hand_speeds, kinematics.speeds(self.of("Head", "Hips"), FPS)],
                              axis=1)

    @property
    def centre(self) -> FloatArray:
        """The centre of mass (F, 2) over the middle of the feet, in metres.

        Segments weigh what de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia
        parameters" (1996), gives for men.
        """
        feet = self.of("LeftFoot", "RightFoot", "LeftToeBase", "RightToeBase").mean(axis=1)
        smooth = kinematics.smoothed(mass_centre(self.motion), FPS)
        return np.asarray((smooth - feet)[:, :2])

    @property
    def reaches(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Each movement of a hand: its places (F, 3) and its speeds (F,)."""
        for hand, speed in zip(np.moveaxis(self.hands, 1, 0), self.hand_speeds.T, strict=True):
            for span in kinematics.movements(speed):
                yield hand[span], speed[span]


def seen(motion: Motion) -> Seen:
    """Return a motion at ``FPS`` as all measures see it."""
    return Seen(motion, kinematics.smoothed(motion.global_pose.positions, FPS))


def _jerk(one: Seen, percentile: float | None) -> float:
    jerk = np.linalg.norm(np.diff(one.hands, n=3, axis=0), axis=-1) * FPS**3
    return float(jerk.mean() if percentile is None else np.percentile(jerk, percentile))


def _of_reaches(one: Seen, measure: Callable[[FloatArray, FloatArray], float],
                percentile: float = 50) -> float:
    found = [measure(places, speed) for places, speed in one.reaches]
    return float(np.percentile(found, percentile)) if found else float("nan")


def _range(one: Seen, name: str) -> float:
    """Return how far (degrees) a joint goes, its extreme 2.5 % left out, the mean of both sides."""
    return float(np.mean([np.ptp(np.percentile(angles, [2.5, 97.5]))
                          for (known, _), angles in joint_angles(one.motion).items()
                          if known == name]))


def _ratio_of_speed(one: Seen) -> float:
    speed = kinematics.speeds(one.of("Hips")[:, 0, :2], FPS)
    return float(speed.std() / max(speed.mean(), 1e-9))


def _slow_together(one: Seen) -> float:
    """Return when (%) all parts are below a tenth of their own fast (95th percentile) speed."""
    speed = one.part_speeds
    return 100 * kinematics.still_share(speed / np.percentile(speed, 95, axis=0), 0.1)


def _spread(path: FloatArray) -> float:
    """Return how far (m) a path (F, 2) goes along its longest axis, extreme 5 % left out."""
    axis = np.linalg.svd(path - path.mean(axis=0), full_matrices=False)[2][0]
    return float(np.ptp(np.percentile(path @ axis, [2.5, 97.5])))


# What is measured: label, how, digits.
MEASURES: tuple[tuple[str, Callable[[Seen], float], int], ...] = (
    ("hand jerk, mean (m/s³)", lambda one: _jerk(one, None), 0),
    ("hand jerk, 95th percentile (m/s³)", lambda one: _jerk(one, 95), 0),
    ("log dimensionless jerk of a reach, median", lambda one: _of_reaches(
        one, lambda places, _: kinematics.log_dimensionless_jerk(places, FPS)), 2),
    ("... its roughest 5 %", lambda one: _of_reaches(
        one, lambda places, _: kinematics.log_dimensionless_jerk(places, FPS), 5), 2),
    ("SPARC of a reach, median", lambda one: _of_reaches(
        one, lambda _, speed: kinematics.spectral_arc_length(speed, FPS)), 2),
    ("peak by mean speed of a reach", lambda one: _of_reaches(
        one, lambda _, speed: kinematics.profile(speed).peak_ratio), 2),
    ("skewness of its speed", lambda one: _of_reaches(
        one, lambda _, speed: kinematics.profile(speed).skewness), 2),
    ("likeness to a bell", lambda one: _of_reaches(
        one, lambda _, speed: kinematics.profile(speed).bell), 2),
    ("submovements of a hand per second", lambda one: float(np.mean(
        [kinematics.submovements(speed) for speed in one.hand_speeds.T]))
        / one.motion.last_s, 2),
    ("range of the elbow (°)", lambda one: _range(one, "elbow bent"), 0),
    ("range of the knee (°)", lambda one: _range(one, "knee bent"), 0),
    ("range of the hip (°)", lambda one: _range(one, "hip bent"), 0),
    ("range of the chest's turn (°)", lambda one: _range(one, "chest turned"), 0),
    ("range of the head's turn (°)", lambda one: _range(one, "head turned"), 0),
    ("left and right hand's speed, correlation", lambda one: kinematics.correlation(
        one.hand_speeds[:, 0], one.hand_speeds[:, 1]), 2),
    ("speeds of hands, head, pelvis, mean correlation", lambda one: kinematics.togetherness(
        one.part_speeds), 2),
    ("all four slow together (% of the time)", _slow_together, 1),
    ("centre of mass over the feet: path (cm/s)", lambda one: 100 * float(
        kinematics.speeds(one.centre, FPS).mean()), 1),
    ("... amplitude (cm)", lambda one: 100 * _spread(one.centre), 1),
    ("variation of the pelvis' speed", _ratio_of_speed, 2),
    ("whole body still (% of the time)", lambda one: 100 * kinematics.still_share(
        kinematics.speeds(one.of(*PARTS), FPS), STILL_BODY), 1),
    ("both hands still (% of the time)", lambda one: 100 * kinematics.still_share(
        one.hand_speeds, STILL_HAND), 1),
    ("head speed in its stillest tenth (cm/s)", lambda one: 100 * float(np.percentile(
        kinematics.speeds(one.of("Head"), FPS), 10)), 1),
    ("trunk sway, centroidal frequency (Hz)", lambda one: kinematics.sway_frequency(
        one.of("Neck")[:, 0, :2], FPS), 2),
    ("trunk sway at 3 to 8 Hz (mm/s)", lambda one: 1000 * kinematics.band_speed(
        one.of("Neck")[:, 0, :2], FPS, 3.0, 8.0), 1),
)
Figures = dict[str, float]


def measured(motion: Motion) -> Figures:
    """Return all measures of a motion at ``FPS`` on a skeleton with the standard names."""
    one = seen(motion)
    return {label: measure(one) for label, measure, _ in MEASURES}


def _scene(catalogue: Catalogue, take: LibraryTake) -> list[Figures]:
    return [measured(one.motion) for one in on_man(catalogue, take, FPS)]


def naturalness_section(catalogue: Catalogue, samples: Path) -> Iterator[str]:
    """Yield the lines of docs/research/library.md that compare with captured motion."""
    captured: dict[str, list[Figures]] = {kind: [] for kind in CHOREOGRAPHED}
    for clip in CLIPS:
        captured[clip.kind] += _scene(catalogue, clip.take(samples))
        print(clip.name, flush=True)
    takes: dict[str, dict[str, Figures]] = {}
    for kind, actions in CHOREOGRAPHED.items():
        takes[kind] = {}
        for action in actions:
            scene = _scene(catalogue, library_take(catalogue.action(action), None, 0))
            takes[kind][action] = {label: float(np.mean([one[label] for one in scene]))
                                   for label, _, _ in MEASURES}
            print(action, flush=True)
    yield from _summary(captured, takes)
    for kind in CHOREOGRAPHED:
        yield from _kind(kind, captured, takes[kind])


def _all(captured: Mapping[str, list[Figures]], label: str) -> FloatArray:
    return np.array([one[label] for clips in captured.values() for one in clips])


def _summary(captured: Mapping[str, list[Figures]],
             takes: Mapping[str, Mapping[str, Figures]]) -> Iterator[str]:
    count = sum(map(len, takes.values()))
    yield (f"| measure | captured: median (range), {len(_all(captured, MEASURES[0][0]))} motions"
           f" | choreographed: median (range), {count} takes | below the captured range |"
           " above it |\n|---|---|---|---|---|")
    for label, _, digits in MEASURES:
        real = _all(captured, label)
        ours = np.array([one[label] for actions in takes.values() for one in actions.values()])
        below, above = np.sum(ours < np.nanmin(real)), np.sum(ours > np.nanmax(real))
        yield (f"| {label} | {_with_range(real, digits)} | {_with_range(ours, digits)} |"
               f" {below or ''} | {above or ''} |")


def _kind(kind: str, captured: Mapping[str, list[Figures]],
          takes: Mapping[str, Figures]) -> Iterator[str]:
    clips = ", ".join(clip.name for clip in CLIPS if clip.kind == kind)
    yield f"\n**{kind.capitalize()}**: {clips}\n"
    yield f"| measure | captured: median (range) | {' | '.join(takes)} |"
    yield "|---" * (len(takes) + 2) + "|"
    for label, _, digits in MEASURES:
        real = np.array([one[label] for one in captured[kind]])
        cells = [_marked(one[label], real, _all(captured, label), digits)
                 for one in takes.values()]
        yield f"| {label} | {_with_range(real, digits)} | {' | '.join(cells)} |"


def _with_range(values: FloatArray, digits: int) -> str:
    if np.isnan(values).all():
        return "-"
    middle, low, high = (f"{value:.{digits}f}" for value in
                         (np.nanmedian(values), np.nanmin(values), np.nanmax(values)))
    return f"{middle} ({low} to {high})"


def _marked(value: float, like: FloatArray, everything: FloatArray, digits: int) -> str:
    """Return a figure: bold outside of what like clips have, with an arrow outside of all."""
    if np.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    if np.isnan(like).all() or not np.nanmin(like) <= value <= np.nanmax(like):
        text = f"**{text}**"
    if value < np.nanmin(everything):
        return f"{text} ↓"
    return f"{text} ↑" if value > np.nanmax(everything) else text
