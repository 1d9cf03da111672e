"""Clips are chosen by the values of their rows' fields."""

import re
from pathlib import Path

import numpy as np
import pandas
import pytest

import mimegen as mg
from made_row import CLIP
from mimegen.manifest.row import Row
from mimegen.objects.clips import MEANT

ROOT = Path(__file__).parents[2]


def made_clips(*contents: dict[str, object]) -> mg.Clips:
    return mg.Clips("out", [Row.model_validate(CLIP | {"row_version": 2} | one)
                            for one in contents])


@pytest.mark.parametrize(("facts", "found"), [
    ({"background_config": ["blank", "aligned"]}, [0, 1]),
    ({"background_config": ("misaligned",)}, [2]), ({"background": {"gym", "blank"}}, [0, 1]),
    ({"angle": np.array([0, 90])}, [0, 1]), ({"angle": np.int64(90)}, [1]),
    ({"view": range(0, 91, 90)}, [0, 1]), ({"angle": 90.0}, [1]), ({"angle": [None, 0]}, [0, 3]),
    ({"angle": None}, [3]), ({"angle": []}, []), ({"labels": "a walk"}, [0, 1, 2, 3]),
    ({"labels": ["running", "walking"]}, [0, 1, 2, 3]), ({"background_config": "nowhere"}, []),
    ({"action": ["strolling", "walk"]}, [0, 1, 2, 3]), ({"mirrored": [True, None]}, [0, 1, 2, 3]),
    ({"newer": [1]}, [2]), ({"angle": pandas.Series([180, 90])}, [1, 2])])
def test_where_takes_one_value_or_any_of_several(facts: dict[str, object],
                                                 found: list[int]) -> None:
    clips = made_clips(
        {"angle": 0}, {"background_config": "aligned", "background_name": "gym"},
        {"angle": 180, "background_config": "misaligned", "background_name": "beach", "newer": 1},
        {"angle": None, "background_config": None, "background_name": None})
    assert [clips.rows.index(row) for row in clips.where(**facts).rows] == found


@pytest.mark.parametrize(("facts", "message"), [
    ({"angle": "0"}, "where: angle='0': expected a number, or a list"),
    ({"angle": [0, "90"]}, "where: angle='90': expected a number"),
    ({"avatar": 3}, "where: avatar=3: expected a text"),
    ({"background": Path("gym")}, "expected a text"), ({"seed": True}, "expected a number"),
    ({"mirrored": 1}, "expected True or False"), ({"labels": 3}, "expected a text"),
    ({"avatar": [["man"]]}, "expected a text"), ({"action": b"walk"}, "expected a text"),
    ({"gait": "happy"}, "expected a dict")])
def test_where_refuses_what_a_field_never_has(facts: dict[str, object], message: str) -> None:
    with pytest.raises(mg.RequestError, match=re.escape(message)) as refused:
        made_clips({}).where(**facts)
    assert "\n" not in str(refused.value)


def test_short_names_of_fields_are_documented() -> None:
    page = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    for short, field in MEANT.items():
        for text in (page, mg.Clips.where.__doc__ or ""):
            assert f"`{short}`" in text and f"`{field}`" in text
        assert field in Row.model_fields
