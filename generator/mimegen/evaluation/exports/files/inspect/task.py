"""These questions as a task of Inspect: inspect eval task.py --model ..."""

import json
from collections import defaultdict
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ContentVideo,
)
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState, generate
from mimegen_reading import chosen_option, exactly_right, final_phrase

FOLDER = Path(__file__).resolve().parent
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The control of questions that are not controls.
WHOLE = "everything"
with (FOLDER / "questions.jsonl").open(encoding="utf-8") as lines:
    ITEMS = [json.loads(line) for line in lines]


@task
def mimegen() -> Task:
    """Ask every question once; standard errors are clustered by action."""
    about = json.loads((FOLDER / "export.json").read_text(encoding="utf-8"))
    samples = [_sample(item) for item in ITEMS]
    return Task(name=about["task"], dataset=MemoryDataset(samples, name=about["task"]),
                solver=generate(), scorer=read_answer(), metadata=about)


@metric
def both_right() -> Metric:
    """Return the share of complete minimal pairs of which both halves are right."""

    number = value_to_float()

    def compute(scores: list[SampleScore]) -> float:
        halves: dict[str, list[float]] = defaultdict(list)
        for one in scores:
            about = one.sample_metadata or {}
            if about["pair"] and about["control"] == WHOLE:
                halves[about["pair"]].append(number(one.score.value))
        whole = [min(own) for own in halves.values() if len(own) == 2]
        return sum(whole) / len(whole) if whole else 0.0

    return compute


def _metrics() -> list[Metric]:
    """Return the metrics: accuracy, and further ones if there are pairs or controls."""
    found = [accuracy(), stderr(cluster="action"), grouped(accuracy(), "variant", all=False)]
    if any(item["pair"] for item in ITEMS):
        found.append(both_right())
    if any(item["control"] != WHOLE for item in ITEMS):
        found.append(grouped(accuracy(), "control", all=False))
    return found


@scorer(metrics=_metrics())
def read_answer() -> Scorer:
    """Score an answer right if it chooses the right letter or, without options, ends in a label."""

    async def score(state: TaskState, target: Target) -> Score:
        options, output = state.metadata["options"], state.output.completion
        right = exactly_right(output, options, state.metadata["answer"], state.metadata["labels"])
        return Score(value="C" if right else "I", answer=_said(output, options), explanation=output)

    return score


def _said(output: str, options: list[str]) -> str | None:
    if not options:
        return final_phrase(output)
    place = chosen_option(output, options)
    return None if place is None else LETTERS[place]


def _sample(item: dict) -> Sample:
    options = item["options"]
    target = LETTERS[options.index(item["answer"])] if options else item["labels"]
    kept = ("action", "variant", "format", "options", "answer", "labels", "pair", "control")
    return Sample(id=item["question_id"], input=_messages(item), target=target,
                  metadata={name: item[name] for name in kept})


def _messages(item: dict) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for example in item["examples"]:
        messages += [ChatMessageUser(content=_content(item["media_type"], example)),
                     ChatMessageAssistant(content=example["answer"])]
    return [*messages, ChatMessageUser(content=_content(item["media_type"], item))]


def _content(media_type: str, shown: dict) -> list[Content]:
    content: list[Content] = []
    for number, files in enumerate(shown.get("clips", [shown["media"]]), 1):
        if "clips" in shown:
            content.append(ContentText(text=f"Video {number}:"))
        content += [_medium(media_type, str(FOLDER / file)) for file in files]
    return [*content, ContentText(text=shown["prompt"])]


def _medium(media_type: str, file: str) -> Content:
    if media_type == "image":
        return ContentImage(image=file)
    return ContentVideo(video=file, format=file.rpartition(".")[2])
