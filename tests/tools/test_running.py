"""What tools tell a program of its world, and how they end what it has begun."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, connect
from tests.outfit import program
from tests.tools import programs
from tests.tools.running import command, is_gone, printed, wait_until, with_pytest

ASK = 'curl -sS "$RESELLER_SANDBOX_URL/V2.0/domain/a.com/check" -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN"'


@pytest.fixture(autouse=True)
def _in_a_folder_with_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_pytest(monkeypatch)


def test_a_program_finds_its_world_in_the_variables_of_the_manual() -> None:
    program("curl")
    script = f"""
env | grep -o '^RESELLER_SANDBOX_[A-Z_]*' | sort -u > names
{ASK} > answer
{ASK.replace("TOKEN", "TOKEN_OTHER")} >> answer
reseller-sandbox clock advance P1D --json > clock && reseller-sandbox request GET /v3/balance
"""
    found = printed("sweep", "--kinds", "twice", "--json", "--", "sh", "-c", script)
    assert [row["request"] for row in found["requests"]] == [
        "r1 v2.domain.check a.com",
        "r2 v2.domain.check a.com (2)",
        "r3 v3.balance",
    ]
    assert found["fine"] == found["runs"] == 3
    assert Path("answer").read_text().count('"avail":"true"') == 2
    assert "2026-01-16" in Path("clock").read_text(), "each run begins at the same time"
    rows = re.findall(
        r"^\| (`RESELLER_SANDBOX_.*?) \|", command("manual", "how-to/sweep").output, re.MULTILINE
    )
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    accounts = [one.name.upper() for one in Sandbox().accounts.list().accounts]
    names = {name for name in Path("names").read_text().split() if "PYTEST" not in name}
    own = {name for name in names if not name.endswith(tuple(f"_{one}" for one in accounts))}
    assert documented - {"RESELLER_SANDBOX_KEY_OTHER"} <= own
    assert "RESELLER_SANDBOX_KEY_OTHER" in names & documented
    script = f'{ASK} && echo "$RESELLER_SANDBOX_KEY" > key'
    printed("sweep", "--kinds", "twice", "--account", "other", "--json", "--", "sh", "-c", script)
    assert Path("key").read_text().startswith("other-key")


def test_the_address_of_a_world_is_an_address_for_connect() -> None:
    with Sandbox() as sandbox, sandbox.serve() as server, sandbox.fork() as first, sandbox.fork() as second:
        first.names.add("first.com")
        second.names.add("second.com")
        address, name = (re.findall(r"w\d+", repr(world))[0] for world in (first, second))
        url = f"{server.url}/_worlds/{address}"
        for there, expected in (
            (connect(url), "first.com"),
            (connect(f"{url}/"), "first.com"),
            (connect(url, world=name), "second.com"),
        ):
            assert expected in there.names


def test_a_failing_program_is_shown_with_the_end_of_its_output() -> None:
    done = command("sweep", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.exit_code, "out\nerr\n" in done.stderr, "exit status 7" in done.stderr) == (2, True, True)
    done = command("sweep", "--", sys.executable, "-c", "print('x' * 10**6); print('end'); exit(1)")
    assert "xx\nend\n" in done.stderr
    assert len(done.stderr) < 10**5


def test_a_run_ends_with_all_that_it_has_begun(subtests: pytest.Subtests) -> None:
    program("curl")
    begin = "sleep 600 >/dev/null & echo $! > child"
    for words, script in ((("--timeout", "3"), f"{begin}; wait"), (("--kinds", "twice"), f"{begin}; {ASK}")):
        with subtests.test(script):
            done = command("sweep", *words, "--", "sh", "-c", script)
            assert done.exit_code == (2 if "wait" in script else 0), done.output
            wait_until(lambda: is_gone(int(Path("child").read_text())))


@pytest.mark.slow
def test_a_program_that_runs_pytest_is_swept_beside_its_tests() -> None:
    """Its own requests go to its address; several processes share the runs of the tests."""
    shutil.copy(programs.__file__, "test_programs.py")
    with open("test_programs.py", "a") as file:
        file.write(f"\n\ndef test_address():\n    import os\n    assert os.system({ASK!r}) is not None\n")
    words = (
        "--kinds",
        "lost-answer,twice",
        "--jobs",
        "2",
        "--json",
        "--",
        "pytest",
        "-x",
        "test_programs.py",
    )
    found = printed("sweep", *words, "-k", "address or looks_away")
    itself, away = found["sweeps"]
    assert [row["request"] for row in itself["requests"]] == ["r1 v2.domain.check a.com"]
    assert away["requests"] == [
        {"request": "r1 v3.createDomain a-example.com", "lost-answer": "WRONG", "twice": "fine"}
    ]
    assert (found["runs"], found["planned"], found["silently wrong"]) == (4, 4, 1)
    assert [one["test"] for one in found["findings"]] == ["test_programs.py::test_looks_away"]


@pytest.mark.slow
def test_a_pytest_that_breaks_off_is_reported() -> None:
    Path("test_it.py").write_text("""
import os

def test_ends_early(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")
    "RESELLER_SANDBOX_SWEEP" in os.environ and os._exit(7)
""")
    done = command("sweep", "--", "pytest", "test_it.py")
    assert (done.exit_code, "exit status 7" in done.stderr) == (2, True), done.output


@pytest.mark.slow
def test_tests_have_forks_of_the_world_of_a_running_server() -> None:
    Path("test_it.py").write_text("""
def test_it_has_the_name(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/domains/getDomain/put-there.com").status_code == 200
""")
    with Sandbox() as sandbox, sandbox.serve() as server:
        sandbox.names.add("put-there.com")
        done = command("sweep", "--url", server.url, "--kinds", "lost-request", "--", "pytest", "test_it.py")
        assert done.exit_code == 0, done.output
        assert "r1 v3.getDomain put-there.com  failed" in done.stdout
        assert len(sandbox.worlds.list().worlds) == 1
