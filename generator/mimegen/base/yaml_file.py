"""YAML files as typed values, with errors that name the file, the line and the key."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mimegen.base.errors import RequestError, near_misses, shortened, with_given
from mimegen.base.foreign import refuse_foreign
from mimegen.base.kept_yaml import ItemLines, item_lines, keep_yaml, kept_yaml

# Larger than any that a person writes; what is refused costs neither time nor memory.
LARGEST = 2 * 2**20  # bytes
MOST_NODES = 200_000  # keys, values and lists, every alias written out
DEEPEST = 100  # lists and mappings within one another
# Of what an error says of a file, in characters.
LONGEST_MESSAGE = 600
_ESCAPED_SURROGATE = re.compile(r"\\[uU](0000)?[dD][89a-fA-F]")
# In C where PyYAML was built with it: eight times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Of brackets and twice the columns that lines are indented by, far below what the parser's stack
# holds: no text with fewer is nested more deeply.
SURELY_SHALLOW = 1000 if _LOADER is not yaml.SafeLoader else DEEPEST
_INDENTED = re.compile(r"^[ \t\-?:]+", re.M)
_TEXT = yaml.ScalarNode, "tag:yaml.org,2002:str"
_MAPPING = yaml.MappingNode, "tag:yaml.org,2002:map"
_SEQUENCE = yaml.SequenceNode, "tag:yaml.org,2002:seq"

Model = TypeVar("Model", bound=BaseModel)
Finite = Annotated[float, Field(allow_inf_nan=False)]
Vector = tuple[Finite, Finite, Finite]
Location = Sequence[int | str]


class Strict(BaseModel):
    """A part of a file in which a misspelt key is an error, and so is a number without end."""

    # Half of the models of a command are never asked: none is made ready before it is.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class YamlFile:
    """A YAML file's content, and where in the file each part of it stands."""

    def __init__(self, path: Path) -> None:
        """Read ``path``; raises RequestError where it is missing, not YAML or far too large."""
        self.path = path
        refuse_foreign(path)
        self._text = text_of(path)
        try:
            kept = kept_yaml(self._text)
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
        """Parse the text, and keep what it holds for other processes."""
        root = self._root
        found = _content(self._text, root), item_lines(root)
        keep_yaml(self._text, *found)
        return found

    @cached_property
    def _root(self) -> yaml.Node | None:
        """The file's nodes, which are looked at where its content is not known yet."""
        return _sane(self.path, self._text)

    def line(self, location: Location) -> int:
        """Return the line of the deepest part of ``location`` that stands in the file."""
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
                            f" {shortened(message, LONGEST_MESSAGE)}")

    def parsed(self, model: type[Model], content: Any = None, known: Iterable[str] = ()) -> Model:
        """Return the file, or ``content`` made from it, as a ``model``.

        ``known`` are the words to suggest for an unknown key; without them, those of its place.
        Raises RequestError for one thing that is wrong; an unknown key explains a missing one.
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

    Raises RequestError, ``path: line: key: message``, for the first thing that is wrong.
    """
    return YamlFile(path).parsed(model)


def read_yaml_once(path: Path, model: type[Model]) -> Model:
    """Read a YAML file that stays as it is while mimegen runs; a later call returns the same."""
    return cast(Model, _read_once(path, model))


@cache
def _read_once(path: Path, model: type[BaseModel]) -> BaseModel:
    return read_yaml(path, model)


def _keys_at(model: type[BaseModel], location: Location) -> Iterable[str]:
    """Return the keys that the model allows beside the last one of ``location``."""
    schema = model.model_json_schema()
    node = schema
    for step in location[:-1]:
        node = _step(schema, node, step)
    return [key for option in _options(schema, node) for key in option.get("properties", ())]


