"""The pytest plugin, seen as its users see it: in a test run of their own."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, replay
from tests.documents import blocks
from tests.testing.conftest import Printed, run

pytest_plugins = "pytester"

README = Path(__file__).parents[2] / "README.md"

#: A suite that holds wherever its worlds live.
ANYWHERE = """
import os
import subprocess
import sys
import urllib.request

import pytest
import requests

import reseller_sandbox as rs


@pytest.fixture(scope="module")
def shop(reseller_sandboxes):
    with reseller_sandboxes.fork() as world:
        world.names.add("of-the-shop.com", account="main")
        yield world


@pytest.fixture
def own(shop):
    with shop.fork() as world:
        yield world


def test_registers_a_name(reseller_sandbox):
    reseller_sandbox.simulate.register("from-a-test.com")
    reseller_sandbox.clock.advance("P1D")
    assert reseller_sandbox.names["from-a-test.com"].account != "main"


def test_finds_the_beginning(reseller_sandbox):
    assert reseller_sandbox.clock.now.isoformat() == "2026-01-15T12:00:00+00:00"
    assert reseller_sandbox.clock.frozen
    assert "from-a-test.com" not in reseller_sandbox.names


def test_sends_requests_as_an_account(reseller_sandbox):
    client = reseller_sandbox.client(timeout=60)
    assert client.post("/v3/domains/renewDomain/active-example.com").status_code == 200
    assert client.get("/V2.0/domain/active-example.com").json["status"]
    reseller_sandbox.faults.add("reset", when={"phase": "after"})
    with pytest.raises(ConnectionResetError):
        client.post("/v3/domains/renewDomain/active-example.com")
    assert reseller_sandbox.journal.list(operation="v3.renewDomain").matching == 2


def test_has_the_names_of_a_wider_fixture(own, reseller_sandbox):
    assert own.names["of-the-shop.com"].account == "main"
    assert "of-the-shop.com" not in reseller_sandbox.names
    own.clock.advance("P3Y")


def test_has_a_new_fork(own):
    assert own.clock.now.year == 2026


@pytest.mark.reseller_sandbox(fixture="example", now="2030-01-01", assume={"v3.ids": "integer"})
class TestSettings:
    def test_of_the_class(self, reseller_sandbox):
        assert reseller_sandbox.clock.now.year == 2030
        assert value(reseller_sandbox, "v3.ids") == "integer"

    @pytest.mark.reseller_sandbox(now="2031-01-01", assume={"v2.phone": "any"})
    def test_of_the_function_count_before_those_of_the_class(self, reseller_sandbox):
        assert reseller_sandbox.clock.now.year == 2031
        assert value(reseller_sandbox, "v3.ids") == "integer"
        assert value(reseller_sandbox, "v2.phone") == "any"

    @pytest.mark.reseller_sandbox(profile="observed")
    def test_a_profile(self, reseller_sandbox):
        assert value(reseller_sandbox, "v3.signature.endpoint") == "url"
        assert value(reseller_sandbox, "v3.ids") == "integer"


def test_programs_reach_the_world(reseller_sandbox, own):
    own.names.add("only-there.com")
    program = (
        "import os, urllib.request as u; e = os.environ;"
        "r = u.Request(e['RESELLER_SANDBOX_URL'] + '/V2.0/domain/only-there.com');"
        "r.add_header('X-Auth-Token', e['RESELLER_SANDBOX_TOKEN_MAIN']);"
        "print(u.urlopen(r).headers['X-Sandbox-World'])"
    )
    env = {**os.environ, **own.env}
    done = subprocess.run([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE)
    assert done.stdout.decode().strip() == own.env["RESELLER_SANDBOX_WORLD"]
    assert own.url == own.env["RESELLER_SANDBOX_URL"] != reseller_sandbox.url
    assert own.journal.list().matching == 1
    with own.serve() as server:
        request = urllib.request.Request(f"{server.url}/V2.0/domain/only-there.com")
        request.add_header("X-Auth-Token", own.accounts["main"].token)
        answer = urllib.request.urlopen(request)
        assert answer.headers["X-Sandbox-World"] == own.env["RESELLER_SANDBOX_WORLD"]


def test_faults_that_were_not_applied_are_reported(reseller_sandbox):
    fault = reseller_sandbox.faults.add("error", error="internal_error", name="idle")
    with pytest.raises(AssertionError, match="the fault idle .* was never applied"):
        reseller_sandbox.assert_all_faults_applied()
    reseller_sandbox.client().get("/v3/balance")
    reseller_sandbox.assert_all_faults_applied()


@rs.intercept("https://api.example.test", others="refuse")
def test_a_decorated_test_reaches_its_world(reseller_sandbox):
    with reseller_sandbox.faults.add("error", error="internal_error"):
        answer = requests.get("https://api.example.test/v3/balance")
    assert answer.headers["X-Sandbox-World"] == reseller_sandbox.env["RESELLER_SANDBOX_WORLD"]


def value(sandbox, name):
    return {one.name: one.value for one in sandbox.assumptions.list().assumptions}[name]
"""

FAILING = """
import pytest


def test_fails(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})
    client = reseller_sandbox.client()
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "mine.com"}, "yaer": 2})
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "mine.com"}})
    with reseller_sandbox.fork(assume={"v3.ids": "integer"}) as other:
        other.clock.advance("P1D")
        other.client().delete("/V2.0/domain/mine.com")
        assert other.clock.now == reseller_sandbox.clock.now


