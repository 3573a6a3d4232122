"""Command that reports the coverage of a running server as lines, as JSON or as a page."""

from __future__ import annotations

from pathlib import Path

import click

from reseller_sandbox.cli.base import say_json
from reseller_sandbox.cli.operations import ResourceCommand
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.reports.coverage import Report, lines, page
from reseller_sandbox.sandbox import Sandbox


@click.command(cls=ResourceCommand)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write a report to, as a page for a browser.",
)
@click.option("--operation", help="Pattern of the operations to report, such as *renew*.")
def coverage(as_json: bool, html: Path | None, operation: str | None, server: HttpTransport) -> None:
    """Print the coverage of the contract by the requests to a server, in all its worlds or in --world."""
    coverage_items = Sandbox.through(server).coverage.items(
        operation=operation, seen=True, everywhere=not server.world
    )
    report = Report.of({item.key: item.mark for item in coverage_items.items}, "requests", operation)
    if html is not None:
        html.write_text(page(report), "utf-8")
    if as_json:
        say_json(report.json())
    else:
        click.echo("\n".join(lines(report)))
