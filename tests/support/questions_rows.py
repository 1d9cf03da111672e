"""Manifest rows of 72 actions, as a render of all their takes in MIME's ten variants has them."""

from functools import cache
from pathlib import Path

from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.file import add_rows
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import Interval
from mimegen.plan.variants import MIME

# The library as it was when what tests count of it was worked out; it grows.
COUNTED = (Path(__file__).parents[1] / "data" / "counted_actions.txt").read_text().split()


def library_rows(variants: tuple[str, ...] = MIME, actions: tuple[str, ...] = ()) -> list[Row]:
    """One row for every take and variant, of some actions or of those that are counted on."""
    return [_row(entry.action.of_take(take), take, variant)
            for name, entry in Catalogue.with_libraries(()).actions.items()
            if name in (actions or COUNTED) for take in entry.takes for variant in variants]


def told_rows(seeds: tuple[int, ...] = (0,), variants: tuple[str, ...] = ("base+blank@0",),
              actions: tuple[str, ...] = ()) -> list[Row]:
    """The same with what happens in the takes that some seeds make."""
    return [_told(row, seed) for row in library_rows(variants, actions) for seed in seeds]


def _told(row: Row, seed: int) -> Row:
    timeline = _timeline(row.action, row.take, seed)
    sample = row.sample_id.replace("seed0", f"seed{seed}")
    end = max(one.end_s for one in timeline)
    return Row.model_validate(dict(row) | {
        "sample_id": sample, "file_name": f"clips/{sample}.mp4", "seed": seed,
        "frames": round(end * row.fps) + 1, "timeline": timeline})


@cache
def _timeline(action: str, take: str, seed: int) -> list[Interval]:
    found = library_take(Catalogue.with_libraries(()).action(action), take, seed).timeline
    assert found is not None
    return found


def written(out: Path, rows: list[Row]) -> Path:
    """A folder with these rows and no clip."""
    out.mkdir(exist_ok=True)
    add_rows(out, rows)
    return out


def _row(action, take: str, variant: str) -> Row:
    kind = variant.split("+")[1].split("@")[0]
    names = {"blank": "blank", "aligned": action.aligned_background,
             "misaligned": action.misaligned_background}
    sample = f"{action.id}-{take}-seed0-{variant}"
    return Row.model_validate({
        "sample_id": sample, "file_name": f"clips/{sample}.mp4", "action": action.id, "take": take,
        "actor": "choreography", "labels": list(action.labels), "avatar": "man",
        "config_name": variant, "semantic_group": action.semantic_group,
        "intentions": list(action.intentions), "background_config": kind,
        "background_name": names[kind], "seed": 0, "fps": 30, "frames": 90, "width": 64,
        "height": 36, "sha256": "0"})
