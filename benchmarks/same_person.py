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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
HERE = Path(__file__).resolve()
FIGURE = HERE.parents[1] / "tests" / "support" / "imported_figure.py"
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
CHARACTERS = ("man", "woman", "spacesuit", *(f"random:{seed}" for seed in range(24)), "imported")


def main() -> None:
    """Make everything on every machine and tell what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["characters", "poses"])
    parser.add_argument("--only", default="",
                        help="only these names, or mocap files, apart by commas")
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
    makers = {"characters": characters, "poses": poses, "frames": frames}
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

    Bake.points = lambda *given: shaken(true_points(*given))  # type: ignore
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
    """Yield the motions of scores and mocap files, and the poses of who performs them at 30 fps."""
    from mimegen.retarget.performing import performed

    cast = [character_named(name, figure) for name in ("man", "woman")]
    for file in motion_files(only.split(",") if only else []):
        sources = sources_of(file)
        scene = performed(sources, cast[:len(sources)], 30.0, "relaxed")
        for own, ((motion, _), performance) in enumerate(zip(sources, scene, strict=True)):
            pose = performance.motion.global_pose
            yield f"{file.stem} {own} motion rotations", motion.rotations
            yield f"{file.stem} {own} motion root", motion.root_positions
            yield f"{file.stem} {own} pose rotations", pose.rotations
            yield f"{file.stem} {own} pose positions", pose.positions


def motion_files(names: Sequence[str]) -> list[Path]:
    """Return the files that are named, and the scores of these names; all scores without names."""
    from mimegen.base.paths import data_folder

    scores = sorted((data_folder() / "mocap").glob("*/*.score.yaml"))
    if not names:
        return scores
    files = [Path(name) for name in names if Path(name).is_file()]
    return files + [score for score in scores if score.name.removesuffix(".score.yaml") in names]


def sources_of(file: Path) -> list[Any]:
    """Return the performers' motions of a score or a mocap file, and their joints by role."""
    from mimegen.choreography.perform import perform_scene
    from mimegen.choreography.reading import read_score
    from mimegen.readers import read_motion

    if file.name.endswith(".score.yaml"):
        return [(motion, None) for motion in perform_scene(read_score(file), 0, 30.0)]
    recording = read_motion(file)
    return [(recording.motion, recording.roles)]


def frames(only: str, figure: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield two frames of each take, rendered small by Blender on the CPU, and its camera."""
    for action in (only or "deadlift").split(","):
        with tempfile.TemporaryDirectory() as folder:
            yield from frames_of(action, Path(folder))


def frames_of(action: str, folder: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Render two frames of an action's first take with everything in a store of its own."""
    from mimegen.base.paths import data_folder
    from mimegen.library.cast import cast_member
    from mimegen.library.casting import Casting
    from mimegen.library.catalogue import Catalogue
    from mimegen.library.figures import published_figures
    from mimegen.library.takes import library_take
    from mimegen.shots.config import RenderConfig, read_config
    from mimegen.shots.framing import frame_camera
    from mimegen.shots.jobs import ShotJob
    from mimegen.store.frames import frame_name, read_frame
    from mimegen.store.store import Store

    catalogue, store = Catalogue.with_libraries(()), Store(folder)
    preview = read_config(data_folder() / "render_configs" / "preview.yaml").model_dump()
    config = RenderConfig.model_validate(preview | {"width": 128, "height": 72, "fps": 4})
    take = library_take(catalogue.action(action), None, 0)
    cast = ("man", "woman")[:take.performers]
    casting = Casting(take, tuple(cast_member(catalogue, name) for name in cast))
    scene = casting.perform(config.fps, store)
    camera = frame_camera(scene, config, 0.0)
    yield f"{action} camera", np.array([*camera.position, *camera.rotation])
    missing = np.zeros((scene[0].motion.frames, 1), np.bool_)
    missing[[len(missing) // 3, len(missing) * 2 // 3]] = True
    job = ShotJob(published_figures(casting, config.fps, store), (camera,), config,
                  (folder / "shot",), missing)
    carry_out(job)
    for number in np.flatnonzero(missing):
        frame = read_frame(job.folders[0] / frame_name(int(number)))
        yield f"{action} frame {number} figure", frame.figure
        yield f"{action} frame {number} shadow", frame.shadow
        yield f"{action} frame {number} bytes", np.frombuffer(
            (job.folders[0] / frame_name(int(number))).read_bytes(), np.uint8)


def carry_out(job: Any) -> None:
    """Let a Blender process do a job. Raises RuntimeError where it fails."""
    from mimegen.rendering.worker import StageWorker
    from mimegen.shots.jobs import JobDone, JobFailed

    worker = StageWorker("cpu", 1)
    try:
        worker.submit(job)
        while not isinstance(heard := worker.connection.recv(), JobDone):
            if isinstance(heard, JobFailed):
                raise RuntimeError(heard.message)
    finally:
        worker.kill()


if __name__ == "__main__":
    main()
