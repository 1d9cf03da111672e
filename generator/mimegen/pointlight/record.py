"""Make the manifest's entries of a display: everything that a paper must report."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mimegen import __version__
from mimegen.manifest.footfalls import events_shown
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.discs import to_srgb
from mimegen.pointlight.dots import MASK
from mimegen.pointlight.landmarks import DotSet
from mimegen.pointlight.scenes import chosen_set
from mimegen.pointlight.stimulus import (
    FOOT_CONTACTS,
    Stimulus,
    share_outside,
    shown_height,
    used_dots,
)

# Manipulations that turn a picture into its mirror image.
FLIPS = ("mirrored", "inverted")
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709


def display_facts(stimulus: Stimulus) -> dict[str, Any]:
    """Return the row of a display, without the fields of the file that holds it."""
    display, dots = stimulus.display, stimulus.dots
    used = used_dots(stimulus)
    known = {name: value for name, value in stimulus.scene.facts.items() if name != FOOT_CONTACTS}
    return {
        **known, **_foot_events(stimulus),
        "display": display.name, "display_style": display.style, "dots_seed": stimulus.seed,
        "generator": "numpy.random.default_rng (PCG64), seeded by seed and CRC-32 of the scene's"
                     " and the manipulation's names",
        "frames": dots.frames, "fps": display.fps,
        "duration_s": round(dots.frames / display.fps, 6),
        "width": display.width, "height": display.height,
        **_dot_facts(stimulus), **_size_facts(stimulus), **_view_facts(stimulus),
        **_time_facts(stimulus), **_light_facts(stimulus),
        "occlusion": display.occlusion,
        "dots_outside_share": round(share_outside(stimulus), 5),
        "dots_shown_mean": round(float(used.sum(axis=1).mean()), 3),
        "dots_shown_least": int(used.sum(axis=1).min()),
        "masks": list(stimulus.masks),
        "manipulations": _manipulations(stimulus),
        **_people_facts(stimulus),
        "render_config": display.model_dump(mode="json"),
        "mimegen_version": __version__, "numpy_version": np.__version__,
    }


def _foot_events(stimulus: Stimulus) -> dict[str, Any]:
    """Return when feet strike and leave the ground; empty if that is unknown or not shown.

    It is not told where one of two performers differs from the other in what is done to them.
    """
    contacts = stimulus.scene.facts.get(FOOT_CONTACTS)
    keeps_steps = all(step.keeps_steps for step in stimulus.manipulations)
    if contacts is None or _tells_people_apart(stimulus) or not keeps_steps:
        return {}
    events = events_shown(contacts, stimulus.moments, stimulus.display.fps,
                          is_flipped(step.name for step in stimulus.manipulations))
    return {"foot_events": [event.model_dump() for event in events]}


def is_flipped(manipulations: Iterable[str]) -> bool:
    """Return whether a display looks like that of the mirrored performer."""
    return sum(name in FLIPS for name in manipulations) % 2 == 1


def _dot_facts(stimulus: Stimulus) -> dict[str, Any]:
    dots = stimulus.dots
    own = [name for name, who in zip(dots.names, dots.performers, strict=True) if who != MASK]
    facts: dict[str, Any] = {
        "dot_set": stimulus.display.dots, "dots_added": list(stimulus.display.add),
        "dots": own, "dot_count": len(own), "mask_dot_count": dots.count - len(own),
        "performers": len(dots.people),
    }
    if stimulus.scene.facts.get("dots_from") != "markers":
        chosen: DotSet = chosen_set(stimulus.display)
        facts |= {"dot_set_source": chosen.source,
                  "landmarks": {name: list(points) for name, points in chosen.dots.items()}}
    return facts


def _people_facts(stimulus: Stimulus) -> dict[str, Any]:
    """Return what each performer of a display shows, if one differs from the other in it."""
    if not _tells_people_apart(stimulus):
        return {}
    return {"people_shown": [_person_facts(stimulus, person)
                             for person in range(stimulus.times.own.shape[1])]}


def _tells_people_apart(stimulus: Stimulus) -> bool:
    """Return whether one performer is manipulated alone or is from another action."""
    return stimulus.scene.partner is not None or any(
        step.performer is not None for step in stimulus.manipulations)


def _person_facts(stimulus: Stimulus, person: int) -> dict[str, Any]:
    times, shown = stimulus.times, person in stimulus.shown
    frames = _source_frames(times.own[:, person], stimulus.scene.fps)
    return {
        "who": person + 1, "shown": shown,
        "manipulations": [step.name for step in stimulus.manipulations if step.performer == person],
        "source_frames": frames if shown else None,
        "held_frames": times.held_frames(person) if shown else None,
        **((person and stimulus.scene.partner) or {}),
    }


def _source_frames(moments: FloatArray, fps: float) -> list[float]:
    """Return the numbers of the first and the last frame of the source that are shown."""
    return [round(float(moment * fps), 3) for moment in moments[[0, -1]]]


def _size_facts(stimulus: Stimulus) -> dict[str, Any]:
    display = stimulus.display
    figure = stimulus.scene.stature * stimulus.scale
    shown = shown_height(stimulus)
    degree = display.degree_pixels
    diameter = stimulus.dot_diameter
    measured = display.pixels_per_degree is None
    return {
        "pixels_per_degree": round(degree, 4),
        "distance_cm": display.distance_cm if measured else None,
        "pixel_pitch_mm": display.pixel_pitch_mm if measured else None,
        "width_deg": round(display.width / degree, 4),
        "height_deg": round(display.height / degree, 4),
        "figure_height_m": round(stimulus.scene.stature, 4),
        "figure_height_px": round(figure, 3), "figure_height_deg": round(figure / degree, 4),
        "shown_height_px": round(shown, 3), "shown_height_deg": round(shown / degree, 4),
        "dot_diameter_px": round(diameter, 4), "dot_diameter_deg": round(diameter / degree, 5),
        "dot_diameter_share_of_figure": round(diameter / figure, 5),
        "dot_shape": "disc",
        "antialiasing": "exact area coverage in linear light, positions to 1/64 px",
        "depth_rule": next((step.algorithm for step in stimulus.manipulations
                            if step.name == "depth_sized"), "constant size"),
    }


def _view_facts(stimulus: Stimulus) -> dict[str, Any]:
    display, view = stimulus.display, stimulus.view
    local = [step.performer for step in stimulus.manipulations if step.name == "local"]
    anchored = None in local
    facts: dict[str, Any] = {
        "projection": display.projection,
        "azimuth_deg": (display.azimuth_deg + stimulus.angle_deg) % 360,
        "elevation_deg": display.elevation_deg, "anchor": "performer" if anchored else "world",
        "translation": _translation(local),
        "pixels_per_metre": round(stimulus.scale, 4),
        "camera_distance_m": view.distance if np.isfinite(view.distance) else None,
    }
    if view.camera is not None:
        facts["projection"] = "perspective"
        forward = view.camera.rays(np.array([display.width / 2, display.height / 2]))
        facts |= {
            "azimuth_deg": round(float(np.degrees(np.arctan2(-forward[0], forward[1]))) % 360, 3),
            "elevation_deg": round(float(np.degrees(np.arcsin(
                -forward[2] / np.linalg.norm(forward)))), 3)}
    return facts


def _translation(local: Sequence[int | None]) -> str:
    """Return what becomes of the performers' travel; ``local`` lists who loses it, None for all."""
    if None in local:
        return "removed"
    people = ", ".join(str(one + 1) for one in sorted({one for one in local if one is not None}))
    return f"removed of performer {people}" if people else "kept"


