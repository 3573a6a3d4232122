"""Suggestions for misspelt words, summaries of commands, and the values of assumptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.cli import main as command_line
from reseller_sandbox.control import SUMMARIES, hints
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import operations_by_id
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
            **{"timeout": "hang", "delay": "latency", "slow": "latency"},
            "503": "error with status=503 or error with error=service_unavailable or the preset maintenance",
            "insufficient_funds": "error with error=insufficient_funds",
            "lost responses": "the preset lost-responses",
        },
        lambda word: sandbox.faults.preset(word): {
            **{"unavailable": "outage or maintenance", "chaos": "flaky", "429": "rate-limited"}
        },
        lambda word: sandbox.faults.add("error", status=word): {
            **{"unavailable": "503", "teapot": "418", "503": "503", "zzz": NO_SUGGESTION}
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
    with pytest.raises(AttributeError, match=r"^journal has no attribute 'find'; did you mean list\?$"):
        sandbox.journal.find()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^clock has no attribute 'forward'; did you mean advance\?$"):
        sandbox.clock.forward(3)  # type: ignore[attr-defined]
    for words, suggestion in {("journal", "find"): "list", ("faults", "inject"): "add"}.items():
        assert f"unknown command '{words[1]}'; did you mean {suggestion}?" in run(*words).err


#: Words that people typed, each with the operation or resource that the error suggests.
MEANT = {
    "names.remove": "simulate.drop",
    "names.renew": "simulate.renew",
    "names.update": "simulate.change",
    "accounts.update": "set_balance",
    "accounts.add_funds": "credit",
    "accounts.balance": "get or set_balance",
    "simulate.adjust_balance": "accounts.set_balance",
    "simulate.credit": "accounts.credit",
    "ledger.find": "list",
    "clock.wait": "advance",
    "faults.delete_all": "clear",
    "transfers.approve": "simulate.approve_transfer",
    "journal.zzz": NO_SUGGESTION,
    "domains": "names",
    "balance": "accounts.get or accounts.set_balance",
    "advance": "clock.advance",
    "zzz": NO_SUGGESTION,
}


def test_unknown_names_suggest_operations_of_the_whole_interface(subtests, sandbox: Sandbox) -> None:
    for words, suggestion in MEANT.items():
        with subtests.test(words=words):
            *resource, name = words.split(".")
            with pytest.raises(AttributeError) as unknown:
                getattr(getattr(sandbox, resource[0]) if resource else sandbox, name)
            assert str(unknown.value).partition("did you mean ")[2].rstrip("?") == suggestion
            error = run(*words.replace("_", "-").split(".")).err
            given = error.partition("did you mean ")[2].partition("?")[0]
            assert given == suggestion.replace("_", "-").replace(".", " ")


def test_unknown_control_paths_suggest_operations_of_the_whole_interface(sandbox: Sandbox, subtests) -> None:
    for method, path, suggestion in (
        ("POST", "balance", "POST /_sandbox/accounts/{account}/set_balance"),
        ("POST", "reset", "POST /_sandbox/history/reset"),
        ("DELETE", "names/active.com", "POST /_sandbox/simulate/drop"),
        ("POST", "names", "POST /_sandbox/names/{name}"),
        ("POST", "clock", "POST /_sandbox/clock/advance"),
        ("PUT", "assumptions", "POST /_sandbox/assumptions/set"),
        ("POST", "assumptions", "POST /_sandbox/assumptions/set"),
        ("PATCH", "names/active.com", "POST /_sandbox/simulate/change"),
        ("POST", "clock/wait", "POST /_sandbox/clock/advance"),
        ("GET", "ledger/find", "GET /_sandbox/ledger"),
        ("GET", "domains", "GET /_sandbox/names"),
        ("POST", "simulate/adjust_balance", "POST /_sandbox/accounts/{account}/set_balance"),
        ("POST", "accounts/main/add_funds", "POST /_sandbox/accounts/{account}/credit"),
        ("POST", "accounts/main/topup", "POST /_sandbox/accounts/{account}/credit"),
        ("POST", "accounts/main/credti", "POST /_sandbox/accounts/{account}/credit"),
        ("GET", "accounts/main/balance", "GET /_sandbox/accounts/{account}"),
        ("POST", "names/active.com/suspend", "POST /_sandbox/simulate/hold"),
        ("POST", "transfers/active.com/approve", "POST /_sandbox/simulate/approve_transfer"),
        ("POST", "faults/slow/disable", "POST /_sandbox/faults/{name}/pause"),
        ("POST", "worlds/main/fork", "POST /_sandbox/worlds/fork"),
        ("POST", "journal/clear", "DELETE /_sandbox/journal"),
    ):
        with subtests.test(method=method, path=path):
            answer = sandbox.client().open(f"/_sandbox/{path}", method=method, json={})
            assert answer.status_code in (400, 404, 405, 409, 422)
            assert suggestion in answer.json["message"]
    for name in ("north/south", "main%2Fcredit"):  # the name of an account can contain slashes
        assert "did you mean" not in sandbox.client().get(f"/_sandbox/accounts/{name}").json["message"]


def test_each_known_path_explains_a_wrong_method(sandbox: Sandbox, subtests) -> None:
    client = sandbox.client()
    for document in ("control", "v3", "v2"):
        paths = client.get(f"/_sandbox/openapi/{document}.json").json["paths"]
        assert paths
        for path, row in paths.items():
            for method in {"get", "post", "put", "patch", "delete"} - row.keys():
                with subtests.test(method=method, path=path):
                    answer = client.open(re.sub(r"\{\w+\}", "x", path), method=method.upper(), json={})
                    assert 400 <= answer.status_code < 500


def test_each_hint_leads_to_an_operation_and_no_word_is_an_operation_already() -> None:
    known = operations_by_id(RESOURCES.values()).keys()
    assert hints.OPERATIONS.keys() <= known
    assert hints.RESOURCES.keys() <= RESOURCES.keys()
    words = {
        word if "." in word else f"{operation.partition('.')[0]}.{word}"
        for operation, row in hints.OPERATIONS.items()
        for word in row.split()
    }
    assert words & known == set()
    assert {word for row in hints.RESOURCES.values() for word in row.split()} & RESOURCES.keys() == set()


def test_assigning_an_unknown_attribute_of_a_resource_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(
        AttributeError, match=r"accounts has no attribute 'balance'; did you mean .*set_balance"
    ):
        sandbox.accounts.balance = 5  # type: ignore[attr-defined]


def test_error_for_a_wrong_word_of_a_command_suggests_the_option(subtests) -> None:
    for line, hint in {
        "faults add latency seconds=32": "unexpected word 'seconds=32'; write --seconds 32",
        "faults add reset match.operation=v3.*": "'match.operation=v3.*'; write --match operation=v3.*",
        "faults add reset --operation v3.*": "option --operation; did you mean --match operation=VALUE?",
        "faults add latency --delay 3": "unknown option --delay; did you mean --seconds VALUE?",
        "names list --limt 3": "unknown option --limt; did you mean --limit VALUE?",
        "simulate register x.com years=2": "unexpected word 'years=2'; write --years 2",
        "accounts credit main 100 200": "unexpected word '200'; the options are --at, --after",
        "simulate credit main 100": "unknown command 'credit'; did you mean accounts credit?",
        "reset": "unknown command 'reset'; did you mean history reset?",
        "start": "unknown command 'start'; did you mean serve?",
    }.items():
        with subtests.test(line=line):
            assert hint in run(*line.split()).err


def test_every_mistake_of_a_fault_rule_is_reported_at_once(sandbox: Sandbox) -> None:
    rule = {"match": {"operation": 3, "operatin": "x"}, "when": {"phase": "during", "chance": 2}}
    with pytest.raises(Refused) as refused:
        sandbox.faults.add("latency", second=1, **rule)
    mistakes = ("second", "match.operatin", "match.operation", "when.phase", "when.chance")
    assert all(f"{mistake} " in refused.value.message for mistake in mistakes)
    answer = sandbox.client().post("/_sandbox/faults", json={"kind": "latency", "second": 1, **rule})
    assert all(f"{mistake} " in answer.json["message"] for mistake in mistakes)


def test_unknown_error_of_a_fault_is_named_and_the_known_errors_are_listed(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match=r"error 'nonsense' is not .* known are already_yours, .* and \d+ more"):
        sandbox.faults.add("error", error="nonsense")


def test_error_for_a_synonym_of_a_parameter_suggests_the_parameter(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match=r"delay is not known here; did you mean seconds\?"):
        sandbox.faults.add("latency", delay=1)
    with pytest.raises(Refused, match=r"when\.probability is not known here; did you mean chance\?"):
        sandbox.faults.add("reset", when={"probability": 1})
    with pytest.raises(Refused, match=r"clock\.advance takes exactly one of by, "):
        sandbox.clock.advance()


def test_error_for_an_assignment_to_a_result_names_the_operation(sandbox: Sandbox) -> None:
    account, name, clock = sandbox.accounts["main"], sandbox.names["active.com"], sandbox.clock.show()
    for record, field, operation in (
        (account, "balance", "accounts.set_balance"),
        (name, "expires", "simulate.change"),
        (clock, "now", "clock.set"),
    ):
        with pytest.raises(AttributeError, match=rf"^{field} cannot be assigned.* call {operation}"):
            setattr(record, field, None)


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
