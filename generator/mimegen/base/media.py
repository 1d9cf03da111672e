"""Files that other files name: kept within their folder, and read as videos alone."""

from pathlib import Path

from mimegen.base.errors import RequestError

# ffmpeg's demuxer by ending. Playlists (.m3u8, .ffconcat) name other files, so they are not here.
DEMUXERS = {".mp4": "mov", ".m4v": "mov", ".mov": "mov", ".webm": "matroska", ".mkv": "matroska",
            ".avi": "avi", ".gif": "gif"}


def is_video(path: Path) -> bool:
    """Return whether a file's ending is that of a video that mimegen reads."""
    return path.suffix.lower() in DEMUXERS


def ffmpeg_input(path: Path) -> list[str]:
    """Return ffmpeg's arguments that read one video file, and no file or address that it names.

    Raises RequestError for a file whose ending is not a video's.
    """
    demuxer = DEMUXERS.get(path.suffix.lower())
    if demuxer is None:
        raise RequestError(f"{path}: expected a video file that ends in {', '.join(DEMUXERS)}")
    return ["-protocol_whitelist", "file", "-f", demuxer, "-i", f"file:{path}"]


def kept_within(folder: Path, name: str) -> Path:
    """Return the path of a file or folder that lies in ``folder``.

    Raises RequestError where ``..`` or a symbolic link leads it out of there.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise RequestError(f"{path}: leads outside of {folder}, so it is not used; put the file"
                           " itself there")
    return path
