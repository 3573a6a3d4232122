"""Commands ``recording export`` and ``replay``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reseller_sandbox.cli.base import AS_JSON, FILE, PATH, REFUSED, Command, say_json
from reseller_sandbox.cli.operations import ResourceCommand
from reseller_sandbox.recording import open_command
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.values.text_checks import plural, printable

if TYPE_CHECKING:
    from reseller_sandbox.replaying import FirstDifference

#: How many characters are printed of a long value that differs, and how many of these stand before the
#: difference.
_SHOWN, _BEFORE = 300, 60


@click.command("export", cls=ResourceCommand)
@click.option(
    "-o", "--output", type=FILE, default="world.recording", show_default=True, help="Recording file to write."
)
def recording_export(output: Path, as_json: bool, server: HttpTransport) -> None:
    """Write the past of a world to a recording file, for ``replay`` and ``recording open``."""
    from reseller_sandbox.sandbox import Sandbox  # Import late, because ``--help`` does not need Flask.

    recording = Sandbox.through(server).recording.write(output)
    if as_json:
        values = {"world": recording.world, "requests": recording.requests, "notes": recording.notes}
        say_json({"file": str(output), **values})
        return
    click.echo(f"{output} contains {plural(recording.requests, 'request')} of the world {recording.world}.")
    for note in recording.notes:
        click.echo(f"The replay restarts from a saved state: {note}.")
    click.echo(f"Open it with: {open_command(output)}")


@click.command(cls=Command)
@click.argument("file", type=PATH)
@AS_JSON
def replay(file: Path, as_json: bool) -> None:
    """Send the requests of the recording FILE again, and report whether all results are the same.

    Results are compared byte for byte. If one differs, the command prints the recorded and the replayed value
    of the first difference, and the exit status is 1.
    """
    from reseller_sandbox.replaying import to_json  # Import late, because ``--help`` does not need Flask.
    from reseller_sandbox.sandbox import replay as replay_file

    result = replay_file(file)
    if as_json:
        say_json({"file": str(file), **to_json(result)})
    else:
        for request, reason in result.skipped.items():
            click.echo(f"{request} cannot be repeated: {reason}.")
        if result.difference is None:
            click.echo(
                f"identical to the byte: {plural(result.requests, 'request')}, written by version {result.by}"
            )
        else:
            _print_difference(result.difference)
    if not result.identical:
        raise click.exceptions.Exit(REFUSED)


def _print_difference(difference: FirstDifference) -> None:
    sides = [side if isinstance(side, str) else json.dumps(side) for side in difference.sides]
    position = next((at for at, pair in enumerate(zip(*sides, strict=False)) if pair[0] != pair[1]), 0)
    begin = position - _BEFORE if max(map(len, sides)) > _SHOWN and position > _BEFORE else 0
    click.echo(str(difference))
    for side, text in zip(("recorded", "replayed"), sides, strict=True):
        ellipsis = "…" if len(text) > begin + _SHOWN else ""
        click.echo(f"  {side}  {'…' if begin else ''}{printable(text[begin : begin + _SHOWN])}{ellipsis}")
