"""What a study's server says of trouble: few lines, all of them short, whoever causes them."""

import logging
import time

from mimegen.study.limits import Limit

LONGEST = 300
# Of each kind of trouble and of all: a flood of requests must not fill the disk.
OF_A_KIND = (5, 0.05)
OF_ALL = (50, 0.2)
LOGGERS = ("uvicorn", "asyncio", "mimegen.study")


class OneLine(logging.Formatter):
    """A record in one line, an exception as its type, its words and where it came from."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({_reason(record.exc_info[1])})"
        text = " ".join(text.split())
        left_out = getattr(record, "left_out", 0)
        more = f" ({left_out} lines before this one were left out)" if left_out else ""
        return f"mimegen: {text if len(text) <= LONGEST else text[:LONGEST] + '...'}{more}"


def _reason(problem: BaseException) -> str:
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f", {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(problem).__name__}: {problem}{where}"


class Seldom(logging.Filter):
    """Lets through a few records of each kind, and later ones now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._limits = Limit(*OF_A_KIND, keys=100), Limit(*OF_ALL)
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether to write a record; one that is written says how many before it were not."""
        now, (of_kind, of_all) = time.monotonic(), self._limits
        if of_kind.wait(str(record.msg)[:100], now) or of_all.wait("", now):
            self._left_out += 1
            return False
        record.left_out, self._left_out = self._left_out, 0
        return True


def keep_quiet(level: int = logging.WARNING) -> None:
    """Write what the server and its packages log to standard error, seldom and in short lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    handler.addFilter(Seldom())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
