"""Shows every entry that a test makes in a journal as the control interface would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from http.client import HTTPConnection
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from reseller_sandbox.keeping.codec import Writer
from reseller_sandbox.keeping.kinds import Sorts
from reseller_sandbox.powers.journal_records import request_record
from reseller_sandbox.web.records import dumped
from reseller_sandbox.web.strict_json import write
from reseller_sandbox.worlds.journal import Entry, RequestJournal

#: How many entries are held back at most before they are shown.
HELD = 100


def render(entry: Entry) -> Any:
    """The entry as ``GET /_sandbox/journal/{request}`` answers it, held against its document."""
    value = json.loads(write(dumped(request_record(entry))), parse_constant=_no_json)
    _validator().validate(value)
    return value


class Watch:
    """Holds back what journals take, and renders it."""

    def __init__(self) -> None:
        self.seen = 0
        self._held: list[Entry] = []
        self._sorts = Sorts()
        self._failures: list[Exception] = []

    def take(self, entry: Entry) -> None:
        """Hold an entry back, and render all that are held if they are many."""
        self.seen += 1
        self._held.append(entry)
        if len(self._held) >= HELD:
            self._render()

    def check(self) -> None:
        """Render what is held back; raise for the first that could not be since the last check."""
        self._render()
        failures, self._failures = self._failures, []
        if failures:
            raise failures[0]

    def _render(self) -> None:
        if not self._held:
            return
        try:
            # that it can be written down between two runs, whatever the refusal speaks of
            Writer(lambda _head, _body: None, self._sorts).numbers([one.refused for one in self._held])
            while self._held:
                render(self._held.pop())
        except Exception as failure:
            self._failures.append(failure)


@contextmanager
def every_entry() -> Iterator[Watch]:
    """Watch all that any journal of this process takes meanwhile, whichever thread and sandbox it is of."""
    watch, add = Watch(), RequestJournal.add

    def watched(self: RequestJournal, entry: Entry) -> None:
        add(self, entry)
        watch.take(entry)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestJournal, "add", watched)
        yield watch


def served_entries(port: int) -> int:
    """Fetch each entry that a server of another process holds, over HTTP; return how many there are."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/_sandbox/journal?limit=1000")
        answer = connection.getresponse()
        listed = json.loads(answer.read(), parse_constant=_no_json)
    assert answer.status == 200, listed
    for entry in listed["requests"]:
        _validator().validate(entry)
    return len(listed["requests"])


def _no_json(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@cache
def _validator() -> Draft202012Validator:
    from tests.documented import document

    control = document("control")
    return control.answers(control.content["paths"]["/_sandbox/journal/{request}"]["get"]["responses"]["200"])
