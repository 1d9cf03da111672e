"""Check files named by other files: keep them inside their folder, and read only real videos."""

from pathlib import Path

from mimegen.base.errors import RequestError

# ffmpeg's demuxer by suffix. Playlists (.m3u8, .ffconcat) are excluded, because they name other
# files.
DEMUXERS = {".mp4": "mov", ".m4v": "mov", ".mov": "mov", ".webm": "matroska", ".mkv": "matroska",
            ".avi": "avi", ".gif": "gif"}


def is_video(path: Path) -> bool:
    """Return whether a file's suffix is that of a video format that mimegen reads."""
    return path.suffix.lower() in DEMUXERS


def ffmpeg_input(path: Path) -> list[str]:
    """Return ffmpeg's arguments to read one video file, and no file or URL that it refers to.

    Raises RequestError if the file's suffix is not that of a video format.
    """
    demuxer = DEMUXERS.get(path.suffix.lower())
    if demuxer is None:
        raise RequestError(f"{path}: expected a video file that ends in {', '.join(DEMUXERS)}")
    return ["-protocol_whitelist", "file", "-f", demuxer, "-i", f"file:{path}"]


def ffmpeg_output(path: Path) -> str:
    """Return the name by which ffmpeg writes a file, even if the path has a colon or begins with -.
    """
    return f"file:{path}"


def ffmpeg_pattern(folder: Path, pattern: str) -> str:
    """Return the name by which ffmpeg writes numbered pictures, as ``%05d.png``, into a folder."""
    return ffmpeg_output(Path(str(folder).replace("%", "%%")) / pattern)


def path_within(folder: Path, name: str) -> Path:
    """Return the path of a file or folder inside ``folder``.

    Raises RequestError if ``..`` or a symbolic link leads outside it.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise RequestError(f"{path}: leads outside of {folder}, so it is not used; put the file"
                           " itself there")
    return path
