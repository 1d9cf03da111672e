"""Photographs from collections: a local server that speaks the APIs, and speaks them wrongly."""

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from click.testing import CliRunner, Result
from PIL import Image, ImageDraw

from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.library.photos import collections
from mimegen.library.photos.collections import commons, free_licence, openverse
from mimegen.library.photos.web import TooLargeError, Web


def sea(width: int = 900) -> bytes:
    """A photograph whose horizon is seen."""
    image = Image.new("RGB", (width, width * 2 // 3), (190, 210, 235))
    ImageDraw.Draw(image).rectangle([0, width * 4 // 15, width, width], (60, 90, 130))
    packed = io.BytesIO()
    image.save(packed, "JPEG")
    return packed.getvalue()


class Collection(ThreadingHTTPServer):
    """What the server holds: titles, licences and files, and what was asked of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.photos: list[tuple[str, str, str]] = []
        self.asked: list[tuple[str, dict[str, str], str]] = []
        self.busy = 0
        self.wrong: bytes | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Collection

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.server.asked.append((parts.path, asked, self.headers["User-Agent"]))
        if self.server.busy:
            self.server.busy -= 1
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.end_headers()
        elif parts.path.startswith("/file/"):
            self._file(parts.path)
        elif self.server.wrong is not None:
            self._say(self.server.wrong)
        elif parts.path == "/commons":
            self._say(json.dumps(self._commons(asked)).encode())
        else:
            self._say(json.dumps(self._openverse(asked)).encode())

    def _say(self, content: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(content)

    def _file(self, path: str) -> None:
        if path.startswith("/file/to-"):
            port = self.server.server_address[1]
            self.send_response(302)
            self.send_header("Location", {
                "here": "/file/good.jpg", "itself": path, "disk": "file:///etc/passwd",
                "other-host": f"http://localhost:{port}/file/good.jpg",
                "ftp": "ftp://example.org/good.jpg"}[path.removeprefix("/file/to-")])
            self.end_headers()
        elif "forbidden" in path:
            self.send_error(403)
        elif "huge" in path:
            self.send_response(200)
            self.send_header("Content-Length", str(10**12))
            self.end_headers()
        elif "endless" in path:
            self._say(bytes(3 * 2**20))
        elif "gone" in path:
            self.send_error(404)
        else:
            self._say(b"<html>no picture</html>" if "page" in path else sea(), "image/jpeg")

    def _commons(self, asked: dict[str, str]) -> dict[str, Any]:
        start = int(asked.get("gsroffset", 0))
        pages = [{"title": f"File:{title}.jpg", "index": start + number, "imageinfo": [{
            "url": f"{self.server.address}/file/{file}", "mime": "image/jpeg",
            "descriptionurl": f"https://example.org/{title}", "extmetadata": {
                "LicenseShortName": {"value": licence},
                "Artist": {"value": "<a href='x'>Ann &amp; Bob</a>"}}}]}
            for number, (title, licence, file) in enumerate(self.server.photos[start:start + 2])]
        more = {"continue": {"gsroffset": start + 2, "continue": "gsroffset||"}}
        # Commons' pages come in no order; their index is that of the search.
        return {"query": {"pages": pages[::-1]}} | (
            more if start + 2 < len(self.server.photos) else {})

    def _openverse(self, asked: dict[str, str]) -> dict[str, Any]:
        start = 2 * int(asked["page"]) - 2
        return {"page_count": -(-len(self.server.photos) // 2), "results": [
            {"title": title, "creator": "Ann", "license": licence.split()[0],
             "license_version": licence.split()[1], "url": f"{self.server.address}/file/{file}",
             "foreign_landing_url": f"https://example.org/{title}"}
            for title, licence, file in self.server.photos[start:start + 2]]}


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collection]:
    server = Collection()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr(Web.__init__, "__defaults__", ("", 0.0))
    for search, path in ((commons, "/commons"), (openverse, "/openverse")):
        monkeypatch.setattr(search, "__defaults__", (server.address + path,))
    yield server
    server.shutdown()
    server.server_close()


def fetch(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["background", "fetch", "--library", str(folder / "mine"),
                                     "--pictures", str(folder), *options])


def written(folder: Path) -> dict[str, dict[str, Any]]:
    return {file.stem: yaml.safe_load(file.read_text())
            for file in sorted((folder / "mine" / "backgrounds").glob("*.yaml"))}


@pytest.mark.parametrize(("text", "licence"), [
    ("CC BY-SA 4.0", "CC-BY-SA-4.0"), ("CC BY 2.0", "CC-BY-2.0"), ("CC0", "CC0-1.0"),
    ("Public domain", "public domain"), ("CC BY-SA 3.0 de", "CC-BY-SA-3.0"),
    ("by 4.0", "CC-BY-4.0"), ("pdm 1.0", "public domain"), ("cc0 1.0", "CC0-1.0"),
    ("CC BY-NC 4.0", None), ("CC BY-ND 2.0", None), ("by-nc-sa 4.0", None), ("GFDL", None),
    ("", None), ("Copyrighted free use", None)])
def test_free_licences_alone(text, licence):
    assert free_licence(text) == licence


def test_photographs_of_commons_come_with_their_credits(tmp_path, collection):
    collection.photos = [
        ("Not free", "CC BY-NC 4.0", "good.jpg"), ("Huge one", "CC0", "huge.jpg"),
        ("Sea at Ålesund!", "CC BY-SA 4.0", "good.jpg?a"), ("A page", "CC0", "page.jpg"),
        ("Gone", "CC0", "gone.jpg"), ("The moved", "Public domain", "to-other-host"),
        ("Too many", "CC0", "good.jpg")]
    collection.busy = 1
    done = fetch(tmp_path, "--commons", "open sea", "--count", "2", "--yes")
    assert done.exit_code == 0, done.output
    found = written(tmp_path)
    assert set(found) == {"sea_at_ålesund", "the_moved"}
    told = found["sea_at_ålesund"]
    assert (told["author"], told["licence"]) == ("Ann & Bob", "CC-BY-SA-4.0")
    assert told["source"] == "https://example.org/Sea at Ålesund!"
    assert told["picture"]["horizon"] == pytest.approx(0.4, abs=0.005)
    for words in ("Huge one: is larger than 64 MiB", "is a web page, not the file itself",
                  "answered 404"):
        assert words in done.output
    assert "Not free" not in done.output
    path, asked, agent = collection.asked[0]
    assert path == "/commons" and agent.startswith("mimegen/")
    assert asked["gsrsearch"] == "open sea filetype:bitmap"


def test_openverse_is_asked_page_by_page(tmp_path, collection):
    collection.photos = [("One", "by-nd 4.0", "good.jpg"), ("Two", "by-nc 2.0", "good.jpg"),
                         ("Three", "by 4.0", "good.jpg")]
    done = fetch(tmp_path, "--openverse", "sea", "--count", "3", "--yes")
    assert done.exit_code == 0, done.output
    assert written(tmp_path)["three"]["licence"] == "CC-BY-4.0"
    assert "found only 1 of 3" in done.output
    assert [asked["page"] for path, asked, _ in collection.asked if path == "/openverse"] == [
        "1", "2"]


def test_without_a_yes_nothing_is_written(tmp_path, collection):
    collection.photos = [("One", "CC0", "good.jpg")]
    done = fetch(tmp_path, "--commons", "sea")
    assert done.exit_code == 2 and "add --yes" in done.output
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(("wrong", "words"), [
    (b"<html>busy</html>", "answered no JSON"), (b"[]", "an unexpected document"),
    (b'{"error": {"code": "x", "info": "search is broken"}}', "search is broken"),
    (b'{"error": "x"}', "does not follow its API"),
    (b'{"query": {"pages": [3]}}', "does not follow its API"),
    (b'{"batchcomplete": true}', "no free photograph")])
def test_a_wrong_answer_is_one_line(tmp_path, collection, wrong, words):
    collection.wrong = wrong
    done = fetch(tmp_path, "--commons", "sea", "--yes")
    assert done.exit_code == 2
    assert words in done.output and done.output.count("\n") == 1


def test_no_network_is_one_line(tmp_path, collection):
    collection.shutdown()
    collection.server_close()
    done = fetch(tmp_path, "--commons", "sea", "--yes")
    assert done.exit_code == 2 and "cannot be reached" in done.output


def test_a_busy_server_is_asked_three_times(collection):
    collection.busy = 9
    with pytest.raises(RequestError, match="answered 429"):
        Web(pause_s=0.0).answer(f"{collection.address}/commons", {})
    assert len(collection.asked) == 3


def test_no_more_is_read_than_allowed_and_nothing_but_the_web(collection):
    with pytest.raises(TooLargeError, match="larger than 1 MiB"):
        Web(pause_s=0.0).file(f"{collection.address}/file/endless.jpg", 2**20)
    with pytest.raises(RequestError, match="not a web address"):
        Web(pause_s=0.0).file("file:///etc/passwd")


@pytest.mark.parametrize(("place", "words"), [
    ("to-itself", "answered 302 .* infinite loop"), ("to-ftp", "which is not safe"),
    ("to-disk", "is not allowed"), ("forbidden", "answered 403 .*--contact")])
def test_redirects_without_an_end_or_away_from_the_web_are_one_line(collection, place, words):
    with pytest.raises(RequestError, match=words) as told:
        Web(pause_s=0.0).file(f"{collection.address}/file/{place}")
    assert "\n" not in str(told.value)


def test_who_asks_can_be_reached(collection):
    Web("ann@example.org", 0.0).file(f"{collection.address}/file/to-here")
    assert [path for path, *_ in collection.asked] == ["/file/to-here", "/file/good.jpg"]
    for *_, agent in collection.asked:
        assert re.fullmatch(r"mimegen/\S+ \(ann@example.org; .*\) Python-urllib/[0-9.]+", agent)


def test_it_asks_no_faster_than_allowed(collection):
    collection.photos = [("One", "CC0", "good.jpg")]
    asking = Web(pause_s=0.15)
    began = time.monotonic()
    for _ in range(3):
        asking.file(f"{collection.address}/file/good.jpg")
    assert time.monotonic() - began >= 0.3


def test_which_collection_must_be_said(tmp_path):
    done = fetch(tmp_path, "--count", "2")
    assert done.exit_code == 2 and "expected exactly one of --commons" in done.output
    assert collections.COMMONS.startswith("https://commons.wikimedia.org")
