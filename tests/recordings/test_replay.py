"""Recordings replay to the byte, open as worlds, are read strictly, and keep no secret of others."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import time_machine
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox, replay
from tests.recordings.recording import lines, packed
from tests.registry import REGISTRY, assert_replays, connect, edit
from tests.thorough import tries


def lived(sandbox: Sandbox) -> Sandbox:
    """Ten calls of both interfaces, faults in both phases, time that moves, third parties, and a rewind."""
    client = sandbox.client()
    client.get("/v3/balance")
    sandbox.faults.add("latency", seconds=0.001, when={"phase": "before", "chance": 0.5})
    sandbox.faults.add("error", error="rate_limited", when={"phase": "after", "chance": 0.3})
    for number in range(3):
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": f"new-{number}.com"}})
    sandbox.clock.advance("P400D")
    sandbox.simulate.register("taken-by-others.com")
    client.get("/V2.0/domain/taken-by-others.com/check")
    client.get("/v3/balance", headers={"X-SVC-SIGNATURE": "wrong"})
    sandbox.rewind(sandbox.journal.list().requests[2].id, side="after")
    client.get("/nowhere")
    for _ in range(3):
        client.get("/v3/balance")
    return sandbox


LIVED = lived(Sandbox(REGISTRY))
CONTENT = LIVED.recording.get().content
LINES = lines(CONTENT)


def assert_replay_ends_alike(sandbox: Sandbox) -> None:
    assert assert_replays(sandbox).sandbox.export() == sandbox.export()


def test_a_replay_is_identical_to_the_byte(tmp_path: Path) -> None:
    """The same past has the same file. A file of ten requests is small."""
    recorded = LIVED.recording.write(tmp_path / "world.recording")
    replayed = replay(tmp_path / "world.recording")
    assert (replayed.difference, replayed.requests) == (None, recorded.requests)
    assert (replayed.skipped, replayed.notes) == ({}, ())
    assert replayed.sandbox.export() == LIVED.export()
    assert lived(Sandbox(REGISTRY)).recording.get().content == CONTENT
    assert len(CONTENT) < 20_000
    with LIVED.fork() as fork:
        assert_replay_ends_alike(lived(fork))


def gone(sandbox: Sandbox) -> None:
    sandbox.names.add("gone.de", created="-9d")


def test_a_replay_notices_an_edited_operation() -> None:
    requests = [number for number, line in enumerate(LINES) if line.get("step") == "request"]
    for number in requests:
        edited = [dict(line) for line in LINES]
        edited[number]["operation"] = f"{edited[number]['operation']}X"
        difference = replay(packed(edited)).difference
        assert difference is not None
        assert (difference.what, difference.recorded) == ("operation", edited[number]["operation"])


#: Actions that leave an event due at the same instant.
AT_ONCE: dict[str, Callable[[Sandbox], object]] = {
    "deleted": lambda sandbox: [gone(sandbox), sandbox.client().delete("/V2.0/domain/gone.de")],
    "dropped": lambda sandbox: [gone(sandbox), sandbox.simulate.drop("gone.de")],
    "expired": lambda sandbox: sandbox.names.add("late.com", expires="-3d"),
    "expired in the fixture": lambda sandbox: edit(sandbox, {"domains": {"late.com": {"expires": "-3d"}}}),
    "scheduled for now": lambda sandbox: sandbox.simulate.when("PT0S").register("wanted.com"),
}


def request(sandbox: Sandbox) -> None:
    sandbox.client().get("/v3/balance")


def call(sandbox: Sandbox) -> None:
    sandbox.faults.add("latency", seconds=0)


#: Later actions; some let the due event happen.
NEXT: dict[str, Callable[[Sandbox], object]] = {
    "nothing": lambda sandbox: None,
    "a request": request,
    "a call, and a request": lambda sandbox: [call(sandbox), request(sandbox)],
    "a list of events, and a call": lambda sandbox: [sandbox.events.list(), call(sandbox)],
    "a rewind": lambda sandbox: [request(sandbox), sandbox.rewind(sandbox.journal.list().requests[-1].id)],
    "a restore": lambda sandbox: [sandbox.snapshot("here"), sandbox.restore("here")],
    "an advance by nothing": lambda sandbox: sandbox.clock.advance(0),
    "an advance": lambda sandbox: [sandbox.assumptions.set({}), sandbox.clock.advance("P9D")],
}


def test_an_event_that_is_due_at_once_is_replayed_at_the_same_position(subtests: pytest.Subtests) -> None:
    for act, then in zip(cycle(AT_ONCE), [*NEXT, *NEXT], strict=False):
        with subtests.test(act, then=then):
            sandbox = Sandbox()
            AT_ONCE[act](sandbox)
            NEXT[then](sandbox)
            assert_replay_ends_alike(sandbox)


def test_an_event_of_a_running_clock_is_replayed_at_the_same_position(subtests: pytest.Subtests) -> None:
    for then in ("nothing", "a rewind", "an advance"):
        with (
            subtests.test(then),
            time_machine.travel(datetime(2026, 1, 1, tzinfo=UTC), tick=False) as machine,
        ):
            sandbox = Sandbox(frozen=False, assume={"v2.order_processing": "60"})
            sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
            for act in (lambda: call(sandbox), sandbox.clock.freeze, sandbox.clock.run):
                machine.shift(45)
                act()
            NEXT[then](sandbox)
            assert_replays(sandbox)


def test_a_recording_begins_with_the_first_request_in_the_journal() -> None:
    """A request whose body was cut is not replayed, and a note says why."""
    sandbox = Sandbox(REGISTRY, journal=4, journal_body=300)
    for number in range(7):
        body = {"domain": {"domainName": f"new-{number}.com"}, "pad": "y" * (400 if number == 5 else 1)}
        sandbox.client().post("/v3/domains/createDomain", json=body)
    recorded = sandbox.recording.get()
    assert recorded.requests == 4
    assert recorded.notes[0] == "earlier requests are no longer in the journal"
    replayed = replay(recorded.content)
    assert replayed.identical
    assert list(replayed.skipped) == ["r6"]
    assert "--journal-body" in replayed.skipped["r6"]
    assert replayed.sandbox.export() == sandbox.export()


def test_a_recording_of_a_branch_begins_at_the_start_of_the_branch() -> None:
    sandbox = Sandbox(REGISTRY)
    sandbox.client().get("/v3/balance")
    branch = sandbox.load(sandbox.export()).branch.name
    sandbox.client().get("/v3/balance")
    sandbox.branches.switch(branch)
    sandbox.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    replayed = replay(sandbox.recording.get().content)
    assert (replayed.identical, replayed.requests, replayed.notes) == (True, 2, ())


def test_a_recording_of_a_branch_from_another_fixture_begins_with_the_fixture_of_the_branch() -> None:
    sandbox, fixture = Sandbox(REGISTRY), Sandbox(REGISTRY).export()
    sandbox.load(fixture)
    sandbox.reset()
    branch = sandbox.load(Sandbox().export()).branch.name
    sandbox.branches.switch(branch)
    sandbox.client().get("/v3/balance")
    assert_replay_ends_alike(sandbox)


def test_opening_a_recording_creates_a_world_with_the_final_state() -> None:
    sandbox = Sandbox(REGISTRY)
    before, held = sandbox.export(), {account.key for account in sandbox.accounts.list().accounts}
    opened = sandbox.worlds.open(CONTENT, name="opened")
    assert (opened.difference, opened.notes, opened.frozen, opened.now) == (None, (), True, LIVED.clock.now)
    assert sandbox.export() == before
    assert not {account.key for account in opened.accounts} & held
    api, prefix = connect(sandbox), "/_worlds/opened"
    requests = api.get(f"{prefix}/_sandbox/journal").json["requests"]
    assert [row["id"] for row in requests] == [entry.id for entry in LIVED.journal.list().requests]
    assert api.get(f"{prefix}/v3/balance").status in (200, 429), "the credentials of the recording"
    assert sandbox.journal.count() == 0
    changed = packed([*LINES[:-1], {**LINES[-1], "requests": 99}])
    assert sandbox.worlds.open(changed).difference == "the end: the number of requests differs"


def test_a_recording_cannot_make_the_server_read_files() -> None:
    head = {**LINES[0], "settings": {"fixture": "/etc/hostname", "profile": "/etc/hostname"}}
    sandbox = Sandbox(REGISTRY)
    with pytest.raises(Refused, match=r"invalid_recording.*unknown settings: fixture, profile"):
        sandbox.worlds.open(b64encode(packed([head, *LINES[1:]])).decode())
    assert len(sandbox.worlds.list().worlds) == 1


def assert_refused(content: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^recording: {problem}"):
        replay(content)


@settings(max_examples=tries(40))
@given(at=st.integers(0, len(CONTENT) - 1), bit=st.integers(0, 7), more=st.binary(min_size=1, max_size=40))
def test_a_damaged_recording_is_refused(at: int, bit: int, more: bytes) -> None:
    """A flipped bit, a missing end, and bytes after the end.

    In the header of gzip, the flag for text, the time, the level and the system have no effect.
    """
    flipped = bytearray(CONTENT)
    flipped[at] ^= 1 << bit
    if 4 <= at < 10 or (at, bit) == (3, 0):
        assert replay(bytes(flipped)).identical
    else:
        assert_refused(bytes(flipped), "(byte|line|the (unpacked )?recording) ")
    assert_refused(CONTENT[:at], r"byte \d+: (this is not a recording|the recording ends too early)$")
    assert_refused(CONTENT + more, f"byte {len(CONTENT)}: data follows the end of the recording$")


def test_a_recording_that_is_packed_again_is_replayed() -> None:
    assert replay(gzip.compress(gzip.decompress(CONTENT), 1)).identical


@settings(max_examples=tries(40))
@given(at=st.integers(0, len(LINES) - 1), value=st.none() | st.integers() | st.text(), data=st.data())
def test_a_recording_with_a_line_or_value_of_the_wrong_type_is_refused(
    at: int, value: Any, data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from([field for field in LINES[at] if field not in ("recording", "step")]))
    other = {**LINES[at], key: 1.5}
    for line, problem in ((value, "Expected `object`, got"), (other, rf"(.*at `\$\.)?{key}")):
        assert_refused(packed([*LINES[:at], line, *LINES[at + 1 :]]), f"line {at + 1}: {problem}")


FROM = f"The recording is from version {re.escape(LINES[0]['by'])} of the sandbox"


def test_a_recording_that_expands_is_refused_before_it_is_parsed() -> None:
    """Kilobytes of gzip can unpack to gigabytes of values."""
    call = {"step": "call", "number": 1, "at": LINES[1]["at"], "call": "x", "parameters": {"a": "?"}}
    many = b"[" + b"[]," * 3_000_000 + b"[]]"
    fixture = {**LINES[1], "fixture": f"a: [{'[],' * 300_000}[]]"}
    for values, problem in (
        ([*LINES[:2], call, *LINES[2:]], "line 3: the recording has more than 2000000 values"),
        ([LINES[0], fixture, *LINES[2:]], "line 2: the recording has a fixture of more than [0-9]+ values"),
    ):
        text = gzip.decompress(packed(values)).replace(b'"?"', many)
        assert_refused(gzip.compress(text), problem)
    assert_refused(gzip.compress(bytes(40 << 20)), "the unpacked recording is longer than [0-9]+ bytes")


def test_a_recording_with_misplaced_lines_is_refused() -> None:
    count = len(LINES)
    cases: list[tuple[list[Any], str]] = [
        ([], "line 1: this is not a recording: it does not begin with the format's version"),
        ([{"recording": 9}], "line 1: the recording has format version 9; this program reads version 4"),
        ([{**LINES[0], "more": 1}, *LINES[1:]], f"line 1: .*unknown field `more`. {FROM}"),
        ([*LINES[:2], {**LINES[2], "more": 1}, *LINES[3:]], f"line 3: .*unknown field `more`. {FROM}"),
        ([LINES[0], *LINES[2:]], "line 2: the first step must be a state"),
        (LINES[:-1], f"line {count - 1}: the last step, and no other, must have the kind 'end'"),
        ([*LINES, LINES[-1]], f"line {count}: the last step, and no other, must have the kind 'end'"),
        ([*LINES[:2], {"step": "jump"}, *LINES[2:]], r"line 3: Invalid value .jump. - at `\$\.step`"),
    ]
    for values, problem in cases:
        assert_refused(packed(values), problem)


#: Secrets of other services, each in a place where a client can send it by mistake.
OTHERS = {
    "authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.somebody",
    "cookie": "session=cafe-babe-4711",
    "x-sandbox-token": "control-token-9",
    "x-other-secret": "tr0ub4dor&3",
    "referer": "https://mary:pa55word@shop.example.com/",
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox that has received secrets of other services."""
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    client.get("/v3/balance", headers=OTHERS)
    client.get("/v3/balance", headers={"X-SVC-APIKEY": "live-key-0815", "X-SVC-SIGNATURE": "feed" * 16})
    client.get("/V2.0/zones", headers={"X-Auth-Token": "live-token-0816"})
    client.get("/v3/balance?api_token=query-secret-17&page=1")
    for code in ("not-the-code-18", "let-me-in"):
        body = {"domain": {"domainName": "theirs.com"}, "authCode": code, "price": 9.10}
        client.post("/v3/domains/requestTransfer", json=body)
    client.post("/v3/domains/createDomain", data=b'{"password": "broken-json-19"')
    client.post("/V2.0/customer", json={"mail": "a@b.com", "name": "A", "password": "kept-word-20"})
    return sandbox


