"""Cells that a request leaves out are recorded beside the manifest until they are rendered."""

import json
from pathlib import Path

import mimegen as mg
from made_row import CLIP
from mimegen.manifest.left_out import LEFT_OUT, LeftOut, note_left_out, read_left_out
from running import invoked

WHY = "no background is known"
LACKING = LeftOut("walk", "a", "preview", ("base+aligned@0", "base+misaligned@0"), WHY,
                  f"walk: {WHY} for base+aligned@0, base+misaligned@0")


def write_row(out: Path, **facts: object) -> None:
    (out / "manifest.jsonl").write_text(json.dumps(CLIP | {"row_version": 2} | facts) + "\n")


def test_status_names_each_left_out_cell_and_why(tmp_path: Path) -> None:
    write_row(tmp_path)
    note_left_out(tmp_path, [LACKING])
    report = json.loads(invoked("status", tmp_path, "--json").stdout)
    assert report["left_out"] == [
        {"action": "walk", "take": "a", "render_config_name": "preview", "variant": variant,
         "why": WHY} for variant in LACKING.variants]
    assert [cell.variant for cell in mg.open(tmp_path).left_out] == [*LACKING.variants]
    assert f"walk, a: base+aligned@0, base+misaligned@0 left out in preview: {WHY}" in invoked(
        "status", tmp_path).stdout


def test_a_cell_is_left_out_until_it_is_rendered_in_that_config(tmp_path: Path) -> None:
    note_left_out(tmp_path, [LACKING])
    write_row(tmp_path, config_name="base+aligned@0", render_config_name="mime")
    note_left_out(tmp_path, [])
    assert len(read_left_out(tmp_path)) == 2
    write_row(tmp_path, config_name="base+aligned@0")
    note_left_out(tmp_path, [])
    assert [cell.variant for cell in read_left_out(tmp_path)] == ["base+misaligned@0"]


def test_without_left_out_cells_there_is_no_file(tmp_path: Path) -> None:
    note_left_out(tmp_path, [])
    assert not (tmp_path / LEFT_OUT).exists()
    write_row(tmp_path, config_name="base+aligned@0")
    note_left_out(tmp_path, [LeftOut("walk", "a", "preview", ("base+aligned@0",), WHY, "")])
    assert not (tmp_path / LEFT_OUT).exists()


def test_a_line_that_was_cut_off_harms_no_other(tmp_path: Path) -> None:
    note_left_out(tmp_path, [LACKING])
    file = tmp_path / LEFT_OUT
    file.write_text(file.read_text() + '{"action": "wa')
    assert len(read_left_out(tmp_path)) == 2
