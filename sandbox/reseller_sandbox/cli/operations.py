"""Commands generated from the resources, such as ``reseller-sandbox clock advance P30D``.

Each command calls a running server. Its parameters and its help come from the declaration of the resource.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from reseller_sandbox.cli.base import JSON, say, say_json
from reseller_sandbox.cli.options import PAIRS, completing, flagged
from reseller_sandbox.cli.server_options import Reaching, calling
from reseller_sandbox.control.parameter_text import alternatives, parse_text, types_of
from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.remote import HttpSubscription, HttpTransport
from reseller_sandbox.values.parameters import Parameter, unmarked
from reseller_sandbox.values.text_checks import printable


def commands_of(resource: type[Resource]) -> Mapping[str, click.Command]:
    """Return the commands of a resource, by their names."""
    return {_spelt(one.name): _command(one) for one in resource.operations()}


def _command(operation: Operation) -> click.Command:
    def run(as_json: bool, server: HttpTransport, **words: Any) -> None:
        with calling(server):
            if operation.sort == "stream":
                _follow(server.carry_out(operation, _given(operation, words)), as_json)
            else:
                _print(server.answer(operation, _given(operation, words)), as_json)

    return ResourceCommand(
        _spelt(operation.name),
        callback=run,
        params=[_parameter(one, _about(operation, one)) for one in operation.parameters],
        help=unmarked(operation.description),
    )


class ResourceArgument(click.Argument):
    """Argument with a description in the help, and with completion of its values."""

    def __init__(self, one: Parameter, about: str, pairs: bool) -> None:
        self.called = _spelt(one.name)
        word = one.name.upper()
        named = any(shape.get("type") == "string" for shape in alternatives(one.kind.shape))
        self.shown = f"{word}|{PAIRS}…" if pairs and named else f"{PAIRS}…" if pairs else word
        choices = [choice for shape in alternatives(one.kind.shape) for choice in shape.get("enum", ())]
        self.about = f"{about} One of: {', '.join(choices)}." if choices else about
        super().__init__(
            [_key(one)],
            required=one.required,
            nargs=-1 if pairs else 1,
            metavar=self.shown if one.required else f"[{self.shown}]",
            shell_complete=completing(choices),
        )


class ResourceCommand(Reaching):
    """Command for a world of a server, with help for its arguments and an option for JSON."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(JSON)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of each argument above the options."""
        arguments = [param for param in self.get_params(ctx) if isinstance(param, ResourceArgument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(argument.shown, argument.about) for argument in arguments])
        super().format_options(ctx, formatter)


def _parameter(one: Parameter, about: str) -> click.Parameter:
    if one.place != "option":
        pairs = not _is_document(one) and any(
            shape.get("type") == "object" for shape in alternatives(one.kind.shape)
        )
        return ResourceArgument(one, about, pairs)
    return flagged(one, f"--{_spelt(one.name)}", _key(one), about)


def _about(operation: Operation, one: Parameter) -> str:
    about = unmarked(operation.descriptions.get(one.name, ""))
    return f"{about} @FILE reads it from a file." if _is_document(one) else about


def _key(one: Parameter) -> str:
    """Return click's name for a parameter, which differs from those of the server's options."""
    return f"told_{one.name}"


def _spelt(name: str) -> str:
    return name.replace("_", "-")


def _given(operation: Operation, words: dict[str, Any]) -> dict[str, Any]:
    told = ((one, words[_key(one)]) for one in operation.parameters)
    return {one.name: _value(one, word) for one, word in told if word not in (None, ())}


def _value(one: Parameter, word: Any) -> Any:
    """Return the value of a parameter's words: JSON, a list of values, or an object of NAME=VALUE pairs."""
    if isinstance(word, str) and word.startswith("@") and _is_document(one):
        return _file(one, word[1:])
    if not isinstance(word, tuple):
        return parse_text(one.kind.shape, word) if isinstance(word, str) else word
    shapes = list(alternatives(one.kind.shape))
    listed = next((shape["items"] for shape in shapes if "items" in shape), None)
    if listed is None and (pairs := [_pairs(shapes, part) for part in word]) and all(pairs):
        return {name: value for told in pairs for name, value in told.items()}
    if listed is None and len(word) > 1:
        raise click.UsageError(f"{one.name} is one word, or {PAIRS} pairs alone, not: {' '.join(word)}")
    values = [_pairs(alternatives(listed or {}), part) or parse_text(one.kind.shape, part) for part in word]
    return values[0] if len(values) == 1 else values


def _pairs(shapes: Iterable[Mapping[str, Any]], word: str) -> dict[str, Any]:
    """Return the object for NAME=VALUE,NAME=VALUE if one of ``shapes`` has these keys, or {}."""
    shapes = list(shapes)
    pairs = [pair.partition("=") for pair in word.split(",")]
    if not all(mark for _, mark, _ in pairs):
        pairs = [word.partition("=")]
    for shape in shapes:
        rest = shape.get("additionalProperties", {})
        keys = {name: shape.get("properties", {}).get(name, rest) for name, mark, _ in pairs if mark}
        if shape.get("type") == "object" and keys and False not in keys.values():
            return {name: parse_text(keys[name], value) for name, _, value in pairs}
    free = types_of({"oneOf": [one for one in shapes if "enum" not in one]})
    if free == {"object"} and all(mark for _, mark, _ in pairs):
        return {name: value for name, _, value in pairs}  # refused, with the name that is not known
    return {}


def _is_document(one: Parameter) -> bool:
    """Whether a parameter takes a document, which can also be given as ``@FILE``."""
    return any("contentMediaType" in shape for shape in alternatives(one.kind.shape))


def _file(one: Parameter, path: str) -> str:
    try:
        if "contentEncoding" in one.kind.shape:
            return str(one.kind.write(Path(path).read_bytes()))
        return Path(path).read_text("utf-8")
    except OSError as problem:
        raise click.UsageError(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeError:
        raise click.UsageError(f"{path} cannot be read: it is not UTF-8") from None


def _follow(following: HttpSubscription, as_json: bool) -> None:
    """Print each record on a separate line until the server or Ctrl-C ends the stream."""
    missed = 0
    with following, suppress(KeyboardInterrupt, StopIteration):
        while True:
            say(
                json.dumps(following.data(), ensure_ascii=False)
                if as_json
                else printable(next(following).line)
            )
            if following.missed > missed:
                missed = following.missed
                click.echo(f"{missed} were missed so far: they came too fast", err=True)


def _print(answer: Any, as_json: bool) -> None:
    if as_json:
        say_json(answer)
    else:
        from reseller_sandbox.reports.tables import show  # rich is for people alone

        show(answer)
