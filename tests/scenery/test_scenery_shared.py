"""Materials and groups that sets share by name: where they come from, and what is refused."""

import functools
import shutil
from pathlib import Path

import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.base.paths import LIBRARIES, data_folder
from mimegen.compositing.background import background_key, read_background
from mimegen.library.catalogue import Catalogue
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shared import KINDS, SharedParts

FACTS = {"name": "hall", "description": "A hall", "licence": "CC0-1.0", "author": "A. Person",
         "source": "made for this test"}
SKY = {"sky": {"zenith": "#ffffff", "horizon": "#ffffff", "ground": "#808080", "strength": 1},
       "sun": {"strength": 1}}
SHIPPED = data_folder() / "backgrounds"
SETS = sorted(path for path in SHIPPED.glob("*.yaml") if "\nset:" in path.read_text())


def background(folder, **parts):
    path = folder / "hall.yaml"
    path.write_text(yaml.safe_dump(FACTS | {"set": SKY | {"materials": {}} | parts}))
    return path


def shared(folder, name="parts.yaml", **parts):
    (folder / "shared").mkdir(exist_ok=True)
    (folder / "shared" / name).write_text(yaml.safe_dump(parts))


def ball(material):
    return {"kind": "sphere", "radius": 0.2, "material": material}


def set_of(path: Path) -> Scenery:
    found = read_background(path).set
    assert found is not None
    return found


RED, BLUE = {"color": "#ff0000"}, {"color": "#0000ff"}


@functools.cache
def shipped_parts():
    """All shared parts that come with mimegen, by kind and name, as their files have them."""
    files = [yaml.safe_load(path.read_text()) for path in sorted((SHIPPED / "shared").iterdir())]
    return {kind: {name: part for file in files for name, part in file.get(kind, {}).items()}
            for kind in KINDS}


def test_what_a_set_does_not_define_comes_from_mimegen_with_all_it_uses(tmp_path):
    made = set_of(background(tmp_path, objects=[{"kind": "group", "of": "forklift"}]))
    assert set(made.groups) == {"forklift", "forklift_wheel"}
    assert {"steel", "orange", "seat"} <= set(made.materials)
    assert made.materials["steel"].metallic == 1


def test_what_a_set_defines_itself_wins_inside_shared_groups_too(tmp_path):
    made = set_of(background(tmp_path, materials={"steel": RED},
                                      objects=[{"kind": "group", "of": "forklift"}]))
    assert made.materials["steel"].color == "#ff0000"


def test_a_users_own_parts_lie_beside_their_backgrounds_and_come_first(tmp_path):
    shared(tmp_path, materials={"steel": BLUE}, groups={"pair": [ball("steel"), ball("oak")]})
    made = set_of(background(tmp_path, objects=[{"kind": "group", "of": "pair"}]))
    assert made.materials["steel"].color == "#0000ff"
    assert made.materials["oak"].pattern == "wood"


def test_a_librarys_parts_come_before_mimegens(tmp_path, monkeypatch):
    library = tmp_path / "library"
    (library / "backgrounds").mkdir(parents=True)
    shared(library / "backgrounds", materials={"steel": BLUE})
    monkeypatch.setenv(LIBRARIES, str(library))
    made = set_of(background(tmp_path, objects=[ball("steel")]))
    assert made.materials["steel"].color == "#0000ff"


def test_a_word_in_place_of_a_definition_is_a_shared_ones_name(tmp_path):
    made = set_of(background(
        tmp_path, materials={"steel": "bright_steel"}, groups={"truck": "forklift"},
        objects=[{"kind": "group", "of": "truck"}]))
    assert set(made.groups) == {"truck", "forklift_wheel"}
    assert made.materials["steel"].color == "#9aa0a6"


