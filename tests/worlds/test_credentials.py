"""Credentials: each belongs to one world, and under a world's prefix those of its origin work too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import OUTSIDE
from tests.clients import Answer, Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.v2.client import Client
from tests.worlds.control import Control, inside, register

_OTHER = Sandbox(REGISTRY, seed="other").fork()

#: The tests' registry with other credentials, and what its first account has.
OWN, OWNER = _OTHER.export(), _OTHER.account()


def under(sandbox: Sandbox, fork: Sandbox, account: str = "main", *, of: Sandbox | None = None) -> Api:
    """A client of ``fork`` by its prefix with the credentials of ``of``."""
    held = (of or sandbox).account(account)
    return Prefixed(InProcess(sandbox.app), BASE, held.key, held.secret, f"/_worlds/{fork.world.name}")


class Prefixed(Api):
    """A client whose base address leads to one world."""

    def __init__(self, transport: InProcess, base: str, key: str, secret: str, prefix: str) -> None:
        super().__init__(transport, base, key, secret)
        self.prefix = prefix

    def get(self, target: str) -> Answer:
        """A signed GET."""
        return super().get(self.prefix + target)


def balance_by_token(sandbox: Sandbox, fork: Sandbox, token: str) -> int:
    """The status of a v2.0 request under the fork's prefix."""
    client = Client(InProcess(sandbox.app), token, prefix=f"/_worlds/{fork.world.name}", checked=False)
    return client.get("/domain/active.com").status


def test_a_client_that_cannot_change_its_credentials_changes_its_address(sandbox: Sandbox) -> None:
    """Key and secret, and the token, of the account's origin work under a fork's prefix, and for the fork."""
    fork = sandbox.fork(name="forked")
    register(inside(fork), "only-there.com")
    api = under(sandbox, fork)
    answer = api.get("/v3/domains/getDomain/only-there.com")
    assert (answer.status, answer.headers["x-sandbox-world"]) == (200, "forked")
    assert balance_by_token(sandbox, fork, sandbox.account().token) == 200
    assert under(sandbox, fork, of=fork).get("/v3/balance").status == 200
    assert inside(sandbox).get("/v3/domains/getDomain/only-there.com").status == 404
    assert fork.world.journal.entries[-1].account == "main"


def test_origins_go_back_as_far_as_they_can(sandbox: Sandbox) -> None:
    """A fork of a fork answers to both; a fork of a fixture to what the fixture says."""
    first = sandbox.fork()
    second = first.fork()
    for of in (sandbox, first, second):
        assert under(sandbox, second, of=of).get("/v3/balance").status == 200
        assert balance_by_token(sandbox, second, of.account().token) == 200
    assert under(sandbox, first, of=second).get("/v3/balance").error == "unknown_key"
    stated = sandbox.fork(state=OWN)
    assert under(sandbox, stated, of=_OTHER).get("/v3/balance").status == 200
    assert sandbox.engine.by_key(OWNER.key) is None


def test_starting_over_leaves_nothing_of_what_was_loaded(sandbox: Sandbox) -> None:
    """Neither do credentials of then work any more, nor are those of new worlds others than at first."""
    second = sandbox.fork().fork()
    had = second.account()
    loaded = second.export()
    sandbox.engine.drop(second.world.name)
    sandbox.load(loaded)
    assert sandbox.account().secret == had.secret
    sandbox.engine.start_over()
    first = sandbox.fork()
    client = Prefixed(InProcess(sandbox.app), BASE, had.key, had.secret, f"/_worlds/{first.world.name}")
    assert client.get("/v3/balance").error == "unknown_key"
    assert first.fork().account() == had  # the second world again


def test_the_secret_goes_with_the_key(sandbox: Sandbox) -> None:
    """The origin's key with the fork's secret is a wrong signature, and the other way round."""
    fork = sandbox.fork()
    mixed = Prefixed(
        InProcess(sandbox.app),
        BASE,
        sandbox.account().key,
        fork.account().secret,
        f"/_worlds/{fork.world.name}",
    )
    assert mixed.get("/v3/balance").error == "signature_mismatch"


def test_revoked_is_revoked(sandbox: Sandbox) -> None:
    """What a fork has revoked does not work by way of its origin either."""
    fork = sandbox.fork()
    fork.outside.revoke_credentials(account="main")
    refused = under(sandbox, fork).get("/v3/balance")
    assert (refused.status, "it has been revoked" in refused.message) == (401, True)
    assert fork.journal.find().requests[-1].account == "main"
    assert balance_by_token(sandbox, fork, sandbox.account().token) != 200
    why = fork.journal.find().requests[-1].refusal
    assert why is not None
    assert "it has been revoked" in why.message
    fork.outside.restore_credentials(account="main")
    assert under(sandbox, fork).get("/v3/balance").status == 200


def _restored(world: Sandbox) -> None:
    world.restore("kept")


def _rewound(world: Sandbox) -> None:
    world.branches.switch("b1")
    world.rewind("r1")


