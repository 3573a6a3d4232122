"""Calibration: transcripts of a service give back the values of its assumptions, and no others."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import expect_explained
from tests.thorough import tries
from tests.tools.running import command, printed, refused
from tests.tools.transcripts import Recorder

D, V = "/v3/domains", "/V2.0"
FORM = {"content-type": "application/x-www-form-urlencoded"}
CARD = {"name": "Ann", "address": "1 Main Street", "city": "Kyiv", "country": "UA", "zip": "01001"}
CARD |= {"phone": "+380.441234567", "mail": "ann@example.com"}
PERSON = {"name": "Ann", "address1": "1 Main Street", "city": "Kyiv", "country": "UA", "zipcode": "01001"}
PERSON |= {"phone": "380.441234567", "email": "ann@example.com"}
HANDLES = dict.fromkeys(
    ("contact_registrant", "contact_admin", "contact_tech", "contact_billing"), "MAIN-TECH"
)
ORDER = {**HANDLES, "ns": ["ns1.example.net"], "period": 1}
WITH_GLUE = {"nameservers": ["ns1.active-example.com"]}


HARS = sorted((Path(__file__).parents[1] / "data" / "transcripts").glob("*.har"))
TOLD = {
    "v3.ids": "integer",
    "v3.create.locked": "always",
    "v2.domain_check.avail": "boolean",
    "v3.errors.http_status": "always_200",
}


def available(*names: str) -> tuple[Any, ...]:
    """A request for the availability of names."""
    return "POST", f"{D}/checkAvailability", {"domainNames": list(names)}


def create(name: str, years: int = 1, **more: Any) -> tuple[Any, ...]:
    """A registration."""
    return "POST", f"{D}/createDomain", {"domain": {"domainName": name, **more}, "years": years}


#: Requests that tell the word for a name that is taken.
TAKEN = (("GET", f"{D}/getDomain/active-example.com"), available("active-example.com"))

#: Requests about the default fixture that tell an assumption, by its name.
PROBES: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "locks.registry_hold": [("POST", f"{D}/unlock/stopped-example.com")],
    "hosts.private_addresses": [
        ("POST", f"{D}/glueRecords/active-example.com", {"hostname": "ns7", "ips": ["10.0.0.1"]})
    ],
    "requests.unknown_keys": [
        ("POST", f"{D}/checkAvailability", {"domainNames": ["free-name.com"], "surplus": 1})
    ],
    "v2.http_status": [("GET", f"{V}/domain/nobodys-name.com")],
    "v2.customer_edit.by": [("PUT", f"{V}/customer", {"mail": "carl@example.com", "name": "Carl"})],
    "v2.domain_info.shape": [("GET", f"{V}/domain/active-example.com")],
    "v2.domain_check.avail": [("GET", f"{V}/domain/free-name.com/check")],
    "v2.zones.data": [("GET", f"{V}/domain/zones/new")],
    "v2.zones.no_promotion": [("GET", f"{V}/domain/zones/ukrainian")],
    "v2.names.form": [
        (
            "PUT",
            f"{V}/domain/xn--espaa-example-lkb.com/renew",
            {"current_expiry_date": "2026-10-07", "period": 1},
        ),
        (
            "PUT",
            f"{V}/domain/espa%C3%B1a-example.com/renew",
            {"current_expiry_date": "2027-10-07", "period": 1},
        ),
    ],
    "v2.customer_delete.refusal_status": [("DELETE", f"{V}/customer/501")],
    "v2.transfer_status": [("GET", f"{V}/domain/kept-example.org/transfer")],
    "v2.request_format": [
        (
            "POST",
            f"{V}/domain/taken-example.net/transfer",
            b"customer_id=501&transfer_code=Taken-Code-2",
            FORM,
        )
    ],
    "v2.contact.required": [("POST", f"{V}/contact/NEW-ONE", CARD)],
    "v2.customer.required": [
        ("POST", f"{V}/customer", {"mail": "new@example.com", "name": "N"}),
        ("POST", f"{V}/customer", {**CARD, "mail": "newer@example.com"}),
    ],
    "v2.phone": [
        ("POST", f"{V}/contact/NEW-TWO", {**CARD, "company": "W", "fax": "+380 44 123 45 67", "region": "K"})
    ],
    "v2.ns.repeated": [
        ("GET", f"{V}/domain/active-example.com"),
        ("PUT", f"{V}/domain/active-example.com", {"ns": {"add": ["ns1.example.net"]}}),
    ],
    "v3.request.content_type": [
        (
            "POST",
            f"{D}/checkAvailability",
            b'{"domainNames":["free-name.com"]}',
            {"content-type": "text/plain"},
        )
    ],
    "v3.errors.http_status": [("GET", f"{D}/getDomain/nobodys-name.com")],
    "v3.availability.taken": TAKEN,
    "v3.availability.unsupported": [available("free-name.nozone", "free-name.com")],
    "v3.availability.invalid": [available("-.com")],
    "v3.contacts.required": [
        create("without.com"),
        create(
            "one-role.com",
            contacts={"reg-contact": {**PERSON, "company-name": "W", "state": "K", "fax": "380.441234568"}},
        ),
    ],
    "v3.contacts.fields": [
        create("bare.com", contacts={"reg-contact": {"name": "Ann", "country": "UA"}}),
        create("usual.com", contacts={"reg-contact": PERSON}),
    ],
    "v3.unlock_transfer.locked": [("POST", f"{D}/unlockTransfer/locked-example.net")],
    "v3.list.last_page": [("GET", f"{D}?perPage=100&page=1")],
    "v3.list.parameters": [("GET", D)],
    "v3.set_contacts.answer": [
        ("POST", f"{D}/setContacts/active-example.com", {"contacts": {"tech-contact": PERSON}})
    ],
    "v3.expired_status": [("GET", f"{D}/getDomain/overdue-example.com")],
    "v3.update_lock.covers": [
        ("POST", f"{D}/lockUpdate/active-example.com"),
        ("POST", f"{D}/setNameservers/active-example.com", {"nameservers": ["ns1.example.net"]}),
    ],
    "v3.get_domain.order_id": [("GET", f"{D}/getDomain/100001")],
    "v3.ids": [("GET", "/v3/balance")],
    "v3.names.form": [
        ("GET", f"{D}/getDomain/xn--espaa-example-lkb.com"),
        ("GET", f"{D}/getDomain/espa%C3%B1a-example.com"),
    ],
    "v3.switches.repeated": [
        ("POST", f"{D}/enableAutorenew/active-example.com"),
        ("POST", f"{D}/enableAutorenew/active-example.com"),
    ],
    "v3.create.autorenew": [create("on.com", autorenewEnabled=True), create("off.com")],
    "v3.create.locked": [create("on.com", lockedEnabled=True), create("off.com")],
    "v3.privacy.not_offered": [create("new-name.com.ua", privacyEnabled=True)],
    "v3.nameservers.own_glue": [("POST", f"{D}/setNameservers/active-example.com", WITH_GLUE)],
}

#: Requests that tell one together with the zones and prices of the fixture.
PRICED: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "v2.renew.maximum": [
        ("PUT", f"{V}/domain/long-example.com/renew", {"current_expiry_date": "2035-01-15", "period": 11})
    ],
    "v3.availability.reserved": [*TAKEN, available("registry.com")],
    "v3.availability.out_of_service": [*TAKEN, available("free-name.tel")],
    "v3.purchase_cost": [
        ("POST", f"{D}/renewDomain/active-example.com", {"purchaseCost": 1}),
        ("POST", f"{D}/renewDomain/silver.com"),
    ],
    "v3.privacy.charged": [create("private-two.com", 2, privacyEnabled=True)],
    "v3.privacy.renewal": [("POST", f"{D}/renewDomain/private-example.com")],
    "v3.transfer.years": [
        (
            "POST",
            f"{D}/requestTransfer",
            {"domain": {"domainName": "taken-example.net"}, "authCode": "Taken-Code-2", "years": 2},
        )
    ],
}

#: Values that something else looks like, so that they are left open beside the other without a fixture.
ALIKE = {
    ("v3.expired_status", "active"),  # a service that ends a term late
    ("v3.nameservers.own_glue", "ignored"),  # a zone that keeps no hosts
}

#: What a service looks like that has this word for names of a zone it does not know.
CALLED_SO = ("v3.availability.out_of_service", "available")

BEGAN = str(Path(__file__).parents[1] / "data" / "transcripts" / "began.yaml")
BALANCE = ("GET", "/v3/balance")

#: Requests that tell one where it is known what there was at first, with that; a text is a time to wait.
FOLLOWED: Mapping[str, tuple[str, Sequence[tuple[Any, ...] | str]]] = {
    "lifecycle.early_delete.refunds": (
        "default",
        [
            BALANCE,
            ("POST", f"{D}/renewDomain/fresh-example.com"),
            ("DELETE", f"{V}/domain/fresh-example.com"),
            BALANCE,
        ],
    ),
    "lifecycle.transfer_lock.from": (
        BEGAN,
        [
            (
                "POST",
                f"{D}/requestTransfer",
                {"domain": {"domainName": "moved-example.com"}, "authCode": "Moved-Code-1"},
                None,
                "other",
            )
        ],
    ),
    "lifecycle.autorenew.tries": (
        BEGAN,
        [
            "P2D",
            ("DELETE", f"{V}/domain/fresh-example.com"),
            "P2D",
            ("GET", f"{D}/getDomain/due-example.com"),
        ],
    ),
    "v2.active_orders": (BEGAN, [("DELETE", f"{V}/customer/501")]),
    "v2.arriving_status": ("default", [("GET", f"{V}/domain/arriving-example.com")]),
    "v2.renew.date_end": (
        "default",
        [
            (
                "PUT",
                f"{V}/domain/active-example.com/renew",
                {"current_expiry_date": "2026-10-07", "period": 1, "date_end": "2031-01-01"},
            )
        ],
    ),
    "v3.contacts.left_out": (
        "default",
        [
            ("POST", f"{D}/setContacts/active-example.com", {"contacts": {"tech-contact": PERSON}}),
            ("GET", f"{V}/contact/C000001"),
        ],
    ),
    "v2.premium_names": ("default", [("POST", f"{V}/domain/gold.com", ORDER)]),
    **{name: ("default", PROBES[name]) for name, _ in sorted(ALIKE)},
}

#: What the words for availability may be.
WORDS = ("busy", "not-there", "registered")

ASSUMPTIONS = {one.name: one for one in Sandbox().assumptions.list().assumptions}


def values_of(name: str) -> Sequence[Any]:
    """Return the values of an assumption that a service may have."""
    listed = ASSUMPTIONS[name].takes.partition("one of ")[2]
    words = {"true": True, "false": False}
    return [words.get(word, word) for word in listed.split(", ")] if listed else WORDS


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value))


class Found:
    """What ``calibrate`` reports of the requests of a recorder; nothing in it is wrong."""

    def __init__(self, record: Recorder, fixture: str = "") -> None:
        words = ["--fixture", fixture] if fixture else []
        told = printed("calibrate", record.write(Path("transcript.json")), "--json", *words)
        self.all = {one["name"]: one for one in told["assumptions"]}
        true = {one.name: plain(one.value) for one in record.sandbox.assumptions.list().assumptions}
        wrong = {
            name: (one, true[name])
            for name, one in self.all.items()
            if true[name] in one["ruled_out"] or one["value"] not in (None, true[name])
        }
        assert not wrong, wrong
        assert told["deviations"] == []
        assert told["followed_to"] is None
        self.true = true

    def value(self, name: str) -> Any:
        """Return the value that is told of an assumption, or None."""
        return self.all[name]["value"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def service(assume: Mapping[str, Any], fixture: str | None = None) -> Recorder:
    """Return a recorder of a sandbox that stands for the real service, with habits of its own."""
    return Recorder(Sandbox(fixture, assume=assume))


@pytest.mark.slow
def test_a_value_that_few_requests_tell_is_told(subtests: pytest.Subtests) -> None:
    """With PRICED, the zones and prices of the service are known."""
    for requests, fixture in ((PROBES, ""), (PRICED, "default")):
        for name, value in ((each, value) for each in requests for value in values_of(each)):
            with subtests.test(name, value=value):
                record = service({name: value})
                record.all(requests[name])
                is_alike = (name, value) in (*ALIKE, CALLED_SO)
                assert Found(record, fixture).value(name) == (None if is_alike else value)


def test_what_there_was_at_first_tells_the_rest(subtests: pytest.Subtests) -> None:
    """Money, time and the holders of names are followed from request to request."""
    for name, (fixture, requests) in FOLLOWED.items():
        for value in values_of(name):
            with subtests.test(name, value=value):
                record = service({name: value}, fixture)
                record.all(requests)
                assert Found(record, fixture).value(name) == value


CHECK = f"{V}/domain/free-name.com/check"
NEW = [("POST", f"{V}/domain/new-example.com", ORDER), ("GET", f"{D}/getDomain/new-example.com")]

#: Words without an end: a service may have others beside those that were seen, so that none is forced.
PARTLY = [
    ("v2.versions", ("V2.0", "V2.1"), [("GET", CHECK), ("GET", CHECK.replace("2.0", "2.1"))]),
    ("v2.versions", ("V2.1",), [("GET", CHECK), ("GET", CHECK.replace("2.0", "2.1"))]),
    ("v2.token_headers", ("X-My-Token",), [("GET", CHECK, None, {"x-my-token": "sandbox-token"})]),
    ("v2.license", "cert", [("POST", f"{V}/domain/brand.ua", {**ORDER, "cert": "123456"})]),
    ("v2.order_processing", 3600, [*NEW, "PT2H", NEW[1]]),
]

#: Words, of which the one that was seen is the only one: an answer shows it.
TOLD_WHOLE = [f"v3.availability.{one}" for one in ("taken", "reserved", "unsupported", "invalid")]


def test_words_without_an_end_are_likely_where_they_were_seen(subtests: pytest.Subtests) -> None:
    """The default is ruled out, and a profile takes what was seen."""
    for name, value, requests in PARTLY:
        with subtests.test(name, value=value):
            record = service({name: value})
            record.all(requests)
            one = Found(record, "default").all[name]
            assert plain(ASSUMPTIONS[name].default) in one["ruled_out"]
            command("calibrate", "transcript.json", "--fixture", "default", "--write", "profile.yaml")
            profile = Sandbox(profile="profile.yaml").assumptions.list().assumptions
            assert plain({one.name: one.value for one in profile}[name]) == plain(value)


FREE = [
    name
    for name, one in ASSUMPTIONS.items()
    if not name.startswith(("v3.signature.", "v3.api_key"))
    and (one.takes.startswith("one of") or name.startswith("v3.availability"))
]

#: Requests about the default fixture.
IN_DEFAULT: dict[str, Sequence[tuple[Any, ...] | str]] = {**PROBES, **PRICED}
IN_DEFAULT |= {name: requests for name, (fixture, requests) in FOLLOWED.items() if fixture == "default"}


@pytest.mark.slow
@given(
    assume=st.fixed_dictionaries({name: st.sampled_from(values_of(name)) for name in FREE}),
    asked=st.lists(st.sampled_from(sorted(IN_DEFAULT)), min_size=3, max_size=6, unique=True),
)
@settings(max_examples=tries(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_wrong_is_told_of_a_service_with_any_habits(assume: dict[str, Any], asked: list[str]) -> None:
    record = service(assume)
    for name in asked:
        record.all(IN_DEFAULT[name])
    Found(record)
    Found(record, "default")


def test_each_assumption_is_told_or_says_which_request_tells_it() -> None:
    done = command("calibrate", *HARS)
    names = [
        line.split()[0].partition("=")[0].rstrip(":") for line in done.stdout.splitlines() if line[:2] == "  "
    ]
    several = sorted(
        name for name, one in ASSUMPTIONS.items() if not re.fullmatch(r"one of [^,]+", one.takes)
    )
    assert sorted(name for name in names if name in ASSUMPTIONS) == several
    [other] = [line for line in done.stdout.splitlines() if "is no request of the reseller API" in line]
    assert other.endswith("chrome.har: entry 1 is no request of the reseller API")
    requests = {
        one["name"]: one["would_tell"] for one in printed("calibrate", *HARS, "--json")["assumptions"]
    }
    tried = {*PROBES, *PRICED, *FOLLOWED, *(name for name, *_ in PARTLY)}
    words = {f"v3.availability.{word}" for word in ("taken", "reserved", "unsupported", "invalid")}
    assert {name for name, request in requests.items() if request} <= tried | words
    assert all(name in requests or name.startswith("v3.signature.") for name in several)


# Files


def test_every_writer_of_har_files_is_read(subtests: pytest.Subtests) -> None:
    """Base64, pseudo headers, redacted and missing headers, and paths that begin elsewhere."""
    assert [file.stem for file in HARS] == ["charles", "chrome", "firefox", "mitmproxy"]
    for file in HARS:
        with subtests.test(file.stem):
            found = printed("calibrate", file, "--json")
            told = {one["name"]: one["value"] for one in found["assumptions"] if one["value"] is not None}
            assert TOLD.items() <= told.items()
            assert (found["exchanges"], found["deviations"]) == (4, [])
            reasons = ["is no request of the reseller API", "has no answer"] if file.stem == "chrome" else []
            assert [one["reason"] for one in found["passed_over"]] == reasons


def test_a_profile_explains_the_transcripts_and_has_no_secret() -> None:
    done = command("calibrate", *HARS, "--write", "profile.yaml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "v3.create.locked=always, not as_sent, never" in done.stdout
    listed = Sandbox(profile="profile.yaml").assumptions.list().assumptions
    assert {one.name: one.value for one in listed if one.value != one.default} == TOLD
    expect_explained(*HARS, profile="profile.yaml")
    with pytest.raises(AssertionError, match="entry 1: v3"):
        expect_explained(*HARS)
    assert "live-" not in done.stdout + Path("profile.yaml").read_text()


def har(*entries: Any) -> Path:
    """Write a HAR file with these entries."""
    (file := Path("made.har")).write_text(json.dumps({"log": {"entries": entries}}))
    return file


def entry(answer: Any, status: int = 200, url: str = "https://api.example.test/v3/balance") -> dict[str, Any]:
    """Return an exchange as a HAR file has it, as short as possible."""
    return {
        "request": {"method": "GET", "url": url},
        "response": {"status": status, "content": {"text": json.dumps(answer)}},
    }


def test_a_response_that_no_value_explains_is_shown_with_both_sides() -> None:
    """Secrets in it are masked. A key that the contract does not have does not hinder."""
    answer: dict[str, Any] = {
        "client-id": None,
        "serverTime": "2026-01-15 12:00:00",
        "balance": "1.00",
        "token": "live-9",
    }
    assert command("calibrate", har(entry([answer]))).exit_code == 1
    told = printed("calibrate", har(entry([answer])), "--json")
    (deviation,) = told["deviations"]
    assert deviation["place"].endswith("made.har: entry 1")
    assert {"where": "[0].client-id", "service": None, "sandbox": "1001"} in deviation["differences"]
    assert {"where": "[0].token", "service": "***", "sandbox": None} in deviation["differences"]
    assert all(not one["ruled_out"] for one in told["assumptions"])
    answer |= {"client-id": 7, "currency": "EUR", "hold": "0"}
    del answer["token"]
    told = printed("calibrate", har(entry([answer])), "--json")
    assert {one["name"]: one["value"] for one in told["assumptions"]}["v3.ids"] == "integer"
    (deviation,) = told["deviations"]
    assert [one["where"] for one in deviation["differences"]] == ["[0].hold"]


def test_a_file_that_cannot_be_used_is_refused_with_its_place(subtests: pytest.Subtests) -> None:
    for text, problem in (
        ("{", "bad.har:1:2: is no JSON"),
        ("[]", "is neither a HAR file"),
        ('{"log": {}}', "log.entries must be an array"),
        ('{"log": {"entries": [1]}}', "entry 1: request must be an object"),
        (
            '{"log": {"entries": [{"request": {}, "response": {}}]}}',
            "entry 1: request.method and request.url",
        ),
        (
            '{"log": {"entries": [{"request": {"method": "GET", "url": "https://[/v3"}, "response": {}}]}}',
            "entry 1: request.url is no URL",
        ),
        (
            '{"log": {"entries": [{"request": {"method": "GET", "url": "https://a.test/v3/balance"}, '
            '"response": {"status": 200, "content": {"text": "%", "encoding": "base64"}}}]}}',
            "entry 1: response.content.text is no base64",
        ),
        ('{"log": {"entries": []}}', "no request of the reseller API"),
        ('{"requests": [{}]}', "request 1: must have at, request and answer"),
        ("[" * 100_000, "nested too deeply"),
        ("\xff", "no JSON"),
    ):
        with subtests.test(problem):
            Path("bad.har").write_text(text)
            refused(["calibrate", "bad.har"], problem)


def test_an_export_of_the_journal_is_a_transcript() -> None:
    sandbox = Sandbox(assume={"v3.ids": "integer"})
    client = sandbox.client()
    client.get("/v3/balance")
    client.post(f"{D}/createDomain", json={"domain": {"domainName": "exported.com"}})
    Path("journal.json").write_text(client.get("/_sandbox/journal").text)
    found = printed("calibrate", "journal.json", "--json")
    assert {one["name"]: one["value"] for one in found["assumptions"]}["v3.ids"] == "integer"
    assert (found["exchanges"], found["deviations"]) == (2, [])


def test_half_a_surrogate_pair_is_read_as_a_replacement() -> None:
    """Browsers write whatever a page has sent."""
    whole = {"method": "POST", "target": "/v3/domains/checkAvailability", "headers": {}, "body": {}}
    for part, half in (("body", "\ud800"), ("target", "/v3/balance/\ud800"), ("headers", {"a": "\ud800"})):
        told = {"at": "2026-01-15", "request": whole | {part: half}, "answer": {"status": 200, "body": {}}}
        Path("transcript.json").write_text(json.dumps({"requests": [told]}))
        assert printed("calibrate", "transcript.json", "--json")["exchanges"] == 1
    shown = har(entry([], url="https://api.example.test/v3/balance?a=\ud800"))
    assert printed("calibrate", shown, "--json")["exchanges"] == 1


def test_a_date_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two requests tell the same in any zone of the machine: an hour has gone by between them."""
    entries = []
    for date in ("Thu, 15 Jan 2026 12:00:00", "Thu, 15 Jan 2026 13:00:00 -0000"):
        one = entry([{"client-id": 1001, "serverTime": date[17:25], "balance": "1.00", "currency": "USD"}])
        one["response"]["headers"] = [{"name": "Date", "value": date}]
        entries.append(one)
    reports = []
    for zone in ("UTC", "America/St_Johns"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        reports.append(command("calibrate", har(*entries), "--fixture", "default").output)
    monkeypatch.undo()
    time.tzset()
    assert reports[0] == reports[1]
