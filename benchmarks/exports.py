"""Every export is run by the real package, in an environment of its own.

    python benchmarks/exports.py [--only inspect ...] [--kinds mc ...] [--cache DIR] [--logs DIR]

Environments are made under ``--cache`` where they are not there yet. lmms-eval and VLMEvalKit bring
PyTorch, 7 GB each, so they are run where they are named. Models are pretended: they see nothing.
``--logs`` keeps the harnesses' own logs and the questions. tests/data/harness_logs is made by
``--only inspect lmms-eval vlmevalkit --kinds mc free --limit 6 --logs tests/data/harness_logs``.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from exports_clips import clips_of_views, paired_clips, small_clips
from mimegen.evaluation.question import read_questions
from mimegen.evaluation.reading import exactly_right
from pretended_model import Asked, pretended_model, saying

PROGRAMS = Path(__file__).resolve().parent / "exports_programs"
PACKAGES = {"huggingface": ["datasets"], "croissant": ["mlcroissant"],
            "inspect": ["inspect-ai", "openai"],
            # Its own list leaves decord out, with which it reads videos; it reaches into filelock.
            "lmms-eval": ["lmms_eval", "torch", "torchvision", "decord", "filelock<3.19"],
            "vlmevalkit": ["ms-vlmeval", "torch", "torchvision"],
            "coco": ["pycocotools", "numpy"], "webdataset": ["webdataset", "numpy"]}
LIGHT = ("huggingface", "croissant", "inspect", "coco", "webdataset")
# Questions of each kind: format, prompting, sampling.
KINDS = {"mc": ("mc", "zero-shot", "uniform:4"), "few": ("mc", "few-shot", "uniform:2"),
         "free": ("free", "zero-shot", "uniform:4"), "3afc": ("3afc", "cot", "uniform:4"),
         "video": ("mc", "zero-shot", "video"), "pair": ("pair", "zero-shot", "uniform:4"),
         "controls": ("mc", "zero-shot", "uniform:4"), "match": ("match", "zero-shot", "uniform:2")}
# Kinds about clips of their own, of which what the harness counts is compared with evaluate.
CLIPS = {"pair": paired_clips, "controls": clips_of_views, "match": clips_of_views}
# Of programs that import torchvision.
LOADS_TORCHVISION = {"PYTHONPATH": str(PROGRAMS / "without_cuda")}
LIMIT_S = 900


def python_of(target: str, cache: Path) -> Path:
    """Return the Python of a target's environment, which is made where it is not there."""
    home = cache / target
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        # pip gives up on Inspect's requirements ("resolution too deep"); uv resolves them at once.
        run([python, "-m", "pip", "install", "--quiet", "uv"], cache)
        run([home / "bin" / "uv", "pip", "install", "--quiet", "--python", python,
             *PACKAGES[target]], cache)
    return python


def run(command: Sequence[object], folder: Path, **environment: str) -> str:
    """Return what a program prints; raises SystemExit with what it says where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=folder, text=True, timeout=LIMIT_S,
                          capture_output=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def mimegen(*arguments: object) -> None:
    """Run the command line as a user does."""
    run([sys.executable, "-m", "mimegen", *arguments], Path.cwd())


def check(what: str, found: object, expected: object) -> None:
    """Stop where something is not as expected."""
    if found != expected:
        raise SystemExit(f"{what}: found {found}, expected {expected}")


class Work:
    """A folder with clips, questions of each kind about them, and their exports."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        """Make the clips and the questions."""
        self.folder, self.cache, self.logs = folder, given.cache.resolve(), given.logs
        self.kinds = given.kinds
        self.clips = folder / "clips"
        self.rows = small_clips(self.clips)
        for kind in self.kinds:
            format_, prompting, sampling = KINDS[kind]
            if kind in CLIPS:
                CLIPS[kind](self.clips_of(kind))
            mimegen("questions", self.clips_of(kind), "--format", format_, "--prompting", prompting,
                    "--sampling", sampling, "--out", self.questions(kind),
                    *(["--controls", "all"] if kind == "controls" else []))
            lines = self.questions(kind).read_text().splitlines(keepends=True)
            self.questions(kind).write_text("".join(lines[:given.limit]))

    def truth(self) -> Path:
        """Return a folder of two drawn clips with ground truth."""
        out = self.folder / "truth"
        mimegen("render", "--action", "high_five", "--variants", "base+blank@0,base+aligned@0",
                "--config", "draft", "--passes", "keypoints,mask,depth", "--out", out)
        return out

    def questions(self, kind: str) -> Path:
        """Return the file of questions of a kind."""
        return self.clips_of(kind) / f"questions-{kind}.jsonl"

    def clips_of(self, kind: str) -> Path:
        """Return the folder of the clips that questions of a kind are about."""
        return self.folder / f"clips-{kind}" if kind in CLIPS else self.clips

    def export(self, target: str, kind: str) -> Path:
        """Return an export of the questions of a kind."""
        out = self.folder / f"{target}-{kind}"
        mimegen("export", self.questions(kind), "--to", target, "--out", out)
        return out

    def accuracy(self, kind: str) -> float:
        """Return the share of its answers that the pretended model has right."""
        asked = read_questions(self.questions(kind))
        return sum(exactly_right(saying(one.prompt), one.options, one.answer, one.labels)
                   for one in asked) / len(asked)

    def check_asked(self, kind: str, asked: Asked) -> None:
        """Stop where the model was not given each question's prompt and all its pictures."""
        questions = read_questions(self.questions(kind))
        check(f"{kind}: prompts", sorted(asked.prompts), sorted(one.prompt for one in questions))
        if any(one.frames is None for one in questions):
            return
        check(f"{kind}: pictures", sorted(kinds.count("image_url") for kinds in asked.kinds),
              sorted(sum(len(clip.frames or []) for clip in (one, *one.further))
                     + len(one.examples) * len(one.frames or []) for one in questions))

    def evaluated(self, kind: str, log: Path) -> dict[str, Any]:
        """Return what evaluate finds in a log, in the words of exports."""
        found = run([sys.executable, "-m", "mimegen", "evaluate", self.questions(kind), log,
                     "--json"], self.folder)
        tables = json.loads(found)["models"]
        controls = {table["prompting"].partition(", ")[2] or "everything" for table in tables}
        shares = {name: _share(table for table in tables if name == (
            table["prompting"].partition(", ")[2] or "everything")) for name in controls}
        pairs = [table["pairs"] for table in tables if "pairs" in table]
        return {"accuracy": _share(tables), **({"both_right": _share(pairs)} if pairs else {}),
                **(shares if len(shares) > 1 else {})}

    def keep(self, name: str, file: Path) -> None:
        """Keep a log, if logs are kept."""
        if self.logs:
            self.logs.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.logs / name)


