"""Names of clips that say nothing: ``--names opaque``."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.production.clipfolder import SALT, ClipFolder
from running import frames_of, mimegen, rows_of

pytestmark = pytest.mark.render

WORDS = ("boxing", "pointlight", "choreography")


def render(config: Path, out: Path, names: str, variants: str = "pointlight@0,pointlight@90",
           store: Path | None = None) -> None:
    done = CliRunner().invoke(main, [
        "render", "--action", "boxing", "--variants", variants, "--config", str(config),
        "--out", str(out), "--names", names, "--store", str(store or out / "store")],
        catch_exceptions=False)
    assert done.exit_code == 0, done.output


def moments_of(out: Path) -> list[int]:
    """When each clip was written; a clip that is only called otherwise keeps its moment."""
    return sorted(file.stat().st_mtime_ns for file in (out / "clips").glob("[!.]*"))


def clips_of(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((out / "clips").iterdir())
            if not file.name.startswith(".")}


@pytest.fixture(scope="module")
def opaque(tiny_config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("opaque") / "out"
    render(tiny_config, out, "opaque")
    return out


@pytest.fixture
def out(opaque: Path, tmp_path: Path) -> Path:
    return shutil.copytree(opaque, tmp_path / "out")


def test_neither_names_nor_bytes_tell_what_a_clip_shows(opaque: Path) -> None:
    clips = clips_of(opaque)
    assert len(clips) == 2
    for name, content in clips.items():
        assert re.fullmatch(r"[0-9a-f]{32}\.mp4", name)
        assert not any(word.encode() in content.lower() for word in WORDS)
    for row in rows_of(opaque):
        assert row["file_name"] == f"clips/{row['sample_id']}.mp4"
        assert row["plain_id"].startswith("boxing-") and row["action"] == "boxing"
    assert "boxing" in (opaque / "index.html").read_text()


def test_a_second_run_finds_the_clips(out: Path, tiny_config: Path) -> None:
    names, moments = list(clips_of(out)), moments_of(out)
    render(tiny_config, out, "opaque")
    assert (list(clips_of(out)), moments_of(out)) == (names, moments)


def test_names_can_be_changed_and_each_clip_is_there_once(out: Path, tiny_config: Path) -> None:
    opaque, moments = clips_of(out), moments_of(out)
    render(tiny_config, out, "plain")
    plain = clips_of(out)
    assert moments_of(out) == moments
    assert sorted(plain.values()) == sorted(opaque.values())
    assert all(name.startswith("boxing-") for name in plain)
    assert [row["sample_id"] + ".mp4" for row in rows_of(out)] == list(plain)
    assert all("plain_id" not in row for row in rows_of(out))
    render(tiny_config, out, "opaque")
    assert clips_of(out) == opaque and len(rows_of(out)) == 2


def test_a_clip_made_anew_is_not_left_under_its_other_name(out: Path, tiny_config: Path) -> None:
    opaque = clips_of(out)
    for name in opaque:
        (out / "clips" / name).write_bytes(b"broken")
    render(tiny_config, out, "plain")
    assert sorted(clips_of(out).values()) == sorted(opaque.values())
    assert len(clips_of(out)) == len(rows_of(out)) == 2


def test_every_folder_has_names_of_its_own_though_the_store_is_shared(
        out: Path, tiny_config: Path, tmp_path: Path) -> None:
    other, moments = tmp_path / "other", moments_of(out)
    render(tiny_config, other, "opaque", store=out / "store")
    assert set(clips_of(other)).isdisjoint(clips_of(out))
    assert [{row["plain_id"] for row in rows_of(one)} for one in (out, other)] == [
        {row["plain_id"] for row in rows_of(out)}] * 2
    render(tiny_config, out, "opaque")
    assert moments_of(out) == moments


def test_a_damaged_salt_is_said(tmp_path: Path) -> None:
    first = ClipFolder.of(tmp_path, opaque=True)
    assert ClipFolder.of(tmp_path, opaque=True) == first
    (tmp_path / SALT).write_text("pepper")
    with pytest.raises(RequestError, match=r"names\.salt: is damaged"):
        ClipFolder.of(tmp_path, opaque=False)


def test_frames_are_not_made_again_for_other_names(basketball: Path, tiny_config: Path,
                                                   tmp_path: Path) -> None:
    out = shutil.copytree(basketball, tmp_path / "out")
    before, clips = frames_of(out), clips_of(out)
    done = mimegen("render", "--action", "basketball", "--variants", "all", "--config",
                   tiny_config, "--out", out, "--names", "opaque")
    assert done.returncode == 0, done.stderr
    assert frames_of(out) == before
    assert sorted(clips_of(out).values()) == sorted(clips.values())
    assert set(clips_of(out)).isdisjoint(clips)
