"""The commands that take capsules: replay one, and serve the world at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reseller_sandbox.cli.base import AS_JSON, PROGRAM, REFUSED, Command, Configured, give_up, say, say_json
from reseller_sandbox.core.texts import printable

if TYPE_CHECKING:
    from reseller_sandbox.replaying import FirstDifference, Replay
    from reseller_sandbox.sandbox import Sandbox

#: How much of a long side of a difference is shown, from a little before the place where they part.
_SHOWN, _BEFORE = 300, 60

_FILE = click.argument("file", type=click.Path(path_type=Path))


@click.command(cls=Command)
@_FILE
@AS_JSON
def replay(file: Path, as_json: bool) -> None:
    """Do all again that stands in the capsule FILE, and say whether it came out identical to the byte.

    Otherwise the first difference is told with both sides, and the replay ends with 1.
    """
    from reseller_sandbox.advice.words import plural
    from reseller_sandbox.replaying import told

    found = _replayed(file)
    if as_json:
        say_json({"file": str(file), **told(found)})
    else:
        for request, why in found.beyond.items():
            say(f"{request} cannot be done again: {why}.")
        if found.difference is None:
            say(f"identical to the byte: {plural(found.requests, 'request')}, written by version {found.by}")
        else:
            _show(found.difference)
    if not found.identical:
        raise click.exceptions.Exit(REFUSED)


def _show(difference: FirstDifference) -> None:
    sides = [one if isinstance(one, str) else json.dumps(one) for one in difference.sides]
    apart = next((at for at, pair in enumerate(zip(*sides, strict=False)) if pair[0] != pair[1]), 0)
    begin = apart - _BEFORE if max(map(len, sides)) > _SHOWN and apart > _BEFORE else 0
    say(str(difference))
    for side, text in zip(("recorded", "replayed"), sides, strict=True):
        more = "…" if len(text) > begin + _SHOWN else ""
        say(f"  {side}  {'…' if begin else ''}{printable(text[begin : begin + _SHOWN])}{more}")


@click.command(cls=Configured)
@_FILE
def open(file: Path, given: dict[str, Any]) -> None:  # noqa: A001 - a command is called as its module has it
    """Serve the world at the end of the capsule FILE, with its journal to step through and to rewind.

    The clock stands still unless --no-frozen is said; all settings of serve can be used.
    """
    from reseller_sandbox.cli import serve as serving
    from reseller_sandbox.server.server import CannotListen
    from reseller_sandbox.settings import BadSetting, ServerSettings

    found = _replayed(file)
    if found.difference is not None:
        click.echo(f"{PROGRAM}: this is not what it was when the capsule was written: ", err=True, nl=False)
        click.echo(str(found.difference), err=True)
    world = found.sandbox.world
    if given.get("frozen") is False:
        world.run()
    try:
        settings = ServerSettings(**{**found.settings, **given})
        serving.serve(settings, found.sandbox.engine.kept(), str(file))
    except (BadSetting, CannotListen) as problem:
        give_up(str(problem))


def _replayed(file: Path) -> Replay[Sandbox]:
    from reseller_sandbox.capsule.document import BadCapsule
    from reseller_sandbox.sandbox import replay as done_again

    try:
        return done_again(file)
    except BadCapsule as problem:
        give_up(printable(str(problem)))
    except OSError as problem:
        give_up(printable(f"{file}: {problem.strerror}"))
