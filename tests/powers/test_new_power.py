"""A power is one method: what its signature and docstring say goes for every door."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

import reseller_sandbox
from reseller_sandbox import Refused
from reseller_sandbox.commands import commands_of
from reseller_sandbox.core.refusals import SET_BACK
from reseller_sandbox.core.values import Instant
from reseller_sandbox.powers import clock
from reseller_sandbox.powers.clock import Moved
from reseller_sandbox.powers.power import act
from reseller_sandbox.remote import There
from tests.clients import JSON, Socket, encoded
from tests.registry import REGISTRY

LATER = "2026-03-20T00:00:00Z"


class Clock(clock.Clock):
    """Time in this world, which can be slept through."""

    @act(SET_BACK, long=True)
    def sleep_until(self, moment: Instant, *, limit: clock.Listed = 10) -> Moved:
        """Sleep until an instant, whatever comes due meanwhile.

        Args:
            moment: The instant to wake at.
            limit: How many of the events to list.
        """
        return self.set(moment, limit=limit)


class Sandbox(reseller_sandbox.Sandbox):
    """A sandbox with a clock of its own."""

    clock: Clock


@pytest.fixture
def served() -> Iterator[tuple[Sandbox, str]]:
    """Such a sandbox on a real port."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


def test_the_method_works_in_this_process_and_through_a_server(served: tuple[Sandbox, str]) -> None:
    """With the same results, the same refusals, and all that the power could do before."""
    sandbox, url = served
    there, answers, refusals = Sandbox.through(There(url)), [], []
    for one in (sandbox, there):
        sandbox.engine.start_over()
        answers.append(one.clock.sleep_until(LATER, limit=3))
        with pytest.raises(Refused) as refused:
            one.clock.sleep_until("2026-03-02")
        refusals.append(str(refused.value))
        assert one.clock.now == answers[-1].now
    there.close()
    assert answers[0] == answers[1]
    assert answers[0].total > len(answers[0].fired) == 3
    assert refusals[0] == refusals[1]


def test_the_row_and_its_document_are_there(served: tuple[Sandbox, str]) -> None:
    """A request does what the method does; the document says what it takes, in the docstring's words."""
    sandbox, url = served
    socket = Socket(url)
    path = "/_sandbox/clock/sleep_until"
    answer = socket("POST", path, [JSON], encoded({"moment": LATER, "limit": 3}))
    assert (answer.status, answer.json["now"], len(answer.json["fired"])) == (200, LATER, 3)
    assert socket("POST", path, [JSON], encoded({"moment": "2026-03-02"})).error == "set_back"
    assert socket("POST", path, [JSON], b"{}").message == "moment is missing."
    document = socket("GET", "/_sandbox/openapi/control.json", [], b"").json
    socket.close()
    assert "Sleep until an instant" in json.dumps(document["paths"][path]["post"])
    assert "The instant to wake at." in json.dumps(document)
    assert sandbox.clock.now.isoformat() == "2026-03-20T00:00:00+00:00"


def test_the_command_is_there(served: tuple[Sandbox, str]) -> None:
    """With its help, its answer and its refusal."""
    _, url = served
    commands = click.Group("clock", dict(commands_of(Sandbox.powers()["clock"])))
    told = CliRunner().invoke(commands, ["sleep-until", "--help"]).stdout
    assert "Sleep until an instant, whatever comes due meanwhile." in told
    assert "How many of the events to list." in told
    done = CliRunner().invoke(commands, ["sleep-until", LATER, "--limit", "3", "--url", url, "--json"])
    assert json.loads(done.stdout)["now"] == LATER
    assert CliRunner().invoke(commands, ["sleep-until", "2026-03-02", "--url", url]).exit_code == 1
    assert CliRunner().invoke(commands, ["show", "--url", url, "--json"]).exit_code == 0
