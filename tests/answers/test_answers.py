"""Canned answers to calls beyond the contract. The credentials choose the world of an answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox, replay
from tests.clients import Api
from tests.command import printed, run

ZONE: dict[str, Any] = {
    "path": "/dns/zones/{zone}",
    "headers": {"X-Zone": "{zone}", "X-Count": "{count}"},
    "body": {
        **{"zone": "{zone}", "expires": "{zone.expires}", "servers": "{zone.nameservers}", "ttl": 9.10},
        **{"page": "page {query.page}", "account": "{account.name} {account.client_id}", "plain": "{{zone}}"},
    },
}


def test_placeholders_of_an_answer_are_filled_from_the_request_and_the_registry(
    sandbox: Sandbox, api: Api
) -> None:
    sandbox.answers.add(**ZONE)
    sandbox.answers.add(
        "/dns/zones/{zone}/records",
        method="POST",
        body={
            "id": "{count}",
            "type": "{body.records.0.type}",
            "t": "{body.records.0.ttl} s",
            "all": "{body}",
        },
        status=201,
    )
    answer = api.call("GET", "/dns/zones/active.com?page=2")
    assert (answer.status, answer.headers["x-zone"], answer.headers["x-count"]) == (200, "active.com", "1")
    order = sandbox.names["active.com"]
    assert answer.json == {
        **{"zone": "active.com", "servers": list(order.nameservers), "ttl": 9.1, "page": "page 2"},
        **{"expires": f"{order.expires:%Y-%m-%dT%H:%M:%SZ}", "account": "main 1001", "plain": "{zone}"},
    }
    assert api.call("GET", "/dns/zones/nobodys.com").json["expires"] is None
    sent = {"records": [{"type": "A", "ttl": 60}]}
    answer = api.call("POST", "/dns/zones/active.com/records", sent)
    assert (answer.status, answer.json) == (201, {"id": 1, "type": "A", "t": "60 s", "all": sent})


def test_the_first_canned_answer_that_matches_the_request_is_returned(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    sandbox.answers.add("/dns/{zone}", method="POST", request_body={"type": "M*", "ttl": 60}, body="both")
    sandbox.answers.add("/dns/{zone}", method="POST", request_body={"type": "M*"}, body="type")
    sandbox.answers.add("/dns/{zone}", method="POST", body="any", content_type="text/csv")
    for body, expected in (({"type": "MX", "ttl": 60}, b"both"), ({"type": "MX"}, b"type"), ({}, b"any")):
        with subtests.test(body=body):
            assert api.call("POST", "/dns/a.com", body).raw == expected
    assert api.call("POST", "/dns/a.com", {}).headers["content-type"] == "text/csv"
    for method, path in (
        ("GET", "/dns/a.com"),
        ("POST", "/dns/"),
        ("POST", "/dns/a.com/b"),
        ("POST", "/dnt/a"),
    ):
        with subtests.test(method=method, path=path):
            assert api.call(method, path).status == 404


@given(st.lists(st.text("aZ9 %+&=;:@~éЖ🙂", min_size=1), min_size=1, max_size=3), st.booleans())
def test_a_path_can_be_percent_encoded_in_an_answer_and_in_a_match(segments: list[str], small: bool) -> None:
    """With capital or small hexadecimal digits, as in a URL."""
    path = quote("/".join(["/x", *segments]))
    spelling = re.sub("%..", lambda code: code[0].lower(), path) if small else path
    with Sandbox("empty") as sandbox:
        sandbox.answers.add(spelling, body="here")
        assert sandbox.client().get(path).text == "here"
        head = sandbox.client().head(path)
        assert (head.status_code, head.text, head.headers["content-length"]) == (200, "", "4")
        assert sandbox.journal.list(path=spelling).matching == 2


def test_a_request_that_just_misses_a_canned_answer_is_refused_with_its_name(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    sandbox.answers.add("/Zones/{zone}", name="zone", method="PUT", request_body={"type": "A"}, body="")
    sandbox.answers.add("/keys/", name="keys", entry="keys", exists=True, body="")
    for method, path, body, reason in (
        ("GET", "/Zones/a.com", None, "the canned answer zone is for PUT /Zones/{zone}"),
        ("PUT", "/zones/a.com", {"type": "A"}, "the canned answer zone is for PUT /Zones/{zone}"),
        ("PUT", "/Zones/a.com/", {"type": "A"}, "the canned answer zone is for PUT /Zones/{zone}"),
        ("PUT", "/Zones/a.com", {"type": "B"}, "the canned answer zone has another request_body"),
        ("GET", "/keys/", None, "the canned answer keys has exists=true, which is not the case"),
        ("GET", "/keys", None, "the canned answer keys is for GET /keys/"),
        ("GET", "/zones", None, "paths begin with"),
    ):
        with subtests.test(method=method, path=path, body=body):
            answer = api.call(method, path, body)
            assert (answer.status, reason in answer.json["message"]) == (404, True), answer.json


def test_a_sequence_of_canned_answers_is_returned_in_order_and_can_be_rewound(
    sandbox: Sandbox, api: Api
) -> None:
    sandbox.answers.add("/job", sequence=[{"status": 202, "body": "wait"}, {"body": {"done": "{count}"}}])

    def ask() -> Any:
        answer = api.call("GET", "/job")
        return answer.status if answer.status == 202 else answer.json["done"]

    assert [ask() for _ in range(3)] == [202, 2, 3]
    with sandbox.fork() as fork:
        assert fork.client().get("/job").json == {"done": 4}
    assert sandbox.answers["get-job"].matched == 3
    sandbox.history.rewind("r2")
    assert [ask(), ask()] == [2, 3]


def test_a_changed_canned_answer_keeps_its_position_and_its_count(sandbox: Sandbox, api: Api) -> None:
    sandbox.answers.add("/dns", name="first", body="old", headers={"X-Old": "1"})
    sandbox.answers.add("/dns", name="second")
    api.call("GET", "/dns")
    changed = sandbox.answers.change("first", {"body": {"ttl": 1.5}, "headers": None})
    assert (changed.matched, [answer.name for answer in sandbox.answers]) == (1, ["first", "second"])
    answer = api.call("GET", "/dns")
    assert (answer.json, "x-old" in answer.headers) == ({"ttl": 1.5}, False)
    for changes, problem in (
        ({"matched": 5}, "matched cannot be changed, because it counts the answered requests"),
        ({"path": "dns"}, "begins with a slash"),
        ({"colour": 1}, "colour is not known"),
    ):
        with pytest.raises(Refused, match=problem):
            sandbox.answers.change("first", changes)


def test_credentials_decide_which_world_returns_a_canned_answer(sandbox: Sandbox, api: Api) -> None:
    """A path prefix takes precedence. Without credentials, the default world answers."""
    sandbox.answers.add("/who", body="default")
    with sandbox.fork(name="mine") as fork:
        fork.answers.clear()
        fork.answers.add("/who", body="mine, {account}")
        assert fork.client().get("/who").data == b"mine, main"
        token = {"X-Auth-Token": fork.accounts["main"].token}
        for path, headers, expected in (
            ("/who", token, b"mine, main"),
            ("/who", {}, b"default"),
            ("/who", {"X-Auth-Token": "unknown"}, b"default"),
            ("/_worlds/mine/who", {}, b"mine, "),
        ):
            answer = sandbox.app.test_client().get(path, headers=headers)
            assert answer.data == expected, (path, headers)


def test_a_request_with_a_canned_answer_is_in_the_journal_and_covers_no_operation(
    sandbox: Sandbox, api: Api
) -> None:
    sandbox.coverage.clear()
    refused = api.call("GET", "/v3/dns/zones")
    assert "add a canned answer with answers.add" in refused.message
    sandbox.answers.add("/v3/dns/zones", name="zones", body=[])
    api.call("GET", "/v3/dns/zones")
    request = sandbox.journal.list().requests[-1]
    assert (request.operation, request.account, request.outcome) == ("canned.zones", "main", "ok")
    assert (request.answer.body, request.changes, request.charged) == ([], (), 0)
    assert sandbox.journal.count(operation="canned.*") == 1
    coverage = sandbox.coverage.show()
    assert (coverage.covered, coverage.canned) == (sandbox.coverage.show().covered, 1)
    assert not [item for item in sandbox.coverage.items(area="operations").items if item.covered]


def test_faults_and_scheduled_actions_apply_to_requests_with_canned_answers(
    sandbox: Sandbox, api: Api
) -> None:
    sandbox.answers.add("/dns", body="ok")
    sandbox.accounts.when(after="canned.*").set_balance("poor", 7)
    with sandbox.faults.add("error", status=503, match={"path": "/dns"}, when={"times": 1}) as fault:
        assert [api.call("GET", "/dns").status for _ in range(2)] == [503, 200]
        assert fault.applied == 1
    assert sandbox.accounts["poor"].balance == 7


def test_exports_and_recordings_and_diffs_contain_canned_answers(sandbox: Sandbox, api: Api) -> None:
    sandbox.answers.add(**ZONE)
    sandbox.answers.add("/job", sequence=[{"status": 202}, {"body": {"n": 1.5}}], name="job")
    api.call("GET", "/job")
    assert {setting.name for setting in sandbox.diff().settings} >= {"answers.job"}
    listed = sandbox.answers.list()
    with sandbox.fork(state=sandbox.export()) as fork:
        assert fork.answers.list() == listed
        assert fork.client().get("/job").data == b'{"n":1.5}'
    result = replay(sandbox.recording.get().content)
    assert (result.identical, result.requests, result.skipped) == (True, 1, {})
    assert result.sandbox.answers.list() == listed


def test_a_recording_masks_secrets_in_canned_answers_but_keeps_placeholders(
    sandbox: Sandbox, api: Api
) -> None:
    sandbox.answers.add("/a/{domain}", body={"auth_code": "{domain.auth_code}"})
    sandbox.answers.add("/b", body={"token": "their-token-31"})
    assert api.call("GET", "/a/theirs.com").json["auth_code"]
    api.call("GET", "/b")
    result = replay(sandbox.recording.get().content)
    assert (result.identical, list(result.skipped)) == (True, ["r2"])


def test_an_invalid_canned_answer_is_refused_with_the_path_of_the_mistake(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    for parts, problem in (
        ({"path": "/v3/balance"}, "path belongs to the operation v3.balance; use a fault"),
        ({"path": "/v3/domains/getDomain/{name}"}, "path belongs to the operation v3.getDomain"),
        ({"path": "/_sandbox/x"}, "path cannot begin with /_sandbox"),
        ({"path": "/a?b=c"}, "path has the invalid segment 'a[?]b=c'"),
        ({"path": "/{a}/{a}"}, r"path cannot have the placeholder \{a\} twice"),
        ({"path": "/{now}"}, r"path cannot have the placeholder \{now\}"),
        ({"path": "/{zone}", "body": ["{zona}"]}, r"body.0 has the .* \{zona\}; did you mean zone"),
        ({"path": "/{zone}", "headers": {"X": "{zone.expirse}"}}, "headers.X .*; did you mean expires"),
        ({"path": "/a", "sequence": [{"status": 99}]}, "sequence.0.status must be an integer"),
        ({"path": "/a", "body": 1, "sequence": [{}]}, "sequence cannot be combined with status"),
        ({"path": "/a", "method": "HEAD"}, "method must be one of DELETE, GET, PATCH, POST, PUT"),
        ({"path": "/a", "headers": {"Content-Length": "1"}}, "headers.Content-Length cannot be set"),
        ({"path": "/a", "save": "{body}"}, "save needs an entry"),
        ({"path": "/a", "exists": False}, "exists needs an entry"),
        ({"path": "/a", "entry": "a", "save": 1, "delete": True}, "delete cannot be combined with save"),
        ({"path": "/{zone}", "entry": "{zone.asci}"}, "entry has .*; did you mean ascii"),
        ({"path": "/a", "body": "{entry}"}, r"body has the placeholder \{entry\}, but .* no entry"),
    ):
        with subtests.test(parts=parts), pytest.raises(Refused, match=f"invalid_parameter: {problem}"):
            sandbox.answers.add(**parts)
    assert sandbox.answers.list().answers == ()


def test_a_world_has_at_most_a_thousand_answers(sandbox: Sandbox) -> None:
    sandbox.load({"answers": {f"a{number}": {"path": f"/a{number}"} for number in range(999)}})
    sandbox.answers.add(path="/last")
    with pytest.raises(Refused, match="a world has at most 1000 answers"):
        sandbox.answers.add(path="/more")


def test_a_fixture_with_invalid_answers_is_refused_with_line_numbers(tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    file.write_text("answers:\n  one: {path: /v3/balance}\n  two:\n    path: /x\n    body: '{y}'\n")
    done = run("fixture", "validate", str(file))
    assert f"{file}:2:15: path belongs to the operation v3.balance" in done.err
    assert f"{file}:5:11: body has the unknown placeholder {{y}}" in done.err


def test_a_fixture_or_a_command_can_add_canned_answers(wire: Api, served: Sandbox, url: str) -> None:
    served.load("include: {answers-dns: [answers]}\n" + served.export())
    zone = wire.call("GET", "/v3/dns/zones/active.com").json
    assert zone["expires"] == "2026-11-21T12:00:00Z"
    assert wire.call("POST", "/v3/dns/zones/a.com/records", {"value": ""}).status == 400
    assert wire.call("POST", "/v3/dns/zones/a.com/records", {"value": "192.0.2.1"}).json["id"] == 1
    options = ("--body", '{"idn": "{name}"}', "--url", url)
    assert "idn" in printed("answers", "add", "/idn/{name}", "--name", "idn", *options)
    assert wire.call("GET", "/idn/a.com").json == {"idn": "a.com"}
    served.reset(original=True)


#: The calls of known clients, in an order in which each reads what an earlier one wrote: method, path, body,
#: and the expected status and body.
A, B = (
    {"type": "A", "name": "www", "value": ["192.0.2.1"]},
    {"type": "A", "name": "www", "value": ["192.0.2.2"]},
)
MX = {"type": "MX", "name": "@", "value": ["mail.new.com."], "ttl": 60}
KEY = {"keyTag": 1, "algorithm": 13, "digestType": 2, "digest": "AB12"}
CALLS: tuple[tuple[str, Any, int, Any], ...] = (
    ("GET getZoneRecord/new.com", None, 404, {"error": "zone_not_found"}),
    ("DELETE deleteZoneRecord/new.com", None, 404, {"error": "zone_not_found"}),
    ("POST createZoneRecord/new.com", {}, 200, {"domainName": "new.com"}),
    ("GET getZoneRecord/new.com", None, 200, {"records": []}),
    ("POST createZoneRecord/other.com", A, 200, {"record": A}),
    ("POST createDnsRecord/new.com", A, 200, {"domainName": "new.com", "record": A}),
    ("POST createDnsRecord/NEW.com", MX, 200, {"record": MX}),
    ("GET getZoneRecord/new.com", None, 200, {"domainName": "new.com", "records": [A, MX]}),
    ("PUT modifyDnsRecord/new.com/www", B, 200, {"record": B}),
    ("PUT modifyDnsRecord/new.com/none", B, 404, {"error": "record_not_found"}),
    ("GET getZoneRecord/new.com", None, 200, {"records": [B, MX]}),
    ("DELETE deleteDnsRecord/new.com/www", None, 200, {"record": "www"}),
    ("DELETE deleteDnsRecord/new.com/www", None, 404, {"error": "record_not_found"}),
    ("GET getZoneRecord/new.com", None, 200, {"records": [MX]}),
    ("GET getZoneRecord/other.com", None, 200, {"records": [A]}),
    ("DELETE deleteZoneRecord/new.com", None, 200, {}),
    ("GET getZoneRecord/new.com", None, 404, {}),
    ("GET dnssec/new.com", None, 200, {"dnssec": []}),
    ("POST dnssec/new.com", KEY, 200, {"dnssec": KEY}),
    ("POST dnssec/new.com", {**KEY, "digest": "CD"}, 200, {}),
    ("GET dnssec/new.com", None, 200, {"dnssec": [KEY, {**KEY, "digest": "CD"}]}),
    ("GET dnssec/new.com/AB12", None, 200, {"dnssec": KEY}),
    ("DELETE dnssec/new.com/AB12", None, 200, {"digest": "AB12"}),
    ("GET dnssec/new.com/AB12", None, 404, {"error": "dnssec_not_found"}),
    ("DELETE dnssec/new.com/AB12", None, 404, {}),
    ("DELETE dnssec/new.com", None, 200, {}),
    ("GET dnssec/new.com", None, 200, {"dnssec": []}),
    (
        "GET ../tool/idnConverter/españa.com",
        None,
        200,
        {"ascii": "xn--espaa-rta.com", "unicode": "españa.com"},
    ),
    ("GET ../tool/idnConverter/xn--espaa-rta.com", None, 200, {"unicode": "españa.com"}),
)


def test_a_client_reads_the_dns_records_and_keys_that_it_wrote(
    url: str, served: Sandbox, subtests: pytest.Subtests
) -> None:
    """Nobody holds ``new.com``."""
    served.load("include: {answers-dns: [answers]}\n" + served.export())
    for number, (words, sent, status, expected) in enumerate(CALLS):
        method, path = words.split()
        path = path.removeprefix("../") if path.startswith("../") else f"domains/{path}"
        with subtests.test(number=number, words=words):
            answer = httpx.request(method, f"{url}/v3/{path}", json=sent)
            assert (answer.status_code, answer.json()) == (status, {**answer.json(), **expected})
    served.reset(original=True)


NOTES: dict[str, Any] = {
    "note": {
        **{"path": "/notes/{id}", "method": "PUT", "entry": "notes/{id}", "save": {"text": "{body.text}"}},
        "body": "{entry}",
    },
    "notes": {"path": "/notes", "entry": "notes", "body": {"all": "{entries}", "first": "{entries.0.text}"}},
}


def test_saved_values_belong_to_the_world_and_its_history(sandbox: Sandbox, api: Api) -> None:
    """They are in forks, rewinds, exports, recordings and state files, as the answers are."""
    sandbox.load({"answers": NOTES, "include": {"default": ["accounts"]}})
    api.call("PUT", "/notes/1", {"text": "one"})
    with sandbox.fork() as fork:
        fork.client().put("/notes/2", json={"text": "two"})
        texts = [note["text"] for note in fork.client().get("/notes").json["all"]]
        assert texts == ["one", "two"]
    assert api.call("GET", "/notes").json == {"all": [{"text": "one"}], "first": "one"}
    with sandbox.fork(state=sandbox.export()) as fork:
        assert fork.client().get("/notes").json["first"] == "one"
        assert fork.answers["note"].saved == {"notes/1": {"text": "one"}}
    result = replay(sandbox.recording.get().content)
    assert (result.identical, result.requests) == (True, 2)
    assert result.sandbox.answers.list() == sandbox.answers.list()
    sandbox.history.rewind("r1")
    assert api.call("GET", "/notes").json == {"all": [], "first": None}
    sandbox.answers.change("note", {"saved": {"notes/7": {"text": "seven"}}})
    assert api.call("GET", "/notes").json["first"] == "seven"


def test_an_answer_saves_a_limited_number_of_limited_values(sandbox: Sandbox, api: Api) -> None:
    """A value beyond a limit is refused, and the saved values stay."""
    saved = {f"notes/n{number}": {"text": ""} for number in range(999)}
    sandbox.load({"answers": {**NOTES, "note": {**NOTES["note"], "saved": saved}}})
    assert api.call("PUT", "/notes/a", {"text": "x" * 70_000}).status == 507
    assert api.call("PUT", "/notes/a", {"text": "x" * 60_000}).status == 200
    refused = api.call("PUT", "/notes/b", {"text": "x"})
    assert refused.status == 507
    assert "has saved 1000 values, which is the maximum" in refused.json["message"]
    assert api.call("PUT", "/notes/a", {"text": "again"}).json == {"text": "again"}
    assert len(sandbox.answers["note"].saved) == 1000


HAR = {
    "log": {
        "entries": [
            {
                "request": {"method": method, "url": f"https://{host}{path}"},
                "response": {
                    "status": 200,
                    "headers": [{"name": "Set-Cookie", "value": "a=b"}, {"name": "ETag", "value": '"x"'}],
                    "content": {"mimeType": "application/json", "text": json.dumps(body)},
                },
            }
            for method, host, path, body in (
                ("GET", "api.example.com", "/dns/zones?page=1", {"zones": ["{a}"], "api_token": "sekrit-32"}),
                ("GET", "api.example.com", "/job", {"state": "pending"}),
                ("GET", "api.example.com", "/job", {"state": "done"}),
                ("GET", "api.example.com", "/v3/balance", {}),
                ("GET", "other.example.com", "/x", {}),
            )
        ]
    }
}


def test_recorded_answers_keep_their_media_type_and_a_broken_url_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "real.har"
    content = {"mimeType": "text/xml", "text": "<x/>"}
    exchange = {
        "request": {"method": "GET", "url": "https://api.example.com/xml"},
        "response": {"status": 200, "content": content},
    }
    file.write_text(json.dumps({"log": {"entries": [exchange]}}))
    assert "content_type: text/xml" in printed("answers", "record", str(file), "--host", "api.example.com")
    content["text"] = "[" * 100_000
    file.write_text(json.dumps({"log": {"entries": [exchange]}}))
    assert "[[[" in printed("answers", "record", str(file), "--host", "api.example.com")
    words = "answers", "record", str(file), "--host"
    answers_of = "The file has answers of api.example.com"
    assert answers_of in run(*words, "https://api.example.com").err
    content |= {"mimeType": "image/jpeg", "encoding": "base64", "text": "/9j/"}
    picture = {**exchange, "request": {"method": "GET", "url": "https://api.example.com/picture"}}
    file.write_text(json.dumps({"log": {"entries": [picture]}}))
    done = run(*words, "api.example.com")
    assert (done.status, "1 response whose body is not text in UTF-8" in done.err) == (2, True)
    text = {**picture, "response": {"status": 200, "content": {"text": "é"}}}
    file.write_text(json.dumps({"log": {"entries": [text, picture]}}))
    done = run(*words, "api.example.com")
    assert ("body: é" in done.out, done.err) == (
        True,
        "Left out: 1 response whose body is not text in UTF-8.\n",
    )
    exchange["request"]["url"] = "http://[bad/x"
    file.write_text(json.dumps({"log": {"entries": [exchange]}}))
    done = run("answers", "record", str(file), "--host", "api.example.com")
    assert f"{file}: entry 1: request.url is not a URL: " in done.err
    assert "Traceback" not in done.err


def test_a_har_file_becomes_a_fixture_without_secrets(tmp_path: Path) -> None:
    file, output = tmp_path / "real.har", tmp_path / "answers.yaml"
    file.write_text(json.dumps(HAR))
    message = printed("answers", "record", str(file), "--host", "api.example.com", "-o", str(output))
    assert message == f"{output} contains 2 answers. Left out: 1 request of the contract.\n"
    assert "sekrit-32" not in output.read_text()
    with Sandbox(output) as sandbox:
        client = sandbox.app.test_client()
        answer = client.get("/dns/zones")
        assert answer.json == {"zones": ["{a}"], "api_token": "***"}
        assert (answer.headers["ETag"], "Set-Cookie" in answer.headers) == ('"x"', False)
        assert [client.get("/job").json["state"] for _ in range(3)] == ["pending", "done", "done"]
    words = "answers", "record", str(file), "--host", "api.example.com"
    assert "pending" not in printed(*words, "--secret-name", "State")
    assert "pending" not in run(*words, env={"RESELLER_SANDBOX_SECRET_NAME": "state"}).out
    assert "has no answers of none" in run("answers", "record", str(file), "--host", "none").err
    file.write_text("{}")
    assert "must be a HAR file" in run("answers", "record", str(file), "--host", "a").err
