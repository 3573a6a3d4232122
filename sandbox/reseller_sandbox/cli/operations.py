"""Commands generated from the resources, such as ``reseller-sandbox clock advance P30D``.

Each command calls a running server. Its parameters and its help come from the declaration of the resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from reseller_sandbox.cli.base import JSON, as_json_text, say_json
from reseller_sandbox.cli.options import PAIRS, completing, parameter_option
from reseller_sandbox.cli.server_options import ServerCommand
from reseller_sandbox.control.parameter_text import alternatives, parse_text, types_of
from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.remote import HttpSubscription, HttpTransport
from reseller_sandbox.values.parameters import Parameter, parent_of, unmarked
from reseller_sandbox.values.text_checks import close, printable


def commands_of(resource: type[Resource]) -> Mapping[str, click.Command]:
    """Return a command for each operation of a resource, by the command's name."""
    return {_dashed(operation.name): _command(operation) for operation in resource.operations()}


def _command(operation: Operation) -> click.Command:
    def run(as_json: bool, server: HttpTransport, **words: object) -> None:
        values = _values(operation, words)
        if operation.sort == "stream":
            _follow(server.carry_out(operation, values), as_json)
        else:
            _print(server.answer(operation, values), as_json)

    return OperationCommand(
        operation,
        callback=run,
        params=[_parameter(parameter) for parameter in operation.parameters],
        help=unmarked(operation.description),
    )


class ResourceArgument(click.Argument):
    """Argument with a description in the help, and with completion of its values."""

    def __init__(self, parameter: Parameter, about: str) -> None:
        self.called = _dashed(parameter.name)
        word = parameter.name.upper()
        types = types_of(parameter.kind.shape)
        pairs = "object" in types and not _takes_document(parameter)
        self.shown = f"{word}|{PAIRS}…" if pairs and "string" in types else f"{PAIRS}…" if pairs else word
        choices = [choice for shape in alternatives(parameter.kind.shape) for choice in shape.get("enum", ())]
        self.about = f"{about} One of: {', '.join(choices)}." if choices else about
        super().__init__(
            [_key(parameter)],
            required=parameter.required,
            nargs=-1 if pairs else 1,
            metavar=self.shown if parameter.required else f"[{self.shown}]",
            shell_complete=completing(choices),
        )


class ResourceCommand(ServerCommand):
    """Command that acts on a world of a server. Its help describes the arguments. It has ``--json``."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(JSON)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of each argument to the help, above the options."""
        arguments = [param for param in self.get_params(ctx) if isinstance(param, ResourceArgument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(argument.shown, argument.about) for argument in arguments])
        super().format_options(ctx, formatter)


class OperationCommand(ResourceCommand):
    """Command for an operation. The error for an unknown option or a word too many suggests an option."""

    def __init__(self, operation: Operation, **kwargs: Any) -> None:
        super().__init__(_dashed(operation.name), **kwargs)
        self.context_settings = {"allow_extra_args": True}
        self._operation = operation

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command line. Refuse an unknown option or a word too many."""
        try:
            super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            if option := _option_for(self._operation, unknown.option_name.lstrip("-"), "VALUE"):
                unknown.possibilities = [option]  # type: ignore[misc]  # the constructor compares spellings
            raise
        if ctx.args and not ctx.resilient_parsing:
            ctx.fail(_too_many(self._operation, ctx.args))
        return ctx.args


def _too_many(operation: Operation, words: Sequence[str]) -> str:
    """Return the error for ``words`` that a command does not take. It suggests an option for NAME=VALUE."""
    pairs = ((name, value) for name, is_pair, value in (word.partition("=") for word in words) if is_pair)
    options = [option for name, value in pairs if (option := _option_for(operation, name, value))]
    all_options = [f"--{_dashed(each.name)}" for each in operation.parameters if each.place == "option"]
    listed = f"; the options are {', '.join(all_options)}" if all_options else ""
    return f"unexpected word {words[0]!r}{f'; write {options[0]}' if options else listed}"


def _option_for(operation: Operation, name: str, value: str) -> str:
    """Return the option that takes ``value`` under an unknown name, such as ``--match operation=v3.*``."""
    plain = name.replace("-", "_").lower()
    options = {each.name: each for each in operation.parameters if each.place == "option"}
    outer, _, inner = plain.partition(".")
    if inner and outer in options:
        return f"--{_dashed(outer)} {inner}={value}"
    if parent := parent_of(plain, options.values()):
        inside = f"--{_dashed(parent.name)} {plain}={value}"
        return f"--{_dashed(plain)} {value} or {inside}" if plain in options else inside
    named = [each for each in options.values() if plain in (each.name, *each.synonyms)]
    for option in named or [options[known] for known in close(plain, options)]:
        is_switch = option.kind.shape.get("type") == "boolean"
        return f"--{_dashed(option.name)}{'' if is_switch else f' {value}'}"
    return ""


def _parameter(parameter: Parameter) -> click.Parameter:
    about = unmarked(parameter.words)
    if _takes_document(parameter):
        about = f"{about} @FILE reads it from a file."
    if parameter.place != "option":
        return ResourceArgument(parameter, about)
    return parameter_option(parameter, f"--{_dashed(parameter.name)}", _key(parameter), about)


def _key(parameter: Parameter) -> str:
    """Return click's name for a parameter. The prefix prevents a clash with options such as ``--url``."""
    return f"value_{parameter.name}"


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _values(operation: Operation, words: dict[str, object]) -> dict[str, object]:
    given = {parameter: words[_key(parameter)] for parameter in operation.parameters}
    for parameter, word in given.items():
        if parameter.place != "option" and isinstance(word, tuple) and len(word) > 1 and "=" not in word[0]:
            raise click.UsageError(_too_many(operation, word[1:]))
    return {
        parameter.name: _value(parameter, word) for parameter, word in given.items() if word not in (None, ())
    }