@pytest.mark.parametrize(("parts", "line", "says"), [
    ({"objects": [ball("steell")]}, "material: steell", r"material: no material 'steell'"
     r" \(did you mean steel"),
    ({"objects": [{"kind": "group", "of": "forklft"}]}, "of: forklft",
     r"of: no group 'forklft' \(did you mean forklift"),
    ({"floors": [{"material": "gras"}]}, "material: gras", "no material 'gras'"),
    ({"objects": [{"kind": "group", "of": "forklift", "materials": {"orange": "purpel"}}]},
     "orange", "no material 'purpel'"),
    ({"materials": {"red": "rde"}}, "red: rde", r"red: no material 'rde' .*red"),
    ({"materials": 3}, "materials", "dictionary"),
    ({"objects": [ball(3)]}, "material", "material"),
])
def test_an_unknown_name_is_told_with_file_and_line(tmp_path, parts, line, says):
    path = background(tmp_path, **parts)
    with pytest.raises(RequestError, match=rf"hall\.yaml: line \d+: .*{says}") as raised:
        read_background(path)
    number = int(str(raised.value).split("line ")[1].split(":")[0])
    there = path.read_text().splitlines()[number - 1:number + 2]
    assert any(line in each for each in there)


@pytest.mark.parametrize(("parts", "says"), [
    ({"materials": {"red": {"color": "red"}}}, r"parts\.yaml: line \d+: red color: .*pattern"),
    ({"matrials": {}}, r"parts\.yaml: .*unknown key \(did you mean materials"),
    ({"groups": {"pair": [ball("nowhere")]}},
     r"parts\.yaml: line \d+: pair material: no material 'nowhere'"),
])
def test_a_mistake_in_a_shared_file_is_told_there(tmp_path, parts, says):
    shared(tmp_path, **parts)
    with pytest.raises(RequestError, match=says):
        read_background(background(tmp_path, objects=[{"kind": "group", "of": "pair"}]))


def test_a_name_in_two_files_of_one_folder_is_refused(tmp_path):
    shared(tmp_path, "one.yaml", materials={"mud": RED})
    shared(tmp_path, "two.yaml", materials={"mud": BLUE})
    with pytest.raises(RequestError, match=r"line 2: materials mud: is already defined in one"):
        read_background(background(tmp_path, objects=[ball("mud")]))


def test_a_key_changes_with_the_shared_parts_in_use_and_with_no_others(tmp_path):
    shared(tmp_path, materials={"mud": RED, "clay": RED})
    path = background(tmp_path, objects=[ball("mud")])
    key = background_key(path)
    shared(tmp_path, materials={"mud": RED, "clay": BLUE})
    assert background_key(path) == key
    shared(tmp_path, materials={"mud": {"color": "#fe0000"}, "clay": BLUE})
    assert background_key(path) != key


def test_a_key_changes_when_a_shared_file_appears(tmp_path):
    path = background(tmp_path, objects=[ball("steel")])
    key = background_key(path)
    shared(tmp_path, materials={"steel": RED})
    assert background_key(path) != key


def test_shared_parts_are_no_backgrounds(tmp_path):
    library = tmp_path / "backgrounds"
    shutil.copytree(SHIPPED / "shared", library / "shared")
    background(library, objects=[ball("steel")])
    assert set(Catalogue((tmp_path,)).backgrounds) == {"hall"}


@pytest.mark.slow
def test_every_shared_part_stands_on_shared_parts_alone(tmp_path):
    for name in shipped_parts()["groups"]:
        made = read_background(background(tmp_path, objects=[{"kind": "group", "of": name}])).set
        assert made is not None and made.groups[name]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_set_defines_what_is_shared_or_what_another_set_has_under_the_same_name(kind):
    known = getattr(SharedParts.model_validate(shipped_parts()), kind)
    seen = {(name, repr(part)): "shared" for name, part in known.items()}
    for path in SETS:
        declared = yaml.safe_load(path.read_text())["set"].get(kind, {})
        own = [name for name, part in declared.items() if not isinstance(part, str)]
        made = getattr(read_background(path).set, kind)
        for name in own:
            first = seen.setdefault((name, repr(made[name])), path.name)
            assert first == path.name, f"{path.name}: {name} is that of {first}"


@pytest.mark.slow
def test_all_that_is_shared_is_used():
    for kind, parts in shipped_parts().items():
        used = {name for path in SETS for name in getattr(read_background(path).set, kind)}
        words = {part for path in SETS for part in
                 yaml.safe_load(path.read_text())["set"].get(kind, {}).values()
                 if isinstance(part, str)}
        assert set(parts) <= used | words
