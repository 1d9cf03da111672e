"""Template files that exports copy, or in which ``$names`` are filled in."""

import re
from pathlib import Path
from string import Template

from mimegen.base.files import publish
from mimegen.evaluation import reading

FOLDER = Path(__file__).parent / "files"
# The modules that read answers, each after those that it imports.
READING = ("choice", "spoken", "deciding_words", "sentences", "options", "statements", "strict",
           "choosing")
_OWN_IMPORT = re.compile(r"^from mimegen\.\S+ import (?:\([^)]*\)|.*)\n", re.MULTILINE)


def copy_files(folder: Path, *names: str) -> None:
    """Copy template files, such as ``inspect/task.py``, into a folder."""
    for name in names:
        publish(folder / Path(name).name, (FOLDER / name).read_bytes())


def copy_reading(folder: Path) -> None:
    """Copy the modules that read answers as one, so that harnesses read them as mimegen does."""
    modules = Path(reading.__file__).parent
    texts = [(modules / f"{name}.py").read_text(encoding="utf-8") for name in READING]
    publish(folder / "mimegen_reading.py", "\n\n".join(
        _OWN_IMPORT.sub("", text) for text in texts))


def filled(name: str, **texts: object) -> str:
    """Return a template with its ``$names`` filled in."""
    return Template((FOLDER / name).read_text(encoding="utf-8")).substitute(texts)
