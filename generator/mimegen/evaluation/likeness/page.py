"""A self-contained page of the nearest pairs of new and given clips, side by side."""

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path
from string import Template

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from mimegen.base.files import publish
from mimegen.evaluation.likeness.keyframes import ClipAppearance
from mimegen.evaluation.likeness.nearness import NearestPair, Nearness

# Most pairs that are shown.
MAX_PAIRS = 40
WITHIN = "#b3391f"
BETWEEN = "#2b6ca3"
NEW = "#3a3a3a"


def write_page(pairs: Sequence[NearestPair], redrawn: Sequence[NearestPair], nearness: Nearness,
               path: Path
               ) -> Path:
    """Write the page: distributions of distances, the nearest pairs, and the redrawn ones.

    Raises RequestError if it cannot be written.
    """
    template = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    nearest = sorted(pairs, key=lambda pair: pair.distance)
    publish(path, template.substitute(
        new=len(pairs), given=len(nearness.given), threshold=f"{nearness.threshold:.3f}",
        redrawn=len(redrawn), plot=_data(_plot(pairs, nearness)),
        shown=min(len(nearest), MAX_PAIRS), pairs="".join(map(_pair, nearest[:MAX_PAIRS])),
        again="".join(map(_pair, redrawn[:MAX_PAIRS])) or "<p>None was.</p>"))
    return path


def _pair(pair: NearestPair) -> str:
    return (f'<article><p><b>{pair.distance:.3f}</b></p>{_strip("new", pair.new)}'
            f'{_strip("given", pair.given)}</article>\n')


def _strip(word: str, look: ClipAppearance) -> str:
    """Return a clip's keyframes side by side as an HTML figure."""
    wide = Image.new("RGB", (sum(one.width for one in look.pictures), look.pictures[0].height))
    for number, picture in enumerate(look.pictures):
        wide.paste(picture, (number * picture.width, 0))
    packed = io.BytesIO()
    wide.save(packed, "jpeg", quality=80)
    name = html.escape(look.name)
    return (f'<figure><figcaption>{word}: {name}</figcaption>'
            f'<img alt="five frames of {name}"'
            f' src="data:image/jpeg;base64,{base64.b64encode(packed.getvalue()).decode()}">'
            "</figure>")


def _data(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def _plot(pairs: Sequence[NearestPair], nearness: Nearness) -> bytes:
    """Return a PNG of the distances to the nearest clip, for given and for new clips."""
    figure = Figure(figsize=(8, 3.2), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    new = np.array([pair.distance for pair in pairs])
    shown = [(nearness.within, "given, of one action", WITHIN, "-"),
             (nearness.between, "given, of different actions", BETWEEN, "--"),
             (new, "new to given", NEW, "-.")]
    for values, label, color, line in shown:
        kept = np.sort(values[~np.isnan(values)])
        if len(kept):
            axes.step([0, *kept], np.linspace(0, 1, len(kept) + 1), where="post", label=label,
                      color=color, linestyle=line, linewidth=1.8)
    axes.axvline(nearness.threshold, color="black", linewidth=1, linestyle=":")
    axes.annotate("too near ", (nearness.threshold, 0.97), ha="right", va="top")
    axes.set(xlabel="distance to the nearest clip (share of bits)", ylabel="share of clips",
             xlim=(0, None), ylim=(0, 1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper left", ncols=3)
    packed = io.BytesIO()
    figure.savefig(packed, format="png", metadata={"Software": None})
    return packed.getvalue()
