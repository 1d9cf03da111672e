"""Pickles of arrays, dictionaries, lists and plain values, read without executing anything.

A pickle is a program for a stack machine (``pickletools`` in Python's library lists its
operations). Here it may only name functions and classes of a fixed list, which make plain data, and
each is replaced by a stand-in that only stores its arguments. Anything else is refused. Arrays that
joblib writes between the operations (``joblib/numpy_pickle.py``) and torch's storages
(``torch/serialization.py``) are read too: those in its zip files, and those in its files before
1.6, which a tensor that was pickled by itself also contains.
"""

import io
import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from mimegen.readers.arrays.inert import DamagedError, Inert, array_of, as_dtype, as_shape

ARRAYS = "numpy.core.multiarray", "numpy._core.multiarray"
NUMERIC = "numpy.core.numeric", "numpy._core.numeric"
# Allowed functions and classes, by module and name, with the name of their stand-in.
KNOWN: dict[tuple[str, str], str] = {
    **{(module, "_reconstruct"): "array" for module in ARRAYS},
    **{(module, "scalar"): "scalar" for module in ARRAYS},
    **{(module, "_frombuffer"): "frombuffer" for module in NUMERIC},
    ("numpy", "ndarray"): "ndarray", ("numpy", "dtype"): "dtype",
    ("numpy", "matrix"): "ndarray", ("numpy.matrixlib.defmatrix", "matrix"): "ndarray",
    ("numpy", "memmap"): "ndarray", ("numpy.memmap", "memmap"): "ndarray",
    ("numpy.core.memmap", "memmap"): "ndarray", ("numpy._core.memmap", "memmap"): "ndarray",
    **{("numpy", name): f"dtype:{code}" for name, code in
       (("float64", "f8"), ("float32", "f4"), ("float16", "f2"), ("int64", "i8"), ("int32", "i4"),
        ("int16", "i2"), ("int8", "i1"), ("uint8", "u1"), ("bool_", "b1"))},
    ("collections", "OrderedDict"): "dict", ("collections", "defaultdict"): "dict",
    ("builtins", "dict"): "dict", ("__builtin__", "dict"): "dict",
    ("builtins", "list"): "list", ("__builtin__", "list"): "list",
    ("builtins", "tuple"): "tuple", ("builtins", "set"): "list", ("builtins", "frozenset"): "list",
    ("__builtin__", "set"): "list", ("builtins", "float"): "plain", ("builtins", "int"): "plain",
    ("builtins", "str"): "plain", ("__builtin__", "str"): "plain",
    ("builtins", "bytes"): "plain", ("__builtin__", "unicode"): "plain",
    ("_codecs", "encode"): "encode",
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): "joblib",
    ("torch._utils", "_rebuild_tensor_v2"): "tensor", ("torch._utils", "_rebuild_tensor"): "tensor",
    ("torch._utils", "_rebuild_parameter"): "parameter", ("torch", "Size"): "tuple",
    ("torch.storage", "_load_from_bytes"): "packed",
    ("torch", "device"): "plain", ("torch.serialization", "_get_layout"): "plain",
    **{(module, kind): "plain" for module in ("pathlib", "pathlib._local")
       for kind in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")},
    # Objects in SMPL's own model files, beside plain arrays.
    ("chumpy.ch", "Ch"): "chumpy", ("chumpy.ch", "Add"): "chumpy",
    ("scipy.sparse.csc", "csc_matrix"): "sparse", ("scipy.sparse._csc", "csc_matrix"): "sparse",
    ("copy_reg", "_reconstructor"): "object", ("copyreg", "_reconstructor"): "object",
    ("__builtin__", "object"): "plain", ("builtins", "object"): "plain",
}
# bfloat16, the upper half of a float32, which NumPy does not have.
BRAIN = "bf2"
# Classes of torch's storages, and torch's dtypes -> NumPy's code of their numbers.
STORAGES = {"FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "LongStorage": "i8",
            "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1",
            "BoolStorage": "b1", "BFloat16Storage": BRAIN}
