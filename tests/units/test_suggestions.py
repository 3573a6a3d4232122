"""A misspelt word gets the known word that is like it, and a strange word gets no suggestion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox

NO_SUGGESTION = ""


def test_a_misspelt_word_gets_a_suggestion(subtests, sandbox: Sandbox) -> None:
    cases: dict[Callable[[str], Any], dict[str, str]] = {
        lambda word: sandbox.assumptions.set({word: "any"}): {
            "v3.id": "v3.ids",
            "purchase_cost": "v3.purchase_cost",
            "V3.IDS": "v3.ids",
            "v3.foo": NO_SUGGESTION,
            "zzz": NO_SUGGESTION,
        },
        sandbox.faults.add: {"latancy": "latency", "Reset": "reset", "zzz": NO_SUGGESTION},
        lambda word: sandbox.faults.add("error", error=word): {
            "domain_not_fuond": "domain_not_found",
            "qqqq": NO_SUGGESTION,
        },
        lambda word: sandbox.faults.add("latency", seconds=1, **{word: {}}): {
            "mach": "match",
            "zzzzzz": NO_SUGGESTION,
        },
    }
    for use, words in cases.items():
        for word, suggestion in words.items():
            with subtests.test(word=word):
                with pytest.raises(Refused) as refused:
                    use(word)
                assert refused.value.message.partition("did you mean ")[2].rstrip("?") == suggestion


def test_a_suggestion_ends_its_sentence_and_leaves_quoted_values_unchanged(sandbox: Sandbox) -> None:
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("latancy")
    assert refused.value.message.endswith("; did you mean latency?")
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("what?.com")
    assert "not 'what?.com'" in refused.value.message
