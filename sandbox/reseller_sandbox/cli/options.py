"""Options of commands that take settings, generated from the declarations of the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import click
from click import Context, HelpFormatter
from click import Parameter as ClickParameter
from click.shell_completion import CompletionItem

from reseller_sandbox.cli.base import Command
from reseller_sandbox.config_sources import from_environment_and_file, from_words, merged, option, variable
from reseller_sandbox.control.parameter_text import is_compound
from reseller_sandbox.registry.limits import Limits
from reseller_sandbox.settings import ServerSettings, ServiceSettings, Settings
from reseller_sandbox.values.kinds import MOST
from reseller_sandbox.values.parameters import Parameter, declared, documented_parameters

#: The help section of each class of settings, in the order of the help.
_ABOUT = {
    ServerSettings: "Server",
    Settings: "Default world",
    ServiceSettings: "All worlds",
    Limits: "Limits",
}


class Options:
    """Command-line options for the named settings, or for all settings."""

    def __init__(self, *names: str) -> None:
        self._settings = [
            setting for setting in declared(ServerSettings) if not names or setting.name in names
        ]

    @cached_property
    def click(self) -> list[click.Option]:
        """The options as objects of click."""
        return [_option(setting) for setting in self._settings]

    def read(self, words: dict[str, object]) -> dict[str, Any]:
        """Return the settings from the command line, the environment and a file.

        Remove the options of settings from ``words``. Raise ``BadSetting``.
        """
        popped = {setting.name: words.pop(setting.name) for setting in self._settings}
        values = {name: value for name, value in popped.items() if value not in (None, ())}
        return merged(from_environment_and_file(self._settings), from_words(self._settings, values))


class Configured(Command):
    """Command with an option for each setting in ``named``, or for all settings.

    Its function gets the values as ``settings``.
    """

    def __init__(self, *args: object, named: tuple[str, ...] = (), **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._options = Options(*named)
        self.params += self._options.click

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the command's own options to the help, then the settings by section."""
        settings = self._options.click
        others = [param for param in self.get_params(ctx) if param not in settings]
        sections = {"Options": [param for param in others if isinstance(param, click.Option)]} | {
            title: [option for option in settings if option.name in documented_parameters(typed)]
            for typed, title in _ABOUT.items()
        }
        for title, options in sections.items():
            if lines := [line for option in options if (line := option.get_help_record(ctx))]:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def invoke(self, ctx: Context) -> object:
        """Run the command with the settings from the command line, the environment and a file."""
        ctx.params["settings"] = self._options.read(ctx.params)
        return super().invoke(ctx)


def _option(setting: Parameter) -> click.Option:
    shape = setting.kind.shape
    extra = [f"env var: {variable(setting)}"]
    if setting.default not in (None, (), False):
        extra.append(f"default: {setting.default}")
    if "minimum" in shape:
        least, most = shape["minimum"], shape.get("maximum", MOST)
        extra.append(f"x>={least}" if most == MOST else f"{least}<=x<={most}")
    return parameter_option(setting, option(setting), setting.name, f"{setting.words}  [{'; '.join(extra)}]")


def parameter_option(parameter: Parameter, flag: str, key: str, about: str) -> click.Option:
    """Return the option ``flag`` for a parameter. The command's function gets the value as ``key``."""
    shape: Mapping[str, Any] = parameter.kind.shape
    switch = shape.get("type") == "boolean"
    words = (*shape.get("enum", ()), *shape.get("examples", ()))
    return click.Option(
        [f"{flag}/--no-{flag[2:]}" if switch else flag, key],
        default=None,
        multiple=is_compound(shape),
        required=parameter.required,
        metavar=None if switch else _metavar(shape),
        shell_complete=completing(words, files=shape.get("format") == "path"),
        help=about,
    )


def completing(
    words: Iterable[object], files: bool = False
) -> Callable[[Context, ClickParameter, str], list[CompletionItem]]:
    """Return a completion function that offers ``words``. If ``files`` is true, it also offers files."""

    def complete(_context: Context, _parameter: ClickParameter, incomplete: str) -> list[CompletionItem]:
        items = [CompletionItem(word) for word in map(str, words) if word.startswith(incomplete)]
        if files and not (incomplete and items):
            items.append(CompletionItem(incomplete, type="file"))
        return items

    return complete


PAIRS = "NAME=VALUE"
_METAVARS = {"integer": "INTEGER", "number": "SECONDS", "path": "PATH", "date-time": "INSTANT"}


def _metavar(shape: Mapping[str, Any]) -> str:
    """Return the placeholder for an option's value in the help, such as TEXT or NAME=VALUE."""
    forms = shape.get("oneOf", ())
    if any(_metavar(form).endswith(PAIRS) for form in forms[1:]) and "contentMediaType" not in forms[0]:
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
