"""The command line: ``reseller-sandbox serve``, ``request``, ``check``, …; the powers bring more."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import (
    AS_JSON,
    METHOD,
    REFUSED,
    UNREACHABLE,
    WHOLE,
    Command,
    Commands,
    Configured,
    Reaching,
    ReachingConfigured,
    give_up,
    say,
    say_json,
)
from reseller_sandbox.cli.lazy_groups import Listing, LoadedLater

if TYPE_CHECKING:
    from reseller_sandbox.remote import There


_FIRST = """\
A stateful sandbox for a domain-registration reseller API.

  reseller-sandbox serve                          start it, and leave it running
  reseller-sandbox request GET /v3/balance        in a second terminal: ask it something, signed
  reseller-sandbox journal follow                 watch each request as it comes
  reseller-sandbox clock advance P30D             let a month pass
  reseller-sandbox manual                         read on
  reseller-sandbox --help                         all commands"""


#: The commands as the help shows them; those of the powers, and whatever is named nowhere, stand together.
_SECTIONS = {
    "Begin": ("serve", "request", "sign", "wait"),
    "Look at a world of the server, and act on it": (),
    "Find mistakes": ("sweep", "explore", "coverage", "replay", "open", "calibrate"),
    "Files and documents": ("fixture", "check", "openapi", "lifecycle", "deploy", "manual", "completion"),
}
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=Commands, sections=_SECTIONS, invoke_without_command=True, context_settings=_CONTEXT)
@click.version_option(package_name="reseller-sandbox", message="%(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Serve a stateful sandbox for a domain-registration reseller API, and act on its worlds."""
    if context.invoked_subcommand is None:
        say(_FIRST)


#: Commands that have a module of their own, which is loaded for them and for the list of all commands.
_ELSEWHERE = {
    "calibrate": "reseller_sandbox.cli.tools",
    "capsule": "reseller_sandbox.cli.capture",
    "coverage": "reseller_sandbox.cli.coverage",
    "deploy": "reseller_sandbox.cli.deploy",
    "explore": "reseller_sandbox.cli.tools",
    "manual": "reseller_sandbox.cli.manual",
    "open": "reseller_sandbox.cli.recording",
    "openapi": "reseller_sandbox.cli.openapi",
    "replay": "reseller_sandbox.cli.recording",
    "sweep": "reseller_sandbox.cli.tools",
}
for _name, _module in _ELSEWHERE.items():
    main.add_command(LoadedLater(_name, _module))


@main.command(cls=Configured)
def serve(given: dict[str, Any]) -> None:
    """Serve the reseller API until Ctrl-C, SIGTERM, or the terminal is closed.

    Each option can also be a variable of the environment, or a key of [tool.reseller_sandbox] in a
    pyproject.toml.
    """
    from reseller_sandbox.server.collector import without_collections

    with without_collections():  # as in the package: of what is loaded nothing goes away
        from reseller_sandbox.cli import serve as serving
        from reseller_sandbox.server.server import CannotListen
        from reseller_sandbox.settings import BadSetting, ServerSettings
    try:
        serving.serve(ServerSettings(**given))
    except (BadSetting, CannotListen) as problem:
        give_up(str(problem))


@main.command(cls=ReachingConfigured, named=("fixture", "header_prefix"))
@click.argument("method", type=METHOD)
@click.argument("path", type=WHOLE)
@click.option("--data", type=WHOLE, default="", help="The request's body, or @FILE to read it from one.")
@click.option("--account", default="main", show_default=True, help="An account of the world.")
@click.option("--curl", "whole", is_flag=True, help="Print the whole command, not its options alone.")
def sign(
    method: str, path: str, data: str, account: str, whole: bool, server: There, given: dict[str, Any]
) -> None:
    """Print what signs a v3 request: options for curl, or with --curl the command.

    PATH begins with a slash and has its query with it; a full URL will do as well. The secret is that of the
    account of the server; where none answers, or with --fixture, that of the fixture.
    """
    from reseller_sandbox.cli.banner import curl, curl_options
    from reseller_sandbox.cli.send import is_v2
    from reseller_sandbox.settings import Settings

    prefix = given.get("header_prefix", Settings.header_prefix)
    target = path if "://" in path else f"{server.url}/{path.removeprefix('/')}"
    if is_v2(target):
        raise click.UsageError("v2.0 is not signed, it carries a token: use reseller-sandbox request")
    body = _body(data)
    found = _credentials(server, account, str(given.get("fixture", Settings.fixture)))
    authority = server.authority if target.startswith("https:") else None
    options = curl_options(found, target, body, prefix, authority)
    say(curl(found, method.upper(), target, body, prefix, authority) if whole else shlex.join(options))


@main.command(cls=ReachingConfigured, named=("header_prefix",))
@click.argument("method", type=METHOD)
@click.argument("path", type=WHOLE)
@click.argument("body", type=WHOLE, default="")
@click.option("--account", default="main", show_default=True, help="An account of the world.")
@click.option("-i", "--include", "with_head", is_flag=True, help="Print the head of the answer, too.")
@click.option("--json", "as_it_came", is_flag=True, help="Print the body as it came, for programs.")
def request(
    method: str,
    path: str,
    body: str,
    account: str,
    with_head: bool,
    as_it_came: bool,
    server: There,
    given: dict[str, Any],
) -> None:
    """Send a request as an account, signed (v3) or with its token (v2.0), and print the answer.

    BODY is the request's body, @FILE reads it from one. Ends with 1 after an answer of 400 or more.
    """
    from reseller_sandbox.cli.send import request as send
    from reseller_sandbox.cli.server_options import calling
    from reseller_sandbox.settings import Settings

    prefix = given.get("header_prefix", Settings.header_prefix)
    with calling(server):
        answer = send(server, method, path, _body(body), account, prefix)
    if with_head:
        say(f"{answer.head}\n")
    if as_it_came:
        say(answer.body, nl=False)
    elif answer.body:
        say(answer.text)
    if answer.broken:
        give_up(f"the answer is not whole: {answer.broken}", UNREACHABLE)
    sys.exit(REFUSED if answer.response.status >= 400 else 0)


