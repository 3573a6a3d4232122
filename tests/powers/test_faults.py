"""The faults of a world over HTTP, and the same in Python."""

from __future__ import annotations

from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from typing import Any, Never

import pytest
from hypothesis import given, strategies
from openapi_spec_validator import validate

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.matching import Matching
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.faults import KINDS, When
from reseller_sandbox.faults.kinds.latency import Latency
from reseller_sandbox.faults.reading import names_of
from reseller_sandbox.testing import EndlessWait
from tests.registry import REGISTRY, Make

FAULTS = "/_sandbox/faults"
BALANCE = "/v3/balance"
COUNTS = ("matched", "struck", "spent")

WORDS = strategies.sampled_from(
    [
        *sorted({key for kind in KINDS.values() for key in names_of(kind)}),
        *names_of(Matching),
        *names_of(When),
        *("kind", "name", "match", "when", "preset", "other"),
    ]
)


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


@pytest.fixture(scope="module")
def shared() -> Sandbox:
    return Sandbox(REGISTRY)


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


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error", "message"),
    [
        ("PUT", "", {"faults": [{"kind": "hang"}, {"kind": "hang", "when": {"chance": 2}}]}, 400,
         "invalid_parameter", "faults[1].when.chance must be a number from 0 to 1, not 2."),
        ("PUT", "", {"faults": {}}, 400, "invalid_parameter", "faults must be an array, not {}."),
        ("PUT", "", {}, 400, "invalid_parameter", "faults is missing."),
        ("PUT", "", {"faults": [], "rule": 1}, 400, "invalid_parameter", "rule is not known here;"),
        ("POST", "", {"kind": "reset", "self": 1}, 400, "invalid_parameter", "self is not known here."),
        ("POST", "", {"name": "there", "kind": "close"}, 409, "fault_exists", "There is a fault 'there'"),
        ("POST", "", b"{", 400, "malformed_body", "The body is not usable"),
        ("DELETE", "/gone", None, 404, "unknown_fault", "There is no fault 'gone'; there is there."),
    ],
)  # fmt: skip
def test_a_mistake_changes_nothing(
    client: Any, method: str, path: str, body: Any, status: int, error: Any, message: str
) -> None:
    client.post(FAULTS, json={"kind": "reset", "name": "there"})
    raw = {"data": body, "content_type": "application/json"} if isinstance(body, bytes) else {"json": body}
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


JSON_VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.floats()
    | strategies.text(max_size=9),
    lambda inner: strategies.lists(inner, max_size=3) | strategies.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


@given(
    rule=strategies.dictionaries(WORDS, JSON_VALUES, max_size=6), word=strategies.sampled_from(sorted(KINDS))
)
def test_whatever_is_given_is_a_rule_or_refused(shared: Sandbox, rule: Any, word: str) -> None:
    """And what is a rule can be listed, given again, and met by a request."""
    faults = shared.faults
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


def test_a_worlds_prefix_chooses_whose_faults(sandbox: Sandbox, client: Any) -> None:
    forked = sandbox.fork()
    answer = client.post(f"/_worlds/{forked.world.name}{FAULTS}", json={"kind": "error", "status": 500})
    assert names(answer) == ["error"]
    assert names(client.get(FAULTS)) == []
    assert forked.client().get(BALANCE).status_code == 500
    assert client.get(BALANCE).status_code == 200


def test_kinds_and_presets_are_described(client: Any) -> None:
    told = client.get(f"{FAULTS}/kinds").json
    kinds = {kind["kind"]: kind for kind in told["kinds"]}
    assert list(kinds) == (
        [
            "error",
            "latency",
            "drip",
            "bandwidth",
            "hang",
            "reset",
            "close",
            "truncate",
            "garbage",
            "mutate",
            "rate_limit",
            "duplicate",
            "stale",
        ]
    )
    assert all(kind["about"] and kind["phases"] for kind in kinds.values())
    (limit,) = [one for one in kinds["rate_limit"]["parameters"] if one["name"] == "limit"]
    assert limit == {
        "name": "limit",
        "takes": "a whole number from 0 to 1000000",
        "required": True,
        "default": None,
        "about": "How many requests are let through.",
    }
    assert [one["name"] for one in told["when"]] == [
        "phase",
        "nth",
        "every",
        "times",
        "chance",
        "from",
        "until",
    ]
    matched = "operation domain account method path headers query body outcome carried_out changed fault"
    assert [one["name"] for one in told["match"]] == matched.split()
    assert [one["name"] for one in told["kept"]] == ["paused", "matched", "struck", "spent"]
    presets = client.get(f"{FAULTS}/presets").json["presets"]
    assert [one["preset"] for one in presets] == [
        "flaky", "outage", "lost-responses", "slow", "rate-limited", "maintenance",
    ]  # fmt: skip
    for preset in presets:
        assert names(client.put(FAULTS, json={"faults": preset["rules"]}))
    assert "``" not in client.get("/_sandbox/faults/kinds").text  # it is read by people as it is


