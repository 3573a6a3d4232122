"""A value of an assumption ends up in bodies, paths and headers: each takes only what is good there."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import Assumptions, BadAssumption
from reseller_sandbox.core.refusals import Refused
from tests.registry import REGISTRY

NAMES = [item.metadata["name"] for item in fields(Assumptions)]
FREE_KINDS = {"word", "versions", "headers"}
FREE = [item.metadata["name"] for item in fields(Assumptions) if item.metadata["kind"].name in FREE_KINDS]

HOSTILE = ["a\nb", "a\r\nX-Evil: 1", "a\x00b", "", " ", "é", "\ud800", "x" * 70_000, '"', "V2.0\nX", "a b"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", HOSTILE)
def test_no_assumption_takes_text_that_no_header_could_carry(name: str, value: str) -> None:
    """None of them, whatever its kind; inside a list neither."""
    for given_value in (value, [value], ["V2.0", value]):
        with pytest.raises(BadAssumption):
            Assumptions().with_values({name: given_value})


@pytest.fixture(scope="module")
def free() -> Sandbox:
    return Sandbox(REGISTRY)


def test_the_walk_below_meets_every_free_value() -> None:
    """A silence with a free value of another kind needs a walk of its own."""
    kinds = {item.metadata["kind"].name for item in fields(Assumptions)}
    assert kinds == {"choice", "switch", "seconds"} | FREE_KINDS
    assert FREE


@given(name=st.sampled_from(FREE), value=st.text(max_size=60) | st.from_regex(r"[Vv]\d{1,6}\.\d{1,6}"))
def test_what_an_assumption_takes_the_server_can_answer_with(free: Sandbox, name: str, value: str) -> None:
    """Either the value is refused, or both interfaces go on answering as well as before."""
    free.reset()
    try:
        free.assumptions.set({name: value})
    except Refused:
        return
    client = free.client()
    assert client.get("/V2.0/domain/active.com").status_code in (200, 501)
    names = {"domainNames": ["active.com", "free.com", "free.nowhere", "-", "gov.com"]}
    answer = client.post("/v3/domains/checkAvailability", json=names)
    assert answer.status_code == 200
    assert len(str(answer.headers)) < 2000
    free.assumptions.set({name: {item.metadata["name"]: item.default for item in fields(Assumptions)}[name]})
