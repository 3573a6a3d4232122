"""A client of the tests' own. It signs as the contract says and shares no code with the sandbox."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

Headers = list[tuple[str, str]]
Transport = Callable[[str, str, Headers, bytes], "Answer"]

JSON = ("Content-Type", "application/json")


def person(name: str = "Ann", **fields: Any) -> dict[str, Any]:
    """A v3 contact with every field that one usually has to have."""
    default = {"address1": "1 Main Street", "city": "Kyiv", "zipcode": "01001", "country": "UA"}
    return {"name": name, **default, "phone": "380.441234567", "email": "ann@example.com", **fields}


@dataclass(frozen=True)
class Answer:
    """What came back: ``headers`` has lower-case names."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        """The body, which must be declared as JSON and be it."""
        assert self.headers["content-type"].partition(";")[0] == "application/json", self.headers
        return json.loads(self.raw.decode("utf-8"), parse_constant=_refuse_constant)

    @property
    def error(self) -> str | None:
        body = self.json
        return body.get("error") if isinstance(body, dict) else None

    @property
    def message(self) -> str:
        return str(self.json["message"])

    @property
    def assumptions(self) -> dict[str, str]:
        """What the answer says it rests on."""
        listed = self.headers.get("x-sandbox-assumptions", "")
        return dict(pair.split("=", 1) for pair in listed.split(", ") if pair)


def _refuse_constant(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def signature(secret: str, key: str, endpoint: str | bytes, payload: bytes) -> str:
    """HMAC-SHA256 over key, endpoint and payload, in lower-case hexadecimal."""
    text = key.encode() + (endpoint if isinstance(endpoint, bytes) else endpoint.encode()) + payload
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def encoded(body: Any) -> bytes:
    """A request body: bytes as they are, nothing as nothing, else JSON."""
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


class Api:
    """The v3 interface as one account sees it; every request is signed over its full URL."""

    def __init__(self, transport: Transport, base: str, key: str, secret: str) -> None:
        self.transport = transport
        self.base = base
        self.key = key
        self.secret = secret

    def call(
        self, method: str, target: str, body: Any = None, headers: Iterable[tuple[str, str]] = ()
    ) -> Answer:
        """Send a signed request."""
        raw = encoded(body)
        signed = signature(self.secret, self.key, self.base + target, raw)
        own = [("X-SVC-APIKEY", self.key), ("X-SVC-SIGNATURE", signed)]
        return self.send(method, target, [*own, JSON, *headers], raw)

    def send(self, method: str, target: str, headers: Headers, raw: bytes = b"") -> Answer:
        """Send a request as it is; the interface's answer never has the account's secret in it."""
        answer = self.transport(method, target, headers, raw)
        if "/_sandbox" not in target:
            assert self.secret not in answer.raw.decode("utf-8") + str(answer.headers)
        return answer

    def get(self, target: str) -> Answer:
        return self.call("GET", target)

    def post(self, target: str, body: Any = None) -> Answer:
        return self.call("POST", target, body)

    def put(self, target: str, body: Any = None) -> Answer:
        return self.call("PUT", target, body)

    def delete(self, target: str, body: Any = None) -> Answer:
        return self.call("DELETE", target, body)


class Socket:
    """A transport over one kept-alive connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        self.connection = HTTPConnection(parts.hostname, parts.port, timeout=60)

    def __call__(self, method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        try:
            return self._exchange(method, target, headers, raw)
        except (HTTPException, ConnectionError):
            self.close()  # the server had closed the connection after its last answer
            return self._exchange(method, target, headers, raw)

    def _exchange(self, method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        names = {name.lower() for name, _ in headers}
        self.connection.putrequest(method, target, skip_host="host" in names, skip_accept_encoding=True)
        for name, value in headers:
            self.connection.putheader(name, value.encode("utf-8"))
        if raw or method in ("POST", "PUT"):
            self.connection.putheader("Content-Length", str(len(raw)))
        self.connection.endheaders(raw)
        response = self.connection.getresponse()
        if (response.getheader("Content-Type") or "").startswith("text/event-stream"):
            body = b""  # it goes on for as long as one listens, and this client does not
            self.close()
        else:
            body = response.read()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self.connection.close()


def per_request(url: str) -> Transport:
    """Return a transport with a new connection for each request."""

    def send(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        socket = Socket(url)
        try:
            return socket(method, target, headers, raw)
        finally:
            socket.close()

    return send


class InProcess:
    """A transport that calls the WSGI application in this thread, without a socket."""

    def __init__(self, app: Callable[..., Iterable[bytes]], scheme: str = "http") -> None:
        self.app = app
        self.scheme = scheme

    def __call__(self, method: str, target: str, headers: Headers, raw: bytes) -> Answer:
        from werkzeug.test import EnvironBuilder, run_wsgi_app

        path, _, query = target.partition("?")
        builder = EnvironBuilder(method=method, base_url=f"{self.scheme}://sandbox.test/", data=raw)
        environ = builder.get_environ()
        builder.close()
        environ["PATH_INFO"] = _unquoted(path)
        environ["QUERY_STRING"] = query
        environ["REQUEST_URI"] = environ["RAW_URI"] = target
        for name, value in headers:
            plain = name.upper().replace("-", "_")
            environ[plain if plain == "CONTENT_TYPE" else f"HTTP_{plain}"] = value
        chunks, status, received = run_wsgi_app(self.app, environ, buffered=True)
        named = {name.lower(): value for name, value in received}
        return Answer(int(status.split()[0]), named, b"".join(chunks))


def _unquoted(path: str) -> str:
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(path).decode("latin-1")
