"""The four interfaces to a world, as tests call through them: Python, HTTP, a remote sandbox, the command."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from reseller_sandbox import Refused, Sandbox, connect
from tests.clients import JSON, InProcess, Socket, encoded
from tests.command import run
from tests.documented import ID, document

#: The outcome of a call: ("ok", the result), or (the rule's code, (message, remedy)).
Came = tuple[str, Any]
#: Calls an operation, such as ``clock.advance``, with parameters by name.
Through = Callable[[str, dict[str, Any]], Came]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation, with its JSON schema."""

    name: str
    shape: Any
    in_path: bool
    required: bool


@dataclass(frozen=True)
class Operation:
    """An operation of the control interface that Python has too, as the OpenAPI document describes it."""

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    streams: bool

    def __str__(self) -> str:
        return self.id

    def in_python(self, sandbox: Sandbox) -> Any:
        """Return the method of a sandbox."""
        resource, _, verb = self.id.partition(".")
        return getattr(getattr(sandbox, resource), verb)


def _operations() -> Iterator[Operation]:
    content = document("control").content
    for path, rows in content["paths"].items():
        for method, row in rows.items():
            name = row[ID].removeprefix("control.")
            if "." not in name or name.startswith(("page.", "manual.", "session.", "reader.")):
                continue
            told = [
                Parameter(one["name"], one["schema"], one["in"] == "path", one.get("required", False))
                for one in row["parameters"]
            ]
            if "requestBody" in row:
                shape = resolved(row["requestBody"]["content"]["application/json"]["schema"])
                required = shape.get("required", ())
                told += [
                    Parameter(one, part, False, one in required)
                    for one, part in shape.get("properties", {}).items()
                ]
            streams = "text/event-stream" in str(row["responses"])
            yield Operation(name, method.upper(), path, tuple(told), streams)


def resolved(shape: Any) -> Any:
    """Return a schema of the control interface's document, without a reference at its top."""
    while "$ref" in shape:
        shape = document("control").content["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
    return shape


#: Every operation, by its name.
BY_NAME = {one.id: one for one in _operations()}
OPERATIONS = tuple(BY_NAME.values())


def operation(name: str) -> Operation:
    """Return the operation of that name; raise KeyError."""
    return BY_NAME[name]


def in_python(sandbox: Sandbox) -> Through:
    """Return what calls the methods of a sandbox, of this process or remote."""

    def call(name: str, given: dict[str, Any]) -> Came:
        rest = dict(given)
        segments = [rest.pop(one.name) for one in operation(name).parameters if one.in_path]
        try:
            answer = operation(name).in_python(sandbox)(*segments, **rest)
        except Refused as refused:
            return refused.code, (refused.message, refused.remedy)
        if operation(name).streams:
            answer.close()
            return "ok", None
        return "ok", answer

    return call


def over_http(socket: Socket | InProcess) -> Through:
    """Return what sends requests, each written by hand."""

    def call(name: str, given: dict[str, Any]) -> Came:
        one, told = operation(name), dict(given)
        path = re.sub(r"\{(\w+)\}", lambda part: quote(str(told.pop(part[1], "")), safe=""), one.path)
        if one.method == "GET":
            words = {key: _word(value) for key, value in told.items()}
            answer = socket("GET", f"{path}?{urlencode(words)}" if words else path, [], b"")
        else:
            answer = socket(one.method, path, [JSON], encoded(told))
        if answer.status >= 400:
            return str(answer.error), (answer.message, answer.json["remedy"])
        return "ok", None if one.streams else answer.json

    return call


def by_command(sandbox: Sandbox, url: str) -> Through:
    """Return what runs commands; a stream would not end. A refusal has the error output for its message."""

    def call(name: str, given: dict[str, Any]) -> Came:
        signature = inspect.signature(operation(name).in_python(sandbox)).parameters
        placed = [key.removesuffix("_") for key, one in signature.items() if "POSITIONAL" in one.kind.name]
        arguments = [_word(given[key]) for key in placed if key in given]
        options = [word for key, value in given.items() if key not in placed for word in _option(key, value)]
        done = run(*name.replace("_", "-").split("."), *options, "--url", url, "--json", "--", *arguments)
        if done.status == 0:
            return "ok", json.loads(done.out)
        return {1: "refused", 2: "invalid_parameter"}[done.status], done.err

    return call


def _option(key: str, value: Any) -> list[str]:
    name = key.replace("_", "-")
    if isinstance(value, bool) and key != "value":
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", _word(value)]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Doors:
    """A sandbox for each interface, all of them alike as long as each gets the same calls."""

    def __init__(self, sandboxes: dict[str, Sandbox], through: dict[str, Through]) -> None:
        self.sandboxes = sandboxes
        self.through = through

    def start_over(self) -> None:
        """Take each world back to how it began, and delete the other worlds."""
        for sandbox in self.sandboxes.values():
            for world in list(sandbox.worlds):
                if world.name != "default":
                    sandbox.worlds.remove(world.name)
            sandbox.reset(original=True)


@contextmanager
def doors_to(fixture: Path) -> Iterator[Doors]:
    """Open the four interfaces, those to servers on real ports."""
    sandboxes = {name: Sandbox(fixture) for name in ("python", "http", "remote", "command")}
    with ExitStack() as stack:
        urls = {
            name: stack.enter_context(sandbox.serve()).url
            for name, sandbox in sandboxes.items()
            if name != "python"
        }
        socket = Socket(urls["http"])
        stack.callback(socket.close)
        yield Doors(
            sandboxes,
            {
                "python": in_python(sandboxes["python"]),
                "http": over_http(socket),
                "remote": in_python(stack.enter_context(connect(urls["remote"]))),
                "command": by_command(sandboxes["command"], urls["command"]),
            },
        )


def measured(came: Any) -> Any:
    """Return a result of built-in types, without what is measured and so never the same twice."""
    if hasattr(came, "__struct_fields__"):
        shown = [name for name in came.__struct_fields__ if not name.startswith("_")]
        came = {"type": type(came).__name__, **{name: getattr(came, name) for name in shown}}
    if isinstance(came, Mapping):
        times = ("duration_ms", "idle_seconds")
        return {name: 0 if name in times else measured(value) for name, value in came.items()}
    return [measured(one) for one in came] if isinstance(came, list | tuple) else came
