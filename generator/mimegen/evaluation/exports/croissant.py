"""Describe an export in Croissant (MLCommons), with its records and clips."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import mimegen
from mimegen.base.files import file_hash, publish
from mimegen.evaluation.exports.description import SetDescription
from mimegen.evaluation.exports.items import write_lines
from mimegen.evaluation.exports.licences import licences
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.tables import table_rows
from mimegen.evaluation.exports.templates import FOLDER

Content = dict[str, Any]
# The described fields; docs/reference/manifest.md and docs/guide/evaluation.md have all.
TEXTS = ("sample_id", "question_id", "format", "prompt", "answer", "action", "variant", "avatar",
         "background_config", "background_name", "take", "split", "licence", "condition",
         "sampling", "pair", "control", "control_of", "examples", "further")
LISTS = ("labels", "options")
INTEGERS = ("frames", "width", "height", "seed")
FLOATS = ("angle", "fps", "tempo")
BOOLEANS = ("mirrored", "reversed")


def write(source: Source, folder: Path, archive: bool = True,
          hidden: frozenset[str] = frozenset(), names_files: bool = True) -> None:
    """Write croissant.json, records.jsonl without ``hidden`` fields, and an archive of the clips.

    Without ``archive``, the description refers to clips that are already in ``clips/``. Unless
    ``names_files``, it gives motion files by hash alone.
    """
    rows = table_rows(source)
    described = {name for row in rows for name, value in row.items()
                 if value not in (None, []) and isinstance(value, list) == (name in LISTS)}
    kept = [name for name in ("file_name", *TEXTS, *LISTS, *INTEGERS, *FLOATS, *BOOLEANS)
            if name in described and name not in hidden]
    write_lines(folder / "records.jsonl",
                [{name: row.get(name) for name in kept} for row in rows])
    files = [_file(folder / "records.jsonl", "application/jsonlines")]
    if archive:
        files.append(_file(_zip(source, folder), "application/zip"))
    described_files = _description(source, files, kept, {row["file_name"] for row in rows})
    texts = _texts(SetDescription([*source.clips.values()], names_files))
    publish(folder / "croissant.json",
            json.dumps(described_files | texts, indent=1, ensure_ascii=False) + "\n")


def _texts(description: SetDescription) -> Content:
    """Return the texts that depend on the clips."""
    recorded = any(row.is_recorded for row in description.rows)
    return {
        "description": description.abstract,
        "rai:dataCollection": f"{description.people} {description.motion}",
        "rai:dataCollectionType": ["Synthetic", "Software Collection",
                                   *(["Secondary Data Analysis"] if recorded else [])],
        "rai:dataPreprocessingProtocol": [description.making, description.varied],
        "rai:personalSensitiveInformation": [description.people],
        "rai:dataReleaseMaintenancePlan":
            f"{description.remaking} Whoever publishes the set says who maintains it."}


def _zip(source: Source, folder: Path) -> Path:
    """Archive the clips uncompressed and without timestamps; return the archive's path.

    Its name contains its hash, because mlcroissant unpacks archives of the same name only once.
    """
    with ZipFile(folder / "clips.zip", "w") as archive:
        for name in source.clips:
            entry = ZipInfo(f"clips/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = ZIP_STORED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, source.clip(name).read_bytes())
    return (folder / "clips.zip").rename(
        folder / f"clips-{file_hash(folder / 'clips.zip')[:16]}.zip")


def _description(source: Source, files: list[Content], names: list[str], recorded: set[str]
                 ) -> Content:
    """Return the description of the files and of each field of the records.

    ``recorded`` are the clips that have records.
    """
    given = sorted({licence for _, licence, _ in licences(source.clips.values())})
    static: Content = json.loads((FOLDER / "croissant/dataset.json").read_text(encoding="utf-8"))
    inside = {"containedIn": {"@id": files[-1]["@id"]}} if len(files) > 1 else {}
    # A clip without a record would become a record of nulls: it has a set of its own.
    further = [f"clips/{name}" for name in source.clips if name not in recorded]
    shown = [f"clips/{name}" for name in source.clips if name in recorded]
    clips = [_file_set("clips", shown if further else "clips/*", inside),
             *([_file_set("further_clips", further, inside)] if further else [])]
    return static | {
        "version": mimegen.__version__, "license": given, "url": f"urn:sha256:{source.sha256}",
        "distribution": [*files, *clips],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "records",
                       "field": [_video(), *map(_field, names)]}]}


def _file(path: Path, kind: str) -> Content:
    return {"@type": "cr:FileObject", "@id": path.name, "contentUrl": path.name,
            "contentSize": f"{path.stat().st_size} B", "encodingFormat": kind,
            "sha256": file_hash(path)}


def _file_set(name: str, includes: str | list[str], inside: Content) -> Content:
    return {"@type": "cr:FileSet", "@id": name, **inside, "encodingFormat": "video/mp4",
            "includes": includes}


def _video() -> Content:
    """Return the field of the video."""
    return {"@type": "cr:Field", "@id": "records/video", "dataType": "sc:VideoObject",
            "source": {"fileSet": {"@id": "clips"}, "extract": {"fileProperty": "content"}}}


def _field(name: str) -> Content:
    """Return a field of the records; ``file_name`` links a video to its record."""
    kinds = {"sc:Integer": INTEGERS, "sc:Float": FLOATS, "sc:Boolean": BOOLEANS}
    kind = next((kind for kind, fields in kinds.items() if name in fields), "sc:Text")
    field = {"@type": "cr:Field", "@id": f"records/{name}", "dataType": kind}
    column = {"fileObject": {"@id": "records.jsonl"}, "extract": {"column": name}}
    if name == "file_name":
        file = {"fileSet": {"@id": "clips"}, "extract": {"fileProperty": "filename"}}
        return field | {"source": file, "references": column}
    return field | {"source": column} | ({"repeated": True} if name in LISTS else {})
