"""Command line: the list of all commands and their modules, and the commands of the resources."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from reseller_sandbox.cli.base import (
    PROGRAM,
    UNUSABLE,
    Command,
    exit_on_error,
    give_up,
    replace_missing_characters,
)
from reseller_sandbox.cli.lazy_groups import Listing, ResourceCommands, as_commands
from reseller_sandbox.control import SUMMARIES
from reseller_sandbox.control.hints import meant

_INTRODUCTION = """\
A stateful sandbox for a domain-registration reseller API.

  reseller-sandbox serve                          start a server, and leave it running
  reseller-sandbox request GET /v3/balance        in a second terminal: send a signed request
  reseller-sandbox journal follow                 print each request as it arrives
  reseller-sandbox clock advance P30D             advance the clock by a month
  reseller-sandbox manual                         read the manual
  reseller-sandbox --help                         all commands"""

#: The sections of the help, with the summary of each command. The empty section lists all other resources.
_SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Get started": {
        "serve": "Start a sandbox server. It runs until Ctrl-C, SIGTERM, or the end of the terminal.",
        "request": "Send a request with the credentials of an account, and print the response.",
        "sign": "Print the curl options that authenticate a request, or with --curl the whole command.",
        "wait": "Wait until a server answers, and print its URL. After the timeout, exit with 3.",
    },
    "Inspect and change a world of a server": {},
    "Find mistakes": {
        "sweep": "Run a program repeatedly, each time with a different fault, and report the outcomes.",
        "explore": "Run a program with several workers in every relevant order of their requests.",
        "coverage": SUMMARIES["coverage"],
        "replay": "Send the requests of the recording FILE again, and report whether all results are the "
        "same.",
        "recording": SUMMARIES["recording"],
        "calibrate": "Read recorded traffic, and find the assumptions that are true for the real service.",
    },
    "Files and documents": {
        "fixture": "Write or validate a fixture, and show the format of fixtures.",
        "openapi": "Print the OpenAPI document of an interface, for example to generate a client.",
        "lifecycle": "Print the lifecycle of a domain name as a Mermaid state diagram.",
        "deploy": "Print files that run a sandbox as a service, in containers or in CI.",
        "mcp": "Run an MCP server, through which a coding agent can use a sandbox.",
        "manual": "Print a page of the manual, or the list of its pages.",
        "completion": "Print or install the script that lets a shell complete commands and options.",
    },
}

#: The modules of the commands that are in a module with another name, and of the resources whose command does
#: more than a control operation. A module is loaded when its command runs.
_MODULES = {
    **dict.fromkeys(("request", "sign", "wait"), "requests"),
    **dict.fromkeys(("sweep", "explore"), "tools"),
    **dict.fromkeys(("assumptions", "fixture", "lifecycle"), "documents"),
    "coverage": "coverage",
    "replay": "recording",
}

#: Subcommands that are not control operations, by resource. Each subcommand maps to its module.
_SUBCOMMANDS = {"answers": {"record": "answers"}, "recording": {"export": "recording", "open": "serve"}}
#: Other words for commands that are not resources.
_SYNONYMS = {
    "serve": "start run server up",
    "request": "send call curl",
    "manual": "docs doc help man documentation",
    "wait": "ready",
    "mcp": "agent",
    "deploy": "docker compose kubernetes systemd nginx",
    "fixture": "fixtures seed init new validate",
    "openapi": "swagger schema spec",
    "recording": "record recordings",
}
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Commands(Command, Listing):
    """Group of all commands. It turns each expected error into a message and an exit status."""

    def suggested(self, word: str) -> Sequence[str]:
        """Return the commands that the unknown ``word`` can mean, with the operations of the resources."""
        named = [name for name, words in _SYNONYMS.items() if word.lower() in words.split()]
        return named or as_commands(meant(word, own=self.summaries()))

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the names of all commands, grouped by section title of the help."""
        named = {name for section in _SECTIONS.values() for name in section}
        rest = sorted(self.summaries().keys() - named)
        return {title: section or rest for title, section in _SECTIONS.items()}

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the user typed, and exit with its status."""
        _occupy_standard_descriptors()
        if sys.stdout is None:
            give_up("standard output is closed")
        replace_missing_characters()
        try:
            status = super().main(*args, **{**kwargs, "prog_name": PROGRAM, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as problem:
            problem.show()
            sys.exit(UNUSABLE)
        except click.ClickException as problem:
            give_up(_usage_error(problem))
        except click.Abort:
            give_up("interrupted", 130)
        except Exception as problem:
            exit_on_error(problem)
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Exit without a message if the reader of the output closed the pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as problem:  # Otherwise click would exit with status 1.
            exit_on_error(problem)

    def summaries(self) -> Mapping[str, str]:
        """Return the summaries of the resources and of the other commands."""
        commands = {name: summary for section in _SECTIONS.values() for name, summary in section.items()}
        return {**SUMMARIES, **commands}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command by name. The command of a resource has its operations as subcommands."""
        if cmd_name not in self.summaries():
            return None
        if cmd_name not in SUMMARIES:
            return _loaded(_MODULES.get(cmd_name, cmd_name), cmd_name)
        default = _loaded(_MODULES[cmd_name], cmd_name) if cmd_name in _MODULES else None
        subcommands = _SUBCOMMANDS.get(cmd_name, {}).items()
        more = {name: _loaded(module, f"{cmd_name}_{name}") for name, module in subcommands}
        return ResourceCommands(cmd_name, default, more)


def _loaded(module: str, name: str) -> click.Command:
    command: click.Command = getattr(import_module(f"reseller_sandbox.cli.{module}"), name)
    return command


@click.group(cls=Commands, invoke_without_command=True, context_settings=_CONTEXT)
@click.version_option(package_name="reseller-sandbox", message="%(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Run a stateful sandbox of a domain-registration reseller API, and control its worlds."""
    if context.invoked_subcommand is None:
        click.echo(_INTRODUCTION)


def _usage_error(problem: click.ClickException) -> str:
    """Return the message of a usage error in one line, with the command that shows the help."""
    message = " ".join(problem.format_message().rstrip(".").split())
    if isinstance(problem, click.NoSuchOption):
        near = f"; did you mean {problem.possibilities[0]}?" if problem.possibilities else ""
        if problem.ctx and problem.option_name[2:] in _arguments(problem.ctx):
            near = f"; {problem.option_name[2:]} is an argument, not an option"
        message = f"unknown option {problem.option_name}{near}"
    context = getattr(problem, "ctx", None)
    if context is None:
        return message
    see = " See" if message.endswith("?") else "; see"
    return f"{message[:1].lower()}{message[1:]}{see} {context.command_path} --help"


def _arguments(context: click.Context) -> set[str]:
    """Return the names of a command's arguments as its help shows them."""
    params = context.command.params
    return {getattr(param, "called", param.name) for param in params if isinstance(param, click.Argument)}


def _occupy_standard_descriptors() -> None:
    """Open each closed descriptor from 0 to 2, so that no socket can take its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


if __name__ == "__main__":
    main()
