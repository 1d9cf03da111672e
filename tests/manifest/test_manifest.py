"""Rows of the manifest: typed, of any version, and never outside of their folder."""
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from made_row import CLIP
from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.manifest.file import (
    MANIFEST,
    MAX_LINE,
    add_rows,
    clip_path,
    json_of,
    read_manifest,
    row_from,
    typed_row,
)
from mimegen.manifest.row import ROW_VERSION, Row
from mimegen.manifest.schema import field_table
from places import ROOT

CAMERA = CLIP["camera"]
# As the first version wrote it, which knew no row_version.
FIRST = {name: value for name, value in CLIP.items() if name != "render_config_name"} | {
    "variant": "base+blank@90", "config_name": "preview", "style": "calm"}

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
numbers = st.integers(-10**12, 10**12) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(st.none() | st.booleans() | numbers | names,
                      lambda inner: st.lists(inner, max_size=3)
                      | st.dictionaries(names, inner, max_size=3), max_leaves=8)


def write_lines(out: Path, *lines: str) -> None:
    (out / MANIFEST).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@given(names, st.lists(names, min_size=1, max_size=3), numbers,
       st.dictionaries(names.filter(lambda name: name not in Row.model_fields), values, max_size=4))
def test_a_row_reads_back_as_it_was_written(action: str, labels: list[str], angle: float,
                                            unknown: dict[str, Any]) -> None:
    row = Row(**{**unknown, **CLIP, "action": action, "labels": labels, "angle": angle,
                 "row_version": ROW_VERSION + 1})
    line = json_of(row)
    assert json_of(row_from(line)) == line
    content = json.loads(line)
    assert {name: content[name] for name in unknown} == unknown
    assert content["row_version"] == ROW_VERSION + 1


def test_what_a_newer_version_says_survives_in_a_file(tmp_path: Path) -> None:
    newer = CLIP | {"row_version": 9, "lens": {"kind": "zoom"}, "camera": CLIP["camera"] | {"f": 8}}
    write_lines(tmp_path, json.dumps(newer))
    (tmp_path / "clips").mkdir()
    (tmp_path / CLIP["file_name"]).touch()
    add_rows(tmp_path, [Row(**CLIP | {"sample_id": "z", "file_name": "clips/z.mp4"})])
    kept, added = map(json.loads, (tmp_path / MANIFEST).read_text().splitlines())
    assert kept["lens"] == {"kind": "zoom"} and kept["camera"]["f"] == 8
    assert kept["row_version"] == 9 and added["row_version"] == ROW_VERSION


def test_mimes_names_have_mimes_meaning() -> None:
    row = Row(**CLIP)
    assert row.config_name == row.variant == "base+blank@90"
    assert row.render_config_name == "preview" and row.label == "walking|a walk"
    with pytest.raises(ValueError, match="config_name and variant"):
        Row(**CLIP | {"variant": "base+blank@0"})


def test_a_row_of_the_first_version_is_understood() -> None:
    row = typed_row(FIRST)
    assert row.config_name == row.variant == "base+blank@90"
    assert (row.render_config_name, row.style, row.row_version) == ("preview", "calm", ROW_VERSION)
    assert row.type == "MIME" and typed_row(FIRST | {"row_version": 1}) == row
    assert typed_row(FIRST | {"type": "another"}).type == "another"
    assert typed_row(FIRST | {"style": "stick"}).display_style is None


def test_a_display_of_the_first_version_is_understood() -> None:
    display = {name: FIRST[name] for name in FIRST.keys() - {"variant", "config_name", "angle"}}
    row = typed_row(display | {"style": "stick", "dot_count": 13, "avatar": None})
    assert (row.display_style, row.style, row.type) == ("stick", None, "pointlight")
    assert row.config_name is None and row.render_config_name is None


