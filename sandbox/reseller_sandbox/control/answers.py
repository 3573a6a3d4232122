"""Canned answers to requests that no operation of the contract takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from reseller_sandbox import answers as canned
from reseller_sandbox.answers import ANSWER, CannedAnswer, read_answer
from reseller_sandbox.control.resource import read, write
from reseller_sandbox.control.results import Keyed, Result, record_of
from reseller_sandbox.refusals import ANSWER_EXISTS, INVALID_PARAMETER, UNKNOWN_ANSWER, Refused
from reseller_sandbox.values.kinds import Key, Mistake, Record, Within
from reseller_sandbox.values.matching import GLOBS_BY_PATH
from reseller_sandbox.values.parameters import refused
from reseller_sandbox.values.text_checks import names_phrase

#: The largest number of answers in a world. The limit exists because each unmatched request is compared with
#: all answers.
MOST_ANSWERS = 1000

AnswerName = Annotated[Key, "The answer's name."]


class AnswerRecord(Result, frozen=True, kw_only=True):
    """A canned answer. ``matched`` counts the requests that received this answer.

    If ``sequence`` has responses, each request receives the next response, and the last response repeats.
    Otherwise every request receives the response in ``status``, ``headers``, ``body`` and ``content_type``.
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
    entry: str | None
    exists: bool | None
    save: Any
    delete: bool
    saved: Mapping[str, Any] | None
    matched: int


class AnswerList(Result, frozen=True, kw_only=True):
    """The canned answers in order. A request gets the first answer that matches it."""

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

    @read("GET answers")
    def list(self) -> AnswerList:
        """Return every answer in order. Each answer has the number of requests that received the answer."""
        answers = self._world.snapshot.answers
        return AnswerList(answers=tuple(_record(name, answer) for name, answer in answers.items()))

    @read("GET answers/{name}", UNKNOWN_ANSWER)
    def get(self, name: AnswerName, /) -> AnswerRecord:
        """Return one answer."""
        return _record(name, self._answer(name))

    @write("POST answers", ANSWER_EXISTS)
    def add(
        self,
        path: canned.Path,
        *,
        method: canned.Method = "GET",
        name: Annotated[Key, "The answer's name. Default: the method and the path."] | None = None,
        request_body: canned.RequestBody = None,
        status: canned.Status = 200,
        headers: canned.Headers = None,
        body: canned.Body = None,
        content_type: canned.MediaType = None,
        sequence: canned.Responses = (),
        entry: canned.Entry = None,
        exists: canned.Exists = None,
        save: canned.Save = None,
        delete: canned.Delete = False,
        saved: canned.Saved = None,
    ) -> AnswerRecord:
        """Add an answer after the existing answers. Return the new answer.

        To let a client read what it wrote, give several answers the same ``entry``: one with ``save``, one
        with ``{entry}`` or ``{entries}`` in its body, and one with ``delete``.
        """
        new = {
            "path": path,
            "method": method,
            "request_body": request_body,
            "status": status,
            "headers": headers,
            "body": body,
            "content_type": content_type,
            "sequence": sequence or None,
            "entry": entry,
            "exists": exists,
            "save": save,
            "delete": delete,
            "saved": saved,
        }
        answer, answers = self._read(new), self._world.snapshot.answers
        if name in answers:
            raise Refused(ANSWER_EXISTS, answer=name)
        if len(answers) >= MOST_ANSWERS:
            raise Refused(INVALID_PARAMETER, problems=f"a world has at most {MOST_ANSWERS} answers")
        return self._set(name or canned.free_name(answer.method, answer.path, answers), answer)

    @write("PATCH answers/{name}", UNKNOWN_ANSWER)
    def change(self, name: AnswerName, /, changes: Record) -> AnswerRecord:
        """Change parts of an answer. The answer keeps its position and its count of requests.

        Args:
            changes: The parts to change, with their new values. The value null removes a part.
        """
        if "matched" in changes:
            raise refused(
                [Mistake(("matched",), "cannot be changed, because it counts the answered requests")]
            )
        parts = {**ANSWER.write(self._answer(name)), **changes}
        return self._set(
            name, self._read({part: value for part, value in parts.items() if value is not None})
        )

    def _set(self, name: str, answer: CannedAnswer) -> AnswerRecord:
        self._world.change(answers={**self._world.snapshot.answers, name: answer})
        return _record(name, answer)

    def _answer(self, name: str) -> CannedAnswer:
        """Return the answer called ``name``. Refuse with ``unknown_answer`` if there is none."""
        answers = self._world.snapshot.answers
        if name not in answers:
            raise Refused(UNKNOWN_ANSWER, answer=name[:80], known=names_phrase(answers, "answers"))
        return answers[name]

    def _read(self, answer: Mapping[str, object]) -> CannedAnswer:
        """Validate ``answer``, and convert it to a ``CannedAnswer``. Refuse with ``invalid_parameter``."""
        try:
            return read_answer(answer, self._local.words)
        except Within as wrong:
            raise refused(wrong.problems) from None

    @write("DELETE answers/{name}", UNKNOWN_ANSWER)
    def remove(self, name: AnswerName, /) -> AnswerList:
        """Remove one answer. Return the remaining answers."""
        self._answer(name)
        answers = self._world.snapshot.answers
        self._world.change(answers={key: answer for key, answer in answers.items() if key != name})
        return self.list()

    @write("DELETE answers")
    def clear(self) -> AnswerList:
        """Remove every answer."""
        self._world.change(answers={})
        return self.list()


def _record(name: str, answer: CannedAnswer) -> AnswerRecord:
    body = None if answer.request_body is None else GLOBS_BY_PATH.write(answer.request_body)
    sequence = tuple(map(canned.RESPONSE.write, answer.sequence))
    return record_of(AnswerRecord, answer, name=name, request_body=body, sequence=sequence)
