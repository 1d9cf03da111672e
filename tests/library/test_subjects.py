"""Marker files of two people, from the command line and as takes."""

import json

import numpy as np
import pytest

from marked_bodies import write_two_people
from mimegen.base.errors import RequestError
from mimegen.library.catalogue import Catalogue
from mimegen.library.importing import ImportRequest, import_take
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.takes import library_take, user_take
from mimegen.readers import ReadOptions
from running import invoked


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return write_two_people(tmp_path_factory.mktemp("two") / "two.c3d")


def taken(file, subject=None):
    return user_take(Catalogue.with_libraries(()), file, ("dancing",), None, None, "CC0-1.0",
                     options=ReadOptions(subject=subject))


@pytest.mark.slow
def test_two_people_of_one_file_are_partners_where_they_stood(two):
    take = taken(two)
    assert take.performers == 2 and take.files == (two, two)
    first, second = (motion for motion, _ in take.sources(30.0))
    apart = np.linalg.norm((second.root_positions - first.root_positions)[0, :2])
    assert apart == pytest.approx(2.0, abs=0.05)
    assert second.skeleton.heads[0, 2] == pytest.approx(0.9 * first.skeleton.heads[0, 2], rel=0.05)


def test_one_subject_is_a_take_of_one_with_a_key_and_a_version_of_its_own(two):
    takes = [taken(two, "Derrick"), taken(two, "Viktor"), taken(two)]
    assert [take.performers for take in takes] == [1, 1, 2]
    assert len({take.key for take in takes}) == 3
    assert takes[0].version != takes[1].version
    assert takes[1].reading()["motion_subject"] == "Viktor"


@pytest.mark.slow
def test_an_imported_take_is_of_the_subject_that_was_named(two, tmp_path):
    library = tmp_path / "mine"
    request = ImportRequest(two, "Swaying", library, None, (), None, None, "CC0-1.0", "a test",
                            False, ReadOptions(subject="Viktor"))
    import_take(request)
    entry = Catalogue.with_libraries((library,)).action("swaying")
    take = library_take(entry, None, 0)
    assert isinstance(take, RecordedTake) and take.reading()["motion_subject"] == "Viktor"
    with pytest.raises(RequestError, match="choose one with --subject"):
        import_take(ImportRequest(two, "Swaying", library, "both", (), None, None, "CC0-1.0",
                                  "a test", False, ReadOptions()))


@pytest.mark.slow
def test_inspect_names_the_subjects(two):
    both = json.loads(invoked("inspect", two, "--json").stdout)
    assert both["subjects"] == ["Derrick", "Viktor"]
    assert "--subject NAME" in both["problems"][0]
    one = json.loads(invoked("inspect", two, "--json", "--subject", "Viktor").stdout)
    assert one["problems"] == [] and len(one["markers"]) == 39


def test_raw_markers_of_both_or_of_one_are_shown(two, tmp_path):
    for subject, dots in (((), 79), (("--subject", "Viktor"), 39)):
        done = invoked("pointlight", two, "--dots", "all_markers", *subject, "--duration", 1,
                       "--out", tmp_path / "dots.npz")
        assert done.returncode == 0, done.stderr
        assert f"{dots} dots" in done.stdout


@pytest.mark.slow
def test_both_are_retargeted_and_reported(two, tmp_path):
    report = tmp_path / "report.json"
    done = invoked("retarget", two, "--character", "man", "--report", report)
    assert done.returncode == 0, done.stderr
    assert "partner" in json.loads(report.read_text())
