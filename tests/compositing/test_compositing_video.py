"""Clips: what a player sees, exact rates, equal bytes, and failures that leave nothing behind."""

import resource
import signal
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path

import imageio.v3 as iio
import imageio_ffmpeg
import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.compositing.color import bytes_to_linear
from mimegen.compositing.decode import VideoFile, decoded_clip, read_clip, read_pictures
from mimegen.compositing.video import write_clip, write_empty, write_pictures
from mimegen.store.frames import Frame, frame_to_bytes

WIDTH, HEIGHT = 160, 96
COLORS = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (128, 128, 128),
          (224, 172, 140), (30, 60, 90)]


@pytest.fixture
def frames(tmp_path):
    """A square of each color in turn that moves over the picture."""
    paths = []
    for number in range(12):
        square = np.full((32, 32, 4), 255, np.uint8)
        square[..., :3] = COLORS[number % len(COLORS)]
        frame = Frame((WIDTH, HEIGHT), square, (8 + 8 * number, 32), np.zeros((0, 0), np.uint8),
                      (0, 0))
        paths.append(tmp_path / "shot" / f"{number:06d}.npz")
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_bytes(frame_to_bytes(frame))
    return paths


@pytest.fixture
def white():
    return np.ones((HEIGHT, WIDTH, 3), np.float32)


def told_of(path):
    """What ffmpeg says of the clip's video stream."""
    said = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(path)],
                          capture_output=True, text=True, check=False).stderr
    return next(line for line in said.splitlines() if "Video:" in line)


def atoms(data):
    """The MP4's outermost atoms in order, and their bytes."""
    found, place = {}, 0
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        found[kind.decode()] = data[place:place + length]
        place += length
    return found


def test_colors_come_back_and_every_frame_is_there(frames, white, tmp_path):
    facts = write_clip(frames, white, 30, tmp_path / "clips" / "a.mp4")
    pictures = iio.imread(tmp_path / "clips" / "a.mp4", plugin="FFMPEG")
    assert pictures.shape == (12, HEIGHT, WIDTH, 3)
    assert (facts.frames, facts.width, facts.height) == (12, WIDTH, HEIGHT)
    for number, picture in enumerate(pictures):
        middle = picture[44:52, 20 + 8 * number:28 + 8 * number].reshape(-1, 3).mean(axis=0)
        assert middle == pytest.approx(COLORS[number % len(COLORS)], abs=4), number
        assert np.all(picture[80:] >= 253)


def test_solid_colors_are_converted_by_bt709(tmp_path):
    """Of what BT.709 says red, green and blue are, BT.601 differs by up to 30 levels."""
    empty = tmp_path / "0.npz"
    empty.write_bytes(frame_to_bytes(Frame(
        (64, 64), np.zeros((0, 0, 4), np.uint8), (0, 0), np.zeros((0, 0), np.uint8), (0, 0))))
    for color in COLORS:
        ground = np.tile(bytes_to_linear(np.array(color, np.uint8)), (64, 64, 1))
        write_clip([empty] * 3, ground, 25, tmp_path / "c.mp4")
        raw = subprocess.run(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(tmp_path / "c.mp4"),
             "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], capture_output=True, check=True).stdout
        luma, blue, red = raw[0], raw[64 * 64], raw[64 * 64 + 32 * 32]
        r, g, b = (value / 255 for value in color)
        y = 0.2126 * r + 0.7152 * g + 0.0722 * b
        exact = (16 + 219 * y, 128 + 224 * (b - y) / 1.8556, 128 + 224 * (r - y) / 1.5748)
        assert (luma, blue, red) == pytest.approx(exact, abs=1.6), color


def test_the_stream_is_tagged_and_its_index_is_in_front(frames, white, tmp_path):
    write_clip(frames, white, 30, tmp_path / "a.mp4")
    said = told_of(tmp_path / "a.mp4")
    assert "h264" in said
    assert "yuv420p(tv, bt709" in said
    assert "unknown" not in said
    boxes = atoms((tmp_path / "a.mp4").read_bytes())
    assert list(boxes).index("moov") < list(boxes).index("mdat")


@pytest.mark.parametrize(("fps", "ticks"), [
    (30, (30, 1)), (60, (60, 1)), (12.5, (25, 2)), (30000 / 1001, (30000, 1001)),
    (23.976023976023978, (24000, 1001)), (29.97, (2997, 100)), (119.88, (2997, 25)),
    (59.94, (2997, 50)), (240, (240, 1)), (0.5, (1, 2))])
def test_rates_are_exact(frames, white, tmp_path, fps, ticks):
    write_clip(frames, white, fps, tmp_path / "a.mp4")
    moov = atoms((tmp_path / "a.mp4").read_bytes())["moov"]
    media = moov[moov.index(b"mdhd"):]
    scale = struct.unpack(">I", media[16:20])[0]
    times = moov[moov.index(b"stts"):]
    entries, count, step = struct.unpack(">III", times[8:20])
    assert (entries, count) == (1, 12)
    assert scale * ticks[1] == step * ticks[0]


def test_the_same_frames_give_the_same_bytes(frames, white, tmp_path):
    first = write_clip(frames, white, 30, tmp_path / "a.mp4")
    second = write_clip(iter(frames), white, 30, tmp_path / "elsewhere" / "b.mp4")
    assert first == second
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "elsewhere" / "b.mp4").read_bytes()


def test_the_clips_hold_no_trace_of_this_machine(frames, white, tmp_path):
    write_clip(frames, white, 30, tmp_path / "a.mp4")
    assert str(tmp_path).encode() not in (tmp_path / "a.mp4").read_bytes()


