"""Hooks of schemathesis: sign requests of v3, and write the version into the paths of v2.0."""

from __future__ import annotations

import os
from typing import Any

import requests
import schemathesis

from tests.clients import signature


class Signed(requests.auth.AuthBase):
    """Signs what is sent, as it is sent."""

    def __call__(self, request: Any) -> Any:
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        key, secret = os.environ["V3_KEY"], os.environ["V3_SECRET"]
        request.headers["X-SVC-APIKEY"] = key
        request.headers["X-SVC-SIGNATURE"] = signature(secret, key, request.url, raw)
        return request


authentication: Any = schemathesis.auth
authentication.set_from_requests(Signed()).apply_to(path_regex="^/v3")


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Write the version into the paths: what begins otherwise belongs to no interface."""
    rows = {path.replace("{version}", "V2.0"): row for path, row in raw_schema["paths"].items()}
    raw_schema["paths"] = rows
    for operation in (operation for row in rows.values() for operation in row.values()):
        operation["parameters"] = [
            parameter for parameter in operation["parameters"] if parameter["name"] != "version"
        ]
        for answer in operation["responses"].values():
            for link in answer.get("links", {}).values():
                link["parameters"].pop("version", None)
