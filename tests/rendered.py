"""Shows every entry that a test makes in a journal as the control interface would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reseller_sandbox.powers.journal_records import request_record
from reseller_sandbox.web.records import dumped
from reseller_sandbox.web.strict_json import write
from reseller_sandbox.worlds.journal import Entry, Journal

#: How many entries are held back at most before they are shown.
HELD = 100


def render(entry: Entry) -> Any:
    """The entry as ``GET /_sandbox/journal/{request}`` answers it, held against its document."""
    value = json.loads(write(dumped(request_record(entry))), parse_constant=_no_json)
    _validator().validate(value)
    return value


@contextmanager
def every_entry() -> Iterator[None]:
    """Render all that any journal takes meanwhile; fails at the end with the first that cannot be."""
    held: list[Entry] = []
    failures: list[Exception] = []
    add = Journal.add

    def watched(self: Journal, entry: Entry) -> None:
        add(self, entry)
        held.append(entry)
        if len(held) >= HELD:
            render_all()

    def render_all() -> None:
        try:
            while held:
                render(held.pop())
        except Exception as failure:
            failures.append(failure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "add", watched)
        yield
    render_all()
    if failures:
        raise failures[0]


def _no_json(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@cache
def _validator() -> Draft202012Validator:
    from tests.documented import document

    control = document("control")
    return control.validator(
        control.content["paths"]["/_sandbox/journal/{request}"]["get"]["responses"]["200"]
    )
