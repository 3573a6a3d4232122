"""The command line: ``reseller-sandbox serve``, ``sign``, ``check``, ``assumptions``, ``lifecycle``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reseller_sandbox.console import Command, Commands, Configured, give_up, log_on_standard_error, say
from reseller_sandbox.deploy.commands import deploy

if TYPE_CHECKING:
    from reseller_sandbox.server.requestlog import RequestLine


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="reseller-sandbox", message="%(version)s")
def main() -> None:
    """A stateful sandbox for a domain-registration reseller API."""


@main.command(cls=Configured)
def serve(given: dict[str, Any]) -> None:
    """Serve the reseller API until SIGTERM or Ctrl-C.

    Each option can also be a variable of the environment, or a key of [tool.reseller_sandbox] in a
    pyproject.toml.
    """
    from reseller_sandbox.assembly import assemble, open_worlds, server_of
    from reseller_sandbox.banner import banner
    from reseller_sandbox.server.collector import sparing_survivors
    from reseller_sandbox.server.server import CannotListen
    from reseller_sandbox.settings import BadSetting, ServerSettings

    try:
        settings = ServerSettings(**given)
        worlds = open_worlds(settings, frozen=False)
        server = server_of(
            assemble(worlds, settings),
            settings,
            settings.host,
            settings.port,
            settings.certfile,
            settings.keyfile,
        )
    except (BadSetting, CannotListen) as problem:
        give_up(str(problem))
    say(banner(worlds.default, server.url, str(settings.fixture), settings.header_prefix))
    with log_on_standard_error() as log, sparing_survivors():
        if log is not None and not settings.quiet:
            server.log = lambda line: log.write(_request_logged(line))
        server.run()


@main.command(cls=Configured, named=("fixture", "header_prefix"))
@click.argument("method")
@click.argument("path")
@click.option("--data", default="", help="The request's body, or @FILE to read it from one.")
@click.option(
    "--url",
    envvar="RESELLER_SANDBOX_URL",
    show_envvar=True,
    default="http://127.0.0.1:8053",
    show_default=True,
    help="The service's address.",
)
@click.option("--account", default="main", show_default=True, help="An account of the fixture.")
@click.option("--curl", "whole", is_flag=True, help="Print the whole command, not its options alone.")
def sign(
    method: str, path: str, data: str, url: str, account: str, whole: bool, given: dict[str, Any]
) -> None:
    """Print what signs a v3 request: options for curl, or with --curl the command.

    PATH begins with a slash and has its query with it; a full URL will do as well.
    """
    import shlex

    from reseller_sandbox.banner import curl, curl_options
    from reseller_sandbox.settings import Settings

    settings = Settings(**given)
    target = path if "://" in path else f"{url.rstrip('/')}/{path.removeprefix('/')}"
    body = _body(data)
    found = _account(str(settings.fixture), account)
    if whole:
        click.echo(curl(found, method.upper(), target, body, settings.header_prefix))
    else:
        click.echo(shlex.join(curl_options(found, target, body, settings.header_prefix)))


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


@main.group("fixture", help="Show the format of fixtures.")
def fixture_format() -> None:
    """Show the format of fixtures."""


@fixture_format.command("schema", cls=Command)
def fixture_schema() -> None:
    """Print its JSON Schema, by which editors complete and check a fixture."""
    from reseller_sandbox.fixture.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2))


@fixture_format.command("example", cls=Command)
def fixture_example() -> None:
    """Print an example of every section, with each key there is and what it says."""
    from reseller_sandbox.fixture.schema import example

    click.echo(example(), nl=False)


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


@main.command("manual")
@click.argument("page", required=False)
@click.option("--write", type=click.Path(file_okay=False, path_type=Path), help="A folder for all pages.")
def manual_page(page: str | None, write: Path | None) -> None:
    """Print a page of the manual, or the list of its pages."""
    from reseller_sandbox.manual import command

    if write is not None:
        command.written(write)
    elif page is None:
        command.listed()
    else:
        command.printed(page)


main.add_command(deploy)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