def test_is_refused(reseller_sandbox):
    reseller_sandbox.names["nobody-has-it.com"]


def test_passes(reseller_sandbox):
    assert "mine.com" not in reseller_sandbox.names


@pytest.mark.parametrize(
    "wrong",
    [
        lambda sandbox: sandbox.client("mian"),
        lambda sandbox: sandbox.clok,
        lambda sandbox: sandbox.clock.advance("soon"),
        lambda sandbox: sandbox.journal.expect(operation="v3.balance"),
        lambda sandbox: sandbox.journal.expect_in_order({"operation": "v3.balance"}),
        lambda sandbox: sandbox.faults.add("reset") and sandbox.client().get("/v3/balance"),
    ],
)
def test_goes_wrong(reseller_sandbox, wrong):
    wrong(reseller_sandbox)
"""

LEFT_OVER = """
import pytest


@pytest.mark.reseller_sandbox(strict=False)
def test_whatever(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})
    reseller_sandbox.simulate.when("P3D").register("sniped.com")


def test_a_fault(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})


@pytest.mark.reseller_sandbox(strict=["scheduled"])
def test_a_plan(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})
    reseller_sandbox.simulate.when("P3D").register("sniped.com")
    reseller_sandbox.simulate.when(after="v3.renewDomain").hold("active-example.com")


@pytest.mark.reseller_sandbox(strict=True)
def test_advice(reseller_sandbox):
    body = {"domain": {"domainName": "mine.com"}, "yaer": 2}
    reseller_sandbox.client().post("/v3/domains/createDomain", json=body)


@pytest.mark.reseller_sandbox(fixture="mine.yaml", strict=True)
def test_of_the_fixture(reseller_sandbox):
    assert reseller_sandbox.faults["default"].applied == 0
    reseller_sandbox.client().get("/v3/balance")


@pytest.mark.reseller_sandbox(strict="fault")
def test_a_word_that_there_is_not(reseller_sandbox):
    pass
