"""Faults: the rules of a world listed, replaced, added and taken away; and what there is to choose from."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import INCLUDE, Schema, fields

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.core import refusals
from reseller_sandbox.core.parts import schema
from reseller_sandbox.core.refusals import (
    FAULT_EXISTS,
    INVALID_PARAMETER,
    TOO_MANY_FAULTS,
    UNKNOWN_FAULT,
    Rule,
)
from reseller_sandbox.core.words import Vocabulary
from reseller_sandbox.faults import KINDS, When, reading
from reseller_sandbox.web.errors import EMPTY_BODY
from reseller_sandbox.web.fields import Listed, Shape, Shaped, Text, Truth, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds.faults import Faults


class RuleWanted(fields.Raw):
    """A rule, or a preset with what is to be different; how it is read is the rules' own business."""

    shape: ClassVar[Shaped] = reading.rule_schema()


class RulesWanted(Strict):
    """The rules to have, in their order."""

    rules = Listed(RuleWanted(), required=True)


class OneWanted(Schema):
    """A rule (``kind`` with its parameters), or a ``preset`` with what is to be different."""

    class Meta:
        unknown = INCLUDE

    name = fields.Raw(allow_none=True, metadata={"type": "string"})
    kind = fields.Raw(allow_none=True, metadata={"enum": list(KINDS)})
    preset = fields.Raw(allow_none=True, metadata={"type": "string"})
    match = fields.Raw(allow_none=True, metadata={"type": "object", "properties": reading.match_schema()})
    when = fields.Raw(allow_none=True, metadata={"type": "object", "properties": schema(When)})
    paused = fields.Raw(allow_none=True, metadata={"type": "boolean"})


class ChangesWanted(OneWanted):
    """What is to be different: parts of ``match`` and ``when`` one by one, all else whole; a null takes away
    what was there."""


class RuleShown(Shape):
    """A rule as it can be given again, its kind's parameters among the rest, with its counts."""

    name = Text()
    kind = Text()
    match = fields.Dict()
    when = fields.Dict()
    paused = Truth()
    matched = fields.Integer()
    struck = fields.Integer()
    spent = Truth()

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """The rule, which is JSON as it is."""
        return obj


class RulesShown(Shape):
    """Rules in their order."""

    faults = Listed(Within(RuleShown))

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:  # noqa: ARG002
        """The rules, which are JSON as they are."""
        return obj


class ParameterShown(Shape):
    """A part of a rule: what it takes, whether it has to be given, and what it is by default."""

    name = Text()
    takes = Text()
    required = Truth()
    default = fields.Raw(allow_none=True)
    about = Text()


class KindShown(Shape):
    """A kind of fault, the phases it strikes in (the first by default), and its parameters."""

    kind = Text()
    about = Text()
    phases = Listed(Text())
    parameters = Listed(Within(ParameterShown))


class KindsShown(Shape):
    """Every kind, and what any rule may say of requests (``match``), of times (``when``) and of itself."""

    kinds = Listed(Within(KindShown))
    match = Listed(Within(ParameterShown))
    when = Listed(Within(ParameterShown))
    kept = Listed(Within(ParameterShown))


class PresetShown(Shape):
    """A preset and the rules that it stands for."""

    preset = Text()
    about = Text()
    rules = Listed(fields.Dict())


class PresetsShown(Shape):
    """Every preset."""

    presets = Listed(Within(PresetShown))


def kinds(_: ControlCall) -> dict[str, Any]:
    """Every kind of fault with its parameters, and what any rule may say beside those."""
    return {"kinds": reading.kinds(), **reading.parts()}


def presets(_: ControlCall) -> dict[str, Any]:
    """Every preset with its rules."""
    return {"presets": reading.presets()}


def endpoints(vocabulary: Vocabulary) -> tuple[Endpoint, ...]:
    """The rows; rules may use the words of ``vocabulary``."""

    def there(call: ControlCall) -> Faults:
        return Faults(call.world, vocabulary)

    def show(call: ControlCall) -> dict[str, Any]:
        """Every rule in its order, with how often it has matched and struck."""
        return {"faults": there(call).list()}

    def replace(call: ControlCall) -> dict[str, Any]:
        """Have these rules in place of those there are; one bad rule, and nothing changes."""
        return {"faults": there(call).replace(call.arguments["rules"]).rules}

    def add(call: ControlCall) -> dict[str, Any]:
        """Add a rule after the others, or those of a preset; the answer is what was added."""
        return {"faults": there(call).place(call.arguments).rules}

    def change(call: ControlCall) -> dict[str, Any]:
        """Change a rule, or pause it: it stays where it is, and goes on counting."""
        changes = {key: value for key, value in call.arguments.items() if key != "fault"}
        return {"faults": [there(call).change(call.arguments["fault"], changes)]}

    def clear(call: ControlCall) -> dict[str, Any]:
        """Take every rule away."""
        there(call).clear()
        return show(call)

    def remove(call: ControlCall) -> dict[str, Any]:
        """Take one rule away; the answer is the others."""
        there(call).remove(call.arguments["fault"])
        return show(call)

    def row(
        name: str,
        method: str,
        handle: Any,
        *refuses: Rule,
        at: str = "",
        body: Schema | None = None,
        status: int = 200,
    ) -> Endpoint:
        may_refuse = (*EMPTY_BODY, INVALID_PARAMETER) if body else (refusals.MALFORMED_BODY,)
        return Endpoint(
            id=f"control.faults{name}",
            method=method,
            paths=(f"/_sandbox/faults{at}",),
            handle=handle,
            body=body,
            answer=RulesShown(),
            status=status,
            refuses=(*(may_refuse if method != "GET" else ()), *refuses),
        )

    return (
        row("", "GET", show),
        row(".replace", "PUT", replace, TOO_MANY_FAULTS, body=RulesWanted()),
        row(".add", "POST", add, FAULT_EXISTS, TOO_MANY_FAULTS, body=OneWanted(), status=201),
        row(".change", "PATCH", change, UNKNOWN_FAULT, at="/{fault}", body=ChangesWanted()),
        row(".clear", "DELETE", clear),
        row(".remove", "DELETE", remove, UNKNOWN_FAULT, at="/{fault}"),
        Endpoint(
            id="control.faults.kinds",
            method="GET",
            paths=("/_sandbox/faults/kinds",),
            handle=kinds,
            answer=KindsShown(),
        ),
        Endpoint(
            id="control.faults.presets",
            method="GET",
            paths=("/_sandbox/faults/presets",),
            handle=presets,
            answer=PresetsShown(),
        ),
    )
