"""Names from outside stay names: one path component each, whatever a text says."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.base.names import MAX_NAME_BYTES, inner_path, path_name, plain_name
from mimegen.base.yaml_file import YamlFile
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.cli import main
from mimegen.compositing.background import read_background
from mimegen.library.cast import RandomPerson
from mimegen.library.casting import Casting
from mimegen.library.score_take import ScoreTake
from mimegen.library.takefile import read_take_file
from mimegen.plan.clips import ChosenBackground, DisplayClip, PlannedClip
from mimegen.plan.shots import Rendering, Shot
from mimegen.plan.variants import Variant
from mimegen.pointlight.spec import Display
from mimegen.shots.config import RenderConfig, read_config
from mimegen.writers import write_motion
from places import ROOT

HOSTILE = ["../../../etc/x", "a/b", "<img src=x onerror=alert(1)>", "..", ".", "", "/etc/passwd",
           "C:\\windows", "con", "NUL.txt", "-rf", "a\0b", "a\nb", "x" * 300, "走" * 200,
           "\u202egnp.exe", "~/.ssh", "$(id)", "a b", ".hidden", "\udcff"]
texts = st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE),
                  st.text("./\\-_aA0", max_size=8), st.text(min_size=60, max_size=400))


@given(texts)
def test_a_plain_name_is_one_component_that_every_system_and_program_takes(text: str) -> None:
    try:
        name = plain_name(text)
    except ValueError:
        assert not (text.isascii() and text.isalnum() and len(text) <= MAX_NAME_BYTES)
        return
    assert name == text == inner_path(name) == Path(name).name
    assert 0 < len(name.encode()) <= MAX_NAME_BYTES and not name.startswith(".")


@pytest.mark.parametrize("text", ["", ".", "..", ".a", "a/b", "a\\b", "C:", "/a", "a\n", "a b", "ä",
                                  "٣", "a\0", "a" * (MAX_NAME_BYTES + 1), "\udcff"])
def test_what_is_no_plain_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a plain name"):
        plain_name(text)


def is_safe(name: str) -> bool:
    """Whether a name is one component, short and free of anything that means something."""
    return (0 < len(name.encode()) <= MAX_NAME_BYTES and name[0] not in ".-" and name[-1] not
            in ".-"
            and all(letter in "_.-" or letter.isalnum() or ord(letter) > 127 for letter in name)
            and name.isprintable() and inner_path(name) == name and "/" not in name
            and name.split(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1"))


@given(texts)
def test_any_text_is_one_component(text: str) -> None:
    assert is_safe(path_name(text))


@given(st.lists(texts, min_size=1, max_size=5), st.lists(texts, min_size=1, max_size=5))
def test_different_texts_have_different_names(one: list[str], other: list[str]) -> None:
    assert is_safe(path_name(*one))
    if len(one) == len(other) and one != other:
        assert path_name(*one) != path_name(*other)


@given(st.lists(st.text("ab-_", max_size=4), min_size=2, max_size=3))
def test_parts_are_told_apart(parts: list[str]) -> None:
    joined = "-".join(parts)
    for cut in range(1, len(joined)):
        other = [joined[:cut].removesuffix("-"), joined[cut:].removeprefix("-")]
        if other != parts:
            assert path_name(*other) != path_name(*parts)


@given(texts)
def test_a_name_cannot_be_asked_for_by_its_hash(text: str) -> None:
    name = path_name(text)
    assert name == text or path_name(name) != name


@pytest.mark.parametrize("name", ["basketball_shot", "Läufer.v2", "走る", "हिन्दी", "walk-01", "_x"])
def test_plain_names_stay(name: str) -> None:
    assert path_name(name) == name


@pytest.mark.parametrize("texts", [("a", "", "b"), ("a", "-", "b"), ("", "a"), ("???", "b", "")])
def test_parts_that_are_empty_leave_no_dashes(texts: tuple[str, ...]) -> None:
    assert "--" not in path_name(*texts) and path_name(*texts) != path_name(*texts[1:])


def test_the_same_letters_spelled_in_two_ways_are_two_names() -> None:
    assert path_name("a\u0308") != path_name("\u00e4") == "\u00e4"


# ---------------------------------------------------------------- names of clips

def clip_of(action: str, take: str, who: str, background: str, config: RenderConfig,
            words: str) -> tuple[PlannedClip, DisplayClip]:
    score = ROOT / "mocap" / "boxing" / "boxing.score.yaml"
    casting = Casting(
        ScoreTake(action=action, name=take, labels=(action,), aligned=None, misaligned=None,
                  file=score, actor="x", licence="CC0", seed=0), (RandomPerson(who, 0),))
    variant = Variant("base", background, 0.0, words=(words,))
    shot = Shot(casting, 0.0, Rendering(config, "cpu"))
    return (PlannedClip(variant, shot, ChosenBackground("named", background, score)),
            DisplayClip(variant, casting, config, Display(name="d", description=""), False))


@settings(max_examples=examples(60))
@given(texts, texts, texts, texts, texts, texts)
def test_no_clip_leaves_its_folder(action: str, take: str, who: str, background: str,
                                   config: str, words: str) -> None:
    named = read_config(ROOT / "render_configs" / "preview.yaml").model_copy(
        update={"name": config})
    clips = clip_of(action, take, who, background, named, words)
    assert all(is_safe(clip.sample_id) for clip in clips)
    others = clip_of(action, take + "/", who, background, named, words)
    assert {clip.sample_id for clip in clips}.isdisjoint(clip.sample_id for clip in others)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short captured motion with an unpleasant name."""
    file = tmp_path_factory.mktemp("mocap") / "<b>my $(walk)&.bvh"
    motion = perform_scene(read_score(ROOT / "mocap" / "boxing" / "boxing.score.yaml"), 0, 5)[0]
    write_motion(file, motion)
    return file


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("label", ["../../../etc/x", "a/b", "<img src=x onerror=alert(1)>",
                                   "x" * 300])
