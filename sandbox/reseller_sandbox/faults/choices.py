"""Choices for a rule: kinds, presets and their parameters, in words and as schemas."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from dateutil.relativedelta import relativedelta
from msgspec.structs import replace

from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.faults.reading import PRESETS, Parts
from reseller_sandbox.registry.parameters import Parameter, declared, object_shape, without_arguments
from reseller_sandbox.registry.text_checks import decimals_to_floats
from reseller_sandbox.registry.values import DURATION, Kind, choice, json_value


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


def rule_parts() -> tuple[Parameter, ...]:
    """Return what a rule may say beside its kind, as parameters; rules are read whole, with every mistake."""
    preset = replace(_named("preset", *PRESETS), words="The preset whose rules to add, in place of a kind.")
    return (_unread(preset), *map(_unread, declared(Parts)), *own_parts())


def own_parts() -> tuple[Parameter, ...]:
    """Return the parameters of all kinds; what several have under one name is one parameter."""
    own: dict[str, Parameter] = {}
    for name, kind in KINDS.items():
        for one in declared(kind):
            before = own.get(one.name)
            words = f"{before.words} {name}: {one.words}" if before else f"{name}: {one.words}"
            own[one.name] = replace(before or one, words=words)
    return tuple(map(_unread, own.values()))


def _named(key: str, *names: str) -> Parameter:
    return Parameter(key, choice(*names), required=True)


def as_json(given: Any) -> Any:
    """Return what was given for a rule, or for several, as JSON has it, so that every interface reads the
    same.

    Raise ValueError for what JSON has nothing for.
    """
    told = _timeless(given)
    # A float stays as it is, because its parameter reports infinity and NaN with its own words.
    return told if isinstance(told, float) else json_value(told)


def _timeless(given: Any) -> Any:
    """Return ``given`` with instants and lengths of time as texts and numbers."""
    if isinstance(given, Mapping):
        return {key: _timeless(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [_timeless(one) for one in given]
    if isinstance(given, datetime):
        return given.isoformat()
    if isinstance(given, timedelta):
        return given.total_seconds()
    return DURATION.write(DURATION.read(given)) if isinstance(given, relativedelta) else given


def _unread(one: Parameter) -> Parameter:
    kind: Kind[Any] = Kind(one.kind.shape, as_json, decimals_to_floats)
    return replace(one, kind=kind, required=False, default=None)
