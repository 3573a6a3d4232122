"""Commands ``request`` and ``sign`` for requests of an account, and ``wait`` for a server."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from string import punctuation
from typing import Any
from urllib.parse import quote

import click
from click.core import ParameterSource
from msgspec import Struct

from reseller_sandbox.cli.base import REFUSED, UNREACHABLE, give_up, say
from reseller_sandbox.cli.server_options import ConfiguredServerCommand, ServerCommand, calling
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.model import Account
from reseller_sandbox.remote import HttpTransport, Unreachable, reason_of
from reseller_sandbox.settings import Settings
from reseller_sandbox.v3.signing import signed_headers
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.web.interface import is_control

#: Poll interval in seconds while waiting for a server.
PAUSE = 0.05

_V2 = re.compile(r"(?:https?://[^/]*)?(?:/_worlds/[^/]+)?/v\d+\.\d+(?:/|$)", re.IGNORECASE)


def _require(pattern: str, takes: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Return a click callback that rejects a word unless all of it matches ``pattern``."""

    def checked(ctx: click.Context, param: click.Parameter, word: str) -> str:
        if re.fullmatch(pattern, word, re.DOTALL) is None:
            raise click.BadParameter(f"{word[:80]!r} is not {takes}", ctx, param)
        return word

    return checked


#: Callbacks that check the method of a request, and its other words.
_METHOD = _require(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}", "a method such as GET")
_UTF8 = _require(r"[^\ud800-\udfff]*", "UTF-8")


@click.command(cls=ConfiguredServerCommand, named=("fixture", "header_prefix"))
@click.argument("method", callback=_METHOD)
@click.argument("path", callback=_UTF8)
@click.option("--data", callback=_UTF8, default="", help="Body of the request, or @FILE.")
@click.option("--account", default="main", show_default=True, help="Account that sends the request.")
@click.option("--curl", "full", is_flag=True, help="Print the full curl command, not only its options.")
def sign(
    method: str,
    path: str,
    data: str,
    account: str,
    full: bool,
    server: HttpTransport,
    settings: dict[str, Any],
) -> None:
    """Print the signature of a v3 request as curl options, or the command with --curl.

    PATH begins with a slash and includes the query. You can also give a full URL. The secret is that of the
    server's account. If no server answers, or with --fixture, the secret comes from the fixture.
    """
    prefix = settings.get("header_prefix", Settings.header_prefix)
    target = path if "://" in path else f"{server.url}/{path.removeprefix('/')}"
    if _V2.match(target):
        raise click.UsageError("v2.0 requests carry a token and no signature. Use reseller-sandbox request")
    body = _body(data)
    credentials = _credentials(server, account, str(settings.get("fixture", Settings.fixture)))
    authority = server.authority if target.startswith("https:") else None
    if full:
        say(curl(credentials, method.upper(), target, body, prefix, authority))
    else:
        say(shlex.join(curl_options(credentials, target, body, prefix, authority)))


@click.command(cls=ConfiguredServerCommand, named=("header_prefix",))
@click.argument("method", callback=_METHOD)
@click.argument("path", callback=_UTF8)
@click.argument("body", callback=_UTF8, default="")
@click.option("--account", default="main", show_default=True, help="Account that sends the request.")
@click.option("-i", "--include", "with_head", is_flag=True, help="Also print the status and the headers.")
@click.option("--json", "as_received", is_flag=True, help="Print the body as received, for programs.")
def request(
    method: str,
    path: str,
    body: str,
    account: str,
    with_head: bool,
    as_received: bool,
    server: HttpTransport,
    settings: dict[str, Any],
) -> None:
    """Send a request as an account, signed (v3) or with its token (v2.0), and print the response.

    BODY is the body of the request, or @FILE to read the body from a file. The exit status is 1 if the status
    of the response is 400 or more.
    """
    prefix = settings.get("header_prefix", Settings.header_prefix)
    with calling(server):
        answer = _send(server, method, path, _body(body), account, prefix)
    if with_head:
        say(f"{answer.head}\n")
    if as_received:
        say(answer.body, nl=False)
    elif answer.body:
        say(answer.text)
    if answer.broken:
        give_up(f"the response is incomplete: {answer.broken}", UNREACHABLE)
    sys.exit(REFUSED if answer.response.status >= 400 else 0)


@click.command(cls=ServerCommand)
@click.option("--ready-file", type=click.Path(path_type=Path), help="File that serve --ready-file writes.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=30.0, show_default=True, help="Maximum wait in seconds."
)
def wait(ready_file: Path | None, timeout: float, server: HttpTransport) -> None:
    """Wait until a server answers, and print its address, or exit with 3 after the timeout."""
    until = stopwatch() + timeout
    while True:
        try:
            say(_ping(server if ready_file is None else _ready_server(ready_file)))
            return
        except Unreachable as problem:
            if stopwatch() >= until:
                reason = str(problem)
                give_up(f"waited for {timeout:g} s. {reason[:1].upper()}{reason[1:]}", UNREACHABLE)
        time.sleep(PAUSE)


def _credentials(server: HttpTransport, account: str, fixture: str) -> Any:
    """Return the credentials of an account from the server, or from the fixture if no server answers."""
    source = click.get_current_context().get_parameter_source("fixture")
    if source is ParameterSource.COMMANDLINE:
        return _fixture_account(fixture, account)
    try:
        return _fetch_credentials(server, account)
    except Refused as refused:
        give_up(refused.message, REFUSED)
    except Unreachable as problem:
        if server.world:
            give_up(str(problem), UNREACHABLE)
        return _fixture_account(fixture, account)
    finally:
        server.close()


