"""Recipes that fill a gap, to copy into a shell or a Python test."""

from __future__ import annotations

import json
import shlex
from typing import Any

from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import Operation
from reseller_sandbox.coverage.gaps import Gap, RequestToMake
from reseller_sandbox.coverage.samples import Step


def shell(gap: Gap) -> list[str]:
    """Return the commands that fill a gap, for a server with the packaged fixture."""
    steps = [_command(step) for step in gap.needs]
    return [*steps, *([_curl(gap.request)] if gap.request is not None else [])]


def python(gap: Gap) -> list[str]:
    """Return the lines of a test that fill a gap.

    They use the pytest fixture ``reseller_sandbox``.
    """
    steps = [_called(step) for step in gap.needs]
    request = gap.request
    if request is None:
        return steps
    body = f", json={request.body!r}" if request.body is not None else ""
    return [*steps, f"reseller_sandbox.client().{request.method.lower()}({request.path!r}{body})"]


def injection(gap: Gap) -> str:
    """Return the line that injects an error, or an empty string."""
    return _called(gap.inject) if gap.inject is not None else ""


def _operation(step: Step) -> Operation:
    resource, _, verb = step.call.partition(".")
    return next(one for one in RESOURCES[resource].operations() if one.name == verb)


def _placed(step: Step, *places: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the parameters at the given places by position, and the others by name."""
    placed = [parameter.name for parameter in _operation(step).parameters if parameter.place in places]
    by_place = [step.parameters[name] for name in placed if name in step.parameters]
    return by_place, {name: value for name, value in step.parameters.items() if name not in placed}


def _called(step: Step) -> str:
    by_place, by_name = _placed(step, "segment")
    arguments = [*map(repr, by_place), *(f"{name}={value!r}" for name, value in by_name.items())]
    return f"reseller_sandbox.{step.call}({', '.join(arguments)})"


def _command(step: Step) -> str:
    by_place, by_name = _placed(step, "segment", "argument")
    words = ["reseller-sandbox", *step.call.split("."), *map(_word, by_place)]
    for name, value in by_name.items():
        flag = name.replace("_", "-")
        words += (
            [f"--{flag}" if value else f"--no-{flag}"]
            if isinstance(value, bool)
            else [f"--{flag}", _word(value)]
        )
    return shlex.join(words)


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _curl(request: RequestToMake) -> str:
    data = f" --data {shlex.quote(json.dumps(request.body))}" if request.body is not None else ""
    return f'eval "$(reseller-sandbox sign --curl {request.method} {request.path}{data})"'
