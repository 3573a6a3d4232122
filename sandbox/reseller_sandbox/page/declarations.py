"""The declarations that the page needs: operations, parameters and lifecycle.

``files/parts/lifecycle.js`` draws the lifecycle of a domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.registry.lifecycle import STAGES, TIMED, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.values.parameters import Parameter
from reseller_sandbox.web.openapi.glossary import Examples


def lifecycle() -> Mapping[str, Any]:
    """Return the stages of a domain and the transitions by requests and by time."""
    by_request: dict[tuple[Stage | None, Stage | None], list[str]] = {}
    for edge in edges(State()):
        by_request.setdefault((edge.before, edge.after), []).append(edge.words)
    ways: list[Mapping[str, Any]] = []
    for (before, after), words in by_request.items():
        label = words[0] if len(words) == 1 else f"{words[0]}, …"
        ways.append({"from": before, "to": after, "label": label, "words": words, "timed": False})
    for row in TIMED:
        after = None if row.target is Stage.RELEASED else row.target
        told: dict[str, Any] = {"label": row.event, "words": [row.period.words], "timed": True}
        ways.append({"from": row.stage, "to": after, **told})
    return {"stages": STAGES, "ways": ways}


def recorded() -> Mapping[str, Any]:
    """Return the path parameters and the body of a recorded request per operation."""
    return {
        interface.name: {
            name: {part: one[part] for part in ("parameters", "body") if part in one}
            for name, one in Examples.of(interface).operations.items()
        }
        for interface in (V3, V2)
    }


def operations(resources: Iterable[type[Resource]]) -> Mapping[str, Any]:
    """Return the declaration of each operation, for calls and forms."""
    return {
        one.id: {
            "method": one.method,
            "path": one.path,
            "about": one.description,
            "parameters": [_parameter(one, parameter) for parameter in one.parameters],
        }
        for resource in resources
        for one in resource.operations()
    }


def _parameter(operation: Operation, one: Parameter) -> Mapping[str, Any]:
    return {
        "name": one.name,
        "place": one.place,
        "required": one.required,
        "shape": one.kind.shape,
        "about": operation.descriptions.get(one.name, ""),
    }
