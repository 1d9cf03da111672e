"""--explain has a sentence for each rule and column that audits and evaluations print."""

import json
from pathlib import Path

from mimegen.commands.terms import AUDIT, EVALUATION, HINT
from running import invoke

LABELS = ("boxing", "waving", "rowing", "knitting", "juggling")


def questions(file: Path) -> Path:
    """Write ten questions about five actions, with an answer to each beside them."""
    asked = [{"question_id": f"q{number}", "sample_id": f"s{number}", "action": label,
              "variant": variant, "format": "mc", "prompt": "What?", "options": list(LABELS),
              "answer": label, "labels": [label], "performance": label,
              "background_name": "beach", "background_config": "aligned"}
             for number, (label, variant) in enumerate(
                 (label, variant) for label in LABELS
                 for variant in ("base+blank@0", "base+aligned@0"))]
    file.write_text("".join(json.dumps(one) + "\n" for one in asked))
    answers = file.with_name("answers.jsonl")
    answers.write_text("".join(json.dumps({"question_id": one["question_id"], "model": "m",
                                           "output": "A"}) + "\n" for one in asked))
    return file


def test_every_rule_and_column_of_an_audit_is_explained(tmp_path: Path) -> None:
    file = questions(tmp_path / "q.jsonl")
    found = json.loads(invoke("questions", "--audit", str(file), "--json").stdout)
    rules = {one["rule"].partition(" (")[0] for one in [*found["rules"], *found["shown"]]}
    assert rules == {name for name in AUDIT if name not in
                     ("right", "95 %", "chance", "p after Holm")}
    explained = invoke("questions", "--audit", str(file), "--explain").stdout
    assert all(sentence in explained for sentence in AUDIT.values()) and HINT not in explained
    assert HINT in invoke("questions", "--audit", str(file)).stdout


def test_every_column_of_an_evaluation_is_explained(tmp_path: Path) -> None:
    file = questions(tmp_path / "q.jsonl")
    words = ("evaluate", str(file), str(tmp_path / "answers.jsonl"))
    shown = invoke(*words).stdout
    heads = [line for line in shown.splitlines() if line.startswith(("variant ", "comparison "))]
    assert len(heads) == 2 and HINT in shown
    left = " ".join(heads)
    for name in sorted([*EVALUATION, "variant"], key=len, reverse=True):
        left = left.replace(name, "")
    assert not left.split(), "columns without a sentence"
    explained = invoke(*words, "--explain").stdout
    assert all(sentence in explained for sentence in EVALUATION.values())


def test_explain_without_an_audit_is_refused(tmp_path: Path) -> None:
    done = invoke("questions", str(tmp_path), "--explain")
    assert done.exit_code == 2 and "--explain requires --audit" in done.stderr
