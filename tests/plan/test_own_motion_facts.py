"""The label and the semantic group of a user's own motion file."""

from pathlib import Path

import pytest

from mimegen.farm.settings import FarmSettings
from mimegen.library.catalogue import Catalogue
from mimegen.request import RenderRequest
from mimegen.request.planned import Planned
from mimegen.request.sources import takes_of


@pytest.mark.parametrize(("facts", "group", "warned"), [
    ({"label": ("throwing a jab",)}, None, "in no semantic group"),
    ({"label": ("throwing a jab",), "group": "Combat Sport"}, "combat sport", None),
    ({"label": ("boxing",)}, "combat sport", None),
    ({"label": ("boxing",), "group": "mine"}, "mine", None),
    ({}, None, "no --label"),
])
def test_what_questions_lack_is_said(samples: Path, tmp_path: Path, facts: dict[str, object],
                                     group: str | None, warned: str | None) -> None:
    motion = tmp_path / "take_seven.bvh"
    motion.write_bytes((samples / "bvh" / "avatarlab_boxing.bvh").read_bytes())
    request = RenderRequest.of(motion=motion, variants="base+blank@0", config="draft", **facts)
    [take] = takes_of(Catalogue.with_libraries(()), request).takes
    assert take.semantic_group == group
    said: list[str] = []
    Planned.of(request, FarmSettings(), said.append)
    assert any(warned in line for line in said) if warned else not any(
        "no semantic group" in line or "--label" in line for line in said)


@pytest.mark.parametrize(("seeds", "noted"), [(range(3), True), (range(4, 5), False)])
def test_seeds_that_a_recording_does_not_have_are_reported(samples: Path, seeds: range,
                                                           noted: bool) -> None:
    said: list[str] = []
    request = RenderRequest.of(motion=samples / "bvh" / "avatarlab_boxing.bvh", label=("boxing",),
                               variants="base+blank@0", config="draft", seed=seeds)
    assert len(Planned.of(request, FarmSettings(), said.append).plan) == 1
    assert any("--seed: 1 take of motion capture" in line and "3 seeds" in line
               for line in said) == noted


def test_seeds_of_takes_that_were_imported_are_reported_too(samples: Path, tmp_path: Path) -> None:
    action = tmp_path / "mocap" / "hop"
    action.mkdir(parents=True)
    (action / "action.yaml").write_text(
        "{id: hop, name: hop, labels: [hopping], semantic_group: exercise, recognised_by: hops,"
        " licence: CC0-1.0, author: me}")
    (action / "hop.bvh").write_bytes((samples / "bvh" / "anim_fair_jumping.bvh").read_bytes())
    said: list[str] = []
    request = RenderRequest.of(action="hop,boxing", library=(tmp_path,), config="draft",
                               variants="base+blank@0", seed=range(2))
    assert len(Planned.of(request, FarmSettings(), said.append).plan) == 3
    [line] = [line for line in said if line.startswith("--seed")]
    assert line.startswith("--seed: 1 take of motion capture") and "2 seeds" in line


@pytest.mark.parametrize(("facts", "taken"), [
    ({"label": ("jumping",)}, "aligned background gym, misaligned background office and semantic"
                              " group exercise"),
    ({"label": ("jumping",), "aligned": "beach", "group": "mine"}, "misaligned background office"),
    ({"label": ("jumping",), "aligned": "beach", "misaligned": "gym", "group": "mine"}, None),
    ({"label": ("yodelling",)}, None),
    ({"label": ("yodelling", "jumping")}, "aligned background gym, misaligned background office"
                                          " and semantic group exercise"),
    ({"label": ("jumping",), "aligned": "gym", "misaligned": "office", "group": "exercise"}, None),
])
def test_what_a_label_takes_over_from_the_library_is_reported(
        samples: Path, facts: dict[str, object], taken: str | None) -> None:
    said: list[str] = []
    Planned.of(RenderRequest.of(motion=samples / "bvh" / "avatarlab_boxing.bvh", config="draft",
                                variants="base+blank@0", **facts), FarmSettings(), said.append)
    found = [line for line in said if "jump_up" in line]
    assert found == ([f"'jumping' is a name of the library's action jump_up, from which the clips"
                      f" take {taken}"] if taken else [])
