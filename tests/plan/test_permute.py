"""Drawing permutations: reproducible, in designs, of good takes alone."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.evaluation.commitment import verify_all
from mimegen.faults.fault import fault_kinds
from mimegen.library.cast import CastMember, RandomPerson
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion, Skeleton
from mimegen.plan.permute.ahead import look_ahead
from mimegen.plan.permute.axes import Freedom, axes
from mimegen.plan.permute.designs import DESIGNS, design_of, pairs_covered
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.ready import read_ready
from permuting import (
    CATALOGUE,
    drawn,
    killed,
    known_space,
    people_who_pray,
    permute,
    space_of,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("design", DESIGNS)
def test_more_clips_begin_with_the_same_and_another_seed_draws_others(design: str) -> None:
    some, more = drawn(9, design), drawn(40, design)
    assert more[:9] == some == drawn(9, design, fresh=True)
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
    space = known_space()
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


@pytest.mark.parametrize(("arguments", "said"), [
    (["--axes", "azimut"], "no axis 'azimut' (did you mean azimuth or"),
    (["--fix", "lense=50"], "no axis 'lense' (did you mean lens?)"),
    (["--fix", "lens=500"], "--fix lens=500: expected 28 to 100"),
    (["--fix", "lens=wide"], "expected a number from 28 to 100"),
    (["--fix", "lens=50", "--fix", "lens=60"], "lens: is fixed to two values, 50.0 and 60.0"),
    (["--axes", "lens", "--fix", "lens=50"], "--axes lens: is also fixed to 50.0"),
    (["--fix", "lens"], "expected AXIS=VALUE"),
    (["--fix", "lens=50", "--fix", "config=mime"], "has a fixed camera; choose a config that"),
    (["--frame-distance", "0.1"], "requires --check-frames DIR"),
    (["--fix", "style=tird"], "no such style (did you mean tired?)"),
    (["--fix", "background=baech"], "no background 'baech' (did you mean beach"),
    (["--fix", "character=wman"], "no character 'wman'"),
    (["--fix", "display=pointlght"], "pointlght"),
    (["--fix", "config=drft"], "no config 'drft' (did you mean draft"),
    (["--actions", "boxng"], "no action 'boxng'"),
    (["--actions", "playing_violin", "--fix", "mirror=yes"], "not available for playing_violin"),
    (["--actions", "boxing", "--axes", "mirror", "--count", "3"], "only 2 distinct ones exist"),
    (["--design", "full", "--actions", "all"], "at most 1,000,000 can be declared"),
    (["--unseen", "nowhere"], "expected a manifest.jsonl or a folder with one"),
])
def test_bad_requests_end_in_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    count = [] if {"--count", "--design"} & {*arguments} else ["--count", "2"]
    done = permute(*count, *arguments, "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 2 and said in done.output, done.output
    assert done.output.strip().splitlines()[-1].startswith("mimegen: ")
    assert not (tmp_path / "SPEC.jsonl").exists()


def test_takes_that_lint_finds_fault_with_are_drawn_again(tmp_path: Path) -> None:
    class Picky(GoodTakes):
        def findings(self, take: ScoreTake, people: Sequence[CastMember] = ()) -> list[str]:
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


def test_a_take_is_looked_at_on_who_performs_it(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take = library_take(CATALOGUE.action("checking_watch"), None, 12)
    assert isinstance(take, ScoreTake)
    good, wide = GoodTakes(tmp_path / "lint.jsonl"), (RandomPerson("random_5", 5),)
    assert good.findings(take) == good.findings(take, wide) == []
    seen: list[Skeleton] = []

    def too_wide(motions: Sequence[Motion], *of: object) -> list[str]:
        seen.append(motions[0].skeleton)
        return ["too wide"]

    monkeypatch.setattr("mimegen.plan.permute.good_takes.missed", too_wide)
    other = GoodTakes(tmp_path / "other.jsonl")
    assert other.findings(take) == []
    assert other.findings(take, wide) == ["too wide"] == other.findings(take, wide)
    looked_at, = seen
    own = wide[0].build().skeleton
    assert all(np.array_equal(looked_at.heads[looked_at.index[name]], own.heads[own.index[name]])
               for name in ("LeftArm", "RightHand", "Head"))


def test_takes_are_looked_at_on_all_cores(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1}, raising=False)
    monkeypatch.setattr("mimegen.plan.permute.ahead.MIN_PER_PROCESS", 1)
    good = GoodTakes(tmp_path / "lint.jsonl")
    look_ahead(people_who_pray(good), people_who_pray, 2)
    assert len(good.known) >= 4, "of each the take and the person"

    class Known(GoodTakes):
        def _cached(self, key: str, find: object) -> list[str]:
            return self.known[key]

    known = list(people_who_pray(Known(good.file, good.known)).declarations(2))
    assert [one.seed for one in known] == [
        one.seed for one in people_who_pray(good).declarations(2)]
    nothing = GoodTakes(tmp_path / "none.jsonl")
    look_ahead(people_who_pray(nothing), killed, 2)
    assert not nothing.known
    monkeypatch.delattr("mimegen.plan.permute.ahead.ProcessPoolExecutor")
    look_ahead(people_who_pray(good), people_who_pray, 2)


def test_samples_are_committed_to_and_repeatable(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    specs = [tmp_path / name / "SPEC.jsonl" for name in ("one", "two")]
    for spec in specs:
        done = permute("--count", 3, "--seed", 4, "--actions", "nod,wave", "--out", spec)
        assert done.exit_code == 0, done.output
        assert "possible clips: " in done.output and " of 3 takes, because" in done.output
        assert verify_all(spec.with_name("COMMITMENT.json"), spec) == 3
        assert str(spec.with_name("COMMITMENT.nonce")) in done.output
        line, = (one for one in done.output.splitlines() if one.startswith("commitment"))
        assert f"{spec.name} and COMMITMENT.nonce, which stay secret until then" in line
    assert specs[0].read_bytes() == specs[1].read_bytes()
    commitments = [spec.with_name("COMMITMENT.json").read_bytes() for spec in specs]
    assert commitments[0] != commitments[1], "the nonce is random"


def test_levels_of_a_design_are_in_their_ranges_and_ordered() -> None:
    for name, axis in axes().numbers.items():
        assert all(one < other for one, other in pairwise(axis.levels)), name
        assert axis.grid[0] == axis.range[0] and axis.grid[-1] == axis.range[1], name


def test_freedom_refuses_what_there_is_not() -> None:
    with pytest.raises(RequestError, match="no axis 'tempi'"):
        Freedom.of("tempi", ())


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