def _value(parameter: Parameter, word: object) -> object:
    """Convert command-line words to a parameter's value: JSON, a list, or an object from NAME=VALUE pairs."""
    if isinstance(word, str):
        if not _takes_document(parameter):
            return parse_text(parameter.kind.shape, word)
        if word.startswith("@"):
            return _file(parameter, word[1:])
        if Path(word).suffix in (".yaml", ".yml", ".json"):
            raise click.UsageError(f"{parameter.name} must be a document, not {word!r}; write @{word}")
        return parse_text(parameter.kind.shape, word)
    if not isinstance(word, tuple):
        return word
    shapes = list(alternatives(parameter.kind.shape))
    listed = next((shape["items"] for shape in shapes if "items" in shape), None)
    if listed is None and (pairs := [_pairs(shapes, part) for part in word]) and all(pairs):
        return {name: value for pair in pairs for name, value in pair.items()}
    if listed is None and len(word) > 1:
        raise click.UsageError(
            f"{parameter.name} must be one word or several {PAIRS} pairs, not: {' '.join(word)}"
        )
    shape = parameter.kind.shape
    values = [_pairs(alternatives(listed or {}), part) or parse_text(shape, part) for part in word]
    return values[0] if len(values) == 1 else values


def _pairs(shapes: Iterable[Mapping[str, Any]], word: str) -> dict[str, Any]:
    """Return the object for ``a=1,b=2`` if one of the JSON ``shapes`` has these keys, else {}."""
    shapes = list(shapes)
    pairs = [pair.partition("=") for pair in word.split(",")]
    if not all(mark for _, mark, _ in pairs):
        pairs = [word.partition("=")]
    for shape in shapes:
        rest = shape.get("additionalProperties", {})
        keys = {name: shape.get("properties", {}).get(name, rest) for name, mark, _ in pairs if mark}
        if shape.get("type") == "object" and keys and False not in keys.values():
            return {name: parse_text(keys[name], value) for name, _, value in pairs}
    free = types_of({"oneOf": [shape for shape in shapes if "enum" not in shape]})
    if free == {"object"} and all(mark for _, mark, _ in pairs):
        return {name: value for name, _, value in pairs}  # The server refuses unknown names.
    return {}


def _takes_document(parameter: Parameter) -> bool:
    """Whether a parameter takes a document, which can also be given as ``@FILE``."""
    return any("contentMediaType" in shape for shape in alternatives(parameter.kind.shape))


def _file(parameter: Parameter, path: str) -> str:
    try:
        if "contentEncoding" in parameter.kind.shape:
            return str(parameter.kind.write(Path(path).read_bytes()))
        return Path(path).read_text("utf-8")
    except UnicodeError:
        raise click.UsageError(f"{path} cannot be read: it is not UTF-8") from None


def _follow(stream: HttpSubscription, as_json: bool) -> None:
    """Print each record on a separate line until the server or Ctrl-C ends the stream."""
    missed = 0
    with stream, suppress(KeyboardInterrupt, StopIteration):
        while True:
            click.echo(as_json_text(stream.data(), indent=None) if as_json else printable(next(stream).line))
            if stream.missed > missed:
                missed = stream.missed
                click.echo(f"Records missed because they arrived too fast: {missed}", err=True)


def _print(answer: Any, as_json: bool) -> None:
    if as_json:
        say_json(answer)
    elif document := answer.get("document"):
        click.echo(document.removesuffix("\n"))
    else:
        from reseller_sandbox.reports.tables import show  # Import late: JSON does not need rich.

        show(answer)
