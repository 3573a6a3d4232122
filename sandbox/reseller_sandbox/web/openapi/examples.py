"""Examples that were recorded from a running sandbox: requests, answers, and an answer for each error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reseller_sandbox.web.interface import Interface
from reseller_sandbox.web.openapi.glossary import beside, operations_of


@dataclass(frozen=True)
class Examples:
    """What an interface's ``examples.json`` holds.

    ``operations`` are by their ids: what was asked (``parameters`` and ``body``), and the ``answer``.
    ``errors`` are the bodies of refusals by the code or the message that names the error.
    """

    operations: Mapping[str, Mapping[str, Any]]
    errors: Mapping[str, Any]

    @classmethod
    def of(cls, interface: Interface) -> Examples:
        """Return the examples of an interface."""
        return cls(**json.loads(beside(interface, "examples.json") or '{"operations": {}, "errors": {}}'))

    def put_into(self, document: dict[str, Any]) -> None:
        """Give each operation of a document its example, and each error the one of its kind."""
        if self.errors:
            named = {key_of(name): {"value": body} for name, body in self.errors.items()}
            document["components"]["examples"] = named
        for _, operation in operations_of(document):
            self._put_into(operation)

    def _put_into(self, operation: dict[str, Any]) -> None:
        example = self.operations.get(operation["operationId"], {})
        for one in operation["parameters"]:
            if one["name"] in example.get("parameters", {}):
                one["example"] = example["parameters"][one["name"]]
        if "body" in example:
            operation["requestBody"]["content"]["application/json"]["example"] = example["body"]
        answer, *refusals = operation["responses"].values()
        if "answer" in example:
            answer["content"]["application/json"]["example"] = example["answer"]
        for said in refusals:
            names = re.findall(r"^\* `(.*?)`", said["description"], re.MULTILINE)
            shown = {key_of(name): {"$ref": f"#/components/examples/{key_of(name)}"} for name in names}
            known = {key: one for key, one in shown.items() if key in map(key_of, self.errors)}
            if known:
                said["content"]["application/json"]["examples"] = known


def key_of(name: str) -> str:
    """Return the name of an error as the key of a component."""
    return re.sub(r"\W+", "_", name).strip("_")
