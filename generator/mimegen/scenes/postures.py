"""Postures of performers between actions (``mocap/postures.yaml``), as complete keys by track."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.choreography.score import Key, Phase

Tracks = dict[str, Key]


class _Postures(Strict):
    standing: Phase
    seated: Phase
    settling: Phase


def posture(name: str) -> Tracks:
    """Return the keys of a posture by track."""
    return dict(_read(data_file("mocap/postures.yaml"))[name])


@cache
def _read(path: Path) -> Mapping[str, Tracks]:
    document = YamlFile(path)
    content: dict[str, Any] = {name: phase | {"at": 0} for name, phase in document.content.items()}
    found = document.parsed(_Postures, content)
    return {name: {track: complete(key) for track, key in getattr(found, name).moves()}
            for name in _Postures.model_fields}


def complete(key: Key) -> Key:
    """Return a key with all fields marked as set, so that it keeps nothing of earlier keys."""
    return key.model_copy(update={name: getattr(key, name) for name in type(key).model_fields})
