"""Command groups whose help lists all commands without loading their modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import click
from click.core import ParameterSource

from reseller_sandbox.cli.base import Command
from reseller_sandbox.control.hints import meant
from reseller_sandbox.values.parameters import docstring, unmarked
from reseller_sandbox.values.text_checks import close, did_you_mean

#: After an unknown command, a group with at most this many commands lists all of them.
_FEW = 12


class Listing(click.Group):
    """Command group whose help uses ``summaries``, so that a command is loaded only when it runs."""

    command_class = Command

    def suggested(self, word: str) -> Sequence[str]:
        """Return the commands that the unknown ``word`` can mean, best first."""
        return close(word, self.summaries())

    def summaries(self) -> Mapping[str, str]:
        """Return the help text of each command, by the command's name."""
        return {name: command.help or "" for name, command in self.commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return sorted(self.summaries())

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of the commands in each section of the help, by section title."""
        return {"Commands": sorted(self.summaries())}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands to the help, without loading their modules."""
        summaries = self.summaries()
        widest = max(map(len, summaries))
        room = formatter.width - 6 - widest
        for title, names in self.sections().items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), _brief(summaries[name], room)) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name. For an unknown name, suggest a similar one."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            names = self.list_commands(ctx)
            all_names = f"; the commands are: {', '.join(names)}" if len(names) <= _FEW else ""
            hint = did_you_mean(self.suggested(args[0])) or all_names
            ctx.fail(f"unknown command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


def _brief(summary: str, width: int) -> str:
    """Return the first sentence of a summary, or the part before its colon if the sentence is too long."""
    sentence = click.Command(None, help=unmarked(summary)).get_short_help_str(len(summary)).removesuffix(".")
    return sentence if len(sentence) <= width else re.split("[:;] ", sentence, maxsplit=1)[0]


def as_commands(operations: Iterable[str]) -> list[str]:
    """Return operations and resources as words of a command line: ``simulate set-prices``."""
    return [operation.replace(".", " ").replace("_", "-") for operation in operations]


class ResourceCommands(Listing):
    """Command group of a resource. Without a subcommand, it runs ``default`` or its only command.

    ``more`` are the subcommands that are not operations of the resource.
    """

    def __init__(self, name: str, default: click.Command | None, more: Mapping[str, click.Command]) -> None:
        # Import late, because the resources load more slowly than all other commands together.
        from reseller_sandbox.cli.operations import commands_of
        from reseller_sandbox.control.catalogue import RESOURCES

        commands = {**commands_of(RESOURCES[name]), **more}
        if default is None and len(commands) == 1:
            (default,) = commands.values()
        default_help = f"\n\nWithout a command: {default.help}" if default else ""
        # Omit the Python example, because the help is for the command line.
        about = unmarked(docstring(RESOURCES[name]).partition("\n\n>>>")[0])
        super().__init__(
            name,
            commands=commands,
            callback=self._run_default,
            params=default.params if default else None,
            invoke_without_command=default is not None,
            help=f"{about}{default_help}",
        )
        self._default = default

    def suggested(self, word: str) -> Sequence[str]:
        """Return the commands that the unknown ``word`` can mean, of this resource or another one."""
        assert self.name is not None
        known = [command.replace("-", "_") for command in self.commands]
        return as_commands(meant(word, self.name.replace("-", "_"), known))

    def _run_default(self, **_: object) -> None:
        context = click.get_current_context()
        if self._default and context.invoked_subcommand is None:
            self._default.invoke(context)
            return
        command = context.invoked_subcommand
        for param in self.params:
            if param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
                context.fail(f"{param.opts[0]} is an option of {command}. Write it after {command}")
