"""What a paper states about clips: methods, references, attribution and doubts."""

from mimegen.methods.clipset import ClipSet
from mimegen.methods.description import Description

__all__ = ["ClipSet", "Description"]
