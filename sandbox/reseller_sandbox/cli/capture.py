"""The command ``capsule``: the past of a server's world, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reseller_sandbox.advice.words import plural
from reseller_sandbox.cli.base import EXITS, JSON, PROGRAM, give_up, say, say_json
from reseller_sandbox.cli.server_options import OPTIONS, calling, door
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.sandbox import Sandbox


def _write(output: Path, as_json: bool, **words: Any) -> None:
    with calling(door(words)) as server:
        try:
            made = Sandbox.through(server).capsule.write(output)
        except Unreachable:
            raise
        except OSError as problem:
            give_up(f"{output}: {problem.strerror}")
    if as_json:
        say_json({"file": str(output), "world": made.world, "requests": made.requests, "notes": made.notes})
        return
    say(f"{output} holds {plural(made.requests, 'request')} of the world {made.world}.")
    for note in made.notes:
        say(f"It goes on from what the world was then, where {note}.")
    say(f"Open it with: {PROGRAM} open {output}")


capsule = click.Command(
    "capsule",
    callback=_write,
    params=[
        click.Option(
            ["-o", "--output"],
            type=click.Path(dir_okay=False, path_type=Path),
            default=Path("world.capsule"),
            show_default=True,
            help="The file to write.",
        ),
        *OPTIONS,
        JSON,
    ],
    help="Write the past of a server's world to a file, which replay and open take.",
    epilog=EXITS,
)
