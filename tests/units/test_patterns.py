"""The regular expressions of a fixture are matched in linear time."""

from __future__ import annotations

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.registry import edit
from tests.v2.client import REGISTRY
from tests.v2.works import CARD, NAME

#: A backtracking engine takes exponential time for these.
GREEDY = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){20}", "(a*)*b", "([a-z]+)*[0-9]"]


@pytest.fixture(scope="module")
def world() -> Sandbox:
    return Sandbox(REGISTRY)


def set_patterns(sandbox: Sandbox, pattern: str) -> None:
    """Use ``pattern`` for the extra contact parameter and for the licence of com.ua."""
    sandbox.reset(original=True)
    edit(sandbox, {"contact_params": {"tax_number": pattern}, "zones": {"com.ua": {"license": pattern}}})


def outcomes(sandbox: Sandbox, text: str) -> list[str]:
    """Send ``text`` as the contact parameter and as the licence. Return both outcomes."""
    client = sandbox.client()
    client.post("/V2.0/contact/NEW", json={**CARD, "tax_number": text})
    client.post("/V2.0/domain/new.com.ua", json={**NAME, "license": text})
    return [str(request.outcome) for request in sandbox.journal.find().requests[-2:]]


@pytest.mark.timeout(20)  # another engine would take years
def test_patterns_take_linear_time(world: Sandbox) -> None:
    for pattern in GREEDY:
        set_patterns(world, pattern)
        for length in (28, 999, 250_000):
            found = outcomes(world, "a" * length + "!")
            assert found == ["invalid_extra", "invalid_license"], (pattern, length)


def test_unusable_patterns_are_refused_with_the_reason(subtests, world: Sandbox) -> None:
    for pattern, reason in {
        "(": "missing )",
        "(?=a)b": "(?=",
        r"(a)\1": "invalid escape sequence",
        "a{2000}": "invalid repetition size",
        ".{900}": "repeats too much",
        "x" * 1001: "1 to 1000 characters",
    }.items():
        with subtests.test(pattern=pattern):
            with pytest.raises(Refused) as refused:
                set_patterns(world, pattern)
            assert refused.value.message.count(reason) >= 2
            assert "contact_params.tax_number" in refused.value.message
            assert "zones.com.ua.license" in refused.value.message


def test_a_pattern_matches_the_whole_text(subtests, world: Sandbox) -> None:
    for pattern, text, accepted in [
        ("[A-Z]{2}[0-9]{6}", "AB123456", True),
        ("[A-Z]{2}[0-9]{6}", "AB1234567", False),
        ("(?i)ab|cd", "CD", True),
        ("\\pL+", "жé", True),
        (".*", "a" * 1001, False),
    ]:
        with subtests.test(pattern=pattern, text=text):
            set_patterns(world, pattern)
            assert (outcomes(world, text) == ["ok", "ok"]) is accepted
