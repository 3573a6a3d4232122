"""Forks: worlds beside the default world, each with its own credentials, clock and random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.waiting import wait_until
from tests.worlds.control import Control, control, enter, holds, inside, money_of, over_socket, register


def names_of(sandbox: Sandbox) -> list[str]:
    return [world.name for world in sandbox.worlds]


def test_credentials_or_a_path_prefix_lead_to_a_fork(sandbox: Sandbox) -> None:
    with over_socket(sandbox) as (url, socket):
        steer = Control(socket)
        world, beside = (steer.post("worlds/fork", {}) for _ in range(2))
        fork = enter(socket, url, world)
        for answer in (register(fork, "only-here.com"), fork.get(f"{world['prefix']}/v3/balance")):
            assert (answer.status, answer.headers["x-sandbox-world"]) == (200, "w1")
        default = Api(socket, url, sandbox.accounts["main"].key, sandbox.accounts["main"].secret)
        assert not holds(default, "only-here.com")
        assert (money_of(default), money_of(fork)) == ("10000.00", "9990.00")
        v2 = socket("GET", "/V2.0/domain/active.com", [("X-Auth-Token", world["accounts"][0]["token"])], b"")
        assert v2.headers["x-sandbox-world"] == "w1"
        assert enter(socket, url, beside).get(f"{world['prefix']}/v3/balance").error == "unknown_key"
        outcomes = [row["outcome"] for row in Control(socket, "w1").get("journal")["requests"]]
        assert outcomes == ["ok"] * 4 + ["unknown_key"]


def test_a_fork_begins_with_the_present_state_of_its_source(sandbox: Sandbox, main: Api) -> None:
    register(main, "before.com")
    sandbox.clock.advance("P3D")
    fork = sandbox.fork(assume={"v3.ids": "integer"})
    register(main, "after.com")
    api = inside(fork)
    assert fork.clock.now == sandbox.clock.now
    kinds = [type(client.get("/v3/domains/getDomain/before.com").json["order-id"]) for client in (api, main)]
    assert kinds == [int, str]
    assert not holds(api, "after.com")
    fork.clock.advance("P1Y")
    assert sandbox.clock.now == datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_fork_of_a_past_point_has_the_names_and_the_time_of_that_point() -> None:
    with freeze_time("2031-05-01") as machine:
        sandbox = Sandbox(REGISTRY, frozen=False)
        main, began = inside(sandbox), sandbox.clock.now
        register(main, "one.com")
        machine.tick(timedelta(days=2))
        sandbox.snapshot("with-one")
        machine.tick(timedelta(days=2))
        register(main, "two.com")
        for point, held, days in (
            ("start", 0, 0),
            ("after:r1", 1, 0),
            ("snapshot:with-one", 1, 2),
            ("before:r2", 1, 4),
            ("now", 2, 4),
        ):
            fork = sandbox.fork(point=point)
            assert (fork.clock.now - began).days == days, point
            assert sum(holds(inside(fork), name) for name in ("one.com", "two.com")) == held, point
        still = sandbox.fork(point="start", frozen=True)
        machine.tick(timedelta(days=2))
        assert still.clock.now == began


def test_a_fork_can_start_from_the_name_or_the_text_of_a_fixture(sandbox: Sandbox, steer: Control) -> None:
    body = {"fixture": "empty", "name": "blank", "now": "2030-01-01", "frozen": False}
    named = steer.post("worlds/fork", body)
    assert (named["name"], named["orders"], named["frozen"]) == ("blank", 0, False)
    assert named["now"].startswith("2030-01-01T")
    text = "{zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}, accounts: "
    text += "{solo: {balance: 7, contact: {name: S}}}, domains: {there.com: {created: -1d}}}"
    world = steer.post("worlds/fork", {"state": text, "now": "2031-05-05T00:00:00Z"})
    fork = enter(InProcess(sandbox.app), BASE, world, "solo")
    assert money_of(fork) == "7.00"
    created = fork.get("/v3/domains/getDomain/there.com").json["domain"]["createDate"]
    assert created.startswith("2031-05-04")


def test_a_fork_request_cannot_read_files_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own.yaml"
    file.write_text(REGISTRY.read_text(encoding="utf-8"), encoding="utf-8")
    steer = control(Sandbox(file))
    assert steer.post("worlds/fork", {"fixture": str(file)})["name"] == "w1"
    names = ("secrets", "secrets.yaml", "./secrets.yaml", "a/../secrets")
    without = [steer.refused("POST", "worlds/fork", {"fixture": name}) for name in names]
    for path in (file, tmp_path / "secrets", tmp_path / "secrets.yaml"):
        path.write_text("password: hunter2\n", encoding="utf-8")
    assert [steer.refused("POST", "worlds/fork", {"fixture": name}) for name in names] == without
    own = steer.refused("POST", "worlds/fork", {"fixture": str(file)})
    assert {refused[:2] for refused in (*without, own)} == {(400, "invalid_fixture")}
    assert "reseller-sandbox fixture validate" in own[2]
    assert not {"hunter2", "password"} & set(own[2].replace(":", " ").split())
    file.unlink()
    assert steer.refused("POST", "worlds/fork", {"fixture": str(file)})[1] == "invalid_fixture"


REFUSED: list[tuple[dict[str, object], int, str, str]] = [
    ({"fixture": "../../etc/passwd"}, 400, "invalid_fixture", "not a packaged fixture"),
    ({"state": "zones: {com: {prices: {registration: x}}}"}, 400, "invalid_fixture", "state:1"),
    ({"state": "include: {/etc/passwd: [zones]}"}, 400, "invalid_fixture", "not a packaged fixture"),
    ({"point": "after:r7"}, 404, "unknown_request", "is empty"),
    ({"point": "before:"}, 400, "unknown_point", "before:"),
    ({"point": "branch:b7"}, 404, "unknown_branch", "'b7'"),
    ({"name": "a/b"}, 400, "invalid_parameter", "name takes"),
    ({"nam": "x"}, 400, "invalid_parameter", "nam"),
]


def test_a_refused_fork_creates_no_world(subtests: pytest.Subtests, steer: Control) -> None:
    for body, status, error, words in REFUSED:
        with subtests.test(body=body):
            refused = steer.refused("POST", "worlds/fork", body)
            assert refused[:2] == (status, error)
            assert words in refused[2]
    assert steer.post("worlds/fork", {})["name"] == "w1"


def test_worlds_are_listed_and_shown_and_deleted(sandbox: Sandbox, steer: Control) -> None:
    world = steer.post("worlds/fork", {})
    steer.post("worlds/fork", {"name": "named"})
    assert [row["name"] for row in steer.get("worlds")["worlds"]] == ["default", "w1", "named"]
    assert steer.get("worlds/w1")["accounts"] == world["accounts"]
    assert [row["name"] for row in steer.delete("worlds/w1")["worlds"]] == ["default", "named"]
    assert steer.refused("DELETE", "worlds/w1")[:2] == (404, "unknown_world")
    assert steer.refused("DELETE", "worlds/default")[:2] == (409, "default_world")
    assert enter(InProcess(sandbox.app), BASE, world).get("/v3/balance").error == "unknown_key"
    assert control(sandbox, "w1").refused("GET", "clock")[1] == "unknown_world"
    assert steer.post("worlds/fork", {})["name"] == "w3"


def test_an_idle_world_is_deleted_and_a_used_world_stays() -> None:
    sandbox = Sandbox(REGISTRY, world_idle=1)
    used, idle = inside(sandbox.fork(name="used")), inside(sandbox.fork(name="idle"))

    def is_deleted() -> bool:
        assert used.get("/v3/balance").status == 200
        return "idle" not in names_of(sandbox)

    wait_until(is_deleted)
    assert names_of(sandbox) == ["default", "used"]
    assert idle.get("/v3/balance").error == "unknown_key"
    assert inside(sandbox).get("/v3/balance").status == 200


@pytest.fixture(scope="module")
def owner() -> Sandbox:
    """A sandbox whose accounts have other credentials than those of the tests' registry."""
    return Sandbox(REGISTRY, seed="other").fork()


