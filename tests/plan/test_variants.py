import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.names import path_name
from mimegen.characters.sampling import sample_character
from mimegen.library.cast import partner_of
from mimegen.library.catalogue import Catalogue
from mimegen.plan.variants import CAST, GROUPS, MIME, parse_variants

CHARACTERS = {"man", "woman", "spacesuit"}
BACKGROUNDS = {"blank", "beach", "living_room"}


def parse(text: str) -> list[str]:
    return [str(variant) for variant in parse_variants(text, CHARACTERS, BACKGROUNDS)]


def test_all_is_mimes_ten_and_shares_six_shots() -> None:
    names = parse("all")
    assert names == list(MIME) and len(names) == 10
    shots = {(name.split("+")[0], name.split("@")[1]) for name in names}
    assert len(shots) == 6


def test_groups_and_cells_join_without_repeats() -> None:
    assert parse("angles, base+blank@0,woman+aligned@270") == [*GROUPS["angles"],
                                                                "woman+aligned@270"]


def test_cells_the_groups_do_not_have() -> None:
    assert parse("spacesuit+blank@45,man+beach@12.5") == ["spacesuit+blank@45", "man+beach@12.5"]


@pytest.mark.parametrize("text", ["base+aligned@0,mime", "mime,base+aligned@0",
                                  "all,base+aligned@0,mime"])
def test_a_cell_asked_for_by_name_is_so_before_and_after_its_group(text: str) -> None:
    found = parse_variants(text, CHARACTERS, BACKGROUNDS)
    assert len(found) == len(MIME)
    by_name = [str(variant) for variant in found if not variant.from_group]
    assert by_name == ["base+aligned@0"]


@given(st.sampled_from(sorted(CHARACTERS | {"base", "adversarial"})),
       st.sampled_from(["blank", "aligned", "misaligned", "beach"]), st.integers(0, 359))
def test_names_round_trip(character: str, background: str, angle: int) -> None:
    name = f"{character}+{background}@{angle}"
    assert parse(name) == [name]


@pytest.mark.parametrize(("text", "hint"), [
    ("base+blnk@0", "blank"), ("womn+blank@0", "woman"), ("al", "all"),
    ("base+blank", "base+blank@0"),
    ("", "all"), ("base+blank@-90", "base+blank@90"), ("base+blank@0@0", "base+blank@0"),
])
def test_what_the_grammar_does_not_allow_gets_near_misses(text: str, hint: str) -> None:
    with pytest.raises(RequestError, match="variant") as problem:
        parse(text)
    assert hint in str(problem.value)


@pytest.mark.slow
@given(st.text(max_size=20))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(RequestError):
        parse(text)


def test_groups_vary_what_they_are_called_after_and_nothing_else() -> None:
    angles, characters, backgrounds, dots = (
        parse_variants(name, CHARACTERS, BACKGROUNDS)
        for name in ("angles", "characters", "backgrounds", "pointlight"))
    assert [(v.character, v.background, v.angle) for v in angles] == [
        ("base", "blank", 90.0 * turn) for turn in range(4)]
    assert [v.character for v in characters] == ["base", "woman", "adversarial"]
    assert {(v.background, v.angle) for v in characters} == {("blank", 0.0)}
    assert [v.background for v in backgrounds] == ["blank", "aligned", "misaligned"]
    assert {(v.character, v.angle) for v in backgrounds} == {("base", 0.0)}
    assert [v.words for v in dots] == [(), ("inverted",), ("scrambled",)]
    assert {(v.character, v.background, v.angle) for v in dots} == {("base", "blank", 0.0)}
    assert all(v.from_group for v in (*angles, *characters, *backgrounds, *dots))
    assert all(v.words is None for v in (*angles, *characters, *backgrounds))


def test_the_cast_and_their_partners_are_there_and_partners_are_mutual() -> None:
    known = {*Catalogue.with_libraries(()).characters, "lights:man", "lights:woman"}
    partners = [partner_of(name) for name in CAST.values()]
    assert {*CAST.values(), *partners} <= known
    assert partner_of("man") == "woman" and partner_of("woman") == "man"
    assert partner_of("lights:man") == "lights:woman"


@pytest.mark.parametrize("name", ["man", "woman", "mine/woman.yaml", "robot.glb", "random:7"])
def test_nobody_in_plain_sight_meets_a_double(name: str) -> None:
    assert Path(partner_of(name)).stem != Path(name).stem


def test_a_random_person_meets_another_of_the_other_sex() -> None:
    for seed in range(20):
        other = partner_of(f"random:{seed}")
        one, two = (sample_character(int(name.split(":")[1])).phenotype.sex
                    for name in (f"random:{seed}", other))
        assert (one > 0.5) != (two > 0.5)
    assert partner_of("lights:random:3") == f"lights:{partner_of('random:3')}"
    assert (CAST["base"], CAST["adversarial"], CAST["lights"]) == ("man", "spacesuit", "lights:man")


def test_a_whole_turn_is_none() -> None:
    assert parse("base+blank@360,pointlight:inverted@450,man+blank@361.5") == [
        "base+blank@0", "pointlight:inverted@90", "man+blank@1.5"]


def test_dots_asked_for_by_name_are_so() -> None:
    plain, inverted = parse_variants("pointlight@0,pointlight:inverted@90", CHARACTERS, BACKGROUNDS)
    assert not plain.from_group and not inverted.from_group
    assert (plain.words, inverted.words, inverted.angle) == ((), ("inverted",), 90.0)
    with pytest.raises(RequestError, match=r"variant 'pointlight:invertd@0'.*inverted"):
        parse("pointlight:invertd@0")


@pytest.mark.parametrize(("text", "canonical"), [
    ("base+blank@front", "base+blank@front"), ("base+blank@front+0", "base+blank@front"),
    ("base+blank@front+90", "base+blank@left"), ("base+blank@front-90", "base+blank@right"),
    ("base+blank@front-180", "base+blank@back"), ("base+blank@front-45", "base+blank@front+315"),
    ("base+beach:7@front+12.50", "base+beach:7@front+12.5"),
    ("pointlight:inverted@front+390", "pointlight:inverted@front+30"),
])
def test_sides_of_the_performer_have_one_name_each(text: str, canonical: str) -> None:
    assert parse(text) == [canonical] == parse(canonical)


@given(st.floats(-720, 720, allow_nan=False))
def test_sides_round_trip_and_their_words_are_plain_names(degrees: float) -> None:
    variant, = parse_variants(f"base+blank@front{degrees:+.3f}", CHARACTERS, BACKGROUNDS)
    again, = parse_variants(str(variant), CHARACTERS, BACKGROUNDS)
    assert again == variant and 0 <= variant.angle < 360
    assert path_name("a", variant.view_word) == f"a-{variant.view_word}"


@pytest.mark.parametrize("text", ["base+blank@fron", "base+blank@left+30", "base+blank@front+",
                                  "base+blank@+30", "pointlight@front+nan"])
def test_a_side_that_is_none_is_refused_with_those_that_there_are(text: str) -> None:
    with pytest.raises(RequestError, match=r"front\+30"):
        parse(text)
