"""The gallery and contact sheets, from real clips."""

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.compositing.color import srgb_to_linear
from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.compositing.video import write_clip
from mimegen.pages.contactsheet import contact_sheet
from mimegen.pages.gallery import write_gallery
from mimegen.store.frames import Frame, frame_to_bytes
from running import leave_as_killed, rows_of

NOTHING = (np.zeros((0, 0), np.uint8), (0, 0))


def make_clip(target, frames=30, gray=255, fps=30):
    """A red bar that grows to the right by 4 pixels with every frame."""
    paths = []
    for number in range(frames):
        bar = np.full((40, 4 * number + 2, 4), (200, 0, 0, 255), np.uint8)
        paths.append(target.parent / f"{target.stem}-{number:03d}.npz")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_bytes(frame_to_bytes(Frame((160, 90), bar, (0, 20), *NOTHING)))
    ground = np.full((90, 160, 3), srgb_to_linear(np.array(gray / 255)), np.float32)
    facts = write_clip(paths, ground, fps, target)
    for path in paths:
        path.unlink()
    return facts


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """A finished request: three clips and their manifest."""
    out = tmp_path_factory.mktemp("out")
    rows = []
    for avatar, background, name, angle, gray in (
            ("man", "blank", "blank", 0.0, 255), ("man", "blank", "blank", 90.0, 255),
            ("spacesuit", "aligned", "basketball_court", 0.0, 90)):
        sample = f"basketball_shot-{avatar}-{background}-{angle:g}"
        facts = make_clip(out / "clips" / f"{sample}.mp4", gray=gray)
        rows.append({
            "sample_id": sample, "file_name": f"clips/{sample}.mp4", "action": "basketball_shot",
            "take": "default", "actor": "choreography", "labels": ["basketball", "a jump shot"],
            "avatar": avatar, "angle": angle, "background_config": background,
            "background_name": name, "config_name": "preview", "seed": 0, "fps": 30.0,
            "frames": facts.frames, "width": facts.width, "height": facts.height,
            "sha256": facts.sha256, "shot_key": "ab" * 32})
    write_manifest(out, rows)
    return out


@pytest.fixture
def out(rendered, tmp_path):
    """A copy of the finished request, to be changed."""
    return shutil.copytree(rendered, tmp_path / "out")


