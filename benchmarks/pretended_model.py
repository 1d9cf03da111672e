"""A pretended model behind an address like OpenAI's: to the same it says always the same."""

import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAYINGS = ("A", "B", "C", "D", "The person lifts both arms.\n\nB", "I cannot tell.")


def saying(prompt: str, pictures: str = "") -> str:
    """Return what the model says to a prompt and, where it looks at them, to pictures."""
    return SAYINGS[zlib.crc32((prompt + pictures).encode()) % len(SAYINGS)]


@dataclass
class Asked:
    """What the model was given: the kinds of parts and the last text of each request."""

    prompts: list[str] = field(default_factory=list)
    kinds: list[list[str]] = field(default_factory=list)


@contextmanager
def pretended_model(looks: bool = False) -> Iterator[tuple[str, Asked]]:
    """Lend the address of a pretended model, and what it is asked.

    One that ``looks`` says something else where pictures, or their order, are others.
    """
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = json.dumps(_answer(json.loads(body), asked, looks)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def _answer(request: dict[str, Any], asked: Asked, looks: bool) -> dict[str, Any]:
    parts = [part for message in request["messages"] for part in _parts(message)]
    prompt = [part["text"] for part in parts if part["type"] == "text"][-1]
    asked.prompts.append(prompt)
    asked.kinds.append([part["type"] for part in parts])
    pictures = "".join(str(part["image_url"]) for part in parts if part["type"] == "image_url")
    said = {"role": "assistant", "content": saying(prompt, pictures if looks else "")}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": request["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
