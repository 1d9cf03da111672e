"""These questions as a dataset of VLMEvalKit."""

import json
from pathlib import Path

import pandas as pd
from mimegen_reading import exactly_right
from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.smp import dump, get_intermediate_file_path, load

FOLDER = Path(__file__).resolve().parent
# The kit writes this instead of an answer if a request failed.
FAILED = "Failed to obtain answer via API"
# A cell of .xlsx holds so many characters; the kit cuts longer predictions there.
LONGEST_CELL = 32767
NAME = json.loads((FOLDER / "export.json").read_text(encoding="utf-8"))["task"]


class MimegenVideo(VideoBaseDataset):
    """Questions as a dataset of VLMEvalKit.

    If questions ask about sampled frames, every model gets these frames. Otherwise, models that
    read videos get the clip, and others ``nframe`` frames of it.
    """

    TYPE = "Video-MCQ"
    DEFAULT_JUDGE = "exact_matching"

    def __init__(self, dataset=NAME, nframe=8, fps=-1):
        super().__init__(dataset=dataset, nframe=0 if fps > 0 else nframe, fps=fps)
        # Next to the clips, because the kit's own folder may hold frames of other clips with these
        # names.
        self.frame_root = str(FOLDER / "frames-of-clips")

    @classmethod
    def supported_datasets(cls):
        """Return the name to give with --data."""
        return [NAME]

    def prepare_dataset(self, dataset):
        """Return the paths of clips and questions."""
        return {"root": str(FOLDER / "clips"), "data_file": str(FOLDER / "questions.tsv")}

    def build_prompt(self, line, video_llm):
        """Return the examples, media before text, then the question."""
        if isinstance(line, int):
            line = self.data.iloc[line]
        message = []
        for example in json.loads(line["examples"]):
            message += self._shown(line["media_type"], example["media"], video_llm)
            message.append({"type": "text", "value": f"{example['prompt']}\n{example['answer']}"})
        clips = json.loads(line["clips"]) or [json.loads(line["media"])]
        for number, files in enumerate(clips, 1):
            if len(clips) > 1:
                message.append({"type": "text", "value": f"Video {number}:"})
            message += self._shown(line["media_type"], files, video_llm)
        return [*message, {"type": "text", "value": line["question"]}]

    def _shown(self, media_type, media, video_llm):
        if media_type == "video" and not video_llm:
            [clip] = media
            return [{"type": "image", "value": file}
                    for file in self.save_video_frames(Path(clip).stem)]
        return [{"type": media_type, "value": str(FOLDER / file)} for file in media]

    @classmethod
    def evaluate(cls, eval_file, **judge_kwargs):
        """Return the share of right answers, overall and by variant, in percent.

        The answers are also written next to the predictions, in the format of ``mimegen evaluate``.
        """
        data = _as_written(eval_file)
        _write_answers(Path(eval_file), data)
        data["score"] = [_right(row) for _, row in data.iterrows()]
        dump(data, get_intermediate_file_path(eval_file, "_score"))
        shares = {"Overall": data["score"].mean(), **data.groupby("variant")["score"].mean()}
        return pd.DataFrame({name: [100 * share] for name, share in shares.items()})


def _as_written(eval_file):
    """Return the table of predictions as text, in which "None" is not missing and "2" no number.

    Raises ValueError if the kit cut a prediction, which may have lost its answer.
    """
    as_text = {"dtype": str, "keep_default_na": False}
    if eval_file.endswith(".json"):
        return pd.DataFrame(load(eval_file))
    if eval_file.endswith(".tsv"):
        return pd.read_csv(eval_file, sep="\t", **as_text)
    data = pd.read_excel(eval_file, **as_text)
    if (data["prediction"].str.len() >= LONGEST_CELL).any():
        raise ValueError(f"{eval_file}: a prediction was cut at {LONGEST_CELL} characters, and may"
                         " have lost its answer; run again without PRED_FORMAT=xlsx")
    return data


def _write_answers(eval_file, data):
    """Write the model's answers, without those of failed requests."""
    model = eval_file.stem.removesuffix(f"_{NAME}")
    answers = [{"question_id": row["question_id"], "model": model,
                "output": _prediction(row)} for _, row in data.iterrows()
               if FAILED not in _prediction(row)]
    eval_file.with_name(f"{eval_file.stem}_answers.jsonl").write_text(
        "".join(json.dumps(answer) + "\n" for answer in answers), encoding="utf-8")


def _prediction(row):
    """Return a prediction; tables read an empty one as not a number."""
    return "" if pd.isna(row["prediction"]) else str(row["prediction"])


def _right(row):
    return exactly_right(_prediction(row), json.loads(row["options"]),
                         json.loads(row["answer"]), json.loads(row["labels"]))
