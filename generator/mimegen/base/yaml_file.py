"""Read YAML files as typed values, with errors that name the file, the line and the key."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mimegen.base.errors import RequestError, near_misses, shortened, with_given
from mimegen.base.file_signatures import refuse_foreign
from mimegen.base.yaml_cache import ItemLines, cached_yaml, item_lines, keep_yaml

# Limits beyond any file that a person writes; larger files are refused before they cost time or
# memory.
MAX_FILE_BYTES = 2 * 2**20  # bytes
MAX_NODES = 200_000  # keys, values and lists, with every alias expanded
DEEPEST = 100  # nested lists and mappings
# Characters of an error message about a file.
MAX_MESSAGE = 600
_ESCAPED_SURROGATE = re.compile(r"\\[uU](0000)?[dD][89a-fA-F]")
# PyYAML's C loader if it was built with it: eight times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Upper limit for the number of brackets plus twice the indentation in columns, far below what the
# parser's stack holds: a text below it cannot be nested too deeply.
SHALLOW_BELOW = 1000 if _LOADER is not yaml.SafeLoader else DEEPEST
_INDENTED = re.compile(r"^[ \t\-?:]+", re.M)
_TEXT = yaml.ScalarNode, "tag:yaml.org,2002:str"
_MAPPING = yaml.MappingNode, "tag:yaml.org,2002:map"
_SEQUENCE = yaml.SequenceNode, "tag:yaml.org,2002:seq"

Model = TypeVar("Model", bound=BaseModel)
Finite = Annotated[float, Field(allow_inf_nan=False)]
Vector = tuple[Finite, Finite, Finite]
Location = Sequence[int | str]


class Strict(BaseModel):
    """A part of a file in which unknown keys, NaN and infinity are errors."""

    # Half of a command's models are never used, so each is built on first use.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class YamlFile:
    """A YAML file's content, and the line of each part of it."""

    def __init__(self, path: Path) -> None:
        """Read ``path``. Raises RequestError if it is missing, invalid YAML or far too large."""
        self.path = path
        refuse_foreign(path)
        self._text = text_of(path)
        try:
            kept = cached_yaml(self._text)
            self.content, self._lines = kept or self._parsed()
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            line = f" line {mark.line + 1}:" if mark else ""
            what = getattr(problem, "problem", None) or "is not YAML"
            raise RequestError(f"{path}:{line} not valid YAML: {what}") from problem
        except ValueError as problem:
            raise RequestError(f"{path}: not valid YAML: {problem}") from problem
        if not isinstance(self.content, dict):
            raise RequestError(f"{path}: expected a mapping of keys at the top")

    def _parsed(self) -> tuple[Any, ItemLines]:
        """Parse the text, and cache its content for other processes."""
        root = self._root
        found = _content(self._text, root), item_lines(root)
        keep_yaml(self._text, *found)
        return found

    @cached_property
    def _root(self) -> yaml.Node | None:
        """The file's YAML nodes, parsed only if the content is not cached."""
        return _sane(self.path, self._text)

    def line(self, location: Location) -> int:
        """Return the line of the deepest part of ``location`` that exists in the file."""
        lines = self._lines.get("/".join(map(str, location[:-1])), ()) if location else ()
        if location and location[-1] in range(len(lines)):
            return lines[int(location[-1])]
        node, line = self._root, 1
        for step in location:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(step):
                        node, line = value, key.start_mark.line + 1
                        break
            elif isinstance(node, yaml.SequenceNode) and step in range(len(node.value)):
                node = node.value[int(step)]
                line = node.start_mark.line + 1
        return line

    def error(self, location: Location, message: str) -> RequestError:
        """Return an error that names the file, the line and the key."""
        keys = [str(step) for step in location if isinstance(step, str) and step != "[key]"]
        key = f" {' '.join(map(shortened, keys[-2:]))}:" if keys else ""
        return RequestError(f"{self.path}: line {self.line(location)}:{key}"
                            f" {shortened(message, MAX_MESSAGE)}")

    def parsed(self, model: type[Model], content: Any = None, known: Iterable[str] = ()) -> Model:
        """Return the file, or ``content`` made from it, as a ``model``.

        ``known`` are the words to suggest for an unknown key; by default, the keys allowed there.
        Raises RequestError for one error; an unknown key is reported before a missing one, which it
        may explain.
        """
        try:
            return model.model_validate(self.content if content is None else content)
        except ValidationError as problem:
            first = min(problem.errors(), key=lambda found: found["type"] != "extra_forbidden")
            location = first["loc"]
            message = first["msg"].removeprefix("Value error, ")
            if first["type"] == "extra_forbidden":
                words = known or _keys_at(model, location)
                message = f"unknown key{near_misses(str(location[-1]), words)}"
            elif first["type"] != "missing" and not isinstance(first["input"], dict):
                message = with_given(message, first["input"])
            raise self.error(location, message) from problem


def read_yaml(path: Path, model: type[Model]) -> Model:
    """Read a YAML file as a ``model``.

    Raises RequestError, ``path: line: key: message``, for the first error.
    """
    return YamlFile(path).parsed(model)


def read_yaml_once(path: Path, model: type[Model]) -> Model:
    """Read a YAML file that does not change while mimegen runs; the result is cached."""
    return cast(Model, _read_once(path, model))


@cache
def _read_once(path: Path, model: type[BaseModel]) -> BaseModel:
    return read_yaml(path, model)


def _keys_at(model: type[BaseModel], location: Location) -> Iterable[str]:
    """Return the keys that the model allows at the place of the last one of ``location``."""
    schema = model.model_json_schema()
    node = schema
    for step in location[:-1]:
        node = _step(schema, node, step)
    return [key for option in _options(schema, node) for key in option.get("properties", ())]


