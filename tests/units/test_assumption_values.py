"""The value of an assumption ends up in bodies, paths and headers, so it is checked when it is set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from tests.registry import REGISTRY

ASSUMPTIONS = Sandbox(REGISTRY).assumptions.list().assumptions
#: The assumptions whose values are not listed: words, header names and versions.
FREE = [row.name for row in ASSUMPTIONS if not row.takes.startswith(("one of", "true or false", "a number"))]
HOSTILE = ["a\nb", "a\r\nX-Evil: 1", "a\x00b", "", " ", "é", "\ud800", "x" * 70_000, '"', "V2.0\nX", "a b"]


def test_assumption_refuses_text_that_is_invalid_in_a_header(sandbox: Sandbox) -> None:
    accepted = []
    for assumption in ASSUMPTIONS:
        for hostile in HOSTILE:
            for value in (hostile, [hostile], ["V2.0", hostile]):
                try:
                    sandbox.assumptions.set({assumption.name: value})
                except Refused:
                    continue
                accepted.append((assumption.name, value))
    assert accepted == []


@pytest.fixture(scope="module")
def shared() -> Sandbox:
    return Sandbox(REGISTRY)


@given(name=st.sampled_from(FREE), value=st.text(max_size=60) | st.from_regex(r"[Vv]\d{1,6}\.\d{1,6}"))
def test_accepted_values_of_assumptions_leave_responses_valid(shared: Sandbox, name: str, value: str) -> None:
    shared.reset(original=True)
    try:
        shared.assumptions.set({name: value})
    except Refused:
        return
    client = shared.client()
    assert client.get("/V2.0/domain/active.com").status_code in (200, 501)
    names = {"domainNames": ["active.com", "free.com", "free.nowhere", "-", "gov.com"]}
    answer = client.post("/v3/domains/checkAvailability", json=names)
    assert answer.status_code == 200
    assert len(str(answer.headers)) < 2000
