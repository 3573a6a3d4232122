"""Forks: worlds beside the default one, with credentials, a clock and random numbers of their own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.worlds import Fork
from tests.clients import Api, InProcess
from tests.registry import BASE, REGISTRY
from tests.worlds.control import Control, control, enter, inside, money_of, over_socket, register


def test_a_fork_is_entered_by_its_credentials_over_a_socket(sandbox: Sandbox) -> None:
    """Whoever carries a fork's credentials acts in the fork, and the default world notices nothing."""
    with over_socket(sandbox) as (url, socket):
        world = Control(socket).post("worlds/fork", {})
        fork = enter(socket, url, world)
        answer = register(fork, "only-here.com")
        assert (answer.status, answer.headers["x-sandbox-world"]) == (200, world["name"])
        default = Api(socket, url, sandbox.account().key, sandbox.account().secret)
        assert default.get("/v3/domains/getDomain/only-here.com").error == "domain_not_found"
        assert money_of(default) == "10000.00"
        assert money_of(fork) == "9990.00"


def test_a_fork_is_entered_by_its_path_prefix(sandbox: Sandbox, steer: Control) -> None:
    """Behind the prefix stands every interface; other worlds' credentials are those of nobody there."""
    world = steer.post("worlds/fork", {})
    fork = enter(InProcess(sandbox.app), BASE, world)
    answer = fork.get(f"{world['prefix']}/v3/balance")
    assert (answer.status, answer.headers["x-sandbox-world"]) == (200, "w1")
    other = inside(sandbox.fork())
    assert other.get(f"{world['prefix']}/v3/balance").error == "unknown_key"
    listed = Control(InProcess(sandbox.app), "w1").get("journal")["requests"]
    assert [(one["id"], one["outcome"]) for one in listed] == [("r1", "ok"), ("r2", "unknown_key")]


def test_a_v2_token_chooses_the_world_as_well(sandbox: Sandbox, steer: Control) -> None:
    """Each account of a fork has a token of its own."""
    token = steer.post("worlds/fork", {})["accounts"][0]["token"]
    answer = InProcess(sandbox.app)("GET", "/V2.0/domain/active.com", [("X-Auth-Token", token)], b"")
    assert answer.headers["x-sandbox-world"] == "w1"


def test_credentials_are_fresh_and_follow_from_the_seed_and_the_count() -> None:
    """Two servers that do the same give out the same credentials; no two worlds share one."""

    def made(seed: str) -> list[dict[str, str]]:
        steer = control(Sandbox(REGISTRY, seed=seed))
        return [account for _ in range(3) for account in steer.post("worlds/fork", {})["accounts"]]

    first, again, other = made("one"), made("one"), made("two")
    words = [account[kind] for account in first for kind in ("key", "secret", "token")]
    assert first == again
    assert len(set(words)) == len(words) == 27
    assert not set(words) & {account[kind] for account in other for kind in ("key", "secret", "token")}


def test_a_fork_begins_at_the_present_of_its_source(sandbox: Sandbox, main: Api) -> None:
    """Names, money, time and assumptions go along; what happens later on either side stays there."""
    register(main, "before.com")
    sandbox.clock.advance("P3D")
    fork = sandbox.fork(assume={"v3.ids": "integer"})
    register(main, "after.com")
    api = inside(fork)
    assert fork.clock.now == sandbox.clock.now
    kinds = [type(one.get("/v3/domains/getDomain/before.com").json["order-id"]) for one in (api, main)]
    assert kinds == [int, str]
    assert api.get("/v3/domains/getDomain/after.com").error == "domain_not_found"
    fork.clock.advance("P1Y")
    assert sandbox.clock.now == datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_each_fork_draws_its_own_codes_unless_it_is_given_a_seed(sandbox: Sandbox) -> None:
    """Authorization codes follow from the fork's seed."""

    def drawn(fork: Sandbox) -> str:
        api = inside(fork)
        register(api, "drawn.com")
        return str(api.get("/v3/domains/getAuthcode/drawn.com").json["authCode"])

    assert drawn(sandbox.fork()) != drawn(sandbox.fork())
    assert drawn(sandbox.fork(seed="same")) == drawn(sandbox.fork(seed="same"))


def test_a_fork_of_a_past_point(sandbox: Sandbox, main: Api) -> None:
    """A fork may begin before a request, at a snapshot, or where the world began."""
    register(main, "one.com")
    sandbox.snapshot("with-one")
    register(main, "two.com")
    held = {
        point: [
            name
            for name in ("one.com", "two.com")
            if inside(sandbox.fork(point=point)).get(f"/v3/domains/getDomain/{name}").error is None
        ]
        for point in ("start", "snapshot:with-one", "after:r1", "before:r2", "now")
    }
    one = ["one.com"]
    assert held == {
        "start": [],
        "snapshot:with-one": one,
        "after:r1": one,
        "before:r2": one,
        "now": ["one.com", "two.com"],
    }


