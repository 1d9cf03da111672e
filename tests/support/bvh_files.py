"""BVH files that are edited for tests: mirrored as by left-handed writers, channels changed."""
import re
from pathlib import Path

import numpy as np

from places import DATA


class BvhFile:
    """A BVH file's hierarchy as text, and its values (F, C) by joint and channel."""

    def __init__(self, text: str) -> None:
        self.hierarchy, _, rest = text.partition("MOTION")
        lines = rest.split("\n")
        self.head = lines[1:3]
        self.table = np.array([list(map(float, line.split())) for line in lines[3:]
                               if line.split()])
        self.columns: list[tuple[str, str]] = []
        joint = ""
        for line in self.hierarchy.split("\n"):
            words = line.split()
            joint = words[1] if words[:1] in (["ROOT"], ["JOINT"]) else joint
            if words[:1] == ["CHANNELS"]:
                self.columns += [(joint, channel) for channel in words[2:]]

    def channels(self, joint: str, kind: str = "") -> list[int]:
        """Return the columns of a joint, those whose channel ends in ``kind``."""
        return [n for n, (name, channel) in enumerate(self.columns)
                if name == joint and channel.endswith(kind)]

    def set(self, joint: str, **values: float) -> "BvhFile":
        """Give channels of a joint the same values in all frames."""
        for channel, value in values.items():
            self.table[:, self.columns.index((joint, channel))] = value
        return self

    def renamed(self, pairs: dict[str, str]) -> "BvhFile":
        """Exchange the beginnings of joints' names, as ``{"Left": "Right", "Right": "Left"}``."""
        pattern = rf"(?<=ROOT |OINT )({'|'.join(pairs)})"
        self.hierarchy = re.sub(pattern, lambda found: pairs[found[1]], self.hierarchy)
        return self

    def mirrored(self, axis: str) -> "BvhFile":
        """Negate an axis of places, and turn rotations as its mirror image has them."""
        number = "XYZ".index(axis)

        def offset(found: re.Match[str]) -> str:
            values = [float(word) for word in found[1].split()]
            values[number] *= -1
            return f"OFFSET {values[0]} {values[1]} {values[2]}"

        self.hierarchy = re.sub(r"OFFSET ([-\d. e]+)", offset, self.hierarchy)
        flipped = [channel[0] == axis if channel.endswith("position") else channel[0] != axis
                   for _, channel in self.columns]
        self.table[:, flipped] *= -1
        return self

    def write(self, path: Path) -> Path:
        """Write the file and return where it is."""
        rows = "\n".join(" ".join(f"{value:.6f}" for value in row) for row in self.table)
        head = [f"Frames: {len(self.table)}", self.head[1]]
        path.write_text(self.hierarchy + "MOTION\n" + "\n".join(head) + "\n" + rows + "\n")
        return path


def walk() -> BvhFile:
    """Return somebody's walk of 40 frames at 30 fps, in cm, Y up."""
    return BvhFile((DATA / "left_handed.bvh").read_text()).mirrored("X")


def repeated(file: BvhFile, times: int) -> BvhFile:
    """Return the file with its frames forth and back, ``times`` over."""
    file.table = np.concatenate([file.table, file.table[::-1]] * times)
    return file