"""


def test_a_test_suite_passes_in_process_mode(tmp_path: Path) -> None:
    assert "11 passed" in run(tmp_path, ANYWHERE)


@pytest.mark.slow
def test_a_test_suite_passes_in_server_mode(tmp_path: Path, running: str) -> None:
    assert "11 passed" in run(tmp_path, ANYWHERE, "-n", "2", RESELLER_SANDBOX_MODE=f"{running}\r")
    (tmp_path / "pytest.ini").write_text("[pytest]\nreseller_sandbox_mode = server\n")
    assert "11 passed" in run(tmp_path, ANYWHERE, "-n", "2")
    (shown,) = (one.content for one in blocks(README.read_text("utf-8")) if one.file)
    assert "1 passed" in run(tmp_path, shown)


def test_failed_tests_are_reported_although_no_file_can_be_written(printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "folder"
    said = printed("def test_fails(reseller_sandbox): assert 0\n", f"--reseller-sandbox-report={folder}")
    assert "1 failed" in said
    assert f"the recording cannot be written: [Errno 20] Not a directory: '{folder}'" in said
    assert f"no page at {folder}" in said
    cached = "def test_passes(reseller_sandbox): assert reseller_sandbox.names\n"
    assert "1 passed" in printed(
        cached, "-o", f"cache_dir={folder}", "-W", "ignore::pytest.PytestCacheWarning"
    )


def test_an_unusable_mode_is_reported_in_one_line(printed: Printed, running: str, subtests) -> None:
    """A failed test shows its own world, and not the world that it is forked from."""
    fails, passes = (f"def test_passes(reseller_sandbox): assert {value}\n" for value in (0, 1))
    late = f"import pytest\n@pytest.mark.reseller_sandbox(header_prefix='X-')\n{passes}"
    at_start = f"header_prefix: a server gets these settings when it starts, and the server at {running}"
    for suite, mode, *words in (
        (fails, running, "1 failed"),
        (late, running, "1 error", at_start),
        (passes, "sever", "it is 'sever'; did you mean server"),
        (passes, "http://127.0.0.1:9", "1 error", "no sandbox answers at http://127.0.0.1:9: "),
    ):
        with subtests.test(mode=mode, suite=suite):
            said = printed(suite, "--reseller-sandbox-mode", mode)
            assert [word for word in words if word not in said] == []
            assert said.count("reseller sandbox: world") == (suite == fails)
            assert "Traceback" not in said


def test_the_report_of_a_failed_test_shows_the_worlds_of_the_test(tmp_path: Path) -> None:
    said = run(tmp_path, FAILING)
    assert "8 failed, 1 passed" in said
    for line in (
        r"E +.*unknown_account: There is no account 'mian'; there are main, .*",
        r"E +reseller_sandbox.MissingRecord: unknown_record: .*",
        r"  r1   GET /v3/balance: no response, fault reset \(reset\)",
        r"-+ reseller sandbox: world w1 -+",
        r"clock     2026-01-15T12:00:00Z, frozen",
        r"seed      test_suite.py::test_fails",
        r"faults    lost \(reset for operation v3.renewDomain\): matched 0, applied 0",
        r"advice    keys_ignored \(risk\): .* \[r1\]",
        r"requests  2",
        r"  r1   POST /v3/domains/createDomain: 200 ok, main paid 10.99",
        r"       ignored: yaer.*",
        r"  r2   POST /v3/domains/createDomain: 4\d\d \w+ \(.*mine.com.*\)",
        r"       possible: .+",
        r"-+ reseller sandbox: world w2 -+",
        r"clock     2026-01-16T12:00:00Z, frozen",
        r"  r3   DELETE /V2.0/domain/mine.com: 200 ok, main got 10.99 back",
        r"assumed   v3.ids = integer",
    ):
        assert re.search(f"^{line}$", said, re.MULTILINE), f"{line}\n{said}"
    assert re.search(r"^>       reseller_sandbox.names\[\"nobody-has-it.com\"\]$", said, re.MULTILINE)
    assert "sandbox/reseller_sandbox" not in said.replace(str(tmp_path), ""), "frames of the sandbox's own"
    assert not re.search(r"^E +reseller sandbox: ", said, re.MULTILINE), "a second report"
    files = re.findall(r"^open it   reseller-sandbox recording open --port 0 (.+)$", said, re.MULTILINE)
    opened = replay(files[0]).sandbox
    assert opened.names["mine.com"].account == "main"
    assert opened.faults["lost"].kind == "reset"
    assert replay(files[1]).sandbox.clock.now.day == 16


def test_the_page_on_a_failed_test_is_attached_to_the_html_and_junit_reports(tmp_path: Path) -> None:
    folder = tmp_path / "failed"
    said = run(
        tmp_path,
        FAILING,
        *("--reseller-sandbox-report", str(folder), "--junitxml", "junit.xml", "--html", "all.html"),
        *("-k", "fails or passes"),
    )
    (page,) = folder.glob("*.html")
    assert str(page) in said
    text = unescape(page.read_text("utf-8"))
    for words in (
        "test_suite.py::test_fails",
        "assert other.clock.now == ",
        "name_taken</code>: mine.com is already registered",
        '"domainName": "mine.com"',
        "faults</th><td>lost (reset for operation v3.renewDomain): matched 0, applied 0",
        "-10.99</td><td>registration</td><td>mine.com</td><td>r1</td>",
        '<th>main</th><th class="n">9989.01 USD</th>',
        "request v3.createDomain",
        "assumed</th><td>v3.ids = integer",
    ):
        assert words in text, f"{words}\n{text}"
    recording, _ = re.findall("recording open --port 0 (.+?)</pre>", text)
    assert Path(recording).parent == folder
    assert "mine.com" in replay(recording).sandbox.names
    assert f'name="reseller_sandbox_report" value="{page}"' in (tmp_path / "junit.xml").read_text()
    assert f"failed/{page.name}" in (tmp_path / "all.html").read_text()


def test_a_strict_test_fails_because_of_advice_or_an_unapplied_fault_or_action(
    printed: Printed, pytester: pytest.Pytester, subtests
) -> None:
    seeded = Sandbox()
    seeded.faults.add("reset", name="default", match={"operation": "v3.renewDomain"})
    (pytester.path / "mine.yaml").write_text(seeded.export())
    said = printed(LEFT_OVER, "--reseller-sandbox-strict", "faults, scheduled", "-rA")
    assert "3 failed, 2 passed, 1 error" in said
    for line in (
        r"PASSED test_suite.py::test_whatever",
        r"PASSED test_suite.py::test_of_the_fixture",
        r"the fault lost \(reset for .*\) was never applied, requests matched: 0",
        r"the scheduled action 1 \(register sniped.com, at 2026-01-18T12:00:00Z\) was never applied",
        r"the scheduled action 2 \(hold .*, after operation v3.renewDomain, .*\) was never applied",
        r"advice: keys_ignored .*yaer.*",
        r".*strict must be a choice of faults, scheduled, advice; it is 'fault'; did you mean faults\?",
    ):
        with subtests.test(line):
            assert re.search(f"^{line}$", said, re.MULTILINE), said


LATE = """
import sys


