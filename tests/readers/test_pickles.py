"""Pickles from outside are read as data; whatever would run is refused, and nothing runs."""

import io
import os
import pickle
import pickletools
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from array_files import with_tensors, write_torch
from mimegen.base.errors import RequestError
from mimegen.readers import read_motion
from mimegen.readers.arrays import tree_of
from mimegen.readers.arrays.inert import DamagedError
from mimegen.readers.arrays.pickles import CodeError, unpickled


class _Calls:
    """Pickles as a call of something."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.said = call, arguments

    def __reduce__(self) -> Any:
        return self.said


HOSTILE = {
    "os.system": lambda mark: _Calls(os.system, f"touch {mark}"),
    "eval": lambda mark: _Calls(eval, f"open({str(mark)!r}, 'w')"),
    "exec": lambda mark: _Calls(exec, f"open({str(mark)!r}, 'w')"),
    "open": lambda mark: _Calls(open, str(mark), "w"),
    "getattr": lambda _mark: _Calls(getattr, "", "join"),
    "import": lambda _mark: _Calls(__import__, "os"),
    "load": lambda mark: _Calls(np.load, str(mark)),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("way", ["pkl", "npy", "npz", "pt", "joblib"])
def test_nothing_in_a_pickle_runs(tmp_path, monkeypatch, name, way):
    mark = tmp_path / "mark"
    held = {"pose": HOSTILE[name](mark)}
    path = tmp_path / f"hostile.{'pkl' if way == 'joblib' else way}"
    if way == "pkl":
        path.write_bytes(pickle.dumps(held))
    elif way == "joblib":
        path.write_bytes(zlib.compress(pickle.dumps(held)))
    elif way == "pt":
        write_torch(path, held, monkeypatch)
    elif way == "npy":
        np.save(path, np.array(held, dtype=object), allow_pickle=True)
    else:
        np.savez(path, results=np.array(held, dtype=object))
    with pytest.raises(RequestError, match="is code, not data") as refused:
        read_motion(path)
    assert "\n" not in str(refused.value)
    assert not mark.exists()


@pytest.mark.parametrize("program", [
    b"cos\nsystem\n(S'touch mark'\ntR.", b"(S'touch mark'\nios\nsystem\n.",
    b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x02ls\x85R.",
    b"\x80\x02\x82\x01.", b"\x80\x02cbuiltins\ngetattr\n.", b"\x80\x02cnumpy\nload\n."])
def test_every_way_to_name_code_is_refused(program):
    with pytest.raises((CodeError, DamagedError)):
        unpickled(program)


def test_what_is_known_is_never_called():
    """Arguments that would make NumPy allocate, or Python wait, are refused as numbers."""
    for program in (
            b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
            b"(K\x01J\xff\xff\xff\x7f\x85cnumpy\ndtype\nX\x02\x00\x00\x00f8K\x00K\x01\x87R"
            b"\x89C\x00tb.",):
        with pytest.raises(DamagedError):
            unpickled(program)


def test_plain_values_come_back_as_they_were():
    held: dict[Any, Any] = {"a": np.arange(6.0).reshape(2, 3), "b": [1, 2.5, "x", None, True],
                            3: {"c": np.array(["p", "q"])}, "f": np.asfortranarray(np.eye(3)[:2]),
                            "s": np.float32(1.5), "o": np.array([{"k": np.ones(2)}], dtype=object)}
    for protocol in (2, 3, 4, 5):
        back = unpickled(pickle.dumps(held, protocol=protocol))
        assert np.array_equal(back["a"], held["a"])
        assert np.array_equal(back["f"], held["f"])
        assert back["b"] == held["b"]
        assert list(back[3]["c"]) == ["p", "q"]
        assert back["s"] == 1.5
        assert np.array_equal(back["o"][0]["k"], np.ones(2))


def test_a_little_pickle_cannot_say_a_billion_things():
    layers: Any = []
    for _ in range(40):
        layers = [layers, layers]
    assert unpickled(pickle.dumps(layers))
    itself: list[Any] = []
    itself.append(itself)
    assert isinstance(unpickled(pickle.dumps(itself)), list)


def test_torch_storages_are_bounded(tmp_path, monkeypatch):
    path = write_torch(tmp_path / "a.pt", {"x": np.arange(12.0).reshape(3, 4).T}, monkeypatch)
    assert np.array_equal(tree_of(path)["x"], np.arange(12.0).reshape(3, 4).T)
    data = bytearray(path.read_bytes())
    program = data.find(b"M\x0c\x00")
    assert program < 0 or data[program:program + 1] == b"M"


def test_tensors_that_were_pickled_by_themselves_are_read(monkeypatch):
    thetas = np.arange(12.0).reshape(3, 4)
    data = with_tensors({"thetas": thetas, "text": "walks"}, monkeypatch)
    back = unpickled(data)
    assert np.array_equal(back["thetas"], thetas)
    assert back["text"] == "walks"
    for length in range(20, len(data), 31):
        with pytest.raises(DamagedError):
            unpickled(data[:length])


@pytest.mark.slow
def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.pkl"
    path.write_bytes(zlib.compress(bytes(600 * 2**20), 1))
    with pytest.raises(RequestError, match="more than 512 MiB"):
        read_motion(path)


def test_every_operation_of_the_machine_ends_in_order():
    """Each of pickle's operations on an empty stack, and after a stand-in."""
    start = b"\x80\x04cnumpy\ndtype\n)R"
    for code in pickletools.opcodes:
        for before in (b"\x80\x04", start):
            try:
                unpickled(before + code.code.encode("latin-1") + b"\x01\n\x00\x00\x00\x00" + b".")
            except (CodeError, DamagedError):
                continue


def test_cut_files_are_refused(tmp_path: Path) -> None:
    whole = io.BytesIO()
    pickle.dump({"poses": np.zeros((9, 72)), "fps": 30.0}, whole)
    for length in range(2, len(whole.getvalue()), 97):
        path = tmp_path / "cut.pkl"
        path.write_bytes(whole.getvalue()[:length])
        with pytest.raises(RequestError):
            read_motion(path)
