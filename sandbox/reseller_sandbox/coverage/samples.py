"""Sample requests for each operation with preconditions, from the ``samples.yaml`` of its interface."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from msgspec import Struct, convert

from reseller_sandbox.registry.assumptions import public_name
from reseller_sandbox.registry.model import Stage

#: The name of most samples, its authorization code and its expiry date, as in ``samples.yaml``.
NAME, CODE, EXPIRES = "to-cover.com", "Code-To-Cover", "2030-06-01"


class Step(Struct, frozen=True, kw_only=True):
    """A call to make first: its operation, such as ``names.add``, and its parameters."""

    call: str
    parameters: Mapping[str, Any]


class Sample(Struct, frozen=True, kw_only=True):
    """A request with its preconditions.

    ``body`` is its body, ``about`` its domain name. ``holder`` and ``stage`` are the state of the name, and
    ``needs`` the other calls to make first.
    """

    body: Any = None
    holder: str = "main"
    stage: Stage = Stage.ACTIVE
    needs: tuple[Step, ...] = ()
    about: str = NAME


class Samples(Struct, frozen=True, kw_only=True):
    """The contents of a ``samples.yaml``, which documents its fields. All of them are optional."""

    places: Mapping[str, str] = {}
    operations: Mapping[str, Sample] = {}
    transitions: Mapping[str, tuple[str, Stage]] = {}


@cache
def samples(package: str) -> Samples:
    """Return the samples of the interface in ``package``, none without a file."""
    file = files(package) / "samples.yaml" if package else None
    text = file.read_text("utf-8") if file is not None and file.is_file() else "{}"
    return convert(yaml.safe_load(text), Samples)


#: The parameters of a fault of each kind that needs any.
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "error": {"error": "internal_error"},
    "latency": {"seconds": 0.1},
    "hang": {"seconds": 0.1},
    "bandwidth": {"rate": 100000},
    "mutate": {"path": "status", "value": "mutated"},
    "rate_limit": {"limit": 0},
    "time_passes": {"by": "P1D"},
}


def name_at(stage: str, holder: str = "main", *, autorenew: bool = False) -> tuple[Step, ...]:
    """Return the calls that add the sample domain ``NAME`` at a lifecycle stage.

    At the stage ``arriving``, a transfer of the domain to ``main`` is pending.
    """
    if stage == Stage.ARRIVING:
        transfer = Step(call="transfers.add", parameters={"domain": NAME, "to": "main"})
        return *name_at(Stage.ACTIVE, "outside"), transfer
    parameters: dict[str, Any] = {"name": NAME, "account": holder, "stage": str(stage), "auth_code": CODE}
    if autorenew:
        parameters["autorenew"] = True
    if stage == Stage.ACTIVE:
        parameters["expires"] = EXPIRES
    added = Step(call="names.add", parameters=parameters)
    return (SLOW, added) if stage in (Stage.REQUESTED, Stage.PROCESSING) else (added,)


#: The call that makes orders take an hour, because otherwise a name leaves some stages at once.
SLOW = Step(call="assumptions.set", parameters={"assume": {public_name("order_processing"): 3600}})

#: The call that makes the registry retry a failed automatic renewal each day.
DAILY = Step(call="assumptions.set", parameters={"assume": {"lifecycle.autorenew.tries": "daily"}})
