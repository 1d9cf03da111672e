"""Runs an exported task with Inspect's own mock model, in the export's folder: run_mockllm.py."""

import json

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model


def said(*_) -> ModelOutput:
    """Return always the same, with its tokens counted: to count them Inspect fetches a file."""
    output = ModelOutput.from_content("mockllm/model", "B")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


[log] = evaluate("task.py", model=get_model("mockllm/model", custom_outputs=said),
                 log_dir="logs-mock", log_format="eval", log_images=False, display="none")
print(json.dumps({
    "version": log.eval.packages["inspect_ai"], "status": log.status, "rows": len(log.samples),
    "answers": [sample.scores["read_answer"].answer for sample in log.samples],
    "metrics": {name: one.value for name, one in log.results.scores[0].metrics.items()},
    "kinds": sorted({part.type for sample in log.samples for message in sample.input
                     for part in (message.content if isinstance(message.content, list) else [])}),
}))
