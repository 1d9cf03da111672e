"""The layout of scores: lines are broken, what they say stays, comments too."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.formatting import WIDTH, formatted
from running import invoke

SCORES = sorted(data_folder().glob("mocap/*/*.score.yaml"))
LONG = "palm: in+0.6forward+0.25up, fingers: forward+0.9up, shape: ball, elbow: down+0.6out"


def longest(text):
    return max(map(len, text.split("\n")))


def run(*args):
    return invoke("score", "format", *args)


@pytest.mark.slow
def test_scores_are_laid_out():
    assert len(SCORES) > 70
    assert run("--check").exit_code == 0
    assert max(longest(path.read_text()) for path in SCORES) <= WIDTH


def test_a_long_phase_becomes_a_block_and_a_short_one_stays():
    text = ("phases:\n"
            "  - {at: 0.0, chest: {lean: 7}}\n"
            f"  - {{at: 1.0, chest: {{lean: 3}}, left_hand: {{to: ball 1 2 3, {LONG}}}}}\n")
    assert formatted(text, "x") == (
        "phases:\n"
        "  - {at: 0.0, chest: {lean: 7}}\n"
        "  - at: 1.0\n"
        "    chest: {lean: 3}\n"
        "    left_hand: {to: ball 1 2 3, palm: in+0.6forward+0.25up, fingers: forward+0.9up,"
        " shape: ball,\n"
        "                elbow: down+0.6out}\n")


def test_comments_stay_and_move_above_what_they_stood_in():
    text = ("# The whole.\n"
            f"about: {'word ' * 30}# behind\n"
            "phases:\n"
            "  # The first.\n"
            f"  - {{at: 0.0, hands: {{shape: fist}}, left_hand: {{{LONG}}}}}  # to be #1\n"
            "  - at: 1.0  # short\n"
            "    chest: {lean: 7}\n")
    done = formatted(text, "x")
    assert longest(done) <= WIDTH
    lines = [line.strip() for line in done.split("\n")]
    assert lines[lines.index("# to be #1") - 1] == "# The first."
    assert lines[lines.index("# to be #1") + 1] == "- at: 0.0"
    assert lines[lines.index("# behind") + 1].startswith("about:")
    assert "- at: 1.0  # short" in lines
    assert "# The whole." in lines


def test_texts_in_quotes_and_blocks_keep_every_letter():
    quoted = "a: 'it''s # no comment, " + "and long " * 20 + "so'\n"
    done = formatted(quoted, "x")
    assert longest(done) <= WIDTH
    assert yaml.safe_load(done) == yaml.safe_load(quoted)
    block = "a: |\n  " + "as it is  " * 20 + "\nb: 1\n"
    assert formatted(block, "x") == block


def test_what_would_change_is_left_to_the_writer():
    with pytest.raises(RequestError, match=r"x: cannot be reformatted losslessly"):
        formatted(f"a: 'two  spaces {'and more ' * 20}'\n", "x")


WORDS = st.lists(st.from_regex(r"[a-z0-9.+-]{1,12}", fullmatch=True), min_size=1, max_size=25)
SCALARS = st.one_of(st.integers(-99, 99), st.floats(-9, 9), st.booleans(), WORDS.map(" ".join))
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True), inner, max_size=5)), max_leaves=30)


@settings(max_examples=examples(150), deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, min_size=1,
                       max_size=4), st.booleans())
def test_any_file_says_the_same_afterwards_and_is_laid_out_once_and_for_all(content, block):
    wide = 10**6
    text = yaml.safe_dump(content, default_flow_style=False, width=wide) if block else "".join(
        f"'{key}': {yaml.safe_dump([value], default_flow_style=True, width=wide)}"
        for key, value in content.items())
    done = formatted(text, "x")
    assert yaml.safe_load(done) == yaml.safe_load(text)
    assert formatted(done, "x") == done


def test_the_command_writes_names_what_it_changed_and_checks(tmp_path):
    long, short = tmp_path / "long.score.yaml", tmp_path / "short.score.yaml"
    long.write_text(f"about: {'word ' * 40}\n")
    short.write_text("about: word\n")
    assert (run("--check", long, short).exit_code, longest(long.read_text())) == (1, 207)
    done = run(long, short)
    assert (done.exit_code, done.output) == (0, f"{long}\n1 changed\n")
    assert longest(long.read_text()) <= WIDTH
    assert run("--check", long, short).exit_code == 0


@pytest.mark.parametrize(("content", "says"), [
    (b"a: [1", "line 1: not valid YAML"), (b"\xff\xfe", "is not UTF-8 text"), (None, "absent"),
])
def test_what_is_no_score_is_told_in_one_line(tmp_path, content, says):
    path = tmp_path / "absent.score.yaml"
    if content is not None:
        path.write_bytes(content)
    done = run(path)
    assert done.exit_code == 2
    assert says in done.output
