"""Groups of commands: listed by what is told of them, and loaded when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from reseller_sandbox.core.signatures import docstring, unmarked

#: Of how many commands all are told to who names another.
_FEW = 12


class Listing(click.Group):
    """Commands that are listed by what is told of them; ``get_command`` loads one when it is asked for."""

    def told(self) -> Mapping[str, str]:
        """Return the help of each command, by its name."""
        return {name: one.help or "" for name, one in self.commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return sorted(self.told())

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of all commands, by the titles under which a help shows them."""
        return {"Commands": sorted(self.told())}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading one."""
        told = self.told()
        widest = max(map(len, told))
        for title, names in self.sections().items():
            rows = [(name.ljust(widest), _brief(told[name], formatter.width - 6 - widest)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; refuse another word with the nearest that there is."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from reseller_sandbox.core.texts import nearest

            there = self.told()
            near = nearest(args[0], there) or (
                f"; there are: {', '.join(sorted(there))}" if len(there) <= _FEW else ""
            )
            ctx.fail(f"there is no command {args[0]!r}{near}")
        return super().resolve_command(ctx, args)


def _brief(told: str, width: int) -> str:
    """Return the first sentence of what is told of a command; of a long one what comes before a colon."""
    sentence = click.Command(None, help=unmarked(told)).get_short_help_str(len(told)).removesuffix(".")
    return sentence if len(sentence) <= width else re.split("[:;] ", sentence, maxsplit=1)[0]


class LoadedLater(click.Command):
    """A command that is loaded when it is asked for: what ``module`` has under its name."""

    def __init__(self, name: str, module: str) -> None:
        super().__init__(name)
        self.module = module

    def load(self) -> click.Command:
        """Return the command itself."""
        assert self.name
        found: click.Command = getattr(import_module(self.module), self.name)
        return found


class PowerCommands(Listing):
    """The commands of a power. Without one of them, ``alone`` runs, or the only one that there is."""

    def __init__(self, name: str, alone: click.Command | None = None) -> None:
        from reseller_sandbox.cli.operations import commands_of
        from reseller_sandbox.powers.catalogue import POWERS

        commands = dict(commands_of(POWERS[name]))
        if alone is None and len(commands) == 1:
            (alone,) = commands.values()
        by_itself = f"\n\nBy itself: {alone.help}" if alone else ""
        # An example in Python is for those who write that.
        about = unmarked(docstring(POWERS[name]).partition("\n\n>>>")[0])
        super().__init__(
            name,
            commands=commands,
            callback=self._by_itself,
            params=alone.params if alone else None,
            invoke_without_command=alone is not None,
            help=f"{about}{by_itself}",
        )
        self._alone = alone

    def _by_itself(self, **words: Any) -> None:
        context = click.get_current_context()
        if self._alone and context.invoked_subcommand is None:
            context.invoke(self._alone, **words)
            return
        for one in self.params:
            if one.name and context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE:
                context.fail(f"{one.opts[0]} stands after {context.invoked_subcommand}, whose option it is")
