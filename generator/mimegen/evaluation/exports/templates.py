"""Template files that exports copy, or in which ``$names`` are filled in."""

from pathlib import Path
from string import Template

from mimegen.base.files import publish
from mimegen.evaluation import reading

FOLDER = Path(__file__).parent / "files"


def copy_files(folder: Path, *names: str) -> None:
    """Copy template files, such as ``inspect/task.py``, into a folder."""
    for name in names:
        publish(folder / Path(name).name, (FOLDER / name).read_bytes())


def copy_reading(folder: Path) -> None:
    """Copy the module that reads answers, so that harnesses read them as mimegen does."""
    publish(folder / "mimegen_reading.py", Path(reading.__file__).read_bytes())


def filled(name: str, **texts: object) -> str:
    """Return a template with its ``$names`` filled in."""
    return Template((FOLDER / name).read_text(encoding="utf-8")).substitute(texts)
