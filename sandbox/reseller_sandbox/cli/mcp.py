"""Command ``mcp``, which lets a coding agent use a sandbox."""

from __future__ import annotations

from contextlib import ExitStack, closing
from decimal import Decimal
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import give_up
from reseller_sandbox.cli.server_options import ConfiguredServerCommand
from reseller_sandbox.remote import HttpTransport
from reseller_sandbox.values import money
from reseller_sandbox.values.extras import needs
from reseller_sandbox.values.text_checks import nearest


def _amount(context: click.Context, parameter: click.Parameter, word: str | None) -> Decimal | None:
    try:
        return None if word is None else money.read_price(word, most=None)
    except ValueError:
        raise click.BadParameter(f"{word!r} is not an amount such as 100.00", context, parameter) from None


@click.command(cls=ConfiguredServerCommand, named=("fixture", "profile"))
@click.option("--account", default="main", show_default=True, help="Account that sends the requests.")
@click.option(
    "--tools",
    metavar="GROUPS",
    default="core",
    show_default=True,
    help="Groups of operations that are tools, with commas between them: core, all, an interface, "
    "or a resource such as clock. General tools find and call the other operations.",
)
@click.option("--read-only", is_flag=True, help="Offer only tools that change nothing.")
@click.option(
    "--spend-limit",
    metavar="AMOUNT",
    callback=_amount,
    help="Refuse a call if the total spending of all accounts would exceed this sum.",
)
def mcp(
    account: str,
    tools: str,
    read_only: bool,
    spend_limit: Decimal | None,
    server: HttpTransport,
    settings: dict[str, Any],
) -> None:
    """Run an MCP server, through which a coding agent can use a sandbox.

    The server speaks the Model Context Protocol on standard input and output. The operations that an agent
    needs first are tools, and general tools reach every other operation. Without --url and --port, the agent
    gets its own sandbox, which loads --fixture and ends with the command.
    """
    try:
        from reseller_sandbox.tools import mcp_server
    except ModuleNotFoundError:
        give_up(needs("reseller-sandbox mcp", "mcp"))
    groups, known = tools.replace(" ", "").split(","), mcp_server.group_names()
    for group in groups:
        if group not in known:
            raise click.BadParameter(
                f"{group!r} is not a group{nearest(group, known)}. The groups are {', '.join(known)}",
                param_hint="--tools",
            )
    from reseller_sandbox.sandbox import Sandbox  # Import late, because ``--help`` does not need Flask.

    context = click.get_current_context()
    own = all(context.get_parameter_source(name) is ParameterSource.DEFAULT for name in ("url", "port"))
    with ExitStack() as stack:
        transport = HttpTransport(stack.enter_context(closing(Sandbox(**settings))).url) if own else server
        agent = mcp_server.Agent(
            Sandbox.through(transport), account, groups=groups, reads_only=read_only, limit=spend_limit
        )
        mcp_server.serve(agent, transport.world_url)
