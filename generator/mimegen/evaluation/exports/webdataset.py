"""Export shards for ``webdataset``: tar files of clips with their rows and ground truth."""

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from mimegen.base.errors import RequestError
from mimegen.base.media import path_within
from mimegen.base.names import path_name
from mimegen.evaluation.exports.coco import pass_folder
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.tables import clip_rows

# Number of clips in a shard.
CLIPS_A_SHARD = 256


def write(source: Source, folder: Path) -> None:
    """Write shard-000000.tar and so on. Raises RequestError if a file is missing."""
    rows = {row["file_name"]: row for row in clip_rows(source)}
    if len({name.replace(".", "-") for name in rows}) < len(rows):
        raise RequestError(f"{source.file}: names of clips differ only in dots, at which"
                           " webdataset cuts names off; rename the clips")
    for start in range(0, len(rows), CLIPS_A_SHARD):
        path = folder / f"shard-{start // CLIPS_A_SHARD:06d}.tar"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as shard:
            for name in [*rows][start:start + CLIPS_A_SHARD]:
                # A sample's key ends at the first dot: "a.1.mp4" and "a.2.mp4" would be one sample.
                stem = Path(name).stem.replace(".", "-")
                _add(shard, stem + Path(name).suffix, source.clip(name).read_bytes())
                _add(shard, f"{stem}.json", json.dumps(rows[name], ensure_ascii=False).encode())
                for kind, content in _truth(source, name):
                    _add(shard, f"{stem}.{path_name(kind)}.zip", content)


def _add(shard: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file without timestamp and owner."""
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    shard.addfile(entry, io.BytesIO(content))


def _truth(source: Source, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield each kind of ground truth that a clip has, as a zip archive of its files."""
    row = source.clips[name]
    for kind in sorted(row.passes or {}):
        folder = pass_folder(source, row, kind)
        files = sorted(file for file in folder.rglob("*") if file.is_file()) if folder else []
        if not files:
            raise RequestError(f"{folder}: is empty, but {row.sample_id} refers to it for its"
                               f" {kind}; run mimegen verify --repair")
        archived = io.BytesIO()
        with ZipFile(archived, "w") as archive:
            for file in files:
                assert folder is not None
                inner = ZipInfo(file.relative_to(folder).as_posix())
                archive.writestr(inner, path_within(folder, inner.filename).read_bytes())
        yield kind, archived.getvalue()
