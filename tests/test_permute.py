"""Drawing permutations: reproducible, in designs, far from what was seen."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mimegen.base.errors import RequestError
from mimegen.characters.spec import Glasses, read_character
from mimegen.cli import main
from mimegen.evaluation.commitment import verify_all
from mimegen.faults.fault import fault_kinds
from mimegen.library.catalogue import Catalogue
from mimegen.library.misleading import is_indoors, misleading
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.manifest.file import add_rows
from mimegen.manifest.row import Row
from mimegen.plan.permute.axes import Freedom, axes
from mimegen.plan.permute.declaration import Declaration, read_spec
from mimegen.plan.permute.designs import DESIGNS, design_of, pairs_covered
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.people import apart, numbers_of, person_of
from mimegen.plan.permute.planned import take_of
from mimegen.plan.permute.ready import read_ready
from mimegen.plan.permute.seen import Seen, seen_in
from mimegen.plan.permute.space import Space

CATALOGUE = Catalogue.with_libraries(())
ACTIONS = ("boxing", "basketball_shot", "shake_hands", "playing_violin", "deadlift")


class AllGood(GoodTakes):
    """Draws alone are looked at, not takes."""

    def findings(self, take: ScoreTake) -> list[str]:
        return []


def space_of(actions: tuple[str, ...] = ACTIONS, names: str | None = None,
             fixes: tuple[str, ...] = (), seen: Seen | None = None) -> Space:
    return Space.of(CATALOGUE, [CATALOGUE.action(name) for name in actions],
                    Freedom.of(names, fixes), seen or Seen(CATALOGUE))


def drawn(count: int, design: str = "random", seed: int = 1, **of: Any) -> list[Declaration]:
    space = space_of(**of)
    drawing = Drawing(space, design_of(design, space, seed), seed, AllGood(Path("none")))
    return list(drawing.declarations(count))


def permute(*arguments: str | Path | int) -> Result:
    return CliRunner().invoke(main, ["permute", *map(str, arguments)])


@pytest.mark.parametrize("design", DESIGNS)
def test_more_clips_begin_with_the_same_and_another_seed_draws_others(design: str) -> None:
    some, more = drawn(9, design), drawn(40, design)
    assert more[:9] == some == drawn(9, design)
    assert drawn(9, design, seed=2) != some
    assert len({str(one) for one in more}) == 40


def test_random_draws_are_within_every_range_and_fill_it() -> None:
    found = drawn(300)
    for name, axis in axes().numbers.items():
        if not axis.drawn:
            continue
        values = [one.content()[name] for one in found]
        assert axis.range[0] <= min(values) and max(values) <= axis.range[1]
        share = (max(values) - min(values)) / (axis.range[1] - axis.range[0])
        assert share > 0.9, name
    assert {one.style for one in found} == set(axes().choices["style"].levels)
    assert {one.background_kind for one in found} == {"blank", "aligned", "misaligned", "named"}
    assert set(Counter(one.action for one in found).values()) == {60}


def test_what_a_take_cannot_be_it_is_never_drawn_as() -> None:
    found = drawn(200)
    assert not any(one.mirror for one in found if one.action in ("playing_violin", "shake_hands"))
    assert any(one.mirror for one in found if one.action == "boxing")
    assert all((one.partner is not None) == (one.action == "shake_hands") for one in found)
    for one in found:
        own = library_take(CATALOGUE.action(one.action), one.take, 0)
        if one.background_kind == "named":
            assert one.background not in (own.aligned, own.misaligned, "blank", "black")


def test_what_is_not_drawn_is_as_usual_or_as_it_is_fixed() -> None:
    for one in drawn(20, names="azimuth,seed", fixes=("lens=85", "character=woman")):
        assert (one.lens, one.character, one.elevation, one.tempo) == (85, "woman", 9, 1)
        assert one.background == "blank" and not one.mirror and one.style == "own"


def test_a_fixed_camera_has_no_elevation_and_lens_to_draw() -> None:
    one, = drawn(1, fixes=("config=mime",))
    assert one.elevation is None and one.lens is None and one.light_azimuth is not None


def test_adding_an_axis_changes_no_other_draw() -> None:
    fewer, more = drawn(10, names="azimuth,seed"), drawn(10, names="azimuth,seed,lens")
    assert [(one.azimuth, one.seed) for one in fewer] == [(one.azimuth, one.seed) for one in more]


def test_pairwise_covers_every_possible_pair_with_few_clips() -> None:
    space = space_of()
    design = design_of("pairwise", space, 3)
    assert design.size is not None and design.size < 60
    cells = [design.cell(number, 0) for number in range(design.size)]
    assert pairs_covered(space, cells) == 1
    assert 0.2 < pairs_covered(space, cells[:design.size // 2]) < 1
    violin = [cell for cell in cells if space.parts[cell.part].take.action == "playing_violin"]
    assert violin and all(cell.levels["mirror"] == "no" for cell in violin)


def test_full_has_every_cell_once_and_then_again() -> None:
    space = space_of(names="azimuth,mirror,seed")
    design = design_of("full", space, 5)
    assert design.size == 3 * 5 * 2 + 2 * 5
    cells = [design.cell(number, 0) for number in range(2 * design.size)]
    told = Counter((cell.part, *cell.levels.values()) for cell in cells)
    assert len(told) == design.size and set(told.values()) == {2}
    assert cells[:design.size] != cells[design.size:]


def test_latin_gives_each_action_each_level_equally_often() -> None:
    space = space_of(("boxing", "basketball_shot", "deadlift"), "azimuth,style,background")
    design = design_of("latin", space, 5)
    cells = [design.cell(number, 0) for number in range(3 * 20)]
    for part in range(len(space.parts)):
        for axis in ("azimuth", "style", "background"):
            counts = Counter(cell.levels[axis] for cell in cells if cell.part == part)
            assert set(counts.values()) == {20 // len(space.parts[part].levels[axis])}
    first = Counter(cell.levels["azimuth"] for cell in cells[:3])
    assert set(first.values()) == {1}, "a round of three actions has three azimuths"


def seen_row(action: str, **facts: Any) -> Row:
    return Row.model_validate({
        "sample_id": f"{action}{len(facts)}{facts.get('angle', 0)}", "file_name": "clips/a.mp4",
        "action": action, "take": action, "actor": "choreography", "labels": [action],
        "avatar": "man", "angle": 0, "background_config": "blank", "background_name": "blank",
        "seed": 0, "fps": 24, "frames": 9, "width": 64, "height": 36, "sha256": "0" * 64} | facts)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    rows = [seen_row("boxing", angle=angle) for angle in (0, 90, 350)]
    rows += [seen_row("boxing", angle=1, background_config="aligned",
                      background_name="boxing_gym"),
             seen_row("boxing", angle=2, avatar="random_5", seed=77)]
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.mp4").touch()
    add_rows(tmp_path, rows)
    return tmp_path


def test_unseen_clips_are_far_on_every_axis_from_every_row(published: Path) -> None:
    seen = seen_in(CATALOGUE, [published])
    found = drawn(120, seen=seen, actions=("boxing", "deadlift"))
    people = [person for name in ("man", "random:5")
              if (person := person_of(CATALOGUE, name)) is not None]
    assert len(people) == 2
    for one in found:
        person = person_of(CATALOGUE, one.character)
        assert person is not None
        assert (apart(person, np.array(people), axes().unseen.person) > 1).all()
        if one.action == "boxing":
            assert all(abs((one.azimuth - angle + 180) % 360 - 180) >= 20
                       for angle in (0, 90, 350, 1, 2))
            assert (one.background, one.set_seed) != ("boxing_gym", None)
            assert one.seed not in (0, 77)
    assert any(abs(one.azimuth) < 20 for one in found if one.action == "deadlift")


def test_places_are_drawn_by_seeds_where_their_sets_vary_and_new_ones_are_far() -> None:
    found = drawn(60, actions=("basketball_shot",), fixes=("background=aligned",))
    assert {one.background for one in found} == {"basketball_court"}
    assert len({one.set_seed for one in found}) == 60
    assert all(one.set_seed is None for one in drawn(9, fixes=("background=blank",)))
    fixed, = drawn(1, actions=("basketball_shot",), fixes=("background=aligned", "set_seed=4"))
    assert fixed.set_seed == 4
    seen = Seen(CATALOGUE, 1)
    seen.places["basketball_shot"] |= {("basketball_court", None), ("basketball_court", 4)}
    free = space_of(("basketball_shot",), "background,set_seed", seen=seen)
    assert "aligned" in free.parts[0].grid["background"]
    same = space_of(("basketball_shot",), "background", seen=seen)
    assert "aligned" not in same.parts[0].grid["background"]
    assert free.size > 10**8 > same.size


def test_people_are_told_apart_by_build_skin_hair_or_clothes() -> None:
    def far(one: str, other: str) -> bool:
        people = [person_of(CATALOGUE, name) for name in (one, other)]
        assert people[0] is not None and people[1] is not None
        return bool((apart(people[0], people[1][None], axes().unseen.person) > 1).all())

    assert not far("man", "man") and not far("random:3", "random_3")
    assert far("man", "woman") and far("man", "spacesuit")
    share = np.mean([far(f"random:{seed}", "man") for seed in range(100)])
    assert share > 0.95


def test_people_in_two_other_kinds_of_things_may_be_taken_for_one_another_in_three_not() -> None:
    man = read_character(CATALOGUE.characters["man"])
    glasses = Glasses(kind="glasses", color=(0.0, 0.0, 0.0))
    bald = man.hair.model_copy(update={"kind": "bald"})
    bearded = bald.model_copy(update={"beard": "full"})
    seeing = man.model_copy(update={"outfit": (*man.outfit, glasses)})
    others = [numbers_of(seeing.model_copy(update={"hair": hair}))
              for hair in (man.hair, bald, bearded)]
    far = apart(numbers_of(man), np.array(others), axes().unseen.person) > 1
    assert far.tolist() == [False, False, True]


def test_the_space_shrinks_by_what_was_seen(published: Path) -> None:
    seen = seen_in(CATALOGUE, [published])
    whole = space_of(("boxing",), "azimuth,seed")
    left = space_of(("boxing",), "azimuth,seed", seen=seen)
    seeds = axes().seeds["seed"].below
    assert whole.size == 121 * seeds
    # -60 to -31 is far from -10, and 22 to 60 from 2 and, up to 70, from 90.
    assert left.size == (31 + 39) * (seeds - 2) or left.size == (30 + 39) * (seeds - 2)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--axes", "azimut"], "no axis 'azimut' (did you mean azimuth or"),
    (["--fix", "lense=50"], "no axis 'lense' (did you mean lens?)"),
    (["--fix", "lens=500"], "--fix lens=500: expected 28 to 100"),
    (["--fix", "lens=wide"], "expected a number from 28 to 100"),
    (["--fix", "lens=50", "--fix", "lens=60"], "lens: is fixed to two values, 50.0 and 60.0"),
    (["--axes", "lens", "--fix", "lens=50"], "--axes lens: is fixed to 50.0 as well"),
    (["--fix", "lens"], "expected AXIS=VALUE"),
    (["--fix", "lens=50", "--fix", "config=mime"], "stands at one place; lens needs one that"),
    (["--frame-distance", "0.1"], "say both"),
    (["--fix", "style=tird"], "no such style (did you mean tired?)"),
    (["--fix", "background=baech"], "no background 'baech' (did you mean beach or"),
    (["--fix", "character=wman"], "no character 'wman'"),
    (["--fix", "display=pointlght"], "pointlght"),
    (["--fix", "config=drft"], "no config 'drft' (did you mean draft"),
    (["--actions", "boxng"], "no action 'boxng'"),
    (["--actions", "playing_violin", "--fix", "mirror=yes"], "cannot be so"),
    (["--actions", "boxing", "--axes", "mirror", "--count", "3"], "only 2 can be told apart"),
    (["--design", "full", "--actions", "all"], "that is more than 1,000,000"),
    (["--unseen", "nowhere"], "neither a manifest.jsonl nor a folder with one"),
])
def test_bad_requests_end_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    count = [] if {"--count", "--design"} & {*arguments} else ["--count", "2"]
    done = permute(*count, *arguments, "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 2 and said in done.output, done.output
    assert done.output.strip().splitlines()[-1].startswith("mimegen: ")
    assert not (tmp_path / "SPEC.jsonl").exists()


def test_an_exhausted_axis_is_named(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.mp4").touch()
    add_rows(tmp_path, [seen_row("boxing", angle=angle) for angle in range(0, 360, 30)])
    done = permute("--count", 1, "--actions", "boxing", "--unseen", tmp_path,
                   "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 2
    assert "nothing is left to draw on the axis azimuth" in done.output
    done = permute("--count", 1, "--actions", "boxing", "--unseen", tmp_path, "--fix", "azimuth=0",
                   "--axes", "seed,character", "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 0
    assert "held to no distance: azimuth, background" in done.output


def test_a_performance_that_rows_show_is_not_declared_again(published: Path) -> None:
    done = permute("--count", 1, "--actions", "boxing", "--unseen", published, "--axes",
                   "azimuth", "--out", published / "SPEC.jsonl")
    assert done.exit_code == 2 and "draw the axis seed or character" in done.output


def test_takes_that_lint_finds_fault_with_are_drawn_again(tmp_path: Path) -> None:
    class Picky(GoodTakes):
        def findings(self, take: ScoreTake) -> list[str]:
            return ["too odd"] if take.seed % 4 else []

    space = space_of(("boxing",), "seed")
    drawing = Drawing(space, design_of("random", space, 1), 1, Picky(tmp_path))
    found = list(drawing.declarations(40))
    assert all(one.seed % 4 == 0 for one in found)
    assert 1 < np.mean([one.sub_seed for one in found]) < 6
    assert found == list(Drawing(space, design_of("random", space, 1), 1, Picky(tmp_path)
                                 ).declarations(40))


def test_lint_is_asked_once_and_remembered_across_processes(tmp_path: Path) -> None:
    take = library_take(CATALOGUE.action("stop"), None, 12)
    assert isinstance(take, ScoreTake)
    file = tmp_path / "lint.jsonl"
    found = GoodTakes(file).findings(take)
    key, = (json.loads(line)["key"] for line in file.read_text().splitlines())
    file.write_text(json.dumps({"key": key, "findings": ["kept"]}) + "\n{half a li")
    again = GoodTakes(file, {})
    assert again.findings(take) == found
    from mimegen.plan.permute.good_takes import _read
    assert GoodTakes(file, _read(file)).findings(take) == ["kept"]


def test_what_is_drawn_is_announced_and_draws_are_the_same_again(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    specs = [tmp_path / name / "SPEC.jsonl" for name in ("one", "two")]
    for spec in specs:
        done = permute("--count", 3, "--seed", 4, "--actions", "stop,deadlift", "--out", spec)
        assert done.exit_code == 0, done.output
        assert "the space: " in done.output and " takes were drawn again" in done.output
        assert verify_all(spec.with_name("ANNOUNCEMENT.json"), spec) == 3
    assert specs[0].read_bytes() == specs[1].read_bytes()
    announcements = [spec.with_name("ANNOUNCEMENT.json").read_bytes() for spec in specs]
    assert announcements[0] != announcements[1], "the nonce is random"


def test_levels_of_a_design_are_in_their_ranges_and_ordered() -> None:
    for name, axis in axes().numbers.items():
        assert all(one < other for one, other in pairwise(axis.levels)), name
        assert axis.grid[0] == axis.range[0] and axis.grid[-1] == axis.range[1], name


def test_freedom_refuses_what_there_is_not() -> None:
    with pytest.raises(RequestError, match="no axis 'tempi'"):
        Freedom.of("tempi", ())


def test_faults_are_drawn_where_they_are_asked_for_and_change_no_other_draw() -> None:
    with_them = drawn(60, names="seed,azimuth,fault,fault_amount")
    without = drawn(60, names="seed,azimuth")
    assert [(one.seed, one.azimuth) for one in with_them] == [
        (one.seed, one.azimuth) for one in without]
    assert not any("fault" in name for one in without for name in one.content())
    assert {one.fault for one in with_them} <= {*fault_kinds()}
    assert len({one.fault for one in with_them}) > 8
    assert all(0.1 <= (one.fault_amount or 0) <= 1 for one in with_them)


def test_cues_are_drawn_in_the_manners_that_they_can_have(tmp_path: Path) -> None:
    spec = tmp_path / "s.jsonl"
    asked = ("--actions", "head_nod,fists_clenched,boxing", "--axes",
             "stance,intensity,frequency", "--design", "full")
    done = permute(*asked, "--out", spec)
    assert done.exit_code == 0, done.output
    found: dict[str, list[Declaration]] = {"head_nod": [], "fists_clenched": [], "boxing": []}
    for one in read_spec(spec):
        found[one.declaration.action].append(one.declaration)
        take = take_of(CATALOGUE, one.declaration)
        assert isinstance(take, ScoreTake)
        manner = take.manner
        assert manner.intensity == (None if one.declaration.intensity == 1
                                    else one.declaration.intensity)
        assert manner.frequency == one.declaration.frequency
    assert [len(some) for some in found.values()] == [3 * 4 * 3, 2 * 4, 1]
    assert {one.stance for one in found["fists_clenched"]} == {"standing", "talking"}
    assert {one.frequency for one in found["head_nod"]} == {2, 4, 6}
    assert not {"stance", "intensity", "frequency"} & found["boxing"][0].content().keys()
    refused = permute("--actions", "boxing", "--axes", "stance", "--count", "1", "--out", spec)
    assert refused.exit_code == 2 and "--actions cues" in refused.output


def test_what_differs_in_a_fault_s_amount_alone_has_an_expected_order(tmp_path: Path) -> None:
    done = permute("--actions", "boxing,archery", "--axes", "fault_amount", "--fix", "fault=float",
                   "--design", "full", "--out", tmp_path / "s.jsonl")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    orders = [json.loads(line) for line in (tmp_path / "s.order.jsonl").read_text().splitlines()]
    assert {order["action"] for order in orders} == {"boxing", "archery"} and len(lines) == 10
    for order in orders:
        told = [lines[number] for number in order["numbers"]]
        assert [one.pop("fault_amount") for one in told] == order["amounts"] == [.2, .4, .6, .8, 1]
        assert all(one == told[0] for one in told) and order["lowers"] == "interaction"


def test_a_ready_request_is_drawn_by_its_name_and_gives_way_to_what_is_said(tmp_path: Path) -> None:
    done = permute("--ready", "graded_faults", "--actions", "boxing", "--out", tmp_path / "s.jsonl")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert Counter(line["fault"] for line in lines) == dict.fromkeys(fault_kinds(), 5)
    ready = read_ready("graded_faults")
    assert len({CATALOGUE.action(name).action.id for name in ready.actions}) == 20
    file = tmp_path / "own.yaml"
    file.write_text("about: mine\nactions: [boxing]\naxes: [lens]\ndesign: diagonal\n")
    done = permute("--ready", file, "--out", tmp_path / "t" / "s.jsonl")
    assert done.exit_code == 2 and "own.yaml: line 4: design" in done.output


@pytest.mark.parametrize(("arguments", "said"), [
    (["--axes", "fault_amount"], "of which fault"),
    (["--fix", "fault_amount=0.5"], "of which fault"),
    (["--fix", "fault=flaot"], "did you mean float"),
    (["--fix", "fault=float", "--fix", "fault_amount=1.5"], "expected 0.1 to 1"),
    (["--fix", "fault=cut_off", "--fix", "display=pointlight"], "rendered frames"),
    (["--ready", "no_such"], "graded_faults")])
def test_faults_that_cannot_be_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = permute("--count", 2, "--actions", "boxing", *arguments, "--out", tmp_path / "s.jsonl")
    assert done.exit_code == 2 and said in done.output and not [*tmp_path.iterdir()]


def test_dots_are_drawn_with_faults_of_the_motion_alone() -> None:
    found = drawn(60, names="display,fault,seed")
    assert {one.display for one in found} == {"video", "pointlight"}
    assert {fault_kinds()[one.fault or ""].acts_on for one in found} == {"motion"}


def test_a_background_misleads_by_rule_where_one_asks() -> None:
    """From another semantic group, where nothing of the same labels belongs, on like ground."""
    own = drawn(20, fixes=("background=misaligned",))
    assert all(one.background == library_take(CATALOGUE.action(one.action), one.take, 0).misaligned
               for one in own)
    found = drawn(60, fixes=("background=misaligned", "misleading=rule"))
    assert {one.background_kind for one in found} == {"misaligned"}
    assert found[:20] == drawn(20, fixes=("background=misaligned", "misleading=rule"))
    for one in found:
        allowed = misleading(CATALOGUE, one.action, one.take)
        assert one.background in allowed
        assert is_indoors(CATALOGUE, one.background) is True
    assert len({one.background for one in found}) > 8
    both = drawn(60, names="misleading", fixes=("background=misaligned",))
    assert {one.background in ("concert_hall", "living_room", "boxing_gym", "beach", "classroom")
            for one in both} == {True, False}


def test_what_misleads_is_no_place_of_the_action_or_its_kind() -> None:
    for action, entry in CATALOGUE.actions.items():
        for take in entry.takes:
            facts = entry.action.of_take(take)
            names = misleading(CATALOGUE, action, take)
            alike = {other.action.of_take(name).aligned_background
                     for other in CATALOGUE.actions.values() for name in other.takes
                     if other.action.semantic_group == entry.action.semantic_group
                     or set(other.action.of_take(name).labels) & set(facts.labels)}
            assert names and alike.isdisjoint(names), action
            assert {is_indoors(CATALOGUE, name) for name in names} == {
                is_indoors(CATALOGUE, str(facts.aligned_background))}
    assert "boxing_gym" not in misleading(CATALOGUE, "fencing", "fencing")
    assert misleading(CATALOGUE, "no_such_action", "x") == ()


def test_the_page_of_places_says_what_misleads_about_each_action() -> None:
    page = (Path(__file__).parents[1] / "docs" / "backgrounds.md").read_text(encoding="utf-8")
    sets = {name: is_indoors(CATALOGUE, name) for name in CATALOGUE.backgrounds}
    for name, entry in CATALOGUE.actions.items():
        facts, by_rule = entry.action, misleading(CATALOGUE, name, min(entry.takes))
        kind = sets[str(facts.aligned_background)]
        fitting = sorted(place for place, one in sets.items()
                         if one is kind and place not in by_rule)
        where = f"{len(by_rule)} {'in' if kind else 'out'}doors, not {', '.join(fitting)}"
        assert (f"| {name} | {facts.semantic_group} | {facts.aligned_background} |"
                f" {facts.misaligned_background} | {where} |\n") in page