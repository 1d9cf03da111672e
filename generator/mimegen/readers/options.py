"""What a person says about a recording that its file does not say itself."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file: ``stack`` names one of an FBX file's animation stacks, ``mapping`` is a
    YAML file of roles and bones, ``skeleton`` the ASF file that belongs to an AMC file.
    """

    stack: str | None = None
    mapping: Path | None = None
    skeleton: Path | None = None


AS_FOUND = ReadOptions()
