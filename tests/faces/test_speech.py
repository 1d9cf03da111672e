"""Texts that faces speak: how they are read, what lips do, and where they may be said."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.choreography.face import faces
from mimegen.choreography.reading import read_score
from mimegen.faces.overlay import FaceOverlay
from mimegen.faces.speech import (
    Speech,
    _phrases,
    said_within,
    slowest,
    speech_file,
    speech_of,
    spoken,
)
from mimegen.faces.words import SIDES, shaped, visemes
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import altered, library_take
from mimegen.motion.quaternions import FloatArray
from mimegen.request.render_request import RenderRequest

FPS = 24.0
SCORE = """
action: walk
about: Somebody talks.
duration: {duration}
phases:
  - at: 0
    gaze: {{to: here 0 400 150}}
  - {{at: 0.5, face: {{smile: 1, say: "{text}"}}}}
  - {{at: 2.6, head: {{lean: 4}}}}
  - {{at: 3.4, face: {{smile: 0.5}}}}
"""


def phones(text: str) -> str:
    return " ".join(phone for words, _ in _phrases(text) for word in words for phone in word.phones)


def jaw(speech: Speech, moments: FloatArray, seed: int) -> FloatArray:
    shown = spoken(speech, moments, generator(seed, "speech"))
    return shaped(shown.values, len(moments))["jawOpen", SIDES[0]]


def written(folder: Path, text: str, duration: float = 6.0) -> Path:
    path = folder / "own.score.yaml"
    path.write_text(SCORE.format(text=text, duration=duration))
    return path


@pytest.mark.parametrize(("word", "sounds"), [
    ("hello", "HH AH L OW"), ("thing", "TH IH NG"), ("the", "DH AH"), ("night", "N AY T"),
    ("cakes", "K EY K S"), ("phone", "F OW N"), ("nation", "N EY SH AH N"), ("city", "S IH T IY"),
    ("wished", "W IH SH D"), ("wanted", "W AE N T IH D"), ("boxes", "B AA K S IH Z"),
    ("Señor!", "S EH N AO R"), ("{HH AH0 L OW1}", "HH AH L OW"), ("42", "F AO R T UW"),
    ("don\u2019t", "D AA N T"),
])
def test_words_are_read_by_table_and_rules(word: str, sounds: str) -> None:
    assert phones(word) == sounds


def test_every_phone_has_a_viseme_and_every_rule_known_phones() -> None:
    known = speech_file()
    used = {name for sounds in known.phones.values() for name, *_ in sounds}
    assert used | {"sil"} == set(visemes()) and set(known.power) == used
    written_phones = " ".join([*known.words.values(), *(found for _, found in known.letters)])
    assert set(written_phones.split()) <= set(known.phones)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz' ,.?!-019{}AHLOW", min_size=1, max_size=40))
@settings(deadline=None)
def test_any_text_is_spoken_or_refused_in_a_line(text: str) -> None:
    try:
        speech = speech_of(text)
    except ValueError as problem:
        assert "\n" not in str(problem)
        return
    begins = [one.begins for one in speech.sounds]
    assert begins == sorted(begins) and 0 < speech.duration < 60
    assert speech.sounds[-1].begins + speech.sounds[-1].lasts == pytest.approx(speech.duration)


@pytest.mark.parametrize(("text", "message"), [
    ("", "nothing to say"), ("?!", "nothing to say"), ("привет", "'п' is no letter of English"),
    ("{QX}", "no phone of ARPAbet is called 'QX'"), ("a" * 2001, "at most 2000"),
])
def test_what_cannot_be_spoken_is_told(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        speech_of(text)
    with pytest.raises(RequestError, match=f"--say: .*{message}"):
        FaceOverlay(say=text)


@pytest.mark.parametrize("seed", range(5))
def test_lips_close_in_a_frame_and_open_between(seed: int) -> None:
    speech = speech_of("mama, papa, bob")
    moments = np.arange(0, speech.duration, 1 / FPS)
    opened = jaw(speech, moments, seed)
    for one in speech.sounds:
        here = (moments >= one.begins) & (moments <= one.begins + one.lasts)
        if one.viseme == "PP":
            assert opened[here].min() < 0.05
    assert opened.max() > 0.2


def test_lips_round_before_the_sound_begins() -> None:
    speech = speech_of("{S T UW}")
    moments = np.arange(0, speech.duration, 1 / 240)
    pucker = shaped(spoken(speech, moments, generator(0)).values, len(moments))[
        "mouthPucker", SIDES[0]]
    sound = speech.sounds[-1]
    before = pucker[np.searchsorted(moments, sound.begins - 0.02)]
    assert 0.1 < before < 0.9 * pucker.max()


def test_the_mouth_rests_in_pauses_and_questions_raise_brows() -> None:
    speech = speech_of("I waited for hours. Are you ready?")
    moments = np.arange(0, speech.duration + 1, 1 / 120)
    shown = spoken(speech, moments, generator(3))
    first, second = speech.phrases
    pause = np.searchsorted(moments, (first.ends + second.begins) / 2)
    assert jaw(speech, moments, 3)[pause] < 0.03
    end = np.searchsorted(moments, second.ends)
    assert shown.values["AU2"][end] > 0.5 > shown.values["AU2"][pause]
    assert shown.nod.min() < -1


def test_seeds_differ_and_repeat() -> None:
    speech, moments = speech_of("There you are, my friend!"), np.arange(0, 2.5, 1 / FPS)
    one, same, other = (spoken(speech, moments, generator(seed)).values["AU1"]
                        for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.allclose(one, other)


def test_a_score_says_it_once_and_over_a_smile(tmp_path: Path) -> None:
    score = read_score(written(tmp_path, "Hello, how are you?"))
    values, = faces(score, 0, FPS)
    moments = np.arange(len(values["AU25"])) / FPS
    lasts = slowest(speech_of("Hello, how are you?"))
    opened = shaped(values, len(moments))["jawOpen", SIDES[0]]
    talking = (moments > 0.5) & (moments < 0.5 + lasts)
    assert opened[talking].max() > 0.2
    assert opened[~talking & (np.abs(moments - 0.5) > 0.2) & (moments < 0.3)].max() < 0.01
    assert opened[moments > 0.7 + lasts].max() < 0.01
    assert values["smile"][talking].max() > 0.9


@pytest.mark.parametrize(("text", "duration", "message"), [
    ("This is far too long to be said by anybody, whoever that is, in so little time.", 3.5,
     "line 8.*say: takes .* s to speak, and there are 3.0 s"),
    ("{HH QQ}", 6.0, "line 8.*no phone of ARPAbet"),
])
def test_a_score_with_a_wrong_text_is_refused_with_its_line(
        tmp_path: Path, text: str, duration: float, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read_score(written(tmp_path, text, duration))


def test_an_overlay_speaks_and_an_emotion_leaves_it_the_mouth() -> None:
    moments = np.arange(0, 4, 1 / FPS)
    alone, _ = FaceOverlay("surprise").faces(moments, generator(0))
    overlay = FaceOverlay("surprise", say="My mother made a big map of Bermuda.")
    speaking, head = overlay.faces(moments, generator(0))
    opened = [shaped(values, len(moments))["jawOpen", SIDES[0]] for values in (alone, speaking)]
    talks = (moments > 0.9) & (moments < 2.5)
    assert opened[0][talks].min() > 0.3 and opened[1][talks].min() < 0.12
    assert np.ptp(head[:, 1]) > 1
    assert overlay.words[0] == "surprise" and overlay.words[1].startswith("say")
    assert overlay.facts["say"] == "My mother made a big map of Bermuda."


def test_a_neutral_face_is_as_long_as_its_text() -> None:
    text = "Hello, how are you? I have not seen you for a very long time."
    take = library_take(Catalogue.with_libraries(()).action("neutral_face"), None, 0)
    spoken_take = altered(take, 1.0, False, FaceOverlay(say=text))
    assert spoken_take.frames(FPS) / FPS > slowest(speech_of(text))
    assert spoken_take.facts()["face"]["say"] == text


def test_who_shows_an_emotion_speaks_with_it() -> None:
    take = library_take(Catalogue.with_libraries(()).action("joy"), None, 0)
    speaking = altered(take, 1.0, False, FaceOverlay(say="Hello!"))
    assert speaking.overlay == FaceOverlay("joy", say="Hello!")
    assert [word[:3] for word in speaking.version] == ["see", "say"]


@pytest.mark.parametrize("seed", [0, 3])
def test_the_timeline_says_who_speaks_when(seed: int) -> None:
    take = library_take(Catalogue.with_libraries(()).action("quarrel"), None, seed)
    told = [one for one in take.timeline or () if one.kind == "speech"]
    assert [one.performer for one in told] == ["performer", "partner", "performer", "partner"]
    moments = np.arange(take.frames(FPS)) / FPS
    for number, values in enumerate(take.faces(FPS)):
        lips = shaped(values, len(moments))["mouthLowerDown", SIDES[0]]
        mine = [one for one in told if (one.performer == "partner") == bool(number)]
        speaks = np.any([(moments > one.start_s) & (moments < one.end_s) for one in mine], axis=0)
        assert lips[speaks].mean() > 4 * lips[~speaks].mean()


def test_the_timeline_tells_of_what_an_overlay_says() -> None:
    take = library_take(Catalogue.with_libraries(()).action("joy"), None, 2)
    speaking = altered(take, 1.0, False, FaceOverlay(say="Hello, my friend!"))
    one, = (one for one in speaking.timeline or () if one.kind == "speech")
    lasts = speech_of("Hello, my friend!").duration
    assert one.name == "Hello, my friend!" and one.start_s == 0.25
    assert 0.9 * lasts < one.end_s - one.start_s < 1.1 * lasts


@pytest.mark.parametrize("text", [
    "One two three four five six seven eight nine ten, eleven, twelve! thirteen fourteen.",
    "{HH AH L OW} my {F R EH N D}! " * 9])
def test_a_timeline_has_the_words_that_there_is_time_for(text: str) -> None:
    take = library_take(Catalogue.with_libraries(()).action("smile"), None, 1)
    speaking = altered(take, 1.0, False, FaceOverlay(say=text))
    told, = (one for one in speaking.timeline or () if one.kind == "speech")
    assert told.name and text.startswith(told.name) and len(told.name) < len(text) - 5
    pace = FaceOverlay(say=text).pace(generator(take.seed, *speaking.words, "face", 0))
    room = (told.end_s - told.start_s) * pace
    assert speech_of(told.name).duration <= room + 1e-6
    rest = text.removeprefix(told.name).strip()
    word = rest[:rest.index("}") + 1] if rest.startswith("{") else rest.split()[0]
    assert speech_of(f"{told.name} {word}").duration > room
    assert said_within(text, 1e9) == text and said_within(text, 0.01) == ""


def test_say_and_a_captured_face_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="--say and --face are mutually exclusive"):
        RenderRequest.of(action="walk", say="Hello", face=tmp_path / "face.csv")


@pytest.mark.parametrize("action", ["wave", "walk", "letter_a", "joy"])
def test_timelines_of_all_kinds_of_takes_have_what_is_said(action: str) -> None:
    take = library_take(Catalogue.with_libraries(()).action(action), None, 0)
    speaking = altered(take, 1.0, False, FaceOverlay(say="Hello!"))
    [said] = [one for one in speaking.timeline or () if one.kind == "speech"]
    assert said.name == "Hello!" and said.start_s < said.end_s
