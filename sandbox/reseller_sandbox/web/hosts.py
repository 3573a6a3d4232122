"""Whether a request says for which host it is, as HTTP/1.1 wants it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reseller_sandbox.core.refusals import INVALID_HOST, Refused
from reseller_sandbox.server.delivery import ENV_HOSTS
from reseller_sandbox.server.secrecy import host_masked

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(?::[0-9]*)?")


def require_host(environ: WSGIEnvironment) -> None:
    """Refuse with ``invalid_host`` what has not one Host header with a host in it; HTTP/1.0 may lack it.

    A request target in absolute form names the host itself, whatever the header says (RFC 9112, 3.2.2).
    """
    found = [environ["HTTP_HOST"]] if "HTTP_HOST" in environ else []
    hosts: list[str] = environ.get(ENV_HOSTS, found)
    if len(hosts) > 1:
        raise Refused(INVALID_HOST, problem=f"has {len(hosts)} Host headers")
    if not hosts and environ["SERVER_PROTOCOL"] != "HTTP/1.0":
        raise Refused(INVALID_HOST, problem="has no Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise Refused(INVALID_HOST, problem=f"has the Host header {host_masked(hosts[0])[:80]!r}")
    named: str | None = environ.get("HTTP_HOST")
    if named is not None and [named] != hosts and not (named and _HOST.fullmatch(named)):
        raise Refused(INVALID_HOST, problem=f"has the host {host_masked(named)[:80]!r} in its target")