NUMBERS = {"float32": "f4", "float": "f4", "float64": "f8", "double": "f8", "float16": "f2",
           "half": "f2", "int64": "i8", "long": "i8", "int32": "i4", "int": "i4", "int16": "i2",
           "int8": "i1", "uint8": "u1", "bool": "b1", "bfloat16": BRAIN}
# Bytes of a storage's length, which comes before its numbers in torch's files before 1.6.
LENGTH = 8
# Pickles before the content of such a file: a magic number, its version, sizes of numbers.
BEFORE = 3
# Most values of a pickle. It stops short pickles that repeat one value a billion times.
MAX_NODES = 5_000_000
Storage = Callable[[str], bytes]


class CodeError(ValueError):
    """A pickle names code that is not allowed; ``what`` is its full name."""

    def __init__(self, what: str) -> None:
        plain = "".join(letter if letter.isprintable() else "?" for letter in what)
        super().__init__(plain)
        self.what = plain


def unpickled(data: bytes, storage: Storage | None = None) -> Any:
    """Return the dictionaries, lists, arrays and plain values of a pickle, and execute nothing.

    ``storage`` returns the bytes of a torch storage by its key. Raises CodeError if the pickle
    names anything that is not allowed, DamagedError if it is not a complete pickle.
    """
    try:
        return _plain(_Machine(io.BytesIO(data), storage).load(), {}, [0])
    except (CodeError, DamagedError):
        raise
    # On damaged pickles, the stack machine may raise any exception.
    except Exception as problem:
        raise DamagedError(str(problem).splitlines()[0][:120] if str(problem) else
                           type(problem).__name__) from None


def unpickled_old_torch(data: bytes) -> Any:
    """Return the content of a file of torch before 1.6, and execute nothing.

    Raises the same errors as ``unpickled``.
    """
    try:
        return _plain(_old_torch(data), {}, [0])
    except (CodeError, DamagedError):
        raise
    except Exception as problem:
        raise DamagedError(str(problem).splitlines()[0][:120] if str(problem) else
                           type(problem).__name__) from None


def _old_torch(data: bytes) -> Any:
    """Return the stand-ins of such a file, in which storages follow the pickle that uses them."""
    stream = io.BytesIO(data)
    for _ in range(BEFORE):
        _Machine(stream, None).load()
    held: dict[str, bytes] = {}
    machine = _Machine(stream, held.__getitem__)
    found = machine.load()
    keys = _Machine(stream, None).load()
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise DamagedError("a torch storage is missing")
    for key in keys:
        count = int.from_bytes(stream.read(LENGTH), "little")
        held[key] = stream.read(count * _width(machine.storages.get(key, "u1")))
    return found


def _width(kind: str) -> int:
    """Return the bytes of a number in a storage."""
    return 2 if kind == BRAIN else np.dtype(kind).itemsize


