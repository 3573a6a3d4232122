"""Python, HTTP, a remote sandbox and the command return the same results and the same refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import cycle

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.clients import Socket
from tests.control.examples import EXAMPLES, REQUEST, Example
from tests.control.interfaces import BY_NAME, OPERATIONS, Through, by_command, in_python, measured, over_http
from tests.registry import REGISTRY, start_over

#: The records that the examples need in addition to the registry of the tests.
MORE = "customers:\n  501: {name: Ann, mail: ann@example.com}\n"


class Interface:
    """An interface with its own sandbox. ``changed``: whether a call may have changed a world."""

    def __init__(self, sandbox: Sandbox, through: Through) -> None:
        self.sandbox = sandbox
        self.through = through
        self.changed = True

    def outcome(self, example: Example) -> tuple[str, object]:
        """Return the outcome of an example in a new world. Check that a refused call leaves no event."""
        if self.changed:
            start_over(self.sandbox)
        if example.operation.startswith("coverage."):
            self.sandbox.coverage.clear(everywhere=True)  # which a reset leaves
        for operation, given in example.before:
            if operation == REQUEST:
                self.sandbox.client().open(**given)
            else:
                assert self.through(operation, given)[0] == "ok"
        before = self.sandbox.events.list(limit=1)
        code, result = self.through(example.operation, dict(example.given))
        assert not example.refused or self.sandbox.events.list(limit=1) == before
        is_read = example.refused or BY_NAME[example.operation].method == "GET"
        self.changed = bool(example.before) or not is_read or example.operation.startswith("coverage.")
        return code, measured(result)


@pytest.fixture(scope="module")
def interfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Interface]]:
    fixture = tmp_path_factory.mktemp("doors") / "registry.yaml"
    fixture.write_text(REGISTRY.read_text("utf-8") + MORE, "utf-8")
    local, http, remote, command = (Sandbox(fixture) for _ in range(4))
    with http.serve() as server, remote.serve() as another, command.serve() as third:
        with closing(Socket(server.url)) as socket, connect(another.url) as there:
            yield {
                "python": Interface(local, in_python(local)),
                "http": Interface(http, over_http(socket)),
                "remote": Interface(remote, in_python(there)),
                "command": Interface(command, by_command(command, third.url)),
            }


def test_every_interface_returns_the_same_results_as_python(
    interfaces: dict[str, Interface], subtests: pytest.Subtests
) -> None:
    """The first call of an operation, and a call with a key, go through every interface.

    The other calls go through one interface in turn.
    """
    seen, turns = set(), cycle((["http"], ["remote"], ["http"], ["remote"], ["command"]))
    for example in EXAMPLES:
        operation, names = BY_NAME[example.operation], next(turns)
        if not example.refused:
            has_key = any(parameter.in_path for parameter in operation.parameters)
            if has_key or operation.id not in seen or operation.id.startswith("worlds."):
                names = ["http", "remote", "command"]  # the numbers of worlds continue over all calls
            if operation.streams:
                names = [name for name in names if name != "command"]  # because a stream would not end
            seen.add(operation.id)
        with subtests.test(str(example)):
            code, result = interfaces["python"].outcome(example)
            assert code == (example.refused or "ok"), result
            results = {name: interfaces[name].outcome(example) for name in names}
            for name, (status, found) in results.items():
                if name == "command" and example.refused:
                    assert status in ("refused", "invalid_parameter")
                    assert "invalid_parameter" in (status, code) or result[0] in found[0]
                elif name == "remote" or example.refused:
                    assert (status, found) == (code, result), name
                else:
                    assert status == "ok", name
            if "http" in results and "command" in results and not example.refused:
                assert results["command"] == results["http"]


def test_every_parameter_has_an_example_and_refuses_a_wrong_type(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    accepted = [example for example in EXAMPLES if not example.refused]
    for operation in OPERATIONS:
        resource = f"{operation.id.partition('.')[0]}."
        known = {
            name for example in accepted if example.operation.startswith(resource) for name in example.given
        }
        calls = [example.given for example in accepted if example.operation == operation.id]
        with subtests.test(operation.id):
            for name in (parameter.name for parameter in operation.parameters):
                assert name in known
                given = next((given for given in calls if name in given), calls[0])
                code, _ = in_python(sandbox)(operation.id, {**given, name: object()})
                assert code in ("invalid_parameter", "invalid_entry", "invalid_fixture"), name


def test_too_many_positional_arguments_are_refused(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    for operation in OPERATIONS:
        with subtests.test(operation.id):
            with pytest.raises(Refused, match=f"too many positional arguments for {operation.id}"):
                operation.in_python(sandbox)(*"xxxxxxxxx")
