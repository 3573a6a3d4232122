"""Options that select the server for a command, such as ``--url`` and ``--world``."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import Command
from reseller_sandbox.cli.options import Configured, Options
from reseller_sandbox.remote import AUTHORITY, URL, WORLD, HttpTransport
from reseller_sandbox.settings import DEFAULT_URL, ServerSettings

#: Settings of the server that a client needs to connect.
_SERVER = Options("port", "control_token")

#: The options of every command that calls a server.
OPTIONS = (
    click.Option(
        ["--url"], envvar=URL, show_envvar=True, help=f"URL of the server, by default {DEFAULT_URL}."
    ),
    click.Option(
        ["--port"],
        metavar="INTEGER",
        help="Port of the server on this machine, instead of --url.  [env var: RESELLER_SANDBOX_PORT]",
    ),
    click.Option(
        ["--world"], envvar=WORLD, show_envvar=True, help="Name of the world. If not set: the default world."
    ),
    _SERVER.click[-1],
    click.Option(
        ["--ca"],
        metavar="PATH",
        envvar=AUTHORITY,
        show_envvar=True,
        help="Certificate authority file to trust, for an https URL.",
    ),
)


class ServerCommand(Command):
    """Command that calls a server. Its function gets the transport as ``server``."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.params += OPTIONS

    def invoke(self, ctx: click.Context) -> object:
        """Run the command with a transport to the selected server."""
        with closing(_transport(ctx.params)) as server:
            ctx.params["server"] = server
            return super().invoke(ctx)


class ConfiguredServerCommand(ServerCommand, Configured):
    """Command that calls a server and takes settings."""


def _transport(options: dict[str, Any]) -> HttpTransport:
    """Remove the server options from ``options``, and return a transport to the selected server.

    Raise ``UsageError`` or ``BadSetting`` for an invalid option.
    """
    url, world, ca = ((options.pop(name) or "").strip() for name in ("url", "world", "ca"))
    if url and options["port"] is not None:
        if click.get_current_context().get_parameter_source("url") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--url and --port cannot be combined. Give one of them")
        url = ""  # ``--port`` takes precedence over the variable for ``url``.
    server = _SERVER.read(options)
    url = url or f"http://127.0.0.1:{server.get('port', ServerSettings.port)}"
    return HttpTransport(url, world, server.get("control_token"), authority=ca or None)
