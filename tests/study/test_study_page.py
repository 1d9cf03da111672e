"""The page of a study in a real Chromium: by mouse, keyboard, finger, with and without server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exports_clips import clips_of_views
from mimegen.study.folder import Study
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.settings import read_settings
from running import invoked
from study_rows import Made, asked_questions
from study_server import Server, serving
from test_study import settings_file

try:
    from playwright.sync_api import Browser, Page, ViewportSize, expect
except ImportError:
    pytest.skip("needs a browser: pip install 'mimegen[browser]'", allow_module_level=True)

DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 375, "height": 667}
SMALL_PHONE: ViewportSize = {"width": 320, "height": 568}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return asked_questions(tmp_path_factory.mktemp("page") / "out")


@pytest.fixture
def make(made: Made, tmp_path: Path) -> Callable[..., Path]:
    """Make a study with these tasks and settings; sessions are short."""

    def made_study(tasks: str | None = None, **changed: Any) -> Path:
        own = read_settings(settings_file(tmp_path, **{"golden": 1, "trials": 3} | changed))
        make_study(StudyRequest(made.file, made.file.parent, tmp_path / "s", tasks, own))
        return tmp_path / "s"

    return made_study


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open an address in a window of its own; whatever goes wrong in it fails the test."""
    contexts, problems = [], []

    def opens(address: str, size: ViewportSize = DESKTOP, **more: Any) -> Page:
        touch = size["width"] < 600
        context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        origin = address.split("/")[2]
        page.on("request", lambda asked: problems.append(asked.url) if not asked.url.startswith(
            ("blob:", "data:")) and asked.url.split("/")[2] != origin else None)
        page.goto(address)
        return page

    yield opens
    for context in contexts:
        context.close()
    assert problems == []


def exported(folder: Path, *saved: Path) -> list[dict[str, Any]]:
    target = folder.parent / "answers.jsonl"
    done = invoked("study", "export", folder, *saved, "--out", target)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in target.read_text().splitlines()]


def study_of(folder: Path) -> Study:
    return Study.model_validate_json((folder / "private" / "key.json").read_bytes())


def count_of(folder: Path) -> int:
    study = study_of(folder)
    return len(study.lists[0]) + len(study.golden) + len(study.practice)


def agree(page: Page) -> None:
    page.get_by_role("button", name="wish to take part").click()
    page.locator("#jspsych-instructions-next").click()
    page.locator("#jspsych-instructions-next").click()


def go_on(page: Page) -> None:
    page.locator(".go").click()


def answer_free(page: Page, text: str = "rowing a boat") -> None:
    page.locator(".free input").fill(text)
    go_on(page)


def choose(page: Page, number: int) -> None:
    page.locator(".options label").nth(number).click()
    go_on(page)


def past_practice(page: Page) -> None:
    page.get_by_text("That was the practice").wait_for()
    page.get_by_role("button", name="Next").click()


def test_a_session_by_mouse(make, opened):
    folder = make(completion_address="https://example.org/?cc={SESSION_ID}",
                  completion_code="C0DE")
    with serving(folder) as server:
        page = opened(server.address + "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=abc")
        assert "p1" not in page.content()
        agree(page)
        for number in range(count_of(folder)):
            if number == 1:
                past_practice(page)
            expect(page.locator("form")).to_be_empty()  # nothing is asked before the clip is over
            answer_free(page)
            choose(page, number % 4)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
        expect(page.get_by_text("C0DE")).to_be_visible()
        link = page.get_by_role("link", name="Finish")
        assert link.get_attribute("href") == "https://example.org/?cc=abc"
        page.reload()
        expect(link).to_be_visible()
    lines = exported(folder)
    assert len(lines) == 2 * (count_of(folder) - 1)
    assert {line["output"] for line in lines if line["task"] == "free"} == {"rowing a boat"}
    assert all(line["complete"] and not line["timed_out"] and line["rt_ms"] > 0 for line in lines)
    chosen = [line["output"][0] for line in lines if line["task"] == "choice"]
    assert chosen == ["ABCD"[number % 4] for number in range(1, count_of(folder))]


