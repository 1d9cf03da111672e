"""What exports hold; benchmarks/exports.py runs them by the real packages."""

import csv
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet
import pytest
import yaml

from exports_clips import ACTIONS, small_clips
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.evaluation.exports import huggingface
from mimegen.evaluation.exports.exporting import OF_TRUTH, WRITERS, export
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import FurtherClip, read_questions, write_questions
from mimegen.evaluation.sampling import parse_sampling
from mimegen.evaluation.templates import read_templates
from mimegen.manifest.file import MANIFEST, add_rows, read_manifest
from running import invoked

HARNESSES = ("lmms-eval", "vlmevalkit", "inspect", "jsonl")


KINDS = {
    "mc": ("mc", "zero-shot", "video", None), "frames": ("mc", "zero-shot", "uniform:3", None),
    "few": ("mc", "few-shot", "uniform:2", None), "free": ("free", "zero-shot", "video", None),
    "3afc": ("3afc", "zero-shot", "video", None), "fold": ("mc", "zero-shot", "video", 1),
    "description": ("description", "zero-shot", "video", None)}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips, and questions about them of several kinds."""
    out = tmp_path_factory.mktemp("clips") / "out"
    rows = small_clips(out)
    for name, (format_, prompting, sampling, fold) in KINDS.items():
        request = QuestionRequest(format_, "label", prompting, read_templates(format_, None),
                                  fold=fold,
                                  sampling=parse_sampling(sampling), sampling_text=sampling)
        write_questions(out / f"questions-{name}.jsonl", questions_of(rows, request))
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def files(folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file_hash(file)
            for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(("target", "kind"), [
    *((target, "mc") for target in WRITERS if target not in OF_TRUTH), ("inspect", "few")])
def test_names_say_nothing_and_bytes_are_the_same_again(clips, tmp_path, target, kind):
    for place in ("first", "second"):
        export(clips / f"questions-{kind}.jsonl", target, tmp_path / place)
    assert files(tmp_path / "first") == files(tmp_path / "second")
    names = [*files(tmp_path / "first")]
    for archive in (tmp_path / "first").glob("*.zip"):
        names += ZipFile(archive).namelist()
    for shard in (tmp_path / "first").glob("*.tar"):
        with tarfile.open(shard) as opened:
            names += opened.getnames()
    told = [word for word in (*ACTIONS, "blank", "misaligned", "base", "man")
            if any(word in name for name in names)]
    assert told == []


@pytest.mark.parametrize("target", HARNESSES)
@pytest.mark.parametrize("kind", list(KINDS))
def test_harnesses_are_given_every_prompt_and_all_media(clips, tmp_path, target, kind):
    asked = read_questions(clips / f"questions-{kind}.jsonl")
    out = tmp_path / "out"
    export(clips / f"questions-{kind}.jsonl", target, out)
    items = lines(out / "questions.jsonl") if target != "vlmevalkit" else kit_items(out)
    assert [item["question_id"] for item in items] == [one.question_id for one in asked]
    assert [item["prompt"] for item in items] == [one.prompt for one in asked]
    for item, question in zip(items, asked, strict=True):
        shown = [*item["examples"], item]
        assert [one["prompt"] for one in shown] == \
            [*(one.prompt for one in question.examples), question.prompt]
        assert [one["answer"] for one in item["examples"]] == \
            [one.answer for one in question.examples]
        assert all((out / file).stat().st_size for one in shown for file in one["media"])
        assert len(item["media"]) == len(question.frames or [0])
        assert len({tuple(one["media"]) for one in shown}) == 1 + len(question.examples)


def kit_items(out: Path) -> list[dict[str, Any]]:
    with (out / "questions.tsv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return [{**row, "prompt": row["question"], "media": json.loads(row["media"]),
             "examples": json.loads(row["examples"])} for row in rows]


@pytest.mark.parametrize("target", HARNESSES)
def test_questions_of_text_alone_show_nothing(clips, tmp_path, target):
    asked = [one.model_copy(update={"condition": "text", "frames": []})
             for one in read_questions(clips / "questions-mc.jsonl")]
    write_questions(tmp_path / "text.jsonl", asked)
    out = tmp_path / "out"
    export(tmp_path / "text.jsonl", target, out, clips)
    items = lines(out / "questions.jsonl") if target != "vlmevalkit" else kit_items(out)
    assert [(item["media_type"], item["media"]) for item in items] == [("text", [])] * len(asked)
    assert not [*out.rglob("*.mp4")]


@pytest.mark.parametrize("target", ("lmms-eval", "vlmevalkit", "inspect"))
def test_harnesses_are_told_pairs_and_controls(clips, tmp_path, target):
    first, second, whole, *_ = read_questions(clips / "questions-frames.jsonl")
    asked = [*(one.model_copy(update={"pair": "speed-0000"}) for one in (first, second)), whole,
             whole.model_copy(update={"question_id": "c", "control": "one frame",
                                      "control_of": whole.question_id})]
    write_questions(tmp_path / "asked.jsonl", asked)
    export(tmp_path / "asked.jsonl", target, tmp_path / "out", clips)
    items = lines(tmp_path / "out" / "questions.jsonl") if target != "vlmevalkit" else \
        kit_items(tmp_path / "out")
    assert [(item["pair"], item["control"]) for item in items] == [
        ("speed-0000", "everything"), ("speed-0000", "everything"), ("", "everything"),
        ("", "one frame")]


def test_plain_lines_hold_no_answer(clips, tmp_path):
    export(clips / "questions-free.jsonl", "jsonl", tmp_path / "out")
    text = (tmp_path / "out" / "questions.jsonl").read_text()
    assert not [word for word in (*ACTIONS, "misaligned", '"answer"') if word in text]
    [item, *_] = lines(tmp_path / "out" / "questions.jsonl")
    assert set(item) == {"question_id", "format", "clip", "prompt", "options", "media_type",
                         "media", "examples"}


@pytest.mark.slow
def test_pictures_are_the_frames_that_questions_ask_about(clips, tmp_path):
    asked = read_questions(clips / "questions-frames.jsonl")
    export(clips / "questions-frames.jsonl", "inspect", tmp_path / "out")
    for item, question in zip(lines(tmp_path / "out" / "questions.jsonl"), asked, strict=True):
        assert [int(Path(file).stem) for file in item["media"]] == question.frames
    assert not (tmp_path / "out" / "clips").exists()


def test_clips_take_no_space_twice(clips, tmp_path):
    export(clips / "questions-mc.jsonl", "jsonl", tmp_path / "out")
    exported = [file.stat() for file in (tmp_path / "out").rglob("*.mp4")]
    own = [(clips / row.file_name).stat() for row in read_manifest(clips)]
    assert {file.st_ino for file in exported} == {file.st_ino for file in own}
    assert len(exported) == len(own)


def test_a_data_set_of_clips_has_a_table_and_a_card(clips, tmp_path):
    export(clips, "huggingface", tmp_path / "out")
    table = pyarrow.parquet.read_table(tmp_path / "out/test/metadata.parquet").to_pylist()
    rows = {row.sample_id: row for row in read_manifest(clips)}
    assert len(table) == len(rows)
    for row in table:
        clip = tmp_path / "out/test" / row["file_name"]
        assert file_hash(clip) == row["sha256"] == rows[row["plain_id"]].sha256
        assert row["labels"] == rows[row["plain_id"]].labels
        assert row["sample_id"] == clip.stem
    _, card, text = (tmp_path / "out/README.md").read_text().split("---\n", 2)
    matter = yaml.safe_load(card)
    assert matter["license"] == "cc0-1.0"
    assert matter["configs"][0]["data_files"] == [{"split": "test", "path": "test/**"}]
    assert "| motion | CC0-1.0 | mimegen | 36 |" in text


def test_a_list_that_is_empty_in_one_row_and_nested_in_another_is_text_in_both(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    one, other = read_manifest(clips)[:2]
    add_rows(tmp_path / "clips", [one.model_copy(update={"manipulations": []}),
                                  other.model_copy(update={"manipulations": [{"name": "local"}]})])
    export(tmp_path / "clips", "huggingface", tmp_path / "out")
    table = pyarrow.parquet.read_table(tmp_path / "out/test/metadata.parquet").to_pylist()
    assert {row["plain_id"]: row["manipulations"] for row in table if row["manipulations"]} == {
        one.sample_id: "[]", other.sample_id: '[{"name": "local"}]'}


def test_all_splits_have_the_same_columns_of_the_same_types(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    rows = read_manifest(clips)
    parts = ("train", "validation", "test")
    add_rows(tmp_path / "clips", [row.model_copy(update={
        "split": parts[number % 3], "tempo": 1.5 if number % 3 else None,
        "angle": 22.5 if number % 3 == 1 else 90}) for number, row in enumerate(rows)])
    export(tmp_path / "clips", "huggingface", tmp_path / "out")
    tables = [pyarrow.parquet.read_table(tmp_path / "out" / part / "metadata.parquet")
              for part in parts]
    assert tables[0].schema == tables[1].schema == tables[2].schema
    found = {row["plain_id"]: part for part, table in zip(parts, tables, strict=True)
             for row in table.to_pylist()}
    assert found == {row.sample_id: parts[number % 3] for number, row in enumerate(rows)}
    assert {row["angle"] for row in tables[0].to_pylist()} == {90.0}


def test_folds_become_splits_and_examples_travel(clips, tmp_path):
    export(clips / "questions-fold.jsonl", "huggingface", tmp_path / "out")
    splits = {one.clip: one.split for one in read_questions(clips / "questions-fold.jsonl")}
    assert {clip.name: clip.parent.name for clip in (tmp_path / "out").glob("*/*.mp4")} == splits
    few = lines(clips / "questions-few.jsonl")[:1]
    (tmp_path / "one.jsonl").write_text(json.dumps(few[0]))
    export(tmp_path / "one.jsonl", "huggingface", tmp_path / "few", clips)
    assert len([*(tmp_path / "few/examples").glob("*.mp4")]) == 3


def test_one_unknown_licence_makes_the_set_s_other(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    row = read_manifest(clips)[0]
    add_rows(tmp_path / "clips", [row.model_copy(update={
        "licence": "asked for by mail", "motion_source": "a lab | of ours"})])
    export(tmp_path / "clips", "huggingface", tmp_path / "out")
    card = (tmp_path / "out/README.md").read_text()
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "other"
    assert "| motion | asked for by mail | a lab \\| of ours | 1 |" in card


def test_licences_are_those_of_both_performers_and_the_background(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    first, second, *_ = read_manifest(clips)
    add_rows(tmp_path / "clips", [
        first.model_copy(update={"character_licence": "CC0-1.0", "character_source": "mimegen",
                                 "partner_character_licence": "CC-BY-NC-4.0",
                                 "partner_character_source": "a shop"}),
        second.model_copy(update=dict.fromkeys((
            "character_licence", "character_source", "partner_character_licence",
            "partner_character_source"), "CC0-1.0"))])
    export(tmp_path / "clips", "bids", tmp_path / "out")
    about = json.loads((tmp_path / "out/dataset_description.json").read_text())
    assert about["License"] == "CC-BY-NC-4.0; CC0-1.0"
    with (tmp_path / "out/stimuli/stimuli.tsv").open(encoding="utf-8") as table:
        given = {row["sample_id"]: row["license"] for row in csv.DictReader(table, delimiter="\t")}
    assert given[first.sample_id] == "CC-BY-NC-4.0; CC0-1.0"
    assert given[second.sample_id] == "CC0-1.0"
    readme = (tmp_path / "out/README.md").read_text()
    assert "| character | CC-BY-NC-4.0 | a shop | 1 |" in readme
    assert "| character | CC0-1.0 | CC0-1.0 | 1 |" in readme


def test_the_archive_of_croissant_is_named_by_its_content(clips, tmp_path):
    export(clips, "croissant", tmp_path / "out")
    described = json.loads((tmp_path / "out/croissant.json").read_text())
    for file in described["distribution"][:2]:
        assert file_hash(tmp_path / "out" / file["contentUrl"]) == file["sha256"]
    # Croissant 1.1 has this word of its own; with schema.org's, readers miss the archive.
    assert described["@context"]["containedIn"] == "cr:containedIn"
    assert described["distribution"][1]["sha256"][:16] in described["distribution"][1]["contentUrl"]


def test_clips_whose_names_have_dots_stay_samples_of_their_own(clips, tmp_path):
    asked = read_questions(clips / "questions-mc.jsonl")[:2]

    def members(*names: str) -> list[str]:
        write_questions(tmp_path / "dots.jsonl", [
            one.model_copy(update={"clip": name}) for one, name in zip(asked, names, strict=True)])
        export(tmp_path / "dots.jsonl", "webdataset", tmp_path / names[1], clips)
        with tarfile.open(tmp_path / names[1] / "shard-000000.tar") as shard:
            return sorted(shard.getnames())

    assert members("a.v1.mp4", "a.v2.mp4") == [
        "a-v1.json", "a-v1.mp4", "a-v2.json", "a-v2.mp4"]
    with pytest.raises(RequestError, match="differ only in dots"):
        members("a.v1.mp4", "a-v1.mp4")


def test_clips_that_are_only_shown_beside_others_have_no_records(clips, tmp_path):
    first, second, third = read_questions(clips / "questions-mc.jsonl")[:3]
    beside = [second, third]
    asked = first.model_copy(update={"further": [
        FurtherClip(sample_id=one.sample_id, clip=one.clip, file_name=one.file_name)
        for one in beside], "control": "reversed", "control_of": second.question_id})
    write_questions(tmp_path / "match.jsonl", [asked])
    export(tmp_path / "match.jsonl", "croissant", tmp_path / "out", clips)
    described = json.loads((tmp_path / "out/croissant.json").read_text())
    *_, shown, further = described["distribution"]
    assert shown["includes"] == [f"clips/{first.clip}"]
    assert sorted(further["includes"]) == sorted(f"clips/{one.clip}" for one in beside)
    record, = lines(tmp_path / "out/records.jsonl")
    assert (record["control"], record["control_of"]) == ("reversed", second.question_id)
    assert [one["clip"] for one in json.loads(record["further"])] == [one.clip for one in beside]


KIT = """
import json, sys, types
for name in ("vlmeval", "vlmeval.dataset", "vlmeval.dataset.video_base", "vlmeval.smp"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["vlmeval.dataset.video_base"].VideoBaseDataset = object
for name in ("dump", "get_intermediate_file_path", "load"):
    setattr(sys.modules["vlmeval.smp"], name, None)
import pandas, pathlib, mimegen_dataset
mimegen_dataset._write_answers(pathlib.Path("m.xlsx"), pandas.DataFrame({
    "question_id": ["a", "b"], "prediction": ["A", "Failed to obtain answer via API."]}))
[line] = open("m_answers.jsonl")
assert json.loads(line) == {"question_id": "a", "model": "m", "output": "A"}
"""


KIT_SCORES = KIT.partition("mimegen_dataset._write")[0] + """
table = pandas.read_csv("questions.tsv", sep="\\t")
for said, right in (("A", True), ("B", False)):
    table["prediction"] = said
    assert [mimegen_dataset._right(row) for _, row in table.iterrows()] == [right] * len(table)
"""


@pytest.mark.slow
def test_vlmevalkit_is_right_about_answers_that_pandas_takes_for_other_things(clips, tmp_path):
    asked = read_questions(clips / "questions-mc.jsonl")[:3]
    write_questions(tmp_path / "odd.jsonl", [
        one.model_copy(update={"options": [text, "x"], "answer": text, "labels": [text]})
        for one, text in zip(asked, ("None", "2", "007"), strict=True)])
    export(tmp_path / "odd.jsonl", "vlmevalkit", tmp_path / "out", clips)
    subprocess.run([sys.executable, "-c", KIT_SCORES], cwd=tmp_path / "out", check=True)


KIT_TABLE = KIT.partition("mimegen_dataset._write")[0] + """
import csv
said = ["None", "N/A", "2", "02", "a\\r\\nB", "thought " * 10000 + "Answer: B", "=B", ""]
table = pandas.DataFrame({"prediction": said})
table.to_csv("m.tsv", sep="\\t", index=False, encoding="utf-8", quoting=csv.QUOTE_ALL)
assert list(mimegen_dataset._as_written("m.tsv")["prediction"]) == said
mimegen_dataset.load = lambda path: json.load(open(path))
open("m.json", "w").write(json.dumps(table.to_dict("records")))
assert list(mimegen_dataset._as_written("m.json")["prediction"]) == said
pandas.read_excel = lambda path, **kinds: table.assign(prediction=table["prediction"].str[:32767])
try:
    mimegen_dataset._as_written("m.xlsx")
except ValueError as problem:
    assert "was cut" in str(problem)
else:
    raise AssertionError("a cut answer was not noticed")
sys.modules["vlmeval"].run = sys.modules["vlmeval"]
sys.modules["vlmeval"].dataset = types.SimpleNamespace(DATASET_CLASSES=[])
import os, run
assert os.environ["PRED_FORMAT"] == "tsv"
"""


@pytest.mark.slow
def test_vlmevalkits_predictions_are_read_as_they_were_written_and_cut_ones_refused(
        clips, tmp_path):
    export(clips / "questions-few.jsonl", "vlmevalkit", tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", KIT_TABLE], cwd=tmp_path / "out",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_request_of_vlmevalkit_that_failed_is_no_answer(clips, tmp_path):
    export(clips / "questions-few.jsonl", "vlmevalkit", tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", KIT], cwd=tmp_path / "out",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_task_of_lmms_eval_names_functions_that_are_there(clips, tmp_path):
    export(clips / "questions-few.jsonl", "lmms-eval", tmp_path / "out")
    text = (tmp_path / "out/mimegen.yaml").read_text()
    assert "task: mimegen_mc\n" in text
    program = """
import json, mimegen_utils as utils
docs = [json.loads(line) for line in open("questions.jsonl")]
for doc in docs:
    chat = utils.doc_to_messages(doc)
    assert [one["role"] for one in chat] == ["user", "assistant"] * 3 + ["user"]
    assert [part["type"] for part in chat[-1]["content"]] == ["image", "image", "text"]
    assert len(utils.doc_to_visual(doc)) == 8
    assert utils.doc_to_text(doc).endswith(doc["prompt"])
    letter = "ABCD"[doc["options"].index(doc["answer"])]
    right, wrong = (utils.process_results(doc, [said])["accuracy"] for said in (letter, "none"))
    assert (right["score"], wrong["score"]) == (1.0, 0.0)
    assert right["action"] == doc["action"] and right["question_id"] == doc["question_id"]
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "out",
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_only_questions_in_a_folder_are_found(clips, tmp_path):
    with pytest.raises(RequestError, match=r"name one: .*questions-3afc"):
        export(clips, "inspect", tmp_path / "out")
    shutil.copytree(clips, tmp_path / "clips")
    for file in (tmp_path / "clips").glob("questions-*"):
        if file.name != "questions-mc.jsonl":
            file.unlink()
    assert len(export(tmp_path / "clips", "inspect", tmp_path / "out").questions) == 36
    (tmp_path / "clips" / "questions-mc.jsonl").unlink()
    with pytest.raises(RequestError, match="make some with mimegen questions"):
        export(tmp_path / "clips", "inspect", tmp_path / "other")


def test_what_cannot_be_exported_is_said_in_one_line_and_leaves_nothing(clips, tmp_path):
    shutil.copytree(clips, tmp_path / "clips")
    gone, other, *_ = read_manifest(clips)
    question = tmp_path / "clips" / "questions-mc.jsonl"
    (tmp_path / "clips" / gone.file_name).unlink()
    refused(question, "jsonl", tmp_path, f"{Path(gone.file_name).name}: no such file")
    # A clip that is no video, for whoever reads videos alone.
    (tmp_path / "clips" / gone.file_name).write_bytes(b"")
    refused(tmp_path / "clips" / "questions-frames.jsonl", "inspect", tmp_path, "could be read")
    gif = other.file_name.replace(".mp4", ".gif")
    shutil.move(tmp_path / "clips" / other.file_name, tmp_path / "clips" / gif)
    add_rows(tmp_path / "clips", [other.model_copy(update={"file_name": gif})])
    refused(tmp_path / "clips", "huggingface", tmp_path, "expected a file that ends in .mp4")
    refused(question, "inspect", tmp_path, "make the questions with --sampling")
    manifest = tmp_path / "clips" / MANIFEST
    manifest.write_text(2 * manifest.read_text())
    refused(question, "jsonl", tmp_path, "has 2 rows, expected one")
    manifest.unlink()
    refused(question, "jsonl", tmp_path, f"{MANIFEST}: no such file, or it has no rows")


def test_questions_about_other_clips_are_told_apart(clips, tmp_path):
    (tmp_path / "q.jsonl").write_text((clips / "questions-mc.jsonl").read_text())
    refused(tmp_path / "q.jsonl", "jsonl", tmp_path, "or --clips")
    one, *_ = read_manifest(clips)
    shutil.copytree(clips / "clips", tmp_path / "others" / "clips")
    add_rows(tmp_path / "others", [one])
    refused(tmp_path / "q.jsonl", "jsonl", tmp_path, "give the folder of the clips with --clips",
            tmp_path / "others")
    assert len(export(tmp_path / "q.jsonl", "jsonl", tmp_path / "fine", clips).clips) == 36


def test_what_is_there_is_never_written_over(clips, tmp_path):
    out = tmp_path / "out"
    command = ("export", clips / "questions-mc.jsonl", "--to", "inspect", "--out", out)
    done = invoked(*command)
    assert done.returncode == 0, done.stderr
    assert "36 questions about 36 clips" in done.stdout
    before = files(out)
    done = invoked(*command)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "already exists" in done.stderr
    assert files(out) == before


def refused(source: Path, target: str, folder: Path, said: str, clips: Path | None = None) -> None:
    with pytest.raises(RequestError, match=re.escape(said)):
        export(source, target, folder / "refused", clips)
    assert not (folder / "refused").exists()
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]


def test_parquet_without_its_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RequestError, match=r"pip install 'mimegen\[huggingface\]'"):
        huggingface._parquets([{"file_name": "a.mp4"}], [[0]])