def write_manifest(out, rows):
    out.mkdir(exist_ok=True)
    (out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


class Page(HTMLParser):
    """The page's elements, in order, and its text."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.words = [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


# ---------------------------------------------------------------- the gallery

def test_every_clip_plays_in_place_behind_its_poster(out):
    page = Page(write_gallery(out))
    videos = page.all("video")
    assert [video["src"] for video in videos] == [row["file_name"] for row in rows_of(out)]
    for video in videos:
        assert (out / video["src"]).is_file()
        assert video["preload"] == "none"
        with Image.open(out / video["poster"]) as poster:
            assert poster.size == (480, 270)
            red = np.asarray(poster.convert("RGB")).astype(int)
        assert np.mean((red[..., 0] > 150) & (red[..., 1] < 60)) > 0.05


def test_nothing_is_fetched_from_outside(out):
    page = Page(write_gallery(out))
    places = [value for _, attributes in page.elements for name, value in attributes.items()
              if name in ("src", "href", "poster", "srcset", "action", "data")]
    assert len(places) == 9
    assert all((out / place).is_file() for place in places)
    assert "//" not in "".join(page.words).replace("http://www.w3.org", "")


def test_clips_can_be_chosen_by_action_character_background_and_angle(out):
    page = Page(write_gallery(out))
    names = [select["name"] for select in page.all("select")]
    assert names == ["action", "avatar", "background_config", "angle"]
    values = [option["value"] for option in page.all("option")]
    assert values == ["", "basketball_shot", "", "man", "spacesuit", "", "aligned", "blank",
                      "", "0", "90"]
    for card in page.all("article"):
        assert {card[f"data-{name.replace('_', '-')}"] for name in names} <= set(values)


def test_what_a_manifest_says_cannot_become_code(out):
    rows = rows_of(out)
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)> $title ${x}'
    for key in ("action", "take", "avatar", "background_config", "background_name", "sample_id",
                "plain_id", "actor", "render_config_name", "variant", "sha256"):
        rows[0][key] = evil
    rows[0] |= {"row_version": 2, "config_name": evil}
    rows[0]["labels"] = [evil]
    rows[1]["file_name"] = "javascript:alert(1)"
    write_manifest(out, rows)
    before = Page(write_gallery(out))
    assert len(before.all("script")) == 1
    assert before.all("img") == []
    assert not any(name.startswith("on") for _, attributes in before.elements
                   for name in attributes)
    assert not any(value and value.startswith("javascript:")
                   for _, attributes in before.elements for value in attributes.values())
    assert before.all("article")[0].keys() == before.all("article")[1].keys()
    assert evil in [option["value"] for option in before.all("option")]


@pytest.mark.parametrize("place", ["../secret.mp4", "/etc/passwd", "clips/../../secret.mp4",
                                   "C:\\secret.mp4", "clips/link.mp4"])
def test_no_page_shows_what_lies_outside_of_its_folder(out, place):
    shutil.copy(out / rows_of(out)[0]["file_name"], out.parent / "secret.mp4")
    (out / "clips" / "link.mp4").symlink_to(out.parent / "secret.mp4")
    rows = rows_of(out)
    rows[1]["file_name"] = place
    write_manifest(out, rows)
    for show in (write_gallery, lambda out: contact_sheet(out, None),
                 lambda out: contact_sheet(out / "clips", None)):
        with pytest.raises(RequestError, match=r"manifest\.jsonl.*(within its|outside)"):
            show(out)
    assert not (out / "index.html").exists() and not list(out.rglob("contactsheet.png"))


def test_a_sheet_says_what_clips_with_opaque_names_show(out, tmp_path):
    plain = contact_sheet(out / "clips", tmp_path / "plain.png", 2)[0]
    rows = rows_of(out)
    for number, row in enumerate(rows):
        (out / row["file_name"]).rename(out / "clips" / f"{number:032x}.mp4")
        row |= {"plain_id": row["sample_id"], "sample_id": f"{number:032x}",
                "file_name": f"clips/{number:032x}.mp4"}
    write_manifest(out, rows)
    assert contact_sheet(out, tmp_path / "opaque.png", 2)[0].read_bytes() == plain.read_bytes()


def test_file_names_with_odd_characters_play(out):
    rows = rows_of(out)
    odd = "clips/läufer 100% #1?.mp4"
    (out / rows[0]["file_name"]).rename(out / odd)
    rows[0]["file_name"] = odd
    write_manifest(out, rows)
    sources = [video["src"] for video in Page(write_gallery(out)).all("video")]
    assert "clips/l%C3%A4ufer%20100%25%20%231%3F.mp4" in sources


def test_an_absent_or_broken_clip_is_shown_as_such(out):
    rows = rows_of(out)
    (out / rows[0]["file_name"]).unlink()
    (out / rows[1]["file_name"]).write_bytes(b"no video")
    page = Page(write_gallery(out))
    assert len(page.all("article")) == 3
    assert len(page.all("video")) == 1
    assert sum("missing or broken" in words for words in page.words) == 2


@pytest.mark.slow
def test_posters_are_kept_renewed_and_removed(out):
    first = write_gallery(out).read_text()
    assert [path.name for path in out.glob(".*")] == [".manifest.jsonl.lock"]
    posters = {file: file.stat().st_mtime_ns for file in (out / "posters").iterdir()}
    assert write_gallery(out).read_text() == first
    assert {file: file.stat().st_mtime_ns for file in (out / "posters").iterdir()} == posters
    rows = rows_of(out)
    rows[0]["sha256"] = "other"
    write_manifest(out, rows[:2])
    leave_as_killed(next(iter(posters)))
    (out / "posters" / "mine.jpg").write_bytes(b"the user's own")
    write_gallery(out)
    left = set((out / "posters").iterdir()) - {out / "posters" / "mine.jpg"}
    assert len(left) == 2
    assert len(set(posters) & left) == 1
    assert (out / "posters" / "mine.jpg").exists()


def test_a_folder_without_manifest_is_said(tmp_path):
    with pytest.raises(RequestError, match=r"no manifest\.jsonl"):
        write_gallery(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_filters_and_playing_work_in_a_browser(out):
    page = write_gallery(out)
    probe = """<script>
    const video = document.querySelector("video");
    video.click();
    const background = document.querySelector("select[name=background_config]");
    background.value = "aligned";
    background.dispatchEvent(new Event("change"));
    const shown = cards.filter(card => !card.hidden).length;
    const stopped = video.paused;
    reset.click();
    document.querySelectorAll("video")[1].dispatchEvent(new KeyboardEvent("keydown", {key: " "}));
    document.title = [shown, stopped, document.querySelectorAll("video")[1].paused,
                      document.getElementById("count").textContent].join("|");
    </script></body>"""
    tried = page.with_name("probe.html")
    tried.write_text(page.read_text().replace("</body>", probe))
    dumped = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
         f"--user-data-dir={out / 'profile'}", "--dump-dom", tried.as_uri()],
        capture_output=True, text=True, timeout=60, check=False).stdout
    assert "<title>1|true|false|3 clips</title>" in dumped


# ---------------------------------------------------------------- decoding

def test_the_pictures_asked_for_come_out(rendered):
    clip = read_clip(next((rendered / "clips").glob("*blank-0.mp4")))
    assert (clip.frames, clip.fps, clip.width, clip.height) == (30, 30, 160, 90)
    for number, picture in zip((0, 13, 29), read_pictures(clip, [0, 13, 29], 160), strict=True):
        bar = np.sum(picture[40, :, 1] < 100)
        assert bar == pytest.approx(4 * number + 2, abs=1)


# ---------------------------------------------------------------- contact sheets

def red_in(sheet, top, bottom, left, right):
    pixels = np.asarray(sheet.convert("RGB")).astype(int)[top:bottom, left:right]
    return int(np.sum((pixels[..., 0] > 150) & (pixels[..., 1] < 60)))


def test_a_clip_gives_a_grid_in_the_order_of_time(rendered, tmp_path):
    clip = next((rendered / "clips").glob("*blank-0.mp4"))
    assert contact_sheet(clip, tmp_path / "sheet.png", 6) == [tmp_path / "sheet.png"]
    with Image.open(tmp_path / "sheet.png") as sheet:
        height = 180 + 26 + 8
        cells = [red_in(sheet, 44 + row * height, 44 + row * height + 180,
                        8 + column * 328, 8 + column * 328 + 320)
                 for row in range(2) for column in range(4)]
    assert cells[:6] == sorted(cells[:6])
    assert cells[5] > 4 * cells[1] > 0
    assert cells[6:] == [0, 0]


@pytest.mark.parametrize(("asked", "shown"), [(1, 1), (12, 12), (99, 30)])
def test_no_frame_is_shown_twice(rendered, tmp_path, asked, shown):
    clip = next((rendered / "clips").glob("*blank-0.mp4"))
    sheet, = contact_sheet(clip, tmp_path, asked)
    with Image.open(sheet) as image:
        rows = -(-shown // 4)
        assert image.height == 44 + rows * (180 + 26 + 8)
    assert sheet == tmp_path / f"{clip.stem}.sheet.png"


def test_a_folder_gives_a_row_per_clip(out):
    sheet, = contact_sheet(out, None, 5)
    assert sheet == out / "contactsheet.png"
    with Image.open(sheet) as image:
        assert image.size == (5 * 184 + 8, 3 * (99 + 28 + 8) + 8)
        for row in range(3):
            top = 8 + row * 135 + 28
            widths = [red_in(image, top, top + 99, 8 + 184 * column, 8 + 184 * column + 176)
                      for column in range(5)]
            assert widths == sorted(widths)
            assert widths[4] > widths[1]
    assert contact_sheet(out / "clips", out / "other.png", 5) == [out / "other.png"]
    assert (out / "other.png").read_bytes() == sheet.read_bytes()


def test_many_clips_take_several_sheets(out, monkeypatch):
    monkeypatch.setattr("mimegen.pages.contactsheet.CLIPS_ON_A_SHEET", 2)
    sheets = contact_sheet(out, out / "all.png", 3)
    assert sheets == [out / "all.png", out / "all-2.png"]
    with Image.open(sheets[0]) as first, Image.open(sheets[1]) as second:
        assert first.height == 2 * 135 + 8
        assert second.height == 135 + 8


def broken(folder):
    (folder / "a.mp4").write_bytes(b"\0" * 4000)


def cut_off(folder):
    make_clip(folder / "a.mp4")
    whole = (folder / "a.mp4").read_bytes()
    (folder / "a.mp4").write_bytes(whole[: len(whole) * 6 // 10])


@pytest.mark.parametrize("spoil", [broken, cut_off])
@pytest.mark.parametrize("source", ["a.mp4", "."])
def test_a_broken_clip_is_named(tmp_path, spoil, source):
    spoil(tmp_path)
    with pytest.raises(RequestError, match=r"a\.mp4: not a video, or cut off") as raised:
        contact_sheet(tmp_path / source, None)
    assert "\n" not in str(raised.value)
    assert [file.name for file in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.parametrize(("source", "target", "says"), [
    ("absent.mp4", None, r"absent\.mp4: no such clip"),
    ("empty", None, r"empty: no clips in this folder"),
    ("out", "sheet.jpg", r"sheet\.jpg: a contact sheet is a PNG"),
    ("out", "file/sheet.png", r"sheet\.png: cannot be written"),
])
def test_what_cannot_be_done_is_said(out, tmp_path, source, target, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RequestError, match=says):
        contact_sheet(tmp_path / source, target and tmp_path / target)


@pytest.mark.parametrize("truth", [None, "depth"])
def test_a_sheet_of_what_is_not_there_is_refused(truth: str | None, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"nowhere: no such"):
        contact_sheet(tmp_path / "nowhere", None, truth=truth)


def test_halves_of_a_pair_stand_side_by_side(out):
    rows = rows_of(out)
    half = {"id": "speed-seed1-0000", "factor": "speed"}
    rows[0]["permutation"] = {"pair": half | {"value": "slow"}}
    rows[2]["permutation"] = {"pair": half | {"value": "fast"}}
    rows[1]["permutation"] = {"pair": ["not", "a", "pair"]}
    write_manifest(out, rows)
    page = write_gallery(out).read_text(encoding="utf-8")
    paired, alone = page.split("<section>")[1:]
    assert "<h2>Pairs: speed</h2>" in paired and paired.count('<div class="pair">') == 1
    first, second = paired.split("<article")[1:]
    assert "speed: fast" in first and rows[2]["file_name"] in first
    assert "speed: slow" in second and rows[0]["file_name"] in second
    assert rows[1]["file_name"] in alone and alone.count("<article") == 1
