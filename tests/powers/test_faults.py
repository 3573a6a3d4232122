"""The faults of a world: over HTTP, in Python, and as a client of this process meets them."""

from __future__ import annotations

from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox, connect
from reseller_sandbox.testing import EndlessWait
from tests.registry import REGISTRY, Make

FAULTS = "/_sandbox/faults"
BALANCE = "/v3/balance"
CREATE = ("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
COUNTS = ("matched", "struck", "spent")
SHARED = Sandbox(REGISTRY)
TOLD = SHARED.client().get(f"{FAULTS}/kinds").json
KINDS = {kind["kind"]: kind for kind in TOLD["kinds"]}
WORDS = st.sampled_from(
    [
        *sorted({one["name"] for kind in KINDS.values() for one in kind["parameters"]}),
        *(one["name"] for part in ("when", "match", "kept") for one in TOLD[part]),
        *("kind", "name", "match", "when", "preset", "other"),
    ]
)


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def names(answer: Any) -> list[str]:
    assert answer.status_code == (201 if answer.request.method == "POST" else 200), answer.text
    return [rule["name"] for rule in answer.json["faults"]]


def test_list_add_replace_remove_and_clear(client: Any) -> None:
    assert names(client.get(FAULTS)) == []
    assert names(client.post(FAULTS, json={"kind": "reset", "when": {"nth": 9}})) == ["reset"]
    assert names(client.post(FAULTS, json={"kind": "close", "when": {"nth": 9}, "name": "shut"})) == ["shut"]
    client.get(BALANCE)
    (first, second) = client.get(FAULTS).json["faults"]
    assert first == {
        "name": "reset",
        "kind": "reset",
        "match": {},
        "when": {"nth": 9, "phase": "before"},
        "paused": False,
        "matched": 1,
        "struck": 0,
        "spent": False,
    }
    assert second["name"] == "shut"
    assert names(client.delete(f"{FAULTS}/reset")) == ["shut"]
    assert names(client.put(FAULTS, json={"faults": [{"kind": "hang"}, {"preset": "outage"}]})) == [
        "hang",
        "outage",
    ]
    assert names(client.delete(FAULTS)) == []
    assert names(client.put(FAULTS, json={"faults": []})) == []


def test_a_mistake_changes_nothing(client: Any, subtests: pytest.Subtests) -> None:
    client.post(FAULTS, json={"kind": "reset", "name": "there"})
    two = {"faults": [{"kind": "hang"}, {"kind": "hang", "when": {"chance": 2}}]}
    wrong: tuple[tuple[str, str, Any, int, str, str], ...] = (
        ("PUT", "", two, 400, "invalid_parameter", "faults[1].when.chance must be a number from 0 to 1"),
        ("PUT", "", {"faults": {}}, 400, "invalid_parameter", "faults must be an array, not {}."),
        ("PUT", "", {}, 400, "invalid_parameter", "faults is missing."),
        ("PUT", "", {"faults": [], "rule": 1}, 400, "invalid_parameter", "rule is not known here;"),
        ("POST", "", {"kind": "reset", "self": 1}, 400, "invalid_parameter", "self is not known here."),
        ("POST", "", {"name": "there", "kind": "close"}, 409, "fault_exists", "There is a fault 'there'"),
        ("POST", "", b"{", 400, "malformed_body", "The body is not usable"),
        ("DELETE", "/gone", None, 404, "unknown_fault", "There is no fault 'gone'; there is there."),
    )
    for method, path, body, status, error, message in wrong:
        with subtests.test(message):
            raw = {"data": body, "content_type": "application/json"} if body == b"{" else {"json": body}
            answer = client.open(FAULTS + path, method=method, **(raw if body is not None else {}))
            assert (answer.status_code, answer.json["error"]) == (status, error), answer.json
            assert answer.json["message"].startswith(message)
            assert names(client.get(FAULTS)) == ["there"]


def test_no_more_rules_than_the_limit(make: Make) -> None:
    sandbox = make(max_faults=2)
    client = sandbox.client()
    client.post(FAULTS, json={"kind": "reset"})
    answer = client.put(FAULTS, json={"faults": [{"kind": "reset"}] * 3})
    assert (answer.status_code, answer.json["error"]) == (429, "too_many_faults")
    assert "That would be 3 faults, and 2 is the most" in answer.json["message"]
    assert "--max-faults" in answer.json["message"]
    assert names(client.get(FAULTS)) == ["reset"]
    sandbox.faults.add(kind="close")
    with pytest.raises(Refused, match="too_many_faults"):
        sandbox.faults.add(kind="hang")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@given(rule=st.dictionaries(WORDS, JSON_VALUES, max_size=6), word=st.sampled_from(sorted(KINDS)))
def test_whatever_is_given_is_refused_or_a_rule_that_can_be_put_back(rule: Any, word: str) -> None:
    faults = SHARED.faults
    for given_rule in (rule, {**rule, "kind": word}):
        faults.clear()
        try:
            faults.add(**given_rule)
        except Refused:
            assert faults.list().faults == ()
            continue
        listed = [{k: rule[k] for k in rule if k not in COUNTS} for rule in faults.list()]
        faults.replace(listed)
        assert [{k: rule[k] for k in rule if k not in COUNTS} for rule in faults.list()] == listed


def test_kinds_and_presets_are_described(client: Any) -> None:
    kinds = "error latency drip bandwidth hang reset close truncate garbage mutate rate_limit duplicate stale"
    assert list(KINDS) == kinds.split()
    assert all(kind["about"] and kind["phases"] for kind in KINDS.values())
    (limit,) = [one for one in KINDS["rate_limit"]["parameters"] if one["name"] == "limit"]
    about = limit.pop("about")
    takes = "a whole number from 0 to 1000000"
    assert (limit, about[-1]) == ({"name": "limit", "takes": takes, "required": True, "default": None}, ".")
    assert [one["name"] for one in TOLD["when"]] == [
        "phase",
        "nth",
        "every",
        "times",
        "chance",
        "from",
        "until",
    ]
    matched = "operation domain account method path headers query body outcome carried_out changed fault"
    assert [one["name"] for one in TOLD["match"]] == matched.split()
    assert [one["name"] for one in TOLD["kept"]] == ["paused", *COUNTS]
    assert "``" not in str(TOLD)
    presets = client.get(f"{FAULTS}/presets").json["presets"]
    known = "flaky outage lost-responses slow rate-limited maintenance"
    assert [one["preset"] for one in presets] == known.split()


def test_a_null_is_nothing_given(client: Any) -> None:
    rule = {"kind": "reset", "name": None, "preset": None, "match": {"domain": None}, "when": None}
    assert names(client.post(FAULTS, json=rule)) == ["reset"]
    assert names(client.put(FAULTS, json={"faults": [rule]})) == ["reset"]


def test_the_context_manager_removes_its_rules_alone(sandbox: Sandbox, client: Any) -> None:
    with sandbox.faults.add(kind="error", status=500) as fault:
        assert client.get(BALANCE).status_code == 500
        assert (fault.matched, fault.struck) == (1, 1)
        sandbox.faults.add(kind="error", status=501, name="other")
    with sandbox.faults.preset("maintenance", name="closed"):
        sandbox.faults.remove("closed")
    assert [rule.name for rule in sandbox.faults.list()] == ["other"]


def test_rules_of_a_remote_sandbox_count_and_are_removed(make: Make) -> None:
    served = make()
    with served.serve() as server:
        there = connect(server.url)
        with there.faults.add("error", status=599, match={"operation": "v3.*"}) as fault:
            assert served.client().get(BALANCE).status_code == 599
            assert (fault.matched, fault.struck) == (1, 1)
            assert there.faults[fault.names[0]].struck == 1
        assert served.faults.list().faults == ()


def test_faults_belong_to_their_world(sandbox: Sandbox, client: Any) -> None:
    with sandbox.fork(name="mine") as fork:
        assert names(client.post(f"/_worlds/mine{FAULTS}", json={"kind": "error", "status": 500})) == [
            "error"
        ]
        assert names(fork.client().get(FAULTS)) == ["error"]
        assert names(client.get(FAULTS)) == []
        assert fork.client().get(BALANCE).status_code == 500
        assert client.get(BALANCE).status_code == 200


# What a client of this process meets, without a socket


def test_a_broken_connection_raises_the_exception_of_a_socket(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """With phase ``after`` the request has been carried out, and the journal has the answer."""
    for kind, error in (
        ("reset", ConnectionResetError),
        ("close", RemoteDisconnected),
        ("hang", EndlessWait),
        ("garbage", BadStatusLine),
    ):
        for after in (False, True):
            with subtests.test(f"{kind} {after}"), sandbox.fork() as world:
                client = world.client()
                world.faults.add(kind, when={"phase": ("before", "after")[after]}, match={"method": "POST"})
                with pytest.raises(error):
                    client.post(CREATE[0], json=CREATE[1])
                assert ("new.com" in world.names) is after
                assert client.get(BALANCE).json[0]["balance"] == ("9990.00" if after else "10000.00")
                entry = world.journal["r1"]
                assert (entry.fault, entry.fault_kind, entry.outcome) == (kind, kind, "fault")
                assert (entry.answer.status, entry.answer.lost) == (200 if after else 0, True)


SLOW: list[dict[str, Any]] = [
    {"kind": "latency", "seconds": 3},
    {"kind": "latency", "name": "late", "seconds": 2, "when": {"phase": "after"}},
    {"kind": "drip", "size": 50, "pause": 1},
]


@pytest.mark.parametrize(("real_time", "waited"), [(False, 0), (True, 6)])
def test_in_process_time_is_reckoned_or_waited_for(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, real_time: bool, waited: int
) -> None:
    """Before, after, and between two drops; the journal tells how long the client was held up."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    sandbox.faults.replace(SLOW)
    answer = sandbox.client(real_time=real_time).get(BALANCE)
    assert answer.json[0]["balance"] == "10000.00"
    assert answer.headers["X-Sandbox-Fault"] == "latency, late, drip"
    assert sum(slept) == waited
    assert sandbox.journal.get("r1").held_up_seconds == 6


def test_in_process_the_clients_timeout_counts(sandbox: Sandbox) -> None:
    """A client that has given up has been heard all the same; one with more time has its answer."""
    sandbox.faults.replace(SLOW[:1])
    body = {"domain": {"domainName": "new.com"}}
    with pytest.raises(TimeoutError):
        sandbox.client(timeout=2.5).post("/v3/domains/createDomain", json=body)
    assert "new.com" in sandbox.names
    assert sandbox.client(timeout=3.5).get(BALANCE).json[0]["balance"] == "9990.00"


def test_in_process_a_truncated_answer_is_shorter_than_it_says(sandbox: Sandbox, client: Any) -> None:
    """Whoever reads it notices, and may look at what has come."""
    sandbox.faults.add(kind="truncate", keep=7)
    answer = client.get(BALANCE)
    assert (answer.status_code, int(answer.headers["Content-Length"]) > 7) == (200, True)
    with pytest.raises(IncompleteRead) as raised:
        answer.get_data()
    assert raised.value.partial == b'[{"clie'


def test_a_world_that_goes_back_while_a_request_waits(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.faults.add(kind="latency", seconds=3)
    monkeypatch.setattr("time.sleep", lambda _: sandbox.reset())
    with pytest.raises(RemoteDisconnected):
        sandbox.client(real_time=True).post(
            "/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}}
        )
    assert "new.com" not in sandbox.names
