"""The gallery: a single HTML page with every clip of a manifest; it needs no server."""

import hashlib
import io
import re
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from PIL import Image

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish, sweep
from mimegen.base.locks import locked
from mimegen.base.names import words
from mimegen.compositing.decode import VideoFile, read_pictures
from mimegen.evaluation.markup import escape
from mimegen.manifest.file import MANIFEST, clip_path, read_manifest, rows_of
from mimegen.manifest.pair import PairFacts, pair_of
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import PARTNER, PERFORMER, Interval, outermost
from mimegen.plan.variants import BACKGROUNDS

POSTER_WIDTH = 480
# The time of a poster's frame, as a fraction of the clip: by then the action has left the rest pose
# that it starts from.
POSTER_MOMENT = 0.4

_FILTERS = {"action": "Action", "avatar": "Character", "background_config": "Background",
            "angle": "Angle"}
_FACTS = {"sample_id": "Sample", "plain_id": "Plain name", "take": "Take", "actor": "Actor",
          "labels": "Labels", "background_name": "Background", "render_config_name": "Config",
          "seed": "Seed", "shot_key": "Shot"}
_OUR_NAMES = re.compile(r"[0-9a-f]{20}\.jpg")


@dataclass(frozen=True)
class Shown:
    """A clip's row, and the address of its poster, which is None if the clip is absent or broken.
    """

    row: Row
    poster: str | None

    @cached_property
    def pair(self) -> PairFacts | None:
        """The minimal pair that the clip belongs to, or None."""
        return pair_of(self.row.permutation)

    @property
    def factor(self) -> str:
        """The factor in which the two clips of its pair differ; empty without a pair."""
        return self.pair.factor if self.pair else ""

    @property
    def value(self) -> str:
        """The clip's value of its pair's factor; empty without a pair."""
        return self.pair.value if self.pair else ""


def write_gallery(out: Path) -> Path:
    """Write ``out``/index.html and posters/*.jpg from ``out``/manifest.jsonl; return the page.

    Existing posters are kept; those of clips no longer in the manifest are removed. A lock lets one
    process at a time write the page, so that none removes posters that another's page shows.
    Processes that add rows wait for the page, but not for the posters, most of which are made
    before the lock is taken. Raises RequestError if there is no manifest, a line of it is not a
    row, or ``out`` cannot be written.
    """
    if not any(rows_of(out)):
        raise RequestError(f"{out}: has no manifest.jsonl with clips; run mimegen render first")
    sweep(out / "posters")
    _make_posters(out, read_manifest(out))
    page = out / "index.html"
    with locked(out / MANIFEST):
        rows = read_manifest(out)
        names = _make_posters(out, rows)
        _remove_posters(out, {*names})
        publish(page, _page(rows, [name and f"posters/{name}" for name in names]))
    return page


def _make_posters(out: Path, rows: Sequence[Row]) -> list[str | None]:
    """Make missing posters; return the names of all, None for clips that are absent or broken."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda row: _make_poster(out, out / "posters", row), rows))


def _remove_posters(out: Path, kept: Container[str | None]) -> None:
    for old in (out / "posters").glob("*.jpg"):
        if _OUR_NAMES.fullmatch(old.name) and old.name not in kept:
            old.unlink(missing_ok=True)


def _make_poster(out: Path, folder: Path, row: Row) -> str | None:
    identity = f"{row.sample_id} {row.sha256}"
    poster = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:20]}.jpg"
    if poster.exists():
        return poster.name
    try:
        clip = VideoFile(clip_path(out, row), row.frames, row.fps, row.width, row.height)
        picture = read_pictures(clip, [int(clip.frames * POSTER_MOMENT)], POSTER_WIDTH)[0]
    except RequestError:
        return None
    packed = io.BytesIO()
    Image.fromarray(picture).save(packed, "JPEG", quality=85)
    publish(poster, packed.getvalue())
    return poster.name


def _page(rows: Sequence[Row], posters: Sequence[str | None]) -> str:
    template = Template(Path(__file__).with_name("gallery.html").read_text(encoding="utf-8"))
    shown = [Shown(*pair) for pair in zip(rows, posters, strict=True)]
    actions = {row.action for row in rows}
    return template.substitute(
        title=f"{counted(len(rows), 'clip')}, {counted(len(actions), 'action')}",
        filters="".join(_filter(key, label, rows) for key, label in _FILTERS.items()),
        groups=_groups(shown),
    )


def _groups(shown: Sequence[Shown]) -> str:
    """Return HTML sections: one for each factor of minimal pairs, one for each action of others."""
    halves: dict[str, list[Shown]] = {}
    for one in shown:
        halves.setdefault(one.pair.id if one.pair else "", []).append(one)
    alone = halves.pop("", [])
    pairs: dict[str, list[str]] = {}
    for name in sorted(halves):
        both = sorted(halves[name], key=lambda one: (one.value, _place(one.row)))
        cards = "".join(map(_card, both))
        pairs.setdefault(both[0].factor, []).append(f'<div class="pair">{cards}</div>')
    groups: dict[str, list[str]] = {}
    for one in sorted(alone, key=lambda one: _place(one.row)):
        groups.setdefault(_text(one.row, "action"), []).append(_card(one))
    return "".join([*(_group(f"Pairs: {words(factor)}", pairs[factor]) for factor in sorted(pairs)),
                    *(_group(words(action), groups[action]) for action in sorted(groups))])


def _group(title: str, cards: Sequence[str]) -> str:
    return (f'<section><h2>{escape(title)}</h2>'
            f'<div class="cards">{"".join(cards)}</div></section>\n')


def _filter(key: str, label: str, rows: Sequence[Row]) -> str:
    counts: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: _order(getattr(row, key))):
        counts[_text(row, key)] = counts.get(_text(row, key), 0) + 1
    options = "".join(
        f'<option value="{escape(value)}">{escape(_shown(key, value))} ({count})</option>'
        for value, count in counts.items())
    return (f'<label>{label}<select name="{key}"><option value="">all</option>{options}'
            "</select></label>\n")


def _card(one: Shown) -> str:
    """Return one clip as HTML; everything from the manifest is escaped."""
    row, poster = one.row, one.poster
    source = escape(quote(row.file_name))
    data = "".join(f' data-{key.replace("_", "-")}="{escape(_text(row, key))}"'
                   for key in _FILTERS)
    name = _name(row)
    heading = _heading(one)
    if poster is None:
        screen = '<p class="absent">This clip is missing or broken; render it again.</p>'
    else:
        shape = f"{row.width} / {row.height}"
        label = escape(f"{words(_text(row, 'action'))}, {name}")
        screen = (f'<video src="{source}" poster="{escape(poster)}" preload="none" muted loop '
                  f'playsinline tabindex="0" style="aspect-ratio: {shape}" '
                  f'aria-label="{label}"></video>')
    facts = "".join(f"<dt>{label}</dt><dd>{escape(_text(row, key))}</dd>"
                    for key, label in _FACTS.items() if _text(row, key)) + _passes(row)
    return (
        f"<article{data}>{screen}{_timeline(row)}<h3>{escape(heading)}</h3><p>{escape(_size(row))}</p>"
        f"<p>{escape(_origin(row))}</p><details><summary>Facts</summary><dl>{facts}</dl>"
        f'<a href="{source}" download>Download</a></details></article>\n'
    )


def _heading(one: Shown) -> str:
    """Return a clip's heading, which tells it from the other clips of its pair or action."""
    if not one.pair:
        return _name(one.row)
    action = words(_text(one.row, "action"))
    value = "" if one.factor == "action" else f"{words(one.factor)}: {words(one.value)} · "
    return f"{value}{action} · {_name(one.row)}"


