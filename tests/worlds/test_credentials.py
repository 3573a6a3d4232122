"""Credentials: each belongs to one world. A world's prefix accepts those of the world's origin too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from tests.clients import Answer, Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.worlds.control import Control, holds, inside, register


@pytest.fixture(scope="module")
def owner() -> Sandbox:
    """A sandbox whose accounts have other credentials than those of the tests' registry."""
    return Sandbox(REGISTRY, seed="other").fork()


def under(sandbox: Sandbox, world: str, of: Sandbox, path: str = "/v3/balance") -> Answer:
    """Send a v3 request under the prefix of ``world`` with the credentials of ``of``."""
    held = of.account()
    return Api(InProcess(sandbox.app), BASE, held.key, held.secret).get(f"/_worlds/{world}{path}")


def by_token(sandbox: Sandbox, world: str, of: Sandbox) -> bool:
    """Whether the prefix of ``world`` accepts the token of ``of``."""
    target = f"/_worlds/{world}/V2.0/domain/active.com"
    headers = [("X-Auth-Token", of.account().token)]
    return InProcess(sandbox.app)("GET", target, headers, b"").status == 200


def leads_to(sandbox: Sandbox, key: str, secret: str) -> str:
    """Return the world that the credentials lead to, or the error."""
    answer = Api(InProcess(sandbox.app), BASE, key, secret).get("/v3/balance")
    return answer.headers["x-sandbox-world"] if answer.status == 200 else str(answer.error)


def test_the_credentials_of_the_origin_work_under_the_prefix(sandbox: Sandbox) -> None:
    fork = sandbox.fork(name="forked")
    register(inside(fork), "only-there.com")
    answer = under(sandbox, "forked", sandbox, "/v3/domains/getDomain/only-there.com")
    assert (answer.status, answer.headers["x-sandbox-world"]) == (200, "forked")
    assert by_token(sandbox, "forked", sandbox)
    assert under(sandbox, "forked", fork).status == 200
    assert not holds(inside(sandbox), "only-there.com")
    assert fork.journal.find().requests[-1].account == "main"


def test_origins_go_back_to_the_first_world(sandbox: Sandbox, owner: Sandbox) -> None:
    first = sandbox.fork(name="first")
    second = first.fork(name="second")
    for of in (sandbox, first, second):
        assert under(sandbox, "second", of).status == 200
        assert by_token(sandbox, "second", of)
    assert under(sandbox, "first", second).error == "unknown_key"
    mixed = Api(InProcess(sandbox.app), BASE, sandbox.account().key, first.account().secret)
    assert mixed.get("/_worlds/first/v3/balance").error == "signature_mismatch"
    sandbox.fork(name="stated", state=owner.export())
    assert under(sandbox, "stated", owner).status == 200
    assert leads_to(sandbox, owner.account().key, owner.account().secret) == "unknown_key"


def test_a_fork_revokes_the_credentials_of_its_origin_too(sandbox: Sandbox) -> None:
    fork = sandbox.fork(name="forked")
    fork.outside.revoke_credentials(account="main")
    refused = under(sandbox, "forked", sandbox)
    assert (refused.status, "it has been revoked" in refused.message) == (401, True)
    assert not by_token(sandbox, "forked", sandbox)
    for request in fork.journal:
        assert request.account == "main"
        assert request.refusal is not None
        assert "it has been revoked" in request.refusal.message
    fork.outside.restore_credentials(account="main")
    assert under(sandbox, "forked", sandbox).status == 200


#: Ways in which a world can get credentials back that it had.
RETURNS: dict[str, Callable[[Sandbox, str], object]] = {
    "switch": lambda world, _: world.branches.switch("b1"),
    "restore": lambda world, _: world.restore("kept"),
    "rewind": lambda world, _: (world.branches.switch("b1"), world.rewind("r1")),
    "reset": lambda world, _: world.reset(original=True),
    "fork of the past": lambda world, _: world.fork(point="snapshot:kept"),
    "load": lambda world, text: world.load(f"{text}# again\n"),
}


