"""Commands ``request`` and ``sign`` for requests of an account, and ``wait`` for a server."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path
from string import punctuation
from typing import Any, TypeAlias
from urllib.parse import quote

import click
from click.core import ParameterSource
from msgspec import Struct, convert

from reseller_sandbox.cli.base import PATH, REFUSED, UNREACHABLE, Seconds, as_json_text, give_up
from reseller_sandbox.cli.server_options import ConfiguredServerCommand, ServerCommand
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.remote import HttpTransport, Unreachable, reason_of
from reseller_sandbox.settings import Settings
from reseller_sandbox.values.clock import stopwatch
from reseller_sandbox.web.headers import REQUEST
from reseller_sandbox.web.interface import is_control
from reseller_sandbox.web.interfaces import (
    Credentials,
    PublicInterface,
    UnsignedRequest,
    interface_of,
    public_interfaces,
)

#: Poll interval in seconds while waiting for a server.
PAUSE = 0.05

#: The settings that change how a request is signed.
_SIGNING = ("header_prefix", "interfaces")


def _require(pattern: str, takes: str) -> Callable[[click.Context, click.Parameter, str], str]:
    """Return a click callback that accepts a word only if ``pattern`` matches the whole word."""

    def checked(ctx: click.Context, param: click.Parameter, word: str) -> str:
        if re.fullmatch(pattern, word, re.DOTALL) is None:
            raise click.BadParameter(f"{word[:80]!r} is not {takes}", ctx, param)
        return word

    return checked


#: Callbacks that check arguments: the HTTP method, and text that must be valid UTF-8.
_METHOD = _require(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}", "a method such as GET")
_UTF8 = _require(r"[^\ud800-\udfff]*", "UTF-8")


@click.command(cls=ConfiguredServerCommand, named=("fixture", *_SIGNING))
@click.argument("method", callback=_METHOD)
@click.argument("path", callback=_UTF8)
@click.option(
    "--data",
    callback=_UTF8,
    default="",
    help="Body of the request, @FILE to read it from a file, or @- from standard input.",
)
@click.option("--account", default="main", show_default=True, help="Account that sends the request.")
@click.option("--curl", "full", is_flag=True, help="Print the full curl command, not only its options.")
def sign(
    method: str,
    path: str,
    data: str,
    account: str,
    full: bool,
    server: HttpTransport,
    settings: dict[str, object],
) -> None:
    """Print the curl options that authenticate a request, or with --curl the whole command.

    PATH begins with a slash and includes the query. You can also give a full URL. The credentials come from
    the account on the server. If no server answers, or with --fixture, the credentials come from the fixture.
    """
    url = path if "://" in path else f"{server.url}/{path.removeprefix('/')}"
    base = server.url if url.startswith(f"{server.url}/") else re.match(r"[^/]*//[^/?]*|", url)[0]  # type: ignore[index]
    target = _encoded(url.removeprefix(base))
    body = _body(data)
    unsigned = UnsignedRequest(*_access(server, account, settings), base, target, body)
    interface = _interface(target, settings)
    authority = server.authority if base.startswith("https:") else None
    if full:
        click.echo(curl(method.upper(), unsigned, interface, authority))
    else:
        click.echo(shlex.join(curl_options(unsigned, interface, authority)))


@click.command(cls=ConfiguredServerCommand, named=_SIGNING)
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
    settings: dict[str, object],
) -> None:
    """Send a request with the credentials of an account, and print the response.

    BODY is the body of the request. With @FILE, the body is read from a file, and with @- from standard
    input. Write a body that begins with @ with @@. The exit status is 1 if the status of the response is 400
    or more, and the error output names the command that explains the response.
    """
    response, content, broken = _send(server, method, path, _body(body), account, settings)
    if with_head:
        version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
        click.echo(f"{version} {response.status} {response.reason}".rstrip())
        click.echo("".join(f"{name}: {value}\n" for name, value in response.getheaders()))
    if as_received:
        click.echo(content, nl=False)
    elif content:
        click.echo(_for_people(content))
    if broken:
        give_up(f"the response is incomplete: {broken}", UNREACHABLE)
    if response.status < 400:
        return
    entry = response.headers.get(REQUEST)
    if entry and not as_received:
        world = f" --world {server.world}" if server.world else ""
        click.echo(f"The reason: reseller-sandbox journal get {entry}{world}", err=True)
    sys.exit(REFUSED)


@click.command(cls=ServerCommand)
@click.option(
    "--ready-file", type=PATH, help="Read the server's URL from this file, which serve --ready-file writes."
)
@click.option(
    "--pid",
    type=click.IntRange(1),
    help="With --ready-file: accept only the server of this process, and give up when the process has ended.",
)
@click.option("--timeout", type=Seconds(), default=30.0, show_default=True, help="Maximum wait in seconds.")
def wait(ready_file: Path | None, pid: int | None, timeout: float, server: HttpTransport) -> None:
    """Wait until a server answers, and print its URL. After the timeout, exit with 3.

    Another server can answer at the URL, for example if the port was taken when yours started. With
    --ready-file, the command waits for your server.
    """
    if pid is not None and ready_file is None:
        raise click.UsageError("--pid needs --ready-file. Start the server with the same --ready-file")
    until = stopwatch() + timeout
    while True:
        has_ended = pid is not None and not _runs(pid)
        try:
            chosen = server if ready_file is None else _ready_server(ready_file, pid)
            with closing(chosen), suppress(Refused):  # A refusal also shows that the server runs.
                chosen.health()
            click.echo(chosen.url)
            return
        except Unreachable as problem:
            if has_ended or stopwatch() >= until:
                begin = f"process {pid} has ended" if has_ended else f"waited for {timeout:g} s"
                reason = str(problem)
                give_up(f"{begin}. {reason[:1].upper()}{reason[1:]}", UNREACHABLE)
        time.sleep(PAUSE)


def _runs(pid: int) -> bool:
    """Whether the process exists. On Windows, where signal 0 would end the process, return True."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:  # a process of another user
        return True
    except (OSError, OverflowError):
        return False
    return True