class _Stand:
    """A stand-in for a function or class that a pickle names: calling it makes plain data."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        if self.name == "dict":
            return _pairs(arguments[0]) if arguments else {}
        if self.name in ("list", "tuple"):
            return list(arguments[0]) if arguments and isinstance(arguments[0], list | tuple) \
                else []
        if self.name == "encode":
            text = arguments[0] if arguments else ""
            return text.encode("latin-1", errors="replace") if isinstance(text, str) else b""
        return Inert(self.name.partition(":")[0], arguments)


def _pairs(found: Any) -> dict[Any, Any]:
    """Return a dictionary from key and value pairs, which Python 2 wrote for ordered ones."""
    if not isinstance(found, list | tuple) or not all(
            isinstance(pair, list | tuple) and len(pair) == 2 for pair in found):
        return {}
    return dict(found)


class _Machine(pickle._Unpickler):
    """Python's own stack machine, restricted to finding, making and changing stand-ins."""

    def __init__(self, file: BinaryIO, storage: Storage | None) -> None:
        super().__init__(file, encoding="latin1")
        self._file = file
        self._storage = storage
        self.storages: dict[str, str] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of an allowed function or class. Raises CodeError for any other."""
        known = KNOWN.get((module, name))
        if known is not None:
            return _Stand(known)
        if module == "torch" and name in STORAGES:
            return _Stand(f"storage:{STORAGES[name]}")
        if module == "torch" and name in NUMBERS:
            return _Stand(f"storage:{NUMBERS[name]}")
        if module == "torch.storage" and name in ("UntypedStorage", "TypedStorage"):
            return _Stand("storage:u1")
        raise CodeError(f"{module}.{name}"[:120])

    def persistent_load(self, pid: Any) -> Any:
        """Return the stand-in of a torch storage. Raises DamagedError for anything else."""
        if not (isinstance(pid, tuple) and len(pid) >= 3 and pid[0] == "storage"
                and isinstance(pid[1], _Stand) and isinstance(pid[2], str)
                and self._storage is not None):
            raise DamagedError("a torch storage is missing")
        kind = pid[1].name.partition(":")[2]
        self.storages[pid[2]] = kind
        return Inert("storage", (kind, partial(self._storage, pid[2])))

    def get_extension(self, code: int) -> Any:
        """Raise CodeError: registered extensions are not allowed."""
        raise CodeError(f"copyreg extension {code}")

    def load_build(self) -> None:
        """Set the state of a stand-in; no ``__setstate__`` is called."""
        state = self.stack.pop()  # type: ignore[attr-defined]
        made = self.stack[-1]  # type: ignore[attr-defined]
        if isinstance(made, Inert):
            made.state = state
            if made.name == "joblib":
                self.stack[-1] = _joblib_array(self._file, state)  # type: ignore[attr-defined]
        elif isinstance(made, dict) and isinstance(state, dict):
            made.update(state)

    def load_reduce(self) -> None:
        """Call a stand-in; nothing else can be called."""
        arguments = self.stack.pop()  # type: ignore[attr-defined]
        called = self.stack[-1]  # type: ignore[attr-defined]
        if not isinstance(called, _Stand) or not isinstance(arguments, tuple):
            raise DamagedError("something that is not a function is called")
        self.stack[-1] = called(*arguments)  # type: ignore[attr-defined]

    def load_newobj(self) -> None:
        """Make a stand-in; no ``__new__`` is called."""
        self.load_reduce()

    def load_newobj_ex(self) -> None:
        """Make a stand-in, without the keyword arguments of its call."""
        self.stack.pop()  # type: ignore[attr-defined]
        self.load_reduce()

    def _instantiate(self, klass: Any, arguments: Any) -> None:
        if not isinstance(klass, _Stand):
            raise DamagedError("an object has no class")
        self.append(klass(*arguments))  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Any]] = {**pickle._Unpickler.dispatch}
    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex


def _joblib_array(file: BinaryIO, state: Any) -> Any:
    """Read the array that joblib wrote after its description ``state`` in the file."""
    if not isinstance(state, dict):
        raise DamagedError("an array has no shape")
    dtype, shape = as_dtype(state.get("dtype")), as_shape(state.get("shape"))
    if dtype.hasobject:
        # An array of objects follows as a pickle.
        return _Machine(file, None).load()
    if state.get("numpy_array_alignment_bytes") is not None:
        padding = file.read(1)
        file.read(padding[0] if padding else 0)
    count = math.prod(shape) * dtype.itemsize
    # At the end of the file, fewer bytes are returned, which ``array_of`` refuses.
    return array_of(file.read(count), dtype, shape, state.get("order") == "F")


def _plain(found: Any, done: dict[int, Any], count: list[int]) -> Any:
    """Replace the stand-ins in a pickle's content by arrays and values.

    ``done`` holds the results by id, for content that refers to itself; ``count`` counts values.
    """
    count[0] += 1
    if count[0] > MAX_NODES:
        raise DamagedError("it holds far more values than a motion has")
    if id(found) in done:
        return done[id(found)][1]
    if isinstance(found, dict):
        made: Any = {}
        done[id(found)] = (found, made)
        for key, value in found.items():
            key = _plain(key, done, count)
            if isinstance(key, str | int | float | bytes):
                made[key] = _plain(value, done, count)
        return made
    if isinstance(found, list | tuple | set | frozenset):
        made = []
        done[id(found)] = (found, made)
        made.extend(_plain(value, done, count) for value in found)
        return made
    if isinstance(found, Inert):
        made = _made(found, done, count)
        done[id(found)] = (found, made)
        return made
    if isinstance(found, np.ndarray) and found.dtype.hasobject:
        made = np.empty(found.shape, dtype=object)
        done[id(found)] = (found, made)
        for number, value in enumerate(found.ravel()):
            made.flat[number] = _plain(value, done, count)
        return made
    return None if isinstance(found, _Stand) else found


def _made(found: Inert, done: dict[int, Any], count: list[int]) -> Any:
    """Return the array or value that a stand-in represents, or None."""
    if found.name == "array":
        return _plain(_array(found.state), done, count) if found.state is not None else None
    if found.name == "frombuffer":
        data, dtype, shape, *order = found.arguments
        return array_of(_bytes(data), as_dtype(dtype), as_shape(shape), order[:1] == ["F"])
    if found.name == "scalar":
        return array_of(_bytes(found.arguments[1]), as_dtype(found.arguments[0]), (), False).item()
    if found.name == "tensor":
        return _tensor(*found.arguments[:4])
    if found.name == "parameter":
        return _plain(found.arguments[0], done, count)
    if found.name == "chumpy":
        state = _plain(found.state, done, count)
        return state.get("x") if isinstance(state, dict) else None
    if found.name == "sparse":
        return _dense(_plain(found.state, done, count))
    return None


def _bytes(found: Any) -> Any:
    """Return an object's first argument if it is a stand-in, otherwise the object itself."""
    if isinstance(found, Inert) and found.arguments:
        return found.arguments[0]
    return found