def test_a_fork_of_a_past_point_begins_at_its_instant() -> None:
    """However long the clock of its source has run on since."""
    with freeze_time("2031-05-01") as machine:
        sandbox = Sandbox(REGISTRY, frozen=False)
        began = sandbox.clock.now
        machine.tick(timedelta(days=2))
        sandbox.snapshot("later")
        machine.tick(timedelta(days=2))
        forked = {
            point: sandbox.fork(point=point).clock.now - began for point in ("start", "snapshot:later", "now")
        }
        assert [length.days for length in forked.values()] == [0, 2, 4]
        still = sandbox.fork(point="start", frozen=True)
        machine.tick(timedelta(days=2))
        assert still.clock.now == began


def test_a_fork_of_a_fixture_by_name_and_by_text(sandbox: Sandbox, steer: Control) -> None:
    """A packaged fixture or a YAML text makes a world as well; its dates move with ``now``."""
    named = steer.post(
        "worlds/fork", {"fixture": "empty", "name": "blank", "now": "2030-01-01", "frozen": False}
    )
    assert (named["name"], named["orders"], named["frozen"]) == ("blank", 0, False)
    assert named["now"].startswith("2030-01-01T")
    text = "{zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}, accounts: "
    text += "{solo: {balance: 7, contact: {name: S}}}, domains: {there.com: {created: -1d}}}"
    told = steer.post("worlds/fork", {"state": text, "now": "2031-05-05"})
    assert [account["name"] for account in told["accounts"]] == ["solo"]
    solo = enter(InProcess(sandbox.app), BASE, told, "solo")
    found = solo.get("/v3/domains/getDomain/there.com").json
    assert found["domain"]["createDate"].startswith("2031-05-04")


@pytest.mark.parametrize("name", ["secrets", "secrets.yaml", "./secrets.yaml", "a/../secrets"])
def test_no_file_is_read_because_somebody_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Neither one in the working directory, nor one beside it; that it is there cannot be told either."""
    monkeypatch.chdir(tmp_path)
    steer = control(Sandbox(REGISTRY))
    without = steer.refused("POST", "worlds/fork", {"fixture": name})
    for file in ("secrets", "secrets.yaml"):
        (tmp_path / file).write_text("password: hunter2\n", encoding="utf-8")
    assert steer.refused("POST", "worlds/fork", {"fixture": name}) == without
    assert without[:2] == (400, "invalid_fixture")


def test_the_fixture_given_at_the_start_is_never_quoted(tmp_path: Path) -> None:
    """It may be asked for by its name; once it is something else, what it is then stays in it."""
    file = tmp_path / "own.yaml"
    file.write_text(REGISTRY.read_text(encoding="utf-8"), encoding="utf-8")
    steer = control(Sandbox(file))
    assert steer.post("worlds/fork", {"fixture": str(file)})["name"] == "w1"
    file.write_text("password: hunter2\n", encoding="utf-8")
    status, error, message = steer.refused("POST", "worlds/fork", {"fixture": str(file)})
    assert (status, error) == (400, "invalid_fixture")
    assert "reseller-sandbox check" in message
    assert "hunter2" not in message
    assert "password" not in message
    file.unlink()
    assert steer.refused("POST", "worlds/fork", {"fixture": str(file)})[1] == "invalid_fixture"


@pytest.mark.parametrize(
    ("body", "status", "error", "words"),
    [
        ({"fixture": "nosuch"}, 400, "invalid_fixture", "no packaged fixture"),
        ({"fixture": "../../etc/passwd"}, 400, "invalid_fixture", "no packaged fixture"),
        ({"state": "zones: {com: {prices: {registration: x}}}"}, 400, "invalid_fixture", "state:1"),
        ({"state": "include: {/etc/passwd: [zones]}"}, 400, "invalid_fixture", "not a packaged fixture"),
        ({"point": "yesterday"}, 400, "unknown_point", "yesterday"),
        ({"point": "after:r7"}, 404, "unknown_request", "it is empty"),
        ({"fixture": "empty", "state": ""}, 400, "invalid_parameter", "one source"),
        ({"fixture": "empty", "point": "now"}, 400, "invalid_parameter", "one source"),
        ({"assume": {"v3.idz": "string"}}, 400, "invalid_parameter", "v3.ids"),
        ({"now": "2020-01-01"}, 409, "set_back", "does not go back"),
        ({"now": "soon"}, 400, "invalid_parameter", "now"),
        ({"name": "w7"}, 400, "invalid_parameter", "name takes"),
        ({"name": "a/b"}, 400, "invalid_parameter", "name takes"),
        ({"name": "default"}, 409, "world_exists", "'default'"),
        ({"nam": "x"}, 400, "invalid_parameter", "nam"),
    ],
)
def test_a_mistake_is_told_and_makes_no_world(
    steer: Control, body: dict[str, object], status: int, error: str, words: str
) -> None:
    """A bad wish is refused with what is wrong, and the next fork is still the first one."""
    refused = steer.refused("POST", "worlds/fork", body)
    assert refused[:2] == (status, error)
    assert words in refused[2]
    assert steer.post("worlds/fork", {})["name"] == "w1"


def test_worlds_are_listed_shown_and_deleted(sandbox: Sandbox, steer: Control) -> None:
    """A deleted world's credentials and prefix lead nowhere, and its name is not given out again."""
    world = steer.post("worlds/fork", {})
    steer.post("worlds/fork", {"name": "named"})
    assert [one["name"] for one in steer.get("worlds")["worlds"]] == ["default", "w1", "named"]
    assert steer.get("worlds/w1")["accounts"] == world["accounts"]
    assert [one["name"] for one in steer.delete("worlds/w1")["worlds"]] == ["default", "named"]
    assert steer.refused("DELETE", "worlds/w1")[:2] == (404, "unknown_world")
    assert enter(InProcess(sandbox.app), BASE, world).get("/v3/balance").error == "unknown_key"
    assert control(sandbox, "w1").refused("GET", "clock")[1] == "unknown_world"
    assert steer.post("worlds/fork", {})["name"] == "w3"


