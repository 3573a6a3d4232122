"""The reference page of the commands, with their ``--help`` texts."""

from __future__ import annotations

from collections.abc import Iterator

import click

from manual_reference.markdown import block
from reseller_sandbox.control.catalogue import RESOURCES

_NAME = "reseller-sandbox"
_WIDTH = 100


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    from reseller_sandbox.cli.main import main

    yield "# Commands"
    yield "Every command, with its `--help` text."
    yield (
        "Commands that act on a running server print tables for people and, with `--json`, JSON for "
        "programs. The exit status is 0 for success, 1 for a refusal, 2 for invalid arguments or settings, "
        "and 3 if no server answers. For a resource, such as `accounts`, this page has only a "
        "list of its commands. The page [Control operations](control-operations.md) describes these commands "
        "with their parameters."
    )
    settings = {**main.context_settings, "max_content_width": _WIDTH}
    context = click.Context(main, info_name=_NAME, terminal_width=_WIDTH, **settings)
    yield from _help_of(main, context)


def _help_of(command: click.Command, context: click.Context) -> Iterator[str]:
    with context:
        yield f"{'##' if context.command_path.count(' ') < 2 else '###'} {context.command_path}"
        yield block("text", command.get_help(context))
        if isinstance(command, click.Group) and command.name not in RESOURCES:
            for name in command.list_commands(context):
                own = command.get_command(context, name)
                if own is not None and not own.hidden:
                    inner = click.Context(own, parent=context, info_name=name)
                    yield from _help_of(own, inner)
