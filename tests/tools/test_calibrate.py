"""Calibrate determines the assumption values of a service from its transcripts, and no wrong values."""

from __future__ import annotations

import gzip
import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import yaml

from reseller_sandbox import Sandbox
from reseller_sandbox.testing import expect_explained
from tests import thorough
from tests.tools.running import command, printed, refused
from tests.tools.transcripts import Recorder

D, V = "/v3/domains", "/V2.0"
CARD = {"name": "Ann", "address": "1 Main Street", "city": "Kyiv", "country": "UA", "zip": "01001"}
CARD |= {"phone": "+380.441234567", "mail": "ann@example.com"}
PERSON = {"name": "Ann", "address1": "1 Main Street", "city": "Kyiv", "country": "UA", "zipcode": "01001"}
PERSON |= {"phone": "380.441234567", "email": "ann@example.com"}
WHOLE = {**PERSON, "company-name": "W", "state": "K", "fax": "380.441234568"}
ROLES = ("contact_registrant", "contact_admin", "contact_tech", "contact_billing")
ORDER = {**dict.fromkeys(ROLES, "MAIN-TECH"), "ns": ["ns1.example.net"], "period": 1}

#: A request for the recorder. A string is a time to wait.
Request = tuple[Any, ...] | str


def get(path: str) -> Request:
    return "GET", path if path.startswith("/") else f"{D}/getDomain/{path}"


def post(operation: str, body: Any = None, *more: Any) -> Request:
    return "POST", f"{D}/{operation}", body, *more


def v2(method: str, path: str, body: Any = None, *more: Any) -> Request:
    return method, f"{V}/{path}", body, *more


def available(*names: str) -> Request:
    return post("checkAvailability", {"domainNames": list(names)})


def create(name: str, years: int = 1, **more: Any) -> Request:
    return post("createDomain", {"domain": {"domainName": name, **more}, "years": years})


def request_transfer(name: str, code: str, years: int = 1, account: str = "main") -> Request:
    body = {"domain": {"domainName": name}, "authCode": code, "years": years}
    return post("requestTransfer", body, None, account)


def renew_v2(name: str, expires: str, period: int = 1, **more: Any) -> Request:
    return v2("PUT", f"domain/{name}/renew", {"current_expiry_date": expires, "period": period, **more})


#: Requests that determine the word for a taken name.
TAKEN = (get("active-example.com"), available("active-example.com"))
SET_TECH = post("setContacts/active-example.com", {"contacts": {"tech-contact": PERSON}})
CHECK = "domain/free-name.com/check"
ON, IDN = post("enableAutorenew/active-example.com"), "xn--espaa-example-lkb.com"

