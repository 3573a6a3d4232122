"""Suggestions for misspelt words, summaries of commands, and the values of assumptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.cli import main as command_line
from reseller_sandbox.control import SUMMARIES
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.values.text_checks import complaint, names_phrase
from tests.command import run
from tests.registry import REGISTRY

NO_SUGGESTION = ""


def test_error_for_a_misspelt_word_suggests_the_right_word(subtests, sandbox: Sandbox) -> None:
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


def test_error_for_a_key_in_the_wrong_object_suggests_the_right_object(sandbox: Sandbox) -> None:
    for key, place in {"operation": "match", "times": "when"}.items():
        with pytest.raises(Refused, match=f"{key} is not known here; put it in {place}"):
            sandbox.faults.add("hang", **{key: 1})


def test_error_for_an_unknown_method_or_command_suggests_a_similar_name(sandbox: Sandbox) -> None:
    with pytest.raises(AttributeError, match=r"^journal has no attribute 'list'; did you mean find\?$"):
        sandbox.journal.list()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^clock has no attribute 'forward'; did you mean advance\?$"):
        sandbox.clock.forward(3)  # type: ignore[attr-defined]
    for words, suggestion in {("journal", "list"): "find", ("faults", "inject"): "add"}.items():
        assert f"unknown command '{words[1]}'; did you mean {suggestion}?" in run(*words).err


def test_error_for_a_synonym_of_a_parameter_suggests_the_parameter(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match=r"delay is not known here; did you mean seconds\?"):
        sandbox.faults.add("latency", delay=1)
    with pytest.raises(Refused, match=r"when\.probability is not known here; did you mean chance\?"):
        sandbox.faults.add("reset", when={"probability": 1})
    with pytest.raises(Refused, match=r"clock\.advance takes exactly one of by, "):
        sandbox.clock.advance()


def test_error_with_a_suggestion_ends_with_a_question_mark_and_keeps_quoted_values(sandbox: Sandbox) -> None:
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("latancy")
    assert refused.value.message.endswith("; did you mean latency?")
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("what?.com")
    assert "not 'what?.com'" in refused.value.message


main: Any = command_line.main


def test_summary_of_a_resource_is_the_first_paragraph_of_its_docstring() -> None:
    first = {
        name: (inspect.getdoc(resource) or "").partition("\n\n")[0] for name, resource in RESOURCES.items()
    }
    assert {name: " ".join(sentence.split()) for name, sentence in first.items()} == dict(SUMMARIES)


def test_summary_of_a_command_is_the_first_sentence_of_its_help() -> None:
    context = click.Context(main)
    for name, summary in main.summaries().items():
        command = main.get_command(context, name)
        assert command is not None, name
        if name not in SUMMARIES:
            text = " ".join((command.help or "").split())
            assert text.startswith(summary.removesuffix(".")), name


def test_long_list_in_an_error_is_cut_and_ends_with_the_number_of_omitted_items() -> None:
    names = [f"n{number}" for number in range(40)]
    shown = complaint(names).split("; ")
    assert shown[-1] == f"and {40 - len(shown[:-1])} more"
    assert shown[:-1] == names[: len(shown) - 1]
    assert names_phrase(names, "x") == f"there are {', '.join(shown[:-1])} {shown[-1]}"
    assert complaint(names[: len(shown) - 1]) == "; ".join(shown[:-1])
    assert names_phrase(["a"], "x") == "there is a"
    assert names_phrase([], "names") == "there are no names"


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