def test_times_of_choices_and_the_size_of_the_picture(make, opened):
    folder = make("choice", practice=0, golden=0)
    with serving(folder) as server:
        page = opened(server.address, {"width": 1280, "height": 600})
        agree(page)
        for _ in range(count_of(folder)):
            page.locator(".options label").nth(0).click()
            page.wait_for_timeout(300)
            page.locator(".options label").nth(1).click()
            page.wait_for_timeout(300)
            shown = page.evaluate("""() => {
                const video = document.querySelector("video"), box = video.getBoundingClientRect();
                return [box.width, box.height, video.videoWidth / video.videoHeight]}""")
            go_on(page)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    width, height, aspect = shown
    for line in exported(folder):
        assert 0 < line["first_input_ms"] <= line["last_input_ms"] - 300
        assert line["last_input_ms"] <= line["rt_ms"] - 300
        assert line["shown_width"] / line["shown_height"] == pytest.approx(aspect, rel=0.01)
        # It fills the box in one direction.
        assert min(width - line["shown_width"], height - line["shown_height"]) == pytest.approx(
            0, abs=1.5)
        assert line["pixel_ratio"] == 1


def test_a_speeded_session(make, opened):
    """The first choice, made while the clip plays, ends the trial."""
    folder = make("choice", practice=1, golden=0, speeded=True)
    with serving(folder) as server:
        page = opened(server.address)
        page.get_by_role("button", name="wish to take part").click()
        expect(page.get_by_text("while it plays")).to_be_visible()
        page.locator("#jspsych-instructions-next").click()
        for number in range(count_of(folder)):
            if number == 1:
                past_practice(page)
            page.locator(".options").wait_for()
            assert not page.evaluate("document.querySelector('video').ended")
            expect(page.locator(".go")).to_be_hidden()
            expect(page.locator(".replay")).to_be_hidden()
            if number == 2:
                page.locator(".options label").nth(2).click()
            else:
                page.keyboard.press("2")
            page.locator(".options").wait_for(state="detached")
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    lines = exported(folder)
    assert [line["output"][0] for line in lines] == ["B", "C", "B"][:len(lines)]
    assert all(line["first_input_ms"] == line["last_input_ms"] <= line["rt_ms"] for line in lines)


def test_an_experiment_with_a_grid_of_walkers(opened, tmp_path):
    grid, file, folder = tmp_path / "set", tmp_path / "questions.jsonl", tmp_path / "s"
    for arguments in (
            ("pointlight", "--walker", "--grid", "direction=-90,90;inverted=no,yes", "--size",
             "128x128", "--fps", "12", "--out", grid),
            ("questions", grid, "--format", "factor", "--factor", "inverted", "--out", file),
            ("study", "make", file, "--clips", grid, "--out", folder)):
        done = invoked(*arguments)
        assert done.returncode == 0, done.stderr
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        for _ in range(4):
            expect(page.get_by_text("Is the figure upright or upside down?")).to_be_visible()
            choose(page, 0)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    assert [line["output"][0] for line in exported(folder)] == ["A"] * 4


def test_questions_about_several_clips(opened, tmp_path):
    clips, file, folder = tmp_path / "clips", tmp_path / "questions.jsonl", tmp_path / "s"
    clips_of_views(clips)
    for arguments in (
            ("questions", clips, "--format", "match", "--probe", "same_performance", "--out", file),
            ("study", "make", file, "--clips", clips, "--out", folder,
             "--settings", settings_file(tmp_path, trials=2))):
        done = invoked(*arguments)
        assert done.returncode == 0, done.stderr
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        for _ in range(2):
            for number in range(1, 5):
                expect(page.get_by_text(f"Video {number}", exact=True)).to_be_visible()
            expect(page.get_by_text("filmed from another side?")).to_be_visible()
            choose(page, 1)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    lines = exported(folder)
    assert [line["output"][0] for line in lines] == ["B", "B"]


