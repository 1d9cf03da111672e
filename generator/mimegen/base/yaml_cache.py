"""A cache of parsed YAML texts, by text: parsing takes a hundred times as long as reading it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, cast

import yaml

from mimegen.base.user_cache import cached_json, keep

KIND = "yaml"
# Increase this whenever the cached form changes.
FORMAT = 1
# The line numbers of list items, by the keys that lead to the list, joined by slashes.
ItemLines = dict[str, Sequence[int]]


def cached_yaml(text: str) -> tuple[Any, ItemLines] | None:
    """Return a text's content and the line numbers of its list items, if they are cached."""
    found = cached_json(KIND, _key(text))
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[1], dict):
        return None
    return found[0], cast(ItemLines, found[1])


def keep_yaml(text: str, content: Any, lines: ItemLines) -> None:
    """Cache a text's content if JSON can represent it."""
    try:
        as_json = json.dumps(content)
    except (TypeError, ValueError):
        return
    if _same(json.loads(as_json), content):
        keep(KIND, _key(text), [content, lines])


def item_lines(root: yaml.Node | None) -> ItemLines:
    """Return the line numbers of items of lists at the top of a file and one key below."""
    lines: ItemLines = {}
    for name, value in _pairs(root):
        inner = [(name, value), *((f"{name}/{key}", part) for key, part in _pairs(value))]
        lines |= {key: [item.start_mark.line + 1 for item in part.value]
                  for key, part in inner if isinstance(part, yaml.SequenceNode)}
    return lines


def _pairs(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(key.value, value) for key, value in node.value
            if isinstance(key, yaml.ScalarNode) and "/" not in key.value]


def _key(text: str) -> str:
    return hashlib.sha256(f"{FORMAT} {yaml.__version__}\n{text}".encode()).hexdigest()


def _same(first: Any, second: Any) -> bool:
    """Return whether values are equal, including types at all levels; JSON turns 1: into "1":."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return [*first] == [*second] and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)
