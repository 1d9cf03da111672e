"""Recognise files that are not what their names promise, and say how to get the right ones."""

from pathlib import Path

from mimegen.base.errors import RequestError

# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
LFS_POINTER = b"version https://git-lfs"
# Brands of ISO base media files with HEVC pictures (ISO/IEC 23008-12, annex B).
HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
AVIF_BRANDS = (b"avif", b"avis")
PAGES = (b"<!doctype html", b"<html")
HEAD = 512  # bytes that are read


def refuse_foreign(path: Path) -> None:
    """Raise RequestError, in one line, for a Git LFS pointer, a web page, or an HEIC picture.

    Unreadable files raise nothing here; opening them will.
    """
    try:
        with path.open("rb") as opened:
            head = opened.read(HEAD)
    except OSError:
        return
    advice = _advice(head, path)
    if advice:
        raise RequestError(f"{path}: {advice}")


def _advice(head: bytes, path: Path) -> str | None:
    """Return what a file really is and what to do, judging by its first bytes; None if unknown."""
    if head.lstrip(b"\xef\xbb\xbf").startswith(LFS_POINTER):
        return "is a Git LFS pointer, not the file itself; run git lfs install and git lfs pull" \
               " in its repository, or download the file from its page"
    if head.lstrip().lower().startswith(PAGES):
        return "is a web page, not the file itself; download the file again (a link to its page," \
               " or to a login, was saved)"
    if _is_heic(head):
        made = f"{path.stem}_converted.jpg"
        return f"is an HEIC picture, which is not read; convert it to JPEG: sips -s format jpeg" \
               f" {path.name} --out {made} on macOS, heif-convert {path.name} {made} on Linux, or" \
               " save it as JPEG in Windows' Photos"
    return None


def _is_heic(head: bytes) -> bool:
    if head[4:8] != b"ftyp":
        return False
    brands = [head[at : at + 4] for at in (8, *range(16, min(int.from_bytes(head[:4]), HEAD), 4))]
    return any(brand in HEIC_BRANDS for brand in brands) and not any(
        brand in AVIF_BRANDS for brand in brands)