#: Requests about the default fixture that determine an assumption, by its name.
PROBES: Mapping[str, Sequence[Request]] = {
    "locks.registry_hold": [post("unlock/stopped-example.com")],
    "hosts.private_addresses": [
        post("glueRecords/active-example.com", {"hostname": "ns7", "ips": ["10.0.0.1"]})
    ],
    "requests.unknown_keys": [post("checkAvailability", {"domainNames": ["free-name.com"], "surplus": 1})],
    "v2.http_status": [v2("GET", "domain/nobodys-name.com")],
    "v2.customer_edit.by": [v2("PUT", "customer", {"mail": "carl@example.com", "name": "Carl"})],
    "v2.domain_info.shape": [v2("GET", "domain/active-example.com")],
    "v2.domain_check.avail": [v2("GET", CHECK)],
    "v2.zones.data": [v2("GET", "domain/zones/new")],
    "v2.zones.no_promotion": [v2("GET", "domain/zones/ukrainian")],
    "v2.names.form": [renew_v2(IDN, "2026-10-07"), renew_v2("espa%C3%B1a-example.com", "2027-10-07")],
    "v2.customer_delete.refusal_status": [v2("DELETE", "customer/501")],
    "v2.transfer_status": [v2("GET", "domain/kept-example.org/transfer")],
    "v2.request_format": [
        v2(
            "POST",
            "domain/taken-example.net/transfer",
            b"customer_id=501&transfer_code=Taken-Code-2",
            {"content-type": "application/x-www-form-urlencoded"},
        )
    ],
    "v2.contact.required": [v2("POST", "contact/NEW-ONE", CARD)],
    "v2.customer.required": [
        v2("POST", "customer", {"mail": "new@example.com", "name": "N"}),
        v2("POST", "customer", {**CARD, "mail": "newer@example.com"}),
    ],
    "v2.phone": [
        v2("POST", "contact/NEW-TWO", {**CARD, "company": "W", "fax": "+380 44 123 45 67", "region": "K"})
    ],
    "v2.ns.repeated": [
        v2("GET", "domain/active-example.com"),
        v2("PUT", "domain/active-example.com", {"ns": {"add": ["ns1.example.net"]}}),
    ],
    "contacts.checks": [
        post("setContacts/active-example.com", {"contacts": {"tech-contact": {**PERSON, "country": "ZZ"}}})
    ],
    "v3.update_prohibited.shown": [post("lockUpdate/active-example.com"), get("active-example.com")],
    "v3.request.content_type": [
        post("checkAvailability", b'{"domainNames":["free-name.com"]}', {"content-type": "text/plain"})
    ],
    "v3.errors.http_status": [get("nobodys-name.com")],
    "v3.availability.taken": TAKEN,
    "v3.availability.unsupported": [available("free-name.nozone", "free-name.com")],
    "v3.availability.invalid": [available("-.com")],
    "v3.contacts.required": [create("without.com"), create("one-role.com", contacts={"reg-contact": WHOLE})],
    "v3.contacts.fields": [
        create("bare.com", contacts={"reg-contact": {"name": "Ann", "country": "UA"}}),
        create("usual.com", contacts={"reg-contact": PERSON}),
    ],
    "v3.unlock_transfer.locked": [post("unlockTransfer/locked-example.net")],
    "v3.list.last_page": [get(f"{D}?perPage=100&page=1")],
    "v3.list.parameters": [get(D)],
    "v3.set_contacts.answer": [SET_TECH],
    "v3.expired_status": [get("overdue-example.com")],
    # Two locks: the state that explains the last answer has both.
    "v3.update_lock.covers": [
        post("lockTransfer/active-example.com"),
        post("lockUpdate/active-example.com"),
        post("setNameservers/active-example.com", {"nameservers": ["ns1.example.net"]}),
    ],
    "v3.get_domain.order_id": [get("100001")],
    "v3.ids": [get("/v3/balance")],
    "v3.names.form": [get(IDN), get("espa%C3%B1a-example.com")],
    "v3.switches.repeated": [ON, ON],
    "v3.create.autorenew": [create("on.com", autorenewEnabled=True), create("off.com")],
    "v3.create.locked": [create("on.com", lockedEnabled=True), create("off.com")],
    "v3.privacy.not_offered": [create("new-name.com.ua", privacyEnabled=True)],
    "v3.nameservers.own_glue": [
        post("setNameservers/active-example.com", {"nameservers": ["ns1.active-example.com"]})
    ],
}

#: Requests that determine an assumption together with the zones and prices of the fixture.
PRICED: Mapping[str, Sequence[Request]] = {
    "v2.renew.maximum": [renew_v2("long-example.com", "2035-01-15", 11)],
    "v3.availability.reserved": [*TAKEN, available("registry.com")],
    "v3.availability.out_of_service": [*TAKEN, available("free-name.tel")],
    "v3.purchase_cost": [
        post("renewDomain/active-example.com", {"purchaseCost": 1}),
        post("renewDomain/silver.com"),
    ],
    "v3.privacy.charged": [create("private-two.com", 2, privacyEnabled=True)],
    "v3.privacy.renewal": [post("renewDomain/private-example.com")],
    "v3.transfer.years": [request_transfer("taken-example.net", "Taken-Code-2", 2)],
}

#: Fixture, assumption and value, where another value gives the same answers and both remain: a service that
#: ends a term late, a zone without hosts, a service with this word for names of an unknown zone.
ALIKE = {
    ("", "v3.expired_status", "active"),
    ("", "v3.nameservers.own_glue", "ignored"),
    ("default", "v3.availability.out_of_service", "available"),
}

TECH = {**CARD, "company": "W", "fax": "+380.441234568", "region": "K"}


def edit_tech(**changes: str) -> Request:
    return v2("PUT", "contact/MAIN-TECH", {**TECH, **changes})


LOCKED_TECH = [v2("POST", "domain/new-example.com", ORDER), edit_tech(), post("lockUpdate/new-example.com")]
BEGAN = str(Path(__file__).parents[1] / "data" / "transcripts" / "began.yaml")
BALANCE, DELETE = get("/v3/balance"), v2("DELETE", "domain/fresh-example.com")

