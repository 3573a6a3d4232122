"""Calibration: transcripts of a service give back the values of its assumptions, and no others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import kinds
from reseller_sandbox.testing import expect_explained
from reseller_sandbox.tools.calibrate.calibration import Calibration, calibrated
from reseller_sandbox.tools.calibrate.report import lines
from reseller_sandbox.tools.calibrate.telling import NOT_SEEN, REQUESTS, WITH_FIXTURE, telling_request
from reseller_sandbox.tools.calibrate.transcripts import read_transcript
from reseller_sandbox.tools.calibrate.values import SOME_TIME, UNSEEN
from tests.thorough import tries
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


def values_of(name: str) -> Sequence[Any]:
    """The values of an assumption that a service may have."""
    return kinds()[name].values or WORDS


def service(assume: Mapping[str, Any]) -> Recorder:
    """What stands for a real service: a sandbox with habits of its own, and a client that keeps records."""
    return Recorder(Sandbox(assume=assume))


def require_right(found: Calibration, sandbox: Sandbox) -> None:
    """Nothing that is told is wrong, and everything is explained."""
    true = sandbox.world.assumptions.values()
    for name, one in found.verdicts.items():
        is_so = SOME_TIME if name == "v2.order_processing" and true[name] else true[name]
        assert is_so not in one.ruled_out, one
        assert one.value in (None, is_so), one
    assert found.deviations == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in PROBES for value in values_of(name)],
    ids=lambda part: str(part),
)
def test_a_value_that_can_be_told_is_told(name: str, value: Any) -> None:
    """Each assumption by a few requests, and nothing wrong of any other."""
    record = service({name: value})
    record.all(PROBES[name])
    found = calibrated(record.found)
    require_right(found, record.sandbox)
    told = None if (name, value) in ALIKE else value
    assert found.verdicts[name].value == told, found.verdicts[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in PRICED for value in values_of(name)],
    ids=lambda part: str(part),
)
def test_the_zones_and_prices_of_a_service_tell_more(name: str, value: Any) -> None:
    """What rests on amounts, on premium and reserved names, and on the terms of a zone."""
    record = service({name: value})
    record.all(PRICED[name])
    found = calibrated(record.found, fixture="default")
    require_right(found, record.sandbox)
    told = None if (name, value) == CALLED_SO else value
    assert found.verdicts[name].value == told, found.verdicts[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in FOLLOWED for value in values_of(name)],
    ids=lambda part: str(part),
)
def test_what_there_was_at_first_tells_the_rest(name: str, value: Any) -> None:
    """Money, time and whose a name is are followed from request to request."""
    fixture, requests = FOLLOWED[name]
    record = Recorder(Sandbox(fixture, assume={name: value}))
    record.all(requests)
    found = calibrated(record.found, fixture=fixture)
    require_right(found, record.sandbox)
    assert (found.verdicts[name].value, found.lost) == (value, ""), found.verdicts[name]


CHECK = f"{V}/domain/free-name.com/check"
NEW = [("POST", f"{V}/domain/new-example.com", ORDER), ("GET", f"{D}/getDomain/new-example.com")]

#: Words without an end: a service may have others beside those that were seen, so that none is forced.
PARTLY = [
    ("v2.versions", ("V2.0", "V2.1"), [("GET", CHECK), ("GET", CHECK.replace("2.0", "2.1"))]),
    ("v2.versions", ("V2.1",), [("GET", CHECK), ("GET", CHECK.replace("2.0", "2.1"))]),
    ("v2.token_headers", ("X-My-Token",), [("GET", CHECK, None, {"x-my-token": "sandbox-token"})]),
    ("v2.license", "cert", [("POST", f"{V}/domain/brand.ua", {**ORDER, "cert": "123456"})]),
    ("v2.order_processing", SOME_TIME, [*NEW, "PT2H", NEW[1]]),
]

#: Words, of which the one that was seen is the only one: an answer shows it.
TOLD_WHOLE = [f"v3.availability.{one}" for one in ("taken", "reserved", "unsupported", "invalid")]


@pytest.mark.parametrize(("name", "value", "requests"), PARTLY)
def test_of_words_without_an_end_those_that_were_seen_are_likely(
    name: str, value: Any, requests: Sequence[tuple[Any, ...] | str]
) -> None:
    """The default is ruled out, what was seen is what a profile takes, and nothing that is told is wrong."""
    record = service({name: value})
    record.all(requests)
    found = calibrated(record.found, fixture="default")
    require_right(found, record.sandbox)
    one = found.verdicts[name]
    assert one.likely == value, one
    assert Sandbox().world.assumptions.values()[name] in one.ruled_out
    assert found.assume[name] == value


def choices(names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Any values of these assumptions."""
    return st.fixed_dictionaries({name: st.sampled_from(values_of(name)) for name in names})


FREE = [
    name
    for name, kind in kinds().items()
    if name not in UNSEEN and (kind.values or name.startswith("v3.availability"))
]