def test_a_session_by_keyboard_alone(make, opened):
    folder = make()
    with serving(folder) as server:
        page = opened(server.address)
        keys = page.keyboard
        page.get_by_role("button", name="wish to take part").wait_for()
        keys.press("Tab")
        keys.press("Enter")
        page.locator("#jspsych-instructions-next").wait_for()
        keys.press("ArrowRight")
        keys.press("Enter")
        for number in range(count_of(folder)):
            if number == 1:
                page.get_by_text("That was the practice").wait_for()
                keys.press("Enter")
            page.locator(".free input").wait_for()
            keys.type("1 for R")  # digits and letters are text here
            keys.press("Enter")
            page.locator(".choice .options").wait_for()
            if number == 2:
                keys.press("r")
                expect(page.locator(".replay")).to_be_disabled()
                expect(page.locator(".replay")).to_be_enabled()
            keys.press("3")
            keys.press("4")
            keys.press("ArrowUp")
            keys.press("Enter")
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    lines = exported(folder)
    assert {line["output"] for line in lines if line["task"] == "free"} == {"1 for R"}
    assert {line["output"][0] for line in lines if line["task"] == "choice"} == {"C"}
    assert [line["replays"] for line in lines if line["task"] == "choice"] \
        == [int(place == 1) for place in range(count_of(folder) - 1)]


def test_a_closed_tab_is_gone_on_with_where_it_was(make, opened):
    folder = make("choice")
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        choose(page, 0)
        past_practice(page)
        choose(page, 1)
        page.locator(".options").wait_for()
        context = page.context
        page.close()  # the second one is seen and not answered
        page = context.new_page()
        page.goto(server.address)
        page.get_by_text("Welcome back").wait_for()
        page.get_by_role("button", name="Continue").click()
        for _ in range(count_of(folder) - 2):
            choose(page, 2)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    lines = exported(folder)
    assert len({line["rater"] for line in lines}) == 1
    assert [line["output"][0] for line in lines] == ["B"] + ["C"] * (count_of(folder) - 2)


def test_another_person_at_the_same_browser_begins_anew(make, opened):
    with serving(make()) as server:
        page = opened(server.address + "?survey_code=1")
        agree(page)
        page.locator("video").wait_for()
        page.goto(server.address + "?survey_code=2")
        page.get_by_role("button", name="wish to take part").wait_for()
        page.goto(server.address + "?survey_code=1")
        page.get_by_text("Welcome back").wait_for()


def test_a_server_that_dies_is_waited_for_and_nothing_is_lost(make, opened):
    folder = make("choice")
    first = Server(folder)
    page = opened(first.address)
    agree(page)
    choose(page, 0)
    past_practice(page)
    page.locator(".options label").nth(1).click()
    first.kill()
    go_on(page)
    expect(page.get_by_text("Your answer is not saved yet")).to_be_visible()
    with serving(folder, first.port):
        for _ in range(count_of(folder) - 2):
            choose(page, 2)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()
    assert [line["output"][0] for line in exported(folder)] \
        == ["B"] + ["C"] * (count_of(folder) - 2)


def overflow(page: Page) -> Any:
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.mark.parametrize("size", [PHONE, SMALL_PHONE], ids=["375", "320"])
def test_a_phone_shows_everything_within_its_width(make, opened, size):
    folder = make("free,choice")
    with serving(folder) as server:
        page = opened(server.address, size)
        assert overflow(page) <= 0
        page.get_by_role("button", name="wish to take part").tap()
        for _ in range(2):
            page.locator("#jspsych-instructions-next").wait_for()
            assert overflow(page) <= 0
            page.locator("#jspsych-instructions-next").tap()
        page.locator(".free input").wait_for()
        assert overflow(page) <= 0
        answer_free(page)
        page.locator(".options label").nth(1).tap()
        assert overflow(page) <= 0
        if size is PHONE:  # clip and question in one window, without scrolling
            box = page.locator(".go").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size["height"]
            assert box["height"] >= 44
        page.locator(".go").tap()
        page.get_by_text("That was the practice").wait_for()


