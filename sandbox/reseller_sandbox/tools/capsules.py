"""The commands that take capsules: replay one, and serve the world at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from reseller_sandbox.console import PROGRAM, REFUSED, Command, Configured, give_up, printable, say

if TYPE_CHECKING:
    from reseller_sandbox.tools.replaying import FirstDifference, Replay

#: How much of a long side of a difference is shown, from a little before the place where they part.
_SHOWN, _BEFORE = 300, 60

_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")
_FILE = click.Argument(["file"], type=click.Path(path_type=Path))


def _replay(file: Path, as_json: bool) -> None:
    from reseller_sandbox.tools.replaying import counted, told

    found = _replayed(file)
    if as_json:
        say(json.dumps({"file": str(file), **told(found)}, ensure_ascii=False, indent=2))
    else:
        for request, why in found.beyond.items():
            say(f"{request} cannot be done again: {why}.")
        if found.difference is None:
            say(f"identical to the byte: {counted(found.requests)}, written by version {found.by}")
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


def _open(file: Path, given: dict[str, Any]) -> None:
    from reseller_sandbox import serving
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


def _replayed(file: Path) -> Replay:
    from reseller_sandbox.capsule.document import BadCapsule
    from reseller_sandbox.tools.replaying import replay as done_again

    try:
        return done_again(file)
    except BadCapsule as problem:
        _useless(str(problem))
    except OSError as problem:
        _useless(f"{file}: {problem.strerror}")


def _useless(problem: str) -> NoReturn:
    give_up(printable(problem))


replay = Command(
    "replay",
    callback=_replay,
    params=[_FILE, _JSON],
    help="Do all again that stands in the capsule FILE, and say that it came out identical to the byte, or "
    "the first difference with both sides. Ends with 1 after a difference.",
)

open = Configured(  # noqa: A001 - a command is called as its module has it
    "open",
    callback=_open,
    params=[_FILE],
    help="Serve the world at the end of the capsule FILE, with its journal to step through and to rewind. "
    "The clock stands still unless --no-frozen is said; all settings of serve can be used.",
)
