"""Keys of code: modules with everything they import and the data they read.

Everything is read from the source text; nothing is imported. Docstrings, comments and formatting do
not change a key.
"""

import ast
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeGuard

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash, publish
from mimegen.base.paths import PACKAGE, data_files, data_folders, source_file


def code_key(*modules: str, without: Iterable[str] = ()) -> str:
    """Return one key for the code of these modules and all that it depends on.

    It covers the modules, all modules of this package that they import or name, anywhere in their
    text, and the data files that all these read. An import from a package leads to the module that
    defines the name. A string that is a module's name counts as an import, because processes are
    started by such names. Imports for type checkers alone do not count; neither do the modules
    ``without``, which are imported but never called, and what only they import.
    """
    return _code_key(modules, frozenset(without), data_folders())


@cache
def _code_key(modules: tuple[str, ...], without: frozenset[str],
              _folders: tuple[Path, ...]) -> str:
    sources = closure(*modules, without=without)
    patterns = sorted({pattern for source in sources.values() for pattern in source.data})
    data = [[(file.name, file_hash(file)) for file in data_files(name)] for name in patterns]
    return content_key([(name, source.digest) for name, source in sources.items()], patterns, data)


@dataclass
class ModuleFacts:
    """The facts about a module that keys need.

    ``digest`` is the hash of its code. ``imports`` are triples: the name in this module, the module
    it comes from, and its name there (None for the module itself). ``data`` are paths or patterns
    of data files.
    """

    digest: str = ""
    imports: list[tuple[str, str, str | None]] = field(default_factory=list)
    data: list[str] = field(default_factory=list)


def closure(*modules: str, without: Collection[str] = ()) -> dict[str, ModuleFacts]:
    """Return these modules and all that they depend on, by name, sorted; see ``code_key``."""
    found: dict[str, ModuleFacts] = {}
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module not in found and module not in without:
            found[module] = _source(module)
            waiting += [_definer(place, name) for _, place, name in found[module].imports]
    _keep_sources()
    return dict(sorted(found.items()))


def _definer(module: str, name: str | None) -> str:
    """Return the module that defines ``name``, imported from ``module``."""
    if name is None or source_file(module).name != "__init__.py":
        return module
    for bound, place, original in _source(module).imports:
        if bound == name:
            return _definer(place, original)
    return f"{module}.{name}" if _is_module(f"{module}.{name}") else module


def _is_module(name: str) -> bool:
    return name.startswith(f"{PACKAGE.name}.") and name.replace(".", "").isidentifier() \
        and source_file(name).is_file()


# Kinds of nodes that can name modules or data files.
_TELLING = (ast.Import, ast.ImportFrom, ast.Constant, ast.Call)


class _ImportReader:
    """Parses a module's text; ``source`` holds the imports and data found."""

    def __init__(self, text: bytes) -> None:
        self.source = ModuleFacts()
        self._parts: list[str] = []
        self._read(ast.parse(text))
        self.source.digest = sha256("\n".join(self._parts).encode()).hexdigest()

    def _read(self, node: ast.AST) -> None:
        """Add a node of the code, without docstrings and positions, to the digest's parts."""
        if isinstance(node, _TELLING):
            self._note(node)
        self._parts.append(type(node).__name__)
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                self._read(value)
            elif isinstance(value, list):
                self._read_all(value)
            else:
                self._parts.append(repr(value))

    def _read_all(self, nodes: list[Any]) -> None:
        """Add nodes to the digest's parts, without docstrings and code for type checkers."""
        self._parts.append("[")
        for node in nodes:
            if not isinstance(node, ast.AST):
                self._parts.append(repr(node))
            elif _is_for_type_checkers(node):
                self._read_all(node.orelse)
            elif not _is_docstring(node):
                self._read(node)
        self._parts.append("]")

    def _note(self, node: ast.AST) -> None:
        """Record what a node imports, names or reads."""
        match node:
            case ast.ImportFrom(module=str(module)) if _is_ours(module):
                self.source.imports += [(alias.asname or alias.name, module, alias.name)
                                        for alias in node.names]
            case ast.Import():
                self.source.imports += [(alias.asname or "", alias.name, None)
                                        for alias in node.names if _is_ours(alias.name)]
            case ast.Constant(value=str(text)) if _is_module(text):
                self.source.imports.append(("", text, None))
            case ast.Call(func=ast.Name(id="data_file" | "data_files"),
                          args=[ast.Constant(value=str(name))]):
                self.source.data.append(name)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) \
        and node.test.id == "TYPE_CHECKING"


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == PACKAGE.name


# Parsing all sources takes most of a second, so the facts are cached beside Python's bytecode, by
# module, with a hash of its text and of this module's text.
_fresh: dict[str, tuple[str, ModuleFacts]] = {}


@cache
def _source(module: str) -> ModuleFacts:
    """Return the facts about a module, cached until its text or this module's text changes."""
    text = source_file(module).read_bytes()
    stamp = sha256(Path(__file__).read_bytes() + text).hexdigest()
    kept_stamp, *kept = _kept_sources().get(module, ("",))
    if kept_stamp == stamp:
        return ModuleFacts(*kept)
    source = _ImportReader(text).source
    _fresh[module] = stamp, source
    return source


def _kept_file() -> Path:
    return Path(cache_from_source(str(PACKAGE / "__init__.py"))).with_suffix(".code.json")


@cache
def _kept_sources() -> dict[str, list[Any]]:
    try:
        kept: dict[str, list[Any]] = json.loads(_kept_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return kept


def _keep_sources() -> None:
    """Write newly found facts to the cache."""
    if not _fresh:
        return
    kept = _kept_sources()
    kept |= {module: [stamp, source.digest, source.imports, source.data]
             for module, (stamp, source) in _fresh.items()}
    with suppress(RequestError):
        publish(_kept_file(), json.dumps(kept))
    _fresh.clear()
