"""Wrong requests get one clear line, exit status 2, and leave nothing behind."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from mimegen.base.paths import LIBRARIES, data_folder, user_libraries
from mimegen.cli import COMMANDS, main
from mimegen.commands.common import exits_cleanly, warn
from mimegen.commands.grouped import Grouped
from mimegen.commands.list import HOLDS
from mimegen.groundtruth.kinds import KINDS as PASSES
from running import invoke, invoked, mimegen

BASKETBALL = ("--action", "basketball")


@pytest.mark.parametrize(("arguments", "hints"), [
    (("--action", "basketbal"), ("basketbal", "basketball")),
    ((*BASKETBALL, "--variants", "bas+blank@0"), ("bas+blank@0", "base")),
    ((*BASKETBALL, "--character", "wman"), ("wman", "woman")),
    ((*BASKETBALL, "--character", "random:x"), ("random:7",)),
    ((*BASKETBALL, "--character", "absent.fbx"), ("absent.fbx", "no such file")),
    ((*BASKETBALL, "--config", "preveiw"), ("preveiw", "preview")),
    ((*BASKETBALL, "--take", "dunk"), ("dunk", "basketball_shot")),
    ((*BASKETBALL, "--device", "gpu"), ("gpu", "cpu")),
    ((*BASKETBALL, "--library", "absent"), ("absent", "no such folder")),
    (("--motion", "absent.bvh"), ("absent.bvh", "no such file")),
    ((*BASKETBALL, "--seed", "9" * 20), ("seeds go up to",)),
    ((*BASKETBALL, "--seed", "0:1000000000"), ("100,000 seeds at once",)),
    ((), ("--action", "--motion")),
    ((*BASKETBALL, "--motion", "a.bvh"), ("--action", "--motion")),
])
def test_one_line_that_says_what_and_what_else(
    arguments: tuple[str, ...], hints: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    refused(("render", *arguments, "--out", str(out)), hints)
    assert not out.exists()


def test_a_place_that_cannot_be_written_is_named_with_its_option(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    asked = ("render", *BASKETBALL, "--variants", "base+blank@0", "--config", "draft")
    refused((*asked, "--out", str(taken)), (f"{taken} is no folder", "--out says where"))
    refused((*asked, "--out", str(tmp_path / "out"), "--store", str(taken)),
            (f"{taken} is no folder", "--store says where"))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_where_nothing_could_be_made_no_manifest_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mimegen", "render", *BASKETBALL, "--variants", "base+blank@0",
         "--config", "draft", "--out", tmp_path / "out"], capture_output=True, text=True,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    assert done.returncode == 1 and "File too large" in done.stderr, done.stderr
    assert "no clip was made" in done.stdout and "manifest.jsonl" not in done.stdout


def refused(arguments: tuple[str, ...], hints: tuple[str, ...]) -> None:
    done = invoked(*arguments)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for hint in hints:
        assert hint in done.stderr


@pytest.mark.parametrize("words", [
    ["-x"], ["rendr"], ["render", "--bogus"], ["render", "--passes-from", "eevee"], ["export", "x"],
    ["character", "chek"], ["contactsheet", "x", "--overlay", "bones"],
    ["plan", "--export", "job.json"]])
def test_words_that_nobody_knows_are_one_line(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "--help" in done.stderr


def test_a_command_that_is_none_is_told_with_what_is_like_it() -> None:
    done = CliRunner().invoke(main, ["rnder", "--action", "boxing"])
    assert done.exit_code == 2 and "'rnder' (did you mean render?)" in done.stderr


def test_the_list_of_commands_loads_none_of_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from mimegen.cli import main\n"
         "main(['--help'], standalone_mode=False); print('numpy' in sys.modules)"],
        capture_output=True, text=True, check=True)
    *page, loaded = done.stdout.splitlines()
    assert loaded == "False"
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert f"  {name:13}  {command.get_short_help_str(59)}" in page


@pytest.mark.parametrize(("words", "hints"), [
    ("render --action boxing --label punch", ("--label", "--motion")),
    ("render --action boxing --licence CC0", ("--licence", "--motion")),
    ("render --action boxing --trim 1:2", ("--trim", "--motion")),
    ("render --action boxing --partner b.bvh", ("--partner", "--motion")),
    ("render --motion a.bvh --style tired", ("--style", "--action")),
    ("render --motion a.bvh --take x", ("--take x", "number")),
    ("render --scene the_thief --stance seated", ("--stance", "--action")),
    ("render --action boxing --scene the_thief", ("--action and --scene", "mutually exclusive")),
    ("plan --action boxing --partner-character woman", ("--partner-character woman", "for two")),
    ("plan --action boxing --config draft --out FILE", ("FILE is no folder",)),
    ("take export --action boxing --out FILE/a.bvh", ("FILE is no folder",)),
    ("preview boxing.fbx", ("boxing.fbx: no such file",)),
    ("score format FILE", ("FILE", "mapping")),
])
def test_what_would_be_ignored_or_is_no_such_thing_is_refused(
    words: str, hints: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("text\n")
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2 and done.stderr.count("\n") == 1, done.output
    for hint in hints:
        assert hint in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


@pytest.mark.parametrize(("named", "says"), [
    (7, "mimegen: Bad file descriptor; see to it"),
    (None, "mimegen: Bad file descriptor; see to it"),
    (b"a.txt", "mimegen: a.txt: Bad file descriptor; see to it")])
def test_an_error_of_the_system_is_one_line_whatever_it_names(named, says, capsys) -> None:
    @exits_cleanly
    def command() -> int:
        raise OSError(9, "Bad file descriptor", named)

    with pytest.raises(SystemExit) as ended:
        command()
    told = capsys.readouterr().err
    assert ended.value.code == 2 and told.startswith(says) and told.count("\n") == 1


def test_a_folder_where_no_clip_was_finished_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    done = CliRunner().invoke(main, ["verify", str(tmp_path)])
    assert done.exit_code == 2 and "nor a clip" in done.stderr and "status" in done.stderr


def test_an_unwritable_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refused(("render", *BASKETBALL, "--out", str(tmp_path / "file" / "out")), ("file", "--out"))


def test_a_misspelt_key_in_a_config(tmp_path: Path) -> None:
    config = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    config["sampling"]["sampels"] = config["sampling"].pop("samples")
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(config))
    refused(("render", *BASKETBALL, "--config", str(path)), ("mine.yaml", "sampels", "samples"))


def test_a_background_whose_picture_is_missing(tmp_path: Path) -> None:
    library = tmp_path / "library"
    (library / "backgrounds").mkdir(parents=True)
    (library / "backgrounds" / "mine.yaml").write_text(
        "name: mine\ndescription: a yard\nlicence: CC0\nauthor: me\nsource: my camera\n"
        "picture: {file: absent.jpg, horizon: 0.4, camera_height_m: 1.5,"
        " ground: [[0.1, 0.6], [0.9, 0.6], [0.9, 1.0], [0.1, 1.0]]}\n")
    refused(("render", *BASKETBALL, "--variants", "base+mine@0", "--library", str(library),
             "--out", str(tmp_path / "out")), ("absent.jpg",))
    assert not (tmp_path / "out").exists()


def test_a_cell_that_needs_a_background_nobody_named(samples: Path, tmp_path: Path) -> None:
    refused(("render", "--motion", str(samples / "bvh" / "bvhpython_test_freebvh.bvh"),
             "--variants", "base+aligned@0", "--out", str(tmp_path / "out")),
            ("base+aligned@0", "--aligned"))


@pytest.mark.parametrize(("kind", "expected"), [
    ("actions", "basketball_shot"), ("takes", "boxing"), ("cues", "thumbs_up"),
    ("scenes", "locked_door"), ("characters", "spacesuit"), ("backgrounds", "beach"),
    ("configs", "mime"), ("variants", "base+misaligned@0"), ("displays", "johansson"),
    ("dots", "johansson"), ("manipulations", "scrambled"), ("faults", "foot_slide"),
    ("factors", "mirror"),
    ("groups", "ball sport"), ("styles", "tired"), ("stances", "seated"), ("passes", "depth"),
    ("hand_shapes", "fist"), ("hand shapes", "fist")])
def test_lists_name_what_there_is(kind: str, expected: str) -> None:
    done = invoked("list", kind, "--json")
    assert done.returncode == 0, done.stderr
    names = [next(iter(row.values())) for row in json.loads(done.stdout)]
    assert expected in names
    head, *lines = invoked("list", kind).stdout.splitlines()
    only_in_json = {"takes": ()}.get(kind, ("file",))
    columns = [key.replace("_", " ").upper() for key in json.loads(done.stdout)[0]
               if key not in only_in_json]
    assert re.split("  +", head) == columns
    assert len(lines) == len(names)
    assert all(line.startswith(str(name)) for line, name in zip(lines, names, strict=True))


def test_a_list_of_nothing_in_particular_names_the_kinds() -> None:
    listed = CliRunner().invoke(main, ["list"])
    kinds = json.loads(CliRunner().invoke(main, ["list", "--json"]).stdout)
    assert listed.exit_code == 0 and listed.stdout.startswith("KIND ")
    for kind in kinds:
        assert f"\n{kind['kind']} " in listed.stdout
        assert CliRunner().invoke(main, ["list", kind["kind"]]).exit_code == 0


@pytest.mark.parametrize(("words", "first"), [
    (["actions"], "id"), (["actions", "--set", "mime"], "id"), (["cues"], "id"),
    (["characters"], "name"), (["variants"], "variant"), ([], "kind")])
def test_names_alone_are_one_per_line(words: list[str], first: str) -> None:
    listed = CliRunner().invoke(main, ["list", *words, "--ids"])
    rows = json.loads(CliRunner().invoke(main, ["list", *words, "--json"]).stdout)
    assert listed.exit_code == 0
    assert listed.stdout.splitlines() == [row[first] for row in rows]


@pytest.mark.parametrize("words", [["actions", "--ids", "--json"], ["schema", "--ids"]])
def test_names_alone_of_what_has_none_are_refused(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["list", *words])
    assert done.exit_code == 2 and "--ids" in done.stderr and not done.stdout


def test_passes_are_listed_whole() -> None:
    assert tuple(HOLDS) == PASSES


def test_a_librarys_stances_are_listed(tmp_path: Path) -> None:
    (tmp_path / "cues").mkdir()
    (tmp_path / "cues" / "stances.yaml").write_text("kneeling: {about: Kneels.}\n")
    listed = CliRunner().invoke(main, ["list", "stances", "--library", str(tmp_path)])
    assert "Kneels." in listed.stdout and "seated" in listed.stdout
    (tmp_path / "cues" / "stances.yaml").write_text("kneeling: 5\n")
    wrong = CliRunner().invoke(main, ["list", "stances", "--library", str(tmp_path)])
    assert wrong.exit_code == 2 and "stances.yaml: line 1: kneeling:" in wrong.stderr


def test_a_list_leaves_nothing_to_be_read_as_none(tmp_path: Path) -> None:
    action = tmp_path / "mocap" / "waving_wide"
    action.mkdir(parents=True)
    (action / "action.yaml").write_text("{id: waving_wide, name: waving wide, labels: [waving],"
                                        " semantic_group: greeting, recognised_by: the arm,"
                                        " licence: CC0-1.0, author: me}")
    listed = CliRunner().invoke(main, ["list", "actions", "--library", str(tmp_path)]).stdout
    line = next(line for line in listed.splitlines() if line.startswith("waving_wide"))
    assert line.split() == ["waving_wide", "waving", "-", "-", "-", "-", "-"]


@pytest.mark.parametrize(("name", "action"), [
    ("Basketball shot", "basketball_shot"), ("basketball-shot", "basketball_shot"),
    ("Basketball001", "basketball_shot"), ("playing violin", "playing_violin"),
    ("VIOLIN", "playing_violin")])
def test_actions_answer_to_labels_and_aliases(name: str, action: str) -> None:
    from mimegen.library.catalogue import Catalogue

    assert Catalogue.with_libraries(()).action(name).action.id == action


def test_help_names_the_contract() -> None:
    text = mimegen("render", "--help").stdout
    for option in ("--action", "--variants", "--config", "--take", "--seed", "--out", "--farm",
                   "--workers"):
        assert option in text


def test_a_process_multiplies_matrices_in_one_thread() -> None:
    counted = ("import mimegen.cli, threadpoolctl, numpy, scipy.linalg\n"
               "print({pool['num_threads'] for pool in threadpoolctl.threadpool_info()"
               " if pool['internal_api'] == 'openblas'})")
    environment = {name: value for name, value in os.environ.items()
                   if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", counted], env=environment, capture_output=True,
                          text=True, check=True)
    assert done.stdout.strip() in ("{1}", "set()")


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    ["list", "actions"], ["list", "schema"], ["list", "actors"], ["render", "--help"], ["--help"]])
def test_output_that_nobody_reads_ends_the_command_without_a_word(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "mimegen", *words], stdout=writing,
                          stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    told = "actors" in words
    assert (done.returncode, bool(done.stderr)) == ((2, True) if told else (141, False)), done


@pytest.mark.slow
def test_tables_end_as_quietly(tmp_path: Path) -> None:
    moves = tmp_path / "one.bvh"
    moves.write_text("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation"
                     " Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\n"
                     "Frame Time: 0.1\n0 0 0\n0 0 9\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "mimegen", "inspect", moves], stdout=writing,
                          stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", [
    ["preview", "boxing", "--angle", "nan"], ["contamination", "--power", "nan"],
    ["render", *BASKETBALL, "--gpus-per-task", "inf"],
    ["score", "preview", "x.score.yaml", "--angle", "inf"]])
def test_a_number_without_end_is_named_with_its_option(words: list[str]) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert done.stderr == f"mimegen: {words[-2]} {words[-1]}: expected a number\n"


@pytest.mark.parametrize(("words", "meant"), [
    (["list", "action"], "did you mean actions or action-units?"),
    (["render", "--farm", "slrum"], "did you mean slurm?"),
    (["render", "--farm", "grid"], "available: local, ray, slurm")])
def test_one_word_of_a_few_is_told_which_is_like_it(words: list[str], meant: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and meant in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_a_line_what_it_does(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    groups = [[], [name]] if isinstance(command, click.Group) else [[]]
    for group in groups:
        help_ = CliRunner().invoke(main, [*group, "--help"]).stdout.partition("Commands:")[2]
        listed = [line for line in help_.splitlines() if line.strip()]
        assert [line for line in listed if line.endswith("...")] == []
        assert group or name in [line.split()[0] for line in listed]


@pytest.mark.parametrize("name", ["render", "plan", "pointlight"])
def test_long_help_is_in_parts(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert isinstance(command, Grouped)
    named = [option for names in command.headings.values() for option in names]
    options = {option.name for option in command.params if isinstance(option, click.Option)}
    assert len(named) == len(set(named)) and set(named) == options
    said = CliRunner().invoke(main, [name, "--help"]).stdout
    assert all(f"\n{heading}:\n" in said for heading in command.headings)
    assert all(f"--{name}" in said for name in ("trim", "out"))


def test_failures_are_told_by_name_whatever_failed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = {"b": "it\nburnt", "c": "so did it", "a": "out of\tmemory"}
    monkeypatch.setattr("mimegen.request.rendering.render", lambda *_: failures)
    done = invoke("render", "--action", "boxing", "--variants", "base+blank@0", "--config",
                  "draft", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert [line for line in done.stderr.splitlines() if " failed: " in line] == [
        "mimegen: a failed: out of memory", "mimegen: b failed: it burnt",
        "mimegen: c failed: so did it"]


def test_a_warning_that_repeats_is_said_once_a_command_and_counted() -> None:
    @click.command()
    @exits_cleanly
    def warning() -> int:
        for text in ("the same", "another", "the same"):
            warn(text)
        return 0

    for _ in range(2):
        assert CliRunner().invoke(warning).stderr == (
            "mimegen: the same\nmimegen: another\nmimegen: 2 times: the same\n")


def test_a_refused_option_leaves_no_library_behind(tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIBRARIES, raising=False)
    before = user_libraries()
    done = invoke("take", "export", "stop", "--library", tmp_path, "--style", "tird")
    assert done.exit_code == 2 and "no style 'tird'" in done.output
    assert user_libraries() == before
