"""Declared clips as a plan: keys, cameras, mirrored and faster performances."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from bodies import capsule_character
from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, file_hash
from mimegen.base.paths import data_folder
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.characters.character import Performance
from mimegen.cli import main
from mimegen.commands.selection import selection_options
from mimegen.faults.fault import parse_faults
from mimegen.library.altering import mirrored_scene
from mimegen.library.cast import cast_member, seen_key
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.keys import face_code, score_code
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.manifest.file import read_manifest
from mimegen.motion import Skeleton
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.permute.axes import axes
from mimegen.plan.permute.declaration import Declaration, Permutation, read_spec
from mimegen.plan.permute.planned import config_of, permuted_plan
from mimegen.plan.plan import make_plan
from mimegen.plan.shots import camera_of
from mimegen.plan.variants import parse_variants
from mimegen.production.estimate import estimate
from mimegen.request import Planned
from mimegen.shots.config import read_config
from mimegen.shots.framing import DISTANCE_STEP_M, frame_camera, outline_points
from mimegen.store.store import Store
from running import invoke

CATALOGUE = Catalogue.with_libraries(())


def declared(action: str = "boxing", **values: Any) -> Declaration:
    entry = CATALOGUE.action(action)
    take = library_take(entry, None, 0)
    partner = {"partner": "woman"} if take.performers == 2 else {}
    return Declaration.model_validate({
        "action": take.action, "take": take.name, "motion_sha256": file_hash(take.file),
        "seed": 3, "style": "own", "mirror": False, "tempo": 1, "character": "man",
        "background_kind": "blank", "background": "blank", "azimuth": 0, "elevation": 9,
        "lens": 50, "light_azimuth": 15, "light_elevation": 52, "light_strength": 1,
        "display": "video", "config": "preview", **partner} | values)


def clip_of(declaration: Declaration, number: int = 0) -> PlannedClip:
    clip, = permuted_plan(CATALOGUE, [Permutation(number, declaration)], "cpu")
    assert isinstance(clip, PlannedClip)
    return clip


def usual_clip(variant: str = "base+blank@0") -> PlannedClip:
    take = library_take(CATALOGUE.action("boxing"), None, 3)
    cells = parse_variants(variant, set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    clip, = make_plan(CATALOGUE, [take], cells,
                      read_config(CATALOGUE.file("config", "preview")), "cpu")
    assert isinstance(clip, PlannedClip)
    return clip


def test_axes_at_their_usual_values_share_the_shot_of_a_plain_request() -> None:
    assert clip_of(declared()).shot.key == usual_clip().shot.key
    assert clip_of(declared(azimuth=-30)).shot.key == usual_clip("base+blank@330").shot.key
    assert clip_of(declared()).key != usual_clip().key, "its row says that it is a permutation"


@pytest.mark.slow
def test_keys_of_unaltered_takes_are_made_as_before_there_were_axes() -> None:
    clip = usual_clip("base+aligned@90")
    take = clip.shot.casting.take
    assert isinstance(take, ScoreTake)
    limits = file_hash(take.file.with_name("boxing.checks.yaml"))
    assert take.key == content_key(file_hash(take.file), 3, None, score_code(), limits)
    assert take.version == ("seed3",) and "tempo" not in take.facts()
    assert clip.sample_id == "boxing-boxing-seed3-man-aligned-90-preview"
    shot = clip.shot
    looks = content_key(seen_key(cast_member(CATALOGUE, "man")), face_code())
    assert shot.key == content_key(shot.casting.key, [looks], 90.0, shot.rendering.key)


CHANGES: list[dict[str, Any]] = [
    {"tempo": 1.1}, {"mirror": True}, {"style": "tired"}, {"seed": 4}, {"character": "random:9"},
    {"azimuth": 12}, {"elevation": 12}, {"lens": 51}, {"light_azimuth": 16},
    {"light_elevation": 50}, {"light_strength": 0.9}, {"config": "standard"}, {"reverse": True},
]


@pytest.mark.slow
def test_a_places_seed_is_the_clips_background() -> None:
    court = {"background_kind": "named", "background": "basketball_court"}
    plain, drawn = clip_of(declared(**court)), clip_of(declared(**court, set_seed=7))
    assert drawn.chosen.seed == 7 and str(drawn.variant) == "man+basketball_court:7@0"
    assert drawn.shot.key == plain.shot.key and drawn.chosen.key != plain.chosen.key


def test_every_axis_changes_the_shot_but_the_background() -> None:
    keys = [clip_of(declared(**change)).shot.key for change in [{}, *CHANGES]]
    assert len(set(keys)) == len(keys)
    beach = clip_of(declared(background_kind="named", background="beach"))
    assert beach.shot.key == keys[0] and beach.key != clip_of(declared()).key


# Clips of one shot: other places, and faults of finished frames.
SHARING: list[dict[str, Any]] = [
    {"background_kind": "named", "background": "beach"}, {"azimuth": 360}, {"view_redraws": 1},
    {"fault": "frame_drops", "fault_amount": 0.5}]


def test_clips_of_one_shot_are_planned_together_and_their_frames_counted_once(
    tmp_path: Path
) -> None:
    changes = [{}, *CHANGES, *SHARING]
    plan = permuted_plan(CATALOGUE, [Permutation(number, declared(**change))
                                     for number, change in enumerate(changes)], "cpu")
    parts = list(plan.castings())
    assert len(parts[0].clips) == 1 + len(SHARING) and len(parts) == 1 + len(CHANGES)
    keys = {clip.shot.key for part in parts for clip in part.clips}
    assert plan.shots == len(parts) == len(keys) and plan.clips == len(changes)
    shared = permuted_plan(CATALOGUE, [Permutation(number, declared(**change))
                                       for number, change in enumerate([{}, *SHARING])], "cpu")
    config = read_config(CATALOGUE.file("config", "preview"))
    cost = estimate(shared, config, "cpu", Store(tmp_path / "store"), tmp_path, None)
    assert (cost["clips"], cost["shots"]) == (5, 1)
    assert cost["frames"] == parts[0].casting.take.frames(config.fps)


def test_a_row_has_the_declaration_and_its_number_and_the_name_tells_them_apart() -> None:
    one, other = clip_of(declared()), clip_of(declared(), 1)
    assert one.sample_id != other.sample_id != clip_of(declared(lens=60), 1).sample_id
    assert one.permutation is not None
    assert one.permutation.content() == {"number": 0, **declared().content()}


def test_dots_are_declared_too() -> None:
    clip, = permuted_plan(CATALOGUE, [Permutation(0, declared(
        display="pointlight:inverted", azimuth=-20, mirror=True))], "cpu")
    assert isinstance(clip, DisplayClip)
    assert str(clip.variant) == "pointlight:inverted@340" and clip.casting.take.mirror


@pytest.mark.slow
@pytest.mark.parametrize("action", ["shot_put", "high_five"])
def test_the_whole_action_is_in_the_picture_at_the_ends_of_all_ranges(action: str) -> None:
    numbers = axes().numbers
    ends = [{"elevation": elevation, "lens": lens, "azimuth": azimuth}
            for elevation in numbers["elevation"].range for lens in numbers["lens"].range
            for azimuth in numbers["azimuth"].range]
    clips = [clip_of(declared(action, mirror=action == "shot_put", tempo=1.2, **end))
             for end in ends]
    scene = clips[0].shot.casting.perform(8.0)
    points = np.concatenate([outline_points(performance) for performance in scene])
    for clip, end in zip(clips, ends, strict=True):
        camera = frame_camera(scene, clip.shot.config, clip.shot.angle)
        assert camera.lens_mm == end["lens"]
        seen = camera.project(points)
        margin = 0.06 * np.array([camera.width, camera.height]) - 0.5
        size = np.array([camera.width, camera.height])
        assert (seen[:, 2] > 0.5).all() and camera.position[2] > 0.05
        assert (seen[:, :2] >= margin).all() and (seen[:, :2] <= size - margin).all()


@pytest.mark.slow
def test_a_mirrored_performance_is_what_mimes_camera_would_see_in_a_mirror() -> None:
    take = library_take(CATALOGUE.action("boxing"), None, 3)
    assert isinstance(take, ScoreTake)
    man = cast_member(CATALOGUE, "man")
    plain = Casting(take, (man,)).perform(6.0)[0]
    swapped = Casting(replace(take, mirror=True), (man,)).perform(6.0)[0]
    config = read_config(CATALOGUE.file("config", "preview"))
    camera = frame_camera([plain], config, 0.0)
    # A man's hair is parted: his mirrored outline may ask for one step more or less.
    step = 0.3 + DISTANCE_STEP_M
    assert frame_camera([swapped], config, 0.0).position == pytest.approx(camera.position, abs=step)
    left, right = (plain.character.skeleton.index[f"{side}Hand"] for side in ("Left", "Right"))
    turn = np.radians(MIME_AZIMUTH_DEG)
    axis = np.array([np.cos(turn), np.sin(turn), 0.0])
    one = plain.motion.global_pose.positions[:, left]
    image = one - 2 * (one @ axis)[:, None] * axis
    assert swapped.motion.global_pose.positions[:, right] == pytest.approx(image, abs=0.01)


@pytest.mark.slow
def test_a_body_with_uneven_sides_is_not_mirrored() -> None:
    body = capsule_character()
    skeleton = body.skeleton
    heads = skeleton.heads.copy()
    heads[skeleton.index["LeftHand"]] += 0.05
    lame = replace(body, skeleton=Skeleton(skeleton.names, skeleton.parents, heads,
                                           skeleton.tails))
    take = library_take(CATALOGUE.action("boxing"), None, 3)
    motion = take.sources(6.0)[0][0]
    assert mirrored_scene((Performance(body, motion),))
    with pytest.raises(RequestError, match="cannot be mirrored"):
        mirrored_scene((Performance(lame, motion),))


@pytest.mark.slow
def test_a_faster_take_is_shorter_and_passes_the_same_poses() -> None:
    take = library_take(CATALOGUE.action("boxing"), None, 3)
    assert isinstance(take, ScoreTake)
    plain = take.sources(30.0)[0][0]
    fast = replace(take, tempo=1.2).sources(30.0)[0][0]
    assert fast.fps == 30 and fast.duration == pytest.approx(plain.duration / 1.2, abs=1 / 30)
    hand = plain.skeleton.index["RightHand"]
    assert fast.global_pose.positions[5::5, hand][:20] == pytest.approx(
        plain.global_pose.positions[6::6, hand][:20], abs=0.02)


def test_what_happens_in_a_take_follows_tempo_and_mirror() -> None:
    take = library_take(CATALOGUE.action("checking_watch"), None, 0)
    assert isinstance(take, ScoreTake)
    altered = replace(take, tempo=1.25, mirror=True)
    assert any(one.hand for one in take.timeline)
    for one, other in zip(take.timeline, altered.timeline, strict=True):
        assert other.start_s == pytest.approx(one.start_s / 1.25, abs=0.001)
        assert (one.hand, other.hand) in {(None, None), ("left", "right"), ("right", "left")}


def test_a_fixed_camera_takes_no_elevation() -> None:
    mime = read_config(CATALOGUE.file("config", "mime"))
    with pytest.raises(RequestError, match="elevation, lens and --camera follow require"):
        config_of(mime, declared())
    own = declared(elevation=None, lens=None, light_azimuth=0, light_elevation=90)
    assert config_of(mime, own) == mime


@pytest.mark.parametrize(("change", "said"), [
    ({"character": "wman"}, "item 0: no character 'wman'"),
    ({"background": "baech"}, "item 0: no background 'baech'"),
    ({"style": "tird"}, "item 0: no style 'tird'"),
    ({"config": "drft"}, "item 0: no config 'drft'"),
    ({"motion_sha256": "0" * 64}, "differs from the declared file"),
])
def test_what_the_library_does_not_have_is_refused_first(change: dict[str, Any], said: str
                                                         ) -> None:
    with pytest.raises(RequestError, match=said):
        permuted_plan(CATALOGUE, [Permutation(0, declared(**change))], "cpu")


@pytest.mark.parametrize(("text", "said"), [
    ("", "contains no declaration"), ("{", "line 1: not valid JSON"),
    ("{}", "line 1: action: Field required"),
    (json.dumps({"action": "a", "lense": 3}), "line 1: "),
])
def test_a_spoilt_specification_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "SPEC.jsonl").write_text(text)
    with pytest.raises(RequestError, match=said):
        read_spec(tmp_path / "SPEC.jsonl")


def test_a_specification_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = spec_of(tmp_path, declared())
    path.write_text("\ufeff" + path.read_text(), encoding="utf-8")
    assert [one.declaration for one in read_spec(path)] == [declared()]


def test_what_the_library_does_not_have_is_said_with_the_file_that_declares_it(tmp_path: Path
                                                                               ) -> None:
    path = spec_of(tmp_path, declared(), declared(character="wman"))
    done = invoke("plan", "--permutations", path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mimegen: {path}: item 1: no character 'wman'"), done.stderr


def spec_of(folder: Path, *declarations: Declaration) -> Path:
    path = folder / "SPEC.jsonl"
    path.write_text("".join(json.dumps(one.content()) + "\n" for one in declarations))
    return path


def test_plan_takes_specifications_and_nothing_beside_them(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, declared(), declared(display="pointlight"))
    runner = CliRunner()
    done = runner.invoke(main, ["plan", "--permutations", str(spec), "--json", "--out",
                                str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert (said["clips"], said["displays"], said["config"]) == (2, 1, "preview")
    done = runner.invoke(main, ["plan", "--permutations", str(spec), "--seed", "3"])
    assert done.exit_code == 2 and "--seed: cannot be combined with --permutations" in done.output
    spec_of(tmp_path, declared(), declared(config="draft"))
    done = runner.invoke(main, ["plan", "--permutations", str(spec)])
    assert done.exit_code == 2 and "two engines" in done.output


@pytest.mark.slow
def test_dots_of_a_specification_are_made_and_verified(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, declared(display="pointlight", tempo=1.2, mirror=True, azimuth=-9))
    out, runner = tmp_path / "out", CliRunner()
    for _ in range(2):
        done = runner.invoke(main, ["render", "--permutations", str(spec), "--out", str(out),
                                    "--quiet"])
        assert done.exit_code == 0, done.output
    row, = read_manifest(out)
    first, = read_spec(spec)
    assert row.permutation == first.content()
    assert (row.tempo, row.mirrored, row.config_name) == (1.2, True, "pointlight@351")
    clip = out / row.file_name
    whole = clip.read_bytes()
    clip.write_bytes(whole[:-1])
    done = runner.invoke(main, ["verify", str(out), "--repair"])
    assert done.exit_code == 0, done.output
    assert clip.read_bytes() == whole


@click.command()
@selection_options
def selected(planned: Planned) -> int:
    """Print the clip of a selection."""
    clip, = planned.plan
    assert isinstance(clip, PlannedClip)
    click.echo(f"{clip.shot.key} {clip.sample_id}")
    return 0


PLAIN = ("--action", "boxing", "--seed", "3", "--variants", "base+blank@0", "--config", "preview",
         "--device", "cpu")


@pytest.mark.parametrize(("arguments", "values"), [
    ((), {}), (("--tempo", "1.1"), {"tempo": 1.1}), (("--mirror",), {"mirror": True}),
    (("--reverse",), {"reverse": True}),
    (("--elevation", "20"), {"elevation": 20}), (("--lens", "85"), {"lens": 85}),
    (("--light", "60,40,0.8"),
     {"light_azimuth": 60, "light_elevation": 40, "light_strength": 0.8})])
def test_plain_requests_are_altered_as_permutations_are(
        arguments: tuple[str, ...], values: dict[str, Any]) -> None:
    done = CliRunner().invoke(selected, [*PLAIN, *arguments], standalone_mode=False)
    assert done.exception is None, done.output
    key, name = done.output.split()
    assert key == clip_of(declared(**values)).shot.key
    assert (name == usual_clip().sample_id) == (not values), "another clip has another name"


@pytest.mark.parametrize(("arguments", "said"), [
    (("--tempo", "2"), "expected 0.85 to 1.2"), (("--lens", "wide"), "expected a number from 28"),
    (("--light", "60"), "expected AZIMUTH,ELEVATION"), (("--light", "60,10"), "expected 30 to 75"),
    (("--config", "mime", "--lens", "85"), "require a config that frames"),
    (("--action", "playing_violin", "--mirror"), "depends on left and right"),
    (("--permutations", "x.jsonl", "--mirror"), "cannot be combined with --permutations")])
def test_what_cannot_be_altered_so_is_refused(arguments: tuple[str, ...], said: str) -> None:
    own = [] if "--permutations" in arguments else PLAIN
    done = CliRunner().invoke(main, ["plan", *own, *arguments])
    assert done.exit_code == 2 and said in done.output


@pytest.mark.slow
def test_altered_and_declared_clips_are_made_again_as_they_were(tmp_path: Path) -> None:
    shipped = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    config, out = tmp_path / "tiny.yaml", tmp_path / "out"
    config.write_text(yaml.safe_dump(shipped | {"name": "tiny", "width": 64, "height": 36,
                                                "fps": 3}))
    spec = spec_of(tmp_path, declared(config=str(config), light_strength=0.8, fault="float",
                                      fault_amount=0.4))
    for request in (["--permutations", str(spec)], [
            *PLAIN, "--config", str(config), "--device", "auto", "--light", "60,40,0.8",
            "--mirror", "--reverse", "--tempo", "1.1", "--fault", "cut_off=0.5"]):
        done = CliRunner().invoke(main, ["render", *request, "--out", str(out), "--quiet"])
        assert done.exit_code == 0, done.output
    clips = {out / row.file_name: row.sha256 for row in read_manifest(out)}
    assert len(clips) == 2
    for clip in clips:
        clip.unlink()
    shutil.rmtree(out / "store" / "shots")
    done = CliRunner().invoke(main, ["verify", str(out), "--repair"])
    assert done.exit_code == 0, done.output
    assert {clip: file_hash(clip) for clip in clips} == clips


@pytest.mark.slow
def test_a_shots_camera_is_the_declared_one() -> None:
    clip = clip_of(declared(lens=80, elevation=20))
    scene = clip.shot.casting.perform(4.0)
    assert camera_of(clip.shot.facts(scene)).lens_mm == 80


def test_a_declared_fault_is_the_one_of_a_plain_request() -> None:
    cells = parse_variants("base+blank@0", set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    plain, = make_plan(CATALOGUE, [library_take(CATALOGUE.action("boxing"), None, 3)], cells,
                       read_config(CATALOGUE.file("config", "preview")), "cpu",
                       faults=parse_faults(["float=0.5"]))
    assert isinstance(plain, PlannedClip)
    wrong = clip_of(declared(fault="float", fault_amount=0.5))
    assert wrong.shot.key == plain.shot.key != clip_of(declared()).shot.key
    assert wrong.permutation is not None and wrong.permutation.content()["fault_amount"] == 0.5
    cut = clip_of(declared(fault="cut_off", fault_amount=0.5))
    assert cut.shot.key == clip_of(declared()).shot.key and len(cut.showing(100).frames) < 80


@pytest.mark.parametrize(("values", "said"), [
    ({"fault": "float"}, "require each other"),
    ({"fault": "float", "fault_amount": 2}, "less than or"),
    ({"fault": "flaot", "fault_amount": 0.5}, "did you mean float"),
    ({"fault": "cut_off", "fault_amount": 0.5, "display": "pointlight"}, "rendered frames")])
def test_a_declared_fault_that_cannot_be_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises((RequestError, ValueError), match=said):
        clip_of(declared(**values))


def test_a_seeded_place_is_fixed_by_two_axes(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["permute", "--count", "1", "--fix", "background=beach:7",
                                     "--out", str(tmp_path / "spec.jsonl")])
    assert done.exit_code == 2 and "use background=beach and set_seed=7" in done.output
    assert not list(tmp_path.iterdir())
