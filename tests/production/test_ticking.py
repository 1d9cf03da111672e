"""Long work on a known number of things tells on standard error how many are done."""

from dataclasses import replace
from pathlib import Path

import pytest

from mimegen.production import ticking as module
from mimegen.production.progress import PROGRESS
from mimegen.production.ticking import ticking
from running import invoked


def test_nothing_is_told_of_what_is_done_soon(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(ticking("abc", 3, "made {} letters")) == ["a", "b", "c"]
    assert not capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (("pairs", "--factors", "angle", "--count", 3), "angle: sampled 2 of 3 pairs"),
    (("permute", "--count", 3), "sampled 2 of 3 clips")])
def test_sampling_tells_how_much_is_done(words: tuple[object, ...], said: str, tmp_path: Path,
                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROGRESS", replace(PROGRESS, log_every_s=0.0))
    done = invoked(*words, "--actions", "nod", "--out", tmp_path / "SPEC.jsonl")
    assert done.returncode == 0, done.stderr
    assert said in done.stderr and said not in done.stdout
