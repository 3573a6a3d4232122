"""The command line: ``reseller-sandbox serve``, ``sign``, ``check``, ``assumptions``, ``lifecycle``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reseller_sandbox.console import Commands, give_up, log_on_standard_error, say

if TYPE_CHECKING:
    from reseller_sandbox.server.requestlog import RequestLine
    from reseller_sandbox.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

PREFIX = "RESELLER_SANDBOX_"


def setting(name: str, **attributes: Any) -> Callable[[F], F]:
    """An option that is also read from the environment: ``--public-url``, ``RESELLER_SANDBOX_PUBLIC_URL``."""
    variable = PREFIX + name.removeprefix("--").split("/")[0].replace("-", "_").upper()
    return click.option(name, envvar=variable, show_envvar=True, **attributes)


class Instant(click.ParamType[datetime]):
    """An ISO 8601 instant, or ``real`` for what the machine's clock says."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The instant that ``value`` stands for."""
        from reseller_sandbox.core.clock import parse_instant, real_now

        if value == "real":
            return real_now().replace(microsecond=0)
        try:
            return value if isinstance(value, datetime) else parse_instant(value)
        except ValueError as problem:
            self.fail(f"{problem}", param, ctx)


class Pair(click.ParamType[tuple[str, str]]):
    """``NAME=VALUE``."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The name and the value."""
        name, mark, given = str(value).partition("=")
        if not mark or not name:
            self.fail(f"{value!r} is not of the form NAME=VALUE", param, ctx)
        return name.strip(), given.strip()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="reseller-sandbox", message="%(version)s")
def main() -> None:
    """A stateful sandbox for a domain-registration reseller API."""


@main.command()
@setting("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@setting(
    "--port", type=click.IntRange(0, 65535), default=8053, show_default=True, help="0 takes any free one."
)
@setting("--fixture", default="default", show_default=True, help="A packaged fixture's name, or a file.")
@setting("--now", type=Instant(), help="The instant the world begins at (ISO 8601, or: real).")
@setting("--frozen/--running", default=None, help="Whether the clock stands still or runs (the default).")
@setting("--seed", help="What codes and identifiers are drawn from.")
@setting("--assume", type=Pair(), multiple=True, help="What a silence of the contract means; may come often.")
@setting(
    "--profile",
    type=click.Choice(["documented", "observed"]),
    default="documented",
    show_default=True,
    help="A whole set of assumptions.",
)
@setting("--public-url", multiple=True, help="Where clients believe the service to be; it is what they sign.")
@setting(
    "--header-prefix", default="X-SVC-", show_default=True, help="What the v3 headers' names begin with."
)
@setting(
    "--token-header", multiple=True, help="Where a v2.0 token is taken from: v2.token_headers, in short."
)
@setting("--max-body", type=click.IntRange(min=1), default=1 << 20, show_default=True, help="In bytes.")
@setting(
    "--max-control-body",
    type=click.IntRange(min=1),
    default=64 << 20,
    show_default=True,
    help="In bytes, for requests to /_sandbox, which may carry a whole world.",
)
@setting("--max-connections", type=click.IntRange(min=1), help="Past so many, clients are answered 503.")
@setting("--control-token", help="What requests to /_sandbox must carry, as X-Sandbox-Token.")
@setting("--control-open", is_flag=True, help="Requests to /_sandbox need no token, whoever may reach it.")
@setting("--certfile", type=click.Path(), help="A certificate (PEM): the server speaks TLS.")
@setting("--keyfile", type=click.Path(), help="Its key, where that is in a file of its own.")
@setting(
    "--max-worlds",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="How many worlds there may be, the default one included.",
)
@setting(
    "--world-idle",
    type=click.FloatRange(min=0),
    default=3600.0,
    show_default=True,
    help="Worlds unused for so many seconds are dropped; 0 keeps them.",
)
@setting(
    "--journal",
    type=click.IntRange(0, 10**9),
    default=1000,
    show_default=True,
    help="How many requests a world keeps, to be read and rewound to.",
)
@setting(
    "--journal-body",
    type=click.IntRange(min=0),
    default=1 << 16,
    show_default=True,
    help="How many bytes it keeps of each body.",
)
@setting(
    "--max-branches",
    type=click.IntRange(min=0),
    default=32,
    show_default=True,
    help="How many left-behind futures a world keeps.",
)
@setting(
    "--max-events",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    help="How many events a world remembers beside its requests.",
)
@setting(
    "--max-snapshots",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="How many snapshots a world takes.",
)
@setting(
    "--max-faults",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="How many rules of faults a world takes.",
)
@setting("--quiet", is_flag=True, help="No line for each request.")
def serve(host: str, port: int, quiet: bool, certfile: str | None, keyfile: str | None, **given: Any) -> None:
    """Serve the reseller API until SIGTERM or Ctrl-C."""
    from reseller_sandbox.assembly import assemble, body_limits, open_worlds
    from reseller_sandbox.banner import banner
    from reseller_sandbox.core.assumptions import BadAssumption
    from reseller_sandbox.fixture import FixtureError
    from reseller_sandbox.server.certificates import BadCertificate, require_certificate
    from reseller_sandbox.server.server import CannotListen, Server
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.web.app import UNREAD
    from reseller_sandbox.web.gate import Unguarded, require_guard

    try:
        settings = _settings(given)
        require_guard(host, settings.control_token, settings.control_open)
        require_certificate(certfile, keyfile)
        worlds = open_worlds(settings, frozen=False)
        app = assemble(worlds, settings)
        server = Server(
            app,
            host,
            port,
            max_body=body_limits(settings).of,
            certfile=certfile,
            keyfile=keyfile,
            limit_connections=settings.max_connections,
            when_unread=app.extensions[UNREAD],
        )
    except (FixtureError, BadAssumption, BadSetting, CannotListen, Unguarded, BadCertificate) as problem:
        give_up(str(problem))
    say(banner(worlds.default, server.url, str(settings.fixture), settings.header_prefix))
    with log_on_standard_error() as log:
        if log is not None and not quiet:
            server.log = lambda line: log.write(_request_logged(line))
        server.run()


