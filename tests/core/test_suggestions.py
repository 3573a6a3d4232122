"""A misspelt word gets the known word that is like it, and a strange word gets no suggestion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api

NO_SUGGESTION = ""

CASES: dict[str, tuple[Callable[[Sandbox, str], Any], dict[str, str]]] = {
    "assumption": (
        lambda sandbox, word: sandbox.assumptions.set({word: "any"}),
        {
            "v3.id": "v3.ids",
            "purchase_cost": "v3.purchase_cost",
            "V3.IDS": "v3.ids",
            "v3.foo": NO_SUGGESTION,
            "zzz": NO_SUGGESTION,
        },
    ),
    "fault kind": (
        lambda sandbox, word: sandbox.faults.add(word),
        {"latancy": "latency", "Reset": "reset", "zzz": NO_SUGGESTION},
    ),
    "error": (
        lambda sandbox, word: sandbox.faults.add("error", error=word),
        {"domain_not_fuond": "domain_not_found", "qqqq": NO_SUGGESTION},
    ),
    "key of a rule": (
        lambda sandbox, word: sandbox.faults.add("latency", seconds=1, **{word: {}}),
        {"mach": "match", "zzzzzz": NO_SUGGESTION},
    ),
}


@pytest.mark.parametrize("subject", CASES)
def test_a_misspelt_word_gets_a_suggestion(subtests: pytest.Subtests, sandbox: Sandbox, subject: str) -> None:
    use, words = CASES[subject]
    for word, suggestion in words.items():
        with subtests.test(word=word):
            with pytest.raises(Refused) as refused:
                use(sandbox, word)
            assert refused.value.message.partition("nearest is ")[2].rstrip(".") == suggestion


def test_a_path_under_an_unknown_version_gets_the_operation(api: Api) -> None:
    for path, operation in {
        "/AAA/domain/zones": "GET /{version}/domain/zones,",
        "/AAA/customer/7": "GET /{version}/customer/{customer_id},",
        "/v9.x/domain/a.com/check": "GET /{version}/domain/{domain_name}/check",
    }.items():
        answer = api.get(path)
        assert answer.status == 404
        assert operation in answer.message, path


def test_a_strange_path_gets_no_suggestion(api: Api) -> None:
    for path in ("/robots.txt", "/a/b/c", "/v3/webhooks"):
        assert "nearest" not in api.get(path).message, path
