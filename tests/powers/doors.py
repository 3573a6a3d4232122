"""The four doors to a world, as tests call through them: Python, HTTP, a remote sandbox, the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch
from urllib.parse import quote, urlencode

from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.following import Following
from reseller_sandbox.powers.here import Here
from reseller_sandbox.powers.power import Door, Operation
from reseller_sandbox.remote import FollowedThere, There
from reseller_sandbox.web.records import dumped
from reseller_sandbox.web.routes import method_of, path_of
from tests.clients import JSON, InProcess, Socket, encoded

Came = tuple[str, Any]

#: Everything that can be asked of a power.
OPERATIONS = tuple(one for power in POWERS.values() for one in power.operations())


class Through(Protocol):
    """A door: what a call comes to, as ("ok", JSON) or (the rule's code, (message, remedy))."""

    def __call__(self, name: str, given: dict[str, Any]) -> Came: ...


def operation(name: str) -> Operation:
    """The operation of that name."""
    power, _, verb = name.partition(".")
    return next(one for one in POWERS[power].operations() if one.name == verb)


def in_python(door: Door) -> Through:
    """The method of the power: of this process, or of a remote sandbox."""

    def call(name: str, given: dict[str, Any]) -> Came:
        power, _, verb = name.partition(".")
        method = getattr(POWERS[power](door), verb)
        places = {one.name: one.place for one in operation(name).parameters}
        by_place = [given[one] for one in places if places[one] == "segment" and one in given]
        by_name = {one: value for one, value in given.items() if places.get(one) != "segment"}
        try:
            answer = method(*by_place, **by_name)
            if isinstance(answer, Following):  # what it yields is looked at elsewhere
                answer.close()
                return "ok", None
            return "ok", json.loads(json.dumps(dumped(answer)))
        except Refused as refused:
            return refused.code, (refused.message, refused.remedy)

    return call


def over_http(socket: Socket | InProcess) -> Through:
    """A request written by hand."""

    def call(name: str, given: dict[str, Any]) -> Came:
        one = operation(name)
        told = dict(given)
        path = path_of(one)
        for parameter in one.parameters:
            if parameter.place == "segment":
                path = path.replace(
                    f"{{{parameter.name}}}", quote(str(told.pop(parameter.name, "")), safe="")
                )
        method = method_of(one)
        if method == "GET":
            words = {
                key: value if isinstance(value, str) else json.dumps(value) for key, value in told.items()
            }
            target = f"{path}?{urlencode(words)}" if words else path
            if one.sort == "stream" and isinstance(socket, Socket) and _streams(socket, target):
                return "ok", None
            answer = socket("GET", target, [], b"")
        else:
            answer = socket(method, path, [JSON], encoded(told))
        if answer.status < 400:
            return "ok", answer.json
        return str(answer.error), (answer.message, answer.json["remedy"])

    return call


def _streams(socket: Socket, target: str) -> bool:
    """Whether a stream begins there, on a connection of its own."""
    connection = HTTPConnection(socket.connection.host, socket.connection.port, timeout=60)
    connection.request("GET", target)
    streams = connection.getresponse().getheader("content-type") == "text/event-stream"
    connection.close()
    return streams


def by_command(url: str) -> Through:
    """The command, with what it prints for programs."""

    def call(name: str, given: dict[str, Any]) -> Came:
        one = operation(name)
        known = {parameter.name: parameter for parameter in one.parameters}
        arguments, options = [], []
        for key, value in given.items():
            parameter = known.get(key)
            if parameter is not None and parameter.place != "option":
                arguments.append(_word(value))
            else:
                options += _option(key, value, parameter)
        spelt = name.replace("_", "-").split(".")
        words = [*spelt, *options, "--url", url, "--json", "--", *arguments]
        with patch.object(FollowedThere, "data", side_effect=StopIteration):  # which else would not end
            done = CliRunner().invoke(main, words)
        if done.exit_code == 0 and one.sort == "stream":
            return "ok", None
        if done.exit_code == 0:
            return "ok", json.loads(done.stdout)
        return ("invalid_parameter", done.stderr) if done.exit_code == 2 else ("refused", done.stderr)

    return call


def _option(key: str, value: Any, parameter: Parameter | None) -> list[str]:
    name = key.replace("_", "-")
    if isinstance(value, bool) and parameter is not None:
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", _word(value)]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass
class Doors:
    """The doors to one sandbox, by name; ``is_set`` is whether a test has set the stage for the next call."""

    sandbox: Sandbox
    through: Mapping[str, Through]
    is_set: bool = False

    def start_over(self) -> None:
        """Have the world as it began, whatever has come through a door."""
        self.sandbox.engine.start_over()


@contextmanager
def doors_to(fixture: Path) -> Iterator[Doors]:
    """Open the four doors to a sandbox on a real port."""
    sandbox = Sandbox(fixture)
    with sandbox.serve() as server:
        socket, remote = Socket(server.url), There(server.url)
        yield Doors(
            sandbox,
            {
                "python": in_python(Here(sandbox.engine, sandbox.world)),
                "http": over_http(socket),
                "remote": in_python(remote),
                "command": by_command(server.url),
            },
        )
        socket.close()
        remote.close()


def measured(came: Any) -> Any:
    """Return what came without what is measured, and so never the same twice."""
    if isinstance(came, dict):
        times = ("duration_ms", "idle_seconds")
        return {name: 0 if name in times else measured(value) for name, value in came.items()}
    return type(came)(map(measured, came)) if isinstance(came, list | tuple) else came
