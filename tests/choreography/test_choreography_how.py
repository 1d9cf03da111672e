"""``how`` of a phase: said once for all its tracks."""

import pytest

from mimegen.base.errors import RequestError
from mimegen.choreography.reading import read_score

SCORE = """\
action: waving
about: A wave.
duration: 2
props: {ball: a ball}
phases:
  - {at: 0.0, chest: {lean: 1}}
  - at: 1.0
    how: HOW
    chest: {lean: 3}
    head: {turn: 4, how: stop}
    ball: {to: chest 0 20 0}
"""


def score(tmp_path, how):
    path = tmp_path / "wave.score.yaml"
    path.write_text(SCORE.replace("HOW", how))
    return path


def test_a_phases_how_is_that_of_its_tracks_and_props_but_for_those_that_say_their_own(tmp_path):
    still, moving = read_score(score(tmp_path, "pass")).phases
    hows = {track: key.how for track, key in moving.moves()}
    assert hows == {"chest": "pass", "head": "stop", "ball": "pass"}
    assert [key.how for _, key in still.moves()] == ["stop"]


@pytest.mark.parametrize(("how", "says"), [
    ("pas", r"line 8: phases how: unknown way to arrive 'pas' \(did you mean pass"),
    ("[1]", r"line 8: phases how: unknown way to arrive \[1\]"),
])
def test_an_unknown_how_is_told_with_its_line(tmp_path, how, says):
    with pytest.raises(RequestError, match=rf"wave\.score\.yaml: {says}"):
        read_score(score(tmp_path, how))