def _time_facts(stimulus: Stimulus) -> dict[str, Any]:
    moments, source_fps = stimulus.moments, stimulus.scene.fps
    step = float(np.median(np.diff(moments))) if len(moments) > 1 else 0.0
    life = next((manipulation.model_dump()["frames"] for manipulation in stimulus.manipulations
                 if manipulation.name == "limited_lifetime" and manipulation.performer is None),
                None)
    # In a GIF of every second frame, a life of two frames lasts one.
    made = life and max(life, stimulus.stride) / stimulus.stride
    life = made and round(made)
    return {
        "source_fps": source_fps,
        "source_frames": _source_frames(moments, source_fps),
        "source_stride": round(abs(step) * source_fps, 4),
        "span_ms": round(abs(float(moments[-1] - moments[0])) * 1000, 3),
        "speed": round(abs(step) * stimulus.display.fps, 4),
        "direction": "reversed" if step < 0 else "forward",
        "lifetime_frames": life,
        "lifetime_ms": round(made / stimulus.display.fps * 1000, 3) if made else None,
    }


def _manipulations(stimulus: Stimulus) -> list[dict[str, Any]]:
    return [step.facts() | choices | _made_at(stimulus) for step, choices in
            zip(stimulus.manipulations, stimulus.random_choices, strict=True)]


def _made_at(stimulus: Stimulus) -> dict[str, float]:
    """Return the frame rate in whose frames parameters are, if it is not the display's own."""
    made = stimulus.display.fps * stimulus.stride
    return {} if stimulus.stride == 1 else {"frames_at_fps": made}


def _light_facts(stimulus: Stimulus) -> dict[str, Any]:
    back = float(stimulus.background @ LUMINANCE)
    dots = np.unique((stimulus.colors[stimulus.dots.own] @ LUMINANCE).round(5))
    # Dots of several luminances have none in common.
    fore = float(dots[0]) if len(dots) == 1 else None
    weber = None if fore is None or not back else round((fore - back) / back, 5)
    michelson = None if fore is None or not fore + back else (
        round((fore - back) / (fore + back), 5))
    return {
        "polarity": stimulus.display.polarity, "contrast": stimulus.display.contrast,
        "dot_luminance": fore, "background_luminance": round(back, 5),
        "weber_contrast": weber, "michelson_contrast": michelson,
        "color_by": stimulus.display.color_by,
        "colors": [hex_color(color) for color in np.unique(stimulus.colors, axis=0)],
        "background_color": hex_color(stimulus.background),
    }


def hex_color(linear: FloatArray) -> str:
    """Return a color (3,) of linear light as sRGB, such as ``#ff8000``."""
    return "#" + "".join(f"{value:02x}" for value in to_srgb(linear))
