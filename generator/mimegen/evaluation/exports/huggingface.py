"""Export a data set for Hugging Face's ``datasets``: videos, Parquet tables and a card."""

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.evaluation.exports.licences import licences
from mimegen.evaluation.exports.media import link_clip
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.tables import EXAMPLES, TableRow, split_of, table_rows
from mimegen.manifest.row import Row

# File types that VideoFolder reads.
VIDEOS = (".mp4", ".mov", ".avi", ".mkv", ".webm")
# The hub names licences by their SPDX identifiers in lower case.
KNOWN = ("cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "apache-2.0",
         "mit")
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"),
         (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))


def write(source: Source, folder: Path) -> None:
    """Write for each split a folder of videos and metadata.parquet."""
    splits = split_of(source)
    for name, split in splits.items():
        link_clip(source, name, folder / split, VIDEOS)
    rows = table_rows(source)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[splits[row["file_name"]]].append(place)
    for split, content in zip(places, _parquets(rows, [*places.values()]), strict=True):
        publish(folder / split / "metadata.parquet", content)


def front_matter(source: Source) -> str:
    """Return the card's metadata for the hub: licence, task, size, and the folder of each split."""
    splits = sorted({*split_of(source).values()} - {EXAMPLES})
    count = len(source.questions or source.clips)
    return yaml.safe_dump({
        "pretty_name": "mimegen: controlled video stimuli of human action",
        **_licence(source.clips.values()),
        "task_categories": ["visual-question-answering" if source.questions else
                            "video-classification"],
        "tags": ["mimegen", "video", "human-action"],
        "size_categories": [next((name for most, name in SIZES if count < most), "n>10M")],
        "configs": [{"config_name": "default", "data_files": [
            {"split": split, "path": f"{split}/**"} for split in splits]}],
    }, sort_keys=False)


def _licence(rows: Iterable[Row]) -> dict[str, str]:
    """Return the licence by the hub's name if all clips share a known one, else ``other``."""
    names = {licence.lower() for _, licence, _ in licences(rows)}
    if len(names) == 1 and names <= {*KNOWN}:
        return {"license": names.pop()}
    return {"license": "other", "license_name": "several", "license_link": "README.md"}


def _parquets(rows: list[TableRow], parts: Sequence[Sequence[int]]) -> list[bytes]:
    """Return parts of the rows, given by their indices, as Parquet files.

    All have the same columns of the same types, without which ``datasets`` refuses the splits.
    Raises RequestError without pyarrow.
    """
    # Imported here because it takes a quarter of a second and only this export needs it.
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as problem:
        raise RequestError("--to huggingface requires pyarrow to write Parquet; run pip install"
                           " 'mimegen[huggingface]'") from problem

    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = pyarrow.Table.from_pydict(
        {name: [row.get(name) for row in rows] for name in columns})
    kept = table.select([name for name in columns if table[name].null_count < len(rows)])
    files = [io.BytesIO() for _ in parts]
    for file, part in zip(files, parts, strict=True):
        pyarrow.parquet.write_table(kept.take(part), file, compression="zstd")
    return [file.getvalue() for file in files]
