"""The documented Python API, for a run of pytest in each mode: a fork, a world or a handle means the same."""

from __future__ import annotations

import asyncio
import inspect
import urllib.request
from pathlib import Path

import aiohttp
import httpx
import pytest
import requests
import urllib3

import reseller_sandbox as rs
from reseller_sandbox import testing

NAME = "active-example.com"
RENEWAL = f"/v3/domains/renewDomain/{NAME}"
CHECK = f"https://api.example.test/V2.0/domain/{NAME}"


def balance(world):
    return world.accounts["main"].balance


def test_a_fork_begins_with_the_state_of_its_origin_and_goes_its_own_way(reseller_sandbox):
    reseller_sandbox.client().post(RENEWAL)
    with reseller_sandbox.fork(name="own") as fork:
        assert balance(fork) == balance(reseller_sandbox)
        assert fork.accounts["main"].key != reseller_sandbox.accounts["main"].key
        fork.client().post(RENEWAL)
        assert balance(fork) < balance(reseller_sandbox)
        assert fork.env["RESELLER_SANDBOX_WORLD"] == "own" in reseller_sandbox.worlds
        fork.close()
        fork.close()


def test_a_fork_of_a_fork_outlives_its_origin(reseller_sandbox):
    first = reseller_sandbox.fork()
    second = first.fork()
    first.worlds.remove(first.env["RESELLER_SANDBOX_WORLD"])
    assert second.client().post(RENEWAL).status_code == 200
    with pytest.raises(rs.Refused, match="unknown_world"):
        first.clock.now  # noqa: B018
    second.close()


def test_history_goes_back_and_keeps_the_old_future(reseller_sandbox):
    before = balance(reseller_sandbox)
    reseller_sandbox.snapshot("before")
    reseller_sandbox.client().post(RENEWAL)
    (request,) = reseller_sandbox.journal.list(operation="v3.renewDomain").requests
    after = balance(reseller_sandbox)
    past = reseller_sandbox.at(f"before:{request.id}")
    assert balance(past) == before
    with pytest.raises(rs.Refused):
        past.clock.advance("P1D")
    branch = reseller_sandbox.rewind(request.id).branch.name
    assert balance(reseller_sandbox) == before
    assert branch in [kept.name for kept in reseller_sandbox.branches.list().branches]
    reseller_sandbox.client().post(RENEWAL)
    assert balance(reseller_sandbox) == after
    reseller_sandbox.restore("before")
    assert balance(reseller_sandbox) == before
    assert reseller_sandbox.diff().changes == ()
    reseller_sandbox.simulate.register("diff-example.com")
    assert reseller_sandbox.diff().changes
    reseller_sandbox.reset()
    assert "diff-example.com" not in reseller_sandbox.names


def test_an_export_loads_into_another_world(reseller_sandbox, tmp_path):
    reseller_sandbox.names.add("exported-example.com")
    text = reseller_sandbox.export()
    file = tmp_path / "world.yaml"
    file.write_text(text, "utf-8")
    for fixture in (text, file):
        with reseller_sandbox.fork(point="start") as fork:
            assert "exported-example.com" not in fork.names
            fork.load(fixture)
            assert fork.names["exported-example.com"].account == "main"


def test_the_handle_of_a_fault_reads_and_removes_its_rules(reseller_sandbox):
    handle = reseller_sandbox.faults.add("error", error="internal_error", name="handled")
    assert (handle.names, handle.applied) == (("handled",), 0)
    with pytest.raises(AssertionError, match="handled"):
        reseller_sandbox.assert_all_faults_applied()
    reseller_sandbox.client().get("/v3/balance")
    assert (handle.matched, handle.applied) == (1, 1)
    reseller_sandbox.assert_all_faults_applied()
    handle.remove()
    assert "handled" not in reseller_sandbox.faults
    with reseller_sandbox.faults.preset("outage") as outage:
        assert outage.rules
    assert outage.rules == ()


def test_a_scheduled_action_happens_after_its_request(reseller_sandbox):
    later = reseller_sandbox.accounts.when(after={"operation": "v3.balance"})
    action = later.set_balance("main", 5).scheduled
    assert reseller_sandbox.scheduled.list().scheduled[0].id == action.id
    reseller_sandbox.client().get("/v3/balance")
    assert balance(reseller_sandbox) == 5


