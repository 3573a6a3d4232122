"""A misspelt word gets the known word that is like it, and a strange word gets no suggestion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.command import run

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
        sandbox.faults.add: {
            **{"latancy": "latency", "Reset": "reset", "zzz": NO_SUGGESTION},
            **{"timeout": "hang", "delay": "latency"},
        },
        lambda word: sandbox.faults.add("error", error=word): {
            "domain_not_fuond": "domain_not_found",
            "qqqq": NO_SUGGESTION,
            "no_money": "insufficient_funds",
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


def test_a_key_in_the_wrong_place_gets_its_place(sandbox: Sandbox) -> None:
    for key, place in {"operation": "match", "times": "when"}.items():
        with pytest.raises(Refused, match=f"{key} is not known here; put it in {place}"):
            sandbox.faults.add("hang", **{key: 1})


def test_an_unknown_method_gets_a_suggestion(sandbox: Sandbox) -> None:
    with pytest.raises(AttributeError, match=r"^journal has no 'list'; did you mean find\?$"):
        sandbox.journal.list()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^clock has no 'forward'; did you mean advance\?$"):
        sandbox.clock.forward(3)  # type: ignore[attr-defined]
    for words, suggestion in {("journal", "list"): "find", ("faults", "inject"): "add"}.items():
        assert f"unknown command '{words[1]}'; did you mean {suggestion}?" in run(*words).err


def test_a_parameter_with_another_name_gets_a_suggestion(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match=r"delay is not known here; did you mean seconds\?"):
        sandbox.faults.add("latency", delay=1)
    with pytest.raises(Refused, match=r"when\.probability is not known here; did you mean chance\?"):
        sandbox.faults.add("reset", when={"probability": 1})
    with pytest.raises(Refused, match=r"clock\.advance takes exactly one of by, "):
        sandbox.clock.advance()


def test_a_suggestion_ends_its_sentence_and_leaves_quoted_values_unchanged(sandbox: Sandbox) -> None:
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("latancy")
    assert refused.value.message.endswith("; did you mean latency?")
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("what?.com")
    assert "not 'what?.com'" in refused.value.message