def test_sliders_count_once_they_were_moved(make, opened):
    folder = make("ratings")
    with serving(folder) as server:
        page = opened(server.address, PHONE)
        agree(page)
        sliders = page.get_by_role("slider")
        for number in range(count_of(folder)):
            if number == 1:
                past_practice(page)
            page.get_by_text("The person should be").wait_for()
            sliders.nth(0).fill("83")
            sliders.nth(1).focus()
            page.keyboard.press("ArrowRight")
            expect(page.locator(".go")).to_be_disabled()
            sliders.nth(2).tap()  # where it stands
            go_on(page)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    ratings = [line["ratings"] for line in exported(folder)]
    assert len(ratings) == count_of(folder) - 1
    assert all(one["subject"] == 83 and one["completeness"] == 51 and 45 < one["interaction"] < 55
               for one in ratings)


def test_two_clips_are_shown_one_after_the_other(make, opened):
    folder = make("same")
    with serving(folder) as server:
        page = opened(server.address)
        page.evaluate("""() => {
          window.notes = [];
          new MutationObserver(() => {
            const note = document.querySelector(".note")?.textContent;
            if (note && note !== notes.at(-1)) notes.push(note);
          }).observe(document, { subtree: true, childList: true });
        }""")
        agree(page)
        for number in range(count_of(folder)):
            if number == 1:
                past_practice(page)
            choose(page, 0)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
        shown = [note for note in page.evaluate("notes") if note.endswith(" clip")]
        assert shown == ["First clip", "Second clip"] * count_of(folder)
    lines = exported(folder)
    assert {line["output"] for line in lines} == {"A. the same action"}
    assert [line["passed"] for line in lines if line["golden"]] == [True]


def test_the_time_can_be_over_and_replays_can_end(make, opened):
    folder = make(replays=1, time_limit_s={"free": 3, "choice": 3}, practice=0, golden=0)
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        page.locator(".free input").fill("row")
        expect(page.locator(".time-left")).to_contain_text("Time left")
        page.locator(".replay").click()
        page.locator(".choice .options").wait_for()
        expect(page.locator(".replay")).to_be_disabled()
        for _ in range(len(study_of(folder).lists[0]) - 1):
            page.locator(".free input").wait_for(timeout=20_000)
            answer_free(page)
            choose(page, 0)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    free, choice = exported(folder)[:2]
    assert (free["output"], free["timed_out"], free["replays"]) == ("row", True, 1)
    assert (choice["output"], choice["timed_out"]) == (None, True)


def test_a_clip_that_cannot_be_played_is_gone_on_without(make, opened):
    folder = make("choice", practice=0, golden=0)
    study = study_of(folder)
    for name in study.lists[0]:
        (folder / "public" / "clips" / study.trials[name].clips[0]).write_bytes(b"\0\0\0\x18ftyp")
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        for number in range(len(study.lists[0])):
            page.get_by_text("This clip cannot be played here").wait_for()
            if number == 0:
                page.get_by_role("button", name="Play").click()
                page.get_by_text("This clip cannot be played here").wait_for()
            page.get_by_role("button", name="Go on without it").click()
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    lines = exported(folder)
    assert len(lines) == len(study.lists[0])
    assert all(line["broken"] and line["output"] is None for line in lines)


def test_a_full_study_and_a_session_that_is_not_known_say_so(make, opened):
    folder = make(participants=1)
    with serving(folder) as server:
        # Whoever has answered something has a place; who has only begun has none.
        state = server.begin()
        server.answer(state, state["trials"][0])
        page = opened(server.address)
        page.get_by_role("button", name="wish to take part").click()
        expect(page.get_by_text("All places in this study are taken")).to_be_visible()