@main.command()
@click.argument("method")
@click.argument("path")
@click.option("--data", default="", help="The request's body, or @FILE to read it from one.")
@setting("--url", default="http://127.0.0.1:8053", show_default=True, help="The service's address.")
@click.option("--account", default="main", show_default=True, help="An account of the fixture.")
@setting("--fixture", default="default", show_default=True, help="Where the account is looked up.")
@setting("--header-prefix", default="X-SVC-", show_default=True, help="What the headers' names begin with.")
@click.option("--curl", "whole", is_flag=True, help="Print the whole command, not its options alone.")
def sign(
    method: str, path: str, data: str, url: str, account: str, fixture: str, header_prefix: str, whole: bool
) -> None:
    """Print what signs a v3 request: options for curl, or with --curl the command.

    PATH begins with a slash and has its query with it; a full URL will do as well.
    """
    import shlex

    from reseller_sandbox.banner import curl, curl_options

    target = path if "://" in path else f"{url.rstrip('/')}/{path.removeprefix('/')}"
    body = _body(data)
    found = _account(fixture, account)
    if whole:
        click.echo(curl(found, method.upper(), target, body, header_prefix))
    else:
        click.echo(shlex.join(curl_options(found, target, body, header_prefix)))


@main.command()
@click.argument("files", nargs=-1, required=True)
def check(files: tuple[str, ...]) -> None:
    """Check fixtures: every mistake with its place, or what each file holds. Exits with 1 after a mistake."""
    from reseller_sandbox import fixture as fixtures
    from reseller_sandbox.assembly import vocabulary

    failed, words = False, vocabulary()
    for file in files:
        try:
            state = fixtures.load(fixtures.find(file), words=words).state
        except fixtures.FixtureError as problem:
            failed = True
            click.echo(str(problem), err=True)
        else:
            accounts = len(state.accounts) - 1  # every world has the one of the other registrars
            held = (_count(len(state.zones), "zone"), _count(accounts, "account"))
            click.echo(f"{file}: good ({', '.join(held)}, {_count(len(state.orders), 'order')})")
    sys.exit(1 if failed else 0)