#: Requests about the default fixture that tell what is followed in it.
IN_DEFAULT = {name: requests for name, (fixture, requests) in FOLLOWED.items() if fixture == "default"}


@pytest.mark.slow
@given(
    assume=choices(FREE),
    asked=st.lists(
        st.sampled_from(sorted({**PROBES, **PRICED, **IN_DEFAULT})), min_size=3, max_size=6, unique=True
    ),
)
@settings(max_examples=tries(4))
def test_whatever_the_habits_of_a_service_nothing_told_of_it_is_wrong(
    assume: dict[str, Any], asked: list[str]
) -> None:
    """Under any values of all assumptions at once, after any requests, with a fixture and without."""
    record = service(assume)
    for name in asked:
        record.all(({**PROBES, **PRICED, **IN_DEFAULT})[name])
    require_right(calibrated(record.found), record.sandbox)
    require_right(calibrated(record.found, fixture="default"), record.sandbox)


QUICK = (
    "v3.ids",
    "v3.errors.http_status",
    "v3.list.last_page",
    "v2.domain_check.avail",
    "v3.unlock_transfer.locked",
)


@given(assume=choices(FREE))
@settings(max_examples=tries(3))
def test_a_few_requests_tell_the_habits_of_a_service(assume: dict[str, Any]) -> None:
    """Each of a few assumptions is told right, whatever the others are."""
    record = service({**assume, "requests.unknown_keys": "accepted", "v3.list.parameters": "optional"})
    for name in QUICK:
        record.all(PROBES[name])
    found = calibrated(record.found)
    require_right(found, record.sandbox)
    true = record.sandbox.world.assumptions.values()
    assert {name: found.verdicts[name].value for name in QUICK} == {name: true[name] for name in QUICK}


def test_each_assumption_says_what_would_tell_it_or_why_nothing_does() -> None:
    """One of both, for all that have more than one value; what is said to tell it does so in a test."""
    several = {name for name, kind in kinds().items() if len(kind.values) != 1}
    assert sorted([*REQUESTS, *WITH_FIXTURE, *NOT_SEEN]) == sorted(several)
    assert all(telling_request(name).startswith(("GET", "P", "DELETE")) for name in REQUESTS | WITH_FIXTURE)
    in_part = {name for name, *_ in PARTLY}
    assert REQUESTS.keys() - in_part == PROBES.keys()
    assert WITH_FIXTURE.keys() == {*PRICED, *FOLLOWED} - {name for name, _ in ALIKE}
    assert in_part == {name for name, kind in kinds().items() if not kind.values} - set(TOLD_WHOLE)
    assert all(name.startswith("v3.signature.") for name in NOT_SEEN)


# Files

HARS = sorted((Path(__file__).parents[1] / "data" / "transcripts").glob("*.har"))
TOLD = {
    "v3.ids": "integer",
    "v3.create.locked": "always",
    "v2.domain_check.avail": "boolean",
    "v3.errors.http_status": "always_200",
}


def test_every_writer_of_har_files_is_read() -> None:
    """Base64, pseudo headers, redacted and missing headers, and paths that begin elsewhere."""
    assert [file.stem for file in HARS] == ["charles", "chrome", "firefox", "mitmproxy"]
    first, *others = (
        [(one.method, one.target, one.body, one.at, one.answer) for one in read_transcript(file).exchanges]
        for file in HARS
    )
    assert len(first) == 4
    for told in others:
        assert [one[:3] for one in told] == [one[:3] for one in first]
        assert [one[4] for one in told] == [one[4] for one in first]
    (chrome,) = (read_transcript(file).passed_over for file in HARS if file.stem == "chrome")
    assert [reason for _, reason in chrome] == ["is no request of the reseller API", "has no answer"]