#: Requests that determine an assumption if the initial state is known, with the fixture of that state.
FOLLOWED: Mapping[str, tuple[str, Sequence[Request]]] = {
    "lifecycle.early_delete.refunds": (
        "default",
        [BALANCE, post("renewDomain/fresh-example.com"), DELETE, BALANCE],
    ),
    "lifecycle.transfer_lock.from": (
        BEGAN,
        [request_transfer("moved-example.com", "Moved-Code-1", account="other")],
    ),
    "lifecycle.autorenew.tries": (BEGAN, ["P2D", DELETE, "P2D", get("due-example.com")]),
    "lifecycle.new_registrant": (
        "default",
        [*LOCKED_TECH, edit_tech(zip="01002"), edit_tech(mail="b@example.com"), edit_tech(name="Another")],
    ),
    "locks.cover_shared_contacts": ("default", [*LOCKED_TECH, edit_tech(name="Another")]),
    "v2.active_orders": (BEGAN, [v2("DELETE", "customer/501")]),
    "v2.arriving_status": ("default", [v2("GET", "domain/arriving-example.com")]),
    "v2.renew.date_end": ("default", [renew_v2("active-example.com", "2026-10-07", date_end="2031-01-01")]),
    "v3.contacts.left_out": ("default", [SET_TECH, v2("GET", "contact/C000001")]),
    "v2.premium_names": ("default", [v2("POST", "domain/gold.com", ORDER)]),
    "v3.expired_status": ("default", PROBES["v3.expired_status"]),
    "v3.nameservers.own_glue": ("default", PROBES["v3.nameservers.own_glue"]),
}

#: The probes of every test run.
FEW = (
    "contacts.checks",
    "v2.customer_edit.by",
    "v3.update_lock.covers",
    "v2.domain_check.avail",
    "v3.list.parameters",
)

ASSUMPTIONS = {one.name: one for one in Sandbox().assumptions.list().assumptions}


def values_of(name: str) -> Sequence[Any]:
    """Return the values of an assumption that a service may have."""
    listed = ASSUMPTIONS[name].takes.partition("one of ")[2]
    words = {"true": True, "false": False}
    return [words.get(word, word) for word in listed.split(", ")] if listed else ("busy", "registered")


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def calibrated(record: Recorder, *words: str) -> dict[str, Any]:
    """Return the report on each assumption. Assert that no value in the report is wrong."""
    report = printed("calibrate", record.write(Path("transcript.json")), "--json", *words)
    assert (report["deviations"], report["followed_to"]) == ([], None)
    return assert_nothing_wrong(record, report)


def assert_nothing_wrong(record: Recorder, report: Mapping[str, Any]) -> dict[str, Any]:
    """Assert that no value in the report is wrong. Return the report on each assumption."""
    found = {one["name"]: one for one in report["assumptions"]}
    true = {one.name: plain(one.value) for one in record.sandbox.assumptions.list().assumptions}
    wrong = {
        name: (one, true[name])
        for name, one in found.items()
        if true[name] in one["ruled_out"] or one["value"] not in (None, true[name])
    }
    assert not wrong, wrong
    return found


@pytest.fixture(autouse=True)
def _in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def service(assume: Mapping[str, Any], fixture: str | None = None) -> Recorder:
    """Return a recorder of a sandbox that plays the real service, with other assumptions."""
    return Recorder(Sandbox(fixture, assume=assume))


def check(tests: pytest.Subtests, fixture: str, name: str, value: Any, requests: Sequence[Request]) -> None:
    """Assert that the requests determine the value, with the fixture of the service if it is not empty."""
    with tests.test(name, value=value):
        record = service({name: value}, fixture or None)
        record.all(requests)
        found = calibrated(record, *(("--fixture", fixture) if fixture else ()))
        assert found[name]["value"] == (None if (fixture, name, value) in ALIKE else value)