def test_credentials_stay_with_a_world_that_loaded_a_fixture(
    subtests: pytest.Subtests, owner: Sandbox
) -> None:
    for way, go_back in RETURNS.items():
        with subtests.test(way=way):
            sandbox = Sandbox(REGISTRY)
            world = sandbox.fork(name="owner", state=owner.export())
            inside(world).get("/v3/balance")
            world.snapshot("kept")
            exported, held = world.export(), world.account()
            world.load(sandbox.export())
            thief = sandbox.fork()
            thief.load(exported)
            assert thief.account().key != held.key
            go_back(world, owner.export())
            assert_apart(sandbox)
            if way in ("switch", "restore", "rewind", "reset"):
                assert leads_to(sandbox, held.key, held.secret) == "owner"


def test_the_credentials_of_a_deleted_world_are_free(sandbox: Sandbox) -> None:
    gone = sandbox.fork()
    text, key = gone.export(), gone.account().key
    gone.close()
    heir = sandbox.fork()
    heir.load(text)
    assert heir.account().key == key


def test_a_new_world_draws_credentials_that_no_world_has(sandbox: Sandbox) -> None:
    taken = Sandbox(REGISTRY).fork()
    sandbox.load(taken.export())
    assert sandbox.account().key == taken.account().key
    assert sandbox.fork().account().key != taken.account().key
    assert_apart(sandbox)


def _added(world: Sandbox, other: Sandbox) -> None:
    wanted = other.account()
    with suppress(Refused):
        world.accounts.add(
            f"of-{len(world.accounts.list().accounts)}",
            **{"contact": {"name": "Ann"}, "key": wanted.key, "secret": wanted.secret, "token": wanted.token},
        )


def _revoked(world: Sandbox, other: Sandbox) -> None:
    text = world.export()
    world.outside.revoke_credentials("main")
    if other is not world:
        other.load(text)
    world.outside.restore_credentials("main")


def _back_to_a_request(world: Sandbox, other: Sandbox) -> None:
    inside(world).get("/v3/balance")
    world.load(other.export())
    world.branches.switch(list(world.branches)[-1].name)
    world.rewind(world.journal.find().requests[-1].id)


def _back_to_a_snapshot(world: Sandbox, other: Sandbox) -> None:
    world.snapshot("kept")
    world.load(other.export())
    other.load(world.export())
    world.restore("kept")


#: Ways in which a world can get credentials, with another world beside it.
STEPS: dict[str, Callable[[Sandbox, Sandbox], object]] = {
    "load": lambda world, other: world.load(other.export()),
    "switch": lambda world, _: [world.branches.switch(branch.name) for branch in [*world.branches][:1]],
    "reset": lambda world, _: world.reset(original=True),
    "rewind": _back_to_a_request,
    "restore": _back_to_a_snapshot,
    "add": _added,
    "revoke": _revoked,
}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["fork", "close", *STEPS])), max_size=12))
def test_no_two_worlds_share_credentials(steps: list[tuple[int, str]]) -> None:
    sandbox = Sandbox(REGISTRY)
    held = [sandbox]
    for number, step in steps:
        world, other = held[number % len(held)], held[-1]
        if step == "fork":
            held.append(world.fork())
        elif step != "close":
            STEPS[step](world, other)
        elif len(held) > 1:
            held.pop().close()
        assert_apart(sandbox)


def assert_apart(sandbox: Sandbox) -> None:
    """Assert that each key and each token belongs to one account of one world."""
    accounts = [account for world in sandbox.worlds for account in sandbox.worlds.get(world.name).accounts]
    for words in ([account.key for account in accounts], [account.token for account in accounts]):
        assert max(Counter(words).values()) == 1


def test_a_reset_leads_to_the_loaded_fixture_and_to_the_first(
    sandbox: Sandbox, steer: Control, owner: Sandbox
) -> None:
    first = sandbox.export()
    steer.post("history/load", {"fixture": owner.export()})
    register(inside(sandbox), "new.com")
    steer.post("history/reset")
    assert sandbox.account().key == owner.account().key
    assert steer.post("history/reset", {"original": True})["world"] == "default"
    assert sandbox.export() == first
    steer.post("history/reset")
    assert sandbox.export() == first
    assert steer.refused("POST", "history/reset", {"orginal": True})[1] == "invalid_parameter"
