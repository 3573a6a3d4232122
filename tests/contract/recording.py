"""Records the examples of the OpenAPI documents: the answers and the errors of a sandbox.

``python -m tests.contract.recording`` (or ``make examples``) sends the requests of each ``examples.json`` in
the package to the packaged fixture, in their order, and writes the file anew. A new operation is the last,
with parameters of others. To add or change a request, first edit its ``parameters`` and ``body`` in the file.
The errors are those of the tests' registry: v3 on its ladders, v2.0 in its golden transcript.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import reseller_sandbox
from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, Headers, InProcess, Transport, encoded
from tests.control.examples import EXAMPLES, REQUEST
from tests.control.interfaces import over_http
from tests.documented import document, operations
from tests.golden.transcripts import MEASURED, exchanges
from tests.registry import BASE, REGISTRY
from tests.v2.works import documented_errors, pattern
from tests.v3.test_refusals import ASSUME, LADDERS, ClimbV3

NAMES = ("v3", "v2", "control")

#: A longer answer would hide the operation that it is an example for.
LONGEST = 4000

#: Operations that need a browser.
BROWSER = {"session", "sessionBegin", "sessionEnd"}


class Sender:
    """Sends requests by the names of their operations, as the account ``main`` of a packaged fixture."""

    def __init__(self, sandbox: Sandbox, transport: Transport, base: str) -> None:
        self._account = sandbox.accounts["main"]
        self._transport = transport
        self._base = base

    def send(self, name: str, operation: str, *, parameters: Any = None, body: Any = None) -> Answer:
        method, path = next(
            (method, path)
            for path, row in document(name).content["paths"].items()
            for method, described in row.items()
            if described["operationId"] == operation
        )
        left = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in (parameters or {}).items()
        }
        target = re.sub(r"\{(\w+)\}", lambda place: quote(left.pop(place[1]), safe=""), path)
        target += f"?{urlencode(left)}" if left else ""
        if name == "v3":
            api = Api(self._transport, self._base, self._account.key, self._account.secret)
            return api.call(method.upper(), target, body)
        token = [("X-Auth-Token", self._account.token)] if name == "v2" else []
        return self._transport(method.upper(), target, [*token, JSON], encoded(body))

    def prepare(self, name: str) -> None:
        """Send the request that the examples of the control interface show in the journal."""
        if name == "control":
            self.send("v3", "balance")


def kept(name: str) -> dict[str, Any]:
    """Return the recorded examples of an interface, in the order in which the requests work."""
    examples: dict[str, Any] = json.loads(file_of(name).read_text("utf-8"))
    return examples


def _requests(name: str) -> dict[str, Any]:
    """Return the kept request of each operation. New operations have parameters of others, and no body."""
    described = {
        row["operationId"]: row
        for methods in document(name).content["paths"].values()
        for row in methods.values()
    }
    requests = {
        operation: {key: example[key] for key in ("parameters", "body") if key in example}
        for operation, example in kept(name)["operations"].items()
        if operation in described
    }
    known = {
        key: value for request in requests.values() for key, value in request.get("parameters", {}).items()
    }
    for operation in sorted(described.keys() - requests.keys() - BROWSER):
        parameters = [row["name"] for row in described[operation]["parameters"] if row.get("required")]
        requests[operation] = {"parameters": {key: known.get(key, "") for key in parameters}}
    return requests


def _operations(name: str) -> dict[str, Any]:
    """Return the request of each operation with its answer of now."""
    sandbox, examples = Sandbox(), {}
    sender = Sender(sandbox, InProcess(sandbox.app), BASE)
    sender.prepare(name)
    for operation, request in _requests(name).items():
        answer = sender.send(name, operation, **request)
        assert answer.status < 400, (
            f"The example of {operation} is refused with {answer.raw.decode()}. Write parameters and body "
            f'into {file_of(name)}, instead of "{operation}": {json.dumps(request)}.'
        )
        examples[operation] = request
        if answer.headers["content-type"].startswith("application/json"):
            shown = json.loads(MEASURED.sub(r"\g<1>0", answer.raw.decode()))
            examples[operation] |= {"answer": shown} if len(json.dumps(shown)) <= LONGEST else {}
    return examples


def _errors(name: str) -> dict[str, Any]:
    if name == "v2":
        bodies = [json.loads(exchange.body) for exchange in exchanges("v2") if exchange.target[:4] == "/V2."]
        errors = {_template(body.get("msg", "")): body for body in reversed(bodies)}
        del errors[""]  # what succeeds, and what the contract does not document
        return dict(sorted(errors.items()))
    errors = {}

    def through(transport: Transport) -> Transport:
        def recorded(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
            answer = transport(method, target, headers, raw)
            if answer.status >= 400:
                errors.setdefault(str(answer.error), answer.json)
            return answer

        return recorded

    for _ in {"v3": _v3, "control": _control}[name](through):
        pass
    return dict(sorted(errors.items()))


def _lines(part: dict[str, Any]) -> str:
    rows = (
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in part.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}"


def _template(text: str) -> str:
    """The documented message that a message of v2.0 is made from; the plainest where several would do."""
    fitting = [message for _, message in documented_errors() if pattern(message).fullmatch(text)]
    return min(fitting, key=lambda message: (message != text, -len(message)), default="")


def recorded(name: str) -> str:
    """Return the file of examples of a document, as a sandbox answers now: a line for each."""
    parts = {"operations": _operations(name), "errors": _errors(name)}
    return "{\n" + ",\n".join(f'"{part}": {_lines(rows)}' for part, rows in parts.items()) + "\n}\n"


Through = Callable[[Transport], Transport]


def _v3(through: Through) -> Iterator[object]:
    for operation, ladder in LADDERS.items():
        climb = ClimbV3(Sandbox(REGISTRY, assume=ASSUME), operations()[operation])
        climb.wire = through(climb.wire)
        try:
            yield climb.climb([*climb.transport(), *ladder])
        except AssertionError as problem:
            message = f"The ladder of {operation} in tests/v3/test_refusals.py ends early: {problem}"
            raise AssertionError(message) from None


def _control(through: Through) -> Iterator[object]:
    for example in EXAMPLES:
        sandbox = Sandbox(REGISTRY)
        call = over_http(through(InProcess(sandbox.app)))
        silent = over_http(InProcess(sandbox.app))
        for name, parameters in example.before:
            if name == REQUEST:
                sandbox.client().open(**parameters)
            else:
                silent(name, parameters)
        with suppress(AssertionError):  # a stream is no JSON
            yield call(example.operation, example.given)


def file_of(name: str) -> Path:
    """The file that the examples of a document are kept in."""
    return (
        Path(reseller_sandbox.__file__).parent / {"control": "control_http"}.get(name, name) / "examples.json"
    )


if __name__ == "__main__":
    for interface in NAMES:
        try:
            file_of(interface).write_text(recorded(interface), "utf-8")
        except AssertionError as problem:
            sys.exit(str(problem))
