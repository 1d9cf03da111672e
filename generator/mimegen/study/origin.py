"""Check by a request's headers whether it comes from a study's own page."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

JSON = "application/json"


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request claims to send JSON; other sites' pages cannot without a CORS preflight."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a request was not sent by another site's page, as far as its headers say.

    Browsers say so in Sec-Fetch-Site; older ones only in Origin, which names the page's scheme,
    host and port. The scheme and default ports are ignored, because a proxy may change them.
    Programs send neither header, and pass.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site.strip().lower() != "same-origin":
        return False
    return origin is None or site is not None or _host_and_port(origin) == _host_and_port(
        f"//{headers.get('host', '')}")


def is_local_name(host: str) -> bool:
    """Whether a Host header names this machine; another name may be a DNS rebinding attack."""
    name = (_host_and_port(f"//{host}") or ("",))[0]
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _host_and_port(address: str) -> tuple[str, int | None] | None:
    """Return host and port of an address; None if it is not one, such as ``null``."""
    try:
        parts = urlsplit(address)
        port = None if parts.port in (80, 443) else parts.port
    except ValueError:
        return None
    return None if not parts.hostname else (parts.hostname.lower(), port)
