"""``mimegen evaluate --similarity minilm``, by sentence-transformers itself, without a network.

    python benchmarks/minilm.py

Needs ``pip install 'mimegen[minilm]'``. all-MiniLM-L6-v2 is fetched from Hugging Face when it is
first asked for. Here a model of its kind (BERT, mean pooling, unit vectors), two layers deep, with
drawn weights, lies in its place in a cache: everything is shown but what the true weights know.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from mimegen.evaluation.making import Request, questions_of
from mimegen.evaluation.question import Question, write_questions
from mimegen.evaluation.scoring import MINILM, THRESHOLDS
from mimegen.evaluation.templates import read_templates
from questions_rows import library_rows

REVISION = "0" * 40
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def make_model(cache: Path, texts: list[str]) -> Any:
    """Put a small model into a cache of Hugging Face under MiniLM's name; return it."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    home = cache / "hub" / f"models--{MINILM.replace('/', '--')}"
    folder, plain = home / "snapshots" / REVISION, cache / "bert"
    plain.mkdir(parents=True)
    words = sorted({word for text in texts for word in text.lower().split()})
    (plain / "vocab.txt").write_text("\n".join((*MARKS, *words)))
    BertTokenizerFast(str(plain / "vocab.txt")).save_pretrained(plain)
    BertModel(BertConfig(vocab_size=len(MARKS) + len(words), hidden_size=32, num_hidden_layers=2,
                         num_attention_heads=2, intermediate_size=64, initializer_range=1.0)
              ).save_pretrained(plain)
    bert = models.Transformer(str(plain))
    model = SentenceTransformer(modules=[bert, models.Pooling(32, "mean"), models.Normalize()])
    model.save(str(folder))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(REVISION)
    return model


def best_by_hand(model: Any, question: Question, said: str) -> float:
    """Return the greatest cosine of a text to a question's labels, from the model itself."""
    one, *labels = model.encode([said, *question.labels])
    return max(float(one @ label / np.linalg.norm(one) / np.linalg.norm(label))
               for label in labels)


def evaluated(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, without a network."""
    return subprocess.run(
        [sys.executable, "-m", "mimegen", "evaluate", "questions.jsonl", "answers.jsonl",
         "--similarity", "minilm", "--report", "report"], cwd=folder, text=True,
        capture_output=True, env={**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"})


def main() -> None:
    """Compare the command's verdicts with those worked out here."""
    asked = questions_of(library_rows(("base+blank@0",)), Request(
        "free", "label", "zero-shot", read_templates("free", None)))[:20]
    said = [one.labels[0] if place % 2 else other.labels[0]
            for place, (one, other) in enumerate(zip(asked, asked[1:] + asked[:1], strict=True))]
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name), Path(name) / "home"
        write_questions(folder / "questions.jsonl", asked)
        (folder / "answers.jsonl").write_text("".join(json.dumps(
            {"question_id": one.question_id, "model": "m", "output": text}) + "\n"
            for one, text in zip(asked, said, strict=True)))
        without = evaluated(folder, home)
        if without.returncode != 2 or "could not be loaded" not in without.stderr:
            raise SystemExit(f"without weights: {without.returncode} {without.stderr}")
        model = make_model(home, [label for one in asked for label in one.labels])
        done = evaluated(folder, home)
        if done.returncode:
            raise SystemExit(done.stderr)
        rows = map(json.loads, (folder / "report" / "scored.jsonl").open())
        found = {row["question_id"]: (row["similarity"], bool(row["correct"])) for row in rows}
        for one, text in zip(asked, said, strict=True):
            similarity, right = found[one.question_id]
            expected = best_by_hand(model, one, text.lower())
            if abs(similarity - expected) > 1e-4 or right != (similarity >= THRESHOLDS["minilm"]):
                raise SystemExit(f"{text}: found {similarity}, {right}; expected {expected}")
    print(f"{len(asked)} answers, {sum(right for _, right in found.values())} right at"
          f" {THRESHOLDS['minilm']:g}; similarities as sentence-transformers has them")


if __name__ == "__main__":
    main()