def _share(tables: Iterable[Mapping[str, Any]]) -> float:
    counts = [(table["right"], table["answered"]) for table in tables]
    return sum(right for right, _ in counts) / sum(answered for _, answered in counts)


def huggingface(work: Work, python: Path) -> Any:
    """Load clips and questions with datasets."""
    out = work.folder / "huggingface-clips"
    mimegen("export", work.clips, "--to", "huggingface", "--out", out)
    for place in (out, *(work.export("huggingface", kind) for kind in work.kinds)):
        found = json.loads(run([python, PROGRAMS / "load_huggingface.py", place], work.folder,
                               HF_HOME=str(work.folder / "hf")))
        check("rows", (found["rows"], found["is_video"]), (len(work.rows), True))
        check("clips", found["clips"], sorted(file.name for file in place.glob("*/*.mp4")))
        check("labels", found["labels"], sorted({row.labels[0] for row in work.rows}))
    return found["version"]


def croissant(work: Work, python: Path) -> Any:
    """Validate and read clips and questions with mlcroissant."""
    out = work.folder / "croissant-clips"
    mimegen("export", work.clips, "--to", "croissant", "--out", out)
    for place in (out, *(work.export("croissant", kind) for kind in work.kinds)):
        found = json.loads(run([python, PROGRAMS / "load_croissant.py", "croissant.json"], place))
        check("errors", found["errors"], [])
        check("clips", sorted(found["clips"].values()), sorted(row.sha256 for row in work.rows))
        check("labels", found["labels"], sorted({row.labels[0] for row in work.rows}))
    return found["version"]


def inspect(work: Work, python: Path) -> Any:
    """Run the task with Inspect's mock model, then with a pretended one behind an address."""
    for kind in work.kinds:
        out = work.export("inspect", kind)
        found = json.loads(run([python, PROGRAMS / "run_mockllm.py"], out))
        asked = read_questions(work.questions(kind))
        check("mock", (found["status"], found["rows"]), ("success", len(asked)))
        check("mock's pictures", found["kinds"],
              ["text", "video"] if kind == "video" else ["image", "text"])
        work.keep(f"inspect-mockllm-{kind}.eval", next(out.glob("logs-mock/*.eval")))
        if kind != "video":
            _inspect_by_address(work, python, out, kind)
    return found["version"]


def _inspect_by_address(work: Work, python: Path, out: Path, kind: str) -> None:
    with pretended_model(looks=kind in CLIPS) as (address, asked):
        run([python.parent / "inspect", "eval", "task.py", "--model", "openai-api/test/pretended",
             "--log-dir", "logs", "--log-format", "json", "--no-log-images", "--display", "none"],
            out, TEST_API_KEY="none", TEST_BASE_URL=address)
    work.check_asked(kind, asked)
    [log] = (out / "logs").glob("*.json")
    metrics = json.loads(log.read_text())["results"]["scores"][0]["metrics"]
    if kind in CLIPS:
        expected = work.evaluated(kind, log)
        check(kind, {name: metrics[name]["value"] for name in expected}, expected)
        print(f"inspect, {kind}: {expected}", flush=True)
    else:
        check("accuracy", round(metrics["accuracy"]["value"], 9), round(work.accuracy(kind), 9))
    if kind != "free" and not metrics["stderr"]["value"] > 0:
        raise SystemExit("no clustered standard error")
    work.keep(f"inspect-{kind}.json", log)


