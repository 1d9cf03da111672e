"""Answers of two pretended models for docs/guide/evaluation.md: one sees backgrounds, one actions.

python tools/pretended_answers.py QUESTIONS.jsonl > answers.jsonl
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

RIGHT = {
    "pretended: sees the background": {"aligned": 0.9, "misaligned": 0.15, "blank": 0.4},
    "pretended: sees the action": {"aligned": 0.85, "misaligned": 0.75, "blank": 0.8},
}
IN_SPACESUIT = -0.15


def share(*words: str) -> float:
    """Return a number from 0 to 1 that these words always have."""
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest()[:8], 16) / 2**32


def chosen(question: dict[str, Any], model: str) -> str:
    """Return the option that a model pretends to see."""
    right = RIGHT[model].get(question["background_config"], RIGHT[model]["blank"])
    right += IN_SPACESUIT * (question["avatar"] == "spacesuit")
    if share(model, question["action"], question["variant"]) < right:
        return str(question["answer"])
    wrong = [text for text in question["options"] if text != question["answer"]]
    return str(wrong[int(len(wrong) * share(model, question["question_id"]))])


def main(path: Path) -> None:
    """Print a line for each question and model."""
    for line in path.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        for model in RIGHT:
            letter = "ABCD"[question["options"].index(chosen(question, model))]
            print(json.dumps({"question_id": question["question_id"], "model": model,
                              "output": f"The answer is {letter}."}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