def under(sandbox: Sandbox, world: str, of: Sandbox, path: str = "/v3/balance") -> Answer:
    """Send a v3 request under the prefix of ``world`` with the credentials of ``of``."""
    held = of.accounts["main"]
    return Api(InProcess(sandbox.app), BASE, held.key, held.secret).get(f"/_worlds/{world}{path}")


def accepts_token(sandbox: Sandbox, world: str, of: Sandbox) -> bool:
    target = f"/_worlds/{world}/V2.0/domain/active.com"
    headers = [("X-Auth-Token", of.accounts["main"].token)]
    return InProcess(sandbox.app)("GET", target, headers, b"").status == 200


def leads_to(sandbox: Sandbox, key: str, secret: str) -> str:
    """Return the world that the credentials lead to, or the error."""
    answer = Api(InProcess(sandbox.app), BASE, key, secret).get("/v3/balance")
    return answer.headers["x-sandbox-world"] if answer.status == 200 else str(answer.error)


def assert_apart(sandbox: Sandbox) -> None:
    """Assert that each key and each token belongs to one account of one world."""
    accounts = [account for world in sandbox.worlds for account in sandbox.worlds.get(world.name).accounts]
    for words in ([account.key for account in accounts], [account.token for account in accounts]):
        assert max(Counter(words).values()) == 1