def lmms_eval(work: Work, python: Path) -> Any:
    """Run the task with lmms-eval's dummy model, then with a pretended one behind an address."""
    for kind in work.kinds:
        out = work.export("lmms-eval", kind)
        task = json.loads((out / "export.json").read_text())["task"]
        command = [python, "-m", "lmms_eval", "--include_path", ".", "--tasks", task,
                   "--log_samples"]
        offline = {"HF_HOME": str(work.folder / "hf"), "HF_HUB_OFFLINE": "1"}
        run([*command, "--model", "dummy", "--model_args", "read_bytes=-1", "--output_path",
             "dummy"], out, **offline)
        with pretended_model() as (address, asked):
            run([*command, "--model", "openai", "--model_args",
                 f"model=pretended,base_url={address}", "--output_path", "logs"],
                out, OPENAI_API_KEY="none", **offline)
        work.check_asked(kind, asked)
        results = json.loads(next(out.glob("logs/*/*_results.json")).read_text())
        found = results["results"][task]
        check("accuracy", round(found["accuracy,none"], 9), round(work.accuracy(kind), 9))
        if kind != "free" and not found["accuracy_stderr_clustered,none"] > 0:
            raise SystemExit("no clustered standard error")
        work.keep(f"lmms-eval-{kind}_results.json", next(out.glob("logs/*/*_results.json")))
        work.keep(f"lmms-eval-{kind}_samples_{task}.jsonl",
                  next(out.glob("logs/*/*_samples_*.jsonl")))
    return version_of(python, "lmms_eval")


def vlmevalkit(work: Work, python: Path) -> Any:
    """Run the dataset with a pretended model behind an address."""
    for kind in work.kinds:
        out = work.export("vlmevalkit", kind)
        task = json.loads((out / "export.json").read_text())["task"]
        with pretended_model() as (address, asked):
            run([python, "run.py", "--data", task, "--model", "pretended", "--base-url", address,
                 "--work-dir", "logs"], out, PRED_FORMAT="tsv", LMUData=str(work.folder / "lmu"),
                **LOADS_TORCHVISION)
        work.check_asked(kind, asked)
        status = json.loads((out / "logs/pretended/status.json").read_text())
        found = status["datasets"][task]["metrics"]["Overall"] / 100
        check("accuracy", round(found, 9), round(work.accuracy(kind), 9))
        answers = out / f"logs/pretended/pretended_{task}_answers.jsonl"
        check("answers", [json.loads(line)["model"] for line in answers.open()],
              ["pretended"] * len(read_questions(work.questions(kind))))
        work.keep(f"vlmevalkit-{kind}_answers.jsonl", answers)
    return version_of(python, "ms-vlmeval")


def coco(work: Work, python: Path) -> Any:
    """Evaluate a copy of the truth with pycocotools."""
    out = work.folder / "coco"
    mimegen("export", work.truth(), "--to", "coco", "--out", out)
    for name in ("person_keypoints", "person_wholebody"):
        found = json.loads(run([python, PROGRAMS / "load_coco.py",
                                out / "annotations" / f"{name}.json"], out))
        check("precision", found["precision"], {"keypoints": 1.0, "bbox": 1.0, "segm": 1.0})
        check("pictures", found["pictures"], found["there"])
        check("masks", (found["areas_agree"], found["names_agree"]), (True, True))
    return found["version"]


def webdataset(work: Work, python: Path) -> Any:
    """Iterate shards with webdataset."""
    out = work.folder / "webdataset"
    mimegen("export", work.truth(), "--to", "webdataset", "--out", out)
    found = json.loads(run([python, PROGRAMS / "load_webdataset.py", out], out))
    check("samples", (found["samples"], found["whole"]), (2, True))
    check("keys", found["keys"], ["depth.zip", "json", "keypoints.zip", "mask.zip", "mp4"])
    return found["version"]


def version_of(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    return run([python, "-c", f"import importlib.metadata as m; print(m.version('{package}'))"],
               Path.cwd()).strip()


RUNS: Mapping[str, Callable[[Work, Path], Any]] = {
    "huggingface": huggingface, "croissant": croissant, "inspect": inspect,
    "lmms-eval": lmms_eval, "vlmevalkit": vlmevalkit,
    "coco": coco, "webdataset": webdataset}


def main() -> None:
    """Run what was asked for, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(RUNS), default=list(LIGHT))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/mimegen/exports")
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--limit", type=int, help="questions of each kind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), given)
        for target in given.only:
            version = RUNS[target](work, python_of(target, work.cache))
            print(f"{target}: run by {PACKAGES[target][0]} {version}", flush=True)
        for kind in work.kinds:
            work.keep(f"questions-{kind}.jsonl", work.questions(kind))


if __name__ == "__main__":
    main()
