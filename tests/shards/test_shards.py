"""Shards: what one makes carries its name, and what is another's is told so."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import OUTSIDE
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.settings import BadSetting, Settings
from tests.clients import Api, InProcess
from tests.registry import BASE, connect

FIXTURE = """
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
accounts: {shop: {balance: 9, key: shop-key, token: shop-token, secret: shop-secret, contact: {name: X}}}
"""


@pytest.fixture(scope="module")
def shards() -> tuple[Sandbox, Sandbox]:
    """Two of them, of the same fixture."""
    return Sandbox(shard="s0"), Sandbox(shard="s3")


def credentials(sandbox: Sandbox) -> list[str]:
    """The keys and tokens of a world."""
    accounts = [one for one in sandbox.world.state.accounts.values() if one.client_id != OUTSIDE]
    return list(chain.from_iterable((one.key, one.token) for one in accounts))


def test_all_that_a_shard_makes_begins_with_its_name(shards: tuple[Sandbox, Sandbox]) -> None:
    """Worlds with and without a name, forks of forks, loaded fixtures, and accounts that are added."""
    _, three = shards
    made = [three.fork(), three.fork(name="mine"), three.fork(fixture="empty"), three.fork(state=FIXTURE)]
    made.append(made[1].fork(name="s3-again"))
    names = [one.worlds.get(one.world.name).name for one in made]
    assert [re.sub("-[0-9a-f]{8}-", "-", name) for name in names] == [
        *("s3-w1", "s3-mine", "s3-w3", "s3-w4", "s3-again")
    ]
    made[0].load(FIXTURE)
    made[2].accounts.add("late", currency="USD", key="late-key", token="late-token", contact={"name": "X"})
    for one in made:
        assert all(word.startswith("s3-") for word in credentials(one)), one.world.name
    assert three.fork(name="mine2").world.name == "s3-mine2"
    with pytest.raises(Refused, match="s3-mine"):
        three.fork(name="mine")
    with pytest.raises(Refused, match="w with a number"):
        three.fork(name="s3-w9")


def test_the_default_world_keeps_what_its_fixture_says(shards: tuple[Sandbox, Sandbox]) -> None:
    """It is the same on each of them; a router leads to the first's."""
    assert sorted(credentials(shards[0])) == sorted(credentials(shards[1]))


def test_shards_draw_nothing_alike(shards: tuple[Sandbox, Sandbox]) -> None:
    """Not even behind the name."""
    forks = [one.fork(name="apart") for one in shards]
    kinds = [{word.partition("-")[2] for word in credentials(one)} for one in forks]
    assert not kinds[0] & kinds[1]


def test_what_is_of_another_shard_is_told_so(shards: tuple[Sandbox, Sandbox]) -> None:
    """Key, token and world, with the names of both."""
    zero, three = shards
    here, elsewhere = zero.fork(), three.fork()
    key = connect(elsewhere).key
    api = Api(InProcess(zero.app), BASE, key, "no-such-secret")
    said = "of the shard s3, and this is the shard s0"
    assert said in api.get("/v3/balance").message
    api.send("GET", "/V2.0/domain/zones", [("X-Auth-Token", elsewhere.account().token)])
    refused = zero.world.journal.entries[-1].refused  # v2.0 itself answers as it is documented
    assert refused is not None
    assert said in refused.message
    assert said in api.get(f"/_worlds/{elsewhere.world.name}/v3/balance").message
    gone = api.get("/_worlds/s0-w99/v3/balance").message
    assert "of this shard, s0, which has started anew since or has dropped its world" in gone
    assert "shard" not in api.get("/_worlds/nothing/v3/balance").message
    alone = Api(InProcess(Sandbox().app), BASE, key, "no-such-secret")
    assert "shard" not in alone.get("/v3/balance").message
    here.close()


def test_two_starts_of_a_shard_make_no_common_names_and_credentials() -> None:
    made = []
    for _ in range(2):
        shard = Sandbox(shard="s1")
        forks = [shard.fork() for _ in range(20)]
        made.append(
            {value for fork in forks for one in fork.accounts for value in (one.key, one.secret, one.token)}
            | {world.name for world in shard.worlds if world.name != "default"}
        )
    assert len(made[0]) == 20 * 3 * 3 + 20
    assert not made[0] & made[1]
    assert all(value.startswith("s1-") for value in made[0] | made[1])


def test_credentials_from_before_a_restart_are_refused_with_the_reason() -> None:
    before, after = Sandbox(shard="s1"), Sandbox(shard="s1")
    old = before.fork().accounts["main"]
    after.fork()
    api = Api(InProcess(after.app), BASE, old.key, old.secret)
    assert "of this shard, s1, which has started anew since" in api.get("/v3/balance").message


def test_a_server_that_is_alone_makes_what_it_always_made() -> None:
    """Names and credentials begin with no shard's name."""
    fork = Sandbox().fork()
    assert fork.world.name == "w1"
    assert fork.account().key == "main-key-w1-b0676a1c7ca4fbbd"


@pytest.mark.parametrize(
    ("host", "named"), [("reseller-sandbox-12", "s12"), ("pod-0", "s0"), ("laptop", None), ("a-12345", None)]
)
def test_the_name_may_be_the_number_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, host: str, named: str | None
) -> None:
    """As a StatefulSet counts its pods."""
    monkeypatch.setattr("reseller_sandbox.settings.gethostname", lambda: host)
    if named is None:
        with pytest.raises(BadSetting, match=f"{host} does not end in a hyphen and a number"):
            Settings(shard="hostname")
    else:
        assert Settings(shard="hostname").shard == named
