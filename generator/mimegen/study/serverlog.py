"""Log the problems of a study's server in few and short lines, whatever clients send."""

import logging
import time

from mimegen.study.limits import Limit

# Longest line of the log, in characters.
MAX_LINE_LETTERS = 300
# Burst size and rate per second, for each kind of message and for all: a flood of requests must not
# fill the disk.
LIMIT_PER_KIND = (5, 0.05)
LIMIT_OF_ALL = (50, 0.2)
LOGGERS = ("uvicorn", "asyncio", "mimegen.study")


class OneLineFormatter(logging.Formatter):
    """Format a record as one line; an exception as its type, message and location."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted line."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({_reason(record.exc_info[1])})"
        text = " ".join(text.split())
        left_out = getattr(record, "left_out", 0)
        more = f" ({left_out} lines before this one were left out)" if left_out else ""
        short = text if len(text) <= MAX_LINE_LETTERS else f"{text[:MAX_LINE_LETTERS]}..."
        return f"mimegen: {short}{more}"


def _reason(problem: BaseException) -> str:
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f", {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(problem).__name__}: {problem}{where}"


class RateLimitFilter(logging.Filter):
    """Let through a few records of each kind, and later ones at a limited rate."""

    def __init__(self) -> None:
        super().__init__()
        self._limits = Limit(*LIMIT_PER_KIND, keys=100), Limit(*LIMIT_OF_ALL)
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record; a written one counts those left out before it."""
        now, (of_kind, of_all) = time.monotonic(), self._limits
        if of_kind.wait(str(record.msg)[:100], now) or of_all.wait("", now):
            self._left_out += 1
            return False
        record.left_out, self._left_out = self._left_out, 0
        return True


def configure_logging() -> None:
    """Log the server and its packages to standard error, rate-limited and in short lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLineFormatter())
    handler.addFilter(RateLimitFilter())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
