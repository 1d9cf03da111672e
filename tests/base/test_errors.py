"""What is said of names that there are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.errors import near_misses, with_given
from mimegen.base.similar_names import is_slip, likeness, nearest


def test_near_names_are_suggested_and_long_lists_are_cut() -> None:
    names = [f"name{number:03}" for number in range(100)]
    assert near_misses("basketbal", ["boxing", "basketball"]) == " (did you mean basketball?)"
    assert near_misses("x", names[:3]) == " (available: name000, name001, name002)"
    assert near_misses("x", names).endswith(", name039 and 60 more)")


def test_a_word_at_the_wrong_place_is_not_suggested_for_itself() -> None:
    assert near_misses("since", ["at", "since", "sides"]) == ""


@pytest.mark.parametrize(("word", "names", "meant"), [
    ("walking", ["talking", "yanking", "waking up", "wall climbing"], []),
    ("walking", ["talking", "walks", "speed walk"], ["walks", "speed walk"]),
    ("eating", ["beating", "heating", "seating"], []),
    ("violn", ["playing violin", "playing harp"], ["playing violin"]),
    ("playing carp", ["playing harp"], []),
    ("swimming", ["swinging"], []),
    ("oxbing", ["boxing"], []), ("obxing", ["boxing"], ["boxing"]),
    ("basket ball", ["basketball", "baseball"], ["basketball"]),
    ("LEFT-HAND", ["LeftHand", "LeftHip"], ["LeftHand"]),
    ("preveiw", ["preview", "standard"], ["preview"]),
    ("sprd", ["spread", "sword"], ["spread"]), ("sing", ["king"], []),
    ("walk", [], []), ("", ["walk"], []), ("\ud800", ["walk", "\ud800 walk"], [])])
def test_what_is_near_bears_the_same_meaning(word: str, names: list[str], meant: list[str]) -> None:
    assert nearest(word, names) == meant


@pytest.mark.slow
@given(st.text(), st.text())
def test_likeness_is_a_share_whichever_is_asked_for(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) <= 1
    assert is_slip(one, one) is bool(likeness(one, one))
    if not likeness(one, one):
        assert not likeness(one, other)


@pytest.mark.parametrize(("message", "given", "said"), [
    ("expected a value above 0, got 0", 0, "expected a value above 0, got 0"),
    ("expected at least 10", 1, "expected at least 10 (got 1)"),
    ("Input should be 'a' or 'b'", "c", "Input should be 'a' or 'b' (got 'c')"),
    ("'c': expected an area", "c", "'c': expected an area"),
    ("front@x: expected a number", "front@x", "front@x: expected a number"),
    ("forgotten", "got", "forgotten (got 'got')"),
    ("too long", "x" * 1000, f"too long (got {'x' * 52!r}".removesuffix("'") + " ... "
     + "x" * 19 + "')"),
])
def test_what_was_given_is_said_once(message: str, given: object, said: str) -> None:
    assert with_given(message, given) == said
