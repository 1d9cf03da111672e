"""These questions as a task of lmms-eval; mimegen.yaml names the functions."""

import sys
from collections import defaultdict
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER))

from mimegen_reading import exactly_right  # noqa: E402


def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    """Return a chat: each example's media and prompt and its answer, then the question."""
    messages = []
    for example in doc["examples"] or ():
        messages += [{"role": "user", "content": _content(doc["media_type"], example)},
                     {"role": "assistant", "content": [_text(example["answer"])]}]
    return [*messages, {"role": "user", "content": _content(doc["media_type"], doc)}]


def doc_to_visual(doc):
    """Return all media, for models that take media separately from text."""
    shown = [*(doc["examples"] or ()), doc]
    return [_opened(doc["media_type"], file) for one in shown for file in one["media"]]


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    """Return the text, for models that take media separately from it."""
    examples = [f"{one['prompt']}\n{one['answer']}" for one in doc["examples"] or ()]
    return "\n\n".join([*examples, *_places(doc), doc["prompt"]])


def _places(doc):
    """Return which media belong to which video, if several videos are shown."""
    clips, first = doc.get("clips") or (), 1
    for number, files in enumerate(clips, 1):
        last = first + len(files) - 1
        yield f"Video {number} is given as number {first} to {last} of what you see."
        first = last + 1


def process_results(doc, results):
    """Return one answer's score, with the fields that results are grouped by."""
    output = results[0]
    right = exactly_right(output, doc["options"] or (), doc["answer"], doc["labels"])
    return {"accuracy": {"question_id": doc["question_id"], "action": doc["action"],
                         "variant": doc["variant"], "score": float(right)}}


def accuracy(results):
    """Return the share of right answers; print the counts for each variant."""
    scores = defaultdict(list)
    for one in results:
        scores[one["variant"]].append(one["score"])
    for variant, values in sorted(scores.items()):
        print(f"{variant}: {sum(values):g} of {len(values)} right", file=sys.stderr)
    return sum(one["score"] for one in results) / len(results)


def _content(media_type, shown):
    content = []
    for number, files in enumerate(shown.get("clips") or [shown["media"]], 1):
        if shown.get("clips"):
            content.append(_text(f"Video {number}:"))
        content += [{"type": media_type, "url": _opened(media_type, file)} for file in files]
    return [*content, _text(shown["prompt"])]


def _text(text):
    return {"type": "text", "text": text}


def _opened(media_type, file):
    path = FOLDER / file
    return Image.open(path).convert("RGB") if media_type == "image" else str(path)