def test_what_is_told_is_not_asked_for_again() -> None:
    """Each assumption stands in one part of the report, and what was passed over is told with its reason."""
    told = [read_transcript(file) for file in HARS]
    found = calibrated(one for transcript in told for one in transcript.exchanges)
    said = list(lines(found, [one for transcript in told for one in transcript.passed_over]))
    names = [line.split()[0].partition("=")[0].rstrip(":") for line in said if line.startswith("  ")]
    several = [name for name, kind in kinds().items() if len(kind.values) != 1]
    assert sorted(name for name in names if name in kinds()) == sorted(several)
    [other] = [line for line in said if "is no request of the reseller API" in line]
    assert other.endswith("chrome.har: entry 1 is no request of the reseller API")


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a shell runs it."""
    command = [sys.executable, "-m", "reseller_sandbox", "calibrate", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.slow
def test_the_command_tells_a_profile_without_a_secret(tmp_path: Path) -> None:
    """It ends with 0, what it writes is a profile that explains them, and no credential is in any."""
    profile = tmp_path / "profile.yaml"
    done = run(*HARS, "--write", profile)
    assert (done.returncode, done.stderr) == (0, "")
    assert "v3.create.locked=always, not as_sent, never" in done.stdout
    assert Sandbox(profile=profile).world.assumptions.departures() == TOLD
    expect_explained(*HARS, profile=profile)
    with pytest.raises(AssertionError, match="entry 1: v3"):
        expect_explained(*HARS)
    assert "live-" not in done.stdout + profile.read_text()


def har(tmp_path: Path, *entries: Any) -> Path:
    """A HAR file with these entries."""
    (file := tmp_path / "made.har").write_text(json.dumps({"log": {"entries": entries}}))
    return file


def entry(answer: Any, status: int = 200, url: str = "https://api.example.test/v3/balance") -> dict[str, Any]:
    """An exchange as a HAR file has it, with as little as can be."""
    return {
        "request": {"method": "GET", "url": url},
        "response": {"status": status, "content": {"text": json.dumps(answer)}},
    }


def test_what_no_value_explains_is_shown_side_by_side(tmp_path: Path) -> None:
    """With the place, and what both say; it ends with 1, and what is secret is masked."""
    answer = [{"client-id": None, "serverTime": "2026-01-15 12:00:00", "balance": "1.00", "token": "live-9"}]
    done = run(har(tmp_path, entry(answer)), "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    (deviation,) = told["deviations"]
    assert deviation["place"].endswith("made.har: entry 1")
    assert {"where": "[0].client-id", "service": None, "sandbox": "1001"} in deviation["differences"]
    assert {"where": "[0].token", "service": "***", "sandbox": None} in deviation["differences"]
    assert all(not one["ruled_out"] for one in told["assumptions"])


def test_what_a_service_has_beside_is_told_and_hinders_nothing(tmp_path: Path) -> None:
    """A key that the contract does not have is shown, and the rest of the answer tells what it tells."""
    answer = [
        {
            "client-id": 7,
            "serverTime": "2026-01-15 12:00:00",
            "balance": "1.00",
            "currency": "EUR",
            "hold": "0",
        }
    ]
    found = calibrated(read_transcript(har(tmp_path, entry(answer))).exchanges)
    assert found.verdicts["v3.ids"].value == "integer"
    (deviation,) = found.deviations
    assert [one.where for one in deviation.differences] == ["[0].hold"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
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
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    """In one line, with status 2."""
    from click.testing import CliRunner

    from reseller_sandbox.tools.calibrate.command import calibrate

    (file := tmp_path / "bad.har").write_text(text)
    done = CliRunner().invoke(calibrate, [str(file)])
    assert done.exit_code == 2
    assert told in done.output
    assert len(done.output.splitlines()) == 1


def test_what_the_journal_exports_is_a_transcript(tmp_path: Path) -> None:
    """What a sandbox remembers tells what a HAR file of it would."""
    from reseller_sandbox.web.records import dumped

    sandbox = Sandbox(assume={"v3.ids": "integer"})
    client = sandbox.client()
    client.get("/v3/balance")
    client.post(f"{D}/createDomain", json={"domain": {"domainName": "exported.com"}})
    (file := tmp_path / "journal.json").write_text(json.dumps(dumped(sandbox.journal.find())))
    found = calibrated(read_transcript(file).exchanges)
    require_right(found, sandbox)
    assert found.verdicts["v3.ids"].value == "integer"
    assert found.exchanges == 2


def test_half_a_character_is_read_as_a_replacement(tmp_path: Path) -> None:
    """Browsers write what a page has sent, halves of characters too; no file is refused for that."""
    whole = {"method": "POST", "target": "/v3/domains/checkAvailability", "headers": {}, "body": {}}
    for part, half in (("body", "\ud800"), ("target", "/v3/balance/\ud800"), ("headers", {"a": "\ud800"})):
        told = {"at": "2026-01-15", "request": whole | {part: half}, "answer": {"status": 200, "body": {}}}
        file = tmp_path / "transcript.json"
        file.write_text(json.dumps({"requests": [told]}), "utf-8")
        found = read_transcript(file)
        assert calibrated(found.exchanges).exchanges == 1
    shown = har(tmp_path, entry([], url="https://api.example.test/v3/balance?a=\ud800"))
    assert [one.target for one in read_transcript(shown).exchanges] == ["/v3/balance?a=?"]


@pytest.mark.parametrize("date", ["Thu, 15 Jan 2026 12:00:00 -0000", "Thu, 15 Jan 2026 12:00:00"])
def test_a_date_without_a_zone_is_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, date: str) -> None:
    """Whatever zone the machine is in."""
    monkeypatch.setenv("TZ", "America/St_Johns")
    time.tzset()
    try:
        one = entry([])
        one["response"]["headers"] = [{"name": "Date", "value": date}]
        [found] = read_transcript(har(tmp_path, one)).exchanges
        assert found.at.isoformat() == "2026-01-15T12:00:00+00:00"
    finally:
        monkeypatch.undo()
        time.tzset()
