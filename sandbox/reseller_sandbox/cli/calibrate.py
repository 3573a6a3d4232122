"""Command ``calibrate``, which reads transcripts of a real service."""

from __future__ import annotations

from pathlib import Path

import click

from reseller_sandbox.cli.base import AS_JSON, Command, give_up, say, say_json, write
from reseller_sandbox.fixture import FixtureError
from reseller_sandbox.tools.calibrate import calibrated, report
from reseller_sandbox.tools.calibrate.transcripts import UnusableTranscript, read_transcript

_EXITS = "Ends with 0 when all is explained, 1 when something is not, 2 when a file cannot be used."


@click.command(cls=Command, epilog=_EXITS)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--write", "target", metavar="FILE", type=click.Path(path_type=Path), help="Write a profile there."
)
@click.option(
    "--fixture", metavar="PATH", help="What there was at first: zones and prices, accounts and names."
)
@AS_JSON
@click.pass_context
def calibrate(
    context: click.Context, files: tuple[Path, ...], target: Path | None, fixture: str | None, as_json: bool
) -> None:
    """Determine assumptions that the contract leaves open from transcripts of a real service.

    Each of FILES is a HAR file, as browsers and proxies write it, or what journal find --json prints. Nothing
    is sent anywhere. The profile that --write makes is for --profile. With a fixture of what the
    recording began with, more can be told: what depends on prices, on terms, and on what happened before.
    """
    try:
        read = [read_transcript(file) for file in files]
        found = calibrated((one for transcript in read for one in transcript.exchanges), fixture=fixture)
    except (UnusableTranscript, FixtureError) as problem:
        give_up(str(problem))
    passed_over = [one for transcript in read for one in transcript.passed_over]
    if not found.exchanges:
        give_up("the files tell of no request of the reseller API that was answered")
    if target is not None:
        write(target, report.profile(found, len(files)))
    if as_json:
        say_json(report.as_json(found, passed_over))
    else:
        say("\n".join(report.lines(found, passed_over)))
    context.exit(1 if found.deviations else 0)