def _options(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a part of a JSON schema may be, references followed."""
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
    """Return a file's text, of which no more is read than a YAML file may have.

    Raises RequestError where it cannot be read, is larger, or is no UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise RequestError(f"{path}: has more than {LARGEST // 2**20} MiB; no text file that"
                               " mimegen reads is that large")
        return data.decode()
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: is not UTF-8 text") from problem


class _Loader(_LOADER):  # type: ignore[misc, valid-type]
    """PyYAML's safe loader, which asks but once what kind of value a plain text is."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        """Return the tag of a node that has none of its own."""
        if kind is yaml.ScalarNode and implicit[0] and value is not None:
            return _tag_of(value)
        return str(super().resolve(kind, value, implicit))


@lru_cache(maxsize=1 << 14)
def _tag_of(value: str) -> str:
    resolver: Any = yaml.resolver.Resolver()
    return str(resolver.resolve(yaml.ScalarNode, value, (True, False)))


def _sane(path: Path, text: str) -> yaml.Node | None:
    """Return a YAML text's nodes, of which content can be made without harm."""
    _refuse_depth(path, text)
    root: yaml.Node | None = _Loader(text).get_single_node()
    count = _refuse_doubles(path, root)
    if count > MOST_NODES or ("*" in text and "&" in text):
        _refuse_explosion(path, root)
    if _ESCAPED_SURROGATE.search(text):
        _refuse_surrogates(path, root)
    return root


def _content(text: str, root: yaml.Node | None) -> Any:
    """Return what sane nodes hold."""
    if root is None:
        return None
    loader = _Loader("")
    # What anchors name, and what is merged, is PyYAML's own matter.
    if "&" in text or "<<" in text:
        return loader.construct_document(root)
    try:
        return _built(loader, root)
    except TypeError:  # a key that is a list or a mapping, of which PyYAML says more
        return loader.construct_document(root)


def _built(loader: _Loader, node: yaml.Node) -> Any:
    """Return what a node holds, which has no anchors in it, as PyYAML does and faster."""
    kind = type(node), node.tag
    if kind == _TEXT:
        return node.value
    if kind == _MAPPING:
        return {_built(loader, key): _built(loader, value) for key, value in node.value}
    if kind == _SEQUENCE:
        return [_built(loader, part) for part in node.value]
    return loader.construct_object(node, deep=True)


def _refuse_depth(path: Path, text: str) -> None:
    """Refuse what is nested so deeply that the parser's own stack would not hold it."""
    indented = max((len(found[0]) for found in _INDENTED.finditer(text)), default=0)
    if text.count("[") + text.count("{") + 2 * indented < SURELY_SHALLOW:
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
    """Refuse keys that are given twice; return how many nodes there are."""
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
    """Whether a text holds half characters, which no UTF-8 file can hold."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _refuse_surrogates(path: Path, root: yaml.Node | None) -> None:
    """Refuse half characters, as libyaml does; PyYAML's own parser takes them."""
    for node in _nodes(path, root):
        if isinstance(node, yaml.ScalarNode) and holds_surrogates(node.value):
            raise RequestError(f"{path}: line {node.start_mark.line + 1}: contains half a character"
                               f" ({shortened(ascii(node.value))}), which is not valid Unicode")


def _nodes(path: Path, root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield every node once, in the order of the file, however often aliases stand for it.

    Raises RequestError for one that is nested too deeply.
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
    """Refuse aliases that stand for very much, or for what they are a part of."""
    sizes: dict[int, float] = {}

    def size(node: yaml.Node) -> float:
        if id(node) not in sizes:
            sizes[id(node)] = math.inf  # until it is known; what holds itself has no end
            sizes[id(node)] = 1 + sum(size(part) for part in _inner(node))
        return sizes[id(node)]

    if root is not None and size(root) > MOST_NODES:
        raise RequestError(f"{path}: its aliases (*name) stand for more than {MOST_NODES:,} keys"
                           " and values, or for themselves")


def read_description(path: Path) -> str:
    """Return what a file's key ``description`` says, nothing without one.

    Raises RequestError as ``YamlFile``; the rest of the file is not checked.
    """
    return str(YamlFile(path).content.get("description", ""))