def test_a_replay_skips_requests_with_masked_secrets_outside_headers(sandbox: Sandbox) -> None:
    """It skips requests with unknown credentials, too."""
    replayed = replay(sandbox.recording.get().content)
    assert replayed.difference is None
    unknown = "the credentials of the request are unknown to this world"
    masked = "the request has a masked secret of another service"
    assert replayed.skipped == {"r2": unknown, "r4": masked, "r5": masked, "r7": masked}
    statuses, again = (
        {entry.id: entry.status for entry in at.journal.list().requests} for at in (sandbox, replayed.sandbox)
    )
    assert again == {
        request: status for request, status in statuses.items() if request not in replayed.skipped
    }


CODE = "Given-Code-21"

#: Control calls that give a name of another registrar a code.
GIVEN: dict[str, Callable[[Sandbox], object]] = {
    "at once": lambda sandbox: sandbox.simulate.register("new.com", auth_code=CODE),
    "as a fixture would": lambda sandbox: sandbox.names.add("new.com", account="outside", auth_code=CODE),
    "at an instant": lambda sandbox: sandbox.simulate.when("P1D").register("new.com", auth_code=CODE),
    "after a request": lambda sandbox: sandbox.simulate.when(after="v3.*").register(
        "new.com", auth_code=CODE
    ),
}


