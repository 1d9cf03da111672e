"""What rows say of who performs, where two characters share a shot."""

import hashlib
import json
import shutil
from pathlib import Path

from made_row import CLIP
from mimegen.base.paths import data_file
from mimegen.compositing.video import ClipFacts
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import loaded_background_key
from mimegen.library.takes import library_take
from mimegen.manifest.file import typed_row
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.remaking import Sources, edited
from mimegen.production.rows import clip_row
from mimegen.shots.config import read_config

CATALOGUE = Catalogue.with_libraries(())
VARIANTS = parse_variants("base+blank@0", set(CATALOGUE.characters),
                          set(CATALOGUE.backgrounds))


def clip_of(character: Path) -> PlannedClip:
    config = read_config(CATALOGUE.file("config", "draft")).model_copy(update={"fps": 2.0})
    take = library_take(CATALOGUE.action("salute"), None, 0)
    clip, = make_plan(CATALOGUE, [take], VARIANTS, config, "cpu",
                      str(character))
    assert isinstance(clip, PlannedClip)
    return clip


def test_rows_name_their_own_character_where_another_file_with_its_content_made_the_shot(
    tmp_path: Path
) -> None:
    for name in ("first.yaml", "second.yaml"):
        shutil.copyfile(data_file("rigs/man.yaml"), tmp_path / name)
    first, second = clip_of(tmp_path / "first.yaml"), clip_of(tmp_path / "second.yaml")
    assert first.shot.key == second.shot.key and first.sample_id != second.sample_id
    facts = json.loads(json.dumps(first.shot.facts(first.shot.casting.perform(2.0))))
    for clip, name in ((first, "first"), (second, "second")):
        row = clip_row(clip, facts, ClipFacts(24, 640, 360, "0" * 64))
        assert (row.avatar, row.character_file) == (name, f"{name}.yaml")
        assert row.character_sha256 == hashlib.sha256(
            (tmp_path / f"{name}.yaml").read_bytes()).hexdigest()
        assert row.character_key == first.shot.casting.looks[0]


def test_what_a_user_edited_since_is_not_taken_for_what_the_row_says(tmp_path: Path) -> None:
    for name in ("rigs/bob.yaml", "backgrounds/yard.yaml"):
        (tmp_path / name).parent.mkdir()
        own = "rigs/man.yaml" if name.startswith("rigs") else "backgrounds/black.yaml"
        shutil.copyfile(data_file(own), tmp_path / name)
    person, yard = tmp_path / "rigs" / "bob.yaml", tmp_path / "backgrounds" / "yard.yaml"
    sources = Sources.of(Catalogue.with_libraries((tmp_path,)), ())
    sha256 = hashlib.sha256(person.read_bytes()).hexdigest()
    rows = [typed_row(CLIP | {"sample_id": name} | facts) for name, facts in {
        "bob": {"avatar": "bob", "character_sha256": sha256},
        "beside": {"avatar": "man", "partner_avatar": "bob", "partner_character_sha256": sha256},
        "lights": {"avatar": "bob_lights", "character_sha256": sha256},
        "yard": {"background_name": "yard", "background_key": loaded_background_key(yard, None)},
        "older": {"avatar": "bob", "background_name": "yard"},
        "mimegen's": {"avatar": "man", "character_sha256": "0" * 64, "background_name": "black",
                      "background_key": "0" * 64}}.items()]
    assert edited(sources, rows) == {}
    person.write_text(person.read_text().replace("height: 1.8", "height: 1.6"))
    yard.write_text(yard.read_text().replace("color: [", "color: [0.5, 0.5, 0.5] # "))
    found = edited(sources, rows)
    assert found.keys() == {"bob", "beside", "lights", "yard"}
    assert found["yard"].startswith(f"{yard} has changed since")
