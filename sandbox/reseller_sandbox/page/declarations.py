"""What the page knows of the powers: each operation, its row and its parameters, as they are declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import to_builtins

from reseller_sandbox.core.signatures import Parameter
from reseller_sandbox.page.picture import picture
from reseller_sandbox.powers.power import Operation, Power
from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.openapi.examples import Examples
from reseller_sandbox.web.routes import method_of, path_of


def declared(powers: Iterable[type[Power]]) -> Mapping[str, Any]:
    """Return every operation of ``powers`` by its id, with what it takes to call it, and to offer it."""
    return {one.id: _named(one) for power in powers for one in power.operations()}


def forms(powers: Iterable[type[Power]]) -> Mapping[str, Any]:
    """Return what a form shows for every operation of ``powers``, by its id: the most of what is declared."""
    return {one.id: _form(one) for power in powers for one in power.operations()}


def lifecycle() -> Mapping[str, Any]:
    """Return the picture of a name's life: where its stages stand, and the ways between them."""
    built: Mapping[str, Any] = to_builtins(picture())
    return built


def recorded(interfaces: Iterable[Interface]) -> Mapping[str, Any]:
    """Return a recorded request of each operation: what stands in its path, and its body."""
    return {
        interface.name: {
            name: {part: one[part] for part in ("parameters", "body") if part in one}
            for name, one in Examples.of(interface).operations.items()
        }
        for interface in interfaces
    }


def _named(operation: Operation) -> Mapping[str, Any]:
    return {
        "method": method_of(operation),
        "path": path_of(operation),
        "about": operation.description.partition("\n")[0],
        "parameters": [
            {"name": one.name, "place": one.place}
            | ({"words": one.kind.shape["enum"]} if "enum" in one.kind.shape else {})
            for one in operation.parameters
        ],
    }


def _form(operation: Operation) -> Mapping[str, Any]:
    return {
        "about": operation.description,
        "parameters": [_parameter(operation, one) for one in operation.parameters],
    }


def _parameter(operation: Operation, parameter: Parameter) -> Mapping[str, Any]:
    return {
        "name": parameter.name,
        "required": parameter.required,
        "shape": parameter.kind.shape,
        "about": operation.told.get(parameter.name, ""),
    }
