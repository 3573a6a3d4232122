"""Commands that serve: ``serve`` for a fixture, and ``recording open`` for a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reseller_sandbox.cli.base import PATH, PROGRAM
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.settings import ServerSettings


@click.command(cls=Configured)
def serve(settings: dict[str, object]) -> None:
    """Start a sandbox server. It runs until Ctrl-C, SIGTERM, or the end of the terminal.

    You can also set each option as an environment variable, or as a key of [tool.reseller_sandbox] in a
    pyproject.toml.
    """
    _run(settings)


@click.command("open", cls=Configured)
@click.argument("file", type=PATH)
def recording_open(file: Path, settings: dict[str, object]) -> None:
    """Replay the recording FILE, and serve the recorded world. Then you can rewind this world.

    The world is in the state at the end of the recording. Its clock is frozen unless you give --no-frozen.
    You can use all settings of serve.
    """
    # Import late, because ``--help`` does not need Flask.
    from reseller_sandbox.sandbox import replay as replay_file

    replay = replay_file(file)
    if replay.difference is not None:
        click.echo(f"{PROGRAM}: the replay differs from the recording: {replay.difference}", err=True)
    if settings.get("frozen") is False:
        world = replay.sandbox.world
        world.change(clock=world.clock.run())
    _run({**replay.settings, **settings}, replay.sandbox.engine.dump(), str(file))


def _run(settings: dict[str, Any], *worlds: Any) -> None:
    # Import late, because ``--help`` does not need Flask.
    from reseller_sandbox.cli.running_server import run

    run(ServerSettings(**settings), *worlds)
