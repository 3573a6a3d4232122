"""The choices for a fault rule: kinds, presets and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from dateutil.relativedelta import relativedelta
from msgspec.structs import replace

from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.reading import PRESETS, Parts
from reseller_sandbox.values.kinds import DURATION, Kind, choice, json_value
from reseller_sandbox.values.parameters import Parameter, declared, object_shape, without_arguments
from reseller_sandbox.values.text_checks import decimals_to_floats


def rule_schema() -> dict[str, Any]:
    """Return the JSON Schema of a rule."""
    common = declared(Parts)
    kinds = [
        {
            "title": name,
            "description": " ".join(without_arguments(kind).split()),
            **object_shape((_named("kind", name), *common, *declared(kind))),
        }
        for name, kind in KINDS.items()
    ]
    preset = object_shape((_named("preset", *PRESETS), *common))
    return {"oneOf": [*kinds, {**preset, "title": "preset", "additionalProperties": True}]}


def rule_parameters() -> tuple[Parameter, ...]:
    """Return all possible parameters of a rule.

    They are read without validation, because a rule is validated as a whole, with all of its mistakes.
    """
    preset = replace(_named("preset", *PRESETS), words="The preset whose rules to add, in place of a kind.")
    return (_unread(preset), *map(_unread, declared(Parts)), *kind_parameters())


def kind_parameters() -> tuple[Parameter, ...]:
    """Return the parameters of all kinds. Those with the same name become one."""
    own: dict[str, Parameter] = {}
    for name, kind in KINDS.items():
        for parameter in declared(kind):
            before = own.get(parameter.name)
            words = f"{before.words} {name}: {parameter.words}" if before else f"{name}: {parameter.words}"
            own[parameter.name] = replace(before or parameter, words=words)
    return tuple(map(_unread, own.values()))


def _named(key: str, *names: str) -> Parameter:
    return Parameter(key, choice(*names), required=True)


def as_json(raw: Any) -> Any:
    """Return the value for one or more rules as JSON, so that interfaces agree.

    Raise ValueError for a value that JSON cannot represent.
    """
    timeless = _timeless(raw)
    # A float stays as it is, because its parameter reports infinity and NaN with its own words.
    return timeless if isinstance(timeless, float) else json_value(timeless)


def _timeless(raw: Any) -> Any:
    """Return ``raw`` with instants and durations as texts and numbers."""
    if isinstance(raw, Mapping):
        return {key: _timeless(part) for key, part in raw.items()}
    if isinstance(raw, list | tuple):
        return [_timeless(item) for item in raw]
    if isinstance(raw, datetime):
        return raw.isoformat()
    if isinstance(raw, timedelta):
        return raw.total_seconds()
    return DURATION.write(DURATION.read(raw)) if isinstance(raw, relativedelta) else raw


def _unread(parameter: Parameter) -> Parameter:
    kind: Kind[Any] = Kind(parameter.kind.shape, as_json, decimals_to_floats)
    return replace(parameter, kind=kind, required=False, default=None)