WAYS: dict[str, Callable[[Sandbox], object]] = {
    "switch": lambda world: world.branches.switch("b1"),
    "restore": _restored,
    "rewind": _rewound,
    "reset": lambda world: world.reset(original=True),
    "fork of the past": lambda world: world.fork(point="snapshot:kept"),
    "import": lambda world: world.load(OWN + "# again\n"),
}


@pytest.mark.parametrize("way", WAYS)
def test_going_back_to_credentials_meets_nobody_else_with_them(sandbox: Sandbox, way: str) -> None:
    """What a world has had stays its own as long as it is there, be it that it has loaded another fixture."""
    world = sandbox.fork(state=OWN)
    inside(world).get("/v3/balance")
    world.snapshot("kept")
    exported, held = world.export(), world.account()
    world.load(sandbox.export())
    thief = sandbox.fork()
    thief.load(exported)
    assert thief.account().key != held.key
    WAYS[way](world)
    assert_apart(sandbox)
    if way in ("switch", "restore", "rewind", "reset"):
        found = sandbox.engine.by_key(held.key)
        assert found is not None
        assert found[0] is world.world


def test_credentials_are_free_when_their_world_is_gone(sandbox: Sandbox) -> None:
    """Whoever loads them then has them as they are written."""
    gone = sandbox.fork()
    text, key = gone.export(), gone.account().key
    gone.close()
    heir = sandbox.fork()
    heir.load(text)
    assert heir.account().key == key


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_worlds_that_are_gone_claim_nothing(sandbox: Sandbox, order: tuple[int, ...]) -> None:
    """Whichever went first, and whatever credentials it has had; what others claim stays theirs."""

    def claims() -> Counter[str]:
        return Counter(name for _, name in sandbox.engine._index.remembered()[0])

    begun, forks = claims(), [sandbox.fork() for _ in order]
    forks[0].load(OWN)
    forks[1].load(forks[0].export())  # of which it gets others
    left = claims()
    for number in order:
        forks[number].close()
        del left[forks[number].world.name]
        assert claims() == left
    assert claims() == begun


def test_new_credentials_are_nobody_elses(sandbox: Sandbox) -> None:
    """A world whose export was loaded elsewhere before it was made draws others."""
    first = sandbox.fork()
    text = first.export()
    sandbox.engine.start_over()
    sandbox.load(text)
    again = sandbox.fork()
    assert again.world.name == first.world.name
    assert again.account().key != sandbox.account().key
    assert_apart(sandbox)


def _added(world: Sandbox, other: Sandbox) -> None:
    wanted = other.account()
    if other is not world:
        name = f"of-{len(world.world.state.accounts)}"
        world.accounts.add(
            name, contact={"name": "Ann"}, key=wanted.key, secret=wanted.secret, token=wanted.token
        )


def _revoked(world: Sandbox, other: Sandbox) -> None:
    """A world's credentials stay its own while they do not work: another loads them, and then they do."""
    text = world.export()
    world.outside.revoke_credentials("main")
    if other is not world:
        other.load(text)
    world.outside.restore_credentials("main")


def _back_to_a_request(world: Sandbox, other: Sandbox) -> None:
    inside(world).get("/v3/balance")
    world.load(other.export())
    world.branches.switch(list(world.branches)[-1].name)
    world.rewind(world.world.journal.entries[-1].id)


def _back_to_a_snapshot(world: Sandbox, other: Sandbox) -> None:
    world.snapshot("kept")
    world.load(other.export())
    other.load(world.export())
    world.restore("kept")


#: What a world can do to get credentials, another one beside it.
STEPS: dict[str, Callable[[Sandbox, Sandbox], object]] = {
    "load": lambda world, other: world.load(other.export()),
    "switch": lambda world, _: [world.branches.switch(one.name) for one in [*world.branches][:1]],
    "reset": lambda world, _: world.reset(original=True),
    "rewind": _back_to_a_request,
    "restore": _back_to_a_snapshot,
    "add": _added,
    "revoke": _revoked,
}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["fork", "close", *STEPS])), max_size=12))
def test_no_two_worlds_have_the_same_credentials(steps: list[tuple[int, str]]) -> None:
    """Whatever is forked, exported, loaded, added, revoked and gone back to, in any order."""
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
    """Assert that each key and each token is one account's of one world."""
    accounts = [
        account
        for world in sandbox.engine
        for account in world.state.accounts.values()
        if account.client_id != OUTSIDE
    ]
    for words in ([one.key for one in accounts], [one.token for one in accounts]):
        assert max(Counter(words).values()) == 1


def test_the_way_back_to_the_first_fixture(sandbox: Sandbox, steer: Control) -> None:
    """After an import, a reset leads to what was imported, and with ``original`` to what was there first."""
    was = sandbox.world.state
    steer.post("history/load", {"fixture": OWN})
    register(inside(sandbox), "new.com")
    steer.post("history/reset")
    assert sandbox.account().key == OWNER.key
    assert steer.post("history/reset", {"original": True})["world"] == "default"
    assert sandbox.world.state == was
    steer.post("history/reset")
    assert sandbox.world.state == was
    assert steer.refused("POST", "history/reset", {"orginal": True})[1] == "invalid_parameter"
