"""YAML whose errors name the file, the line and the key."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from mimegen.errors import RequestError, near_misses

Model = TypeVar("Model", bound=BaseModel)
Location = Sequence[int | str]


class LocatedYaml:
    """A YAML file's content, and where in the file each part of it stands."""

    def __init__(self, path: Path) -> None:
        """Read ``path``; raises RequestError where it is missing or not YAML."""
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
            self.node = yaml.compose(text, Loader=yaml.SafeLoader)
            self.content: Any = yaml.safe_load(text)
        except OSError as problem:
            raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
        except UnicodeDecodeError as problem:
            raise RequestError(f"{path}: is not UTF-8 text") from problem
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            line = f" line {mark.line + 1}:" if mark else ""
            what = getattr(problem, "problem", None) or "is not YAML"
            raise RequestError(f"{path}:{line} not valid YAML: {what}") from problem
        if not isinstance(self.content, dict):
            raise RequestError(f"{path}: expected a mapping of keys at the top")
        _refuse_doubles(path, self.node)

    def line(self, location: Location) -> int:
        """Return the line of the deepest part of ``location`` that stands in the file."""
        node, line = self.node, 1
        for step in location:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(step):
                        node, line = value, key.start_mark.line + 1
                        break
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                node = node.value[step]
                line = node.start_mark.line + 1
        return line

    def error(self, location: Location, message: str) -> RequestError:
        """Return an error that names the file, the line and the key."""
        keys = [str(step) for step in location if isinstance(step, str) and step != "[key]"]
        key = f" {' '.join(keys[-2:])}:" if keys else ""
        return RequestError(f"{self.path}: line {self.line(location)}:{key} {message}")

    def parsed(self, model: type[Model], content: Any, known: Iterable[str] = ()) -> Model:
        """Return ``content`` as a ``model``; ``known`` are the words to suggest for unknown keys.

        Raises RequestError for the first thing that is wrong.
        """
        try:
            return model.model_validate(content)
        except ValidationError as problem:
            first = problem.errors()[0]
            location = first["loc"]
            message = first["msg"].removeprefix("Value error, ")
            if first["type"] == "extra_forbidden":
                message = f"unknown key{near_misses(str(location[-1]), known)}"
            elif first["type"] != "missing":
                message = f"{message} (got {first['input']!r})" if "got" not in message else message
            raise self.error(location, message) from problem


def _refuse_doubles(path: Path, node: yaml.Node | None) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise RequestError(f"{path}: line {line}: {key.value}: is given twice")
            seen.add(key.value)
            _refuse_doubles(path, value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_doubles(path, value)
