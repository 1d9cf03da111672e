"""What is said of names that there are not."""

from mimegen.base.errors import near_misses


def test_near_names_are_suggested_and_long_lists_are_cut() -> None:
    names = [f"name{number:03}" for number in range(100)]
    assert near_misses("basketbal", ["boxing", "basketball"]) == " (did you mean basketball?)"
    assert near_misses("x", names[:3]) == " (there is: name000, name001, name002)"
    assert near_misses("x", names).endswith(", name039 and 60 more)")