@main.command(cls=Reaching)
@click.option(
    "--ready-file", type=click.Path(path_type=Path), help="The file that serve --ready-file writes."
)
@click.option("--timeout", type=click.FloatRange(0), default=30.0, show_default=True, help="In seconds.")
def wait(ready_file: Path | None, timeout: float, server: There) -> None:
    """Wait until a server answers, and print its address; end with 3 when none does in time."""
    from reseller_sandbox.cli.send import await_server, told_in
    from reseller_sandbox.remote import Unreachable

    try:
        say(await_server(lambda: told_in(ready_file) if ready_file is not None else server, timeout))
    except Unreachable as problem:
        give_up(str(problem), UNREACHABLE)


@main.command()
@click.argument("files", nargs=-1, required=True)
@AS_JSON
def check(files: tuple[str, ...], as_json: bool) -> None:
    """Check fixtures: every mistake with its place, or what each file holds. Exits with 1 after a mistake."""
    from reseller_sandbox import fixture as fixtures
    from reseller_sandbox.advice.words import plural
    from reseller_sandbox.app_factory import vocabulary

    told: list[dict[str, Any]] = []
    words = vocabulary()
    for file in files:
        try:
            state = fixtures.load(fixtures.find(file), words=words).state
        except fixtures.FixtureError as problem:
            told.append({"file": file, "problems": [one._asdict() for one in problem.problems]})
            if not as_json:
                click.echo(str(problem), err=True)
        else:
            accounts = len(state.accounts) - 1  # every world has the one of the other registrars
            held = {"zone": len(state.zones), "account": accounts, "order": len(state.orders)}
            told.append({"file": file, **{f"{one}s": held[one] for one in held}, "problems": []})
            if not as_json:
                click.echo(f"{file}: good ({', '.join(plural(held[one], one) for one in held)})")
    if as_json:
        say_json(told)
    sys.exit(REFUSED if any(one["problems"] for one in told) else 0)


fixture_format = Listing("fixture", help="Begin a fixture, and show the format of fixtures.")
main.add_command(fixture_format)


@fixture_format.command("new", cls=Command)
@click.argument("file", required=False, type=click.Path(path_type=Path))
def fixture_new(file: Path | None) -> None:
    """Write a small fixture to begin with to FILE, which is not there yet, or print it."""
    from reseller_sandbox import fixture as fixtures

    content = fixtures.find("example").read_text("utf-8")
    if file is None:
        click.echo(content, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(content)
    except OSError as problem:
        give_up(f"{file}: {problem.strerror}")
    click.echo(f"{file} is written; try: reseller-sandbox serve --watch --fixture {shlex.quote(str(file))}")


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
@click.option("--profile", "chosen", default="documented", help="documented, observed, or a file.")
@AS_JSON
def assumptions(chosen: str, as_json: bool) -> None:
    """List what the contract leaves open: each assumption, its value, what it takes, what it decides."""
    from reseller_sandbox.core.assumptions import catalogue, spelt
    from reseller_sandbox.settings import BadSetting, Settings, profile_of

    try:
        listed = catalogue(profile_of(str(Settings(profile=chosen).profile)))
    except BadSetting as problem:
        give_up(str(problem))
    if as_json:
        say_json(listed)
        return
    for entry in listed:
        name, takes, about = entry["name"], entry["takes"], entry["about"]
        click.echo(f"{name}={spelt(entry['value'])}\n    takes {takes}\n    {about}")


@main.command()
@click.option("--fixture", help="Whose lifecycle it is; without it, the usual one.")
def lifecycle(fixture: str | None) -> None:
    """Print the life of a name as a Mermaid state diagram."""
    from reseller_sandbox import fixture as fixtures
    from reseller_sandbox.manual.diagram import mermaid

    try:
        state = None if fixture is None else fixtures.load(fixtures.find(fixture)).state
    except fixtures.FixtureError as problem:
        give_up(str(problem))
    click.echo(mermaid(state))


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--install", is_flag=True, help="Put it where the shell finds it when it starts.")
def completion(shell: str, install: bool) -> None:
    """Print what completes commands and options in a shell, or install it."""
    from reseller_sandbox.cli import completion as completions

    if not install:
        click.echo(completions.script(shell, main))
        return
    for file in completions.install(shell, main):
        click.echo(f"{file} is written")
    click.echo(f"Begin a new {shell} to use it.")


def _credentials(server: There, account: str, fixture: str) -> Any:
    """Return what signs for an account: of the server, or of the fixture where that is all there is."""
    from reseller_sandbox.cli.send import credentials
    from reseller_sandbox.core.refusals import Refused
    from reseller_sandbox.remote import Unreachable

    source = click.get_current_context().get_parameter_source("fixture")
    if source is ParameterSource.COMMANDLINE:
        return _account(fixture, account)
    try:
        return credentials(server, account)
    except Refused as refused:
        give_up(refused.message, REFUSED)
    except Unreachable as problem:
        if server.world:
            give_up(str(problem), UNREACHABLE)
        return _account(fixture, account)
    finally:
        server.close()


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


if __name__ == "__main__":
    main()
