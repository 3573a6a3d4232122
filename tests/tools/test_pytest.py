"""A pytest is a program as any other for the tools; its tests' own worlds are swept and explored, too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.tools.replaying import replay
from tests.outfit import QUICKLY
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
    # As where the virtual environment is active: a pytest that stands elsewhere on the path has no plugin.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name, value in QUICKLY.items():
        monkeypatch.setenv(name, value)
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
def test_the_program_is_swept_as_well_where_it_asks_by_its_address() -> None:
    """Requests to the address in the environment are the program's; all comes together in one report."""
    done = command("sweep", "--kinds", "lost-answer", "--json", "renews or address")
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert (told["runs"], told["planned"], told["silently wrong"]) == (3, 3, 1)
    itself, blind, once = told["sweeps"]
    assert itself["requests"] == [{"request": "r1 v2.domain.check a.com", "lost-answer": "fine"}]
    assert blind["requests"] == [{"request": "r1 v3.renewDomain active-example.com", "lost-answer": "WRONG"}]
    assert (once["test"], once["failed"]) == ("tests/test_orders.py::test_renews_once", 1)
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


#: What says that it has a test, as the plugin does, and keeps what the plugin would find in its environment.
SPEAKS = """
echo '{"tests": ["t"]}' >> "$RESELLER_SANDBOX_TOLD"
env | grep RESELLER_SANDBOX_ > asked.$$
test -z "$RESELLER_SANDBOX_%s" || echo '%s' >> "$RESELLER_SANDBOX_TOLD"
"""


def asked(tool: str, told: Mapping[str, object], *words: str) -> tuple[Result, list[dict[str, str]]]:
    """How a tool ends with a program that says this of its test, and what that finds in each later run."""
    Path("mine.py").write_text("def holds(world):\n    return None\n")
    done = CliRunner().invoke(
        main, [tool, *words, "--", "sh", "-c", SPEAKS % (tool.upper(), json.dumps(told))]
    )
    lines = [file.read_text().splitlines() for file in sorted(Path().glob("asked.*"))]
    found = [dict(line.removeprefix("RESELLER_SANDBOX_").split("=", 1) for line in one) for one in lines]
    return done, [one for one in found if tool.upper() in one]


def test_several_processes_share_the_runs_of_a_sweep_as_the_command_wants_them() -> None:
    """Each gets a part; all options of the command reach the plugin, and parts come together."""
    run = {
        "request": "v3.x",
        "id": "r1",
        "kind": "twice",
        "detail": "",
        "came": "fine",
        "ended": "",
        "file": None,
    }
    swept = {"test": "t", "rows": ["r1 v3.x"], "planned": 1, "unsteady": False, "problem": ""}
    told = {
        "swept": {
            **swept,
            "runs": [{**run, "number": 0, "broken": [], "output": "", "ended": "", "file": None}],
        }
    }
    words = (
        "--kinds",
        "twice",
        "--outsiders",
        "--only",
        "v3.*",
        "--slow",
        "5",
        "--jobs",
        "2",
        "--stop-at-first",
    )
    done, runs = asked("sweep", told, *words, "--invariant", "mine:holds", "--now", "2030-01-01")
    assert (done.exit_code, "2 runs: 2 fine." in done.stdout) == (0, True), done.output
    assert sorted(one["SWEEP_PART"] for one in runs) == ["1/2", "2/2"]
    for one in runs:
        assert (one["SWEEP"], one["SWEEP_ONLY"], one["SWEEP_SLOW"]) == ("twice,outsiders", "v3.*", "5.0")
        assert (one["SWEEP_STOP_AT_FIRST"], one["INVARIANT"]) == ("True", "mine:holds")
        assert (one["NOW"], one["CAPSULES"]) == ("2030-01-01", str(Path("capsules").absolute()))


def test_a_schedule_and_a_bound_reach_the_tests_that_are_explored() -> None:
    """The program by itself need not come to that order, where its tests have worlds of their own."""
    finding = {"kind": "failed", "capsule": None}
    told = {
        "explored": {"test": "t", "told": {"orders": 1, "findings": [finding]}, "lines": ["as it was told"]}
    }
    words = ("--schedule", "a b a", "--max-runs", "7", "--actors", "3", "--invariant", "mine:holds")
    done, [run] = asked("explore", told, *words)
    assert (done.exit_code, done.stdout) == (1, "t\nas it was told\n"), done.output
    assert (run["EXPLORE"], run["EXPLORE_MAX_RUNS"], run["EXPLORE_SCHEDULE"]) == ("3", "7", "a b a")
    assert (run["INVARIANT"], run["EXPLORE_QUIET"]) == ("mine:holds", "0.3")


def test_a_pytest_that_breaks_off_is_told() -> None:
    """With its status, in a line."""
    done = CliRunner().invoke(
        main,
        ["sweep", "--", "sh", "-c", SPEAKS % ("SWEEP", "{}") + 'test -z "$RESELLER_SANDBOX_SWEEP" || exit 7'],
    )
    assert done.exit_code == 2
    assert "while its tests are swept the program does not come to its end: exit status 7" in done.stderr


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
from collections.abc import Mapping
from pathlib import Path

def test_hangs_when_it_is_swept(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")
    if "RESELLER_SANDBOX_SWEEP" in os.environ:
        Path({str(tmp_path / "own")!r}).write_text(str(os.getpid()))
        time.sleep(600)
"""
    Path("tests/test_orders.py").write_text(suite)
    words = [sys.executable, "-c", MAIN, "sweep", "--", "pytest", "tests/test_orders.py"]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not ((mark := tmp_path / "own").exists() and mark.read_text()):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 128 + signal.SIGTERM
    assert is_gone(int(mark.read_text()))
