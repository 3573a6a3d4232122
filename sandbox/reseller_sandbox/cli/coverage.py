"""Command ``coverage``: reports the coverage of a running server as text, JSON or HTML."""

from __future__ import annotations

from pathlib import Path

import click

from reseller_sandbox.cli.base import FILE, say_json
from reseller_sandbox.cli.operations import ResourceCommand
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.reports.coverage import Report, lines, page
from reseller_sandbox.sandbox import Sandbox


@click.command(cls=ResourceCommand)
@click.option("--html", type=FILE, help="File to write the report to, as an HTML page.")
@click.option("--operation", help="Report only operations that match this pattern, such as *renew*.")
def coverage(as_json: bool, html: Path | None, operation: str | None, server: HttpTransport) -> None:
    """Print the parts of the contract that requests to a server have used.

    The report covers all worlds of the server, or only --world.
    """
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
