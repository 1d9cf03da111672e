"""What plans know of scores without reading them is what the scores say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.files import file_hash
from mimegen.base.paths import data_folder
from mimegen.choreography.length import frames_of, seconds_of
from mimegen.choreography.reading import read_score
from mimegen.library import score_facts as facts
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import scene_take
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take

LIBRARY = sorted(file for pattern in facts.SCORES for file in data_folder().glob(pattern))
# Of the library's scores, so many may have been edited since the file was written.
MOST_STALE = 0.25


def baked() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads((data_folder() / facts.FILE).read_text())
    return found


def test_every_score_of_the_file_says_what_the_file_says() -> None:
    known = baked()
    wrong = [str(file) for file in LIBRARY if (found := known.get(file_hash(file)))
             and facts.ScoreFacts(*facts._checked(*found[1:])) != facts.read_facts(file)]
    assert not wrong, "run tools/bake_plans.py"


def test_the_file_has_most_of_the_library() -> None:
    stale = [file for file in LIBRARY if file_hash(file) not in baked()]
    assert len(stale) <= MOST_STALE * len(LIBRARY), "run tools/bake_plans.py"


@pytest.mark.parametrize("action", ["sneeze", "handshake", "arms_crossed"])
@pytest.mark.parametrize("seed", [0, 3])
def test_takes_are_as_long_as_their_scores(action: str, seed: int) -> None:
    take = library_take(Catalogue.with_libraries(()).action(action), None, seed)
    assert isinstance(take, ScoreTake)
    assert take.frames(24.0) == frames_of(take.score, seed, None, 24.0)
    assert take.performers == len(take.score.parts())


def test_takes_whose_scores_are_made_say_what_is_made() -> None:
    catalogue = Catalogue.with_libraries(())
    hand, face = next(iter(catalogue.hands)), next(iter(catalogue.emotions))
    made = [scene_take(catalogue, "the_thief", 0),
            *(library_take(catalogue.action(name), None, 0) for name in (hand, face))]
    for take in made:
        assert isinstance(take, ScoreTake) and type(take) is not ScoreTake
        assert take.performers == len(take.score.parts())
        assert take.frames(24.0) == frames_of(take.score, 0, None, 24.0)
    assert made[0].performers == 2


def test_an_edited_score_is_read(tmp_path: Path) -> None:
    original = data_folder() / "mocap/sneeze/sneeze.score.yaml"
    changed = tmp_path / original.name
    changed.write_text(original.read_text() + "\n# edited\n")
    assert facts.score_facts(changed) == facts.score_facts(original)
    changed.write_text(re.sub("(?m)^duration: .*$", "duration: 60", original.read_text()))
    assert facts.score_facts(changed).seconds == seconds_of(read_score(changed)) == 60.0


@pytest.mark.parametrize("damage", [None, "", "[]", "{", '{"a": 1}', '{"a": ["x", 1, 2]}'])
def test_a_file_that_is_damaged_counts_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str | None
) -> None:
    (tmp_path / facts.FILE.parent).mkdir()
    if damage is not None:
        (tmp_path / facts.FILE).write_text(damage)
    monkeypatch.setattr(facts, "data_folder", lambda: tmp_path)
    assert facts._baked.__wrapped__() == {}
