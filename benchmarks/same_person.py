"""How far the same person, the same take and the same frame differ between kinds of machines.

    python benchmarks/same_person.py [characters] [poses] [frames] [--only TEXT]

Everything is made in processes of their own: under the kernels that OpenBLAS has for several
CPUs, on one and two threads, without the vector units that numpy and libm choose by CPU, and with
noise of a picometre on every vertex that comes out of a file. What differs from the first is told.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
HERE = Path(__file__).resolve()
FIGURE = HERE.parents[1] / "tests" / "imported_figure.py"
NOISE_M = 1e-12
# What numpy and the C library choose by CPU: as found; without AVX512; without AVX2 and FMA too.
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
VECTORS: Mapping[str, dict[str, str]] = {
    "": {},
    "no AVX512": {"NPY_DISABLE_CPU_FEATURES": AVX512},
    "no AVX2": {"NPY_DISABLE_CPU_FEATURES": f"{AVX512} AVX2 FMA3",
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"},
}
# OpenBLAS' core, threads, vector units, seed of the noise (0 for none).
MACHINES = (
    ("Haswell", 2, "", 0), ("Haswell", 1, "", 0), ("SkylakeX", 2, "", 0), ("SkylakeX", 1, "", 0),
    ("Nehalem", 2, "", 0), ("Prescott", 1, "", 0), ("Zen", 2, "", 0),
    ("Haswell", 2, "no AVX512", 0), ("Prescott", 1, "no AVX2", 0),
    ("Haswell", 2, "", 1), ("SkylakeX", 1, "", 2), ("Prescott", 1, "no AVX2", 3),
)
CHARACTERS = ("man", "woman", "spacesuit", *(f"random:{seed}" for seed in range(10)), "imported")


def main() -> None:
    """Make everything on every machine and tell what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["characters", "poses"])
    parser.add_argument("--only", default="", help="only these names, apart by commas")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--figure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--noise", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(given.what[0], given.only, given.figure, given.noise, given.make)
        return
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, str(FIGURE), scratch], check=True, capture_output=True)
        for what in given.what:
            compare(what, given.only, Path(scratch))


def compare(what: str, only: str, scratch: Path) -> None:
    """Print how far every machine's results are from the first one's."""
    first: Arrays | None = None
    for core, threads, vectors, noise in MACHINES:
        target = scratch / "made.npz"
        environment = {**os.environ, "OPENBLAS_CORETYPE": core,
                       "OPENBLAS_NUM_THREADS": str(threads), **VECTORS[vectors]}
        subprocess.run(
            [sys.executable, str(HERE), what, "--only", only, "--make", str(target), "--figure",
             str(scratch / "company.glb"), "--noise", str(noise)],
            check=True, env=environment)
        with np.load(target) as made:
            found = dict(made)
        print(f"{what}: {core}, {threads} threads{', ' if vectors else ''}{vectors}"
              f"{f', noise {noise}' if noise else ''}")
        if first is None:
            first = found
        else:
            print("\n".join(differences(first, found)) or "    equal", flush=True)


def differences(first: Arrays, second: Arrays) -> Iterator[str]:
    """Yield a line for every array that differs."""
    if set(first) != set(second):
        yield f"    other parts: {sorted(set(first) ^ set(second))[:5]}"
    for name in sorted(set(first) & set(second)):
        a, b = first[name], second[name]
        if a.shape != b.shape:
            yield f"    {name}: {a.shape} against {b.shape}"
        elif not np.array_equal(a, b):
            far = "" if a.dtype.kind == "U" else f", at most {np.abs(a * 1.0 - b).max():.1e}"
            yield f"    {name}: {np.count_nonzero(a != b)} of {a.size} differ{far}"


def make(what: str, only: str, figure: Path, noise: int, target: Path) -> None:
    """Be one machine: write what it makes."""
    if noise:
        make_noisy(noise)
    makers = {"characters": characters, "poses": poses}
    np.savez(target, **dict(makers[what](only, figure)))


def make_noisy(seed: int) -> None:
    """Let every vertex and joint that is read from a file be off by up to a picometre."""
    from mimegen.characters.bake import Bake
    from mimegen.characters.imported import importing

    def shaken(points: NDArray[Any]) -> NDArray[Any]:
        draws = np.random.default_rng([seed, points.size])
        return np.asarray(points + draws.uniform(-NOISE_M, NOISE_M, points.shape))

    true_points, true_rigged = Bake.points, importing.read_rigged

    def rigged(path: Path, cache: Path | None = None) -> Any:
        answer = true_rigged(path, cache)
        for name, array in answer.arrays.items():
            if name.endswith(("_vertices", "heads", "tails")) and array.dtype.kind == "f":
                answer.arrays[name] = shaken(array)
        return answer

    Bake.points = lambda self, strengths: shaken(true_points(self, strengths))  # type: ignore
    importing.read_rigged = rigged


def characters(only: str, figure: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield everything that is seen of every character."""
    for name in CHARACTERS:
        if not only or name in only.split(","):
            character = character_named(name, figure)
            for part, array in parts_of(character):
                yield f"{name} {part}", array


def character_named(name: str, figure: Path) -> Any:
    """Build or import a character."""
    from mimegen.base.paths import data_folder
    from mimegen.characters.build import build_character
    from mimegen.characters.imported.importing import import_character
    from mimegen.characters.sampling import sample_character
    from mimegen.characters.spec import read_character

    if name == "imported":
        return import_character(figure)
    if name.startswith("random:"):
        return build_character(sample_character(int(name.removeprefix("random:"))))
    return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))


def parts_of(character: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield vertices, weights, normals and so on of a character."""
    from mimegen.characters.surface import vertex_normals

    yield "heads", character.skeleton.heads
    yield "tails", character.skeleton.tails
    yield "materials", np.array([repr(vars(each)) for each in character.materials.values()])
    yield "fingerprint", np.array(character.fingerprint)
    for mesh in character.meshes:
        for field in ("vertices", "faces", "joints", "weights", "uvs"):
            if getattr(mesh, field) is not None:
                yield f"{mesh.name} {field}", getattr(mesh, field)
        yield f"{mesh.name} normals", vertex_normals(mesh.vertices, mesh.faces)
        for name, values in mesh.attributes.items():
            yield f"{mesh.name} attribute {name}", values


def poses(only: str, figure: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the motions of all scores, and the poses of the people who perform them."""
    from mimegen.base.paths import data_folder
    from mimegen.choreography.perform import perform_scene
    from mimegen.choreography.score import read_score
    from mimegen.retarget import retarget_scene

    cast = [character_named(name, figure) for name in ("man", "woman")]
    for file in sorted((data_folder() / "mocap").glob("*/*.score.yaml")):
        if only and file.name.removesuffix(".score.yaml") not in only.split(","):
            continue
        scene = perform_scene(read_score(file), 0, 30.0)
        performed = retarget_scene([(motion, None) for motion in scene], cast[:len(scene)])
        for own, (motion, performance) in enumerate(zip(scene, performed, strict=True)):
            pose = performance.motion.global_pose
            yield f"{file.stem} {own} motion rotations", motion.rotations
            yield f"{file.stem} {own} motion root", motion.root_positions
            yield f"{file.stem} {own} pose rotations", pose.rotations
            yield f"{file.stem} {own} pose positions", pose.positions


if __name__ == "__main__":
    main()
