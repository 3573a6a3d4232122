"""Requests as an account of a running server would send them, and waiting until there is such a server."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from string import punctuation
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.remote import There, Unreachable, reason_of
from reseller_sandbox.v3.signing import signed_headers
from reseller_sandbox.web.endpoint import is_control

#: How many seconds lie between two looks for a server that is awaited.
PAUSE = 0.05

_V2 = re.compile(r"(?:https?://[^/]*)?(?:/_worlds/[^/]+)?/v\d+\.\d+(?:/|$)", re.IGNORECASE)


class Credentials(Struct, frozen=True):
    """What a client needs to act for an account."""

    key: str
    secret: str
    token: str


def is_v2(path: str) -> bool:
    """Whether a path or a URL is one of v2.0, whose requests carry a token."""
    return _V2.match(path) is not None


def credentials(server: There, account: str) -> Credentials:
    """Return those of an account, by its name or its client id; raise ``Refused`` and ``Unreachable``."""
    told = server.ask("GET", f"/_sandbox/accounts/{quote(account, safe='')}")
    return Credentials(told["key"], told["secret"], told["token"])


class Received(Struct, frozen=True):
    """An answer, as it came; ``broken`` says what kept the rest of it from coming."""

    response: HTTPResponse
    body: bytes
    broken: str = ""

    @property
    def head(self) -> str:
        """Its status line and its headers."""
        version = "HTTP/1.0" if self.response.version == 10 else "HTTP/1.1"
        lines = [f"{version} {self.response.status} {self.response.reason}".rstrip()]
        return "\n".join([*lines, *(f"{name}: {value}" for name, value in self.response.getheaders())])

    @property
    def text(self) -> str:
        """Its body for people: JSON with a line for each thing, anything else as it is."""
        try:
            return json.dumps(json.loads(self.body), ensure_ascii=False, indent=2)
        except ValueError:
            return self.body.decode("utf-8", "replace")


def request(server: There, method: str, path: str, body: bytes, account: str, prefix: str) -> Received:
    """Send a request as ``account`` and return the answer; raise ``Refused`` and ``Unreachable``.

    ``path`` may also be a URL of the server. What no request line can hold is percent-encoded in it.
    One of v3 is signed, with headers that begin with ``prefix``, one of v2.0 carries the token, and one of
    the control interface the control token.
    """
    path = quote(f"/{path.removeprefix(server.url).removeprefix('/')}", safe=punctuation)
    if is_control(path):
        headers = server.headers()
    elif is_v2(path):
        headers = {_token_header(server): credentials(server, account).token}
    else:
        who = credentials(server, account)
        headers = signed_headers(who.key, who.secret, prefix, server.url + path, body)
    if body:
        headers["Content-Type"] = "application/json"
    connection = server.connection()
    try:
        connection.request(method.upper(), path, body or None, headers)
        response = connection.getresponse()
        try:
            return Received(response, response.read())
        except IncompleteRead as cut:
            return Received(response, cut.partial, f"it broke off after {len(cut.partial)} bytes")
    except (OSError, HTTPException) as problem:
        raise Unreachable(f"no answer came from {server.url}: {reason_of(problem)}") from None
    finally:
        connection.close()


def _token_header(server: There) -> str:
    found = server.ask("GET", "/_sandbox/assumptions")["assumptions"]
    return str(next(one["value"][0] for one in found if one["name"] == "v2.token_headers"))


def await_server(find: Callable[[], There], timeout: float) -> str:
    """Return the address of the server that ``find`` finds, once it answers.

    Raise ``Unreachable`` when that takes longer than ``timeout`` seconds.
    """
    until = stopwatch() + timeout
    while True:
        try:
            with_answer = find()
            try:
                with_answer.ask("GET", "/_sandbox/health")
            except Refused:
                pass  # it is there to refuse
            finally:
                with_answer.close()
            return with_answer.url
        except Unreachable as problem:
            if stopwatch() >= until:
                raise Unreachable(f"{problem} (waited for {timeout:g} s)") from None
        time.sleep(PAUSE)


def told_in(file: Path) -> There:
    """Return the server of a ready file; raise ``Unreachable`` while there is no such file."""
    try:
        told: Mapping[str, Any] = json.loads(file.read_bytes())
        return There(told["url"], authority=told.get("authority"), timeout=5.0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is no ready file"
        raise Unreachable(f"no server is told in {file}: {reason}") from None