def test_records_are_found_by_key_iterated_and_tested(reseller_sandbox):
    assert "main" in reseller_sandbox.accounts
    assert [account.name for account in reseller_sandbox.accounts][:1] == ["main"]
    with pytest.raises(rs.MissingRecord):
        reseller_sandbox.names["nobody-has-it.com"]
    with pytest.raises(KeyError):
        reseller_sandbox.accounts["mian"]


def test_a_stream_yields_each_record_until_it_is_closed(reseller_sandbox):
    with reseller_sandbox.journal.follow() as stream:
        reseller_sandbox.client().get("/v3/balance")
        assert next(stream).operation == "v3.balance"


def test_a_recording_replays_to_the_byte(reseller_sandbox, tmp_path):
    reseller_sandbox.client().post(RENEWAL)
    reseller_sandbox.recording.write(tmp_path / "a.recording")
    replayed = rs.replay(tmp_path / "a.recording")
    assert replayed.identical
    assert balance(replayed.sandbox) == balance(reseller_sandbox)


def test_intercepted_clients_of_every_library_reach_the_world(reseller_sandbox):
    headers = {"X-Auth-Token": reseller_sandbox.accounts["main"].token}

    async def by_aiohttp():
        async with aiohttp.ClientSession() as session, session.get(CHECK, headers=headers) as answer:
            return dict(answer.headers)

    def world(answered):
        return {name.lower(): value for name, value in dict(answered).items()}["x-sandbox-world"]

    with reseller_sandbox.intercept("https://api.example.test", others="refuse"):
        worlds = {
            world(httpx.get(CHECK, headers=headers).headers),
            world(requests.get(CHECK, headers=headers).headers),
            world(urllib3.request("GET", CHECK, headers=headers).headers),
            world(asyncio.run(by_aiohttp())),
        }
        with pytest.raises(testing.NetworkRefused):
            urllib.request.urlopen("http://other.example.test")
    assert worlds == {reseller_sandbox.env["RESELLER_SANDBOX_WORLD"]}


def test_adapters_reach_the_world(reseller_sandbox):
    headers = {"X-Auth-Token": reseller_sandbox.accounts["main"].token}
    session = requests.Session()
    session.mount("https://", testing.SandboxAdapter(reseller_sandbox))
    pool = testing.SandboxPoolManager(reseller_sandbox)
    with httpx.Client(transport=testing.SandboxTransport(reseller_sandbox)) as client:
        client.get(CHECK, headers=headers)

    async def by_aiohttp():
        connector = testing.SandboxConnector(reseller_sandbox)
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get(CHECK, headers=headers)

    session.get(CHECK, headers=headers)
    pool.request("GET", CHECK, headers=headers)
    asyncio.run(by_aiohttp())
    session.close()
    pool.close()
    assert reseller_sandbox.journal.list(operation="v2.domain.info").matching == 4


def test_a_url_leads_any_program_and_connect_to_the_world(reseller_sandbox):
    connected = rs.connect(reseller_sandbox.url)
    assert connected.accounts["main"].key == reseller_sandbox.accounts["main"].key
    connected.clock.advance(days=3)
    assert connected.clock.now == reseller_sandbox.clock.now
    with reseller_sandbox.serve() as server:
        assert urllib.request.urlopen(f"{server.url}/health").status == 200
    connected.close()


def test_frozen_time_and_the_world_move_together(reseller_sandbox):
    with testing.freeze_time(reseller_sandbox, "2031-05-01") as clocks:
        clocks.advance("P30D")
        assert clocks.now == reseller_sandbox.clock.now


@rs.intercept("https://api.example.test")
def test_a_decorated_function_reaches_the_world(reseller_sandbox):
    answer = requests.get(CHECK, headers={"X-Auth-Token": reseller_sandbox.accounts["main"].token})
    assert answer.headers["X-Sandbox-World"] == reseller_sandbox.env["RESELLER_SANDBOX_WORLD"]


def test_this_suite_uses_every_documented_member():
    source = Path(__file__).read_text("utf-8")
    members = [name for name, value in vars(rs.Sandbox).items() if not isinstance(value, classmethod)]
    names = [*rs.__all__, *testing.__all__, *(name for name in members if not name.startswith("_"))]
    elsewhere = {"BadSetting", "EndlessWait", "SandboxContainer", "expect_explained", "header_prefix"}
    unused = [name for name in names if f".{name}" not in source and name not in elsewhere]
    assert unused == [] or unused == ["Sandbox"], unused
    assert inspect.isclass(rs.Sandbox)
