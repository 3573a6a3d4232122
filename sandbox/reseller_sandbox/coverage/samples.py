"""A request for each operation that can be carried out, and what has to be there before: ``samples.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, convert

from reseller_sandbox.registry.model import Stage

#: The name that most samples are about, its code, and when it expires, as the file has them too.
NAME, CODE, EXPIRES = "to-cover.com", "Code-To-Cover", "2030-06-01"


class Step(Struct, frozen=True, kw_only=True):
    """Something to ask of a resource first: its operation (``names.add``) and what that is told."""

    call: str
    given: Mapping[str, Any]


class Sample(Struct, frozen=True, kw_only=True):
    """A request: its ``body``, the name it is ``about``, who holds that, and what else has to be there."""

    body: Any = None
    holder: str = "main"
    stage: Stage = Stage.ACTIVE
    needs: tuple[Step, ...] = ()
    about: str = NAME


class Samples(Struct, frozen=True, kw_only=True):
    """What the file says: see there."""

    places: Mapping[str, str]
    operations: Mapping[str, Sample]
    transitions: Mapping[str, tuple[str, Stage]]
    faults: Mapping[str, Mapping[str, Any]]


@cache
def samples() -> Samples:
    """Return what the file says."""
    return convert(yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8")), Samples)


def name_at(stage: str, holder: str = "main", *, autorenew: bool = False) -> tuple[Step, ...]:
    """Return what puts the name there, at a stage; an arriving one comes to ``main``."""
    if stage == Stage.ARRIVING:
        coming = Step(call="transfers.add", given={"domain": NAME, "to": "main"})
        return *name_at(Stage.ACTIVE, "outside"), coming
    given: dict[str, Any] = {"name": NAME, "account": holder, "stage": str(stage), "auth_code": CODE}
    if autorenew:
        given["autorenew"] = True
    if stage == Stage.ACTIVE:
        given["expires"] = EXPIRES
    added = Step(call="names.add", given=given)
    return (SLOW, added) if stage in (Stage.REQUESTED, Stage.PROCESSING) else (added,)


#: What keeps a name at the stages that else take no time.
SLOW = Step(call="assumptions.set", given={"assume": {"v2.order_processing": 3600}})

#: What has a renewal tried again.
DAILY = Step(call="assumptions.set", given={"assume": {"lifecycle.autorenew.tries": "daily"}})