def test_a_null_is_nothing_given(client: Any) -> None:
    rule = {"kind": "reset", "name": None, "preset": None, "match": {"domain": None}, "when": None}
    assert names(client.post(FAULTS, json=rule)) == ["reset"]
    assert names(client.put(FAULTS, json={"faults": [rule]})) == ["reset"]


def test_the_document_shows_it(client: Any) -> None:
    document = client.get("/_sandbox/openapi/control.json").json
    validate(document)
    paths = {path: set(found) for path, found in document["paths"].items() if path.startswith(FAULTS)}
    assert paths == {
        FAULTS: {"get", "put", "post", "delete"},
        f"{FAULTS}/{{name}}": {"get", "delete", "patch"},
        f"{FAULTS}/{{name}}/pause": {"post"},
        f"{FAULTS}/{{name}}/resume": {"post"},
        f"{FAULTS}/kinds": {"get"},
        f"{FAULTS}/presets": {"get"},
    }
    wanted = document["components"]["schemas"]["FaultsReplaceAsked"]["properties"]["faults"]["items"]
    titles = [shape["title"] for shape in wanted["oneOf"]]
    assert "rate_limit" in titles
    assert "preset" in titles


# In Python, without a socket.


def test_the_context_manager_takes_its_rules_away(sandbox: Sandbox, client: Any) -> None:
    with sandbox.faults.add(kind="error", status=500) as fault:
        assert client.get(BALANCE).status_code == 500
        assert (fault.matched, fault.struck) == (1, 1)
        sandbox.faults.add(kind="error", status=501, name="other")
    assert [rule.name for rule in sandbox.faults.list()] == ["other"]
    with sandbox.faults.preset("maintenance", name="closed"):
        sandbox.faults.remove("closed")
    assert [rule.name for rule in sandbox.faults.list()] == ["other"]


def test_what_python_refuses(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="reset", name="there")
    with pytest.raises(Refused, match="fault_exists"):
        sandbox.faults.add(kind="reset", name="there")
    with pytest.raises(Refused, match="unknown_fault"):
        sandbox.faults.remove("gone")
    with pytest.raises(Refused, match="unknown_fault"):
        sandbox.faults.get("gone")


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("reset", ConnectionResetError),
        ("close", RemoteDisconnected),
        ("hang", EndlessWait),
        ("garbage", BadStatusLine),
    ],
)
def test_in_process_the_clients_exception_is_raised(
    sandbox: Sandbox, client: Any, kind: str, error: Any, phase: str
) -> None:
    sandbox.faults.add(kind=kind, when={"phase": phase}, match={"method": "POST"})
    with pytest.raises(error):
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": "new.com"}})
    assert ("new.com" in sandbox.world.state.holding_order) is (phase == "after")
    assert client.get(BALANCE).json[0]["balance"] == ("9990.00" if phase == "after" else "10000.00")
    entry = sandbox.world.journal.get("r1")
    assert (entry.fault, entry.fault_kind, entry.lost) == (kind, kind, True)
    assert entry.status == (200 if phase == "after" else 0)
    assert bool(entry.answer) is (phase == "after")


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
    assert "new.com" in sandbox.world.state.holding_order
    assert sandbox.client(timeout=3.5).get(BALANCE).json[0]["balance"] == "9990.00"


def test_a_client_of_a_fork_reaches_its_world(sandbox: Sandbox) -> None:
    """On control too, and where no credential tells which world is meant."""
    with sandbox.fork() as fork:
        assert fork.client().post(FAULTS, json={"kind": "reset", "name": "reset"}).status_code == 201
        assert [one.name for one in fork.faults.list()] == ["reset"]
        assert not list(sandbox.faults.list())


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
    assert "new.com" not in sandbox.world.state.holding_order


def test_a_world_without_rules_is_not_looked_over(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Never:
        raise AssertionError("a world without rules pays for none")

    monkeypatch.setattr("reseller_sandbox.web.strikes.perform", never)
    sandbox: Sandbox = make()
    assert sandbox.client().get(BALANCE).status_code == 200


def test_a_kind_is_given_whole(sandbox: Sandbox) -> None:
    """With its parameters, which are read as those given one by one."""
    whole = sandbox.faults.add(Latency(seconds="90s"), name="slow", match={"operation": "v3.*"})
    sandbox.faults.remove("slow")
    told = sandbox.faults.add("latency", seconds=90, name="slow", match={"operation": "v3.*"})
    assert whole == told
    assert whole.faults[0].parameters == {"seconds": 90}
    with pytest.raises(Refused, match="seconds must be a number from 0 to 86400"):
        sandbox.faults.add(Latency(seconds=-1))


def test_rules_elsewhere_count_and_go(make: Make) -> None:
    """What a remote sandbox has put in place counts what the server strikes, and goes with its block."""
    served = make()
    with served.serve() as server:
        there = connect(server.url)
        with there.faults.add("error", status=599, match={"operation": "v3.*"}) as fault:
            assert served.client().get(BALANCE).status_code == 599
            assert (fault.matched, fault.struck) == (1, 1)
            assert there.faults[fault.names[0]].struck == 1
        assert served.faults.list().faults == ()