def test_without_a_world():
    heavy = {"asyncio", "click", "flask", "marshmallow", "rpds", "yaml", "testcontainers"}
    assert not heavy & set(sys.modules)


def test_with_a_world(reseller_sandbox):
    reseller_sandbox.clock.advance("P1D")
    assert reseller_sandbox.journal.list().matching == 0
    late = {"apispec", "asyncio", "httptools", "httpx", "requests", "rich", "uvicorn"}
    assert not late & set(sys.modules)
"""


def test_the_plugin_imports_libraries_only_when_a_test_needs_them(tmp_path: Path) -> None:
    """None while it is unused, and few for a test that has a world and makes no request."""
    others = [part for name in ("xdist", "timeout", "anyio", "schemathesis") for part in ("-p", f"no:{name}")]
    assert "2 passed" in run(tmp_path, LATE, *others)


REMOVED = """
import pytest

def remove_all(world):
    world.faults.clear()


def remove_one(world):
    world.faults.remove("mine")


def replace_all(world):
    world.faults.replace([])


@pytest.fixture(scope="module")
def prepared(reseller_sandboxes):
    with reseller_sandboxes.fork() as world:
        with world.faults.add("reset", name="of-the-module"):
            pass
        yield world


def test_block(reseller_sandbox):
    with reseller_sandbox.faults.add("reset", name="mine"):
        pass


@pytest.mark.parametrize("remove", [remove_all, remove_one, replace_all])
def test_removed(reseller_sandbox, remove):
    reseller_sandbox.faults.add("reset", name="mine")
    remove(reseller_sandbox)


def test_applied(reseller_sandbox):
    with reseller_sandbox.faults.add("error", status=503, name="mine"):
        assert reseller_sandbox.client().get("/v3/balance").status_code == 503


def test_of_a_fork(prepared):
    with prepared.fork() as world:
        assert world.client().get("/v3/balance").status_code == 200


@pytest.mark.reseller_sandbox(strict=False)
def test_not_strict(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="mine")
    reseller_sandbox.faults.clear()
"""


@pytest.mark.parametrize("mode", ["process", "server"])
def test_strict_mode_notices_removed_faults_that_were_never_applied(printed: Printed, mode: str) -> None:
    said = printed(REMOVED, "--reseller-sandbox-strict=faults", f"--reseller-sandbox-mode={mode}")
    assert "5 failed, 2 passed" in said
    assert "the fault of-the-module, which was removed" in said
    assert said.count("the fault mine, which was removed, was never applied, requests matched: 0") >= 4
