"""Clips that models fail on, small enough to embed in a page."""

import base64
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

from mimegen.base.media import ffmpeg_input, is_video
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer

# Most clips on a page; their width in pixels, frames per second, quality (a higher CRF means
# smaller files), and largest size in bytes.
MAX_CLIPS = 12
WIDTH = 240
FPS = 10
CRF = 33
MAX_CLIP_BYTES = 400_000


@dataclass(frozen=True)
class Failure:
    """A question, the models' wrong answers, and the clip as a small MP4 ``video``, or None."""

    question: Question
    wrong: tuple[tuple[str, str], ...]
    answered: int
    video: bytes | None


def failures(scored: Sequence[ScoredAnswer], folder: Path,
             folders: Mapping[str, Path] | None = None) -> list[Failure]:
    """Return the questions that most models get wrong, one for each action, the worst first.

    Control questions are left out: they show less than the clip, and models should fail on them.
    Clips are searched in ``folder``, or in that of ``folders`` by question_id; one that is missing
    or cannot be read has no video.
    """
    by_question: dict[str, list[ScoredAnswer]] = defaultdict(list)
    for one in (one for one in scored if one.question.control is None):
        by_question[one.question.question_id].append(one)
    ranked = sorted(by_question.values(), key=_rank)
    found: dict[str, list[ScoredAnswer]] = {}
    for answers in ranked:
        if not all(one.right for one in answers):
            found.setdefault(answers[0].question.action, answers)
    places = folders or {}
    return [_failure(answers, places.get(answers[0].question.question_id, folder))
            for answers in [*found.values()][:MAX_CLIPS]]


def _rank(answers: Sequence[ScoredAnswer]) -> tuple[float, int, bool, str]:
    """Return a sort key: share of right answers, number of answers, base variant first."""
    question = answers[0].question
    share = sum(one.right for one in answers) / len(answers)
    return share, -len(answers), question.variant != "base+blank@0", question.question_id


def _failure(answers: Sequence[ScoredAnswer], folder: Path) -> Failure:
    question = answers[0].question
    wrong = tuple(sorted((one.model, one.chosen or "nothing that could be read")
                         for one in answers if not one.right))
    return Failure(question, wrong, len(answers), _small(folder, question.file_name))


def _small(folder: Path, name: str) -> bytes | None:
    """Return a clip as a small MP4; None if it cannot be read or lies outside the folder."""
    clip = folder / name
    if not is_video(clip) or not clip.is_file() \
            or not clip.resolve().is_relative_to(folder.resolve()):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "small.mp4"
        done = subprocess.run(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", *ffmpeg_input(clip),
             "-an", "-vf", f"fps={FPS},scale={WIDTH}:-2", "-pix_fmt", "yuv420p", "-crf", str(CRF),
             "-preset", "veryslow", "-movflags", "+faststart", target], capture_output=True)
        if done.returncode or not target.is_file() or target.stat().st_size > MAX_CLIP_BYTES:
            return None
        return target.read_bytes()


def data_address(video: bytes) -> str:
    """Return a video as a data URL."""
    return "data:video/mp4;base64," + base64.b64encode(video).decode()
