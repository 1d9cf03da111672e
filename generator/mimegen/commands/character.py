"""``mimegen character``: export bodies as meshes for other programs."""

from pathlib import Path

import click
import numpy as np

from mimegen.base.errors import RequestError
from mimegen.characters.character import Character, Performance
from mimegen.characters.posing import posed_meshes
from mimegen.commands.common import DONE, blender_option, exits_cleanly, library_option
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.body import triangles_of
from mimegen.rendering.opengl.looks import look_of
from mimegen.writers.mesh import ColoredMesh, write_meshes

REST = "rest"
# Frame rate at which a take is sampled for a pose.
POSE_FPS = 60.0


@click.group("character")
def character_command() -> None:
    """Export characters as meshes."""


@character_command.command("export")
@click.argument("name", metavar="NAME|FILE|random:SEED")
@click.option("--pose", default=REST, show_default=True, metavar="ACTION@SECONDS",
              help="Frame of an action's take, as in boxing@2.3s, or rest for the rest pose.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Random seed of the take.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="File to write: .glb, .stl, .obj or .ply.  [default: NAME.glb in the current"
                   " folder]")
@library_option
@blender_option
@exits_cleanly
def export_command(name: str, pose: str, seed: int, out: Path | None,
                   libraries: tuple[Path, ...]) -> int:
    """Write a character in one pose as a mesh in metres."""
    catalogue = Catalogue.with_libraries(libraries)
    member = cast_member(catalogue, name)
    if pose == REST:
        meshes = _resting(member.build())
    else:
        action, seconds = _moment(pose)
        take = library_take(catalogue.action(action), None, seed)
        casting = Casting(take, (member,) * take.performers)
        meshes = _posed(casting.perform(POSE_FPS)[0], seconds, pose)
    out = out or Path(f"{member.name}.glb")
    click.echo(f"{out}: {write_meshes(out, meshes)} triangles")
    return DONE


def _moment(pose: str) -> tuple[str, float]:
    action, at, moment = pose.rpartition("@")
    try:
        seconds = float(moment.removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if not at or not 0 <= seconds < float("inf"):
        raise RequestError(f"--pose {pose}: expected an action and a time, as in boxing@2.3s, or"
                           f" {REST}")
    return action, seconds


def _resting(character: Character) -> list[ColoredMesh]:
    return _meshes(character, [mesh.vertices for mesh in character.meshes])


def _posed(performance: Performance, seconds: float, pose: str) -> list[ColoredMesh]:
    """Return a performer's meshes at a time. Raises RequestError after the take's end."""
    motion, character = performance.motion, performance.character
    frame = round(seconds * motion.fps)
    if frame >= motion.frames:
        raise RequestError(f"--pose {pose}: the last frame of the take is at"
                           f" {motion.last_s:.2f} s; choose an earlier time")
    names = [motion.skeleton.index[name] for name in character.skeleton.names]
    at = motion.global_pose
    positions, rotations = at.positions[frame][names], at.rotations[frame][names]
    return _meshes(character, posed_meshes(character, positions, rotations))


def _meshes(character: Character, vertices: list[FloatArray]) -> list[ColoredMesh]:
    return [ColoredMesh(mesh.name, np.asarray(places, float), triangles_of(mesh.faces),
                        np.asarray(look_of(mesh, character.materials[mesh.material]).color, float))
            for mesh, places in zip(character.meshes, vertices, strict=True)]
