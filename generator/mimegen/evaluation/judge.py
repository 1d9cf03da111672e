"""Have free answers judged by a model with an OpenAI-compatible API; verdicts are cached."""

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

# A server of your own needs no key.
KEY = "OPENAI_API_KEY"
# Requests at once, and the limits on a reply: tokens asked for, and bytes read.
PARALLEL_REQUESTS = 4
TOKENS = 128
MAX_REPLY = 2**20
# HTTP statuses after which a retry may succeed: too many requests, timeouts, server errors.
TRANSIENT_STATUSES = {408, 409, 425, 429, 500, 502, 503, 504}


class JudgeWording(Strict):
    """Prompts for the judge, in which ``{question}``, ``{answer}``, ``{reference}`` are filled in.
    """

    about: str
    prompts: dict[str, str]

    def prompt(self, answer: Answer) -> str:
        """Return the judge's prompt for an answer."""
        question = answer.question
        template = self.prompts.get(question.format, self.prompts["any"])
        return template.replace("{question}", question.question or question.prompt).replace(
            "{reference}", " / ".join(question.labels)).replace("{answer}", answer.output)


def read_judge_wording() -> JudgeWording:
    """Return mimegen's wording for judges."""
    return read_yaml(FOLDER / "judge.yaml", JudgeWording)


@dataclass(frozen=True)
class Judge:
    """A model at an address, and the file that caches its verdicts.

    ``timeout`` is that of one request, in seconds. A failed request is tried up to ``attempts``
    times; the wait between attempts starts at ``wait`` seconds and doubles.
    """

    url: str
    model: str
    cache: Path
    timeout: float = 120.0
    attempts: int = 6
    wait: float = 1.0

    def verdicts(self, answers: Sequence[Answer]) -> list[bool | None]:
        """Return whether each answer is right; None if the judge gives no clear verdict.

        Each verdict is written to the cache at once, so that an interrupted run can continue.
        Raises RequestError if the address cannot be reached or refuses.
        """
        wording, kept = read_judge_wording(), _cached_verdicts(self.cache)
        prompts = [wording.prompt(answer) for answer in answers]
        keys = [content_key("judge", self.model, prompt) for prompt in prompts]
        missing = {key: prompt for key, prompt in zip(keys, prompts, strict=True)
                   if key not in kept}
        kept |= self._asked(missing)
        return [_verdict(kept[key]) for key in keys]

    def _asked(self, missing: dict[str, str]) -> dict[str, str]:
        """Request the verdicts that are not cached, and cache them."""
        if not missing:
            return {}
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        lock = threading.Lock()
        with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:

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
        """Return the judge's reply to a prompt, retrying after failures that may pass."""
        for attempt in range(self.attempts):
            last = attempt == self.attempts - 1
            try:
                return _text_of(self._reply(prompt), self.url)
            except urllib.error.HTTPError as problem:
                if problem.code not in TRANSIENT_STATUSES or last:
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
            return json.loads(reply.read(MAX_REPLY))


def checked_url(url: str) -> str:
    """Return an address if it is an HTTP URL. Raises RequestError otherwise."""
    if not url.startswith(("http://", "https://")):
        raise RequestError(f"--judge {url}: expected an address as http://localhost:8000/v1")
    return url


def _text_of(reply: Any, url: str) -> str:
    """Return the text of a reply. Raises ValueError if it is not a chat completion."""
    try:
        content = reply["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as problem:
        raise ValueError("the reply is not a chat completion") from problem
    return content if isinstance(content, str) else ""


def _reason(problem: urllib.error.HTTPError) -> str:
    return " ".join(problem.read(300).decode(errors="replace").split()) or problem.reason


def _verdict(reply: str) -> bool | None:
    """Return the verdict by the reply's first word, TRUE or FALSE; None for anything else."""
    words = reply.replace("*", " ").replace(":", " ").replace(".", " ").replace(",", " ").split()
    return {"true": True, "false": False}.get(words[0].lower()) if words else None


def _cached_verdicts(path: Path) -> dict[str, str]:
    """Return cached verdicts by key; a line that was cut off is skipped and so asked again."""
    kept = {}
    for content in json_lines(path.read_bytes() if path.exists() else b""):
        with suppress(KeyError):
            kept[str(content["key"])] = str(content["verdict"])
    return kept
