"""Options of commands that take settings, generated from the declarations of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import click
from click import Context, HelpFormatter
from click import Parameter as ClickParameter
from click.shell_completion import CompletionItem

from reseller_sandbox.cli.base import Command, give_up
from reseller_sandbox.config_sources import around, from_words, option, over, variable
from reseller_sandbox.control.parameter_text import is_compound
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.settings import BadSetting, ServerSettings, ServiceSettings, Settings, help_of
from reseller_sandbox.values.kinds import MOST
from reseller_sandbox.values.parameters import Parameter, declared, documented_parameters

#: The section title of each declaration of settings, in the order of the help.
_ABOUT = {
    ServerSettings: "The server",
    Settings: "The world that it begins with",
    ServiceSettings: "All its worlds",
    Limits: "How much there may be",
}

#: Maximum number of settings that a command lists among its other options.
_FEW = 8


class Options:
    """Options for the named settings, or for all settings."""

    def __init__(self, *names: str) -> None:
        self._known = [one for one in declared(ServerSettings) if not names or one.name in names]

    @cached_property
    def click(self) -> list[click.Option]:
        """Options of click."""
        lines = help_of(ServerSettings)
        return [_option(one, lines[one.name]) for one in self._known]

    def format(self, params: Iterable[ClickParameter], context: Context, formatter: HelpFormatter) -> None:
        """Write the help of the other options among ``params``, then these options by section."""
        others = [one for one in params if isinstance(one, click.Option) and one not in self.click]
        told = {"Options": others} | {
            title: [one for one in self.click if one.name in documented_parameters(typed)]
            for typed, title in _ABOUT.items()
        }
        for title, options in told.items():
            if lines := [line for one in options if (line := one.get_help_record(context))]:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def settled(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return the settings from ``words``, the environment and a file. Remove them from ``words``.

        End the program if a setting is invalid.
        """
        given = {one.name: words.pop(one.name) for one in self._known}
        told = {name: value for name, value in given.items() if value not in (None, ())}
        try:
            return over(around(self._known), from_words(self._known, told))
        except BadSetting as problem:
            give_up(str(problem))


class Configured(Command):
    """Command that takes all settings, or those ``named``. Its function gets them as ``given``."""

    def __init__(self, *args: Any, named: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._options = Options(*named)
        self.params += self._options.click

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the options, with the settings in sections if there are many."""
        if len(self._options.click) > _FEW:
            self._options.format(self.get_params(ctx), ctx, formatter)
        else:
            super().format_options(ctx, formatter)

    def invoke(self, ctx: Context) -> Any:
        """Run the command with the settings from the command line, the environment and a file."""
        ctx.params["given"] = self._options.settled(ctx.params)
        return super().invoke(ctx)


def _option(one: Parameter, about: str) -> click.Option:
    shape = one.kind.shape
    extra = [f"env var: {variable(one)}"]
    if one.default not in (None, (), False):
        extra.append(f"default: {one.default}")
    if "minimum" in shape:
        most = shape.get("maximum", MOST)
        extra.append(f"from {shape['minimum']}" if most == MOST else f"from {shape['minimum']} to {most}")
    return flagged(one, option(one), one.name, f"{about}  [{'; '.join(extra)}]")


def flagged(one: Parameter, flag: str, key: str, about: str) -> click.Option:
    """Return the option for a parameter, a switch or a value. The command gets it as ``key``."""
    shape: Mapping[str, Any] = one.kind.shape
    switch = shape.get("type") == "boolean"
    words = (*shape.get("enum", ()), *shape.get("examples", ()))
    return click.Option(
        [f"{flag}/--no-{flag[2:]}" if switch else flag, key],
        default=None,
        multiple=is_compound(shape),
        required=one.required,
        metavar=None if switch else _metavar(shape),
        shell_complete=completing(words, files=shape.get("format") == "path"),
        help=about,
    )


Completing = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def completing(words: Iterable[Any], files: bool = False) -> Completing:
    """Return a function that completes ``words``, and with ``files`` also lets the shell complete files."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        found = [CompletionItem(word) for word in map(str, words) if word.startswith(begun)]
        return [*found, CompletionItem(begun, type="file")] if files and not (begun and found) else found

    return complete


PAIRS = "NAME=VALUE"
_METAVARS = {"integer": "INTEGER", "number": "SECONDS", "path": "PATH", "date-time": "INSTANT"}


def _metavar(shape: Mapping[str, Any]) -> str:
    """Return the placeholder for the value of an option, with pairs as an alternative form."""
    forms = shape.get("oneOf", ())
    if any(_metavar(one).endswith(PAIRS) for one in forms[1:]) and "contentMediaType" not in forms[0]:
        return f"{_metavar(forms[0])}|{PAIRS}"
    if "items" in shape:
        return _metavar(shape["items"])
    if len(shape.get("enum", ())) == 1:
        return str(shape["enum"][0])
    if len(shape.get("enum", ())) in range(1, 9):
        return f"[{'|'.join(map(str, shape['enum']))}]"
    if shape.get("type") == "object":
        return PAIRS
    return _METAVARS.get(shape.get("format") or shape.get("type", ""), "TEXT")