def _timeline(row: Row) -> str:
    """Return HTML with a scene's steps, and the objects held, as bars along the player's width."""
    if row.motion_kind != "scene":
        return ""
    length = row.frames / row.fps
    lanes = [(who, "step", outermost(one for one in row.timeline or [] if one.performer == who))
             for who in (PERFORMER, PARTNER)]
    lanes += [(who, "held", [one for one in row.timeline or []
                             if (one.kind, one.performer) == ("held", who)])
              for who in (PERFORMER, PARTNER)]
    return '<div class="timeline">' + "".join(
        f'<div class="{kind}">{"".join(_bar(one, length) for one in found)}</div>'
        for _, kind, found in sorted(lanes, key=lambda lane: lane[0], reverse=True) if found
    ) + '<i class="now"></i></div>'


def _bar(one: Interval, length: float) -> str:
    left, wide = (100 * float(value) / length for value in (one.start_s, one.end_s - one.start_s))
    label = escape(f"{one.name}, {one.start_s:.1f} to {one.end_s:.1f} s")
    return (f'<span style="left:{left:.2f}%;width:{wide:.2f}%" title="{label}">'
            f"{escape(one.name)}</span>")


def _passes(row: Row) -> str:
    """Return HTML links to the folders of a clip's ground truth."""
    links = ", ".join(f'<a href="{escape(quote(facts.folder))}/">{escape(kind)}</a>'
                      for kind, facts in (row.passes or {}).items())
    return f"<dt>Ground truth</dt><dd>{links}</dd>" if links else ""


def _name(row: Row) -> str:
    """Return a clip's name among those of its take: character, background and view."""
    if row.dot_count is not None:
        shown = _text(row, "variant").partition("@")[0].replace(":", " · ").replace("/", ", ")
        return words(f"{shown} · {_view(row)}")
    background = _text(row, "background_config")
    if background not in BACKGROUNDS:
        background = _text(row, "background_name")
    return words(f"{_text(row, 'avatar')} · {background} · {_view(row)}")


def _view(row: Row) -> str:
    """Return the view of a clip: a side of the performer, or the camera's angle in degrees."""
    angle = _text(row, "variant").rpartition("@")[2]
    return angle if angle[:1].isalpha() else f"{_text(row, 'angle')}°"


def _origin(row: Row) -> str:
    """Return the names of what a clip was made from: background, take, config and seed."""
    parts = [words(_text(row, key)) for key in ("background_name", "take", "render_config_name")]
    return ", ".join([*filter(None, parts), f"seed {_text(row, 'seed')}"])


def _place(row: Row) -> tuple[Any, ...]:
    """Return a sorting key that puts blank backgrounds first, and angles in order."""
    background = _text(row, "background_config")
    rank = BACKGROUNDS.index(background) if background in BACKGROUNDS else len(BACKGROUNDS)
    return (_text(row, "take"), _text(row, "render_config_name"), row.seed, rank,
            _text(row, "background_name"), _text(row, "avatar"), _order(row.angle))


def _size(row: Row) -> str:
    return f"{row.frames / row.fps:.1f} s · {row.fps:g} frames/s · {row.width}x{row.height}"


def _text(row: Row, key: str) -> str:
    value = getattr(row, key)
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(key: str, value: str) -> str:
    return f"{value}°" if key == "angle" else words(value)


def _order(value: Any) -> tuple[float, str]:
    return (value, "") if isinstance(value, int | float) else (0, str(value))
