"""The URL of a request that a connection pool of urllib3 sends."""

from __future__ import annotations

from typing import Any

from urllib3.util import parse_url


def url_of(pool: Any, method: str, url: str, *_: object, **__: object) -> str:  # noqa: ARG001
    """Return the absolute URL. A request through an HTTP proxy has it, other requests have only a path."""
    if parse_url(url).scheme:
        return url
    host = f"[{pool.host}]" if ":" in pool.host else pool.host
    return f"{pool.scheme}://{host}" + (f":{pool.port}" if pool.port else "")
