"""Paths of faults into requests and answers: each that can lead to a value is accepted, no other is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import InProcess
from tests.contract.recording import Sender, kept
from tests.documented import ID, document
from tests.registry import BASE

#: Values of the assumptions that decide which keys an answer has.
SHAPES: tuple[dict[str, str], ...] = (
    {},
    {"v2.zones.data": "object", "v3.set_contacts.answer": "message", "v2.zones.no_promotion": "nulls"},
    {"v2.domain_info.shape": "wrapped", "v3.set_contacts.answer": "contacts", "v3.list.last_page": "always"},
)


def paths(value: Any, path: str = "") -> Iterator[str]:
    """The path of every part of a JSON value. Some steps into arrays are in brackets, some are not."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from paths(item, f"{path}[{at}]" if at % 2 else f"{path}.{at}" if path else str(at))


def described(name: str) -> Iterator[dict[str, Any]]:
    """The operations in an OpenAPI document."""
    for methods in document(name).content["paths"].values():
        yield from methods.values()


def is_accepted(sandbox: Sandbox, kind: str, **rule: Any) -> bool:
    try:
        with sandbox.faults.add(kind, **rule):
            return True
    except Refused as refused:
        return " is in no " not in refused.message


@pytest.mark.parametrize("name", ["v3", "v2"])
def test_a_path_to_any_part_of_an_answer_or_a_request_is_accepted(name: str, subtests) -> None:
    ids = {row["operationId"]: row[ID] for row in described(name)}
    sandbox, examples = Sandbox(), kept(name)
    for assumed in SHAPES:
        sender = Sender(other := Sandbox(assume=assumed), InProcess(other.app), BASE)
        for key, example in examples["operations"].items():
            request = {part: example[part] for part in ("parameters", "body") if part in example}
            answer = sender.send(name, key, **request).json
            match = {"operation": ids[key]}
            match = {"operation": ids[key]}
            with subtests.test(operation=key, assumed=assumed):
                sandbox.faults.replace(
                    [
                        *(
                            {"kind": "mutate", "path": path, "drop": True, "match": match}
                            for path in paths(answer)
                        ),
                        {
                            "kind": "reset",
                            "match": {**match, "body": dict.fromkeys(paths(example["body"]), "*")},
                        }
                        if "body" in example
                        else {"kind": "reset", "match": match},
                    ]
                )
    in_errors = {path for error in examples["errors"].values() for path in paths(error)}
    sandbox.faults.replace(
        [
            {"kind": "mutate", "path": path, "type": "null", "match": {"operation": operation}}
            for path in in_errors
            for operation in ids.values()
        ]
    )


NEVER = (
    ("v3.getDomain", "expireDate", "did you mean domain.expireDate?"),
    ("v3.getDomain", "domain.expiryDate", "did you mean domain.expireDate?"),
    ("v3.getDomain", "domain.contacts.reg-contact.mail", "did you mean domain.contacts.reg-contact.email"),
    ("v3.listDomains", "domains.0.expires", "did you mean domains[*].expireDate?"),
    ("v3.listDomains", "domains.expireDate", "did you mean domains[*].expireDate?"),
    ("v3.balance", "balance", "did you mean [*].balance?"),
    ("v3.balance", "xyz.of", "; its keys are [*], error, message"),
    ("v2.domain.zones", "data[*].price", "did you mean "),
    ("v2.*", "message", "the operations that the rule matches"),
    (
        ["v3.getDomain", "v3.balance"],
        "domains[0]",
        "the operations that the rule matches; did you mean domain?",
    ),
)