@main.command()
@click.option("--profile", "chosen", type=click.Choice(["documented", "observed"]), default="documented")
@click.option("--markdown", is_flag=True, help="Print the list as a Markdown table.")
def assumptions(chosen: str, markdown: bool) -> None:
    """List what the contract leaves open: each assumption, its value, what it takes, what it decides."""
    from reseller_sandbox.core.assumptions import catalogue, profile

    entries = catalogue(profile(chosen))
    if markdown:
        click.echo("| assumption | default | takes | what it decides |\n|---|---|---|---|")
    for entry in entries:
        value = entry["value"]
        shown = ",".join(value) if isinstance(value, tuple) else str(value).lower()
        name, takes, about = entry["name"], entry["takes"], entry["about"]
        if markdown:
            click.echo(f"| `{name}` | `{shown}` | {takes} | {about} |")
        else:
            click.echo(f"{name}={shown}\n    takes {takes}\n    {about}")


@main.command()
@click.option("--fixture", help="Whose lifecycle it is; without it, the usual one.")
def lifecycle(fixture: str | None) -> None:
    """Print the life of a name as a Mermaid state diagram."""
    from reseller_sandbox import fixture as fixtures
    from reseller_sandbox.diagram import mermaid

    try:
        state = None if fixture is None else fixtures.load(fixtures.find(fixture)).state
    except fixtures.FixtureError as problem:
        give_up(str(problem))
    click.echo(mermaid(state))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _settings(given: dict[str, Any]) -> Settings:
    from reseller_sandbox.settings import Settings
    from reseller_sandbox.worlds import Limits

    return Settings(
        fixture=given["fixture"],
        now=given["now"],
        frozen=given["frozen"],
        seed=given["seed"],
        profile=given["profile"],
        assume=dict(given["assume"]) | _token_headers(given["token_header"]),
        public_urls=given["public_url"],
        header_prefix=given["header_prefix"],
        max_body=given["max_body"],
        max_control_body=given["max_control_body"],
        control_token=given["control_token"],
        control_open=given["control_open"],
        max_connections=given["max_connections"],
        limits=Limits(
            worlds=given["max_worlds"],
            idle=given["world_idle"],
            requests=given["journal"],
            body=given["journal_body"],
            branches=given["max_branches"],
            events=given["max_events"],
            snapshots=given["max_snapshots"],
            faults=given["max_faults"],
        ),
    )


def _token_headers(names: tuple[str, ...]) -> dict[str, object]:
    return {"v2.token_headers": names} if names else {}


def _account(fixture: str, name: str) -> Any:
    from reseller_sandbox import fixture as fixtures

    try:
        accounts = fixtures.load(fixtures.find(fixture)).state.accounts
    except fixtures.FixtureError as problem:
        give_up(str(problem))
    by_name = {accounts[number].name: accounts[number] for number in sorted(accounts) if accounts[number].key}
    if name not in by_name:
        give_up(f"{fixture} has no account {name!r}; it has {', '.join(by_name)}")
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
        give_up(f"{data[1:]}: byte {problem.start} is not UTF-8, which JSON is written in")
    return body


def _request_logged(line: RequestLine) -> str:
    from reseller_sandbox.core.clock import real_now

    took = f"{line.duration_seconds * 1000:.1f} ms"
    target = line.target if len(line.target) <= 200 else line.target[:199] + "…"
    when = real_now().strftime("%H:%M:%S")
    return f"{when}  {line.status}  {line.method} {target}  {line.note}  {took}"


if __name__ == "__main__":
    main()