def _array(state: Any) -> NDArray[Any]:
    """Return the array of NumPy's pickled state: version, shape, dtype, Fortran order, data."""
    if not isinstance(state, tuple) or len(state) != 5:
        raise DamagedError("an array has no state")
    return array_of(_bytes(state[4]), as_dtype(state[2]), as_shape(state[1]), bool(state[3]))


def _tensor(storage: Any, offset: Any, size: Any, stride: Any) -> NDArray[Any]:
    """Return the array of a torch tensor, which is a window over a storage."""
    if isinstance(storage, Inert) and storage.name == "packed":
        # The storage of a tensor that was pickled by itself is a torch file of the old kind.
        storage = _old_torch(storage.arguments[0])
    if not (isinstance(storage, Inert) and storage.name == "storage" and isinstance(offset, int)):
        raise DamagedError("a tensor has no storage")
    shape, steps = as_shape(_bytes(size)), as_shape(_bytes(stride))
    values = _values(*storage.arguments)
    reach = offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if offset < 0 or (0 not in shape and reach >= len(values)):
        raise DamagedError("a tensor reaches beyond its storage")
    if math.prod(shape) > len(values):
        raise DamagedError("a tensor repeats its storage")
    width = values.itemsize
    return np.array(np.lib.stride_tricks.as_strided(
        values[offset:], shape, [step * width for step in steps]))


def _values(kind: str, data: Callable[[], bytes]) -> NDArray[Any]:
    """Return the numbers of a storage."""
    if kind == BRAIN:
        return (np.frombuffer(data(), "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(data(), np.dtype("<" + kind))


def _dense(state: Any) -> NDArray[Any] | None:
    """Return a sparse matrix (compressed columns) as an array: SMPL's joint regressor."""
    if not isinstance(state, dict) or not all(isinstance(state.get(key), np.ndarray)
                                              for key in ("data", "indices", "indptr")):
        return None
    rows, columns = as_shape(state.get("_shape", state.get("shape")))
    data, indices, starts = (state[key] for key in ("data", "indices", "indptr"))
    if rows * columns > 10_000_000 or len(starts) != columns + 1 or len(data) != len(indices) \
            or starts[0] != 0 or starts[-1] != len(data) or np.any(np.diff(starts) < 0) \
            or np.any((indices < 0) | (indices >= rows)):
        raise DamagedError("a sparse matrix is damaged")
    dense = np.zeros((rows, columns))
    dense[indices, np.repeat(np.arange(columns), np.diff(starts))] = data
    return dense