def test_an_empty_clip_shows_the_background_for_as_long(white, tmp_path):
    red = np.zeros_like(white)
    red[..., 0] = 1
    facts = write_empty(red, 7, 25, tmp_path / "empty.mp4")
    assert (facts.frames, facts.width, facts.height) == (7, red.shape[1], red.shape[0])
    shown = iio.imread(tmp_path / "empty.mp4")
    assert len(shown) == 7 and np.abs(shown.astype(int) - [254, 0, 0]).max() < 6


def test_an_empty_clip_of_a_panning_camera_shows_its_window(tmp_path):
    backdrop = np.zeros((32, 64, 3), np.float32)
    backdrop[:, 32:] = 1
    write_empty(backdrop, 2, 25, tmp_path / "empty.mp4", (16, 16), [(0, 8), (40, 8)])
    dark, light = iio.imread(tmp_path / "empty.mp4")
    assert dark.mean() < 10 and light.mean() > 245


@contextmanager
def files_no_larger_than(size):
    """A full disk, as far as a process and its children can tell."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("room", [0, 600, 3000])
def test_a_full_disk_is_said_and_leaves_nothing(frames, white, tmp_path, room):
    (tmp_path / "clips").mkdir()
    with files_no_larger_than(room), pytest.raises(RequestError, match=r"a\.mp4: ") as raised:
        write_clip(frames * 20, white, 30, tmp_path / "clips" / "a.mp4")
    assert "\n" not in str(raised.value)
    assert "0x" not in str(raised.value)
    assert list((tmp_path / "clips").iterdir()) == []


def test_a_killed_encoder_is_said_and_leaves_nothing(frames, white, tmp_path, monkeypatch):
    started = []

    class Kept(subprocess.Popen[bytes]):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Kept)

    def paths():
        yield from frames
        started[0].kill()
        yield from frames * 50

    (tmp_path / "clips").mkdir()
    with pytest.raises(RequestError, match="killed by signal 9"):
        write_clip(paths(), white, 30, tmp_path / "clips" / "a.mp4")
    assert list((tmp_path / "clips").iterdir()) == []


def test_a_damaged_frame_stops_the_clip_and_keeps_the_old_one(frames, white, tmp_path):
    target = tmp_path / "clips" / "a.mp4"
    write_clip(frames, white, 30, target)
    before = target.read_bytes()
    frames[5].write_bytes(frames[5].read_bytes()[:40])
    with pytest.raises(ValueError, match=frames[5].name):
        write_clip(frames, white, 30, target)
    frames[5].unlink()
    with pytest.raises(FileNotFoundError, match=frames[5].name):
        write_clip(frames, white, 30, target)
    assert target.read_bytes() == before
    assert list(target.parent.iterdir()) == [target]


def test_a_place_that_takes_no_files_is_said(frames, white, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RequestError, match=r"taken.a\.mp4: cannot be written"):
        write_clip(frames, white, 30, tmp_path / "taken" / "a.mp4")


def test_no_frames_are_no_clip(white, tmp_path):
    with pytest.raises(ValueError, match="at least one frame"):
        write_clip([], white, 30, tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


def test_temporary_names_are_beside_the_target(frames, white, tmp_path):
    seen: list[str] = []

    def paths():
        for path in frames:
            seen.extend(file.name for file in (tmp_path / "clips").iterdir())
            yield path

    write_clip(paths(), white, 30, tmp_path / "clips" / "a.mp4")
    assert "a.mp4" not in seen
    assert [file.name for file in Path(tmp_path / "clips").iterdir()] == ["a.mp4"]


def test_pictures_are_read_out_of_a_clip_by_their_numbers(frames, white, tmp_path):
    write_clip(frames, white, 24, tmp_path / "a.mp4")
    clip = read_clip(tmp_path / "a.mp4")
    assert clip == VideoFile(tmp_path / "a.mp4", 12, 24.0, WIDTH, HEIGHT)
    pictures = read_pictures(clip, [0, 1, 6], WIDTH // 2)
    assert [picture.shape for picture in pictures] == [(HEIGHT // 2, WIDTH // 2, 3)] * 3
    for number, picture in zip((0, 1, 6), pictures, strict=True):
        inside = picture[22:26, 4 * (number + 1) + 6:4 * (number + 1) + 10].reshape(-1, 3)
        assert np.abs(inside.mean(axis=0) - COLORS[number]).max() < 12
        assert picture[4, 4].min() > 245
    with pytest.raises(RequestError, match=r"a\.mp4.*cut off"):
        read_pictures(clip, [3, 40], 80)
    with pytest.raises(RequestError, match="no such clip"):
        read_clip(tmp_path / "b.mp4")


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".gif"])
def test_a_playlist_under_a_clips_name_opens_no_other_file(tmp_path: Path, suffix: str) -> None:
    frames = np.zeros((3, 36, 64, 3), np.uint8)
    write_pictures(iter(frames), (64, 36), 5.0, tmp_path / "secret.mp4")
    path = tmp_path / f"a{suffix}"
    for text in (f"#EXTM3U\n#EXTINF:1,\n{tmp_path}/secret.mp4\n#EXT-X-ENDLIST\n",
                 f"ffconcat version 1.0\nfile '{tmp_path}/secret.mp4'\n"):
        path.write_text(text)
        for read in (read_clip, decoded_clip):
            with pytest.raises(RequestError) as problem:
                read(path)
            assert "\n" not in str(problem.value)
    playlist = tmp_path / "a.m3u8"
    playlist.write_text(text)
    with pytest.raises(RequestError, match="expected a video file"):
        read_clip(playlist)
