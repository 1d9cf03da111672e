"""The data that browsers receive: trials under hidden names, and wording as HTML, no answers."""

import json
from typing import Any

from mimegen.base.seeds import generator
from mimegen.study.folder import Study
from mimegen.study.markup import as_html, inline
from mimegen.study.settings import Settings


def study_script(study: Study, served: bool) -> str:
    """Return the script that gives a page its study; without a server it contains all lists."""
    content: dict[str, Any] = {"study": study.name, "served": served,
                               **_wording(study.settings, bool(study.golden))}
    if not served:
        content |= {"trials": {name: public_trial(study, name) for name in sorted(study.trials)},
                    "practice": study.practice,
                    "lists": [sorted([*names, *study.golden]) for names in study.lists],
                    "completion": completion(study.settings, {})}
    text = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    return f"window.STUDY = {text};\n"


def public_trial(study: Study, name: str) -> dict[str, Any]:
    """Return the data about a trial that browsers may know."""
    trial, settings = study.trials[name], study.settings
    ask = {task: inline(trial.question) if trial.question is not None
           else _ask(settings, task, trial.asks, trial.action_shown) for task in trial.tasks}
    return {"id": name, "practice": name in study.practice, "tasks": trial.tasks, "ask": ask,
            "clips": [f"clips/{file}" for file in trial.clips], "options": trial.options}


def session_order(study: Study, number: int, list_: int) -> list[str]:
    """Return a person's trials: practice first, then the rest in an order drawn for the person."""
    names = [*study.lists[list_], *study.golden]
    drawn = generator(study.seed, "study", "order", number).permutation(len(names))
    return [*study.practice, *(names[place] for place in drawn)]


def completion(settings: Settings, ids: dict[str, str]) -> dict[str, str | None]:
    """Return the address and code for the end, with the person's ids filled into the address."""
    address = settings.completion_address
    for key, value in ids.items():
        address = address and address.replace("{" + key + "}", value)
    return {"address": address, "code": settings.completion_code}


def _ask(settings: Settings, task: str, asks: str, action: str | None) -> str:
    """Return the wording of a task as HTML."""
    if task == "same":
        return inline(settings.same.ask)
    if task == "ratings":
        return inline(settings.ratings.ask.replace("{action}", action or ""))
    return inline(getattr(getattr(settings, task), asks))


def _wording(settings: Settings, checks: bool) -> dict[str, Any]:
    """Return the page's texts as HTML, and its limits on replays and time.

    If there are attention checks, the last page of instructions mentions them.
    """
    pages = list(settings.speeded_instructions if settings.speeded else settings.instructions)
    if checks:
        pages = [*pages[:-1], "\n\n".join([*pages[-1:], settings.attention_note])]
    texts = ("title", "agree", "practice_note", "practice_over", "welcome_back", "end",
             "end_saved", "full")
    return {
        **{name: inline(getattr(settings, name)) for name in texts},
        "hint": inline(settings.ratings.hint), "consent": as_html(settings.consent),
        "instructions": [as_html(page) for page in pages],
        "sliders": [{key: inline(text) for key, text in slider.model_dump().items()}
                    for slider in settings.ratings.sliders],
        "words": {key: inline(text)
                  for key, text in settings.words.model_dump(by_alias=True).items()},
        "replays": settings.replays, "speeded": settings.speeded,
        "time_limit_s": settings.time_limit_s}
