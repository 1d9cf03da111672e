"""Read answers from logs of harnesses: Inspect's .eval and .json, samples of lmms-eval.

The formats are those that the packages write. Inspect keeps a log as one JSON document, or as a zip
archive of ``header.json`` and ``samples/*.json`` compressed by Zstandard, which Python's own
zipfile reads since 3.14. lmms-eval writes a line for each sample without its document, so the
question is identified by what a task's ``process_results`` stores.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import json_lines, well_formed

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

# Samples hold whole conversations with pictures. Limits in bytes: a JSON log, one sample of an
# archive, and all of its samples.
MIB = 2**20
MAX_LOG_BYTES = 512 * MIB
MAX_SAMPLE = 128 * MIB
MAX_UNPACKED = 4096 * MIB
Json = dict[str, Any]


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of a file: its location, and a dictionary with question_id, model and output."""

    where: str
    content: Json


def logged_answers(path: Path) -> Iterator[LoggedAnswer]:
    """Yield the answers of a file of any supported format. Raises RequestError if it is invalid."""
    if path.suffix == ".eval":
        yield from _inspect_archive(path)
    elif path.suffix == ".json":
        yield from _inspect_log(path, _document(path), str(path))
    else:
        lines = json_lines(path)
        is_lmms = {"doc_id", "filtered_resps"} <= lines[0][1].keys()
        model = _lmms_model(path) if is_lmms else None
        for number, content in lines:
            where = f"{path}: line {number}"
            yield LoggedAnswer(where, _lmms_sample(where, content, model) if model else content)


def _document(path: Path) -> Json:
    """Return the JSON object in a file. Raises RequestError if it is too large or invalid."""
    try:
        if path.stat().st_size > MAX_LOG_BYTES:
            raise RequestError(f"{path}: is larger than {MAX_LOG_BYTES // 2**20} MiB")
        content = well_formed(json.loads(path.read_bytes()))
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: not valid JSON; expected a log of Inspect") from problem
    return _mapping(content, str(path))


def _mapping(content: object, where: str) -> Json:
    if not isinstance(content, dict):
        raise RequestError(f"{where}: expected a JSON object of an Inspect log")
    return content


def _inspect_archive(path: Path) -> Iterator[LoggedAnswer]:
    """Yield the answers of an .eval file; an interrupted run has those up to the interruption."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            header = "header.json" if "header.json" in names else "_journal/start.json"
            samples = sorted(name for name in names if name.startswith("samples/"))
            _refuse_too_large(archive, [header, *samples], path)
            content = _member(archive, header, path)
            for name in samples:
                yield from _inspect_samples(f"{path}: {name}", content,
                                            [_member(archive, name, path)])
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except (zipfile.BadZipFile, zlib.error, ZstdError, EOFError, KeyError, NotImplementedError,
            RuntimeError) as problem:
        raise RequestError(f"{path}: not a complete log of Inspect ({problem})") from problem


def _refuse_too_large(archive: zipfile.ZipFile, names: list[str], path: Path) -> None:
    """Raise RequestError for members that unpack to more than any log should."""
    sizes = [archive.getinfo(name).file_size for name in names]
    largest = max(sizes)
    if largest > MAX_SAMPLE:
        raise RequestError(f"{path}: {names[sizes.index(largest)]} unpacks to {largest // MIB} MiB;"
                           f" expected samples of at most {MAX_SAMPLE // MIB} MiB")
    if sum(sizes) > MAX_UNPACKED:
        raise RequestError(f"{path}: unpacks to {sum(sizes) // MIB} MiB; expected a log of at most"
                           f" {MAX_UNPACKED // MIB} MiB; export its answers as JSON lines")


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a member's bytes, read in parts because its stated size may be wrong."""
    with archive.open(name) as file:
        return b"".join(iter(lambda: file.read(MIB), b""))


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Json:
    try:
        return _mapping(well_formed(json.loads(_unpacked(archive, name))), f"{path}: {name}")
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: {name} is not valid JSON") from problem


def _inspect_log(path: Path, content: Json, where: str) -> Iterator[LoggedAnswer]:
    samples = content.get("samples")
    if not isinstance(samples, list):
        raise RequestError(f"{path}: expected a log of Inspect, with its samples")
    yield from _inspect_samples(where, content, samples)


def _inspect_samples(where: str, header: Json, samples: list[Any]) -> Iterator[LoggedAnswer]:
    """Yield the model's answers; samples that failed before an answer are skipped."""
    model = _mapping(header.get("eval"), where).get("model")
    for sample in samples:
        content = _mapping(sample, where)
        epoch = content.get("epoch", 1)
        output = _completion(content.get("output"))
        # A sample that failed may have an empty message.
        if output is not None and (output.strip() or not content.get("error")):
            yield LoggedAnswer(f"{where}: sample {content.get('id')}", {
                "question_id": str(content.get("id")), "output": output,
                "model": model if epoch == 1 else f"{model} epoch {epoch}"})


def _completion(output: object) -> str | None:
    """Return the text of a model's message; None without one."""
    choices = output.get("choices") if isinstance(output, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if isinstance(text, list):
        text = "\n".join(str(part.get("text", "")) for part in text
                         if isinstance(part, dict) and part.get("type") == "text")
    return text if isinstance(text, str) else None


def _lmms_model(path: Path) -> str:
    """Return the model of a file of samples: from the results file beside it, else its folder."""
    date = path.name.partition("_samples_")[0]
    results = path.with_name(f"{date}_results.json")
    if results.is_file():
        content = _document(results)
        config = content.get("config")
        for name in (content.get("model_name"),
                     config.get("model") if isinstance(config, dict) else None):
            if isinstance(name, str) and name:
                return name
    return path.resolve().parent.name


def _lmms_sample(where: str, content: Json, model: str) -> Json:
    kept = [value["question_id"] for value in content.values()
            if isinstance(value, dict) and isinstance(value.get("question_id"), str)]
    if not kept:
        raise RequestError(f"{where}: a sample of lmms-eval without question_id; run the task that"
                           " mimegen export --to lmms-eval writes")
    responses = content["filtered_resps"]
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return {"question_id": kept[0], "model": model, "output": responses if responses else None}