@pytest.mark.parametrize(("field", "value"), [
    ("sample_id", None), ("labels", []), ("labels", "walking"), ("frames", "48"), ("frames", True),
    ("fps", 0), ("seed", 1.5), ("camera", {"position": [0, 0]}), ("row_version", "2"),
    ("camera", CAMERA | {"position": [0, 0, 0, 0]}), ("camera", CAMERA | {"position": [0, 0]}),
    ("camera", CAMERA | {"rotation": [1, 0, 0]}), ("camera", CAMERA | {"rotation": 5 * [0]}),
    ("row_version", 0), ("frames", 0), ("width", 0), ("height", 0), ("sample_id", ""),
    ("action", "\ud800"), ("unheard_of", "\udfff"),
])
def test_a_field_of_the_wrong_kind_is_named(tmp_path: Path, field: str, value: object) -> None:
    write_lines(tmp_path, json.dumps(CLIP | {"row_version": ROW_VERSION}),
                json.dumps(CLIP | {"row_version": ROW_VERSION, field: value}))
    with pytest.raises(RequestError, match=r"manifest\.jsonl: line 2") as problem:
        read_manifest(tmp_path)
    assert "\n" not in str(problem.value)
    assert field in str(problem.value) or "Unicode" in str(problem.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("field", ["angle", "unheard_of"])
def test_what_is_no_number_is_refused(tmp_path: Path, field: str, number: str) -> None:
    write_lines(tmp_path, json.dumps(CLIP | {field: "here"}).replace('"here"', number))
    with pytest.raises(RequestError, match="line 1"):
        read_manifest(tmp_path)
    with pytest.raises(ValueError, match="finite"):
        Row(**CLIP | {field: float(number)})


@pytest.mark.parametrize("line", ["", "[]", "3", "{", "nothing", "[" * 10**5, "9" * 10**4])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    write_lines(tmp_path, json.dumps(CLIP), line)
    with pytest.raises(RequestError, match="line 2"):
        read_manifest(tmp_path)


def test_a_line_without_end_is_refused_without_being_held(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(RequestError, match=f"line 1 is longer than {MAX_LINE // 2**20} MiB"):
        read_manifest(tmp_path)


NO_KEYS = ["/etc", "../" * 20 + "etc", "", "ab", "AB" * 32, "ab" * 32 + "\n", "ab" * 33,
           "/" + "a" * 63, "\u0660" * 64, "g" * 64, "../" + "a" * 61]
PASS = {"folder": "passes/depth/x", "key": "ab" * 32, "files": "0.exr", "sha256": "ab" * 32}


@pytest.mark.parametrize("key", NO_KEYS)
@pytest.mark.parametrize("field", ["shot_key", "clip_key", "still_key", "character_key",
                                   "partner_character_key"])
def test_a_key_that_is_none_is_refused(tmp_path: Path, field: str, key: str) -> None:
    assert row_from(json.dumps(CLIP | {field: "0" * 64}))
    write_lines(tmp_path, json.dumps(CLIP | {field: key}))
    with pytest.raises(RequestError, match=rf"line 1.*{field}: must be a content key"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("key", NO_KEYS)
@pytest.mark.parametrize("field", ["key", "geometry_key"])
def test_a_pass_with_a_key_that_is_none_is_refused(field: str, key: str) -> None:
    assert typed_row(CLIP | {"passes": {"depth": PASS | {field: "0" * 64}}})
    with pytest.raises(ValueError, match=f"{field}: must be a content key"):
        typed_row(CLIP | {"passes": {"depth": PASS | {field: key}}})


def test_more_frames_than_any_clip_has_are_refused() -> None:
    with pytest.raises(ValueError, match="frames"):
        typed_row(CLIP | {"frames": 10**12})


OUTSIDE = ["/etc/passwd", "../x.mp4", "clips/../../x.mp4", "clips/..", "..", ".", "", "C:x.mp4",
           "c:/x.mp4", "clips\\..\\x.mp4", "//host/x.mp4", "clips//x.mp4", "./x.mp4", "x\0.mp4"]


@pytest.mark.parametrize("file_name", OUTSIDE)
def test_a_clip_outside_of_the_folder_is_refused(tmp_path: Path, file_name: str) -> None:
    write_lines(tmp_path, json.dumps(CLIP | {"file_name": file_name}))
    with pytest.raises(RequestError, match=r"line 1.*file_name"):
        read_manifest(tmp_path)


def test_a_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "clips").symlink_to(elsewhere)
    row = Row(**CLIP)
    with pytest.raises(RequestError, match="leads outside"):
        clip_path(out, row)
    write_lines(out, json_of(row).strip())
    with pytest.raises(RequestError, match="leads outside"):
        read_manifest(out)
    (tmp_path / "link").symlink_to(out)
    (out / "clips").unlink()
    assert clip_path(tmp_path / "link", row) == tmp_path / "link" / CLIP["file_name"]


# ---------------------------------------------------------------- what is published of it

def test_the_schema_is_that_of_what_is_written() -> None:
    done = CliRunner().invoke(main, ["list", "schema"])
    schema = json.loads(done.output)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(json.loads(json_of(Row(**CLIP))))
    for field, value in (("frames", "48"), ("labels", []), ("camera", {"position": [0]})):
        assert not validator.is_valid(CLIP | {field: value})


def test_the_page_lists_the_fields_as_they_are() -> None:
    page = (ROOT / "docs" / "reference" / "manifest.md").read_text(encoding="utf-8")
    assert page.endswith(field_table()), "run tools/manifest_fields.py"


def clip_called(name: str, **changes: Any) -> Row:
    return Row(**CLIP | {"sample_id": name, "file_name": f"clips/{name}.mp4"} | changes)


def test_rows_stay_as_long_as_their_clips_are_there_in_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    assert add_rows(tmp_path, []) == tmp_path / MANIFEST
    assert not (tmp_path / MANIFEST).exists()
    for name in ("c", "a", "b"):
        (tmp_path / "clips" / f"{name}.mp4").touch()
        assert add_rows(tmp_path, [clip_called(name)]) == tmp_path / MANIFEST
    assert [row.sample_id for row in read_manifest(tmp_path)] == ["a", "b", "c"]
    (tmp_path / "clips" / "b.mp4").unlink()
    add_rows(tmp_path, [clip_called("c", seed=7)])
    assert [(row.sample_id, row.seed) for row in read_manifest(tmp_path)] == [("a", 0), ("c", 7)]


def test_a_folder_may_be_named_by_a_text(tmp_path: Path) -> None:
    add_rows(tmp_path, [clip_called("a")])
    assert read_manifest(str(tmp_path)) == read_manifest(tmp_path) != []


def test_questions_want_one_row_of_each_clip(tmp_path: Path) -> None:
    add_rows(tmp_path, [clip_called("a")])
    manifest = tmp_path / MANIFEST
    manifest.write_text(2 * manifest.read_text(encoding="utf-8"), encoding="utf-8")
    done = CliRunner().invoke(main, ["questions", str(tmp_path), "--out",
                                     str(tmp_path / "questions.jsonl")])
    assert done.exit_code == 2 and "a has 2 rows, expected one" in done.stderr
    assert "mimegen verify --repair" in done.stderr
    assert not (tmp_path / "questions.jsonl").exists()


def test_names_in_any_script_are_written_as_they_are(tmp_path: Path) -> None:
    add_rows(tmp_path, [clip_called("a", action="naïve 走る")])
    assert "naïve 走る" in (tmp_path / MANIFEST).read_text(encoding="utf-8")


def test_a_row_must_have_what_every_clip_has_and_says_nothing_of_the_rest() -> None:
    needed = {name for name, field in Row.model_fields.items() if field.is_required()}
    assert needed == {"sample_id", "file_name", "action", "take", "actor", "labels", "avatar",
                      "seed", "fps", "frames", "width", "height", "sha256"}
    bare = Row(**{name: CLIP[name] for name in needed})
    said = {name for name, value in bare.model_dump().items() if value is not None}
    assert said - needed == {"row_version", "label"} and bare.label == "walking|a walk"
    assert bare.row_version == ROW_VERSION
    for name in needed:
        with pytest.raises(ValueError, match=f"^{name}: "):
            typed_row({key: value for key, value in CLIP.items() if key != name}
                      | {"row_version": ROW_VERSION})


def test_a_line_that_is_no_row_says_so_of_itself() -> None:
    display = {name: value for name, value in CLIP.items() if name != "avatar"} | {"dot_count": 13}
    assert typed_row(display).avatar is None and typed_row(display).type == "pointlight"
    with pytest.raises(ValueError, match=r"^it is no JSON object"):
        row_from("[1]")
