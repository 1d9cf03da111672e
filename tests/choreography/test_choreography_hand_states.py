"""Hand states of a score: named once, used by keys."""

from pathlib import Path

import pytest

from mimegen.base.errors import RequestError
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import HandKey

SCORE = """\
action: knocking
about: A knock.
duration: 2
hand_states:
  knuckles: {palm: forward, fingers: up, shape: fist}
phases:
  - {at: 0.0, right_hand: {to: chest 0 20 0, state: knuckles}}
  - {at: 1.0, right_hand: {to: chest 0 30 0, state: STATE, fingers: up+0.5out}}
"""


def score(folder: Path, state: str) -> Path:
    path = folder / "knock.score.yaml"
    path.write_text(SCORE.replace("STATE", state))
    return path


def hands(path: Path) -> list[HandKey]:
    return [key for phase in read_score(path).phases for _, key in phase.moves()
            if isinstance(key, HandKey)]


def test_a_state_is_written_out_and_what_the_key_says_wins(tmp_path: Path) -> None:
    first, second = hands(score(tmp_path, "knuckles"))
    written = tmp_path / "written.score.yaml"
    written.write_text(
        score(tmp_path, "knuckles").read_text()
        .replace("hand_states:\n  knuckles: {palm: forward, fingers: up, shape: fist}\n", "")
        .replace("state: knuckles, fingers", "palm: forward, shape: fist, fingers")
        .replace("state: knuckles", "palm: forward, fingers: up, shape: fist"))
    assert [first, second] == hands(written)
    assert first.shape == second.shape == "fist" and first.fingers != second.fingers


def test_an_unknown_state_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"line 8: right_hand state: unknown hand state"
                                           r" 'knukles' \(did you mean knuckles"):
        read_score(score(tmp_path, "knukles"))


@pytest.mark.parametrize("states", ["[knuckles]", "{knuckles: fist}"])
def test_states_that_are_none_are_refused(tmp_path: Path, states: str) -> None:
    path = tmp_path / "knock.score.yaml"
    path.write_text(SCORE.replace(
        "hand_states:\n  knuckles: {palm: forward, fingers: up, shape: fist}",
        f"hand_states: {states}"))
    with pytest.raises(RequestError, match=r"line 4: hand_states: expected a mapping of names"):
        read_score(path)