def _fixture_account(fixture: str, name: str) -> Any:
    from reseller_sandbox import fixture as fixtures  # late, because it takes 100 ms and few requests need it

    try:
        accounts = fixtures.load(fixtures.find(fixture)).state.accounts
    except fixtures.FixtureError as problem:
        give_up(str(problem))
    by_name = {accounts[number].name: accounts[number] for number in sorted(accounts) if accounts[number].key}
    if name not in by_name:
        give_up(f"account {name!r} does not exist in {fixture}. The accounts are: {', '.join(by_name)}")
    return by_name[name]


def _body(data: str) -> bytes:
    if not data.startswith("@"):
        return data.encode()
    try:
        body = Path(data[1:]).read_bytes()
        body.decode()
    except OSError as problem:
        give_up(f"{data[1:]}: {problem.strerror}")
    except UnicodeDecodeError as problem:
        give_up(f"{data[1:]}: byte {problem.start} is not UTF-8. JSON must be in UTF-8")
    return body


class Credentials(Struct, frozen=True):
    """Credentials with which a client acts for an account."""

    key: str
    secret: str
    token: str


def curl(
    account: Account | Credentials,
    method: str,
    url: str,
    body: bytes,
    prefix: str,
    authority: str | None = None,
) -> str:
    """Return a signed v3 request as a curl command that trusts the file ``authority``."""
    options = curl_options(account, url, body, prefix, authority)
    return shlex.join(["curl", "-sS", "-X", method, url, *options])


def curl_options(
    account: Account | Credentials, url: str, body: bytes, prefix: str, authority: str | None = None
) -> list[str]:
    """Return the curl options that sign a v3 request, send its body and trust ``authority``."""
    headers = signed_headers(account.key, account.secret, prefix, url, body)
    if body:
        headers["Content-Type"] = "application/json"
    options = ["--cacert", authority] if authority is not None else []
    options += [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    return [*options, "--data-binary", body.decode()] if body else options


def _fetch_credentials(server: HttpTransport, account: str) -> Credentials:
    """Return the credentials of an account by name or client id. Raise ``Refused`` and ``Unreachable``."""
    record = server.ask("GET", f"/_sandbox/accounts/{quote(account, safe='')}")
    return Credentials(record["key"], record["secret"], record["token"])


class Received(Struct, frozen=True):
    """Received response. If it is incomplete, ``broken`` gives the reason."""

    response: HTTPResponse
    body: bytes
    broken: str = ""

    @property
    def head(self) -> str:
        """Status line and headers."""
        version = "HTTP/1.0" if self.response.version == 10 else "HTTP/1.1"
        lines = [f"{version} {self.response.status} {self.response.reason}".rstrip()]
        return "\n".join([*lines, *(f"{name}: {value}" for name, value in self.response.getheaders())])

    @property
    def text(self) -> str:
        """Body for people: indented if it is JSON, otherwise unchanged."""
        try:
            return json.dumps(json.loads(self.body), ensure_ascii=False, indent=2)
        except ValueError:
            return self.body.decode("utf-8", "replace")


def _send(server: HttpTransport, method: str, path: str, body: bytes, account: str, prefix: str) -> Received:
    """Send a request as ``account`` and return the response. Raise ``Refused`` and ``Unreachable``.

    ``path`` may also be a URL of the server. Characters that a request line cannot hold are percent-encoded.
    A v3 request is signed, with headers that begin with ``prefix``. A v2.0 request carries the token, and a
    control request the control token.
    """
    path = quote(f"/{path.removeprefix(server.url).removeprefix('/')}", safe=punctuation)
    if is_control(path):
        headers = server.headers()
    elif _V2.match(path):
        headers = {_token_header(server): _fetch_credentials(server, account).token}
    else:
        credentials = _fetch_credentials(server, account)
        headers = signed_headers(credentials.key, credentials.secret, prefix, server.url + path, body)
    if body:
        headers["Content-Type"] = "application/json"
    connection = server.connection()
    try:
        connection.request(method.upper(), path, body or None, headers)
        response = connection.getresponse()
        try:
            return Received(response, response.read())
        except IncompleteRead as cut:
            return Received(response, cut.partial, f"the connection broke after {len(cut.partial)} bytes")
    except (OSError, HTTPException) as problem:
        raise Unreachable(f"no response from {server.url}: {reason_of(problem)}") from None
    finally:
        connection.close()


def _token_header(server: HttpTransport) -> str:
    assumptions = server.ask("GET", "/_sandbox/assumptions")["assumptions"]
    return str(next(entry["value"][0] for entry in assumptions if entry["name"] == "v2.token_headers"))


def _ping(server: HttpTransport) -> str:
    """Return the address of a server that answers. Raise ``Unreachable``."""
    with closing(server), suppress(Refused):  # A server that refuses is running.
        server.ask("GET", "/_sandbox/health")
    return server.url


def _ready_server(file: Path) -> HttpTransport:
    """Return the transport to the server of a ready file. Raise ``Unreachable`` while the file is missing."""
    try:
        content: Mapping[str, Any] = json.loads(file.read_bytes())
        return HttpTransport(content["url"], authority=content.get("authority"), timeout=5.0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not a ready file"
        raise Unreachable(f"the server's address cannot be read from {file}: {reason}") from None