def test_the_default_world_stays(steer: Control) -> None:
    """Nobody deletes the world that requests without a fork's credentials belong to."""
    assert steer.refused("DELETE", "worlds/default")[:2] == (409, "default_world")


def test_there_is_a_most() -> None:
    """Past the cap a fork is refused with the number and the setting; a deletion makes room."""
    steer = control(Sandbox(REGISTRY, max_worlds=3))
    steer.post("worlds/fork", {})
    steer.post("worlds/fork", {})
    status, error, message = steer.refused("POST", "worlds/fork", {})
    assert (status, error) == (429, "too_many_worlds")
    assert "3" in message
    assert "--max-worlds" in message
    steer.delete("worlds/w1")
    assert steer.post("worlds/fork", {})["name"] == "w3"


def test_an_idle_world_goes_and_a_used_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world that nobody used for so many seconds of the machine's time is gone; the default one never."""
    clock = [1000.0]
    for module in ("registry", "world"):
        monkeypatch.setattr(f"reseller_sandbox.worlds.{module}.stopwatch", lambda: clock[0])
    sandbox = Sandbox(REGISTRY, world_idle=60)
    used, idle = sandbox.fork(), sandbox.fork()
    used_api, idle_api = inside(used), inside(idle)
    clock[0] += 50
    assert used_api.get("/v3/balance").status == 200
    clock[0] += 50
    assert used_api.get("/v3/balance").status == 200
    assert idle_api.get("/v3/balance").error == "unknown_key"
    assert [world.name for world in sandbox.engine] == ["default", "w1"]
    clock[0] += 1000
    assert [world.name for world in sandbox.engine] == ["default"]
    assert inside(sandbox).get("/v3/balance").status == 200


def test_python_forks_by_the_same_names(sandbox: Sandbox) -> None:
    """A fork is a sandbox in its own right, gone at the end of its ``with``."""
    with sandbox.fork(name="mine", frozen=False) as fork:
        assert fork.client().get("/v3/balance").headers["X-Sandbox-World"] == "mine"
        assert (fork.clock.frozen, sandbox.clock.frozen) == (False, True)
        assert fork.engine is sandbox.engine
    assert [world.name for world in sandbox.engine] == ["default"]
    with pytest.raises(Refused, match="unknown_world"):
        sandbox.engine.fork(Fork(world="mine"))


def test_a_world_found_by_credentials_that_changed(sandbox: Sandbox) -> None:
    """The way from credentials to the world follows every change of them: loading, rewinding, resetting."""
    fork = sandbox.fork()
    api = inside(fork)
    text = (
        fork.export()
        .replace(fork.account().key, "changed-key")
        .replace(fork.account().secret, "other-secret")
    )
    branch = fork.load(text).branch
    changed = Api(api.transport, BASE, "changed-key", "other-secret")
    assert (changed.get("/v3/balance").status, api.get("/v3/balance").error) == (200, "unknown_key")
    fork.branches.switch(branch.name)
    assert (changed.get("/v3/balance").error, api.get("/v3/balance").status) == ("unknown_key", 200)
    fork.reset()
    assert (changed.get("/v3/balance").status, api.get("/v3/balance").error) == (200, "unknown_key")


def test_starting_over(sandbox: Sandbox) -> None:
    """All is as at the start: no forks, the first fixture, and the next fork is w1 with its credentials."""
    first = sandbox.world.moment
    account = sandbox.fork().account()
    sandbox.load(sandbox.fork(fixture="empty").export())
    sandbox.engine.start_over()
    assert [world.name for world in sandbox.engine] == ["default"]
    assert sandbox.world.moment == first
    assert sandbox.fork().account() == account


def test_a_fork_copies_nothing_but_its_accounts(sandbox: Sandbox) -> None:
    """All tables and indexes but those of accounts are the source's own, so that size costs nothing."""
    own = {"seed", "accounts", "account_by_key", "account_by_token"}
    source, forked = sandbox.world.state, sandbox.fork().world.state
    shared = {name for name in source.__slots__ if getattr(source, name) is getattr(forked, name)}
    assert shared >= set(source.__slots__) - own