def test_the_path_prefix_of_a_fork_accepts_the_credentials_of_all_its_sources(
    sandbox: Sandbox, owner: Sandbox
) -> None:
    first = sandbox.fork(name="first")
    second = first.fork(name="second")
    register(inside(second), "only-there.com")
    for of in (sandbox, first, second):
        answer = under(sandbox, "second", of, "/v3/domains/getDomain/only-there.com")
        assert (answer.status, answer.headers["x-sandbox-world"]) == (200, "second")
        assert accepts_token(sandbox, "second", of)
    assert not holds(inside(sandbox), "only-there.com")
    assert {request.account for request in second.journal} == {"main"}
    assert under(sandbox, "first", second).error == "unknown_key"
    mixed = Api(InProcess(sandbox.app), BASE, sandbox.accounts["main"].key, first.accounts["main"].secret)
    assert mixed.get("/_worlds/first/v3/balance").error == "signature_mismatch"
    sandbox.fork(name="stated", state=owner.export())
    assert under(sandbox, "stated", owner).status == 200
    assert leads_to(sandbox, owner.accounts["main"].key, owner.accounts["main"].secret) == "unknown_key"


def test_revoking_credentials_in_a_fork_also_revokes_the_inherited_credentials(sandbox: Sandbox) -> None:
    fork = sandbox.fork(name="forked")
    fork.simulate.revoke_credentials(account="main")
    refused = under(sandbox, "forked", sandbox)
    assert (refused.status, "it has been revoked" in refused.message) == (401, True)
    assert not accepts_token(sandbox, "forked", sandbox)
    assert [(request.account, request.carried_out) for request in fork.journal] == [("main", False)] * 2
    fork.simulate.restore_credentials(account="main")
    assert under(sandbox, "forked", sandbox).status == 200


def test_a_token_sent_as_an_api_key_is_refused_with_the_name_of_the_account(sandbox: Sandbox) -> None:
    sandbox.fork(name="forked")
    for name in ("main", "other"):
        account = sandbox.accounts[name]
        client = Api(InProcess(sandbox.app), BASE, account.token, account.secret)
        for path in ("/v3/balance", "/_worlds/forked/v3/balance"):
            assert f"it is the token of the account {name}" in client.get(path).message


def test_credentials_changed_by_a_load_or_a_switch_reach_the_changed_world(sandbox: Sandbox) -> None:
    fork = sandbox.fork()
    old = fork.accounts["main"]
    text = fork.export().replace(old.key, "changed-key").replace(old.secret, "other-secret")

    def valid() -> list[bool]:
        pairs = ((old.key, old.secret), ("changed-key", "other-secret"))
        return [leads_to(sandbox, *pair) == "w1" for pair in pairs]

    branch = fork.load(text).branch
    assert valid() == [False, True]
    fork.branches.switch(branch.name)
    assert valid() == [True, False]
    fork.reset()
    assert valid() == [False, True]


def _restore_revoked(world: Sandbox, thief: Sandbox) -> None:
    exported = world.export()
    world.simulate.revoke_credentials("main")
    thief.load(exported)
    world.simulate.restore_credentials("main")


#: Ways in which a world can get credentials, or get them back.
WAYS: dict[str, Callable[[Sandbox, Sandbox], object]] = {
    "switch": lambda world, _: world.branches.switch("b1"),
    "restore": lambda world, _: world.restore("kept"),
    "rewind": lambda world, _: (world.branches.switch("b1"), world.rewind("r1")),
    "reset": lambda world, _: world.reset(original=True),
    "fork of the past": lambda world, _: world.fork(point="snapshot:kept"),
    "load": lambda world, thief: world.load(thief.export()),
    "restore revoked credentials": _restore_revoked,
}


def test_no_two_worlds_have_the_same_credentials(subtests: pytest.Subtests, owner: Sandbox) -> None:
    for way, take in WAYS.items():
        with subtests.test(way=way):
            sandbox = Sandbox(REGISTRY)
            world = sandbox.fork(name="owner", state=owner.export())
            inside(world).get("/v3/balance")
            world.snapshot("kept")
            exported, held = world.export(), world.accounts["main"]
            world.load(sandbox.export())
            thief = sandbox.fork()
            thief.load(exported)
            assert thief.accounts["main"].key != held.key
            take(world, thief)
            assert_apart(sandbox)
            if way in ("switch", "restore", "rewind", "reset"):
                assert leads_to(sandbox, held.key, held.secret) == "owner"


def test_only_the_deletion_of_a_world_frees_its_credentials(sandbox: Sandbox) -> None:
    gone = sandbox.fork()
    text, key = gone.export(), gone.accounts["main"].key
    gone.close()
    heir = sandbox.fork()
    heir.load(text)
    assert heir.accounts["main"].key == key
    taken = Sandbox(REGISTRY).fork()
    sandbox.reset(original=True)
    heir.close()
    sandbox.load(taken.export())
    assert sandbox.accounts["main"].key == taken.accounts["main"].key
    assert sandbox.fork().accounts["main"].key != taken.accounts["main"].key
    assert_apart(sandbox)
