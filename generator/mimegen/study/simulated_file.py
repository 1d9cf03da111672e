"""Write simulated participants into a database as the server's, but apart from it."""

from collections.abc import Iterable
from pathlib import Path

from mimegen.base.files import publishing
from mimegen.study.database import Database
from mimegen.study.folder import PRIVATE, SIMULATED_ANSWERS, Study
from mimegen.study.responses import Ids, Screen
from mimegen.study.simulation import SimulatedSession

SCREEN = Screen(width=1280, height=720, touch=False)
# The time of all that happens in a simulation, so that the same request gives the same file.
NOW = 0.0


def write_simulated(folder: Path, study: Study, sessions: Iterable[SimulatedSession]) -> Path:
    """Replace the simulated participants of a study; return their file."""
    path = folder / PRIVATE / SIMULATED_ANSWERS
    with publishing(path) as part, \
            Database(part, study.simulated_name, is_durable=False) as database:
        for session in sessions:
            _store(database, study, session)
    return path


def _store(database: Database, study: Study, one: SimulatedSession) -> None:
    session = database.begin(Ids(), SCREEN, len(study.lists), None, NOW, one.name)
    if session is None or session.list != one.list:
        raise AssertionError(f"{one.name}: the server would give another list")
    for name, response in one.responses.items():
        database.store(session, name, response.model_dump_json(), None, NOW)
    if one.is_finished:
        database.finish(session, NOW)
