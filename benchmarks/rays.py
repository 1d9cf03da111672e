"""What rays to keypoints cost, by our own code and by trimesh.

    rays.py [--rounds 20]

The man stands as a take has him; rays go from a camera to 134 of his triangles' middles, as many
as keypoints are. Trimesh is given the posed triangles anew, as each frame has others, and asked for
what each ray meets first: with Embree where `embreex` is installed, and by itself (`rtree`).
Said are the least of processor times that take turns, and their median.
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.ray import ray_triangle

from mimegen.groundtruth.rays import first_hits
from mimegen.groundtruth.surface import PosedScene
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera

FRAME, RAYS, SLOW_ROUNDS = 20, 134, 2


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "draft"))
    casting = Casting(library_take(catalogue.action("basketball"), None, 0, None),
                      (cast_member(catalogue, "man"),))
    performances = casting.perform(config.fps)
    scene = PosedScene([Figure.of(each) for each in performances])
    camera = frame_camera(performances, config, 0.0)
    vertices, triangles = scene.vertices(FRAME).astype(float), scene.surface.triangles
    chosen = np.linspace(0, len(triangles) - 1, RAYS).astype(int)
    places = camera.project(vertices[triangles[chosen]].mean(axis=1))[:, :2]
    print(len(places), "rays,", len(triangles), "triangles,", len(vertices), "vertices")
    ways: dict[str, tuple[int, Callable[[], FloatArray]]] = {
        "own": (given.rounds, lambda: own(camera, vertices, triangles, places))}
    if find_spec("embreex"):
        ways["trimesh with embreex"] = (given.rounds, lambda: by_trimesh(
            import_module("trimesh.ray.ray_pyembree").RayMeshIntersector, camera, vertices,
            triangles, places))
    ways["trimesh alone"] = (SLOW_ROUNDS, lambda: by_trimesh(
        ray_triangle.RayMeshIntersector, camera, vertices, triangles, places))
    compared(ways)


def own(camera: Camera, vertices: FloatArray, triangles: NDArray[np.intp],
        places: FloatArray) -> FloatArray:
    """Return depths (N,) by `first_hits`."""
    return first_hits(camera.project(vertices), triangles, places).depth


def by_trimesh(kind: type, camera: Camera, vertices: FloatArray, triangles: NDArray[np.intp],
               places: FloatArray) -> FloatArray:
    """Return depths (N,) by one of trimesh's intersectors."""
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    rays = camera.rays(places)
    starts = np.tile(camera.position, (len(rays), 1))
    hits, ray, _ = kind(mesh).intersects_location(starts, rays, multiple_hits=False)
    depths = np.full(len(places), np.inf)
    np.minimum.at(depths, ray, camera.project(hits)[:, 2])
    return depths


def compared(ways: dict[str, tuple[int, Callable[[], FloatArray]]]) -> None:
    """Print what each way takes, and how far its depths are from the first's."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, FloatArray] = {}
    for turn in range(max(rounds for rounds, _ in ways.values())):
        for name, (rounds, way) in ways.items():
            if turn < rounds:
                start = time.process_time()
                found[name] = way()
                spent[name].append(time.process_time() - start)
    first = next(iter(found.values()))
    for name, depths in found.items():
        both = np.isfinite(first) & np.isfinite(depths)
        apart = np.abs(depths[both] - first[both]).max()
        print(f"{name}: {1000 * min(spent[name]):.0f} ms,"
              f" median {1000 * np.median(spent[name]):.0f}, hits {np.isfinite(depths).sum()},"
              f" apart {1000 * apart:.3f} mm")


if __name__ == "__main__":
    main()
