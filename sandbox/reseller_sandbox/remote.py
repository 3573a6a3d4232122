"""HTTP transport: carries out control operations on a server in another process.

Results and refusals are the same as in this process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from selectors import EVENT_READ, DefaultSelector
from socket import SHUT_RDWR
from threading import RLock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from msgspec import ValidationError

from reseller_sandbox.control.parameter_text import parse_text
from reseller_sandbox.control.resource import Operation, ReceivedRefusal, Subscription
from reseller_sandbox.refusals import RULES
from reseller_sandbox.registry.model import DEFAULT
from reseller_sandbox.server.secrecy import USUAL
from reseller_sandbox.settings import BadSetting, read_url
from reseller_sandbox.values.parameters import Parameter
from reseller_sandbox.values.processes import PerProcess
from reseller_sandbox.values.text_checks import require_whole_letters

if TYPE_CHECKING:
    from ssl import SSLContext

    from reseller_sandbox.control.records import AccountRecord

#: Environment variables with the server's URL and the world's name, which commands and child programs read.
URL, WORLD = "RESELLER_SANDBOX_URL", "RESELLER_SANDBOX_WORLD"

#: Environment variable with the file of a certificate authority to trust, and its equivalents for OpenSSL,
#: requests and curl.
AUTHORITY = "RESELLER_SANDBOX_CA"
_ALSO = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

#: The environment variables with the credentials of one account. A variable can end with the name of an
#: account: ``RESELLER_SANDBOX_KEY_OTHER`` is the key of the account ``other``.
KEY, SECRET, TOKEN = "RESELLER_SANDBOX_KEY", "RESELLER_SANDBOX_SECRET", "RESELLER_SANDBOX_TOKEN"


def credentials_of(account: AccountRecord, suffix: str = "") -> dict[str, str]:
    """Return the environment variables with the credentials of an account."""
    values = {KEY: account.key, SECRET: account.secret, TOKEN: account.token}
    return {f"{name}{suffix}": value for name, value in values.items()}


class Unreachable(ConnectionError):
    """No sandbox answers at the address. The message is one line with a remedy."""


class HttpTransport:
    """Transport that carries out control operations on one world of the server at ``url``.

    ``url`` can have a path, under which a proxy serves the sandbox. ``world`` is the name of the world. An
    empty name means the default world, or the world that ``url`` names if it ends with ``/_worlds/NAME``.
    ``token`` is the server's control token, if it requires one. ``timeout`` is in seconds. ``authority`` is a
    file of certificates to trust. Raise ``BadSetting`` for an invalid address, world or file.
    """

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
            raise BadSetting(
                f"the server's address {problem}, not {USUAL.text_masked(str(url))!r:.80}"
            ) from None
        self.url, _, world_name = self.url.partition("/_worlds/")
        self.url = self.url.rstrip("/")
        self.world = world or unquote(world_name)
        try:
            require_whole_letters(self.world)
        except ValueError as problem:
            raise BadSetting(f"world {problem}") from None
        self.token = token
        self._timeout = timeout
        self._parts = urlsplit(self.url)
        if self._parts.query or self._parts.fragment:
            raise BadSetting(f"the server's address must end with host, port or path, not {self.url!r:.80}")
        #: The path of ``url``, under which a proxy serves the sandbox. It is usually empty.
        self.path = quote(self._parts.path, safe="/%~!$&'()*+,;=:@")
        self._origin = f"{self._parts.scheme}://{self._parts.netloc}"
        self.url = self._origin + self.path
        self.authority = authority
        self._trust = trust(authority) if self._parts.scheme == "https" else None
        #: The connection of this process, and its lock.
        self._own = PerProcess(lambda: (RLock(), self.connection()))

    def __str__(self) -> str:
        return f"world {self.name} at {self.url}"

    @property
    def name(self) -> str:
        """Return the name of the world that this transport reaches."""
        return self.world or DEFAULT

    @property
    def prefix(self) -> str:
        """Return the path of the world on the server: ``path``, and ``/_worlds/NAME`` for a named world."""
        return self.path + (f"/_worlds/{quote(self.world, safe='')}" if self.world else "")

    @property
    def world_url(self) -> str:
        """Return the URL of the world. Append the path of the API."""
        return self._origin + self.prefix

    def entering(self, world: str) -> HttpTransport:
        """Return the transport to another world of the same server."""
        return HttpTransport(self.url, world, self.token, self._timeout, self.authority)

    def carry_out(self, operation: Operation, arguments: Mapping[str, object]) -> Any:
        """Carry out ``operation`` on the server. Return its result, or its stream of records."""
        if operation.sort == "stream":
            return HttpSubscription(self, operation, arguments)
        return self.result(operation, self.answer(operation, arguments))

    def result(self, operation: Operation, answer: object) -> Any:
        """Return the record in the JSON ``answer``. Raise ``Unreachable`` if it has another form."""
        try:
            return operation.result.received(answer)
        except (ValidationError, KeyError) as problem:
            raise Unreachable(
                f"the server at {self.url} is not a sandbox of this version: its answer to {operation.id} "
                f"has another form: {problem}"
            ) from None

    def answer(
        self, operation: Operation, arguments: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> object:
        """Carry out ``operation`` on the server, and return the result as JSON. Raise ``Refused``.

        ``headers`` are added to the request.
        """
        return self.ask(*self.request_of(operation, arguments), headers)

    def headers(self) -> dict[str, str]:
        """Return the headers of each request to the control interface."""
        return {} if self.token is None else {"X-Sandbox-Token": self.token}

    def request_of(self, operation: Operation, arguments: Mapping[str, object]) -> tuple[str, str, bytes]:
        """Return method, path and body of the request for an operation."""
        values = operation.read(arguments)
        written = operation.dump(values)
        path = operation.path_with(written)
        if operation.method == "GET":
            parameters = {parameter.name: parameter for parameter in operation.parameters}
            query = urlencode({name: _word(parameters[name], value) for name, value in written.items()})
            return operation.method, f"{path}?{query}" if query else path, b""
        return operation.method, path, _json(written).encode()

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a request to the control interface, and return the JSON of the response.

        Raise ``Refused`` and ``Unreachable``.
        """
        lock, connection = self._own()
        with lock:
            if _has_ended(connection):
                connection.close()  # the next request reopens it
            response, content = self.send(connection, method, path, body, headers)
        return self.read(response.status, content)

    def send(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: bytes,
        more: Mapping[str, str] | None = None,
        *,
        streams: bool = False,
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request. Return the response and its content.

        With ``streams``, leave the content of a successful response unread. Raise ``Unreachable``.
        """
        headers = {**({"Content-Type": "application/json"} if body else {}), **self.headers(), **(more or {})}
        try:
            connection.request(method, self.prefix + path, body, headers)
            response = connection.getresponse()
            return response, b"" if streams and response.status < 400 else response.read()
        except (OSError, HTTPException) as problem:
            connection.close()
            is_down = isinstance(problem, ConnectionRefusedError)
            remedy = ". Start a server with: reseller-sandbox serve" if is_down else ""
            raise Unreachable(f"no sandbox answers at {self.url}: {reason_of(problem)}{remedy}") from None

    def read(self, status: int, content: bytes) -> dict[str, Any]:
        """Return the JSON object of a response. If the server refused the request, raise ``Refused``.

        Raise ``Unreachable`` for a response of another program, such as a proxy.
        """
        try:
            answer = json.loads(content)
        except ValueError:
            raise Unreachable(
                f"the server at {self.url} is not a sandbox: it answers {status}, and not in JSON"
            ) from None
        if status < 400 and isinstance(answer, dict):
            return answer
        rule = RULES.get(str(answer.get("error"))) if isinstance(answer, dict) else None
        if rule is None:
            # For example, a router of shards answers that a shard is down.
            message = answer.get("message") if isinstance(answer, dict) and "error" in answer else None
            if isinstance(message, str):
                raise Unreachable(f"{self.url} answers {status}: {message:.300}")
            raise self._other(status)
        raise ReceivedRefusal(rule, str(answer["message"]), str(answer.get("remedy", "")))

    def health(self) -> dict[str, Any]:
        """Return the status of the server. Raise ``Refused``, or ``Unreachable`` for another program."""
        answer = self.ask("GET", "/_sandbox/health")
        if "header_prefix" not in answer:
            raise self._other(200)
        return answer

    def _other(self, status: int) -> Unreachable:
        return Unreachable(f"the server at {self.url} is not a sandbox: its {status} has another form")

    def connection(self) -> HTTPConnection:
        """Return a new connection to the server. The caller closes it."""
        if self._trust is not None:
            return HTTPSConnection(self._parts.netloc, timeout=self._timeout, context=self._trust)
        return HTTPConnection(self._parts.netloc, timeout=self._timeout)

    def close(self) -> None:
        """Close the connection. The next call opens it again."""
        lock, connection = self._own()
        with lock:
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_own"):
            self._own()[1].close()


def _has_ended(connection: HTTPConnection) -> bool:
    """Whether the server has closed an idle connection."""
    if connection.sock is None:
        return False
    with DefaultSelector() as selector:
        selector.register(connection.sock, EVENT_READ)
        return bool(selector.select(0))  # only the end can arrive, because no response is due


class HttpSubscription(Subscription[Any]):
    """A stream of records from a server in another process.

    Raise ``Unreachable`` when the connection breaks. To continue, call the method again and pass the mark of
    the last record as ``since``.
    """

    def __init__(
        self, transport: HttpTransport, operation: Operation, arguments: Mapping[str, object]
    ) -> None:
        self._transport, self._operation = transport, operation
        request = transport.request_of(operation, arguments)
        self._connection = transport.connection()
        self._response, content = transport.send(self._connection, *request, streams=True)
        self._socket = self._connection.sock
        self._closed = False
        if content:
            self.close()
            transport.read(self._response.status, content)

    def __next__(self) -> Any:
        """Return the next record. Raise StopIteration after the last."""
        return self._transport.result(self._operation, self.data())

    def data(self) -> Any:
        """Return the next record as JSON. Raise StopIteration after the last."""
        event: dict[str, str] = {}
        while not self._closed:
            line = self._line()
            if line:
                name, _, value = line.partition(": ")
                event[name] = value
                continue
            if event.get("event") == "end":
                self.close()
            elif event.get("event") == "missed":
                self.missed = int(json.loads(event["data"])["missed"])
            elif "data" in event and "event" not in event:
                return json.loads(event["data"])
            event = {}
        raise StopIteration

    def _line(self) -> str:
        """Return the next line of the stream, or an empty line after ``close``."""
        line, reason = b"", ""
        try:
            line = self._response.readline()
        except (OSError, HTTPException, ValueError, AttributeError) as problem:
            reason = f": {problem}"
        if not line and not self._closed:
            self.close()
            raise Unreachable(f"the stream from {self._transport.url} ended unexpectedly{reason}")
        return line.decode("utf-8").rstrip("\r\n")

    def close(self) -> None:
        """End the stream."""
        if not self._closed:
            self._closed = True
            with suppress(OSError, AttributeError):
                self._socket.shutdown(SHUT_RDWR)  # Wake a thread that waits for a line.
            self._response.close()
            self._connection.close()


def trust(authority: str | None = None) -> SSLContext:
    """Return a TLS context that trusts the machine's certificate authorities and those in given files.

    The files are ``authority`` and the files that environment variables name. Raise ``BadSetting`` for a file
    that cannot be used.
    """
    import ssl

    variables = {name: os.environ.get(name, "").strip() for name in (AUTHORITY, *_ALSO)}
    files = {"authority": authority, **variables}
    context = ssl.create_default_context()
    for name, path in files.items():
        try:
            if path:
                context.load_verify_locations(**{"capath" if os.path.isdir(path) else "cafile": path})
        except OSError as problem:
            raise BadSetting(f"{name}: {path} cannot be used: {reason_of(problem)}") from None
    return context


def reason_of(problem: Exception) -> str:
    """Return a short reason for a failed connection, with a remedy if one is known."""
    if message := getattr(problem, "verify_message", None):
        return f"its certificate is not trusted ({message}). Set {AUTHORITY} to the file of its authority"
    reason = getattr(problem, "reason", None)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "the server uses plain HTTP. Use http:// instead of https://"
    if isinstance(reason, str):
        return f"TLS: {reason.replace('_', ' ').lower()}"
    words = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return " ".join(words.split())


def _word(parameter: Parameter, value: Any) -> str:
    """Return a value as text for a query string.

    A string is quoted as JSON only if it would be read as another value.
    """
    is_plain = isinstance(value, str) and parse_text(parameter.kind.shape, value) == value
    return value if is_plain else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, default=float)  # Decimal is the only type here that JSON does not know.
