"""No input makes the control interface fail, and what it refuses has changed nothing."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import pytest

from tests.clients import Answer
from tests.documented import document as documented
from tests.security.conftest import Guarded, operations
from tests.security.corpus import NO_OBJECTS, QUERIES, SEGMENTS, UNKNOWN, body_schema, misspelt, spoilt

ROWS = operations()
#: No error takes more than so many bytes to explain, however long what it speaks of.
LONGEST = 4096

WRITING = [row for row in ROWS if row[0] != "GET"]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document of the control interface."""
    return documented("control").content


@pytest.fixture
def at(plain: Guarded) -> Guarded:
    """A sandbox as it began."""
    plain.sandbox.reset()
    return plain


class Watched:
    """Sends requests, and remembers those that were answered as none should be."""

    def __init__(self, at: Guarded, operation: dict[str, Any]) -> None:
        self.at = at
        self.responses = operation["responses"]
        self.wrong: list[str] = []

    def send(self, method: str, path: str, body: bytes = b"", *, must: bool = False, **headers: str) -> None:
        """Send a request that may be refused, or ``must`` be."""
        before = self.holds()
        answer = self.at.send(method, path, body, **headers)
        problem = self.problem(answer, must)
        if answer.status >= 400 and self.holds() != before:
            problem = problem or "it was refused and changed something"
        if problem:
            self.wrong.append(
                f"{method} {path[:80]} {body[:80]!r}: {problem}: {answer.status} {answer.raw[:200]!r}"
            )

    def problem(self, answer: Answer, must: bool) -> str:
        """What is wrong with an answer."""
        if answer.status >= 500:
            return "it failed"
        if answer.status < 400:
            return "it was accepted" if must else ""
        if set(answer.json) < {"error", "message"} or not answer.error or not answer.message:
            return "it has no error and message"
        if len(answer.raw) > LONGEST:
            return "it says too much"
        said = self.responses.get(str(answer.status), {"description": ""})["description"]
        if answer.error not in ("unknown_path", "uri_too_long") and f"`{answer.error}`" not in said:
            return "the document does not speak of it"
        return ""

    def holds(self) -> tuple[Any, ...]:
        """All that a refusal must leave as it is."""
        return tuple(
            (
                world.name,
                id(world),
                world.moment,
                *(tuple(held) for held in (world.snapshots, world.branches, world.journal)),
            )
            for world in self.at.sandbox.engine
        )


def filled(path: str, segment: str = "1") -> str:
    """A path with ``segment`` in place of its placeholders."""
    return re.sub(r"\{\w+\}", lambda _: segment, path)


@pytest.mark.parametrize(("method", "path"), WRITING)
def test_bodies_that_are_no_objects(at: Guarded, document: dict[str, Any], method: str, path: str) -> None:
    """Each is refused, whatever content type is claimed for it."""
    watched = Watched(at, document["paths"][path][method.lower()])
    for raw in NO_OBJECTS.values():
        watched.send(method, filled(path), raw, must=True)
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "application/json; charset=x",
    ):
        watched.send(method, filled(path), b"{", must=True, Content_Type=kind)
    assert watched.wrong == []


@pytest.mark.parametrize(("method", "path"), WRITING)
def test_keys_that_are_unknown(at: Guarded, document: dict[str, Any], method: str, path: str) -> None:
    """Each is refused: a setting that is passed over looks like one that was taken."""
    watched = Watched(at, document["paths"][path][method.lower()])
    for raw in UNKNOWN.values():
        watched.send(method, filled(path), raw, must=True)
    assert watched.wrong == []


@pytest.mark.parametrize(("method", "path"), WRITING)
def test_keys_that_are_unknown_in_an_object_within(
    at: Guarded, document: dict[str, Any], method: str, path: str
) -> None:
    """Each is refused and named, whichever object of the body it stands in, and be its value a null."""
    for place, body in misspelt(body_schema(document["paths"][path][method.lower()]), document["components"]):
        answer = at.send(method, filled(path), json.dumps(body).encode())
        assert (answer.status, answer.error) == (400, "invalid_parameter"), place
        assert "no_such_key" in answer.message, place


@pytest.mark.parametrize(("method", "path"), WRITING)
def test_fields_with_values_of_another_kind(
    at: Guarded, document: dict[str, Any], method: str, path: str
) -> None:
    """Whatever stands in whichever field, alone or in all of them."""
    operation = document["paths"][path][method.lower()]
    watched = Watched(at, operation)
    for raw in spoilt(body_schema(operation), document["components"]):
        watched.send(method, filled(path), raw)
    assert watched.wrong == []


@pytest.mark.parametrize(("method", "path"), [row for row in ROWS if "{" in row[1]])
def test_paths(at: Guarded, document: dict[str, Any], method: str, path: str) -> None:
    """Nothing is found under names that nothing has."""
    operation = document["paths"][path][method.lower()]
    watched = Watched(at, operation)
    creates = operation["operationId"].endswith("Add")
    for segment in SEGMENTS:
        watched.send(method, filled(path, segment), must=segment == "no-such-thing" and not creates)
    assert watched.wrong == []


@pytest.mark.parametrize(("method", "path"), [row for row in ROWS if row[0] == "GET"])
def test_queries(at: Guarded, document: dict[str, Any], method: str, path: str) -> None:
    """Those that the document names, one that it does not, and a body where none belongs."""
    operation = document["paths"][path]["get"]
    watched = Watched(at, operation)
    names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
    for name in (*names, "no_such_parameter"):
        for value in QUERIES:
            watched.send("GET", f"{filled(path)}?{name}={quote(value, safe='%')}")
            watched.send("GET", f"{filled(path)}?{name}=1&{name}={quote(value, safe='%')}")
    watched.send("GET", filled(path), b"{")
    assert watched.wrong == []


@pytest.mark.parametrize("name", ["..", "%00", "%ff", "x" * 8000, "", "default%00", "🙂"])
def test_worlds_that_are_none(at: Guarded, name: str) -> None:
    """The prefix of a world takes what it finds, and finds nothing."""
    answer = at.send("GET", f"/_worlds/{quote(name, safe='%')}/_sandbox/health")
    assert (answer.status, answer.error) == (404, "unknown_world")


def test_afterwards_it_works_as_before(at: Guarded) -> None:
    """None of it has left anything behind."""
    assert at.send("GET", "/_sandbox/health").json["status"] == "ok"
    assert at.sandbox.client().get("/v3/balance").json[0]["balance"] == "10000.00"
