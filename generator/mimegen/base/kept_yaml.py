"""What YAML texts hold, kept by the texts themselves: parsing takes a hundred times as long."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, cast

import yaml

from mimegen.base.kept import keep, kept

KIND = "yaml"
# To be raised with every change in what is kept of a text.
FORMAT = 1
# The lines of the items of lists, by the keys that lead there, parted by strokes.
ItemLines = dict[str, Sequence[int]]


def kept_yaml(text: str) -> tuple[Any, ItemLines] | None:
    """Return what a text holds and the lines of its lists' items, if it was parsed before."""
    found = kept(KIND, _key(text))
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[1], dict):
        return None
    return found[0], cast(ItemLines, found[1])


def keep_yaml(text: str, content: Any, lines: ItemLines) -> None:
    """Keep what a text holds, where JSON can hold it."""
    try:
        as_json = json.dumps(content)
    except (TypeError, ValueError):
        return
    if _same(json.loads(as_json), content):
        keep(KIND, _key(text), [content, lines])


def item_lines(root: yaml.Node | None) -> ItemLines:
    """Return the lines of the items of lists at the top of a file, and one key below it."""
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
    """Whether values are equal and of the same types all through; JSON turns 1: into "1":."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return [*first] == [*second] and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)
