"""What must be true of a file before any reader opens it."""

from pathlib import Path

from mimegen.errors import RequestError


def check_file(path: Path) -> None:
    """Raise RequestError where there is no file, or nothing in it."""
    if path.is_dir():
        raise RequestError(f"{path}: is a folder, expected a motion file")
    if not path.exists():
        raise RequestError(f"{path}: links to nothing, the file was moved" if path.is_symlink()
                           else f"{path}: there is no such file")
    if path.stat().st_size == 0:
        raise RequestError(f"{path}: is empty, expected a motion file; export it again")
