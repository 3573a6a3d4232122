"""Whatever is asked of a power, every door gives the same answer and the same refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.power import Operation
from tests.clients import Socket
from tests.powers.doors import Through, by_command, here, in_python, over_http, there
from tests.powers.example import REQUEST
from tests.powers.examples import EXAMPLES, Example
from tests.registry import REGISTRY

#: What the examples speak of beside the tests' own registry.
MORE = "customers:\n  501: {name: Ann, mail: ann@example.com}\n"

OPERATIONS = [one for power in POWERS.values() for one in power.operations()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sandbox, str]]:
    """A sandbox on a real port."""
    fixture = tmp_path_factory.mktemp("doors") / "registry.yaml"
    fixture.write_text(REGISTRY.read_text("utf-8") + MORE, "utf-8")
    sandbox = Sandbox(fixture)
    with sandbox.serve() as server:
        yield sandbox, server.url


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_door_leads_to_the_same(server: tuple[Sandbox, str], example: Example) -> None:
    """In Python, over HTTP, through a remote sandbox and on the command line."""
    sandbox, url = server
    socket, remote = Socket(url), there(url)
    doors: dict[str, Through] = {
        "python": in_python(here(sandbox)),
        "http": over_http(socket),
        "remote": in_python(remote),
        "command": by_command(url),
    }
    came = {}
    for name, through in doors.items():
        sandbox.engine.start_over()
        for setting, given in example.before:
            if setting == REQUEST:
                sandbox.client().open(**given)
            else:
                assert through(setting, given)[0] == "ok"
        came[name] = _measured(through(example.operation, example.given))
    socket.close()
    remote.close()
    expected = example.refused or "ok"
    assert came["python"][0] == expected, came["python"]
    assert came["http"] == came["remote"] == came["python"]
    outcome, said = came["command"]
    if expected == "ok":
        assert (outcome, said) == came["python"]
    else:
        assert outcome in ("refused", "invalid_parameter")
        if outcome == "refused":
            assert came["python"][1][0] in said


def _measured(came: Any) -> Any:
    """``came`` without what is measured, and so never the same twice."""
    if isinstance(came, dict):
        measured = ("duration_ms", "idle_seconds")
        return {name: 0 if name in measured else _measured(value) for name, value in came.items()}
    return type(came)(map(_measured, came)) if isinstance(came, list | tuple) else came


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_parameter_has_examples(operation: Operation) -> None:
    """One that is accepted with it, and one that is refused for it."""
    mine = [one for one in EXAMPLES if one.operation == operation.id]
    assert [one for one in mine if not one.refused], "no example is accepted"
    for parameter in operation.parameters:
        told = [one for one in mine if parameter.name in one.given]
        assert [one for one in told if not one.refused], f"{parameter.name} is never accepted"
        assert [one for one in told if one.refused], f"{parameter.name} is never refused"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_operation_says_what_it_does(operation: Operation) -> None:
    """In its docstring, and for each parameter there."""
    assert operation.description
    assert set(operation.told) == {one.name for one in operation.parameters}
    assert all(operation.told.values())
