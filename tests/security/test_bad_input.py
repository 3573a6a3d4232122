"""No input makes the control interface fail, and what it refuses has changed nothing."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.clients import Answer
from tests.documented import document as documented
from tests.security.conftest import Guarded, digest, filled, operations
from tests.security.corpus import NO_OBJECTS, QUERIES, SEGMENTS, UNKNOWN, body_schema, misspelt, spoilt

ROWS = operations()
#: No error takes more than so many bytes to explain, however long what it speaks of.
LONGEST = 4096

WRITING = [row for row in ROWS if row[0] != "GET"]


@pytest.fixture
def at(plain: Guarded) -> Guarded:
    """A sandbox as it began."""
    plain.sandbox.reset()
    return plain


class Watched:
    """Sends requests to an operation, and remembers wrong answers to them."""

    def __init__(self, at: Guarded, method: str, path: str) -> None:
        self.at = at
        self.operation = documented("control").content["paths"][path][method.lower()]
        self.responses = self.operation["responses"]
        self.wrong: list[str] = []
        self.state = digest(at.sandbox)

    def send(self, method: str, path: str, body: bytes = b"", *, must: bool = False, **headers: str) -> None:
        """Send a request that may be refused, or ``must`` be."""
        answer = self.at.send(method, path, body, **headers)
        problem = self.problem(answer, must)
        before, self.state = self.state, digest(self.at.sandbox)
        if answer.status >= 400 and self.state != before:
            problem = problem or "it was refused and changed something"
        if problem:
            sent = f"{method} {path[:80]} {body[:80]!r}"
            self.wrong.append(f"{sent}: {problem}: {answer.status} {answer.raw[:200]!r}")

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


def rest(at: Guarded) -> Any:
    """The parts of a world that take longer to compare."""
    return at.sandbox.export(), at.sandbox.assumptions.list(), at.sandbox.snapshots.list()


@pytest.mark.parametrize("bodies", ["no objects", "unknown keys", "misspelt", "spoilt"])
def test_bad_bodies_are_refused_and_change_nothing(at: Guarded, bodies: str, subtests) -> None:
    """Bodies that are no objects, keys that are unknown anywhere, values of another kind."""
    components = documented("control").content["components"]
    begun = rest(at)
    for method, path in WRITING:
        with subtests.test(method=method, path=path):
            watched, target = Watched(at, method, path), filled(path)
            schema = body_schema(watched.operation)
            if bodies == "no objects":
                for raw in NO_OBJECTS.values():
                    watched.send(method, target, raw, must=True)
                for kind in ("text/plain", "multipart/form-data", "", "application/json; charset=x"):
                    watched.send(method, target, b"{", must=True, Content_Type=kind)
            elif bodies == "unknown keys":
                for raw in UNKNOWN.values():
                    watched.send(method, target, raw, must=True)
            elif bodies == "misspelt":
                for place, body in misspelt(schema, components):
                    answer = at.send(method, target, json.dumps(body).encode())
                    assert (answer.status, answer.error) == (400, "invalid_parameter"), place
                    assert "no_such_key" in answer.message, place
            else:
                for raw in spoilt(schema, components):
                    watched.send(method, target, raw)
            assert watched.wrong == []
    if bodies != "spoilt":  # of which some are accepted
        assert rest(at) == begun
    at.sandbox.reset(original=True)
    assert at.send("GET", "/_sandbox/health").json["status"] == "ok"
    assert at.sandbox.client().get("/v3/balance").json[0]["balance"] == "10000.00"


def test_bad_paths_and_queries_are_refused(at: Guarded, subtests) -> None:
    for method, path in ROWS:
        with subtests.test(method=method, path=path):
            watched = Watched(at, method, path)
            creates = watched.operation["operationId"].endswith("Add")
            for segment in SEGMENTS if "{" in path else ():
                must = segment == "no-such-thing" and not creates
                watched.send(method, filled(path, segment), must=must)
            if method == "GET":
                parameters = watched.operation.get("parameters", ())
                names = [one["name"] for one in parameters if one["in"] == "query"]
                for name in (*names, "no_such_parameter"):
                    for value in QUERIES:
                        quoted = quote(value, safe="%")
                        watched.send("GET", f"{filled(path)}?{name}={quoted}")
                        watched.send("GET", f"{filled(path)}?{name}=1&{name}={quoted}")
                watched.send("GET", filled(path), b"{")
            assert watched.wrong == []


def test_the_prefix_of_an_unknown_world_is_refused(at: Guarded) -> None:
    for name in ("..", "%00", "%ff", "x" * 8000, "", "default%00", "🙂"):
        answer = at.send("GET", f"/_worlds/{quote(name, safe='%')}/_sandbox/health")
        assert (answer.status, answer.error) == (404, "unknown_world")
