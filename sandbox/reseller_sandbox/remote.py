"""The door over HTTP: the powers of a server that runs elsewhere, with the same results and refusals."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.model import DEFAULT
from reseller_sandbox.core.refusals import INVALID_PARAMETER, RULES, Refused, Rule
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.core.texts import require_whole_letters
from reseller_sandbox.powers.following import Following
from reseller_sandbox.powers.power import Operation
from reseller_sandbox.server.secrecy import text_masked
from reseller_sandbox.settings import BadSetting, read_url
from reseller_sandbox.web.routes import method_of, path_of
from reseller_sandbox.web.words import spoken

if TYPE_CHECKING:
    from ssl import SSLContext

#: The variables that name a server and a world of it, for commands and for programs that are run.
URL, WORLD = "RESELLER_SANDBOX_URL", "RESELLER_SANDBOX_WORLD"

#: The variable that names the file of an authority to trust, and those by which other programs are told so.
AUTHORITY = "RESELLER_SANDBOX_CA"
_ALSO = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

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
        """Return what the server said."""
        return self._message

    @property
    def remedy(self) -> str:
        """Return what would do instead, in the server's words."""
        return self._remedy


class There:
    """Acts on one world of the server at ``url``: the ``world`` of that name, or the default one.

    A ``url`` may also be a world's own, with ``/_worlds/NAME`` at its end.
    ``token`` is the server's control token, where it asks for one; ``timeout`` is in seconds; ``authority``
    is a file by which its certificate is trusted. Raise ``BadSetting`` where that cannot be used.
    """

    _connection: HTTPConnection | None = None

    def __init__(
        self,
        url: str,
        world: str = "",
        token: str | None = None,
        timeout: float = 60.0,
        authority: str | None = None,
    ) -> None:
        try:
            self.url = read_url(url).rstrip("/")
        except ValueError as problem:
            raise BadSetting(f"the server's address {problem}, not {text_masked(str(url))!r:.80}") from None
        self.url, _, named = self.url.partition("/_worlds/")
        self.world = world or unquote(named)
        try:
            require_whole_letters(self.world)
        except ValueError as problem:
            raise BadSetting(f"world {problem}") from None
        self.token = token
        self._timeout = timeout
        self._parts = urlsplit(self.url)
        if beyond := self.url.partition(self._parts.netloc)[2]:
            raise BadSetting(
                f"the server's address must end with host and port, or with /_worlds/NAME, not {beyond!r:.80}"
            )
        self.authority = authority
        self._trust = trust(authority) if self._parts.scheme == "https" else None
        self._used = 0.0
        self._lock = RLock()

    def __str__(self) -> str:
        return f"world {self.name} at {self.url}"

    @property
    def name(self) -> str:
        """Return the name of its world."""
        return self.world or DEFAULT

    @property
    def prefix(self) -> str:
        """Return what the path of a request to its world begins with: nothing for the default one."""
        return f"/_worlds/{quote(self.world, safe='')}" if self.world else ""

    def entering(self, world: str) -> There:
        """Return the door to another world of the same server."""
        return There(self.url, world, self.token, self._timeout, self.authority)

    def carry_out(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return the record that ``operation`` answers there."""
        from reseller_sandbox.web.records import loaded  # the command line has no use for records

        if operation.sort == "stream":
            return FollowedThere(self, operation, given)
        return loaded(operation.result, self.answer(operation, given))

    def answer(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """Return what ``operation`` answers there, as JSON; raise ``Refused`` as it would here."""
        return self.ask(*self._asked(operation, given))

    def open(self, operation: Operation, given: Mapping[str, Any]) -> tuple[HTTPConnection, HTTPResponse]:
        """Ask for a stream, on a connection of its own; raise ``Refused`` as it would here."""
        method, path, body = self._asked(operation, given)
        connection = self.connection()
        try:
            response = self._sent(connection, method, path, body)
            if response.status >= 400:
                self._read(response.status, response.read())
        except (OSError, HTTPException) as problem:
            connection.close()
            raise self._away(problem) from None
        except Refused:
            connection.close()
            raise
        return connection, response

    def headers(self) -> dict[str, str]:
        """Return what each request to the control interface carries."""
        return {} if self.token is None else {"X-Sandbox-Token": self.token}

    def _asked(self, operation: Operation, given: Mapping[str, Any]) -> tuple[str, str, bytes]:
        """Return method, path and body of the request that stands for a call."""
        told = operation.read(given)
        written = operation.written(told)
        placed = {name: written.pop(name) for name in operation.segments}
        path = path_of(operation)
        for name, value in placed.items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        method = method_of(operation)
        if method == "GET":
            known = {one.name: one for one in operation.parameters}
            query = urlencode({name: _word(known[name], value) for name, value in written.items()})
            return method, f"{path}?{query}" if query else path, b""
        return method, path, _json(written).encode()

    def _sent(self, connection: HTTPConnection, method: str, path: str, body: bytes) -> HTTPResponse:
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, self.prefix + path, body, headers | self.headers())
        return connection.getresponse()

    def _away(self, problem: Exception) -> Unreachable:
        start = (
            "; start one with: reseller-sandbox serve" if isinstance(problem, ConnectionRefusedError) else ""
        )
        return Unreachable(f"no sandbox answers at {self.url}: {reason_of(problem)}{start}")

    def ask(self, method: str, path: str, body: bytes = b"") -> Any:
        """Return the JSON that a path of the control interface answers; raise as ``answer`` does."""
        with self._lock:
            try:
                response = self._sent(self._connected(), method, path, body)
                status, content = response.status, response.read()
            except (OSError, HTTPException) as problem:
                self.close()
                raise self._away(problem) from None
            self._used = stopwatch()
        return self._read(status, content)

    def _connected(self) -> HTTPConnection:
        if self._connection is None or stopwatch() - self._used > _FRESH:
            self.close()
            self._connection = self.connection()
        return self._connection

    def connection(self) -> HTTPConnection:
        """Return a connection to the server, which its user closes."""
        if self._trust is not None:
            return HTTPSConnection(self._parts.netloc, timeout=self._timeout, context=self._trust)
        return HTTPConnection(self._parts.netloc, timeout=self._timeout)

    def _read(self, status: int, content: bytes) -> Any:
        try:
            said = json.loads(content)
        except ValueError:
            raise Unreachable(f"what answers at {self.url} is no sandbox: it does not speak JSON") from None
        if status < 400:
            return said
        rule = RULES.get(str(said.get("error"))) if isinstance(said, dict) else None
        if rule is None:
            raise Unreachable(f"what answers at {self.url} is no sandbox of this version: {said!r:.200}")
        raise RefusedThere(rule, str(said["message"]), str(said.get("remedy", "")))

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __del__(self) -> None:
        if self._connection is not None:
            self._connection.close()


class FollowedThere(Following[Any]):
    """What happens in a world of a server elsewhere.

    Raise ``Unreachable`` when the connection breaks. With the mark of the last record as ``since`` the
    method goes on after it.
    """

    def __init__(self, door: There, operation: Operation, given: Mapping[str, Any]) -> None:
        self._door = door
        self._operation = operation
        self._connection, self._response = door.open(operation, given)
        self._socket = self._connection.sock
        self._closed = False

    def __next__(self) -> Any:
        """Return the next record; raise StopIteration when the server says that it was the last."""
        from reseller_sandbox.web.records import loaded

        return loaded(self._operation.result, self.data())

    def data(self) -> Any:
        """Return what the next record is as JSON; raise StopIteration after the last."""
        kind, data = "", ""
        while not self._closed:
            line = self._line()
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                data = value
            elif not line and kind == "end":
                self.close()
            elif not line and kind == "missed":
                self.missed, kind, data = int(json.loads(data)["missed"]), "", ""
            elif not line and data:
                return json.loads(data)
        raise StopIteration

    def _line(self) -> str:
        """Return the next line, or an empty one after ``close``."""
        try:
            line = self._response.readline()
        except (OSError, HTTPException, ValueError, AttributeError) as problem:
            if self._closed:
                return ""
            self.close()
            raise Unreachable(f"what was followed at {self._door.url} has broken off: {problem}") from None
        if not line and not self._closed:
            self.close()
            raise Unreachable(f"what was followed at {self._door.url} has broken off")
        return line.decode("utf-8").rstrip("\r\n")

    def close(self) -> None:
        """Stop following."""
        if not self._closed:
            self._closed = True
            with suppress(OSError, AttributeError):
                self._socket.shutdown(SHUT_RDWR)  # which wakes whoever waits for a line
            self._response.close()
            self._connection.close()


def trust(authority: str | None = None) -> SSLContext:
    """Return what trusts the authorities of this machine, of the environment and of a file.

    Raise ``BadSetting`` for a file that cannot be used.
    """
    import ssl

    told = {"authority": authority, **{name: os.environ.get(name) for name in (AUTHORITY, *_ALSO)}}
    context = ssl.create_default_context()
    for name, path in told.items():
        try:
            if path:
                context.load_verify_locations(**{"capath" if os.path.isdir(path) else "cafile": path})
        except OSError as problem:
            raise BadSetting(f"{name}: {path} cannot be used: {reason_of(problem)}") from None
    return context


def reason_of(problem: Exception) -> str:
    """Return why a connection could not be made, in a few words, and what would do where that is known."""
    if message := getattr(problem, "verify_message", None):
        return f"its certificate is not trusted ({message}); {AUTHORITY} names the file of its authority"
    reason = getattr(problem, "reason", None)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "it speaks plain HTTP there: use http:// in place of https://"
    if isinstance(reason, str):
        return f"TLS: {reason.replace('_', ' ').lower()}"
    words = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return " ".join(words.split())


def _word(parameter: Parameter, value: Any) -> str:
    """Return a value as a query string has it: a text as it is, unless it would be read as something else."""
    itself = isinstance(value, str) and spoken(parameter.kind.shape, value) == value
    return value if itself else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, default=_number, allow_nan=False)
    except ValueError:
        problem = "a number is none that JSON has, or has thousands of digits"
        raise Refused(INVALID_PARAMETER, problems=problem) from None


def _number(given: Any) -> float:
    """Return a number with a fraction, which is a decimal here; refuse what is no number."""
    if isinstance(given, Decimal):
        return float(given)
    problem = f"a value must be made of what JSON has, not of {type(given).__name__}"
    raise Refused(INVALID_PARAMETER, problems=problem)
