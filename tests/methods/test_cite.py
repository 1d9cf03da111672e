"""The text for a paper is computed from the rows, and says what the rows say."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import mimegen as mg
from array_files import walking
from made_row import CLIP
from mimegen.base.arrays import FloatArray
from mimegen.evaluation.question import Question, write_questions
from mimegen.manifest.left_out import LeftOut, note_left_out
from mimegen.manifest.row import Row
from mimegen.methods.clipset import ClipSet
from mimegen.methods.counting import ranged, spans, tally
from mimegen.methods.description import Description, describe
from mimegen.methods.works import matching, works
from mimegen.readers.text_to_motion.encoding import encoded
from mimegen.readers.video.landmarks import VideoQuality
from mimegen.writers.research import humanml_joints
from running import invoked

ROOT = Path(__file__).parents[2]
CYCLES = {"engine": "cycles", "sampling": {"samples": 32}}
DOTS = {"type": "pointlight", "display": "johansson", "dot_set": "johansson", "dot_count": 13,
        "dot_set_source": "Johansson 1973", "dots_from": "character", "projection": "orthographic",
        "dot_diameter_deg": 0.2, "figure_height_deg": 14.4, "distance_cm": 57.3,
        "background_config": None, "background_name": None, "config_name": None, "angle": None,
        "render_config_name": None, "shot_key": None}


def content(number: int, **facts: object) -> dict[str, Any]:
    name = f"clip-{number:03}"
    return CLIP | {"row_version": 2, "sample_id": name, "file_name": f"clips/{name}.mp4",
                   "sha256": f"{number:064x}", "motion_kind": "bvh", "motion_file": "walk.bvh",
                   "motion_sha256": "aa", "licence": "CC-BY-4.0", "mimegen_version": "0.1.0",
                   "render_config": {"engine": "raster"}} | facts


# Two actions, two characters, two configs, displays, a control and a scene: one of each kind.
MIXED = [
    *(content(number, avatar="man" if number < 3 else "woman", angle=90 * (number % 2),
              config_name="base+blank@90" if number % 2 else "base+blank@0")
      for number in range(4)),
    *(content(number, action="boxing", take="boxing", actor="choreography", motion_kind="score",
              motion_file="boxing.score.yaml", seed=number - 4, licence="CC0-1.0",
              background_config="aligned", background_name="gym", background_licence="CC-BY-SA-4.0",
              background_author="A. Nonym", background_source="https://example.org/gym",
              render_config_name="mime", render_config=CYCLES, width=1280, height=720, fps=60.0,
              frames=300, blender_version="5.0.1", device="optix", config_name="base+aligned@0",
              angle=0) for number in range(4, 7)),
    content(7, **DOTS, condition="upright"), content(8, **DOTS, condition="inverted"),
    content(9, config_name="nobody+blank@0", angle=0),
]


def rows_of(contents: Sequence[dict[str, Any]]) -> tuple[Row, ...]:
    return tuple(Row.model_validate(one) for one in contents)


def written(out: Path, contents: Sequence[dict[str, Any]]) -> Path:
    out.mkdir(exist_ok=True)
    (out / "manifest.jsonl").write_text("".join(json.dumps(one) + "\n" for one in contents))
    return out


def methods_of(contents: Sequence[dict[str, Any]]) -> str:
    return Description.of(ClipSet(rows_of(contents))).methods


def test_every_number_is_that_of_the_rows() -> None:
    said = methods_of(MIXED)
    seconds = sum(one["frames"] / one["fps"] for one in MIXED)
    assert f"{len(MIXED)} video clips of 2 actions (boxing and walk), {seconds:.1f} s in all (2" \
        " to 5 s each)" in said
    for key, words in (("avatar", "The characters are {}."),
                       ("angle", "The camera was turned by {} counterclockwise")):
        shown = [one for one in MIXED if one[key] is not None and (
            key != "avatar" or not str(one["config_name"]).startswith("nobody"))]
        counts = Counter(one[key] for one in shown).most_common()
        listed = " and ".join(f"{value}{' degrees' if key == 'angle' else ''} ({count} clip"
                              f"{'s' if count > 1 else ''})" for value, count in counts)
        assert words.format(listed) in said
    assert "7 clips show a rendered body, 2 clips show a point-light display and 1 clip shows a" \
        " place without a performer" in said
    assert "3 performances from written choreographies (seeds 0 to 2)" in said
    assert "1 performance from 1 motion file (BVH)" in said
    assert "The backgrounds of the 8 rendered clips are blank (5 clips) and aligned (3 clips);" \
        " the places are 1 background (gym)" in said
    assert "3 clips are 1280 x 720 pixels at 60 frames a second, rendered by Cycles of Blender" \
        " 5.0.1 on optix with at most 32 samples a pixel (render config mime)." in said
    assert "5 clips are 640 x 360 pixels at 24 frames a second, drawn by mimegen's OpenGL" in said
    assert "2 point-light displays (johansson) have 13 dots" in said
    assert "Condition: inverted (1 display) and upright (1 display)." in said


def test_displays_with_the_same_pictures_are_told_once() -> None:
    said = methods_of([content(0, **DOTS), content(1, **DOTS | {"display": "standard"})])
    assert said.count("pixels at 24 frames a second") == 1 and "All clips are 640 x 360" in said


def test_sets_of_one_kind_are_told_without_counts() -> None:
    said = methods_of(MIXED[4:7])
    assert "The character is man." in said and "All clips are 1280 x 720" in said
    assert "All clips show the view of the render config's own camera" in said
    assert "point-light" not in said and "motion file" not in said
    assert "The clip is 640 x 360 pixels" in methods_of(MIXED[:1])


@pytest.mark.parametrize(("facts", "words"), [
    ({"mirrored": True}, "1 was mirrored left to right"),
    ({"tempo": 1.2}, "1 was shown at another tempo (1.2)"),
    ({"face": {"emotion": "anger", "intensity": 1.0}},
     "1 was given a facial expression, speech or gaze (anger)"),
    ({"intensity": 0.5}, "1 was shown at another intensity (0.5)"),
    ({"gait": {"asked": {"speed": 0.8, "treadmill": True}}, "motion_kind": "gait"},
     "The options of the gaits are speed 0.8, treadmill yes."),
    ({"avatar": None}, "1 clip has no character: the dots are those of the motion data itself"),
    ({"style": "tired"}, "1 was performed in a style (tired)"),
    ({"partner_avatar": "woman"}, "1 clip shows two people; the second character is woman."),
    ({"performers": 2}, "1 clip shows two people."),
    ({"mimegen_version": "0.2.0"}, "mimegen 0.1.0 (9 clips) and 0.2.0 (1 clip)"),
    ({"set_seed": 7}, "drawn with seed 7"),
    ({"camera_look": {"name": "phone"}}, "with the camera look phone"),
    ({"light_tint": [1.0, 1.0, 1.0]}, "with figures lit like their background"),
])
def test_what_one_clip_differs_in_is_said(facts: dict[str, Any], words: str) -> None:
    assert words not in methods_of(MIXED)
    assert words in methods_of([MIXED[0] | facts, *MIXED[1:]])


@pytest.mark.parametrize(("scales", "words"), [
    ([1.0764, 1.0764], "Distances and speeds are 1.076 times those of the recording, because the"
     " character's legs are longer."),
    ([0.95, None], "Distances and speeds in 1 clip are 0.950 times those of the recording, because"
     " the character's legs are shorter."),
    ([1.0764, 0.95], "Distances and speeds are 0.95 to 1.076 times those of the recordings, because"
     " they are scaled with the length of the characters' legs;"),
])
def test_distances_that_differ_from_the_recordings_are_said(scales: list[float | None],
                                                            words: str) -> None:
    clips = [content(number, travel_scale=scale) for number, scale in enumerate(scales)]
    assert words in methods_of(clips)
    assert words.replace("Distances and speeds", "Distances") in methods_of(
        [clip | {"tempo": 1.2} for clip in clips])
    assert "Distances" not in methods_of([content(0, travel_scale=1.009), content(1)])


def test_licences_that_ask_for_credit_are_listed_with_their_source() -> None:
    lines = Description.of(ClipSet(rows_of(MIXED))).attributions
    assert lines == (
        "background of 3 clips, source A. Nonym, https://example.org/gym: CC-BY-SA-4.0: name the"
        " author and the licence; asks for the same licence for what is made from it",
        "motion (walk.bvh) of 7 clips, source not stated: CC-BY-4.0: name the author and the"
        " licence")
    unknown = Description.of(ClipSet(rows_of([content(0, licence="not stated")]))).attributions
    assert len(unknown) == 1 and "licence not stated" in unknown[0]
    free = [MIXED[4] | {"background_licence": "CC0-1.0"}]
    assert Description.of(ClipSet(rows_of(free))).attributions == ()


def test_doubts_faults_and_cells_without_clips_are_stated(tmp_path: Path) -> None:
    note = "the unit is a guess"
    out = written(tmp_path / "out", [
        content(0, motion_notes=[note]), content(1, motion_notes=[note]),
        content(2, faults=[{"fault": "float", "amount": 0.6}],
                set_changes={"moved_m": [0.0, 0.0], "left_out": [[1, 0]], "names": ["rope"],
                             "doubts": ["wall"]})])
    note_left_out(out, [LeftOut("walk", "a", "preview", ("base+aligned@0",), "no background is"
                                " known", "")])
    (out / "status").mkdir()
    (out / "status" / "host.1.1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (
        {"at": 1.0, "job": {"host": "host", "pid": 1, "store": "store"}},
        {"at": 2.0, "clip": "walk-b", "state": "failed", "why": "no hands"},
        {"at": 3.0, "ended": True, "why": None})))
    assert describe(out).statements == (
        "background blank: the performers do not fit (wall) (1 clip)",
        f"motion walk.bvh: {note} (2 clips)",
        "background blank: left out for the performers or the camera: rope (1 clip)",
        "deliberate fault float of amount 0.6 (1 clip)",
        "walk, a, config preview: base+aligned@0 left out: no background is known",
        "walk-b was not made: no hands")


def test_several_outputs_are_one_set_in_which_a_clip_counts_once(tmp_path: Path) -> None:
    first = written(tmp_path / "a", MIXED[:5])
    second = written(tmp_path / "b", MIXED[3:])
    found = describe(first, second, first)
    assert found.methods.startswith(f"The stimuli are {len(MIXED)} video clips")
    assert "2 clips that several of the folders have are counted once." in found.methods
    assert found.methods.replace(" 2 clips that several of the folders have are counted once.",
                                 "") == methods_of(MIXED)
    # The same name is another clip where its file differs.
    written(second, [MIXED[0] | {"sha256": "f" * 64}])
    assert describe(first, second).methods.startswith("The stimuli are 6 video clips")


def test_questions_describe_the_clips_that_they_are_about(tmp_path: Path) -> None:
    out = written(tmp_path / "out", MIXED)
    questions = [Question(question_id=f"q{number}", sample_id=f"clip-00{number}", action="walk",
                          format="mc", prompt="?", options=["a", "b", "c", "d"], answer="a",
                          labels=["a"], seed=3) for number in range(2)]
    file = out / "questions-mc.jsonl"
    write_questions(file, questions)
    said = describe(file).methods
    assert said.startswith("The stimuli are 2 video clips of 1 action (walk)")
    assert "2 questions (mc, about the label, zero-shot prompting, drawn with seed 3) asked about" \
        " 2 clips, with 4 options each, so that guessing is right in 25.0% of the cases." in said
    elsewhere = tmp_path / "questions-mc.jsonl"
    elsewhere.write_bytes(file.read_bytes())
    assert "--clips" in invoked("cite", elsewhere).stderr
    assert invoked("cite", elsewhere, "--clips", out).stdout == invoked("cite", file).stdout
    write_questions(file, [questions[0].model_copy(update={"sample_id": "gone"})])
    assert "asks about gone, which has no row" in invoked("cite", file).stderr


def test_the_command_prints_text_bibtex_and_json(tmp_path: Path) -> None:
    out = written(tmp_path / "out", MIXED)
    text = invoked("cite", out).stdout
    heads = re.findall(r"^# (.*)", text, re.MULTILINE)
    assert heads == ["Methods", "References", "Attribution", "To state in the paper"]
    assert text == f"{mg.open(out).describe()}\n"
    bibtex = invoked("cite", out, "--bibtex").stdout
    assert re.findall(r"^@\w+\{(\w+),$", bibtex, re.MULTILINE) == [
        "mimegen", "blender", "mime", "johansson1973"]
    assert bibtex.count("{") == bibtex.count("}") and r"Perception \& Psychophysics" in bibtex
    found = json.loads(invoked("cite", out, "--json").stdout)
    assert found["bibtex"] == bibtex and found["methods"] in text
    assert all(line in text for line in found["references"] + found["attribution"])


@pytest.mark.parametrize(("arguments", "message"), [
    (("nothing",), "nothing"),
    (("out", "--bibtex", "--json"), "mutually exclusive"),
    (("out", "--clips", "out"), "only applies to files of questions"),
    (("empty",), "expected a folder that mimegen render or pointlight wrote"),
])
def test_what_is_wrong_is_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "out", MIXED)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    done = invoked("cite", *arguments)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_a_part_of_the_clips_is_described_from_python(tmp_path: Path) -> None:
    clips = mg.open(written(tmp_path, MIXED))
    assert clips.where(avatar="woman").describe().methods.startswith("The stimuli are 1 video clip")
    with pytest.raises(mg.RequestError, match="no clip to describe"):
        clips.where(avatar="nobody").describe()


def test_mimegen_is_cited_as_its_citation_file_says(tmp_path: Path) -> None:
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    cited = describe(written(tmp_path, MIXED)).works["mimegen"]
    assert (cited.title, cited.version) == (stated["title"], stated["version"])
    assert cited.author == f"{{{stated['authors'][0]['name']}}}"


@pytest.mark.parametrize(("source", "keys"), [
    ("AMASS, CMU subset", {"amass", "cmu"}), ("mocap.cs.cmu.edu", {"cmu"}), ("SMPL-X", {"smplx"}),
    ("SMPL", {"smpl"}), ("SMPL-H", {"smpl", "smplh"}), ("CMU 41 markers", set()), ("my lab", set()),
    ("Johansson 1973; numbered as Vanrie & Verfaillie 2004 and BioMotion Toolbox",
     {"johansson1973", "vanrie2004", "vanboxtel2013"}), ("LAFAN1", {"lafan1"})])
def test_sources_name_the_works_to_cite(source: str, keys: set[str]) -> None:
    assert matching([source]).keys() == keys


def joints_of_a_walk() -> FloatArray:
    return humanml_joints(mg.take("walking").motion())


# What a user's file holds, and the works that it is really made with.
@pytest.mark.parametrize(("name", "content_of", "keys", "kind"), [
    ("joints.npy", joints_of_a_walk, set(),
     "NPY with joint positions in the order of HumanML3D"),
    ("vectors.npy", lambda: encoded(joints_of_a_walk()), {"humanml3d"},
     "NPY with HumanML3D vectors"),
    ("smpl.npz", lambda: walking(24), {"smpl"}, "NPZ with SMPL"),
    ("smplh.npz", lambda: walking(52), {"smpl", "smplh"}, "NPZ with SMPL-H"),
    ("smplx.npz", lambda: walking(55), {"smplx"}, "NPZ with SMPL-X"),
    ("walk.bvh", None, set(), "BVH with MotionBuilder or HumanIK"),
])
def test_formats_are_cited_only_for_what_is_of_them(tmp_path: Path, name: str, content_of: Any,
                                                    keys: set[str], kind: str) -> None:
    file = tmp_path / name
    if content_of is None:
        mg.take("walking").save(file)
    elif name.endswith(".npz"):
        np.savez(file, mocap_framerate=30.0, **content_of())
    else:
        np.save(file, content_of())
    record = mg.load_motion(file).pointlight().record
    found = Description.of(ClipSet(rows_of([content(0, **{
        fact: record[fact] for fact in ("motion_system", "motion_kind", "motion_notes")})])))
    assert found.works.keys() - {"mimegen", "mime"} == keys
    assert f"1 performance from 1 motion file ({kind})" in found.methods


@pytest.mark.parametrize(("facts", "keys"), [
    # Anybody's bones may have these names.
    ({"motion_system": "CMU"}, set()), ({"motion_system": "CMU", "motion_source": "CMU"}, {"cmu"}),
    ({"motion_system": "joint positions in the order of MediaPipe"}, set()),
    ({"motion_notes": VideoQuality(1.0, 1.0, 1.0, 2.0).notes("MediaPipe 0.10")}, {"mediapipe"}),
])
def test_names_of_bones_say_nothing_about_a_source(facts: dict[str, Any], keys: set[str]) -> None:
    found = Description.of(ClipSet(rows_of([content(0, **facts)])))
    assert found.works.keys() - {"mimegen", "mime"} == keys


def test_every_work_has_what_a_reference_needs() -> None:
    for key, work in works().items():
        assert work.author and work.title and key.isalnum()
        assert work.reference.startswith(work.author.replace("{", "").split(",")[0].split("}")[0])
    assert "others" not in works()["mediapipe"].reference


def test_emotions_cite_the_studies_that_they_follow() -> None:
    shown = content(0, face={"emotion": "anger"})
    found = Description.of(ClipSet(rows_of([shown])))
    assert {"emfacs", "du2014"} <= found.works.keys()
    assert "10.1073/pnas.1322355111" in found.bibtex


def test_counts_and_ranges() -> None:
    assert tally(["b", "a", "b"]) == "b (2 clips) and a (1 clip)" and tally(["a", "a"]) == "a"
    assert ranged([5.04, 5.21], " s") == "5 to 5.2 s" and ranged([10, 9]) == "9 to 10"
    assert spans([3, 0, 1, 2, 7]) == "0 to 3 and 7" and spans([4, 5]) == "4, 5"