def test_few_requests_determine_a_non_default_assumption_value(subtests: pytest.Subtests) -> None:
    rows = [("", name, PROBES[name]) for name in FEW]
    rows += [(fixture, name, requests) for name, (fixture, requests) in list(FOLLOWED.items())[:3]]
    for fixture, name, requests in rows:
        for value in values_of(name):
            if plain(value) != plain(ASSUMPTIONS[name].default):
                check(subtests, fixture, name, value, requests)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("", name, requests) for name, requests in PROBES.items()], id="without a fixture"),
        pytest.param([("default", name, requests) for name, requests in PRICED.items()], id="by prices"),
        pytest.param(
            [(fixture, name, requests) for name, (fixture, requests) in FOLLOWED.items()],
            id="by earlier requests",
        ),
    ],
)
def test_few_requests_determine_each_assumption_value(
    rows: Sequence[tuple[str, str, Sequence[Request]]], subtests: pytest.Subtests
) -> None:
    """The last value, which is rarely the default, is the sample."""
    for fixture, name, requests in rows:
        for value in values_of(name)[0 if thorough.WHOLE else -1 :]:
            check(subtests, fixture, name, value, requests)


#: The requests that determine each assumption, in one place.
DETERMINING = {
    **PROBES,
    **PRICED,
    **{name: requests for name, (fixture, requests) in FOLLOWED.items() if fixture == "default"},
}
SERVERS = ("ns1.example.net", "ns1.elsewhere.net", "ns1.taken-example.com", "ns1.active-example.com")


def _random_requests(random: Random, names: Sequence[str]) -> list[Request]:
    """Return the determining requests of some assumptions, with other requests between them."""
    more = [
        post("setNameservers/active-example.com", {"nameservers": [random.choice(SERVERS)]}),
        create("another.net"),
        post("lock/stopped-example.com"),
        post("unlock/stopped-example.com"),
        get("stopped-example.com"),
        get("active-example.com"),
        post(f"{random.choice(('lock', 'unlock', 'lockUpdate', 'unlockUpdate'))}/active-example.com"),
        ON,
        ("POST", f"{D}/lockTransfer/active-example.com", None, None, "other"),
        ("GET", f"{D}/getDomain/active-example.com", None, None, "other"),
        BALANCE,
    ]
    requests = [request for name in names for request in DETERMINING[name]]
    for request in random.sample(more, 4):
        requests.insert(random.randrange(len(requests) + 1), request)
    return requests


def _spoil(random: Random, entries: list[dict[str, Any]]) -> None:
    """Lose some answers, mask the secrets, and shuffle the entries."""
    lose, mask, shuffle = (random.random() < 0.5 for _ in range(3))
    for number, one in enumerate(entries):
        began = datetime(2026, 1, 15, 12, tzinfo=UTC) + timedelta(milliseconds=number)
        one["response"]["headers"] = [
            {"name": "Date", "value": format_datetime(datetime.fromisoformat(one["startedDateTime"]))}
        ]
        one["startedDateTime"] = began.isoformat()
        if lose and random.random() < 0.3:
            lost = {"status": 0}, {"status": 504, "content": {"text": "{}"}}
            cut = one["response"]["content"]["text"][:-1]
            one["response"] = random.choice([*lost, {**one["response"], "content": {"text": cut}}])
        if mask:
            headers = one["request"]["headers"]
            kept = [header for header in headers if "apikey" not in header["name"].lower()]
            one["request"]["headers"] = [*kept, {"name": "x-svc-apikey", "value": "***"}]
    if shuffle:
        random.shuffle(entries)


def _recorded(random: Random, assume: Mapping[str, Any], names: Sequence[str]) -> None:
    """Assert that no assumption is determined wrongly from a random recording."""
    record = service(assume, "default")
    record.all(_random_requests(random, names))
    _spoil(random, record.entries)
    words = ("--fixture", "default") if random.random() < 0.5 else ()
    done = command("calibrate", record.write(Path("transcript.json")), "--json", *words)
    if done.exit_code != 2:  # if all answers are lost
        assert_nothing_wrong(record, json.loads(done.stdout))


def _check_random_recordings(tests: pytest.Subtests, names: Sequence[str], rounds: int) -> None:
    """Check random recordings of services with the assumptions ``names``.

    The services of one round have one value of each assumption, so a round has recordings of all of them.
    """
    random = Random(1)
    for number in range(rounds):
        assume = {name: values_of(name)[number % len(values_of(name))] for name in names}
        shuffled = random.sample(names, len(names))
        for at in range(0, len(shuffled), 3):
            chosen = shuffled[at : at + 3]
            with tests.test(number=number, chosen=chosen):
                some = random.sample(names, 2) if number % 2 else ()
                _recorded(random, {name: assume[name] for name in (*chosen, *some)}, chosen)


