"""The same take, characters and backgrounds for both sides of a comparison."""

from collections.abc import Iterable
from pathlib import Path

import yaml
from PIL import Image

from mimegen.characters.character import Performance
from mimegen.choreography.reading import read_score
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.variants import CAST, Variant
from mimegen.shots.config import read_config


def shots_of(cells: Iterable[Variant]) -> list[tuple[str, float]]:
    """Return the characters and angles that variants need, each once."""
    pairs = ((CAST.get(cell.character, cell.character), cell.angle) for cell in cells)
    return list(dict.fromkeys(pairs))


def rate_for(action: str, frames: int) -> float:
    """Return the frame rate at which an action's first take has ``frames`` frames."""
    entry = Catalogue.with_libraries([]).action(action)
    # A thousandth less than a frame more, so that rounding cannot lose the last one.
    return round((frames - 0.999) / read_score(entry.take(None)).duration, 6)


def performed(action: str, character: str, frames: int) -> Performance:
    """Return an action's first take on a character, in ``frames`` evenly spaced frames."""
    catalogue = Catalogue.with_libraries([])
    take = library_take(catalogue.action(action), None, 0)
    casting = Casting(take, (cast_member(catalogue, character),))
    performance, = casting.perform(rate_for(action, frames))
    return performance


def library_of_pictures(folder: Path, action: str) -> Path:
    """Write a library in which the action's own backgrounds are plain pictures.

    Sets are mimegen's own; the paper's backgrounds are photographs.
    """
    entry = Catalogue.with_libraries([]).action(action).action
    backgrounds = folder / "backgrounds"
    backgrounds.mkdir(parents=True, exist_ok=True)
    picture = Image.linear_gradient("L").resize((1280, 720)).convert("RGB")
    for name in (entry.aligned_background, entry.misaligned_background):
        picture.save(backgrounds / f"{name}.png")
        (backgrounds / f"{name}.yaml").write_text(yaml.safe_dump({
            "name": name, "description": "a gradient in the place of a photograph",
            "licence": "CC0-1.0", "author": "made here", "source": "made here",
            "picture": {"file": f"{name}.png", "horizon": 0.3, "camera_height_m": 1.5,
                        "ground": [[0, 1], [1, 1], [1, 0.35], [0, 0.35]]},
        }))
    return folder


def config_with(name: str, fps: float, target: Path, width: int | None = None,
                height: int | None = None, samples: int | None = None) -> Path:
    """Write a render config of the library at another frame rate, and maybe size and samples."""
    content = read_config(Catalogue.with_libraries([]).file("config", name))
    values = content.model_dump(mode="json") | {"fps": fps}
    values |= {"width": width or content.width, "height": height or content.height}
    values["sampling"]["samples"] = samples or content.sampling.samples
    target.write_text(yaml.safe_dump(values))
    return target
