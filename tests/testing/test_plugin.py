"""The pytest plugin, seen as its users see it: in a test run of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, replay
from tests.documents import blocks
from tests.outfit import QUICKLY
from tests.testing.repositories import REPOSITORIES, lay_out

pytest_plugins = "pytester"

README = Path(__file__).parents[2] / "README.md"

#: A suite that holds wherever its worlds live.
ANYWHERE = """
import pytest


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
    reseller_sandbox.outside.register("from-a-test.com")
    reseller_sandbox.clock.advance("P1D")
    assert reseller_sandbox.names["from-a-test.com"].account != "main"


def test_finds_everything_as_it_was(reseller_sandbox):
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
    assert reseller_sandbox.journal.find(operation="v3.renewDomain").matching == 2


def test_has_what_a_wider_fixture_has_seeded(own, reseller_sandbox):
    assert own.names["of-the-shop.com"].account == "main"
    assert "of-the-shop.com" not in reseller_sandbox.names
    own.clock.advance("P3Y")


def test_has_it_as_it_was_seeded(own):
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
    reseller_sandbox.outside.when("P3D").register("sniped.com")


def test_a_fault(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})


@pytest.mark.reseller_sandbox(strict=["plans"])
def test_a_plan(reseller_sandbox):
    reseller_sandbox.faults.add("reset", name="lost", match={"operation": "v3.renewDomain"})
    reseller_sandbox.outside.when("P3D").register("sniped.com")


@pytest.mark.reseller_sandbox(strict=True)
def test_advice(reseller_sandbox):
    body = {"domain": {"domainName": "mine.com"}, "yaer": 2}
    reseller_sandbox.client().post("/v3/domains/createDomain", json=body)


@pytest.mark.reseller_sandbox(fixture="mine.yaml", strict=True)
def test_of_the_fixture(reseller_sandbox):
    assert reseller_sandbox.faults["usual"].struck == 0
    reseller_sandbox.client().get("/v3/balance")


@pytest.mark.reseller_sandbox(strict="fault")
def test_a_word_that_there_is_not(reseller_sandbox):
    pass
"""


def run(folder: Path, suite: str, *options: str, **environment: str) -> str:
    """Return what pytest prints of a user's suite, run in a process of its own."""
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", *options]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **QUICKLY, **environment},
    )
    return done.stdout + done.stderr


@pytest.fixture
def told(pytester: pytest.Pytester) -> Callable[..., str]:
    """Returns what pytest prints of a user's suite, run in this process."""

    def run(suite: str, *options: str) -> str:
        pytester.makepyfile(test_suite=suite)
        done = pytester.runpytest_inprocess("-q", "--strict-markers", *options)
        return f"{done.stdout}\n{done.stderr}"

    return run


@pytest.fixture
def running() -> Iterator[str]:
    """The address of a server that runs already, whose clock runs and in which something has happened."""
    sandbox = Sandbox(frozen=False)
    with sandbox.serve() as server:
        sandbox.outside.register("from-a-test.com")
        yield server.url
        assert [world.name for world in sandbox.engine] == ["default"], "the tests have left worlds behind"


