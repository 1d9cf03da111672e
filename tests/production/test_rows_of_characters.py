"""What rows say of who performs, where two characters share a shot."""

import json
import shutil
from pathlib import Path

from mimegen.base.paths import data_file
from mimegen.compositing.video import ClipFacts
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
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
        assert row.character_key == first.shot.casting.looks[0]