def test_a_path_that_no_answer_can_have_is_refused_with_the_nearest_path(sandbox: Sandbox, subtests) -> None:
    for operation, path, hint in NEVER:
        with subtests.test(operation=operation, path=path):
            with pytest.raises(Refused) as caught:
                sandbox.faults.add("mutate", path=path, drop=True, match={"operation": operation})
            assert caught.value.message.startswith(f"path '{path}' is in no answer of ")
            assert hint in caught.value.message
    wrong = {"kind": "mutate", "path": "totalPayed", "value": 1}
    for refused in (lambda: sandbox.faults.add(**wrong), lambda: sandbox.faults.replace([wrong])):
        with pytest.raises(Refused, match="did you mean totalPaid"):
            refused()
    sandbox.faults.add("mutate", path="totalPaid", value=1)
    with pytest.raises(Refused, match=r"did you mean domain\.expireDate"):
        sandbox.faults.change("mutate", {"path": "expireDate", "match": {"operation": "v3.getDomain"}})
    sandbox.faults.clear()
    text = (
        sandbox.export()
        + "\nfaults:\n  wrong: {kind: mutate, path: totalPayed, value: 1, match: {operation: v3.*}}\n"
    )
    with pytest.raises(Refused, match="did you mean totalPaid"):
        sandbox.load(text)


def test_a_value_can_be_added_only_to_an_object_or_an_array_of_the_answer(sandbox: Sandbox) -> None:
    match = {"operation": "v3.getDomain"}
    for path in ("note", "domain.note", "domain.contacts.reg-contact.note", "domain.nameservers.2"):
        assert is_accepted(sandbox, "mutate", path=path, add=1, match=match)
    for path in ("note.of", "domain.contacts.note.of", "domain.nameservers.note", "status.note"):
        assert not is_accepted(sandbox, "mutate", path=path, add=1, match=match)


def test_a_body_that_no_request_can_have_is_refused(sandbox: Sandbox) -> None:
    for operation, body, hint in (
        ("v3.createDomain", {"domain.domain": "*"}, "match.body.domain.domain is in no request"),
        ("v3.createDomain", {"year": 2}, "did you mean years?"),
        ("v3.createDomain", {"domain": {"name": "*"}}, "match.body.domain.name is in no request"),
        ("v3.getDomain", {"domainName": "*"}, "because none has a JSON body"),
        ("v2.domain.edit", {"ns.remove[0]": "*"}, "match.body.ns.remove[0] is in no request"),
        ("v2.host.create", {"ip": [{"address": "*"}]}, "match.body.ip[*].address is in no request"),
        ("v2.customer.create", {"post_address": "*"}, "did you mean post_adress?"),
    ):
        with pytest.raises(Refused) as caught:
            sandbox.faults.add("reset", match={"operation": operation, "body": body})
        assert hint in caught.value.message
        with pytest.raises(Refused, match="is in no request"):
            sandbox.simulate.when(after={"operation": operation, "body": body}).register("free-name.com")
    for operation, body in (
        ("v3.createDomain", {"tldRequirements.any": "*"}),
        ("v2.contact.create", {"an-extra-parameter": "*"}),
        ("v2.domain.register", {"ns.array[0]": "*"}),
        ("v3.setAuthcode", {"authcode": "*"}),
        ("v3.lockTransfer", {"domainName": "*"}),
        ("v3.setNameservers", {"domain": {"domainName": "*"}}),
        ("v3.deleteGlueRecord", {"hostname": "*"}),
        ("v2.domain.edit", {"domain": "*"}),
        ("v3.*", {"authCode": "*"}),
    ):
        assert is_accepted(sandbox, "reset", match={"operation": operation, "body": body})


def test_paths_into_canned_answers_are_those_of_their_bodies(sandbox: Sandbox) -> None:
    body = {"records": [{"type": "A"}], "zone": "{zone}", "sent": "{body}"}
    sandbox.answers.add("/dns/{zone}", name="dns", body=body, method="POST")
    match = {"operation": "canned.dns"}
    for path in ("records.0.type", "zone", "sent.any[7]"):
        assert is_accepted(sandbox, "mutate", path=path, drop=True, match=match)
        assert is_accepted(sandbox, "mutate", path=path, drop=True)
    assert is_accepted(sandbox, "reset", match={**match, "body": {"any": 1}})
    assert not is_accepted(sandbox, "mutate", path="records.0.kind", drop=True, match=match)
    sandbox.faults.add("mutate", path="records.0.type", drop=True, match=match)
    sandbox.faults.replace(sandbox.faults.list())
    sandbox.answers.remove("dns")
    sandbox.faults.pause("mutate")
    before = sandbox.export()
    sandbox.load(before)
    assert sandbox.export() == before
