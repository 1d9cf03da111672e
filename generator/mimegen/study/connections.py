"""Limit the connections to a study's server, and how long each may keep it waiting.

A client that opens connections and sends nothing, or a byte now and then, takes slots from others.
So a whole request must arrive within ``REQUEST_TIMEOUT_S``, and if slots run out, the connection
that has waited longest without a whole request is closed to make room for a new one.
"""

import asyncio
import resource
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mimegen.base.errors import RequestError

# In seconds. A request is a few hundred bytes and a connection's unread output at most 64 KiB: a
# client that needs longer for these could not play a clip.
REQUEST_TIMEOUT_S = 10.0
STALL_TIMEOUT_S = 60.0
# Enough for a laboratory behind one address: 50 people whose browsers open up to six connections
# each.
MAX_PER_ADDRESS = 300
# Most open connections, over all addresses.
MAX_CONNECTIONS = 4000
# Number of connections that are taken from the system's queue at once, before any is checked.
BACKLOG = 128
# File descriptors kept for the database, Python and the page's files.
RESERVED_DESCRIPTORS = 64
WANTED_DESCRIPTORS = 2 * MAX_CONNECTIONS + BACKLOG + RESERVED_DESCRIPTORS


def address_key(address: str) -> str:
    """Return the key of a sender: its IPv4 address, or the /64 network of its IPv6 address."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return str(known)
    return str(known.ipv4_mapped or ip_network((known, 64), strict=False))


def max_connections() -> int:
    """Return how many connections the file descriptors allow, two for each: socket and clip.

    Raises this process's limit as far as the system allows. Raises RequestError if too few are
    left.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = int(min(WANTED_DESCRIPTORS, _number(hard)))
    if _number(soft) < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    most = (allowed - BACKLOG - RESERVED_DESCRIPTORS) // 2
    if most < 1:
        raise RequestError(f"the system limits this process to {allowed} open files; a server needs"
                           f" more than {BACKLOG + RESERVED_DESCRIPTORS + 1} (raise it with ulimit"
                           " -n 1024)")
    return min(most, MAX_CONNECTIONS)


def _number(limit: int) -> float:
    return float("inf") if limit == resource.RLIM_INFINITY else limit


@dataclass
class ConnectionSlots:
    """The open connections, and those of them that are waiting for a request, oldest first.

    ``proxies`` are addresses that many people share; they have no limit of their own.
    """

    max_open: int
    max_per_address: int = MAX_PER_ADDRESS
    proxies: frozenset[str] = frozenset()
    _open: Counter[str] = field(default_factory=Counter)
    _waiting: dict["Connection", None] = field(default_factory=dict)
    _waiting_of: dict[str, dict["Connection", None]] = field(default_factory=dict)

    def acquire(self, one: "Connection") -> bool:
        """Give a connection a place, if necessary that of a waiting one; return False if none."""
        self._open[one.key] += 1
        if one.key not in self.proxies and self._open[one.key] > self.max_per_address:
            return self._make_room(self._waiting_of.get(one.key, {}))
        if self._open.total() > self.max_open:
            return self._make_room(self._waiting)
        return True

    def _make_room(self, waiting: dict["Connection", None]) -> bool:
        """Close the connection that has waited longest; return whether there was one."""
        longest = next(iter(waiting), None)
        if longest is not None:
            self.mark_busy(longest)
            longest.abort()
        return longest is not None

    def release(self, one: "Connection") -> None:
        """Free the place of a connection that has ended."""
        self.mark_busy(one)
        self._open[one.key] -= 1
        if not self._open[one.key]:
            del self._open[one.key]

    def mark_waiting(self, one: "Connection") -> None:
        """Note that a connection has not sent a whole request."""
        self._waiting[one] = None
        self._waiting_of.setdefault(one.key, {})[one] = None

    def mark_busy(self, one: "Connection") -> None:
        """Note that a connection is no longer waiting."""
        self._waiting.pop(one, None)
        of_address = self._waiting_of.get(one.key, {})
        of_address.pop(one, None)
        if not of_address:
            self._waiting_of.pop(one.key, None)


class Connection(H11Protocol):
    """A connection that takes a place and is closed if its peer is too slow.

    uvicorn itself only limits how long a connection may be idle after an answer.
    """

    def __init__(self, slots: ConnectionSlots, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._slots, self.key = slots, ""
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, or close the connection if there is none."""
        super().connection_made(transport)
        self.key = address_key(self.client[0]) if self.client else ""
        if self._slots.acquire(self):
            self._wait()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place and cancel the timers."""
        self._slots.release(self)
        for timer in (self._late, self._stalled):
            _cancel(timer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        super().data_received(data)
        self._check_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, or start it if it has been received already."""
        self._wait()
        super().on_response_complete()
        self._check_complete()

    def pause_writing(self) -> None:
        """Start the timeout for a peer that does not read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALL_TIMEOUT_S, self.abort)

    def resume_writing(self) -> None:
        """Cancel the timeout because the peer has read."""
        super().resume_writing()
        _cancel(self._stalled)

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def _wait(self) -> None:
        self._slots.mark_waiting(self)
        _cancel(self._late)
        self._late = self.loop.call_later(REQUEST_TIMEOUT_S, self.abort)

    def _check_complete(self) -> None:
        """Stop the request timeout once a whole request, or an invalid one, has been received."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._slots.mark_busy(self)
            _cancel(self._late)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def protocol(slots: ConnectionSlots) -> Any:
    """Return a factory of uvicorn protocols that use these slots."""
    return partial(Connection, slots)