def test_a_recording_keeps_the_auth_code_of_a_control_call(subtests: pytest.Subtests) -> None:
    for case, give in GIVEN.items():
        with subtests.test(case):
            sandbox = Sandbox(REGISTRY)
            give(sandbox)
            assert_replays(sandbox)
            sandbox.client().get("/v3/balance")
            sandbox.clock.advance("P61D")
            assert_replays(sandbox)
            wish = {"domain": {"domainName": "new.com"}, "authCode": CODE}
            sandbox.client().post("/v3/domains/requestTransfer", json=wish)
            sandbox.clock.advance("P6D")
            assert_replays(sandbox)


#: Where a fault and a scheduled action look for a secret of somebody else's: exactly, and by a pattern.
LOOKED_FOR: dict[str, Any] = {
    "a header like": {"headers": {"X-Other-Secret": "tr0ub*"}},
    "a scheme": {"headers": {"Authorization": "Bearer tr0ub4dor-3"}},
    "a user": {"headers": {"Referer": "https://mary:tr0ub4dor-3@shop.example/*"}},
    "the query": {"query": {"api_token": "tr0ub4dor-3"}},
    "the body": {"body": {"password": "tr0ub4dor-3"}},
}


def _statuses(sandbox: Sandbox) -> list[int]:
    """The statuses of requests of which some have a secret of LOOKED_FOR."""
    client, path = sandbox.client(), "/v3/domains/getDomain/active.com"
    headers = {"X-Other-Secret": "tr0ub4dor-3", "Authorization": "Bearer tr0ub4dor-3"}
    headers |= {"Referer": "https://mary:tr0ub4dor-3@shop.example/cart"}
    others = {name: value.replace("tr0ub4dor", "another") for name, value in headers.items()}
    return [
        client.get(path, headers=headers).status_code,
        client.get(path, headers=others).status_code,
        client.get(f"{path}?api_token=tr0ub4dor-3").status_code,
        client.post("/v3/domains/renewDomain/active.com", json={"password": "tr0ub4dor-3"}).status_code,
    ]


