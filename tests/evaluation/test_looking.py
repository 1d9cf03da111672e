"""Where people look: known answers, silence where nobody could tell, and choices that are fair."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.keypointfiles import write_keypoints
from mimegen.compositing.passfiles import camera_matrices
from mimegen.evaluation.answers import Answer
from mimegen.evaluation.audit import audit, read_items
from mimegen.evaluation.looking import LIMITS, NEEDED, TARGETS, GazeTrack
from mimegen.evaluation.numbers import number_questions, read_number_wording
from mimegen.evaluation.probes import (
    ProbeRequest,
    parse_probes,
    probe_questions,
    read_probe_wording,
)
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.scoring import score
from mimegen.faces.overlay import FaceOverlay
from mimegen.groundtruth.keypoints import KeypointMaker
from mimegen.groundtruth.surface import PosedScene
from mimegen.library.cast import DescribedPerson
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import altered, library_take
from mimegen.manifest.row import Row
from mimegen.shots.config import read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.study.settings import read_settings
from mimegen.study.trials import parse_tasks, trial_of
from questions_rows import library_rows
from test_probes import NOSE, STANDING

FRAMES, FPS = 40, 20.0
SIZE = 640, 360
# A camera 5 m before the origin, at the height of the eyes; the person's left is at its right.
CAMERA_AT = np.array([0.0, -5.0, 1.63])
ROTATION = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
WORDING = read_probe_wording(None)


def way(yaw: float, pitch: float = 0.0) -> FloatArray:
    """Degrees to the person's own left from straight ahead, and up."""
    left, up = np.radians(yaw), np.radians(pitch)
    return np.array([np.sin(left) * np.cos(up), -np.cos(left) * np.cos(up), np.sin(up)])


def somebody(look: FloatArray, x: float = 0.0, hands: FloatArray | None = None
             ) -> dict[str, FloatArray]:
    """Landmarks (3,) of somebody whose head points where the eyes look; ``hands`` are a place."""
    found = {"nose": np.array(NOSE)}
    for side, sign in (("left", 1), ("right", -1)):
        for name, (left, y, up) in STANDING.items():
            found[f"{side}_{name}"] = np.array([sign * left, y, up])
            if hands is not None and name in ("wrist", "middle1", "thumb4", "index4", "middle4"):
                found[f"{side}_{name}"] = hands
    ears = (found["left_ear"] + found["right_ear"]) / 2
    found["nose"] = ears + 0.12 * look
    return {name: found[name] + [x, 0, 0] for name in NEEDED}


def arrays_of(people: list[tuple[dict[str, FloatArray], FloatArray]], seen: bool = True
              ) -> dict[str, Any]:
    """The arrays of a keypoints.npz of people who stand still; of each, where they look (3,)."""
    names = sorted(NEEDED)
    world = np.array([[body[name] for name in names] for body, _ in people])
    local = (world - CAMERA_AT) @ ROTATION.T
    pixels = 500 * local[..., :2] / local[..., 2:] + np.array(SIZE) / 2
    gaze = np.array([[look, look] for _, look in people])
    return {"names": np.array(names), "rotation": ROTATION, "translation": -ROTATION @ CAMERA_AT,
            "width": np.array(SIZE[0]), "height": np.array(SIZE[1]), "fps": np.array(FPS),
            "visibility": np.full((FRAMES, len(people), len(names)), 2 if seen else 1, np.uint8)
            } | {key: np.tile(one, (FRAMES, *np.ones(one.ndim, int))) for key, one in (
                ("world", world), ("pixels", pixels), ("gaze", gaze))}


def looking(arrays: dict[str, Any], folder: Path) -> GazeTrack | None:
    np.savez(folder / "keypoints.npz", **arrays)
    return GazeTrack.of(folder / "keypoints.npz", FPS)


def alone(yaw: float, pitch: float = 0.0, hands: FloatArray | None = None) -> dict[str, Any]:
    look = way(yaw, pitch)
    return arrays_of([(somebody(look, hands=hands), look)])


EYES = np.array([0.0, -0.1, 1.63])


@pytest.mark.parametrize(("arrays", "answer", "wrong"), [
    (alone(0), "camera", {"hands", "down", "up", "left", "right"}),
    (alone(60), "right", {"camera", "hands", "down", "up", "left"}),
    (alone(-60), "left", {"camera", "hands", "down", "up", "right"}),
    (alone(0, -40), "down", {"camera", "hands", "up", "left", "right"}),
    (alone(0, 35), "up", {"camera", "hands", "down", "left", "right"}),
    (alone(0, -40, hands=EYES + 0.45 * way(0, -40)), "hands", {"camera", "up", "left", "right"}),
    (alone(0, hands=EYES + 0.45 * way(0)), None, None),
    (alone(12), None, None), (alone(28), None, None), (alone(60, -25), None, None),
    (alone(0, -20), None, None), (alone(0, -40, hands=EYES + 0.45 * way(15, -40)), None, None),
])
def test_what_is_looked_at_and_what_clearly_not(
    tmp_path: Path, arrays: dict[str, Any], answer: str | None, wrong: set[str] | None
) -> None:
    found = looking(arrays, tmp_path)
    assert found is not None
    looks = list(found.spans())
    assert [TARGETS[one.target] for one in looks] == ([answer] if answer else [])
    if looks:
        assert {TARGETS[one] for one in looks[0].clearly_not_at} == wrong
        assert (looks[0].start, looks[0].end) == (0, FRAMES)


