"""Credentials: each belongs to one world. A world's prefix accepts those of the world's origin too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.worlds.control import holds, inside, register


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


def test_a_prefix_accepts_the_credentials_of_all_origins(sandbox: Sandbox, owner: Sandbox) -> None:
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


def test_a_fork_revokes_the_credentials_of_its_origin_too(sandbox: Sandbox) -> None:
    fork = sandbox.fork(name="forked")
    fork.simulate.revoke_credentials(account="main")
    refused = under(sandbox, "forked", sandbox)
    assert (refused.status, "it has been revoked" in refused.message) == (401, True)
    assert not accepts_token(sandbox, "forked", sandbox)
    assert [(request.account, request.carried_out) for request in fork.journal] == [("main", False)] * 2
    fork.simulate.restore_credentials(account="main")
    assert under(sandbox, "forked", sandbox).status == 200


def test_a_token_as_key_is_refused_with_its_account(sandbox: Sandbox) -> None:
    sandbox.fork(name="forked")
    for name in ("main", "other"):
        account = sandbox.accounts[name]
        client = Api(InProcess(sandbox.app), BASE, account.token, account.secret)
        for path in ("/v3/balance", "/_worlds/forked/v3/balance"):
            assert f"it is the token of the account {name}" in client.get(path).message


def test_changed_credentials_lead_to_their_world(sandbox: Sandbox) -> None:
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


def test_no_two_worlds_share_credentials(subtests: pytest.Subtests, owner: Sandbox) -> None:
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


def test_only_a_deleted_world_frees_its_credentials(sandbox: Sandbox) -> None:
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