#: The credentials of an account, the assumptions of its world, and the header prefix of the server.
Access: TypeAlias = tuple[Credentials, Assumptions, str]


def _access(server: HttpTransport, account: str, settings: Mapping[str, object]) -> Access:
    """Return what signs a request, from the server, or from the settings if no server answers."""
    try:
        if not _is_typed("fixture"):
            return _fetch_access(server, account, settings)
    except Refused as refused:
        give_up(refused.message, REFUSED)
    except Unreachable as problem:
        if server.world:
            give_up(str(problem), UNREACHABLE)
    # Import late: it takes 100 ms, and few requests need it.
    from reseller_sandbox import fixture as fixtures

    source = str(settings.get("fixture", Settings.fixture))
    accounts = fixtures.load(fixtures.find(source)).state.accounts
    by_name = {accounts[number].name: accounts[number] for number in sorted(accounts) if accounts[number].key}
    if account not in by_name:
        give_up(f"account {account!r} does not exist in {source}. The accounts are: {', '.join(by_name)}")
    return by_name[account], Assumptions(), _prefix(settings)


def _prefix(settings: Mapping[str, Any]) -> str:
    prefix: str = settings.get("header_prefix", Settings.header_prefix)
    return prefix


def _is_typed(option: str) -> bool:
    """Whether the user typed an option of the command."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _body(data: str) -> bytes:
    if not data.startswith("@") or data.startswith("@@"):
        return data.removeprefix("@").encode()
    body: bytes = sys.stdin.buffer.read() if data == "@-" else Path(data[1:]).read_bytes()
    try:
        body.decode()
    except UnicodeDecodeError as problem:
        name = "standard input" if data == "@-" else data[1:]
        give_up(f"{name}: byte {problem.start} is not UTF-8. JSON must be in UTF-8")
    return body


def _encoded(url: str) -> str:
    """Return ``url`` with the characters percent-encoded that a request line cannot have."""
    return quote(url, safe=punctuation)


class AccountCredentials(Struct, frozen=True):
    """The API key, secret and token of an account, as the server returns them."""

    key: str
    secret: str
    token: str


def curl(method: str, unsigned: UnsignedRequest, interface: PublicInterface, authority: str | None) -> str:
    """Return the curl command that sends a request with its credentials and trusts ``authority``."""
    options = curl_options(unsigned, interface, authority)
    return shlex.join(["curl", "-sS", "-X", method, unsigned.base + unsigned.target, *options])


def curl_options(unsigned: UnsignedRequest, interface: PublicInterface, authority: str | None) -> list[str]:
    """Return the curl options that authenticate a request, send its body and trust ``authority``."""
    headers = dict(interface.sign(unsigned).headers)
    if unsigned.body:
        headers["Content-Type"] = "application/json"
    options = ["--cacert", authority] if authority is not None else []
    options += [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    # ``--data-binary`` would read a file for a body that begins with @.
    return [*options, "--data-raw", unsigned.body.decode()] if unsigned.body else options


def _interface(target: str, settings: Mapping[str, Any]) -> PublicInterface:
    """Return the interface that serves a path, or the first interface for an unknown path."""
    interfaces = public_interfaces(tuple(settings.get("interfaces", ())))
    return interface_of(target, interfaces) or interfaces[0]


def _fetch_access(server: HttpTransport, account: str, settings: Mapping[str, object]) -> Access:
    """Fetch the credentials of an account (a name or client id), the world's assumptions and the prefix.

    A header prefix that the user typed takes precedence. Raise ``Refused`` and ``Unreachable``.
    """
    prefix = _prefix(settings) if _is_typed("header_prefix") else server.health()["header_prefix"]
    record = server.ask("GET", f"/_sandbox/accounts/{quote(account, safe='')}")
    assumed = server.ask("GET", "/_sandbox/assumptions")["assumptions"]
    values = {entry["name"]: entry["value"] for entry in assumed}
    return convert(record, AccountCredentials), Assumptions().with_values(values), prefix


def _for_people(content: bytes) -> str:
    """Return the body of a response as text: indented if it is JSON, otherwise unchanged."""
    try:
        return as_json_text(json.loads(content))
    except ValueError:
        return content.decode("utf-8", "replace")


def _send(
    server: HttpTransport, method: str, path: str, body: bytes, account: str, settings: Mapping[str, object]
) -> tuple[HTTPResponse, bytes, str]:
    """Send a request as ``account``. Return the response, its body, and the reason if it is incomplete.

    ``path`` may also be a URL of the server. Characters that a request line cannot hold are percent-encoded.
    A request carries the credentials of its interface, and a control request the control token. Raise
    ``Refused`` and ``Unreachable``, and UsageError for a URL of another server.
    """
    if path.startswith(("http://", "https://")) and not f"{path}/".startswith(f"{server.url}/"):
        raise click.UsageError(f"{path!r} is not a URL of {server.url}; write only the path, or set --url")
    path = _encoded(f"/{path.removeprefix(server.url).removeprefix('/')}")
    if is_control(path):
        headers = server.headers()
    else:
        unsigned = UnsignedRequest(*_fetch_access(server, account, settings), server.url, path, body)
        headers = _interface(path, settings).sign(unsigned).headers
    if body:
        headers["Content-Type"] = "application/json"
    connection = server.connection()
    try:
        connection.request(method.upper(), server.path + path, body or None, headers)
        response = connection.getresponse()
        try:
            return response, response.read(), ""
        except IncompleteRead as cut:
            return response, cut.partial, f"the connection broke after {len(cut.partial)} bytes"
    except (OSError, HTTPException) as problem:
        raise Unreachable(f"no response from {server.url}: {reason_of(problem)}") from None
    finally:
        connection.close()


def _ready_server(file: Path, pid: int | None) -> HttpTransport:
    """Return a transport to the server of a ready file.

    Raise ``Unreachable`` if the file is missing, or if another process than ``pid`` wrote the file.
    """
    try:
        content: Mapping[str, Any] = json.loads(file.read_bytes())
        server = HttpTransport(content["url"], authority=content.get("authority"), timeout=5.0)
        writer = content["pid"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not a ready file"
        raise Unreachable(f"the server's address cannot be read from {file}: {reason}") from None
    if pid not in (None, writer):
        raise Unreachable(f"{file} is the ready file of another process, {writer}")
    return server
