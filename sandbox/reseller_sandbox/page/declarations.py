"""The declarations that the page needs: interfaces, operations, parameters and lifecycle.

``files/parts/lifecycle.js`` draws the lifecycle of a domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.registry.lifecycle import STAGES, TIMED, edges
from reseller_sandbox.registry.model import Stage
from reseller_sandbox.registry.state import State
from reseller_sandbox.values.parameters import Parameter
from reseller_sandbox.web.interfaces import PublicInterface
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
        words = [row.period.words]
        ways.append({"from": row.stage, "to": after, "label": row.event, "words": words, "timed": True})
    return {"stages": STAGES, "ways": ways}


def recorded(interfaces: Iterable[PublicInterface]) -> Mapping[str, Any]:
    """Return the path parameters and the body of a recorded request per operation."""
    return {
        interface.name: {
            name: {part: example[part] for part in ("parameters", "body") if part in example}
            for name, example in Examples.of(interface.load()).operations.items()
        }
        for interface in interfaces
    }


def declared(interfaces: Iterable[PublicInterface]) -> list[Mapping[str, Any]]:
    """Return the parts of the interfaces' declarations that the page shows.

    ``example`` is the first request to try without a body: its operation and its path.
    """
    parts = ("name", "label", "address", "credentials", "name_path")
    return [
        {**{part: getattr(interface, part) for part in parts}, "example": _example(interface)}
        for interface in interfaces
    ]


def _example(interface: PublicInterface) -> Mapping[str, str] | None:
    paths = {path: endpoint.id for endpoint in interface.load().endpoints for path in endpoint.paths}
    requests = (example.path for example in interface.examples if not example.body)
    return next(({"operation": paths[path], "path": path} for path in requests if path in paths), None)


def operations(resources: Iterable[type[Resource]]) -> Mapping[str, Any]:
    """Return the declaration of each operation, for calls and forms."""
    return {
        operation.id: {
            "method": operation.method,
            "path": operation.path,
            "about": operation.description,
            "parameters": [_parameter(operation, parameter) for parameter in operation.parameters],
        }
        for resource in resources
        for operation in resource.operations()
    }


def _parameter(operation: Operation, parameter: Parameter) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "place": parameter.place,
        "required": parameter.required,
        "shape": parameter.kind.shape,
        "about": operation.descriptions.get(parameter.name, ""),
    }