def test_states_with_names_of_other_registrars_and_registry_holds_are_candidates(
    subtests: pytest.Subtests,
) -> None:
    """Other registrars hold the domains of the name servers, and the registry alone holds a name."""
    hold, unhold = post("lock/stopped-example.com"), post("unlock/stopped-example.com")
    for assume, requests in (
        ({"v3.nameservers.own_glue": "required"}, [create("another.net")]),
        ({"v3.switches.repeated": "refused"}, [get("stopped-example.com"), unhold, hold, hold]),
        ({"v3.switches.repeated": "refused", "locks.registry_hold": "accepted"}, [unhold, unhold, hold]),
    ):
        for words in ((), ("--fixture", "default")):
            with subtests.test(assume=assume, words=words):
                record = service(assume, "default")
                record.all(requests)
                calibrated(record, *words)


def test_a_price_without_whole_cents_for_each_year_has_a_candidate() -> None:
    record = service({}, "default")
    record.sandbox.simulate.set_premium("rare.info", registration="100", renewal="33.33")
    for name, cost in (("gold.com", 10.99), ("rare.info", 166.66)):
        order = {"domain": {"domainName": name}, "years": 3, "purchaseCost": cost}
        record.all([post("createDomain", order)])
    calibrated(record)


def test_no_assumption_of_a_random_recording_is_determined_wrongly(subtests: pytest.Subtests) -> None:
    few = ("v3.nameservers.own_glue", "v3.switches.repeated", "v3.update_lock.covers")
    _check_random_recordings(subtests, few, 6)


#: Rounds of random recordings, of about one and a half minutes each. CALIBRATE_ROUNDS=80 gives each value of
#: each assumption at least 20 recordings, in about two hours.
ROUNDS = int(os.environ.get("CALIBRATE_ROUNDS", "2" if thorough.WHOLE else "1"))


@pytest.mark.slow
@pytest.mark.timeout(600 * ROUNDS)
def test_no_assumption_of_many_random_recordings_is_determined_wrongly(subtests: pytest.Subtests) -> None:
    """Every second assumption is the sample."""
    _check_random_recordings(subtests, list(DETERMINING)[:: 1 if thorough.WHOLE else 2], ROUNDS)


BOTH = [v2("GET", CHECK), ("GET", f"/V2.1/{CHECK}")]
NEW = [v2("POST", "domain/new-example.com", ORDER), get("new-example.com")]

#: Assumptions with any number of words: a service may have more words than the transcript shows, so no value
#: is determined.
PARTLY = [
    ("v2.versions", ("V2.0", "V2.1"), BOTH),
    ("v2.versions", ("V2.1",), BOTH),
    ("v2.token_headers", ("X-My-Token",), [v2("GET", CHECK, None, {"x-my-token": "sandbox-token"})]),
    ("v2.license", "cert", [v2("POST", "domain/brand.ua", {**ORDER, "cert": "123456"})]),
    ("v2.order_processing", 3600, [*NEW, "PT2H", NEW[1]]),
]


@pytest.mark.slow
def test_calibrate_writes_the_observed_value_to_a_profile_if_the_default_is_ruled_out(
    subtests: pytest.Subtests,
) -> None:
    """The default is ruled out, and a profile has the observed value."""
    for name, value, requests in PARTLY:
        with subtests.test(name, value=value):
            record = service({name: value})
            record.all(requests)
            found = calibrated(record, "--fixture", "default", "--write", "profile.yaml")
            assert plain(ASSUMPTIONS[name].default) in found[name]["ruled_out"]
            profile = Sandbox(profile="profile.yaml").assumptions.list().assumptions
            assert plain({one.name: one.value for one in profile}[name]) == plain(value)


def test_a_limit_in_an_error_message_is_explained_without_the_fixture() -> None:
    default = yaml.safe_load((Path(__file__).parents[2] / "fixtures" / "default.yaml").read_text())
    default["zones"]["com"]["max_years"] = 2
    Path("short.yaml").write_text(yaml.safe_dump(default))
    record = service({"v2.http_status": "always_200"}, "short.yaml")
    record.all([v2("POST", "domain/new-example.com", {**ORDER, "period": 3})])
    assert calibrated(record)["v2.http_status"]["value"] == "always_200"


# Files


#: Files of other programs, all with the same requests. The service has integers as ids. The log of curl lacks
#: the last request, which has a body.
TRANSCRIPTS = Path(__file__).parents[1] / "data" / "transcripts"
FILES = {"vcrpy.yaml": 4, "wiremock.json": 4, "postman.json": 4, "curl.log": 3}


