"""Random variations of a set, drawn by seed within the ranges of its ``vary`` part."""

import colorsys
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.scenery.checks import Written, faults
from mimegen.scenery.light import Lamp
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.objects import Copies, Group, Object
from mimegen.scenery.ranges import ColorRange, Hour, ThingRange, Variation
from mimegen.scenery.rooms import varied_room
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.standing import DEEPER_M, StandingThings, performer_penetration_m

# Tries to find a free position for one object, and draws of a whole set.
TRIES = 12
DRAWS = 6


def varied(scenery: Scenery, name: str, seed: int, written: Written) -> Scenery:
    """Return the variation of a set that a seed draws.

    ``name`` is the set's name, ``written`` has the faults that it has as written. Draws with new
    faults are rejected; ``redrawn`` counts them. Raises RequestError if all draws are rejected.
    """
    problems = [""]
    for redrawn in range(DRAWS):
        drawn = one_draw(scenery, f"{name}:{seed}{f' again {redrawn}' * (redrawn > 0)}")
        problems = faults(drawn, written)
        if not problems:
            return drawn.model_copy(update={"redrawn": redrawn})
    raise RequestError(f"background {name}:{seed}: none of {DRAWS} random layouts is valid (the"
                       f" last: {problems[0]}); use another seed, or smaller ranges in the set's"
                       " 'vary'")


def one_draw(scenery: Scenery, word: str) -> Scenery:
    """Return one random variation, valid or not; ``word`` seeds its generators.

    Objects are moved one after another. An object keeps its written position if no try fits.
    """
    assert scenery.vary is not None, "only sets that vary are drawn"
    if scenery.vary.room:
        scenery = varied_room(scenery, scenery.vary.room, generator("set", word, "room"))
    vary = scenery.vary
    assert vary is not None, "rooms keep what may vary"
    chance = generator("set", word)
    hours = (None, *vary.hours)
    hour = hours[int(chance.integers(len(hours)))]
    drawn = scenery.model_copy(update={
        "vary": None, "scatter": f"{word} ",
        "sky": hour.sky if hour else scenery.sky, "sun": hour.sun if hour else scenery.sun,
        "lamps": _lamps(_switched_on(scenery.lamps, hour), vary,
                        generator("set", word, "lamps")),
        "materials": {name: _material(_at_hour(name, material, hour), vary.materials.get(name),
                                      generator("set", word, "material", name))
                      for name, material in scenery.materials.items()},
    })
    return _furnished(_seen_from(drawn, vary, chance), vary, word)


def _seen_from(scenery: Scenery, vary: Variation, chance: np.random.Generator) -> Scenery:
    """Return the set with the performer moved to a position that is at least as free."""
    for along, across, turn in chance.uniform(-1, 1, (TRIES, 3)):
        x, y = scenery.performer_at
        moved = scenery.model_copy(update={
            "performer_at": (round(x + along * vary.performer[0], 3),
                             round(y + across * vary.performer[1], 3)),
            "turn_deg": round(scenery.turn_deg + turn * vary.turn_deg, 2)})
        if performer_penetration_m(moved) <= performer_penetration_m(scenery) + DEEPER_M:
            return moved
    return scenery


def _switched_on(lamps: Sequence[Lamp], hour: Hour | None) -> Sequence[Lamp]:
    """Return lamps at an hour: windows give less light, other lamps make up for it in watts."""
    inside = sum(lamp.watts for lamp in lamps if not lamp.window)
    if hour is None or not inside:
        return lamps
    missing = (1 - hour.windows) * sum(lamp.watts for lamp in lamps if lamp.window)
    return [lamp.model_copy(update={
        "watts": lamp.watts * (hour.windows if lamp.window else 1 + missing / inside)})
        for lamp in lamps]


def _lamps(lamps: Sequence[Lamp], vary: Variation, chance: np.random.Generator
           ) -> tuple[Lamp, ...]:
    """Return lamps with their power and color temperature all changed by the same random amounts.
    """
    strength, warmth = 1 + vary.lamps * chance.uniform(-1, 1), vary.warmth * chance.uniform(-1, 1)
    return tuple(lamp.model_copy(update={
        "watts": round(lamp.watts * strength, 2), "color": _warmer(lamp.color, warmth)})
        for lamp in lamps)


def _warmer(color: str, warmth: float) -> str:
    red, green, blue = _channels(color)
    return _hex((red * (1 + 0.15 * min(warmth, 0)), green, blue * (1 - 0.3 * max(warmth, 0))))