class TestWhereWorldsLive:
    """One suite passes unchanged, wherever its worlds are."""

    def test_in_the_process(self, tmp_path: Path) -> None:
        """As it is by default."""
        assert "8 passed" in run(tmp_path, ANYWHERE)

    @pytest.mark.slow
    def test_in_a_server_of_the_run(self, tmp_path: Path) -> None:
        """On a port of its own, with workers side by side; said in pytest's file."""
        (tmp_path / "pytest.ini").write_text("[pytest]\nreseller_sandbox_mode = server\n")
        assert "8 passed" in run(tmp_path, ANYWHERE, "-n", "2")

    @pytest.mark.slow
    def test_in_a_server_that_runs_already(self, tmp_path: Path, running: str) -> None:
        """Which has none of their worlds afterwards; said by the environment."""
        assert "8 passed" in run(tmp_path, ANYWHERE, "-n", "2", RESELLER_SANDBOX_MODE=running)

    @pytest.mark.slow
    def test_what_the_readme_shows_passes_in_a_server(self, tmp_path: Path) -> None:
        """It is the first that people try there."""
        (shown,) = (one.content for one in blocks(README.read_text("utf-8")) if one.file)
        assert "3 passed" in run(tmp_path, shown, "--reseller-sandbox-mode", "server")

    def test_a_failed_test_tells_of_its_own_world_alone(self, told: Callable[..., str], running: str) -> None:
        """Not of the one that it is forked from, though that is made for the first test."""
        printed = told("def test_it(reseller_sandbox): assert 0\n", "--reseller-sandbox-mode", running)
        assert printed.count("reseller sandbox: world") == 1

    def test_what_a_server_is_told_at_its_start_cannot_be_told_later(
        self, told: Callable[..., str], running: str
    ) -> None:
        """The test says so, rather than act in a world that is otherwise."""
        suite = "import pytest\n@pytest.mark.reseller_sandbox(header_prefix='X-')\n"
        suite += "def test_it(reseller_sandbox): pass\n"
        printed = told(suite, "--reseller-sandbox-mode", running)
        assert "1 error" in printed
        assert f"header_prefix: a server is told so when it starts, and the one at {running}" in printed

    def test_a_mode_that_there_is_not(self, told: Callable[..., str]) -> None:
        """The option is named, with the nearest."""
        printed = told(ANYWHERE, "--reseller-sandbox-mode", "sever")
        assert "the mode must be process, server or the address of a server; it is 'sever'" in printed
        assert "the nearest is server" in printed
        assert "Traceback" not in printed

    def test_nobody_answers(self, told: Callable[..., str]) -> None:
        """Each test says in one line that no sandbox is there."""
        suite = "def test_it(reseller_sandbox): pass\n"
        printed = told(suite, "--reseller-sandbox-mode", "http://127.0.0.1:9")
        assert "1 error" in printed
        assert "the sandbox of this test: no sandbox answers at http://127.0.0.1:9: " in printed
        assert "Traceback" not in printed


def test_a_failed_test_tells_what_happened(tmp_path: Path) -> None:
    """Each of its worlds: time, faults, the last requests, why they were refused; and a file to open it."""
    printed = run(tmp_path, FAILING)
    assert "8 failed, 1 passed" in printed
    for line in (
        r"E +.*unknown_account: There is no account 'mian'; there are main, .*",
        r"E +reseller_sandbox.MissingRecord: unknown_record: .*",
        r"  r1   GET /v3/balance: no answer, fault reset \(reset\)",
        r"-+ reseller sandbox: world w1 -+",
        r"clock     2026-01-15T12:00:00Z, standing still",
        r"seed      test_suite.py::test_fails",
        r"faults    lost \(reset for operation v3.renewDomain\): matched 0, struck 0",
        r"advice    keys_ignored \(risk\): .* \[r1\]",
        r"requests  2",
        r"  r1   POST /v3/domains/createDomain: 200 ok, main paid 10.99",
        r"       ignored: yaer.*",
        r"  r2   POST /v3/domains/createDomain: 4\d\d \w+",
        r"       refused: .*mine.com.*",
        r"       possible: .+",
        r"-+ reseller sandbox: world w2 -+",
        r"clock     2026-01-16T12:00:00Z, standing still",
        r"assumed   v3.ids = integer",
    ):
        assert re.search(f"^{line}$", printed, re.MULTILINE), f"{line}\n{printed}"
    assert re.search(r"^>       reseller_sandbox.names\[\"nobody-has-it.com\"\]$", printed, re.MULTILINE)
    assert "sandbox/reseller_sandbox" not in printed.replace(str(tmp_path), ""), "frames of the sandbox's own"
    files = re.findall(r"^open it   reseller-sandbox open (.+)$", printed, re.MULTILINE)
    opened = replay(files[0]).sandbox
    assert opened.names["mine.com"].account == "main"
    assert opened.faults["lost"].kind == "reset"
    assert replay(files[1]).sandbox.clock.now.day == 16


