"""Make a set for publication: a public part without answers, and a private part with the keys."""

import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mimegen
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish, publishing
from mimegen.base.names import path_name
from mimegen.evaluation.commitment import write_commitment
from mimegen.evaluation.exports import croissant
from mimegen.evaluation.exports.description import SetDescription
from mimegen.evaluation.exports.facts import SetFacts
from mimegen.evaluation.exports.items import json_text, write_items, write_lines
from mimegen.evaluation.exports.licences import UNKNOWN, licence_table
from mimegen.evaluation.exports.media import link_clip
from mimegen.evaluation.exports.rights import check_rights, withheld_parts
from mimegen.evaluation.exports.source import Source
from mimegen.evaluation.exports.templates import copy_files, filled
from mimegen.evaluation.question import Question
from mimegen.manifest.file import content_of

PUBLIC = "public"
PRIVATE = "private"
# Fields of records that give an answer away or name what a clip shows.
REVEALING_FIELDS = frozenset({"answer", "labels", "action", "take", "variant", "background_config",
                              "background_name", "seed", "pair", "control", "control_of",
                              "mirrored", "reversed", "tempo"})
# Hexadecimal digits of names that depend on a secret.
_NAME_DIGITS = 16
Rename = Callable[[str], str]


@dataclass(frozen=True)
class Publication:
    """A set's title, creators and licence, and whether its answers are public too.

    ``creators`` are names as ``Family, Given``. ``rights_cleared`` is the reason why parts under
    other licences may be published, if the licence alone does not allow it.
    """

    title: str
    creators: tuple[str, ...]
    licence: str
    keys_public: bool = False
    rights_cleared: str | None = None


def publish_set(source: Source, publication: Publication, out: Path) -> Path:
    """Write ``public/`` and ``private/`` into a new folder; return the folder.

    Unless the answers are public, clips and questions get new random names.

    Raises RequestError if the folder exists, there is no question, or the licences of parts do not
    allow the set's licence.
    """
    if out.exists():
        raise RequestError(f"{out}: already exists; choose another --to")
    if not source.questions:
        raise RequestError(f"{source.file}: contains no question; make some with mimegen questions")
    if publication.rights_cleared is None:
        check_rights(source.clips.values(), publication.licence)
    if not publication.keys_public:
        source = _renamed(source, secrets.token_bytes(32))
    with publishing(out) as part:
        public, private = part / PUBLIC, part / PRIVATE
        for folder in (public, private):
            folder.mkdir(parents=True)
        _write_public(source, publication, public)
        _write_private(source, public, private)
        _seal(public)
    return out


def _renamed(source: Source, key: bytes) -> Source:
    """Return a source with names of clips and questions that depend on a secret key.

    The names in files of questions are hashes of what a clip shows, so everyone could find a clip's
    action by trial.
    """
    def name(text: str) -> str:
        return hmac.digest(key, text.encode(), "sha256").hex()[:_NAME_DIGITS]

    def clip_name(text: str) -> str:
        return name(text) + Path(text).suffix

    clips = {clip_name(text): row for text, row in source.clips.items()}
    questions = [_with_names(one, name, clip_name) for one in source.questions]
    return replace(source, clips=dict(sorted(clips.items())),
                   questions=tuple(sorted(questions, key=lambda one: one.question_id)))


def _with_names(question: Question, name: Rename, clip_name: Rename) -> Question:
    examples, further = (
        [one.model_copy(update={"clip": clip_name(one.clip)}) for one in shown]
        for shown in (question.examples, question.further))
    return question.model_copy(update={
        "question_id": name(question.question_id), "clip": clip_name(question.clip),
        "control_of": question.control_of and name(question.control_of),
        "examples": examples, "further": further})


def _write_public(source: Source, publication: Publication, public: Path) -> None:
    """Write clips, questions without answers, descriptions and metadata."""
    facts = SetFacts.of(source.clips.values())
    description = SetDescription([*source.clips.values()], publication.keys_public)
    write_lines(public / "questions.jsonl", write_items(source, public))
    # Questions that show frames have not laid their clips yet.
    for name in source.clips:
        if not (public / "clips" / name).exists():
            link_clip(source, name, public / "clips")
    _describe(source, publication, description, public)
    texts = _texts(source, publication, facts, description)
    publish(public / "README.md", filled("publish/README.md", **texts))
    publish(public / "datasheet.md", filled("publish/datasheet.md", **texts))
    publish(public / "datacite.json", json_text(_datacite(publication, facts, description)))
    publish(public / ".zenodo.json", json_text(_zenodo(publication, description)))
    copy_files(public, "publish/verify.py")


