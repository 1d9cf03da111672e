"""A folder of point-light displays of every kind: joints, markers, characters and walkers."""

from pathlib import Path

import mimegen as mg
from running import invoke

DATA = Path(__file__).resolve().parents[1] / "data"
SMALL = ("--size", "64x64", "--fps", 10, "--duration", 0.4, "--formats", "none")
MARKERS = DATA / "z_up_stated.c3d"


def recording(folder: Path, name: str = "my_walk", seed: int = 0) -> Path:
    """Write a user's recording: a walk as BVH."""
    return Path(mg.take("walk", seed=seed).save(folder / f"{name}.bvh"))


def show(out: Path, *arguments: object) -> None:
    """Add displays to a folder by mimegen pointlight."""
    done = invoke("pointlight", *arguments, *SMALL, "--out", out)
    assert done.exit_code == 0, done.output


def displays_of_every_kind(out: Path, recorded: Path) -> None:
    """Make nine displays, of a user's files, of the library's actions and of walkers."""
    show(out, recorded, "--label", "walking", "--conditions", "upright,scrambled",
         "--azimuth", "0,90", "--dots-seed", 3, "--licence", "CC-BY-4.0")
    show(out, MARKERS, "--dots", "all_markers", "--label", "moving", "--licence", "CC0-1.0")
    show(out, "--walker", "--grid", "happy=-2,2")
    show(out, "--action", "boxing", "--seed", 2, "-m", "inverted")
    show(out, recorded, "--label", "walking", "--character", "woman", "--trim", "0.2:1.2",
         "--licence", "CC-BY-4.0")
