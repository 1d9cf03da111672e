"""Motion files of other tools, made after their public writers' code; none is a recording."""

import io
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

FPS = 30.0
FRAMES = 60
AWAY = np.array([0.0, 0.0, 4.0])


def walking(joints: int = 24, frames: int = FRAMES) -> dict[str, NDArray[Any]]:
    """A made walk in SMPL's parameters, Y up: legs and arms swing, the pelvis goes along Z."""
    phase = np.linspace(0, 4 * np.pi, frames)
    poses = np.zeros((frames, joints, 3))
    poses[:, 1, 0], poses[:, 2, 0] = 0.4 * np.sin(phase), -0.4 * np.sin(phase)
    poses[:, 4, 0], poses[:, 5, 0] = (0.5 + 0.4 * np.cos(phase), 0.5 - 0.4 * np.cos(phase))
    poses[:, 16, 2], poses[:, 17, 2] = -1.2, 1.2
    poses[:, 16, 0], poses[:, 17, 0] = -0.3 * np.sin(phase), 0.3 * np.sin(phase)
    place = np.zeros((frames, 3))
    place[:, 2] = np.linspace(0, 2.0, frames)
    place[:, 1] = 1.1
    return {"poses": poses.reshape(frames, -1), "trans": place, "betas": np.zeros(10)}


def in_camera(made: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The same in a camera's axes: Y down, 4 m away, tilted by 8 degrees."""
    turn = Rotation.from_euler("x", 172, degrees=True)
    poses = made["poses"].copy()
    poses[:, :3] = (turn * Rotation.from_rotvec(poses[:, :3])).as_rotvec()
    return made | {"poses": poses, "trans": turn.apply(made["trans"]) + AWAY}


def matrices(vectors: NDArray[Any]) -> NDArray[Any]:
    """Rotation vectors (F, 3 J) as matrices (F, J, 3, 3)."""
    found = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix()
    return np.asarray(found.reshape(len(vectors), -1, 3, 3))


def write_torch(path: Path, content: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a torch zip file of nested dictionaries whose arrays are tensors."""
    storages: list[bytes] = []

    def _rebuild_tensor_v2(*_: Any) -> None:
        raise AssertionError("only its name is written")

    class FloatStorage:
        pass

    for name, held in (("torch", FloatStorage), ("torch._utils", _rebuild_tensor_v2)):
        module = types.ModuleType(name)
        held.__module__, held.__qualname__ = name, held.__name__
        setattr(module, held.__name__, held)
        monkeypatch.setitem(sys.modules, name, module)

    class Storage:
        def __init__(self, data: NDArray[Any]) -> None:
            self.data = data

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            if not isinstance(obj, Storage):
                return None
            storages.append(np.ascontiguousarray(obj.data, "<f4").tobytes())
            return "storage", FloatStorage, str(len(storages) - 1), "cpu", obj.data.size

        def reducer_override(self, obj: Any) -> Any:
            if not isinstance(obj, np.ndarray):
                return NotImplemented
            steps = tuple(step // 4 for step in np.ascontiguousarray(obj, "<f4").strides)
            return _rebuild_tensor_v2, (Storage(obj), 0, obj.shape, steps, False, OrderedDict())

    program = io.BytesIO()
    Pickler(program, protocol=2).dump(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", program.getvalue())
        for number, data in enumerate(storages):
            archive.writestr(f"archive/data/{number}", data)
        archive.writestr("archive/version", "3\n")
    return path


def with_tensors(content: Any, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A pickle whose arrays are tensors that were pickled by themselves, as in NumPy's files.

    Each brings its storage as a file of torch before 1.6 (its ``_legacy_save``).
    """
    def _rebuild_tensor_v2(*_: Any) -> None:
        raise AssertionError("only its name is written")

    def _load_from_bytes(*_: Any) -> None:
        raise AssertionError("only its name is written")

    for name, made in (("torch._utils", _rebuild_tensor_v2), ("torch.storage", _load_from_bytes)):
        module = types.ModuleType(name)
        made.__module__, made.__qualname__ = name, made.__name__
        setattr(module, made.__name__, made)
        monkeypatch.setitem(sys.modules, name, module)

    class Pickler(pickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if not isinstance(obj, np.ndarray) or obj.dtype.kind != "f":
                return NotImplemented
            data = np.ascontiguousarray(obj, "<f4")
            steps = tuple(step // 4 for step in data.strides)
            return _rebuild_tensor_v2, (_Packed(old_torch(data, monkeypatch)), 0, obj.shape, steps,
                                        False, OrderedDict())

    class _Packed:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def __reduce__(self) -> Any:
            return _load_from_bytes, (self.data,)

    program = io.BytesIO()
    Pickler(program, protocol=4).dump(content)
    return program.getvalue()


def old_torch(data: NDArray[Any], monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A storage as torch before 1.6 saves it: three pickles, the content's, the keys, the bytes."""
    class FloatStorage:
        pass

    FloatStorage.__module__, FloatStorage.__qualname__ = "torch", "FloatStorage"
    module = types.ModuleType("torch")
    module.FloatStorage = FloatStorage  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", module)

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> Any:
            return ("storage", FloatStorage, "94", "cpu", data.size, None) if obj is data else None

    made = io.BytesIO()
    for before in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}):
        pickle.dump(before, made, protocol=2)
    Pickler(made, protocol=2).dump(data)
    pickle.dump(["94"], made, protocol=2)
    made.write(data.size.to_bytes(8, "little") + data.astype("<f4").tobytes())
    return made.getvalue()


def joints_of(file: str | Path) -> tuple[dict[str, NDArray[Any]], float]:
    """The places (F, 3) of a motion's joints by role, Z up, and its rate."""
    from mimegen.readers import read_motion

    recording = read_motion(Path(file))
    places = recording.motion.global_pose.positions
    index = recording.motion.skeleton.index
    return {role: places[:, index[name]] for role, name in recording.roles.items()}, \
        recording.motion.fps
