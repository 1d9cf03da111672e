"""Measures of MVP and TOMATO by their authors' public code and by ours, on the same answers.

    python benchmarks/others_measures.py --mvp tasks/mvp/utils.py --tomato src

``--mvp`` is the file of github.com/facebookresearch/minimal_video_pairs, ``--tomato`` the folder of
github.com/yale-nlp/TOMATO. Answers are pretended: a model that is right as often as stated, and
says so in the ways that their parsers read. Ends with 1 where a measure differs.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

import mimegen as mg

# Packages that MVP's code imports and these measures do not need.
LMMS_EVAL = ("lmms_eval", "lmms_eval.tasks", "lmms_eval.tasks._task_utils",
             "lmms_eval.tasks._task_utils.file_utils")
LETTERS = "ABCDEF"
PAIRS = 2000
QUESTIONS = 3000
# How often the model is right: on a half of a pair, and by how a question is asked.
RIGHT_OF_A_HALF = 0.7
RIGHT = {None: 0.62, "frame": 0.41, "shuffled": 0.48}
# Ways of saying a letter: MVP's own pattern reads the first four, TOMATO's the last three.
MVP_WAYS = ("{0}", "({0})", "Answer: {0}", "{0}. {1}")
TOMATO_WAYS = ("{0}", "Answer is:{0}", "Answer is:({0})")


def loaded(file: Path, **pretended: ModuleType) -> ModuleType:
    """Return a module of theirs; what it imports and these measures do not use is pretended."""
    spec = importlib.util.spec_from_file_location(f"theirs_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, pretended):
        spec.loader.exec_module(module)
    return module


def of_mvp(file: Path, chance: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return single and paired accuracy in percent, by their code and by ours."""
    theirs = loaded(file, **dict.fromkeys(LMMS_EVAL, mock.MagicMock()))
    questions, answers, rated = [], [], []
    for number in range(PAIRS):
        for half in range(2):
            options = ["slowly", "quickly"]
            right = bool(chance.random() < RIGHT_OF_A_HALF)
            question, output = posed(f"pair{number}_{half}", options, half, right, MVP_WAYS, chance)
            questions.append({**question, "format": "pair", "pair": f"pair{number}"})
            answers.append(output)
            document = {"video_id": f"pair{number}_{half}", "candidates": options,
                        "answer": options[half]}
            rated.append(theirs.mvp_process_results(document, [output["output"]])["pair_accuracy"])
    single, paired = theirs.compute_metrics(rated)
    found = scored(questions, answers)
    [model] = found.report["models"]
    return {"MVP, single accuracy, %": (single, 100 * model["accuracy"]),
            "MVP, pair accuracy, %": (paired, 100 * model["pairs"]["accuracy"])}


def of_tomato(folder: Path, chance: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Return accuracies by how questions are asked, by their code and by ours, and the gains.

    Their code has no gains: they are worked out from its accuracies as their paper says.
    """
    parsing = loaded(folder / "parse_result.py", dotenv=mock.MagicMock(), openai=mock.MagicMock())
    scoring = loaded(folder / "get_score.py", parse_result=parsing)
    options = [f"{count} times" for count in (1, 2, 3, 4, 5, 6)]
    questions, answers = [], []
    parsed: dict[str | None, list[str]] = {control: [] for control in RIGHT}
    for number in range(QUESTIONS):
        place = int(chance.integers(len(options)))
        for control, share in RIGHT.items():
            name = f"q{number}" if control is None else f"q{number}-{control}"
            right = bool(chance.random() < share)
            question, output = posed(name, options, place, right, TOMATO_WAYS, chance)
            questions.append(question | ({} if control is None else {
                "control": control, "control_of": f"q{number}"}))
            answers.append(output)
            parsed[control].append(json.dumps(parsing.parse_result({
                "id": name, "question": "", "response": output["output"], "gt": [LETTERS[place]],
                "all_choices": list(LETTERS),
                "index2ans": dict(zip(LETTERS, options, strict=True))})))
    theirs = {control: their_score(scoring, lines) for control, lines in parsed.items()}
    [table] = scored(questions, answers).report["reliance"]
    ours = {control: table["controls"][control] for control in RIGHT if control}
    return {"TOMATO, accuracy": (theirs[None], ours["frame"]["full"]),
            "TOMATO, accuracy of one frame": (theirs["frame"], ours["frame"]["accuracy"]),
            "TOMATO, accuracy of shuffled frames": (theirs["shuffled"],
                                                    ours["shuffled"]["accuracy"]),
            "TOMATO, multi-frame gain": (theirs[None] / theirs["frame"] - 1,
                                         ours["frame"]["gain"]),
            "TOMATO, order sensitivity": (theirs[None] / theirs["shuffled"] - 1,
                                          ours["shuffled"]["gain"])}


def their_score(scoring: ModuleType, lines: list[str]) -> float:
    """Return TOMATO's score of a file of parsed results."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.jsonl"
        file.write_text("\n".join(lines))
        return float(scoring.get_score(str(file)))


def posed(name: str, options: list[str], place: int, right: bool, ways: tuple[str, ...],
          chance: np.random.Generator) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a question whose answer stands at a place, and what the pretended model says."""
    wrong = [other for other in range(len(options)) if other != place]
    said = place if right else wrong[int(chance.integers(len(wrong)))]
    way = ways[int(chance.integers(len(ways)))]
    question = {"question_id": name, "sample_id": name, "action": f"action{len(name) % 7}",
                "variant": "base+blank@0", "format": "mc", "prompt": "What is it?",
                "options": options, "answer": options[place], "labels": [options[place]]}
    return question, {"question_id": name, "model": "pretended",
                      "output": way.format(LETTERS[said], options[said])}


def scored(questions: list[dict[str, Any]], answers: list[dict[str, str]]) -> mg.Results:
    """Return what mimegen's evaluation finds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in questions))
        return mg.evaluate(file, answers)


def main() -> None:
    """Print every measure by their code and by ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mvp", type=Path, required=True)
    parser.add_argument("--tomato", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = np.random.default_rng(arguments.seed)
    found = of_mvp(arguments.mvp, chance) | of_tomato(arguments.tomato, chance)
    for name, (theirs, ours) in found.items():
        print(f"{name:40} theirs {theirs:.6f}  ours {ours:.6f}")
    sys.exit(int(not all(np.isclose(theirs, ours, atol=1e-9) for theirs, ours in found.values())))


if __name__ == "__main__":
    main()
