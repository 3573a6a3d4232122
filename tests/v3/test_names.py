"""Internationalised names: their spellings, their form in messages, and rules about scripts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.values.names import normalise
from tests.clients import Api
from tests.registry import Make, connect, create, edit_name, edit_zone
from tests.v2.client import connect as connect_v2
from tests.v2.client import refusal

D = "/v3/domains"
#: Two names with a joiner that IDNA allows: Persian with U+200C, Hindi with U+200D.
JOINED = ("نامه\u200cای.com", "क्\u200dष.com")


@pytest.mark.parametrize("name", JOINED)
def test_a_name_with_a_joiner_is_the_same_name_in_every_operation(sandbox: Sandbox, name: str) -> None:
    api = connect(sandbox, checked=False)
    assert create(api, name).json["domain"]["domainName"] == name
    assert sandbox.names.get(name).ascii == normalise(name)
    assert sandbox.names.list(like=f"{name[:4]}*").total == 1
    assert sandbox.journal.list(domain=name).requests[0].operation == "v3.createDomain"
    sandbox.faults.add("error", error="service_unavailable", match={"domain": name}, when={"times": 1})
    assert api.get(f"{D}/getDomain/{quote(name)}").status == 503
    assert sandbox.events.list(domain=name).events
    for act in (sandbox.simulate.hold, sandbox.simulate.release_hold, sandbox.simulate.drop):
        act(name)
    sandbox.simulate.register(name)
    sandbox.load(sandbox.export())
    assert sandbox.names.get(name).account == "outside"


PRICES = dict.fromkeys(("registration", "renewal", "transfer", "restore"), "1.00")
#: The forms of a name that is sent in Unicode, and of one that is sent in ASCII.
FORMS = {"unicode": ("unicode", "unicode"), "ascii": ("ascii", "ascii"), "as_asked": ("unicode", "ascii")}
SERVERS = {"nameservers": ["ns1.example.org"]}


@pytest.mark.parametrize("form", FORMS)
def test_messages_write_names_in_the_form_of_responses(make: Make, form: str) -> None:
    forms = {"v3.names.form": form, "v2.names.form": form}
    sandbox = make(assume={**forms, "v3.nameservers.own_glue": "required"})
    api, v2 = connect(sandbox, checked=False), connect_v2(sandbox)
    spellings = {"unicode": "bücher", "ascii": "xn--bcher-kva"}
    assert create(api, "bücher.com", **SERVERS).error is None
    host = {"hostname": "ns1", "ips": ["192.0.2.1"]}
    assert api.post(f"{D}/glueRecords/{quote('bücher.com')}", host).error is None
    for asked, expected in zip(spellings, FORMS[form], strict=True):
        sent, written = spellings[asked], spellings[expected]
        path = quote(f"{sent}.com")
        answers = [
            create(api, f"{sent}.com", **SERVERS),
            create(api, f"{sent}.nowhere"),
            api.get(f"{D}/getAuthcode/{quote(sent)}.net"),
            api.post(f"{D}/glueRecords/{path}", host),
            api.post(f"{D}/glueRecords/{path}", {**host, "hostname": "ns1.other.net"}),
            api.post(f"{D}/setNameservers/{path}", {"nameservers": [f"ns9.{sent}.com"]}),
            api.post(f"{D}/cancelTransfer/{path}"),
        ]
        for answer in answers:
            as_sent = answer.message.replace(f"ns9.{sent}", "")  # the value of the request is not rewritten
            assert [spelling for spelling in spellings.values() if spelling in as_sent] == [written], (
                answer.message
            )
            assert answer.assumptions["v3.names.form"] == form
        lost = v2.get(f"/domain/{path}/host/ns7")
        assert refusal(lost)[1] == f"Object not found ns7.{written}.com"
        header = v2.get(f"/domain/x.{quote(sent)}/check").headers["x-sandbox-refusal"]
        assert header.endswith(f"the service does not offer {spellings['ascii']}."), "headers have only ASCII"
        sandbox.faults.add("error", error="name_taken", when={"times": 1})
        assert f"{written}.com" in create(api, f"{sent}.com", **SERVERS).message
    plain = create(api, "active.com", **SERVERS)
    assert plain.error == "name_taken"
    assert "v3.names.form" not in plain.assumptions


def test_a_message_has_the_name_of_each_domain_that_uses_a_host(sandbox: Sandbox) -> None:
    api = connect(sandbox)
    sandbox.assumptions.set({"v3.names.form": "ascii"})
    for name in ("bücher.com", "plain.com"):
        assert create(api, name, nameservers=["ns1.active.com"]).error is None
    answer = api.delete(f"{D}/glueRecords/active.com/ns1")
    assert answer.message.startswith("ns1.active.com is a name server of xn--bcher-kva.com, plain.com")


SCRIPTS: dict[tuple[str, ...], tuple[list[str], dict[str, str]]] = {
    ("cyrillic",): (
        ["привіт", "при-віт-24"],
        {"hello": "the letter 'h' (U+0068) is Latin, but zone accepts only Cyrillic", "прiвіт": "U+0069"},
    ),
    ("latin", "cyrillic"): (["hello", "españa", "привіт"], {"привet": "one script", "αβγ": "is Greek"}),
    ("latin", "han"): (["日本shop", "shop-日本"], {"日本ごshop": "is Hiragana"}),
    (): (
        ["hello", "привіт", "日本ごカナ", "한글漢字", "שלום", "日本ごshop", "k한글"],
        {
            "пaypal": "(U+043F) is Cyrillic and the letter 'a'",
            "日本привіт": "is Han",
            "日本shopпр": "is Cyrillic",
            "кшоп日": "is Han",
        },
    ),
}


@pytest.mark.parametrize("scripts", SCRIPTS)
def test_a_zone_refuses_letters_of_other_scripts(sandbox: Sandbox, scripts: tuple[str, ...]) -> None:
    edit_zone(sandbox, "zone", prices=PRICES, idn=True, scripts=list(scripts), mixed_scripts="refused")
    api, v2 = connect(sandbox), connect_v2(sandbox)
    accepted, refused = SCRIPTS[scripts]
    for label in accepted:
        assert create(api, f"{label}.zone").error is None, label
    for label, reason in refused.items():
        name = f"{label}.zone"
        answer = create(api, name)
        assert (answer.error, reason in answer.message) == ("invalid_name", True), answer.message
        checked = api.post(f"{D}/checkAvailability", {"domainNames": [name]})
        assert checked.json["results"][0]["status"] == "invalid"
        assert reason in checked.headers["x-sandbox-refusal"]
        code, message, rule = refusal(v2.get(f"/domain/{quote(name)}/check"))
        assert (code, message, rule) == (400, "Not the correct domain name", "invalid_name")


def test_a_zone_without_rules_accepts_mixed_scripts(sandbox: Sandbox) -> None:
    assert create(connect(sandbox), "пaypal.com").error is None


def test_a_name_below_a_zone_that_is_not_offered_names_this_zone(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "ua", prices=PRICES)
    edit_name(sandbox, "held.com.ua", license="123456")
    api, v2 = connect(sandbox), connect_v2(sandbox)
    answer = create(api, "foo.lviv.ua")
    assert answer.error == "zone_not_supported"
    assert "does not offer lviv.ua" in answer.message
    assert refusal(v2.get("/domain/foo.lviv.ua/check"))[:2] == (400, "Domain zone not support")
    assert create(api, "www.own.ua").error == "zone_not_supported"
    assert create(api, "own.ua").error is None
    assert create(api, "www.own.ua").error == "invalid_name"
    assert create(api, "www.new.com").error == "invalid_name"


TRANSFER = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}
REFUSED: dict[str, tuple[str, Any, str]] = {
    "a second transfer": ("requestTransfer", TRANSFER, "a pending transfer, which forbids requestTransfer."),
    "redemption": ("renewDomain/redemption.com", {}, "actions: restore in v2.0, reading glue records."),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_message_speaks_to_the_client(sandbox: Sandbox, api: Api, case: str) -> None:
    path, body, words = REFUSED[case]
    api.post(f"{D}/{path}", body)
    assert words in api.post(f"{D}/{path}", body).message


def test_a_name_that_cannot_exist_is_called_invalid(api: Api) -> None:
    assert "is not a valid domain name: IDNA rejects" in api.get(f"{D}/getDomain/{quote('🙂.com')}").message


def test_a_value_at_the_end_of_an_unknown_path_is_no_word(api: Api) -> None:
    assert "has nothing like it; to answer" in api.post(f"{D}/modifyDnsRecord/so.xyz/www").message
    assert "the nearest is POST /v3/domains/lock/{domainName}" in api.post(f"{D}/lock/so.xyz/now").message