def _describe(source: Source, publication: Publication, description: SetDescription, public: Path
              ) -> None:
    """Describe the set in Croissant; fields that reveal answers only if the keys are public."""
    hidden = frozenset() if publication.keys_public else REVEALING_FIELDS
    croissant.write(source, public, archive=False, hidden=hidden,
                    names_files=publication.keys_public)
    described = json.loads((public / "croissant.json").read_text(encoding="utf-8"))
    creators = [{"@type": "sc:Person", "name": name} for name in publication.creators]
    publish(public / "croissant.json", json_text(described | {
        "name": path_name(publication.title), 
        "description": f"{publication.title}. {description.abstract}",
        "creator": creators, "license": publication.licence}))


def _write_private(source: Source, public: Path, private: Path) -> None:
    """Write the keys and the whole manifest; publish a commitment to the keys."""
    keys = [{"question_id": one.question_id, "answer": one.answer, "labels": one.labels,
             "action": one.action, "variant": one.variant or "none"} for one in source.questions]
    commitment = write_commitment(keys, private / "keys.jsonl")
    publish(public / commitment.name, commitment.read_bytes())
    write_lines(private / "questions.jsonl",
                 [one.model_dump(mode="json") for one in source.questions])
    write_lines(private / "manifest.jsonl", [content_of(row) | {"published_as": name}
                                              for name, row in source.clips.items()])
    copy_files(private, "publish/rebuild.py")


def _seal(public: Path) -> None:
    """Write the checksums of all public files."""
    files = sorted(path for path in public.rglob("*") if path.is_file())
    publish(public / "SHA256SUMS", "".join(
        f"{file_hash(path)}  {path.relative_to(public).as_posix()}\n" for path in files))


def _texts(source: Source, publication: Publication, facts: SetFacts,
           description: SetDescription) -> dict[str, object]:
    """Return the texts that are filled into the README and the datasheet."""
    return {
        "title": publication.title, "clips": facts.clips, "seconds": facts.seconds,
        "actions": ", ".join(facts.actions) if publication.keys_public else "see the answers",
        "action_count": len(facts.actions), "questions": len(source.questions),
        "abstract": description.abstract, "performers": description.performers,
        "varied": description.varied, "motion": description.motion,
        "making": description.making, "remaking": description.remaking,
        "people": description.people,
        "backgrounds": len(facts.backgrounds) or "none",
        "sides": ", ".join(facts.sides) or "not turned", "views": ", ".join(facts.views)
        or "not stated", "codecs": "; ".join(facts.codecs) or "H.264",
        "sizes": "; ".join(facts.sizes),
        "version": ", ".join(facts.versions) or mimegen.__version__,
        "licences": licence_table(source.clips.values()),
        "licence_names": ", ".join(facts.licences), "rights": _rights(source, publication),
        "creators": "; ".join(publication.creators),
        "keys": "in `records.jsonl`" if publication.keys_public else "not public"}


def _rights(source: Source, publication: Publication) -> str:
    """Return a sentence on parts whose licences do not allow the set's; empty without such parts.
    """
    withheld = withheld_parts(source.clips.values(), publication.licence)
    if not withheld:
        return ""
    stated = ", ".join(sorted({part.licence or UNKNOWN for part in withheld}))
    return (f" The set is published under {publication.licence}, although some parts have other"
            f" licences ({stated}). The publishers state that they may do so:"
            f" {publication.rights_cleared}.")


def _datacite(publication: Publication, facts: SetFacts, description: SetDescription
              ) -> dict[str, Any]:
    """Return metadata after DataCite's schema 4.5; the archive adds identifier and year."""
    return {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Video stimuli"},
        "titles": [{"title": publication.title}],
        "creators": [{"name": name, "nameType": "Personal"} for name in publication.creators],
        "subjects": [{"subject": word} for word in WORDS],
        "rightsList": [{"rights": publication.licence}],
        "sizes": [f"{facts.clips} clips", f"{facts.seconds} seconds"], "formats": ["video/mp4"],
        "descriptions": [{"descriptionType": "Abstract", "description": description.abstract}]}


def _zenodo(publication: Publication, description: SetDescription) -> dict[str, Any]:
    return {"title": publication.title, "upload_type": "dataset",
            "description": f"{description.abstract} {description.motion}",
            "creators": [{"name": name} for name in publication.creators],
            "license": publication.licence.lower(), "keywords": list(WORDS)}


WORDS = ("human action", "video", "stimuli", "vision-language models", "biological motion")
