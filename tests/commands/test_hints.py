"""Messages about wrong words lead to the right ones; warnings tell what is not finished."""

import json
from pathlib import Path

import pytest
from pydantic import RootModel

from made_row import CLIP
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import read_yaml
from mimegen.cli import OF_GAITS
from mimegen.commands.checked import warn_if_rendering
from mimegen.faces.words import emotions, like_emotion
from mimegen.production.journal import Journal
from mimegen.store.store import Store
from running import invoked


def refused(*words: object) -> str:
    done = invoked(*words)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def test_all_unknown_actions_are_told_at_once() -> None:
    said = refused("plan", "--action", "boxing,jugling_balls,waltzx,basketbal", "--variants", "all")
    assert "no action 'jugling_balls'" in said and "no action 'waltzx'" in said
    assert "no action 'basketbal' (did you mean" in said and "'boxing'" not in said


@pytest.mark.parametrize(("word", "meant"), [
    ("angry", "anger"), ("Sad", "sadness"), ("afraid", "fear"), ("joyful", "joy")])
def test_adjectives_of_emotions_lead_to_the_emotions(word: str, meant: str) -> None:
    said = refused("plan", "--action", "boxing", "--variants", "all", "--emotion", word)
    assert f"no emotion '{word}' (did you mean {meant}?)" in said


def test_words_of_emotions_name_emotions() -> None:
    words = read_yaml(data_file("rigs/faces/emotion_words.yaml"), RootModel[dict[str, str]]).root
    assert set(words.values()) <= set(emotions()) and not set(words) & set(emotions())
    assert like_emotion("suprise") == " (did you mean surprise?)"


@pytest.mark.parametrize("command", ["render", "plan"])
def test_affect_is_called_style_where_clips_are_rendered(command: str) -> None:
    said = refused(command, "--action", "walk", "--affect", "sad")
    assert "--style" in said and "--age" not in said
    assert "--style" not in refused("verify", "out", "--affect", "sad")


def test_a_job_that_still_runs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "store")
    with Journal(tmp_path, store, {"clips": 1, "shots": 1, "devices": []}):
        warn_if_rendering(tmp_path, "the questions are about")
        for command in ("questions", "contactsheet"):
            assert "a job still runs there" in invoked(command, tmp_path).stderr
        assert "no clip has a row in manifest.jsonl so far;" in capsys.readouterr().err
        (tmp_path / "clips").mkdir()
        # Files of clips come before their rows, which are written for a whole performance at once.
        for number in range(17):
            (tmp_path / "clips" / f"{number}.mp4").touch()
        for count, said in ((1, "1 clip has a row"), (3, "3 clips have rows")):
            (tmp_path / "manifest.jsonl").write_text("".join(json.dumps(CLIP | {
                "sample_id": str(number), "file_name": f"clips/{number}.mp4"}) + "\n"
                for number in range(count)))
            warn_if_rendering(tmp_path, "the questions are about")
            warned = capsys.readouterr().err
            assert (f"{said} in manifest.jsonl so far, and the questions are about only these"
                    in " ".join(warned.split()))
    warn_if_rendering(tmp_path, "the questions are about")
    assert not capsys.readouterr().err


def test_an_option_of_gaits_leads_to_the_commands_that_have_it() -> None:
    said = refused("take", "export", "--action", "walk", "--speed", "1.5")
    assert "'--speed'; render and pointlight have it" in said and "--seed" not in said
    for command in ("render", "pointlight"):
        shown = invoked(command, "--help").stdout
        assert all(option in shown for option in OF_GAITS)


def test_a_walker_is_an_option_of_displays() -> None:
    assert "no command 'walker' (did you mean pointlight --walker?)" in refused("walker")
