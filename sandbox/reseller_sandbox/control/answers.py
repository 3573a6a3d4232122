"""Canned answers to requests that no operation of the contract takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec.structs import replace

from reseller_sandbox.answers import NAME, CannedAnswer, read_answer
from reseller_sandbox.answers.canned import ANSWER, METHOD, PATH, RESPONSE, STATUS, free_name
from reseller_sandbox.control.local_transport import local_transport
from reseller_sandbox.control.resource import read, write
from reseller_sandbox.control.results import Keyed, Result
from reseller_sandbox.faults.kinds.answers import HEADERS, MEDIA_TYPE
from reseller_sandbox.refusals import ANSWER_EXISTS, INVALID_PARAMETER, UNKNOWN_ANSWER, Refused
from reseller_sandbox.values.kinds import ANYTHING, MAPPING, Within, listed
from reseller_sandbox.values.matching import GLOBS_BY_PATH
from reseller_sandbox.values.parameters import refused
from reseller_sandbox.values.text_checks import decimals_to_floats, names_phrase
from reseller_sandbox.worlds import World

#: The largest number of answers in a world, because every unmatched request is compared with each.
MOST_ANSWERS = 1000

AnswerName = Annotated[str, NAME, "The answer's name."]
Changes = Annotated[Mapping[str, Any], replace(MAPPING, write=decimals_to_floats)]


class AnswerRecord(Result, frozen=True, kw_only=True):
    """A canned answer, and how many requests it has answered (``matched``).

    ``sequence`` lists the responses in turn. Without it, ``status``, ``headers``, ``body`` and
    ``content_type`` are the response to every request.
    """

    name: str
    method: str
    path: str
    request_body: Mapping[str, Any] | None
    status: int
    headers: Mapping[str, str] | None
    body: Any
    content_type: str | None
    sequence: tuple[Mapping[str, Any], ...]
    matched: int


class AnswerList(Result, frozen=True, kw_only=True):
    """The canned answers in the order in which they are tried."""

    answers: tuple[AnswerRecord, ...]


class Answers(Keyed[AnswerRecord]):
    """Canned answers to requests that no operation of the contract takes.

    A canned answer never replaces an operation of the contract. To change the answer of an operation, use a
    fault. Texts in headers and bodies can have placeholders such as ``{zone}``, ``{body.type}`` or
    ``{zone.expires}``.

    >>> added = sandbox.answers.add("/dns/zones/{zone}", body={"zone": "{zone}"})
    >>> added.name
    'get-dns-zones-zone'
    """

    @read()
    def list(self) -> AnswerList:
        """Return every answer in order, with the number of requests that it has answered."""
        return _listed(local_transport(self).world)

    @read(UNKNOWN_ANSWER)
    def get(self, name: AnswerName, /) -> AnswerRecord:
        """Return one answer."""
        return _record(name, _answer(local_transport(self).world, name))

    @write(ANSWER_EXISTS)
    def add(
        self,
        path: Annotated[str, PATH, "The path. A {placeholder} matches one segment."],
        *,
        method: Annotated[str, METHOD, "The HTTP method."] = "GET",
        name: Annotated[str, NAME, "The answer's name. Default: the method and the path."] | None = None,
        request_body: Annotated[
            Mapping[str, Any],
            GLOBS_BY_PATH,
            "Values in the JSON body of the request, by path. The body may have more values.",
        ]
        | None = None,
        status: Annotated[int, STATUS, "The HTTP status. Default: 200."] | None = None,
        headers: Annotated[Mapping[str, str], HEADERS, "Headers of the response."] | None = None,
        body: Annotated[
            Any,
            replace(ANYTHING, write=decimals_to_floats),
            "The body: text without conversion, any other value as JSON.",
        ] = None,
        content_type: Annotated[
            str, MEDIA_TYPE, "The body's media type. Default: text/plain or application/json."
        ]
        | None = None,
        sequence: Annotated[
            Sequence[Mapping[str, Any]],
            replace(listed(RESPONSE), write=lambda value: decimals_to_floats(listed(RESPONSE).write(value))),
            "Responses in turn, each with status, headers, body and content_type. The last one repeats.",
        ]
        | None = None,
    ) -> AnswerRecord:
        """Add an answer after the existing answers. Return it."""
        parts = {
            "path": path,
            "method": method,
            "request_body": request_body,
            "status": status,
            "headers": headers,
            "body": body,
            "content_type": content_type,
            "sequence": sequence,
        }
        answer, world = self._read(parts), local_transport(self).world
        with world.lock:
            answers = world.snapshot.answers
            if name in answers:
                raise Refused(ANSWER_EXISTS, answer=name)
            if len(answers) >= MOST_ANSWERS:
                raise Refused(INVALID_PARAMETER, problems=f"a world has at most {MOST_ANSWERS} answers")
            name = name or free_name(answer.method, answer.path, answers)
            world.change(answers={**answers, name: answer})
        return _record(name, answer)

    @write(UNKNOWN_ANSWER)
    def change(self, name: AnswerName, /, changes: Changes) -> AnswerRecord:
        """Change parts of an answer. The answer keeps its place and its count.

        Args:
            changes: The changed parts. A null removes the part.
        """
        world = local_transport(self).world
        with world.lock:
            answer = self._read({**ANSWER.write(_answer(world, name)), **changes})
            world.change(answers={**world.snapshot.answers, name: answer})
        return _record(name, answer)

    def _read(self, parts: Mapping[str, Any]) -> CannedAnswer:
        """Return an answer with these parts. Refuse with ``invalid_parameter``."""
        try:
            return read_answer(
                {key: value for key, value in parts.items() if value is not None}, local_transport(self).words
            )
        except Within as wrong:
            raise refused(wrong.problems) from None

    @write(UNKNOWN_ANSWER)
    def remove(self, name: AnswerName, /) -> AnswerList:
        """Remove one answer. Return the remaining answers."""
        world = local_transport(self).world
        with world.lock:
            removed = _answer(world, name)
            rest = {key: answer for key, answer in world.snapshot.answers.items() if answer is not removed}
            world.change(answers=rest)
            return _listed(world)

    @write()
    def clear(self) -> AnswerList:
        """Remove every answer."""
        local_transport(self).world.change(answers={})
        return AnswerList(answers=())


def _answer(world: World, name: str) -> CannedAnswer:
    """Return the answer of that name. Refuse with ``unknown_answer``."""
    answers = world.snapshot.answers
    if name not in answers:
        raise Refused(UNKNOWN_ANSWER, answer=name[:80], known=names_phrase(answers, "answers"))
    return answers[name]


def _listed(world: World) -> AnswerList:
    return AnswerList(answers=tuple(_record(name, answer) for name, answer in world.snapshot.answers.items()))


def _record(name: str, answer: CannedAnswer) -> AnswerRecord:
    body = None if answer.request_body is None else GLOBS_BY_PATH.write(answer.request_body)
    return AnswerRecord(
        name=name,
        method=answer.method,
        path=answer.path,
        request_body=body,
        status=answer.status,
        headers=answer.headers,
        body=answer.body,
        content_type=answer.content_type,
        sequence=tuple(map(RESPONSE.write, answer.sequence)),
        matched=answer.matched,
    )
