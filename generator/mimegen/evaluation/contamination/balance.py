"""Check what else differs between the arms and could be mistaken for a fall."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import asin, degrees
from typing import Any

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.rows import ScoredRow, StudyArm
from mimegen.manifest.parts import CameraFacts
from mimegen.manifest.row import Row

# Limits of balance: a small to medium difference of means in standard deviations (Cohen's d), and
# its counterpart for shares of levels (total variation).
MAX_SHIFT = 0.25
MAX_SHARE = 0.20
_SIDES = ("front", "left", "back", "right")
# Fields of permutations that are not visible in clips, and those that rows have by other names.
_NO_FACTORS = ("seed", "number", "redraws", "sha256", "character", "background_kind", "config")
# Permutations' name for a style that was drawn by the seed, and rows' value of a usual tempo.
OWN_STYLE = "own"
OWN_TEMPO = 1.0
# Fields of answers that tell what was asked and shown.
_ASKED = ("format", "asks", "prompting", "difficulty", "sampling")
# Their field of all wrong options, and the name of this factor.
_WRONG, WRONG_ANSWERS = "wrong", "wrong answers"
Value = str | float


@dataclass(frozen=True)
class Balance:
    """The difference between the arms in one factor of their clips.

    ``difference`` is that of the means in standard deviations, or the share of clips whose level
    would have to change (total variation).
    """

    factor: str
    seen: str
    unseen: str
    difference: float
    balanced: bool


def balances(seen: StudyArm, unseen: StudyArm) -> list[Balance]:
    """Return the balance of what was asked, and of every factor in both arms' manifests, by name.

    Clips of an action that only one arm has are not compared with any others and are left out.
    """
    actions = {row.action for row in seen.rows} & {row.action for row in unseen.rows}
    rows = [[row for row in arm.rows if row.action in actions] for arm in (seen, unseen)]
    asked = [[fields for row in arm for fields in (_asked(row), *_wrong(row))] for arm in rows]
    shown = [[_factors(clip) for _, clip in sorted(arm.clips.items()) if clip.action in actions]
             for arm in (seen, unseen)]
    return [*_balances(asked), *_balances(shown)]


def _balances(arms: Sequence[Sequence[Mapping[str, Value]]]) -> list[Balance]:
    """Return the balance of every factor that both arms have."""
    names = sorted({name for clips in arms for clip in clips for name in clip})
    columns = {name: [[clip[name] for clip in clips if name in clip] for clips in arms]
               for name in names}
    return [_balance(name, *both) for name, both in columns.items()
            if all(both) and (name == WRONG_ANSWERS or not all(map(_names_each, both)))]


def _wrong(row: ScoredRow) -> list[Mapping[str, Value]]:
    """Return each wrong option of an answer's question: other labels make other difficulty."""
    wrong = (row.model_extra or {}).get(_WRONG)
    return [{WRONG_ANSWERS: str(text)} for text in wrong] if isinstance(wrong, list) else []


def _asked(row: ScoredRow) -> Mapping[str, Value]:
    """Return what an answer's row tells of its question."""
    fields = {name: (row.model_extra or {}).get(name) for name in _ASKED}
    return {name: str(value) for name, value in fields.items()
            if isinstance(value, str | int | float)}


def _factors(clip: Row) -> Mapping[str, Value]:
    """Return the factors in a clip's row that might make it easier or harder.

    Those that a permutation draws are taken from the row itself, because other clips have them too.
    """
    fields: dict[str, Any] = {
        **{name: value for name, value in (clip.permutation or {}).items()
           if not any(word in name for word in _NO_FACTORS)},
        "avatar": clip.avatar, "partner": clip.partner_avatar,
        "background": clip.background_config, "camera side": _side(clip),
        "render config": clip.render_config_name, "picture": f"{clip.width}x{clip.height}",
        "frames a second": clip.fps, "seconds": clip.frames / clip.fps,
        "style": clip.style or OWN_STYLE, "tempo": clip.tempo or OWN_TEMPO,
        "mirror": _yes(clip.mirrored), "reverse": _yes(clip.reversed),
        "emotion": (clip.face or {}).get("emotion"), **_camera(clip.camera), **_light(clip),
        "fault": " ".join(str(fault["name"]) for fault in clip.faults or ()) or None}
    return {name: _value(value) for name, value in fields.items()
            if value is None or isinstance(value, str | int | float)}


def _yes(flag: bool | None) -> str:
    return "yes" if flag else "no"


def _camera(camera: CameraFacts | None) -> dict[str, float]:
    """Return the lens in millimetres, and the degrees from which the camera looks down."""
    if camera is None:
        return {}
    w, x, y, z = camera.rotation
    # The camera looks along its -Z axis, whose height this is.
    down = w * w - x * x - y * y + z * z
    return {"lens": camera.lens_mm, "elevation": round(degrees(asin(max(-1.0, min(down, 1.0)))), 6)}


def _light(clip: Row) -> dict[str, float]:
    """Return the sun's strength and, if known, its direction in degrees."""
    light: dict[str, Any] = clip.light or {}
    found = {"light_strength": light.get("sun_strength")}
    azimuth, elevation = light.get("sun_from_deg") or (None, None)
    found |= {"light_azimuth": azimuth, "light_elevation": elevation}
    return {name: float(value) for name, value in found.items() if value is not None}


def _value(text: str | float | None) -> Value:
    if text is None:
        return "none"
    return text if isinstance(text, str) else float(text)


def _side(clip: Row) -> str | None:
    return None if clip.angle is None else _SIDES[round(clip.angle / 90) % 4]


def _names_each(values: Sequence[Value]) -> bool:
    """Whether a factor identifies an arm's clips rather than grouping them."""
    # A factor with more levels than half the clips, such as a random person, differs between any
    # two samples. If only one arm has such a factor, the arms differ.
    return isinstance(values[0], str) and len(set(values)) > len(values) / 2


def _balance(name: str, seen: Sequence[Value], unseen: Sequence[Value]) -> Balance:
    """Return the balance of a factor: of numbers by means, of other values by shares of levels."""
    if all(isinstance(value, float) for value in (*seen, *unseen)):
        return _of_numbers(name, np.array(seen, float), np.array(unseen, float))
    levels = [Counter(map(str, arm)) for arm in (seen, unseen)]
    shares = [{level: count / len(arm) for level, count in found.items()}
              for found, arm in zip(levels, (seen, unseen), strict=True)]
    difference = sum(abs(shares[0].get(level, 0) - shares[1].get(level, 0))
                     for level in {*shares[0], *shares[1]}) / 2
    return Balance(name, _listed(shares[0]), _listed(shares[1]), difference,
                   difference <= MAX_SHARE)


def _of_numbers(name: str, seen: FloatArray, unseen: FloatArray) -> Balance:
    # Cohen's d with the mean of both variances, because neither arm is the reference.
    spread = np.sqrt((seen.var() + unseen.var()) / 2)
    apart = float(seen.mean() - unseen.mean())
    # Two constants that differ have no spread to compare with, so the difference counts as 1.
    difference = 0.0 if apart == 0 else apart / float(spread) if spread else float(np.sign(apart))
    return Balance(name, f"{seen.mean():.4g}", f"{unseen.mean():.4g}", difference,
                   abs(difference) <= MAX_SHIFT)


def _listed(shares: Mapping[str, float]) -> str:
    common = sorted(shares, key=lambda level: (-shares[level], level))
    shown = ", ".join(f"{level} {100 * shares[level]:.0f} %" for level in common[:4])
    return shown + (f", {len(common) - 4} more" if len(common) > 4 else "")
