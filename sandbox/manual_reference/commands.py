"""The page of the commands, with the output of ``--help``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from manual_reference.markdown import block
from manual_reference.pages import Resources

_NAME = "reseller-sandbox"
_WIDTH = 100


def page(resources: Resources) -> Iterator[str]:
    """Yield the parts of the page."""
    from reseller_sandbox.cli.main import main

    yield "# Commands"
    yield "Every command, with its `--help` text."
    yield (
        "Commands that act on a running server print tables for people and, with `--json`, JSON for "
        "programs. They end with 1 when they are refused, 2 for words that they do not take, and 3 when no "
        "server answers. Of those that follow from the resources, only the lists stand here: "
        "[Resources](control.md) tells each with its parameters."
    )
    context = click.Context(main, info_name=_NAME, terminal_width=_WIDTH, max_content_width=_WIDTH)
    yield from _told(main, context, resources)


def _told(command: click.Command, context: click.Context, resources: Resources) -> Iterator[str]:
    with context:
        yield f"{'##' if context.command_path.count(' ') < 2 else '###'} {context.command_path}"
        yield block("text", command.get_help(context))
        if isinstance(command, click.Group) and command.name not in resources:
            for name in command.list_commands(context):
                own = command.get_command(context, name)
                if own is not None and not own.hidden:
                    inner = click.Context(own, parent=context, info_name=name)
                    yield from _told(own, inner, resources)
