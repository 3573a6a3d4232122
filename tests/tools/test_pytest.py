"""A pytest is a program as any other for the tools; its tests' own worlds are swept and explored, too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.tools.replaying import replay
from tests.powers.test_streams import MAIN
from tests.tools.test_running import is_gone

SUITE = """
import os
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

NAME = "active-example.com"


def test_renews_blindly(reseller_sandbox):
    client = reseller_sandbox.client(timeout=10)
    try:
        client.post(f"/v3/domains/renewDomain/{NAME}")
    except OSError:
        client.post(f"/v3/domains/renewDomain/{NAME}")


def test_renews_once(reseller_sandbox):
    answer = reseller_sandbox.client(timeout=10).post(f"/v3/domains/renewDomain/{NAME}")
    assert answer.json["domain"]["expireDate"][:4] == "2027"


def test_adds_name_servers(reseller_sandbox):
    def add(host):
        client = reseller_sandbox.client(timeout=10)
        servers = client.get(f"/v3/domains/getDomain/{NAME}").json["domain"]["nameservers"]
        client.post(f"/v3/domains/setNameservers/{NAME}", json={"nameservers": [*servers, host]})

    with ThreadPoolExecutor() as pool:
        list(pool.map(add, ["ns7.example.net", "ns8.example.net"]))


def test_is_in_the_year_that_is_told(reseller_sandbox):
    assert reseller_sandbox.clock.now.year == int(os.environ.get("YEAR", "2026"))


def test_asks_by_the_address_in_the_environment():
    token = {"X-Auth-Token": os.environ["RESELLER_SANDBOX_TOKEN"]}
    for _ in range(2):
        try:
            url = os.environ["RESELLER_SANDBOX_URL"]
            with urlopen(Request(f"{url}/V2.0/domain/a.com/check", headers=token)) as got:
                assert b"avail" in got.read()
            return
        except OSError:
            continue
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_orders.py").write_text(SUITE)


def command(*words: str) -> Result:
    """What a tool answers to these words and the tests of the folder, of which it runs those of ``-k``."""
    *options, tests = words
    return CliRunner().invoke(main, [*options, "--", "pytest", "-x", "tests/test_orders.py", "-k", tests])


def test_the_worlds_of_tests_are_swept() -> None:
    """Each test by itself; what is found names its test and its file."""
    done = command("sweep", "--kinds", "lost-answer,rate-limited", "renews")
    assert done.exit_code == 1, done.output
    blind, once = done.stdout.split("tests/test_orders.py::test_")[1:]
    assert "r1 v3.renewDomain active-example.com  WRONG        WRONG" in blind
    assert "2 runs: 2 silently wrong." in blind
    assert "2 runs: 2 failed." in once
    files = [line.split()[-1] for line in blind.splitlines() if "reseller-sandbox open" in line]
    assert [Path(file).name for file in files] == ["r1-lost-answer.capsule", "r1-rate-limited.capsule"]
    assert all(file.startswith("capsules/") and replay(file).identical for file in files)


@pytest.mark.slow
def test_several_processes_share_the_runs_of_tests_and_the_program_is_swept_as_well() -> None:
    """Requests to the address in the environment are the program's; all comes together in one report."""
    done = command(
        "sweep", "--kinds", "lost-answer,rate-limited", "--jobs", "2", "--json", "renews or address"
    )
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert (told["runs"], told["planned"], told["silently wrong"]) == (6, 6, 2)
    itself, blind, once = told["sweeps"]
    assert itself["requests"] == [
        {"request": "r1 v2.domain.check a.com", "lost-answer": "fine", "rate-limited": "fine"}
    ]
    [row] = blind["requests"]
    assert row == {
        "request": "r1 v3.renewDomain active-example.com",
        "lost-answer": "WRONG",
        "rate-limited": "WRONG",
    }
    assert (once["test"], once["failed"]) == ("tests/test_orders.py::test_renews_once", 2)
    assert {one["test"] for one in told["findings"]} == {"tests/test_orders.py::test_renews_blindly"}


def test_the_worlds_of_tests_are_explored() -> None:
    """Each test with threads in each order; what only passes is no finding, and the file replays."""
    done = command("explore", "adds or once")
    assert done.exit_code == 1, done.output
    assert '--schedule "main main-2 main-2 main"' in done.stdout
    once, adds = done.stdout.split("tests/test_orders.py::")[1:]
    assert once.split("\n")[1:3] == ["1 order tried, of requests by main", "nothing found"]
    assert adds.startswith("test_adds_name_servers\n4 orders tried")
    files = [line.split()[-1] for line in adds.splitlines() if "reseller-sandbox open" in line]
    assert [replay(file).identical for file in files] == [True, True]


@pytest.mark.slow
def test_one_order_of_one_test_can_be_asked_for() -> None:
    """As the report has told it."""
    done = command("explore", "--schedule", "main main main-2 main-2", "--json", "adds")
    assert (done.exit_code, json.loads(done.stdout)["orders"]) == (0, 1), done.output


def test_the_settings_of_the_command_are_those_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a test that asks nothing has nothing to be swept."""
    monkeypatch.setenv("YEAR", "2030")
    done = command("sweep", "--now", "2030-01-01", "told")
    assert (done.exit_code, "has asked its world nothing" in done.stderr) == (2, True), done.output


@pytest.mark.slow
def test_tests_that_do_not_pass_are_told_with_their_output() -> None:
    """Before anything is swept."""
    done = command("sweep", "--now", "2030-01-01", "year")
    assert done.exit_code == 2
    assert "2030 == 2026" in done.stderr
    assert "without any fault the program does not pass" in done.stderr


@pytest.mark.slow
def test_the_world_of_a_server_elsewhere_is_the_one_of_the_tests() -> None:
    """Each has a fork of it as it is, and the server keeps none."""
    suite = """
import urllib.request

def test_it_has_the_name_that_was_put_there(reseller_sandbox):
    assert "put-there.com" in reseller_sandbox.names
    account = reseller_sandbox.accounts["main"]
    url = f"{reseller_sandbox.door.url}/V2.0/domain/put-there.com"
    headers = {"X-Auth-Token": account.token}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as got:
        assert b"A1001" in got.read()
"""
    Path("tests/test_orders.py").write_text(suite)
    with Sandbox() as sandbox, sandbox.serve() as server:
        sandbox.names.add("put-there.com", account="main")
        done = command("sweep", "--url", server.url, "--kinds", "lost-request", "put")
        assert done.exit_code == 0, done.output
        assert "r1 v2.domain.info put-there.com  failed" in done.stdout
        assert len(sandbox.worlds.list().worlds) == 1


@pytest.mark.slow
def test_an_interruption_ends_the_tests_that_are_swept(tmp_path: Path) -> None:
    """As soon as it comes, while they run in a thread's care."""
    suite = f"""
import os
import time
from pathlib import Path

def test_hangs_when_it_is_swept(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")
    if "RESELLER_SANDBOX_SWEEP" in os.environ:
        Path({str(tmp_path / "own")!r}).write_text(str(os.getpid()))
        time.sleep(60)
"""
    Path("tests/test_orders.py").write_text(suite)
    words = [sys.executable, "-c", MAIN, "sweep", "--", "pytest", "tests/test_orders.py"]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not ((mark := tmp_path / "own").exists() and mark.read_text()):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 128 + signal.SIGTERM
    assert is_gone(int(mark.read_text()))
