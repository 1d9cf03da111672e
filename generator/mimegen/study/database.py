"""Sessions and answers in an SQLite file that survives crashes of the server."""

import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType

from mimegen.base.errors import RequestError
from mimegen.study.responses import Ids, Screen

# In seconds. An unfinished session without activity for FORSAKEN_S no longer counts as a
# participant; one without any answer after UNBEGUN_S frees its list for others.
FORSAKEN_S = 2 * 3600.0
UNBEGUN_S = 20 * 60.0
_SCHEMA = """
CREATE TABLE about (study TEXT NOT NULL);
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, rater TEXT NOT NULL UNIQUE,
    list INTEGER NOT NULL, ids TEXT NOT NULL, person TEXT UNIQUE, screen TEXT NOT NULL,
    begun REAL NOT NULL, seen REAL NOT NULL, finished REAL);
CREATE TABLE answers (
    session INTEGER NOT NULL REFERENCES sessions, trial TEXT NOT NULL, response TEXT NOT NULL,
    received REAL NOT NULL, PRIMARY KEY (session, trial)) WITHOUT ROWID;
"""
_COLUMNS = "number, token, rater, list, ids, finished"
_ANSWERED = "EXISTS (SELECT 1 FROM answers WHERE session = number)"
_TAKES_PART = f"(finished IS NOT NULL OR (seen > :forsaken AND {_ANSWERED}))"
_HAS_LIST = f"({_TAKES_PART} OR (seen > :unbegun AND NOT {_ANSWERED}))"


@dataclass(frozen=True)
class Session:
    """One person's session; only that person knows ``token``."""

    number: int
    token: str
    rater: str
    list: int
    ids: Ids
    finished: float | None


class Database:
    """The file of answers. Several threads and processes may use it at the same time.

    When a method returns, what it stored is on the disk: the write-ahead log is synced. Raises
    RequestError when opened if the file is damaged or belongs to another study.
    """

    def __init__(self, path: Path, study: str, is_durable: bool = True) -> None:
        self.path = path
        # Nothing is synced if what is stored can be made again.
        self._synchronous = "FULL" if is_durable else "OFF"
        self._lock = Lock()
        try:
            self._open(study)
        except sqlite3.Error as problem:
            raise RequestError(
                f"{path}: the database of answers is damaged or cannot be used ({problem}); keep"
                " the file, recover its contents with: sqlite3 FILE .recover, and move it away to"
                " start again") from problem

    def _open(self, study: str) -> None:
        """Open or create the database. Raises sqlite3.Error if it is damaged or of another study.
        """
        self._connection = sqlite3.connect(self.path, timeout=20, isolation_level=None,
                                           check_same_thread=False)
        for pragma in ("journal_mode=WAL", f"synchronous={self._synchronous}", "foreign_keys=ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        with self._changing():
            if not self._connection.execute("SELECT name FROM sqlite_master").fetchone():
                for statement in _SCHEMA.split(";"):
                    self._connection.execute(statement)
                self._connection.execute("INSERT INTO about VALUES (?)", (study,))
        found = self._connection.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        if self._connection.execute("SELECT study FROM about").fetchone() != (study,):
            raise sqlite3.DatabaseError("it belongs to another study")

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._connection.close()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Run a transaction, with one writer at a time."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def begin(self, ids: Ids, screen: Screen, lists: int, most: int | None, now: float,
              named: str | None = None) -> Session | None:
        """Begin a session with the list that the fewest people have; None if the study is full.

        People who have answered something count as participants. Those who have only begun keep
        their list for ``UNBEGUN_S``, so that lists are spread evenly, but take no place from
        others. ``named`` is the name of a simulated participant; real ones get random names.
        """
        token, rater = (named, named) if named else (
            secrets.token_urlsafe(24), f"rater-{secrets.token_hex(4)}")
        with self._changing():
            if self._is_full(most, now):
                return None
            counts = dict.fromkeys(range(lists), 0)
            counts |= self._connection.execute(
                f"SELECT list, COUNT(*) FROM sessions WHERE {_HAS_LIST} GROUP BY list",
                _since(now)).fetchall()
            chosen = min(counts, key=lambda list_: (counts[list_], list_))
            self._connection.execute(
                "INSERT INTO sessions (token, rater, list, ids, person, screen, begun, seen)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (token, rater, chosen, ids.model_dump_json(exclude_none=True), ids.person,
                 screen.model_dump_json(), now, now))
        return self.session(token)

    def session(self, token: str) -> Session | None:
        """Return the session of a token; None if there is none."""
        return self._session("token", token)

    def session_of(self, person: str) -> Session | None:
        """Return the session of a person by the id they came with; None if there is none."""
        return self._session("person", person)

    def _session(self, column: str, value: str) -> Session | None:
        with self._lock:
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM sessions WHERE {column} = ?", (value,)).fetchone()
        return _session(row) if row else None

    def _is_full(self, most: int | None, now: float) -> bool:
        """Whether the study has as many participants as it may have."""
        return most is not None and most <= self._connection.execute(
            f"SELECT COUNT(*) FROM sessions WHERE {_TAKES_PART}", _since(now)).fetchone()[0]

    def store(self, session: Session, trial: str, response: str, most: int | None, now: float
              ) -> bool:
        """Store the answers of a trial; if some are stored already, keep those.

        Returns False, storing nothing, if they are the session's first and the study is full.
        """
        with self._changing():
            is_first = not self._connection.execute(
                "SELECT 1 FROM answers WHERE session = ?", (session.number,)).fetchone()
            if is_first and self._is_full(most, now):
                return False
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)",
                                     (session.number, trial, response, now))
            self._connection.execute("UPDATE sessions SET seen = ? WHERE number = ?",
                                     (now, session.number))
        return True

    def finish(self, session: Session, now: float) -> None:
        """Mark a session as finished."""
        with self._changing():
            self._connection.execute(
                "UPDATE sessions SET finished = COALESCE(finished, ?), seen = ? WHERE number = ?",
                (now, now, session.number))

    def answers(self, session: Session) -> dict[str, str]:
        """Return the stored responses of a session as JSON, by trial."""
        with self._lock:
            return dict(self._connection.execute(
                "SELECT trial, response FROM answers WHERE session = ?", (session.number,)))

    def sessions(self) -> list[Session]:
        """Return all sessions in the order in which they began."""
        with self._lock:
            rows = self._connection.execute(f"SELECT {_COLUMNS} FROM sessions ORDER BY number")
            return [_session(row) for row in rows]


def _since(now: float) -> dict[str, float]:
    """Return the times after which a session must have been active to count, for queries."""
    return {"forsaken": now - FORSAKEN_S, "unbegun": now - UNBEGUN_S}


def _session(row: tuple[int, str, str, int, str, float | None]) -> Session:
    number, token, rater, list_, ids, finished = row
    return Session(number, token, rater, list_, Ids.model_validate(json.loads(ids)), finished)
