"""Whether a request comes from a study's own page, as browsers say."""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

JSON = "application/json"


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request says that it sends JSON, which no foreign page can without being asked."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether no browser says that another site's page sends a request.

    Browsers say it by Sec-Fetch-Site, older ones by Origin alone, which names the page's scheme,
    host and port; scheme and default port are a proxy's affair. Programs say neither.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site.strip().lower() != "same-origin":
        return False
    return origin is None or site is not None or _place(origin) == _place(
        f"//{headers.get('host', '')}")


def is_local_name(host: str) -> bool:
    """Whether a Host header names this machine: another name that leads here is a trick."""
    name = (_place(f"//{host}") or ("",))[0]
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _place(address: str) -> tuple[str, int | None] | None:
    """Return host and port of an address; None where it is none, as ``null``."""
    try:
        parts = urlsplit(address)
        port = None if parts.port in (80, 443) else parts.port
    except ValueError:
        return None
    return None if not parts.hostname else (parts.hostname.lower(), port)
