"""Records the examples of the OpenAPI documents from a sandbox: what it is asked, and what it answers.

``python -m tests.contract.recording`` (or ``make examples``) writes them into the package. The requests are
those that the tests make of every operation and for every error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import reseller_sandbox
from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, Headers, InProcess, Transport
from tests.contract.test_v3 import BY_ID, CASES
from tests.contract.v2_pairs import PAIRS
from tests.documented import document
from tests.powers.doors import over_http
from tests.powers.example import REQUEST
from tests.powers.examples import EXAMPLES
from tests.registry import BASE, REGISTRY
from tests.script import MEASURED
from tests.v2 import client as v2
from tests.v2.works import WORKS
from tests.v3.ladders import ASSUME, LADDERS, Climb

NAMES = ("v3", "v2", "control")

#: What is longer would drown the document that it is an example for.
LONGEST = 4000


@dataclass
class Recorder:
    """Remembers the first success of every operation of a document, and the first error of each kind."""

    name: str
    operations: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = document(self.name).content["paths"]
        self.rows = [
            (re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path))), row)
            for path, row in sorted(paths.items(), key=lambda item: item[0].count("{"))
        ]

    def through(self, transport: Transport) -> Transport:
        """``transport``, by which whatever is answered is recorded."""

        def recorded(method: str, target: str, headers: Headers, raw: bytes) -> Answer:
            answer = transport(method, target, headers, raw)
            if answer.headers["content-type"].startswith("application/json"):
                self.note(method, target, raw, answer)
            return answer

        return recorded

    def note(self, method: str, target: str, raw: bytes, answer: Answer) -> None:
        """Record an answer, if it is the first of its kind."""
        body = json.loads(MEASURED.sub(rb'"\1":0', answer.raw))
        if answer.status >= 400:
            self.errors.setdefault(body.get("error") or _template(body["msg"]), body)
            return
        path, _, query = target.partition("?")
        for rule, row in self.rows:
            found = rule.fullmatch(path)
            if found and method.lower() in row:
                self._succeeded(row[method.lower()], found, query, raw, body)
                return

    def _succeeded(self, operation: Any, path: re.Match[str], query: str, raw: bytes, answer: Any) -> None:
        types = {one["name"]: one["schema"].get("type") for one in operation["parameters"]}
        told = {name: unquote(value) for name, value in path.groupdict().items()} | dict(parse_qsl(query))
        parameters = {
            name: int(value) if types.get(name) == "integer" else value for name, value in told.items()
        }
        asked = {"parameters": parameters} if parameters else {}
        asked |= {"body": json.loads(raw)} if raw.strip(b"{} ") and "requestBody" in operation else {}
        if len(json.dumps(answer)) <= LONGEST:
            asked["answer"] = answer
        self.operations.setdefault(operation["operationId"], asked)

    @property
    def text(self) -> str:
        """The file: a line for each example, in the order of their names."""
        parts = {"operations": self.operations, "errors": self.errors}
        return "{\n" + ",\n".join(f'"{name}": {_lines(part)}' for name, part in parts.items()) + "\n}\n"


def _lines(part: dict[str, Any]) -> str:
    rows = (
        f"{json.dumps(key)}: {json.dumps(part[key], ensure_ascii=False, separators=(',', ':'))}"
        for key in sorted(part)
    )
    return "{\n" + ",\n".join(rows) + "\n}"


MESSAGES = {
    re.compile(re.sub(r"\\\{\\\{.*?\\\}\\\}", ".*", re.escape(message))): message for _, message in PAIRS
}


def _template(message: str) -> str:
    """The documented message that a message of v2.0 is made from; the plainest where several would do."""
    fitting = [told for rule, told in MESSAGES.items() if rule.fullmatch(message)]
    return min(fitting, key=lambda told: (told != message, -len(told)), default=message)


def recorded(name: str) -> str:
    """The examples of a document, as a sandbox answers now."""
    recorder = Recorder(name)
    for _ in {"v3": _v3, "v2": _v2, "control": _control}[name](recorder):
        pass
    return recorder.text


def _v3(recorder: Recorder) -> Iterator[object]:
    sandbox = Sandbox(REGISTRY)
    held = sandbox.account()
    api = Api(recorder.through(InProcess(sandbox.app)), BASE, held.key, held.secret)
    for case in CASES:
        sandbox.reset(original=True)
        yield api.call(BY_ID[case.operation]["method"], case.target, case.body)
    yield api.get("/v3/domains/5/1")
    for operation, climb in LADDERS.items():
        row = BY_ID[operation]
        one = Climb(
            Sandbox(REGISTRY, assume=ASSUME),
            row["method"],
            row["path"],
            takes_body=row["method"] in ("POST", "PUT"),
        )
        one.api.transport = recorder.through(one.api.transport)
        one.transport()
        yield climb(one)


def _v2(recorder: Recorder) -> Iterator[object]:
    sandbox = Sandbox(v2.REGISTRY)
    client = v2.Client(recorder.through(InProcess(sandbox.app)), sandbox.account().token, checked=False)
    for ask in WORKS.values():
        sandbox.reset(original=True)
        yield ask.send(client)
    for pair in PAIRS.values():
        sandbox.reset(original=True)
        if pair.arrange is not None:
            pair.arrange(sandbox)
        token = (
            "no-token-of-anybody"
            if pair.account == "nobody"
            else sandbox.account(pair.account or "main").token
        )
        headers = [JSON] if not pair.account else [("X-Auth-Token", token), JSON]
        yield client.call(pair.ask.method, pair.ask.path, pair.ask.body, headers)


def _control(recorder: Recorder) -> Iterator[object]:
    sandbox = Sandbox(REGISTRY)
    call = over_http(recorder.through(InProcess(sandbox.app)))
    silent = over_http(InProcess(sandbox.app))
    for example in EXAMPLES:
        sandbox.engine.start_over()
        for name, given in example.before:
            if name == REQUEST:
                sandbox.client().open(**given)
            else:
                silent(name, given)
        with suppress(AssertionError):  # a stream is no JSON
            yield call(example.operation, example.given)


def file_of(name: str) -> Path:
    """The file that the examples of a document are kept in."""
    return Path(reseller_sandbox.__file__).parent / name / "examples.json"


if __name__ == "__main__":
    for interface in NAMES:
        file_of(interface).write_text(recorded(interface), "utf-8")
