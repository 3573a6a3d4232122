"""The billing program by which the tools are tried does its jobs, with its mistakes and without."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.tools.ground import own_ground
from reseller_sandbox.tools.running import CommandProgram
from tests.tools import billing
from tests.tools.billing import Careful, Careless, in_process

JOBS = ("orders", "renewals", "race", "nameservers")


@pytest.mark.parametrize("kind", [Careful, Careless])
@pytest.mark.parametrize("job", ["orders", "renewals"])
def test_a_mistake_does_not_show_as_long_as_all_goes_well(kind: type[Careful], job: str) -> None:
    """Both sell the same, and the registry has it."""
    with Sandbox() as sandbox:
        sold = kind(in_process(sandbox)).run(job)
        held = {name: sandbox.names.get(name).expires for name in ORDERED[job]}
    assert {one["name"]: one.get("expires", "")[:4] or str(held[one["name"]].year) for one in sold} == {
        name: str(expires.year) for name, expires in held.items()
    }


ORDERED = {"orders": tuple(billing.ORDERS), "renewals": tuple(billing.DUE)}


@pytest.mark.parametrize("kind", ["careful", "careless"])
def test_it_is_a_program_by_itself(kind: str) -> None:
    """It signs its requests under the address of its world."""
    with own_ground({}) as ground, ground.world() as world:
        words = [sys.executable, str(Path(billing.__file__)), kind, *JOBS]
        with CommandProgram(words, ground) as program:
            ended = program(world)
        assert ended.passed, ended.output
        assert world.names.get(billing.WANTED).account == "main"