def test_without_a_server_answers_are_saved_to_a_file(make, opened):
    folder = make("free,choice", completion_address="https://example.org/")
    page = opened((folder / "public" / "index.html").as_uri() + "?list=1", accept_downloads=True)
    agree(page)
    answer_free(page)
    choose(page, 0)
    past_practice(page)
    answer_free(page)
    choose(page, 1)
    page.locator(".free input").wait_for()
    page.reload()
    page.get_by_text("Welcome back").wait_for()
    page.get_by_role("button", name="Continue").click()
    for _ in range(count_of(folder) - 2):
        answer_free(page)
        choose(page, 2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save my answers").click()
    expect(page.get_by_role("link", name="Finish")).to_be_visible()
    saved = folder.parent / download.value.suggested_filename
    download.value.save_as(saved)
    lines = exported(folder, saved)
    assert [line["output"][0] for line in lines if line["task"] == "choice"] \
        == ["B"] + ["C"] * (count_of(folder) - 2)
    assert all(line["complete"] for line in lines)


@pytest.mark.parametrize("is_served", [True, False])
def test_a_page_that_is_reloaded_keeps_a_name_given_before_the_options(make, opened, is_served):
    folder = make("free,choice", practice=0, golden=0, trials=1)
    with serving(folder) as server:
        page = opened(server.address if is_served else
                      (folder / "public" / "index.html").as_uri(), accept_downloads=True)
        agree(page)
        page.get_by_role("button", name="Watch again").click()
        answer_free(page, "before the options")
        page.locator(".options").wait_for()
        page.reload()
        page.get_by_role("button", name="Continue").click()
        page.locator(".options").wait_for()
        assert page.locator(".free input").count() == 0
        choose(page, 1)
        expect(page.get_by_text("Thank you")).to_be_visible()
        saved = folder.parent / "saved.json"
        if not is_served:
            with page.expect_download() as download:
                page.get_by_role("link", name="Save my answers").click()
            download.value.save_as(saved)
    named, chosen = exported(folder, *([] if is_served else [saved]))
    assert (named["output"], named["replays"]) == ("before the options", 1)
    assert (chosen["output"][0], chosen["replays"]) == ("B", 2)


def test_people_who_share_a_browser_without_a_server_have_their_own_answers(make, opened):
    folder = make("choice", practice=0, golden=0, trials=2)
    address = (folder / "public" / "index.html").as_uri()
    page = opened(address + "?participant=7")
    agree(page)
    choose(page, 1)
    page.locator(".options").wait_for()
    page.goto(address + "?participant=8")
    agree(page)
    page.goto(address + "?participant=7")
    expect(page.get_by_text("Welcome back")).to_be_visible()


@pytest.mark.parametrize("is_served", [True, False])
def test_an_id_that_cannot_be_stored_is_refused_and_not_dropped(make, opened, is_served):
    folder = make("choice")
    with serving(folder) as server:
        page = opened((server.address if is_served else
                       (folder / "public" / "index.html").as_uri()) + "?participant=anna@uni.de")
        page.get_by_role("button", name="wish to take part").click()
        expect(page.get_by_text("an id that this study cannot store")).to_be_visible()


def test_leaving_the_page_is_noted(make, opened):
    folder = make("choice", practice=0, golden=0, trials=1)
    with serving(folder) as server:
        page = opened(server.address)
        agree(page)
        page.locator(".options").wait_for()
        page.evaluate("""Object.defineProperty(document, "hidden", { get: () => true });
            document.dispatchEvent(new Event("visibilitychange"))""")
        choose(page, 1)
        expect(page.get_by_text("All of your answers have arrived")).to_be_visible()
    assert [line["left"] for line in exported(folder)] == [1]
