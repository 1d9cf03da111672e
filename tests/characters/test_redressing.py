"""Random people in clothes of others."""

import pytest

from mimegen.base.errors import RequestError
from mimegen.characters.redressing import redressed
from mimegen.characters.sampling import sample_character
from mimegen.library.cast import cast_member, partner_of
from mimegen.library.catalogue import Catalogue
from mimegen.production.remaking import cast_word

CATALOGUE = Catalogue.with_libraries(())


@pytest.mark.parametrize("seed", range(1, 9))
def test_only_the_clothes_are_others(seed: int) -> None:
    own, first, second = sample_character(seed), redressed(seed, 20), redressed(seed, 21)
    for kept in ("phenotype", "skin", "eyes", "hair", "seed"):
        assert getattr(own, kept) == getattr(first, kept)
    assert first.outfit != own.outfit and first.outfit != second.outfit
    assert not {garment.kind for garment in first.outfit} & {"cap", "headscarf"}
    glasses = [[one for one in person.outfit if one.kind == "glasses"] for person in (own, first)]
    assert glasses[0] == glasses[1]


def test_people_of_one_sex_in_clothes_of_one_seed_wear_the_same() -> None:
    men = [seed for seed in range(1, 40) if sample_character(seed).phenotype.sex > 0.5][:6]
    worn = [[one for one in redressed(seed, 20).outfit if one.kind != "glasses"] for seed in men]
    assert all(one == worn[0] for one in worn)


def test_a_name_says_whose_clothes_they_are() -> None:
    member = cast_member(CATALOGUE, "random:3:20")
    assert member.name == "random_3_20" and cast_word(member.name) == "random:3:20"
    assert len({cast_member(CATALOGUE, name).key
                for name in ("random:3", "random:3:20", "random:3:21", "random:4:20")}) == 4
    assert partner_of("random:3:20") == partner_of("random:3")
    for wrong in ("random:3:", "random:3:x", "random::4"):
        with pytest.raises(RequestError, match="or two, as in random:7:12"):
            cast_member(CATALOGUE, wrong)