def _at_hour(name: str, material: SetMaterial, hour: Hour | None) -> SetMaterial:
    if hour is None or name not in hour.materials:
        return material
    return _colored(material, hour.materials[name])


def _material(material: SetMaterial, range_: ColorRange | tuple[SetMaterial, ...] | None,
              chance: np.random.Generator) -> SetMaterial:
    if range_ is None:
        return material
    if not isinstance(range_, ColorRange):
        return (material, *range_)[int(chance.integers(len(range_) + 1))]
    colors = (material.color, *range_.colors)
    material = _colored(material, colors[int(chance.integers(len(colors)))])
    hue, light, chroma = chance.uniform(-1, 1, 3)
    moves = hue * range_.hue / 360, 1 + light * range_.light, 1 + chroma * range_.chroma
    second = None if material.second is None else _moved(material.second, *moves)
    return material.model_copy(update={"color": _moved(material.color, *moves), "second": second})


def _colored(material: SetMaterial, color: str) -> SetMaterial:
    """Return a material with another color; its second color keeps its ratio to the first."""
    if material.second is None:
        return material.model_copy(update={"color": color})
    old, second, new = (_channels(one) for one in (material.color, material.second, color))
    ratios = [(b + 0.02) / (a + 0.02) for a, b in zip(old, second, strict=True)]
    red, green, blue = (one * ratio for one, ratio in zip(new, ratios, strict=True))
    return material.model_copy(update={"color": color, "second": _hex((red, green, blue))})


def _moved(color: str, hue: float, light: float, chroma: float) -> str:
    """Return a color with its hue shifted and its lightness and saturation scaled (HLS)."""
    old_hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    return _hex(colorsys.hls_to_rgb((old_hue + hue) % 1.0, min(lightness * light, 0.97),
                                    min(saturation * chroma, 1.0)))


def _channels(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _hex(channels: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * min(max(channel, 0.0), 1.0)):02x}" for channel in channels)


def _furnished(scenery: Scenery, vary: Variation, word: str) -> Scenery:
    """Return the set with its objects moved, exchanged or left out, and its optional objects.

    Each object has its own generator, so adding one does not change the others.
    """
    standing = StandingThings(scenery)
    numbers: dict[str, Iterator[int]] = {}
    for place, thing in enumerate(scenery.objects):
        name = thing.of if isinstance(thing, Group) else thing.kind
        number = next(numbers.setdefault(name, count()))
        ranges = vary.things.get(name)
        if ranges is not None:
            _vary_object(standing, place, ranges, generator("set", word, "thing", name, number))
    for number, extra in enumerate(vary.extras):
        if generator("set", word, "extra", number).random() < extra.chance:
            standing.add(extra.thing)
    return scenery.model_copy(update={"objects": standing.objects})


def _vary_object(standing: StandingThings, place: int, ranges: ThingRange,
                 chance: np.random.Generator) -> None:
    """Leave an object out, or try random positions for it until one fits."""
    if chance.random() < ranges.leave_out:
        standing.leave_out(place)
        return
    written = standing.written(place)
    for _ in range(TRIES):
        if standing.replace(place, _varied_placement(written, ranges, chance)):
            return


def _varied_placement(thing: Object, ranges: ThingRange, chance: np.random.Generator) -> Object:
    """Return an object moved, turned, scaled and perhaps exchanged at random within its ranges."""
    along, across, turn, scale = chance.uniform(-1, 1, 4)
    at = (round(thing.at[0] + along * ranges.move[0], 3),
          round(thing.at[1] + across * ranges.move[1], 3), thing.at[2])
    turned = (thing.turn[0], thing.turn[1], round(thing.turn[2] + turn * ranges.turn, 2))
    size = np.round(np.broadcast_to(thing.scale, 3) * (1 + scale * ranges.scale), 4)
    change: dict[str, object] = {"at": at, "turn": turned, "scale": tuple(size.tolist())}
    if ranges.fewer and thing.repeat:
        first, *others = thing.repeat
        change["repeat"] = (_thinned(first, ranges.fewer, chance), *others)
    if ranges.instead and isinstance(thing, Group):
        names = (thing.of, *ranges.instead)
        change["of"] = names[int(chance.integers(len(names)))]
    return thing.model_copy(update=change)


def _thinned(copies: Copies, fewer: float, chance: np.random.Generator) -> Copies:
    """Return a row of copies with some removed and the same length."""
    count = max(round(copies.count * (1 - fewer * chance.random())), 2)
    if count >= copies.count:
        return copies
    apart = (copies.count - 1) / (count - 1)
    return copies.model_copy(update={
        "count": count, "step": tuple(round(apart * step, 4) for step in copies.step)})
