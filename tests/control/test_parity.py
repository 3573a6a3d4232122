"""What can be asked of a world over HTTP can be asked of a ``Sandbox`` in Python."""

from __future__ import annotations

from functools import reduce

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.catalogue import POWERS
from tests.registry import REGISTRY

#: Each operation of the control interface, with the name that it goes by in Python.
NAMES = {**{f"control.{one.id}": one.id for power in POWERS.values() for one in power.operations()}}

#: What is of no use inside the process.
HTTP_ALONE = {
    *("control.openapi", "control.manual", "control.manual.page", "control.page", "control.page.file"),
    *("control.session", "control.session.begin", "control.session.end"),
    *("control.reader", "control.reader.file", "control.signature"),
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox of the tests' registry."""
    return Sandbox(REGISTRY)


def test_every_operation_has_a_name_in_python(sandbox: Sandbox) -> None:
    """And every name is there."""
    served = {rule.endpoint.partition("#")[0].replace("/", ".") for rule in sandbox.app.url_map.iter_rules()}
    operations = {one for one in served if one.startswith("control.")}
    powers = {f"control.{one.id}": one.id for power in POWERS.values() for one in power.operations()}
    assert operations - HTTP_ALONE == set(NAMES) | set(powers)
    for name in (*NAMES.values(), *powers.values()):
        reduce(getattr, name.split("."), sandbox)


def test_assumptions_in_python(sandbox: Sandbox) -> None:
    """They are read, set one by one or by profile, and a bad one changes nothing."""
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert sandbox.assumptions["v3.ids"] == "integer"
    assert sandbox.client().get("/v3/balance").json[0]["client-id"] == 1001
    with pytest.raises(Refused, match=r"v3\.idz"):
        sandbox.assumptions.set({"v3.idz": "string"}, profile="documented")
    assert sandbox.assumptions["v3.ids"] == "integer"
    sandbox.assumptions.set(profile="documented")
    assert sandbox.assumptions["v3.ids"] == "string"


def test_what_was_kept_can_be_dropped(sandbox: Sandbox) -> None:
    """Snapshots and branches."""
    sandbox.snapshot("here")
    branch = sandbox.restore("here").branch
    sandbox.snapshots.remove("here")
    sandbox.branches.remove(branch.name)
    assert (list(sandbox.snapshots), list(sandbox.branches)) == ([], [])


def test_a_dry_run_moves_nothing(sandbox: Sandbox) -> None:
    """It answers what would come due."""
    before = sandbox.world.moment
    assert sandbox.clock.advance("P400D", dry_run=True).fired
    assert sandbox.world.moment is before
