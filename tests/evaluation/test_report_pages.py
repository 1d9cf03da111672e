"""Reports in a real Chromium, in the window of a phone: nothing stands outside of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from running import invoke
from study_rows import make_clip

WIDTHS = (320, 360, 412)
# Nothing in it lets a browser break the line.
LONG = "organisation_with_a_long_name_vision_language_model_72b_instruct_preview_2026_11"
VARIANTS = ("base+blank@0", "base+aligned@0", "base+misaligned@0", "adversarial+misaligned@270")
# What reaches beyond the window's right or left edge and lies in nothing that scrolls.
OUTSIDE = """() => [...document.querySelectorAll("body *")].filter(one => {
  for (let box = one.parentElement; box; box = box.parentElement)
    if (["auto", "scroll", "hidden"].includes(getComputedStyle(box).overflowX)) return false;
  const place = one.getBoundingClientRect();
  return place.width > 0 && (place.right > innerWidth + 0.5 || place.left < -0.5);
}).map(one => one.outerHTML.slice(0, 120))"""


def lines(path: Path, content: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in content))
    return path


def evaluation(folder: Path) -> Path:
    """A report with long names everywhere: of models, actions, options, files, raters."""
    actions = [f"an_action_whose_name_{'goes_on_' * 4}{number}" for number in range(8)]
    asked: list[dict[str, Any]] = [{
        "question_id": f"{action}{variant}", "sample_id": f"{action}-{variant}", "action": action,
        "variant": variant, "format": "mc", "prompt": "What is it?", "options": actions[:4],
        "answer": actions[number % 4], "labels": [actions[number % 4]], "category": "c" * 60,
        "file_name": f"clips/{action}-{variant}.mp4", "semantic_group": "g" * 50}
        for number, action in enumerate(actions) for variant in VARIANTS]
    said = [{"question_id": one["question_id"], "model": f"{LONG}{model}",
             "output": "ABCD"[(number * model) % 4]}
            for number, one in enumerate(asked) for model in range(1, 5)]
    people = [{"question_id": one["question_id"], "model": "r", "rater": "r" * 70, "output": "",
               "ratings": {"a_scale_of_" + "long" * 10: 50}, "task": "ratings"} for one in asked]
    make_clip(folder / "clip.mp4", 0.2)
    for one in asked:
        (folder / one["file_name"]).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / "clip.mp4", folder / one["file_name"])
    done = invoke("evaluate", lines(folder / "q.jsonl", asked),
                  lines(folder / "a.jsonl", [*said, *people]), "--report", folder / "report")
    assert done.exit_code == 0, done.output
    return folder / "report" / "index.html"


def contamination(folder: Path) -> Path:
    arms = [lines(folder / f"{name}.jsonl", [
        {"sample_id": f"{name}{number}{'s' * 60}", "model": f"{LONG}{model}",
         "correct": number % 2, "action": f"action{number % 12}" + "x" * 60,
         "variant": VARIANTS[number % 4]} for number in range(48) for model in range(2)])
        for name in ("seen", "unseen")]
    done = invoke("contamination", *arms, "--report", folder / "report")
    assert done.exit_code == 0, done.output
    return folder / "report" / "index.html"


@pytest.mark.parametrize("made", [evaluation, contamination])
def test_a_report_stays_inside_a_phone_s_window(browser, tmp_path, made):
    page_file = made(tmp_path)
    for width in WIDTHS:
        page = browser.new_page(viewport={"width": width, "height": 640}, is_mobile=True,
                                device_scale_factor=2)
        page.goto(page_file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == []
        page.screenshot(path=tmp_path / f"{width}.png", full_page=True)
        page.close()
