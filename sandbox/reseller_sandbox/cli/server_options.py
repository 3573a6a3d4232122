"""Options that select the server of a command, its transport, and the exit status without a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import REFUSED, UNREACHABLE, UNUSABLE, Command, give_up
from reseller_sandbox.cli.options import Configured, Options
from reseller_sandbox.refusals import CONTROL_TOKEN_MISSING, CONTROL_TOKEN_WRONG, INVALID_PARAMETER, Refused
from reseller_sandbox.remote import AUTHORITY, URL, WORLD, HttpTransport, Unreachable
from reseller_sandbox.settings import DEFAULT_URL, BadSetting, ServerSettings

#: The settings of the server that clients need to connect.
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
        help="File of the certificate authority to trust, for a server with TLS.",
    ),
)

_TOKEN_RULES = (CONTROL_TOKEN_MISSING, CONTROL_TOKEN_WRONG)


class ServerCommand(Command):
    """Command that calls a server. Its function gets the transport as ``server``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += OPTIONS

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command with the transport to the server."""
        ctx.params["server"] = _transport(ctx.params)
        return super().invoke(ctx)


class ConfiguredServerCommand(ServerCommand, Configured):
    """Command that calls a server and takes settings."""


def _transport(options: dict[str, Any]) -> HttpTransport:
    """Return the transport to the server that the options in ``options`` select. Remove these options.

    End the program if an option is invalid.
    """
    url, world, ca = (options.pop(name) for name in ("url", "world", "ca"))
    if url is not None and options["port"] is not None:
        if click.get_current_context().get_parameter_source("url") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--url and --port cannot be combined. Give one of them")
        url = None  # because the command line takes precedence over the environment
    server = _SERVER.read(options)
    url = url or f"http://127.0.0.1:{server.get('port', ServerSettings.port)}"
    try:
        return HttpTransport(url, world or "", server.get("control_token"), authority=ca)
    except BadSetting as problem:
        give_up(str(problem))


@contextmanager
def calling(server: HttpTransport) -> Iterator[HttpTransport]:
    """End the program with one line and an exit status if ``server`` refuses or does not answer."""
    try:
        yield server
    except Refused as refused:
        remedy = " Use --control-token TOKEN." if refused.rule in _TOKEN_RULES else ""
        give_up(f"{refused.message}{remedy}", UNUSABLE if refused.rule is INVALID_PARAMETER else REFUSED)
    except Unreachable as problem:
        give_up(str(problem), UNREACHABLE)
    finally:
        server.close()