def test_a_match_with_a_masked_secret_has_the_same_effect_in_a_replay(subtests: pytest.Subtests) -> None:
    """A replay leaves out the requests that the match may find. The recording does not have the secret."""
    for number, (case, match) in enumerate(LOOKED_FOR.items()):
        with subtests.test(case):
            sandbox = Sandbox(REGISTRY)
            sandbox.faults.add("error", status=599, match=match, when={"phase": "after"})
            sandbox.accounts.when(after=match).credit("other", 1)
            if number % 2:
                sandbox.journal.clear()
            assert 599 in _statuses(sandbox)
            content = sandbox.recording.get().content
            assert b"tr0ub4dor" not in gzip.decompress(content)
            replayed = replay(content)
            assert replayed.identical, replayed.difference
            (again,) = replayed.sandbox.faults.list().faults
            assert (again.matched, again.applied) == (1, 1)
            (scheduled,) = replayed.sandbox.scheduled.list().scheduled
            assert scheduled.applied is not None
            assert replayed.sandbox.accounts["other"].balance == sandbox.accounts["other"].balance


def test_a_replay_skips_requests_with_a_masked_number() -> None:
    """In any notation. A replay leaves out the request, because the mask is text."""
    for number in ("1e-7", "-5", "0", "123456789012345678901234567890"):
        sandbox, body = Sandbox(REGISTRY), f'{{"password": {number}}}'
        client, path = sandbox.client(), "/v3/domains/renewDomain/active.com"
        client.post(path, data=body, content_type="application/json")
        sandbox.faults.add("error", status=599, match={"body": {"password": json.loads(number)}})
        client.post(path, data=body, content_type="application/json")
        assert_replays(sandbox)