def test_nothing_is_said_of_hidden_eyes_other_heads_and_short_looks(tmp_path: Path) -> None:
    look = way(0)
    hidden = looking(arrays_of([(somebody(look), look)], seen=False), tmp_path)
    # The eyes look at the camera, the head points far to the side.
    turned = looking(arrays_of([(somebody(way(LIMITS.head_deg + 8)), look)]), tmp_path)
    glance = alone(60)
    frames = int(LIMITS.least_s * FPS) - 2
    glance["gaze"][:] = way(28)
    glance["gaze"][5:5 + frames] = way(60)
    short = looking(glance, tmp_path)
    assert all(one is not None and not list(one.spans()) for one in (hidden, turned, short))
    glance["gaze"][5:5 + frames + 3] = way(60)
    longer = looking(glance, tmp_path)
    assert longer is not None and [one.start for one in longer.spans()] == [5]


def test_keypoints_that_say_nothing_of_gaze_are_no_error_and_damage_is(tmp_path: Path) -> None:
    arrays = alone(0)
    arrays["gaze"][:] = np.nan
    assert (found := looking(arrays, tmp_path)) is not None and not list(found.spans())
    del arrays["gaze"]
    assert looking(arrays, tmp_path) is None
    (tmp_path / "keypoints.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(RequestError, match="cannot be read"):
        GazeTrack.of(tmp_path / "keypoints.npz", FPS)


def two(first: FloatArray, second: FloatArray, apart: float = 1.2) -> dict[str, Any]:
    return arrays_of([(somebody(first, -apart / 2), first), (somebody(second, apart / 2), second)])


def test_of_two_each_is_told_by_their_place_and_the_other_is_a_target(tmp_path: Path) -> None:
    found = looking(two(way(90), way(0, 35)), tmp_path)
    assert found is not None
    assert [(one.person, TARGETS[one.target]) for one in found.spans()] == [
        (0, "other"), (1, "up")]
    assert [found.side(person) for person in (0, 1)] == [1, 2]
    near = looking(two(way(90), way(0, 35), apart=0.2), tmp_path)
    assert near is not None and near.side(0) is None
    # Who looks at the other looks to the right too, so that this is not offered.
    assert TARGETS.index("right") not in next(iter(found.spans())).clearly_not_at


def row_with(folder: Path, row: Row, arrays: dict[str, Any]) -> Row:
    place = folder / "passes" / row.sample_id
    place.mkdir(parents=True)
    np.savez(place / "keypoints.npz", **arrays)
    facts = {"folder": f"passes/{row.sample_id}", "key": 64 * "a", "files": ["keypoints.npz"],
             "sha256": 64 * "b"}
    return Row.model_validate(dict(row) | {"fps": FPS, "frames": FRAMES,
                                           "passes": {"keypoints": facts}})


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    """Sixty clips: many look at their hands, fewer to the sides and at the camera, few up."""
    made = [alone(0, -40, hands=EYES + 0.45 * way(0, -40))] * 26 + [alone(60)] * 12 + [
        alone(-60)] * 8 + [alone(0)] * 6 + [two(way(90), way(0, 35))] * 4 + [alone(20)] * 4
    found = library_rows(("base+blank@0",))[:len(made)]
    assert len(found) == len(made)
    return [row_with(tmp_path, row, arrays) for row, arrays in zip(found, made, strict=True)]


def request(**more: Any) -> ProbeRequest:
    return ProbeRequest(("gaze_target",), WORDING, **more)


def test_each_choice_of_a_block_is_right_once(tmp_path: Path, rows: list[Row]) -> None:
    made, left_out = probe_questions(tmp_path, rows, request())
    assert left_out == {"gaze_target": len(rows) - len({one.sample_id for one in made})}
    answers: dict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for one in made:
        assert one.answer in one.options and len(set(one.options)) in (2, 3)
        answers[frozenset(one.options)][one.answer] += 1
    assert len(made) >= 30 and all(len({*own.values()}) == 1 and own.keys() == options
                                   for options, own in answers.items())
    assert {len(options) for options in answers} >= {3}
    assert len({one.question_id for one in made}) == len(made)


def test_nobody_guesses_the_target_without_the_clip(tmp_path: Path, rows: list[Row]) -> None:
    made, _ = probe_questions(tmp_path, rows, request())
    write_questions(tmp_path / "questions.jsonl", made)
    findings, _ = audit(read_items(tmp_path / "questions.jsonl"))
    assert not [one.rule for one in findings if one.leaks]


def test_who_and_when_are_in_the_question(tmp_path: Path, rows: list[Row]) -> None:
    made, _ = probe_questions(tmp_path, rows, request())
    of_two = [one for one in made if "of the picture look" in str(one.question)]
    assert {("left of" in str(one.question), one.answer) for one in of_two} <= {
        (True, "at the other person"), (False, "upwards")}
    assert of_two and all("between 0.0 s and 2.0 s" in str(one.question) for one in made)


def test_sampled_frames_show_what_is_asked_about(tmp_path: Path, rows: list[Row]) -> None:
    none = FrameSampling("window", (5.0, 6.0, 1.0))
    assert probe_questions(tmp_path, rows, request(
        sampling=FrameSampling("uniform", (4,)), sampling_text="uniform:4"))[0]
    late = [row.model_copy(update={"frames": 200}) for row in rows]
    assert not probe_questions(tmp_path, late, request(sampling=none))[0]


def test_a_free_answer_is_right_where_it_is_nearest_to_the_right_choice(
    tmp_path: Path, rows: list[Row]
) -> None:
    made, _ = probe_questions(tmp_path, rows, request(is_open=True))
    said = {"at the camera": "They look straight into the camera.",
            "to the left": "to the left side", "to the right": "to the right side",
            "at their own hands or what they hold": "at their hands", "upwards": "upward",
            "at the other person": "at the other person", "downwards": "down"}
    assert not any(one.options for one in made) and all(one.contrasts for one in made)
    assert not any(option in one.prompt for one in made for option in one.contrasts)

    def right(output: Any) -> set[bool]:
        return {one.right for one in score([Answer(one, "m", output(one)) for one in made],
                                           "wordllama")}

    assert right(lambda one: said[one.answer]) == {True}
    assert right(lambda one: said[one.contrasts[0]]) == {False}


def test_people_are_asked_the_same(tmp_path: Path, rows: list[Row]) -> None:
    made, _ = probe_questions(tmp_path, rows, request())
    tasks = parse_tasks(None, made, tmp_path)
    trial, questions = trial_of(made[0], tasks, read_settings(None))
    assert tasks == ("choice",) and trial.question == made[0].question
    assert list(trial.options) == made[0].options and questions == [made[0]]


def test_how_long_somebody_looks_is_a_number(tmp_path: Path) -> None:
    arrays = alone(0)
    arrays["gaze"][24:] = way(90)
    nose = arrays["names"].tolist().index("nose")
    arrays["world"][24:, 0, nose] = somebody(way(90))["nose"]
    row = row_with(tmp_path, library_rows(("base+blank@0",))[0], arrays)
    wording = read_number_wording(None)
    made = [one for one in number_questions([row], wording, 0, folder=tmp_path)
            if one.asks == "gaze"]
    assert [(one.answer, one.tolerance) for one in made] == [("1.2", 0.5)]
    assert "look at the camera" in str(made[0].question)
    # A third of a second of which nobody can tell is more than half of the tolerance.
    arrays["gaze"][20:27] = way(14)
    np.savez(tmp_path / "passes" / row.sample_id / "keypoints.npz", **arrays)
    assert not [one for one in number_questions([row], wording, 0, folder=tmp_path)
                if one.asks == "gaze"]


def test_probes_know_gaze_by_name() -> None:
    assert "gaze_target" in parse_probes("all")
    assert parse_probes("gaze_target") == ("gaze_target",)
    with pytest.raises(RequestError, match="did you mean gaze_target"):
        parse_probes("gaze_targt")


def test_a_performance_that_looks_at_the_camera_is_asked_about(tmp_path: Path) -> None:
    """The whole way of a real one: performed, its landmarks found and written, and asked about."""
    catalogue = Catalogue.with_libraries(())
    take = altered(library_take(catalogue.action("neutral_face"), None, 0), 1.0, False,
                   FaceOverlay(gaze="camera"))
    man = DescribedPerson("man", data_folder() / "rigs" / "man.yaml")
    performed = Casting(take, (man,)).perform(4.0)
    config = read_config(data_folder() / "render_configs" / "draft.yaml")
    maker = KeypointMaker.of(PosedScene([Figure.of(one) for one in performed]))
    seen = {}
    for angle in (0.0, 90.0, 180.0, 270.0):
        camera = frame_camera(performed, config, angle)
        folder = tmp_path / f"{angle:g}"
        folder.mkdir()
        write_keypoints([maker.frame(frame, camera) for frame in range(4, 10)], camera, 4.0,
                        camera_matrices(camera), folder)
        found = GazeTrack.of(folder / "keypoints.npz", 4.0)
        assert found is not None
        seen[angle] = [TARGETS[one.target] for one in found.spans()]
    assert seen == {0.0: ["camera"], 90.0: ["left"], 180.0: [], 270.0: ["right"]}


def test_wording_of_an_earlier_version_lacks_the_probe_and_is_refused(tmp_path: Path) -> None:
    own = (Path(__file__).parents[2] / "generator/mimegen/evaluation/wordings/probes.yaml"
           ).read_text()
    file = tmp_path / "mine.yaml"
    file.write_text(own.partition("  gaze_target:")[0])
    with pytest.raises(RequestError, match="gaze_target: expected a question and 7 choices"):
        read_probe_wording(file)