def test_a_label_stays_in_the_row(label: str, walk: Path, tiny_config: Path, tmp_path: Path
                                  ) -> None:
    content = yaml.safe_load(tiny_config.read_text()) | {"name": "../../../../evil"}
    config = tmp_path / "evil.yaml"
    config.write_text(yaml.safe_dump(content))
    out = tmp_path / "deep" / "down" / "out"
    done = CliRunner().invoke(main, [
        "render", "--motion", str(walk), "--label", label, "--variants", "pointlight@0",
        "--config", str(config), "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert files_in(tmp_path) - {config} == files_in(out)
    clip, = (out / "clips").iterdir()
    row = json.loads((out / "manifest.jsonl").read_text())
    assert row["labels"] == [label] and row["take"] == walk.stem
    assert row["render_config_name"] == "../../../../evil"
    assert row["file_name"] == f"clips/{clip.name}" and is_safe(clip.stem)


def test_displays_of_a_file_stay_in_their_folder(walk: Path, tmp_path: Path) -> None:
    out, display = tmp_path / "deep" / "out", tmp_path / "display.yaml"
    display.write_text(yaml.safe_dump({"name": "../../evil", "description": "x", "width": 64,
                                       "height": 64, "fps": 5}))
    done = CliRunner().invoke(main, ["pointlight", str(walk), "--duration", "0.2", "--display",
                                     str(display), "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert files_in(tmp_path) - {display} == files_in(out)
    assert all(is_safe(part) for file in files_in(out) if file.name[0] != "."
               for part in file.relative_to(out).parts)


# ---------------------------------------------------------------- libraries of somebody else

@pytest.mark.parametrize("place", ["../../private.bvh", "/etc/passwd", "C:x.bvh", "a\\..\\b"])
@pytest.mark.parametrize("key", ["file", "mapping", "skeleton"])
def test_a_take_names_only_files_of_its_folder(tmp_path: Path, key: str, place: str) -> None:
    take = tmp_path / "lib" / "mocap" / "run" / "one.take.yaml"
    take.parent.mkdir(parents=True)
    take.write_text(yaml.safe_dump({
        "file": "one.bvh", "sha256": "0" * 64, "original_name": "x", "licence": "x",
        "source": "x", key: place}))
    with pytest.raises(RequestError, match=rf"one\.take\.yaml: line \d+: {key}: .*within its"):
        read_take_file(take)


def test_a_background_names_only_pictures_of_its_folder(tmp_path: Path) -> None:
    hall = tmp_path / "hall.yaml"
    for place in ("/etc/x.png", "../x.png"):
        hall.write_text(yaml.safe_dump({
            "name": "x", "description": "x", "licence": "x", "author": "x", "source": "x",
            "picture": {"file": place, "horizon": 0.4, "camera_height_m": 1.6,
                        "ground": [[0, 0.9], [1, 0.9], [0.5, 0.6]]}}))
        with pytest.raises(RequestError, match=r"hall\.yaml: line \d+: .*file: .*within its"):
            read_background(hall)


# ---------------------------------------------------------------- files that explode

LAUGHS = "".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
                 for before, name in zip("abcdefgh", "bcdefghi", strict=True))
MERGES = "".join(f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
                 for before, name in zip("abcdefgh", "bcdefghi", strict=True))
BOMBS = {
    "laughs": ("a: &a [1, 2]\n" + LAUGHS, "aliases"),
    "merges": ("a: &a {x: 1}\n" + MERGES, "aliases"),
    "itself": ("a: &a [*a]\n", "aliases"),
    # Newer libyaml refuses it itself, in words of its own.
    "deep": ("a: " + "[" * 10**5, "nest"),
    "digits": ("a: " + "9" * 10**5, "not valid YAML"),
    "date": ("a: 2026-13-45\n", "not valid YAML"),
    "key": ("? [a, b]\n: 1\n", "not valid YAML"),
    "binary": ("a: \0\n", "not valid YAML"),
}


def in_little_room(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python with a second of the processor and 250 MB of memory beyond what imports take."""
    setup = ("import sys, resource\n"
             "from mimegen.base.errors import RequestError\n"
             "from mimegen.base.yaml_file import YamlFile\n"
             "from mimegen.manifest.file import read_manifest\n"
             "from mimegen.readers import read_motion\n"
             "from pathlib import Path\n"
             "pages = int(Path('/proc/self/statm').read_text().split()[0])\n"
             "used = pages * resource.getpagesize()\n"
             "resource.setrlimit(resource.RLIMIT_AS, (used + 250_000_000,) * 2)\n"
             "spent = resource.getrusage(resource.RUSAGE_SELF)\n"
             "limit = int(spent.ru_utime + spent.ru_stime) + 2\n"
             "resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))\n")
    ending = "\nexcept RequestError as problem:\n    print(problem)\n"
    return subprocess.run(
        [sys.executable, "-c", f"{setup}try:\n    {code}{ending}", *map(str, arguments)],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOMBS)
def test_yaml_that_explodes_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    text, why = BOMBS[kind]
    file = tmp_path / "bomb.yaml"
    file.write_text(text)
    done = in_little_room("YamlFile(Path(sys.argv[1]))", file)
    assert done.returncode == 0, done.stderr[-300:]
    assert why in done.stdout and done.stdout.count("\n") == 1 and str(file) in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "why"), [
    ("big.yaml", "YamlFile(Path(sys.argv[1]))", "more than 2 MiB"),
    ("manifest.jsonl", "read_manifest(Path(sys.argv[1]).parent)", "line 1 is longer than"),
    ("big.bvh", "read_motion(Path(sys.argv[1]))", "1024 MiB"),
    ("big.fbx", "read_motion(Path(sys.argv[1]))", "1024 MiB"),
    ("big.c3d", "read_motion(Path(sys.argv[1]))", "1024 MiB"),
    ("big.amc", "read_motion(Path(sys.argv[1]))", "1024 MiB"),
])
def test_a_gigabyte_is_refused_without_being_read(name: str, code: str, why: str, tmp_path: Path
                                                  ) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(2**30)
    done = in_little_room(code, tmp_path / name)
    assert done.returncode == 0, done.stderr[-300:]
    assert why in done.stdout and done.stdout.count("\n") == 1


def test_aliases_and_merges_of_sane_size_work(tmp_path: Path) -> None:
    file = tmp_path / "fine.yaml"
    file.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: [*a, *a]\n")
    assert YamlFile(file).content["b"] == {"x": 3, "y": 2}
    file.write_text("a: &a {x: 1}\nb:\n  <<: *a\n  y: 1\n  y: 2\n")
    with pytest.raises(RequestError, match=r"line 5: y: is given twice"):
        YamlFile(file)