def test_what_is_left_over_fails_a_test_where_that_is_asked_for(
    told: Callable[..., str], pytester: pytest.Pytester
) -> None:
    """Faults and plans that never struck, and advice; not the faults that the fixture has for all tests."""
    seeded = Sandbox()
    seeded.faults.add("reset", name="usual", match={"operation": "v3.renewDomain"})
    (pytester.path / "mine.yaml").write_text(seeded.export())
    printed = told(LEFT_OVER, "--reseller-sandbox-strict", "faults, plans", "-rA")
    assert "3 failed, 2 passed, 1 error" in printed
    for name in ("test_whatever", "test_of_the_fixture"):
        assert f"PASSED test_suite.py::{name}" in printed
    for line in (
        r"the fault lost \(reset for .*\): matched 0, struck 0 was armed and never struck",
        r"the plan 1 \(register sniped.com, at 2026-01-18T12:00:00Z\) never struck",
        r"advice: keys_ignored .*yaer.*",
        r".*strict must be some of faults, plans, advice; it is 'fault'; the nearest is faults",
    ):
        assert re.search(f"^{line}$", printed, re.MULTILINE), f"{line}\n{printed}"


@pytest.mark.slow
def test_what_is_drawn_in_a_test_is_the_same_in_any_order(told: Callable[..., str]) -> None:
    """The codes of a test do not depend on those that ran before it."""
    test = (
        "def test_{0}(reseller_sandbox):\n    made = reseller_sandbox.names.add('{0}.com', account='main')\n"
    )
    test += "    print('drawn', '{0}', reseller_sandbox.names['{0}.com'].auth_code)\n"
    drawn = []
    for order in ("ab", "ba"):
        printed = told("".join(test.format(name) for name in order), "-rP")
        drawn.append(sorted(re.findall(r"drawn (\w) (\S+)", printed)))
    assert drawn[0] == drawn[1]
    assert len({code for _, code in drawn[0]}) == 2


UNUSED = """
import sys


def test_it():
    ours = {name for name in sys.modules if name.partition(".")[0] == "reseller_sandbox"}
    light = ("", ".testing", ".testing.options", ".testing.plugin", ".usual")
    assert ours == {f"reseller_sandbox{one}" for one in light}
    assert not {"asyncio", "click", "flask", "marshmallow", "rpds", "yaml"} & set(sys.modules)
"""

FIRST = """
import sys


def test_it(reseller_sandbox):
    reseller_sandbox.clock.advance("P1D")
    assert reseller_sandbox.journal.find().matching == 0
    late = {"apispec", "asyncio", "httptools", "httpx", "requests", "rich", "uvicorn"}
    assert not late & set(sys.modules)
"""


@pytest.mark.parametrize("suite", [UNUSED, FIRST], ids=["unused", "the first test"])
def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path, suite: str) -> None:
    """Neither by a plugin that nobody uses, nor by a test that has a world and makes no request."""
    others = [part for name in ("xdist", "timeout", "anyio", "schemathesis") for part in ("-p", f"no:{name}")]
    assert "1 passed" in run(tmp_path, suite, *others)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPOSITORIES)
def test_the_plugin_works_beside_a_sandbox_of_the_users_own(tmp_path: Path, name: str) -> None:
    """As a module or a package, in the root or below ``src``, it stands in nobody's way."""
    lay_out(name, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    finished = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **QUICKLY},
    )
    assert "3 passed" in finished.stdout, finished.stdout + finished.stderr


def test_what_a_suite_has_loaded_stays_and_its_own_modules_go(told: Callable[..., str]) -> None:
    """Or parts of this package would be there twice for the tests that come after it in this process."""
    assert "1 passed" in told("import colorsys\n\n\ndef test_it():\n    pass\n")
    assert "colorsys" in sys.modules
    assert "test_suite" not in sys.modules
