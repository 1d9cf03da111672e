"""Questions about small clips that a browser plays."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

from mimegen.base.files import file_hash
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import Question, write_questions
from mimegen.evaluation.templates import read_templates
from questions_rows import library_rows, written

ACTIONS = ("archery", "basketball_shot", "bowling", "driving", "fishing", "golf_swing",
           "playing_violin", "soccer_shot", "tai_chi", "typing_on_keyboard", "writing", "boxing")
VARIANTS = ("base+blank@0", "base+aligned@0", "adversarial+blank@0")
SECONDS = 0.4


@dataclass(frozen=True)
class Made:
    """A file of questions beside its clips, and what it holds."""

    file: Path
    questions: list[Question]


def asked_questions(out: Path, format_: str = "mc", actions: tuple[str, ...] = ACTIONS,
                    variants: tuple[str, ...] = VARIANTS, seconds: float = SECONDS) -> Made:
    """Questions about these actions with small clips."""
    (out / "clips").mkdir(parents=True, exist_ok=True)
    make_clip(out / "clip.mp4", seconds)
    rows = [row.model_copy(update={"sha256": file_hash(out / "clip.mp4")})
            for row in library_rows(variants, actions)]
    written(out, rows)
    for row in rows:
        shutil.copyfile(out / "clip.mp4", out / row.file_name)
    questions = questions_of(rows, QuestionRequest(format_, "label", "zero-shot",
                                                   read_templates(format_, None)))
    file = out / f"questions-{format_}.jsonl"
    write_questions(file, questions)
    return Made(file, questions)


def make_clip(path: Path, seconds: float = SECONDS) -> None:
    """A clip that counts its frames."""
    subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-f", "lavfi", "-i",
         f"testsrc=s=160x90:r=25:d={seconds}", "-pix_fmt", "yuv420p", "-c:v", "libx264",
         "-movflags", "+faststart", path], check=True)
