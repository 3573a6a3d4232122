"""The command that reports on the coverage of a running server, in lines, as JSON, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reseller_sandbox.cli.base import JSON, say, say_json, write
from reseller_sandbox.cli.server_options import OPTIONS, calling, door
from reseller_sandbox.reports.lines import lines
from reseller_sandbox.reports.report import Report
from reseller_sandbox.sandbox import Sandbox


def _run(as_json: bool, html: Path | None, operation: str | None, **words: Any) -> None:
    with calling(door(words)) as server:
        found = Sandbox.through(server).coverage.items(
            operation=operation, seen=True, everywhere=not server.world
        )
    report = Report({one.key: one.mark for one in found.items}, "requests", operation)
    if html is not None:
        from reseller_sandbox.reports.page import page

        write(html, page(report))
    if as_json:
        say_json(report.json())
    else:
        say("\n".join(lines(report)))


coverage = click.Command(
    "coverage",
    callback=_run,
    params=[
        click.Option(
            ["--html"],
            type=click.Path(dir_okay=False, path_type=Path),
            help="The file for a page to look at in a browser.",
        ),
        click.Option(["--operation"], help="A pattern of the operations to look at, such as v3.*."),
        *OPTIONS,
        JSON,
    ],
    help="Print how much of the contract a server has been asked for: in all its worlds, or in --world.",
)
