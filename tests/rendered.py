"""Fetches every entry of every journal, and validates each against the document of the control interface."""

from __future__ import annotations

import json
from contextlib import closing
from functools import cache

from jsonschema_rs import Draft202012Validator

from tests.clients import Socket, Transport
from tests.documented import document


def entries(transport: Transport) -> int:
    """Return how many entries the journals of all worlds of a sandbox hold, each of them valid."""
    worlds = _fetch(transport, "/_sandbox/worlds")["worlds"]
    listed = [
        entry
        for world in worlds
        for entry in _fetch(transport, f"/_worlds/{world['name']}/_sandbox/journal?limit=1000")["requests"]
    ]
    for entry in listed:
        _validator().validate(entry)
    return len(listed)


def served_entries(url: str) -> int:
    """Return how many entries a server on a port holds, each of them valid."""
    with closing(Socket(url)) as socket:
        return entries(socket)


def _fetch(transport: Transport, path: str):
    answer = transport("GET", path, [], b"")
    assert answer.status == 200, answer.raw
    return json.loads(answer.raw, parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@cache
def _validator() -> Draft202012Validator:
    control = document("control")
    return control.answers(control.content["paths"]["/_sandbox/journal/{request}"]["get"]["responses"]["200"])