def test_calibrate_gives_the_same_report_for_each_transcript_format(subtests: pytest.Subtests) -> None:
    record = service({"v3.ids": "integer"})
    record.all([BALANCE, get(f"{D}?perPage=2&page=1"), get("nobodys-name.com"), available("free-name.com")])
    har = record.write(Path("a.har")).read_text("utf-8")
    Path("utf16.har").write_text(har, "utf-16")
    Path("utf16le.har").write_bytes(har.encode("utf-16-le"))
    packed = json.loads(har)
    for entry in packed["log"]["entries"]:
        content = entry["response"]["content"]
        content["text"] = b64encode(gzip.compress(content["text"].encode())).decode()
        content["encoding"] = "base64"
    Path("packed.har").write_text(json.dumps(packed))
    Path("har.gz").write_bytes(gzip.compress(record.write(Path("a.har")).read_bytes()))
    record.sandbox.recording.write("a.recording")
    journal = msgspec.to_builtins(record.sandbox.journal.list().requests)
    cassette = yaml.safe_load((TRANSCRIPTS / "vcrpy.yaml").read_text())["interactions"]
    for name, document in {
        "journal.json": {"requests": journal},
        "vcr.json": {"interactions": cassette},
        "ruby.json": {"http_interactions": cassette},
    }.items():
        Path(name).write_text(json.dumps(document))
    first = {**cassette[0], "recorded_at": datetime.fromisoformat("2026-01-15T12:00:00")}
    first["response"] = {**first["response"], "headers": {}}
    Path("dates.yaml").write_text(yaml.safe_dump({"interactions": [first, *cassette[1:]]}))
    hars = ["har.gz", "utf16.har", "utf16le.har", "packed.har"]
    made = dict.fromkeys([*hars, "a.recording", "journal.json", "vcr.json", "ruby.json", "dates.yaml"], 4)
    for name, count in {**made, **{str(TRANSCRIPTS / name): count for name, count in FILES.items()}}.items():
        with subtests.test(name):
            report = printed("calibrate", "--json", name)
            values = {one["name"]: one["value"] for one in report["assumptions"]}
            assert (report["exchanges"], report["deviations"]) == (count, [])
            assert (values["v3.ids"], values["v3.list.last_page"]) == ("integer", None)
    done = command("calibrate", "-", "--json", stdin=(TRANSCRIPTS / "vcrpy.yaml").read_bytes())
    assert json.loads(done.stdout)["exchanges"] == 4


def test_calibrate_reads_names_in_unicode_from_decoded_paths(subtests: pytest.Subtests) -> None:
    """Some programs decode the path of a request, and the journal has its bytes as characters."""
    for name in ("españa-example.com", "españa-example.com".encode().decode("latin-1")):
        for value in values_of("v3.names.form"):
            with subtests.test(name, value=value):
                record = service({"v3.names.form": value})
                record.all(PROBES["v3.names.form"])
                for one in record.entries:
                    one["request"]["url"] = one["request"]["url"].replace("espa%C3%B1a-example.com", name)
                assert calibrated(record)["v3.names.form"]["value"] == value


def test_calibrate_reads_a_url_a_status_and_a_body_in_several_forms(subtests: pytest.Subtests) -> None:
    """Programs write a URL, a status, a body and a mapping in several forms."""
    answer = entry(
        [{"client-id": 7, "serverTime": "2026-01-15 12:00:00", "balance": "1.00", "currency": "USD"}]
    )
    request, text = answer["request"], answer["response"]["content"]["text"]
    url = {"host": ["api", "example", "test"], "path": ["v3", "balance"], "query": []}
    for name, document in {
        "a URL in parts": {
            "item": [{"response": [{"originalRequest": {**request, "url": url}, "code": 200, "body": text}]}]
        },
        "a status in words": {
            "interactions": [
                {"request": request, "response": {"code": 200, "status": "200 OK", "body": text}}
            ]
        },
        "a JSON value": {
            "mappings": [{"request": request, "response": {"status": 200, "jsonBody": json.loads(text)}}]
        },
        "one mapping": {"request": request, "response": {"status": 200, "body": text}},
    }.items():
        with subtests.test(name):
            Path("made.json").write_text(json.dumps(document))
            assert printed("calibrate", "made.json", "--json", "--host", "api.example.test")["exchanges"] == 1


