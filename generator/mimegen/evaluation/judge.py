"""Free answers judged by a model behind any OpenAI-compatible address; its verdicts are kept."""

import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.lines import append_line, json_lines
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.answers import Answer
from mimegen.evaluation.templates import FOLDER

# An address of one's own needs none.
KEY = "OPENAI_API_KEY"
# Requests in flight, and the longest reply that is asked for.
AT_ONCE = 4
TOKENS = 128
LONGEST_REPLY = 2**20
# What may go away by itself: too many requests, and a server's own trouble.
PASSING = {408, 409, 425, 429, 500, 502, 503, 504}


class JudgeWording(Strict):
    """What a judge is asked: ``{question}``, ``{answer}``, ``{reference}`` are filled in."""

    about: str
    prompts: dict[str, str]

    def prompt(self, answer: Answer) -> str:
        """Return what the judge is asked about an answer."""
        question = answer.question
        template = self.prompts.get(question.format, self.prompts["any"])
        return template.replace("{question}", question.question or question.prompt).replace(
            "{reference}", " / ".join(question.labels)).replace("{answer}", answer.output)


def read_judge_wording() -> JudgeWording:
    """Return mimegen's wording for judges."""
    return read_yaml(FOLDER / "judge.yaml", JudgeWording)


@dataclass(frozen=True)
class Judge:
    """A model at an address, and the file that keeps its verdicts.

    ``timeout`` is of one request; between ``attempts`` the waiting time doubles from ``wait``, both
    in seconds.
    """

    url: str
    model: str
    cache: Path
    timeout: float = 120.0
    attempts: int = 6
    wait: float = 1.0

    def verdicts(self, answers: Sequence[Answer]) -> list[bool | None]:
        """Return whether each answer is right; None where the judge does not say.

        What is said is kept at once, so that a run that is killed goes on where it was. Raises
        RequestError where the address cannot be reached or refuses.
        """
        wording, kept = read_judge_wording(), _kept(self.cache)
        prompts = [wording.prompt(answer) for answer in answers]
        keys = [content_key("judge", self.model, prompt) for prompt in prompts]
        missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True)
                   if key not in kept}
        kept |= self._asked(missing)
        return [_verdict(kept[key]) for key in keys]

    def _asked(self, missing: dict[str, str]) -> dict[str, str]:
        """Ask what is not kept, and keep it."""
        if not missing:
            return {}
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        lock = threading.Lock()
        with ThreadPoolExecutor(AT_ONCE) as pool:

            def ask(key: str, prompt: str) -> str:
                reply = self._verdict_text(prompt)
                line = json.dumps({"key": key, "model": self.model, "verdict": reply},
                                  ensure_ascii=False)
                with lock:
                    append_line(self.cache, line)
                return reply

            waiting = {key: pool.submit(ask, key, prompt) for key, prompt in missing.items()}
            try:
                return {key: answer.result() for key, answer in waiting.items()}
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _verdict_text(self, prompt: str) -> str:
        for attempt in range(self.attempts):
            last = attempt == self.attempts - 1
            try:
                return _text_of(self._reply(prompt), self.url)
            except urllib.error.HTTPError as problem:
                if problem.code not in PASSING or last:
                    raise RequestError(f"--judge {self.url}: HTTP {problem.code}"
                                       f" {_reason(problem)}; verdicts so far are kept in"
                                       f" {self.cache}") from problem
            except (OSError, ValueError, http.client.HTTPException) as problem:
                if last:
                    raise RequestError(f"--judge {self.url}: no verdict after {self.attempts}"
                                       f" attempts ({problem}); verdicts so far are kept in"
                                       f" {self.cache}, run the same command again") from problem
            time.sleep(self.wait * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    def _reply(self, prompt: str) -> Any:
        body = {"model": self.model, "temperature": 0, "max_tokens": TOKENS,
                "messages": [{"role": "user", "content": prompt}]}
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(),
            {"Content-Type": "application/json",
             "Authorization": f"Bearer {os.environ.get(KEY, 'none')}"})
        with urllib.request.urlopen(request, timeout=self.timeout) as reply:
            return json.loads(reply.read(LONGEST_REPLY))


def checked_url(url: str) -> str:
    """Return an address that is one. Raises RequestError for another."""
    if not url.startswith(("http://", "https://")):
        raise RequestError(f"--judge {url}: expected an address as http://localhost:8000/v1")
    return url


def _text_of(reply: Any, url: str) -> str:
    """Return what a reply says. Raises ValueError where it is no chat completion."""
    try:
        content = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as problem:
        raise ValueError("the reply is not a chat completion") from problem
    return content if isinstance(content, str) else ""


def _reason(problem: urllib.error.HTTPError) -> str:
    return " ".join(problem.read(300).decode(errors="replace").split()) or problem.reason


def _verdict(reply: str) -> bool | None:
    """Return TRUE or FALSE, whichever a verdict's first word is; None for anything else."""
    words = reply.replace("*", " ").replace(":", " ").replace(".", " ").replace(",", " ").split()
    return {"true": True, "false": False}.get(words[0].lower()) if words else None


def _kept(path: Path) -> dict[str, str]:
    """Return kept verdicts by key; a line that a kill cut off is asked again."""
    kept = {}
    for content in json_lines(path.read_bytes() if path.exists() else b""):
        with suppress(KeyError):
            kept[str(content["key"])] = str(content["verdict"])
    return kept
