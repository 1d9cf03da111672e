"""The layout of a score's file: break lines that are too long and leave all others unchanged.

The content does not change, to the letter of every value. Comments stay: one inside a broken part
moves to the line above it.
"""

from collections.abc import Iterator

import yaml

from mimegen.base.errors import RequestError

WIDTH = 100


def formatted(text: str, name: str) -> str:
    """Return a score's text with its lines broken at ``WIDTH`` characters where possible.

    ``name`` is the file's name, for messages. Raises RequestError if the text is no YAML, has no
    mapping at the top, or cannot be broken without changing its content.
    """
    root = _composed(text, name)
    if not isinstance(root, yaml.MappingNode):
        raise RequestError(f"{name}: expected a mapping of keys at the top")
    lines = text.split("\n")
    for key, value in reversed(list(_units(root))):
        first, last = key.start_mark.line, value.end_mark.line
        if max(map(len, lines[first : last + 1])) > WIDTH:
            lines[first : last + 1] = _broken(text, lines[first], key, value)
    laid_out = "\n".join(lines)
    if _values(_composed(laid_out, name)) != _values(root):
        raise RequestError(f"{name}: cannot be reformatted losslessly; break its lines of more"
                           f" than {WIDTH} characters by hand")
    return laid_out


def _composed(text: str, name: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark else ""
        raise RequestError(f"{name}:{line} not valid YAML") from problem


def _values(node: yaml.Node | None) -> object:
    """Return a node's content, its tags and texts, without positions and styles."""
    if isinstance(node, yaml.MappingNode):
        return [(_values(key), _values(value)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [_values(item) for item in node.value]
    return None if node is None else (node.tag, node.value)


def _units(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield key and value of each smallest part that fills whole lines.

    For an item of a sequence, both are the item.
    """
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        pairs = node.value if isinstance(node, yaml.MappingNode) else [
            (item, item) for item in node.value]
        for key, value in pairs:
            inner = list(_units(value))
            is_block_text = isinstance(value, yaml.ScalarNode) and value.style in ("|", ">")
            yield from inner or ([] if is_block_text else [(key, value)])


def _broken(text: str, first: str, key: yaml.Node, value: yaml.Node) -> list[str]:
    """Return the lines of a part that is too long, with its comments above it."""
    start = key.start_mark.column
    lead = first[:start] + ("" if key is value else f"{_text(text, key)}: ")
    indent = " " * start
    comments = [f"{' ' * (len(first) - len(first.lstrip()))}{comment}"
                for comment in _comments(text, key, value)]
    return [*comments, *_laid_out(text, lead, indent, value)]


def _laid_out(text: str, lead: str, indent: str, node: yaml.Node) -> list[str]:
    """Return the lines of a value after ``lead``; later lines are indented by ``indent``."""
    whole = lead + _flow(text, node)
    if len(whole) <= WIDTH:
        return [whole]
    if not isinstance(node, yaml.CollectionNode):
        return _filled(whole.split(" "), len(indent) + 2)
    if not _is_nested(node):
        return _filled_flow(text, lead, node)
    in_sequence = lead.endswith("- ")
    head, inner = ([], lead) if in_sequence else ([lead.rstrip()], f"{indent}  ")
    rest = " " * len(inner)
    lines = []
    for number, (start, part) in enumerate(_parts(text, node)):
        before = inner if number == 0 else rest
        lines += _laid_out(text, before + start, rest, part)
    return head + lines


def _parts(text: str, node: yaml.CollectionNode) -> list[tuple[str, yaml.Node]]:
    """Return, for each line of a collection in block style, its beginning and its value."""
    if isinstance(node, yaml.MappingNode):
        return [(f"{_text(text, key)}: ", value) for key, value in node.value]
    return [("- ", item) for item in node.value]


def _filled_flow(text: str, lead: str, node: yaml.CollectionNode) -> list[str]:
    whole = _flow(text, node)
    pieces = whole.split(", ")
    pieces = [f"{piece}," for piece in pieces[:-1]] + pieces[-1:]
    if any(len(lead) + len(piece) > WIDTH for piece in pieces):
        pieces = whole.split(" ")
    return _filled([f"{lead}{pieces[0]}", *pieces[1:]], len(lead) + 1)


def _filled(pieces: list[str], indent: int) -> list[str]:
    """Return lines of pieces, as many to a line as fit."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        longer = f"{lines[-1]} {piece}"
        if len(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(" " * indent + piece)
    return lines


def _is_nested(node: yaml.CollectionNode) -> bool:
    parts = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else (
        node.value)
    return any(isinstance(part, yaml.CollectionNode) for part in parts)


def _flow(text: str, node: yaml.Node) -> str:
    """Return a value on one line, its scalars as they are written."""
    if isinstance(node, yaml.MappingNode):
        return f"{{{', '.join(f'{_text(text, k)}: {_flow(text, v)}' for k, v in node.value)}}}"
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(_flow(text, item) for item in node.value)}]"
    return " ".join(_text(text, node).split())


def _text(text: str, node: yaml.Node) -> str:
    return text[node.start_mark.index : node.end_mark.index].strip()


def _comments(text: str, key: yaml.Node, value: yaml.Node) -> Iterator[str]:
    """Yield the comments between a part's start and the end of its last line."""
    end = text.find("\n", value.end_mark.index)
    hidden = {index for scalar in _scalars(value)
              for index in range(scalar.start_mark.index, scalar.end_mark.index)}
    at = key.start_mark.index
    for line in text[at : end if end >= 0 else len(text)].split("\n"):
        mark = next((number for number, letter in enumerate(line)
                     if letter == "#" and at + number not in hidden), None)
        if mark is not None:
            yield line[mark:].strip()
        at += len(line) + 1


def _scalars(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from (*_scalars(key), *_scalars(value))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item)
    else:
        yield node