def test_calibrate_skips_requests_to_other_hosts_and_answers_of_proxies() -> None:
    record = service({})
    record.all([BALANCE] * 3)
    record.entries[0]["request"]["url"] = "https://other.example.net/v3/balance"
    record.entries[1]["response"] = {"status": 502, "content": {"text": "{}"}}
    file = record.write(Path("mixed.json"))
    report = printed("calibrate", file, "--json", "--host", "api.example.test")
    assert (report["exchanges"], report["deviations"]) == (1, [])
    assert [one["reason"] for one in report["passed_over"]] == [
        "is a request to another host, other.example.net",
        "has the status 502, which says nothing about the service",
    ]


def test_calibrate_reports_each_difference_between_a_service_and_a_profile() -> None:
    requests = [BALANCE, get("active-example.com"), get("nobodys-name.com")]
    record = service({"v3.ids": "integer"})
    record.all(requests)
    file = record.write(Path("real.har"))
    assert command("calibrate", file, "--write", "profile.yaml").exit_code == 0
    done = command("calibrate", file, "--against", "profile.yaml")
    assert (done.exit_code, done.output) == (0, "3 exchanges: the service agrees with profile.yaml\n")

    record = service({"v3.ids": "string"})
    record.all(requests)
    _, domain, missing = (entry["response"]["content"] for entry in record.entries)
    shown = json.loads(domain["text"])
    shown["domain"]["riskScore"] = 7
    shown["domain"]["autorenewEnabled"] = "no"
    del shown["domain"]["nameservers"]
    domain["text"] = json.dumps(shown)
    missing["text"] = json.dumps({"error": "gone", "message": "It is gone."})
    record.write(file)
    done = command("calibrate", file, "--against", "profile.yaml")
    assert done.exit_code == 1
    report = json.loads(command("calibrate", file, "--against", "profile.yaml", "--json").stdout)
    assert {(one["kind"], one["subject"]) for one in report["differences"]} == {
        ("changed assumption", "v3.ids"),
        ("new field", "v3.getDomain domain.riskScore"),
        ("changed type", "v3.getDomain domain.autorenewEnabled"),
        ("removed field", "v3.getDomain domain.nameservers"),
        ("changed error", "v3.getDomain"),
    }
    assert "changed assumption: v3.ids  (real.har: entry 1)\n  - integer\n  + string\n" in done.stdout
    refused(["calibrate", str(file), "--against", "nowhere.yaml"], "nowhere.yaml")


#: The HAR files of four programs, and the values that each file determines.
HARS = sorted(TRANSCRIPTS.glob("*.har"))
DETERMINED = {
    "v3.ids": "integer",
    "v3.create.locked": "always",
    "v2.domain_check.avail": "boolean",
    "v3.errors.http_status": "always_200",
}


