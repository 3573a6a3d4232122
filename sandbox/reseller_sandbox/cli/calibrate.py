"""Command ``calibrate``, which finds assumptions in recorded traffic of a real service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from reseller_sandbox.cli.base import AS_JSON, PATH, give_up, say_json
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.server.secrecy import secrecy_of
from reseller_sandbox.settings import profile_of
from reseller_sandbox.tools.calibrate import calibrated, drift, report
from reseller_sandbox.tools.calibrate.transcripts import read_transcript

_EXITS = (
    "Exit status: 0 if all answers are explained, 1 if not or if the service differs from --against, 2 if a "
    "file is not usable."
)


@click.command(cls=Configured, named=("secret_names",), epilog=_EXITS)
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True, path_type=Path))
@click.option(
    "--write", "target", metavar="FILE", type=PATH, help="Profile file to write. Pass it to serve --profile."
)
@click.option(
    "--fixture",
    metavar="PATH",
    help="Fixture of the service's state before the first request: zones, prices, accounts and names.",
)
@click.option(
    "--host", default="", metavar="NAME", help="Host of the service. Requests to other hosts are skipped."
)
@click.option(
    "--against",
    metavar="PROFILE",
    help="Profile name or file to compare with. Report only how the service differs from this profile.",
)
@AS_JSON
@click.pass_context
def calibrate(
    context: click.Context,
    files: tuple[Path, ...],
    target: Path | None,
    fixture: str | None,
    host: str,
    against: str | None,
    as_json: bool,
    settings: Mapping[str, Any],
) -> None:
    """Read recorded traffic, and find the assumptions that are true for the real service.

    Each of FILES is a HAR file of a browser or proxy (also compressed), a VCR cassette, a Postman collection
    with saved responses, a recorded WireMock mapping, the output of curl -v, or a recording or the output of
    journal list --json of a sandbox. - is standard input. The command sends no requests. With --fixture, it
    also finds assumptions that depend on prices, on terms and on earlier requests.
    """
    secrecy = secrecy_of(settings.get("secret_names", ()))
    profile = None if against is None else profile_of(against)
    transcripts = [read_transcript(file, host) for file in files]
    exchanges = [exchange for transcript in transcripts for exchange in transcript.exchanges]
    answered = sum(not exchange.lost for exchange in exchanges)
    if not answered:
        give_up("the files do not have an answered request of the reseller API")
    if profile is not None:
        drifts = drift.drift(exchanges, profile, secrecy, fixture)
        if as_json:
            say_json({"exchanges": answered, "against": against, "differences": to_builtins(drifts)})
        else:
            click.echo("\n".join(drift.lines(drifts, answered, str(against))))
        context.exit(1 if drifts else 0)
    calibration = calibrated(exchanges, fixture=fixture)
    skipped = [entry for transcript in transcripts for entry in transcript.skipped]
    if target is not None:
        target.write_text(report.profile(calibration, len(files)), "utf-8")
    if as_json:
        say_json(report.as_json(calibration, skipped, secrecy))
    else:
        click.echo("\n".join(report.lines(calibration, skipped, secrecy)))
    context.exit(1 if calibration.deviations else 0)
