"""The door over HTTP: the powers of a server that runs elsewhere, with the same results and refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import RLock
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from reseller_sandbox.core import refusals
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.refusals import Refused, Rule
from reseller_sandbox.powers.power import Operation
from reseller_sandbox.web.routes import method_of, path_of

#: For how many seconds an unused connection is trusted; the server keeps it longer.
_FRESH = 30.0


class Unreachable(ConnectionError):
    """No sandbox answers at the address; the message is one line that says what to do."""


class RefusedThere(Refused):
    """A refusal of a server elsewhere, with the words that it gave."""

    def __init__(self, rule: Rule, message: str, remedy: str) -> None:
        super().__init__(rule)
        self._message = message
        self._remedy = remedy

    @property
    def message(self) -> str:
        """What the server said."""
        return self._message

    @property
    def remedy(self) -> str:
        """What would do."""
        return self._remedy


class There:
    """Acts on one world of the server at ``url``: the ``world`` of that name, or the default one.

    ``token`` is the server's control token, where it asks for one; ``timeout`` is in seconds.
    """

    def __init__(self, url: str, world: str = "", token: str | None = None, timeout: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self.world = world
        self._token = token
        self._timeout = timeout
        self._parts = urlsplit(self.url)
        self._connection: HTTPConnection | None = None
        self._used = 0.0
        self._lock = RLock()

    def entering(self, world: str) -> There:
        """Return the door to another world of the same server."""
        return There(self.url, world, self._token, self._timeout)

    def carry_out(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return what ``operation`` answers there, as the record that it is here."""
        from reseller_sandbox.web.records import loaded  # the command line has no use for records

        return loaded(operation.result, self.answer(operation, given))

    def answer(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return what ``operation`` answers there, as JSON; raise ``Refused`` as it would here."""
        told = operation.read(given)
        written = operation.written(told)
        placed = {one.name: written.pop(one.name) for one in operation.parameters if one.place == "segment"}
        path = path_of(operation)
        for name, value in placed.items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        method = method_of(operation)
        if method == "GET":
            query = urlencode({name: _word(value) for name, value in written.items()})
            return self._call(method, f"{path}?{query}" if query else path, b"")
        return self._call(method, path, json.dumps(written).encode())

    def _call(self, method: str, path: str, body: bytes) -> Any:
        prefix = f"/_worlds/{quote(self.world, safe='')}" if self.world else ""
        headers = {"Content-Type": "application/json"} if body else {}
        if self._token is not None:
            headers["X-Sandbox-Token"] = self._token
        with self._lock:
            try:
                connection = self._connected()
                connection.request(method, prefix + path, body, headers)
                response = connection.getresponse()
                status, content = response.status, response.read()
            except (OSError, HTTPException) as problem:
                self.close()
                reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
                raise Unreachable(f"no sandbox answers at {self.url}: {reason}") from None
            self._used = stopwatch()
        return self._read(status, content)

    def _connected(self) -> HTTPConnection:
        if self._connection is None or stopwatch() - self._used > _FRESH:
            self.close()
            kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
            self._connection = kind(self._parts.netloc, timeout=self._timeout)
        return self._connection

    def _read(self, status: int, content: bytes) -> Any:
        try:
            said = json.loads(content)
        except ValueError:
            raise Unreachable(f"what answers at {self.url} is no sandbox: it does not speak JSON") from None
        if status < 400:
            return said
        rule = _RULES.get(str(said.get("error"))) if isinstance(said, dict) else None
        if rule is None:
            raise Unreachable(f"what answers at {self.url} is no sandbox of this version: {said!r:.200}")
        raise RefusedThere(rule, str(said["message"]), str(said.get("remedy", "")))

    def close(self) -> None:
        """Give up the connection; the next call makes another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __del__(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _word(value: Any) -> str:
    """Return a value as a query string has it."""
    return value if isinstance(value, str) else json.dumps(value)


_RULES: Mapping[str, Rule] = {one.code: one for one in vars(refusals).values() if isinstance(one, Rule)}