def test_har_files_of_every_program_become_a_profile_without_secrets() -> None:
    done = command("calibrate", *HARS, "--write", "profile.yaml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "v3.create.locked=always, not as_sent, never" in done.stdout
    assert yaml.safe_load(Path("profile.yaml").read_text())["assume"] == DETERMINED
    listed = Sandbox(profile="profile.yaml").assumptions.list().assumptions
    assert {one.name: one.value for one in listed if one.value != one.default} == DETERMINED
    expect_explained(*HARS, profile="profile.yaml")
    with pytest.raises(AssertionError, match="entry 2: v3"):
        expect_explained(*HARS)
    assert "live-" not in done.stdout + Path("profile.yaml").read_text()

    indented = [line.split()[0] for line in done.stdout.splitlines() if line[:2] == "  "]
    names = {word.partition("=")[0].rstrip(":") for word in indented} & ASSUMPTIONS.keys()
    with_one_value = {name for name, one in ASSUMPTIONS.items() if re.fullmatch(r"one of [^,]+", one.takes)}
    assert names == ASSUMPTIONS.keys() - with_one_value
    assert "responses.compression: programs that write transcripts decode answers" in done.stdout
    assert "chrome.har: entry 1: is not a request of the reseller API\n" in done.stdout

    report = printed("calibrate", *HARS, "--json")
    values = {one["name"]: one["value"] for one in report["assumptions"] if one["value"] is not None}
    assert DETERMINED.items() <= values.items()
    assert (report["exchanges"], report["deviations"]) == (16, [])
    reasons = ["is not a request of the reseller API", "has no answer"]
    assert [one["reason"] for one in report["passed_over"]] == reasons
    with_request = {one["name"] for one in report["assumptions"] if one["would_determine"]}
    words = {f"v3.availability.{word}" for word in ("taken", "reserved", "unsupported", "invalid")}
    # The values of these are free, and no probe determines each of them.
    free = {"dates.time_zone", "v3.list.max_per_page", "v3.list.over_max"}
    assert with_request <= {*PROBES, *PRICED, *FOLLOWED, *(name for name, *_ in PARTLY)} | words | free


def har(*entries: Any) -> Path:
    """Write a HAR file with these entries."""
    (file := Path("made.har")).write_text(json.dumps({"log": {"entries": entries}}))
    return file


def entry(answer: Any, status: int = 200, url: str = "https://api.example.test/v3/balance") -> dict[str, Any]:
    """Return a short exchange in the format of a HAR file."""
    return {
        "request": {"method": "GET", "url": url},
        "response": {"status": status, "content": {"text": json.dumps(answer)}},
    }


def test_an_unexplained_response_is_printed_with_the_values_of_service_and_sandbox() -> None:
    """Secrets in the response are masked. Additional keys of the service are ignored."""
    answer: dict[str, Any] = {"client-id": None, "serverTime": "2026-01-15 12:00:00", "balance": "1.00"}
    secret = {**answer, "token": "live-9"}
    assert command("calibrate", har(entry([secret]))).exit_code == 1
    report = printed("calibrate", har(entry([secret])), "--json")
    (deviation,) = report["deviations"]
    assert deviation["place"].endswith("made.har: entry 1")
    assert {"where": "[0].client-id", "service": None, "sandbox": "1001"} in deviation["differences"]
    assert {"where": "[0].token", "service": "***", "sandbox": None} in deviation["differences"]
    assert all(not one["ruled_out"] for one in report["assumptions"])
    answer |= {"client-id": 7, "currency": "EUR", "hold": "0"}
    report = printed("calibrate", har(entry([answer])), "--json")
    assert {one["name"]: one["value"] for one in report["assumptions"]}["v3.ids"] == "integer"
    (deviation,) = report["deviations"]
    assert [one["where"] for one in deviation["differences"]] == ["[0].hold"]


def test_an_unusable_transcript_is_refused_with_the_place_of_the_mistake(subtests: pytest.Subtests) -> None:
    def with_one(request: str, response: str = "{}") -> str:
        return f'{{"log": {{"entries": [{{"request": {request}, "response": {response}}}]}}}}'

    coded = '{"status": 200, "content": {"text": "%", "encoding": "base64"}}'
    for text, problem in (
        ("{", "bad.har:1:2: is not JSON"),
        ("[]", "must be a HAR file (an object with log.entries)"),
        ('{"log": {}}', "must be a HAR file (an object with log.entries)"),
        ('{"log": {"entries": [1]}}', "bad.har: entry 1: has no request.method"),
        (with_one('{"method": "GET"}'), "bad.har: entry 1: has no request.url"),
        (with_one('{"method": "GET", "url": "https://[/v3"}'), "entry 1: request.url is not a URL"),
        (
            with_one('{"method": "GET", "url": "https://a.test/v3/balance"}', coded),
            "entry 1: has a body that is not valid base64",
        ),
        ('{"log": {"entries": []}}', "not have an answered request of the reseller API"),
        ('{"requests": [{}]}', "request 1: has no request.method"),
        ("[" * 100_000, "nested too deeply"),
        ("\xff", "not JSON"),
        (f"[{'[],' * 5_000_000}[]]", "must not have more than 5000000 values"),
    ):
        with subtests.test(problem):
            Path("bad.har").write_text(text)
            refused(["calibrate", "bad.har"], problem)
    for packed, problem in (
        (gzip.compress(bytes(130 << 20), 1), "the unpacked file is longer than 134217728 bytes"),
        (gzip.compress(b"{}")[:-3], "the file ends too early"),
    ):
        with subtests.test(problem):
            Path("bad.har").write_bytes(packed)
            refused(["calibrate", "bad.har"], problem)


def test_calibrate_reads_an_exported_journal() -> None:
    client = Sandbox(assume={"v3.ids": "integer"}).client()
    client.get("/v3/balance")
    client.get(f"{D}/getDomain/active-example.com")
    Path("journal.json").write_text(client.get("/_sandbox/journal").text)
    report = printed("calibrate", "journal.json", "--json")
    assert {one["name"]: one["value"] for one in report["assumptions"]}["v3.ids"] == "integer"
    assert (report["exchanges"], report["deviations"]) == (2, [])