def _options(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the alternatives of a part of a JSON schema, with references resolved."""
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    inner = [_options(schema, option) for option in node.get("anyOf", ())]
    return [node, *(option for options in inner for option in options)]


def _step(schema: dict[str, Any], node: dict[str, Any], step: int | str) -> dict[str, Any]:
    """Return the part of a JSON schema that one step of a pydantic location leads to."""
    for option in _options(schema, node):
        tags = option.get("discriminator", {}).get("mapping", {})
        found: Any = option.get("properties", {}).get(step)
        if step in tags:
            found = {"$ref": tags[step]}
        elif isinstance(step, int):
            found = option.get("items")
        found = found or option.get("additionalProperties")
        if isinstance(found, dict):
            return found
    return {}


def text_of(path: Path) -> str:
    """Return a file's text, reading at most the size allowed for a YAML file.

    Raises RequestError if it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise RequestError(f"{path}: has more than {MAX_FILE_BYTES // 2**20} MiB; no text file"
                               " that mimegen reads is that large")
        return data.decode()
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: is not UTF-8 text") from problem


class _Loader(_LOADER):  # type: ignore[misc, valid-type]
    """PyYAML's safe loader with a cache of the types of plain texts."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        """Return the tag of a node without an explicit one."""
        if kind is yaml.ScalarNode and implicit[0] and value is not None:
            return _tag_of(value)
        return str(super().resolve(kind, value, implicit))


@lru_cache(maxsize=1 << 14)
def _tag_of(value: str) -> str:
    resolver: Any = yaml.resolver.Resolver()
    return str(resolver.resolve(yaml.ScalarNode, value, (True, False)))


def _sane(path: Path, text: str) -> yaml.Node | None:
    """Return a YAML text's nodes after checking that they are harmless to construct."""
    _refuse_depth(path, text)
    root: yaml.Node | None = _Loader(text).get_single_node()
    count = _refuse_doubles(path, root)
    if count > MAX_NODES or ("*" in text and "&" in text):
        _refuse_explosion(path, root)
    if _ESCAPED_SURROGATE.search(text):
        _refuse_surrogates(path, root)
    return root


def _content(text: str, root: yaml.Node | None) -> Any:
    """Return the content of checked nodes."""
    if root is None:
        return None
    loader = _Loader("")
    # Anchors and merge keys are left to PyYAML.
    if "&" in text or "<<" in text:
        return loader.construct_document(root)
    try:
        return _built(loader, root)
    except TypeError:  # a key that is a list or a mapping; PyYAML raises a better error
        return loader.construct_document(root)


def _built(loader: _Loader, node: yaml.Node) -> Any:
    """Return the content of a node without anchors, as PyYAML does but faster."""
    kind = type(node), node.tag
    if kind == _TEXT:
        return node.value
    if kind == _MAPPING:
        return {_built(loader, key): _built(loader, value) for key, value in node.value}
    if kind == _SEQUENCE:
        return [_built(loader, part) for part in node.value]
    return loader.construct_object(node, deep=True)


def _refuse_depth(path: Path, text: str) -> None:
    """Raise RequestError for a text nested too deeply for the parser's stack."""
    indented = max((len(found[0]) for found in _INDENTED.finditer(text)), default=0)
    if text.count("[") + text.count("{") + 2 * indented < SHALLOW_BELOW:
        return
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise _too_deep(path)


def _too_deep(path: Path) -> RequestError:
    return RequestError(f"{path}: is nested too deeply")


def _refuse_doubles(path: Path, root: yaml.Node | None) -> int:
    """Raise RequestError for duplicate keys; return the number of nodes."""
    count = 0
    for node in _nodes(path, root):
        count += 1
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in seen:
                        line = key.start_mark.line + 1
                        raise RequestError(f"{path}: line {line}: {key.value}: is given twice")
                    seen.add(key.value)
    return count


def holds_surrogates(text: str) -> bool:
    """Return whether a text has unpaired surrogates, which UTF-8 cannot encode."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _refuse_surrogates(path: Path, root: yaml.Node | None) -> None:
    """Raise RequestError for surrogates, as libyaml does; PyYAML's own parser accepts them."""
    for node in _nodes(path, root):
        if isinstance(node, yaml.ScalarNode) and holds_surrogates(node.value):
            raise RequestError(f"{path}: line {node.start_mark.line + 1}: contains half a character"
                               f" ({shortened(ascii(node.value))}), which is not valid Unicode")


def _nodes(path: Path, root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield every node once, in the order of the file, however many aliases refer to it.

    Raises RequestError for nodes nested too deeply.
    """
    waiting, seen = [(root, 0)] if root else [], set()
    while waiting:
        node, depth = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if depth > DEEPEST:
                raise _too_deep(path)
            waiting += [(part, depth + 1) for part in reversed(_inner(node))]


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _refuse_explosion(path: Path, root: yaml.Node | None) -> None:
    """Raise RequestError for aliases that expand to too many nodes, or contain themselves."""
    sizes: dict[int, float] = {}

    def size(node: yaml.Node) -> float:
        if id(node) not in sizes:
            # until it is known; a node that contains itself has no finite size
            sizes[id(node)] = math.inf
            sizes[id(node)] = 1 + sum(size(part) for part in _inner(node))
        return sizes[id(node)]

    if root is not None and size(root) > MAX_NODES:
        raise RequestError(f"{path}: its aliases (*name) stand for more than {MAX_NODES:,} keys"
                           " and values, or for themselves")


def read_description(path: Path) -> str:
    """Return the value of a file's key ``description``; empty if there is none.

    Raises RequestError as ``YamlFile``; the rest of the file is not checked.
    """
    return str(YamlFile(path).content.get("description", ""))