def test_a_recording_keeps_secrets_of_the_sandbox_and_patterns_that_match_them() -> None:
    """Records of the registry are test data, also if they look like secrets."""
    contact: Any = {"name": "Mary", "company": "https://mary:pa55word@shop.example/"}
    for token in ("main-*", "main-token"):
        sandbox = Sandbox(REGISTRY)
        sandbox.accounts.add("extra", key="extra-key", token="extra-token", contact=contact)
        sandbox.faults.add("error", status=599, match={"headers": {"X-Auth-Token": token}})
        headers = {"X-Auth-Token": sandbox.accounts["main"].token}
        assert sandbox.app.test_client().get("/V2.0/domain/active.com", headers=headers).status_code == 599
        assert_replays(sandbox)


def test_a_recording_masks_secrets_in_the_response_of_a_fault() -> None:
    sandbox = Sandbox(REGISTRY)
    sandbox.faults.add("error", status=401, body={"token": "live-token-22"})
    assert sandbox.client().get("/v3/balance").json == {"token": "live-token-22"}
    content = sandbox.recording.get().content
    assert b"live-token-22" not in gzip.decompress(content)
    assert replay(content).identical


def test_masking_a_short_or_common_secret_changes_no_other_words() -> None:
    for secret in ("***", "-", "code", "ä", "0000", "aaaa", "Tr0ub4dor&3"):
        sandbox = Sandbox(REGISTRY)
        sandbox.app.test_client().get("/V2.0/domain/active.com", headers={"X-Auth-Token": secret})
        sandbox.client().delete("/v3/nothing", headers={"X-Other-Secret": secret})
        assert_replays(sandbox)
        *_, request = [
            step for step in lines(sandbox.recording.get().content) if step.get("step") == "request"
        ]
        assert dict(request["sent"]["headers"])["X-Other-Secret"] == "***"
