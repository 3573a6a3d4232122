"""Commands that read and print documents: fixtures, assumptions and the lifecycle of a name."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from reseller_sandbox import fixture as fixtures
from reseller_sandbox.cli.base import AS_JSON, PATH, REFUSED, Command, say_json
from reseller_sandbox.cli.lazy_groups import Listing
from reseller_sandbox.fixture.format import example, json_schema
from reseller_sandbox.fixture.generate import SPREADS, generate
from reseller_sandbox.manual.diagram import mermaid
from reseller_sandbox.registry.assumptions import catalogue, spelt
from reseller_sandbox.settings import profile_of
from reseller_sandbox.values.kinds import Zone, choice, listed
from reseller_sandbox.values.parameters import Parameter, kind_of, read
from reseller_sandbox.values.text_checks import complaint, plural

fixture = Listing("fixture", help="Write or validate a fixture, and show the format of fixtures.")


@fixture.command("validate", cls=Command)
@click.argument("files", nargs=-1, required=True)
@AS_JSON
def fixture_validate(files: tuple[str, ...], as_json: bool) -> None:
    """Check fixtures, and print every mistake with its place in the file.

    For a valid fixture, the command prints the numbers of zones, accounts and orders. If a fixture has a
    mistake, the exit status is 1.
    """
    # Import late, because other commands do not need Flask.
    from reseller_sandbox.app_factory import vocabulary

    results: list[dict[str, Any]] = []
    words = vocabulary()
    for file in files:
        try:
            state = fixtures.load(fixtures.find(file), words=words).state
        except fixtures.FixtureError as problem:
            results.append({"file": file, "problems": [mistake._asdict() for mistake in problem.problems]})
            if not as_json:
                click.echo(str(problem), err=True)
        else:
            accounts = len(state.accounts) - 1  # Every world also has one account for all other registrars.
            counts = {"zone": len(state.zones), "account": accounts, "order": len(state.orders)}
            results.append({"file": file, **{f"{noun}s": counts[noun] for noun in counts}, "problems": []})
            if not as_json:
                click.echo(f"{file}: valid ({', '.join(plural(counts[noun], noun) for noun in counts)})")
    if as_json:
        say_json(results)
    sys.exit(REFUSED if any(result["problems"] for result in results) else 0)


@fixture.command("new", cls=Command)
@click.argument("file", required=False, type=PATH)
def fixture_new(file: Path | None) -> None:
    """Write a small example fixture to the new file FILE, or print it."""
    _write(file, fixtures.find("example").read_text("utf-8"))


def _write(file: Path | None, content: str) -> None:
    """Write ``content`` to the new file ``file``, or print it if ``file`` is None."""
    if file is None:
        click.echo(content, nl=False)
        return
    with file.open("x", encoding="utf-8") as new:
        new.write(content)
    click.echo(f"Wrote {file}. Try: reseller-sandbox serve --watch --fixture {shlex.quote(str(file))}")


@fixture.command("generate", cls=Command)
@click.argument("file", required=False, type=PATH)
@click.option(
    "--names",
    default=1000,
    show_default=True,
    type=click.IntRange(1, 200_000),
    help="Number of domain names.",
)
@click.option(
    "--seed",
    default="sandbox",
    show_default=True,
    help="Seed of the generated values. The same seed gives the same bytes.",
)
@click.option(
    "--zones", default="com,com.ua", show_default=True, help="Zones of the names, separated by commas."
)
@click.option(
    "--spread",
    default=",".join(SPREADS),
    show_default=True,
    help="Properties in which the names differ, separated by commas.",
)
def fixture_generate(file: Path | None, names: int, seed: str, zones: str, spread: str) -> None:
    """Write a large fixture to the new file FILE, or print it.

    Its names are in all lifecycle stages and have different ages. Some are premium, internationalised, or in
    a transfer.
    """
    known = [
        Parameter("zones", listed(kind_of(Zone)), True),
        Parameter("spread", listed(choice(*SPREADS)), True),
    ]
    values, wrong = read(known, {"zones": zones.split(","), "spread": spread.split(",")})
    if wrong:
        raise click.UsageError(complaint(wrong))
    _write(file, generate(names, seed, list(dict.fromkeys(values["zones"])), values["spread"]))


@fixture.command("schema", cls=Command)
def fixture_schema() -> None:
    """Print the JSON Schema of fixtures, which editors use to complete and check a fixture."""
    say_json(json_schema())


@fixture.command("example", cls=Command)
def fixture_example() -> None:
    """Print an example fixture that has every section and every key, with its meaning."""
    click.echo(example(), nl=False)


@click.command(cls=Command)
@click.option(
    "--profile",
    "chosen",
    default="documented",
    show_default=True,
    help="Profile whose values to list: documented, observed, or the path of a file.",
)
@AS_JSON
def assumptions(chosen: str, as_json: bool) -> None:
    """List every assumption with its value, its accepted values and its description."""
    listed = catalogue(profile_of(chosen))
    if as_json:
        say_json(listed)
        return
    for entry in listed:
        name, takes, about = entry["name"], entry["takes"], entry["about"]
        click.echo(f"{name}={spelt(entry['value'])}\n    takes {takes}\n    {about}")


@click.command(cls=Command)
@click.option("--fixture", "path", help="Fixture whose rules the lifecycle follows.  [default: default]")
def lifecycle(path: str | None) -> None:
    """Print the lifecycle of a domain name as a Mermaid state diagram."""
    click.echo(mermaid(None if path is None else fixtures.load(fixtures.find(path)).state))
