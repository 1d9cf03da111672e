"""The store tells what it holds, and gives up what no manifest names, but not under a job."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mimegen.production.journal import Journal
from mimegen.store.store import Store
from running import invoked, rows_of

# Motions on bodies, and bodies before their faces could move; what is seen stays.
MADE_ON_THE_WAY = {"performances", "characters"}


@pytest.fixture
def out(three_clips: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_clips, tmp_path / "out"))


def told(*arguments: object) -> dict[str, Any]:
    done = invoked("store", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def files_of(store: Path) -> set[Path]:
    return {path for path in store.rglob("*") if path.is_file() and not path.name.startswith(".")}


def test_it_holds_what_is_there_by_action_and_config(out: Path) -> None:
    holds = told(out / "store")["holds"]
    (shots,) = [row for row in holds if row["kind"] == "shots"]
    assert shots["action"] == "basketball_shot" and shots["config"] == "tiny"
    (folder,) = (out / "store").glob("shots/??/*")
    assert shots["bytes"] == sum(file.stat().st_size for file in folder.iterdir())
    assert sum(row["pieces"] for row in holds if row["kind"] == "clips") == 3
    assert told(out) == {"holds": holds}
    assert "basketball_shot, tiny" in invoked("store", out).stdout


def test_prune_keeps_what_is_named_and_verify_finds_it_whole(out: Path) -> None:
    before = files_of(out / "store")
    dry = told(out / "store", "--prune", "--dry-run")["would_remove"]
    assert {row["kind"] for row in dry} == MADE_ON_THE_WAY
    assert files_of(out / "store") == before
    assert told(out / "store", "--prune")["removed"] == dry
    gone = before - files_of(out / "store")
    assert {path.relative_to(out / "store").parts[0] for path in gone} == MADE_ON_THE_WAY
    seen = {row["character_key"] for row in rows_of(out)}
    assert seen == {path.stem for path in (out / "store").glob("characters/??/*.npz")}
    assert invoked("verify", out).returncode == 0


def test_prune_removes_what_is_no_longer_named(out: Path) -> None:
    dots = [row for row in rows_of(out) if row["config_name"] == "pointlight@0"]
    (out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dots))
    removed = told(out, "--prune")["removed"]
    kinds = [row["kind"] for row in removed for _ in range(row["pieces"])]
    assert kinds.count("shots") == kinds.count("stills") == 1 and kinds.count("clips") == 2
    assert not list((out / "store").glob("shots/??/*"))
    assert len(list((out / "store").glob("clips/??/*.json"))) == 1


def test_manifests_elsewhere_count(three_clips: Path, out: Path) -> None:
    (out / "manifest.jsonl").unlink()
    dry = told(out / "store", "--prune", "--dry-run", "--keep", three_clips)["would_remove"]
    assert {row["kind"] for row in dry} == MADE_ON_THE_WAY


def test_rows_that_say_no_still_keep_all_stills(out: Path) -> None:
    rows = [row for row in rows_of(out) if row["config_name"] == "base+blank@0"]
    del rows[0]["still_key"]
    (out / "manifest.jsonl").write_text(json.dumps(rows[0]) + "\n")
    assert "stills" not in {row["kind"] for row in told(out, "--prune")["removed"]}
    assert list((out / "store").glob("stills/??/*.png"))


def test_nothing_goes_while_a_job_uses_the_store(out: Path) -> None:
    before = files_of(out / "store")
    with Journal(out, Store(out / "store"), {"clips": 1, "shots": 1}):
        refused(out, "--prune", hints=("in use", str(out)))
        assert files_of(out / "store") == before
        assert told(out, "--prune", "--dry-run")["pieces"]
    assert told(out, "--prune")["pieces"]


def refused(*arguments: object, hints: tuple[str, ...]) -> None:
    done = invoked("store", *arguments)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    for hint in hints:
        assert hint in done.stderr


def test_wrong_requests(out: Path, tmp_path: Path) -> None:
    refused(tmp_path / "absent", hints=("not a store",))
    refused(out, "--dry-run", hints=("--prune",))
    refused(out, "--prune", "--keep", tmp_path, hints=("manifest.jsonl",))
    (out / "manifest.jsonl").unlink()
    refused(out, "--prune", hints=("--keep",))
