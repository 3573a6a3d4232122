"""Sweep finds the mistakes of careless programs, and none in careful programs."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from reseller_sandbox import BadSetting, Sandbox, connect, replay
from reseller_sandbox.tools.sweep import sweep as sweep_function  # noqa: TID251  users import it
from tests.command import program
from tests.tools import programs
from tests.tools.running import command, is_gone, printed, refused, with_pytest
from tests.waiting import wait_until

KINDS = "lost-request,lost-answer,slow-answer,twice,garbage,rate-limited"
LOST = ("lost-answer", "slow-answer", "garbage")
GONE = "does not exist, but exists without the fault"
WITHOUT = dict.fromkeys(("lost-request", "rate-limited"), GONE)

#: The troubles that a program overlooks if it ignores refusals. ``error`` means any documented error.
SWALLOWED = dict.fromkeys(
    ("error", *(f"external-changes {what}" for what in ("balance", "price", "taken"))), GONE
)

#: The silently wrong runs of each program of programs.py: the trouble, and words of the finding.
WRONG: dict[str, dict[str, str]] = {
    "careful_order": {},
    "careful_renewal": {},
    "only_reads": {},
    "asks_in_changing_order": {},
    "never_asks_the_same": {},
    "is_refused": {},
    "order_repeated_after_a_loss": {
        **dict.fromkeys(LOST, "registration_repeated"),
        "error": GONE,
        "external-changes taken": GONE,
    },
    "order_at_any_price": {"external-changes price": "cost 5000.00, but the agreed price was 2500.00"},
    "renewal_repeated_after_a_loss": {
        **dict.fromkeys((*LOST, "twice"), "was paid 2 times: 12.99 + 12.99"),
        **dict.fromkeys(
            ("rate-limited", "error", "external-changes balance", "external-changes deleted"),
            "its expiry date is 2026-10-07, but 2027-10-07 without",
        ),
        "external-changes price": "cost 25.98, but the agreed price was 12.99",
    },
    "looks_away": {**WITHOUT, **SWALLOWED},
    "paid_and_given_up": {
        **WITHOUT,
        **SWALLOWED,
        **dict.fromkeys(LOST, "was paid, but main does not have the name"),
    },
    "orders_another_name_after_a_loss": {
        **dict.fromkeys(
            (*LOST, "lost-request", "rate-limited"), "b-example.com was paid, 10.99, but not without"
        ),
        "external-changes balance": GONE,
    },
}

#: The programs of every test run.
FEW = ("careful_renewal", "only_reads", "asks", "refused", "renewal_repeated", "looks_away")

ASK = 'curl -fsS "$RESELLER_SANDBOX_URL/V2.0/domain/a.com/check" -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN"'


@pytest.fixture(autouse=True)
def _in_a_folder_with_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_pytest(monkeypatch)
    shutil.copy(programs.__file__, "test_programs.py")


def swept(*words: str, tests: str) -> dict[str, Any]:
    """Sweep the programs that match ``tests``. Return the report on each, by its name."""
    report = printed("sweep", "--json", *words, "--", "pytest", "-x", "-k", tests, "test_programs.py")
    return {one["test"].partition("::test_")[2]: one for one in report["sweeps"]}


def every(sweep: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs with consequences: the first of each finding, and those with the same consequences."""
    found = (*sweep["findings"], *sweep["unpreventable"])
    return [run for finding in found for run in (finding, *finding["also"])]


def trouble(run: dict[str, Any]) -> str:
    """Return the trouble of a run. Of a documented error, this is only the kind."""
    return f"{run['kind']} {run['detail'] if run['kind'] != 'error' else ''}".strip()


@pytest.mark.parametrize(
    ("tests", "kinds"),
    [(" or ".join(FEW), KINDS), pytest.param("test", f"{KINDS},error", marks=pytest.mark.slow)],
    ids=["few", "all"],
)
def test_sweep_finds_every_silently_wrong_run_and_no_other_run(
    tests: str, kinds: str, subtests: pytest.Subtests
) -> None:
    """After a permanent error, such as a taken name, the records may differ. After a temporary one, not."""
    found = swept("--kinds", kinds, "--external-changes", tests=tests)
    fitting = {name for name in WRONG if any(part in f"test_{name}" for part in tests.split(" or "))}
    assert found.keys() == fitting
    swept_kinds = {*kinds.split(","), "external-changes"}
    for name, sweep in found.items():
        with subtests.test(name):
            wrong = {trouble(run): "\n".join(run["violations"]) for run in every(sweep)}
            expected = {kind: words for kind, words in WRONG[name].items() if kind.split()[0] in swept_kinds}
            assert wrong.keys() == expected.keys()
            assert not {kind for kind, words in expected.items() if words not in wrong[kind]}, wrong
            assert sweep["runs"] == sweep["planned"]
    files = [run["file"] for one in found.values() for run in every(one)]
    with subtests.test("each finding can be replayed"):
        assert len({*files}) == len(files) == len([*Path("recordings").rglob("*.recording")])
        assert all(replay(file).identical for file in files[::4])
    with subtests.test("a careful program notices what people must decide"):
        failed = {trouble(run) for run in found["careful_renewal"]["others"] if run["kind"] != "error"}
        assert failed == {"twice", *(f"external-changes {one}" for one in ("balance", "price", "deleted"))}
        assert all(run["output"] for run in found["careful_renewal"]["others"])
    with subtests.test("the order of requests may change from run to run"):
        changing = found["asks_in_changing_order"]
        assert (changing["unsteady"], changing["not sent"]) == ("", 0)
    with subtests.test("a request that never comes is reported"):
        steady = found["never_asks_the_same"]
        assert steady["unsteady"].startswith("only the first run sent v2.domain.check a")
        assert steady["not sent"] == steady["runs"]
    with subtests.test("refusals without any fault are reported"):
        first, second, *_ = found["is_refused"]["refused"]
        assert first.startswith("r1 v3.createDomain gold.com (gold.com is a premium name")
        assert second.startswith("r2 POST /v3/nothing/of/the/kind (")


@pytest.mark.slow
def test_careful_programs_pass_a_sweep_of_every_error_and_assumption() -> None:
    found = swept("--assumptions", "--timeout", "60", tests="careful_order or careful_renewal")
    assert [(name, one["findings"]) for name, one in found.items()] == [
        ("careful_order", []),
        ("careful_renewal", []),
    ]
    assert sum(one["runs"] for one in found.values()) > 150


SHELL = """
api() {{ curl -sS --max-time 5 -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN" "$@"; }}
name="$RESELLER_SANDBOX_URL/V2.0/domain/active-example.com"
renew() {{
  api -X PUT "$name/renew" -H 'Content-Type: application/json' \\
    --data '{{"period": 1, "current_expiry_date": "2026-10-07"}}' | grep -q '"code":200'
}}
renew || renew || api "$name" | grep -q '"date_end":"2027-10-07'
echo '{view}' > "$RESELLER_SANDBOX_VIEW"
"""


def test_options_choose_the_runs_of_a_sweep() -> None:
    program("curl")
    words = ("--kinds", "twice,garbage", "--only", "v2.domain.c*", "--assumptions", "--jobs", "2", "--json")
    script = f'{ASK}; curl -s "$RESELLER_SANDBOX_URL/v3/balance"; {ASK}'
    found = printed("sweep", *words, "--", "sh", "-c", script)
    assert [row["request"] for row in found["requests"]] == [
        "r1 v2.domain.check a.com",
        "r3 v2.domain.check a.com (2)",
    ]
    assert found["requests"][0].keys() == {"request", "twice", "garbage"}
    assert {"assumption": "v2.domain_check.avail=boolean", "result": "fine"} in found["assumptions"]
    assert not [row for row in found["assumptions"] if row["assumption"].startswith("v2.zones")]
    blind = ("--", "sh", "-c", SHELL.partition("renew ||")[0].format() + "renew; true")
    found = printed("sweep", "--kinds", "rate-limited,lost-request", "--stop-at-first", "--json", *blind)
    assert (found["runs"], found["planned"], found["silently wrong"]) == (1, 2, 1)
    Path("taken").write_text("a file")
    done = command("sweep", "--kinds", "rate-limited", "--recordings", "taken/in", *blind)
    assert (done.exit_code, "Not a directory" in done.stderr) == (2, True)
    Path("holds.py").write_text(
        "def words(world):\n    return f'{world.clock.now.year} is no good'\n"
        "def raises(world):\n    assert world.accounts['main'].balance < 1, 'too much is left'\n"
    )
    for name, problem in (("words", "2026 is no good"), ("raises", "AssertionError: too much is left")):
        done = command("sweep", "--invariant", f"holds:{name}", "--", "sh", "-c", ASK)
        assert (done.exit_code, f"{name}: {problem}" in done.stderr) == (2, True), done.output


def test_sweep_writes_a_finding_as_html_junit_and_sarif() -> None:
    program("curl")
    script = SHELL.format(view='[{"name": "active-example.com"}]').replace(
        "curl", 'curl -H "X-Sandbox-Source: renew.sh:7"'
    )
    words = ("--kinds", "all,-error,-slow-answer", "--only", "v2.domain.renew", "--depth", "2", "--jobs", "2")
    files = ("--junit", "ci/junit.xml", "--sarif", "ci/sweep.sarif")
    done = command("sweep", *words, *files, "--", "sh", "-c", script)
    assert done.exit_code == 1, done.output
    assert "sent by renew.sh:7" in done.output
    page = Path(re.findall("page: (.*)", done.output)[0]).read_text()
    for text in ("renew.sh:7", "PUT", "How to fix it", "recording open", "2026-10-07", "2027-10-07"):
        assert text in page, text
    cases = ElementTree.parse("ci/junit.xml").findall(".//testcase")
    assert 0 < sum(case.find("failure") is not None for case in cases) < len(cases)
    results = json.loads(Path("ci/sweep.sarif").read_text())["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("renew.sh", 7)
    assert any(", then " in case.get("name", "") for case in cases)


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        ('[{"name": "ACTIVE-EXAMPLE.com", "expires": "2027-10-07T00:00:00Z"}]', ""),
        ("[]", "was paid, but the program does not report it"),
        ('[{"name": "active-example.com", "expires": "2028-01-15"}]', "expires on 2027-10-07, but"),
        ('[{"name": "active-example.com"}, {"name": "active-example.com"}]', "2 orders of active-example"),
    ],
)
def test_sweep_compares_the_registry_with_the_orders_that_a_program_reports(view: str, problem: str) -> None:
    program("curl")
    words = ("--kinds", "lost-answer", "--only", "v2.domain.renew")
    done = command("sweep", *words, "--", "sh", "-c", SHELL.format(view=view))
    assert done.exit_code == (2 if problem else 0), done.output
    assert problem in done.stderr
    assert problem or "r1 v2.domain.renew active-example.com  fine" in done.stdout, done.output


def test_sweep_refuses_a_program_that_fails_without_a_fault_and_prints_its_output(
    subtests: pytest.Subtests,
) -> None:
    program("curl")
    for script, status, *problems in (
        ("echo out; echo err >&2; exit 7", 2, "out\nerr\nreseller-sandbox: without any fault", "status 7"),
        (f'{sys.executable} -c \'print("x" * 10**6); print("end"); exit(1)\'', 2, "xx\nend\n"),
        ("true", 4, "sent no request to its sandbox"),
        (f"{ASK} && test ! -e there && touch there", 2, "the second time"),
    ):
        with subtests.test(script):
            done = command("sweep", "--", "sh", "-c", script)
            assert done.exit_code == status, done.output
            assert [one for one in problems if one not in done.stderr] == [], done.output
            assert len(done.stderr) < 10**5


def test_sweep_cuts_the_long_output_of_a_failing_function(sandbox: Sandbox) -> None:
    def fail(_: Sandbox) -> None:
        raise ValueError("x" * 10**6)

    with pytest.raises(BadSetting, match="without any fault") as refusal:
        sweep_function(fail, sandbox)
    assert "exit status 1" in str(refusal.value)
    assert len(str(refusal.value)) < 10**5


@pytest.mark.parametrize("leave", [sys.exit, pytest.fail])
def test_sweep_goes_on_if_a_function_leaves_with(leave: Callable[[str], None]) -> None:
    """``SystemExit`` and the error of ``pytest.fail`` are not an ``Exception``, and end only their run."""

    def renews(world: Sandbox) -> None:
        if world.client().post("/v3/domains/renewDomain/active-example.com").status_code != 200:
            leave("not renewed")
        sys.exit(0)

    def is_free(world: Sandbox) -> None:
        if world.accounts["main"].balance < 10000:
            leave("it is not free")

    with Sandbox() as sandbox:
        assert sweep_function(renews, sandbox, kinds=("rate-limited",)).counts()["noticed"] == 1
        with pytest.raises(BadSetting, match="it is not free"):
            sweep_function(renews, sandbox, kinds=("rate-limited",), invariants=[is_free])


def test_sweep_refuses_wrong_options_with_a_one_line_message(subtests: pytest.Subtests) -> None:
    for words, problem in (
        (["--kinds", "lost-anser", "--", "true"], "unknown kind 'lost-anser'; did you mean lost-answer?"),
        (["--only", "v3.renewDomian", "--", "true"], "matches no operation; did you mean v3.renewDomain?"),
        (["--url", "http://127.0.0.1:1", "--fixture", "empty", "--", "true"], "cannot be used with --url"),
        (["--world", "w1", "--", "true"], "--world requires --url"),
        (
            ["--invariant", "no_such:thing", "--", "true"],
            "no_such:thing cannot be imported: ModuleNotFoundError",
        ),
        (["--invariant", "os:sep", "--", "true"], "--invariant os:sep is not a function"),
        (["--account", "nobody", "--", "true"], "nobody"),
        (["--", "no-such-program"], "no-such-program cannot be run"),
        (["--", "/dev/null"], "/dev/null cannot be run"),
        ([], "missing argument"),
    ):
        with subtests.test(problem):
            refused(["sweep", *words], problem)
    assert command("sweep", "--url", "http://127.0.0.1:1", "--", "true").exit_code == 3


def test_a_swept_program_gets_the_documented_environment_variables() -> None:
    program("curl")
    script = f"""
env | grep -o '^RESELLER_SANDBOX_[A-Z_]*' | sort -u > names
{ASK} > answer
{ASK.replace("TOKEN", "TOKEN_OTHER")} >> answer
reseller-sandbox clock advance P1D --json > clock && reseller-sandbox request GET /v3/balance
"""
    words = ("--kinds", "twice", "--only", "v3.balance", "--json")
    found = printed("sweep", *words, "--", "sh", "-c", script)
    assert [row["request"] for row in found["requests"]] == ["r3 v3.balance"]
    assert found["fine"] == found["runs"] == 1
    assert Path("answer").read_text().count('"avail":"true"') == 2
    assert "2026-01-16" in Path("clock").read_text(), "each run begins at the same time"
    page = command("manual", "how-to/sweep").output
    rows = re.findall(r"^\| (`RESELLER_SANDBOX_.*?) \|", page, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    names = {name for name in Path("names").read_text().split() if "PYTEST" not in name}
    accounts = [f"_{one.name.upper()}" for one in Sandbox().accounts.list().accounts]
    without_account = {name for name in names if not name.endswith(tuple(accounts))}
    assert documented - {"RESELLER_SANDBOX_KEY_OTHER"} <= without_account
    assert "RESELLER_SANDBOX_KEY_OTHER" in names & documented
    script = f'{ASK} && echo "$RESELLER_SANDBOX_KEY" > key'
    printed("sweep", "--kinds", "twice", "--account", "other", "--json", "--", "sh", "-c", script)
    assert Path("key").read_text().startswith("other-key")


def test_the_function_connect_accepts_the_url_of_a_world() -> None:
    with Sandbox() as sandbox, sandbox.serve() as server, sandbox.fork() as first, sandbox.fork() as second:
        first.names.add("first.com")
        second.names.add("second.com")
        address, name = (re.findall(r"w\d+", repr(world))[0] for world in (first, second))
        url = f"{server.url}/_worlds/{address}"
        assert "first.com" in connect(url).names
        assert "first.com" in connect(f"{url}/").names
        assert "second.com" in connect(url, world=name).names


def test_a_sweep_forks_the_world_of_a_running_server() -> None:
    program("curl")
    with Sandbox() as sandbox, sandbox.serve() as server:
        sandbox.names.add("put-there.com")
        before = len(sandbox.worlds.list().worlds)
        script = ASK.replace("a.com/check", "put-there.com")
        done = command("sweep", "--url", server.url, "--kinds", "lost-request", "--", "sh", "-c", script)
        assert (done.exit_code, "1 run: 1 noticed." in done.stdout) == (0, True), done.output
        assert len(sandbox.worlds.list().worlds) == before
        assert not sandbox.journal.list().requests


def test_sweep_ends_the_child_processes_of_a_program() -> None:
    program("curl")
    begin = "sleep 600 >/dev/null & echo $! > child"
    for status, words, script in ((2, ("--timeout", "0.5"), "wait"), (0, ("--kinds", "twice"), ASK)):
        done = command("sweep", *words, "--", "sh", "-c", f"{begin}; {script}")
        assert done.exit_code == status, done.output
        wait_until(lambda: is_gone(int(Path("child").read_text())))


@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, "2"), (signal.SIGTERM, "1")])
def test_an_interrupted_sweep_ends_its_program(how: signal.Signals, jobs: str) -> None:
    program("curl")
    script = f"{ASK} && exit 0\necho $$ > own; sleep 600"
    # A process that a shell starts in the background ignores SIGINT unless it restores the handler.
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    begin = f"{start}; from importlib.metadata import entry_points as e; "
    begin += "[m] = e(group='console_scripts', name='reseller-sandbox'); m.load()()"
    words = [sys.executable, "-c", begin, "sweep", "--jobs", jobs, "--kinds", "lost-request"]
    with subprocess.Popen([*words, "--", "sh", "-c", script], stderr=subprocess.PIPE) as running:
        mark = Path("own")
        wait_until(lambda: mark.exists() and bool(mark.read_text()))
        running.send_signal(how)
        _, said = running.communicate(timeout=60)
    assert running.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how], said
    assert b"Traceback" not in said
    wait_until(lambda: is_gone(int(mark.read_text())))


def test_consequences_that_no_client_can_prevent_are_findings_only_with_strict() -> None:
    """A renewal in v2.0 takes no price, so a changed price is paid. Nothing else is wrong in this run."""
    program("curl")
    script = SHELL.partition("renew ||")[0].format() + "renew"
    words = ("sweep", "--kinds", "twice", "--external-changes", "--only", "v2.domain.renew")
    done = command(*words, "--", "sh", "-c", script)
    assert done.exit_code == 0, done.output
    assert (
        "external-changes (price). Cannot be prevented; can be noticed by comparing the balance"
        in done.stdout
    )
    done = command(*words, "--strict", "--json", "--", "sh", "-c", script)
    [found] = json.loads(done.stdout)["findings"]
    assert (done.exit_code, found["detail"]) == (1, "price")


def test_a_report_says_what_was_not_tried_and_with_which_option(subtests: pytest.Subtests) -> None:
    program("curl")
    words = ("sweep", "--kinds", "lost-answer", "--only", "v2.domain.renew", "--", "sh", "-c")
    lines = command(*words, SHELL.format(view='[{"name": "active-example.com"}]')).stdout.splitlines()
    left = dict(line.strip().rsplit(": ", 1)[::-1] for line in lines[lines.index("Not tried:") + 1 :])
    for option in ("--kinds all", "--external-changes", "--depth 2"):
        with subtests.test(option):
            assert any(re.fullmatch(rf"{option}, \d+ runs?", run) for run in left), lines


@pytest.mark.slow
def test_a_program_that_runs_pytest_is_swept_like_its_tests() -> None:
    with open("test_programs.py", "a") as file:
        file.write(f"\n\ndef test_address():\n    import os\n    assert os.system({ASK!r}) is not None\n")
    words = ("--kinds", "lost-request,twice", "--jobs", "2", "--json", "--", "pytest", "-x")
    found = printed("sweep", *words, "test_programs.py", "-k", "address or looks_away")
    itself, away = found["sweeps"]
    assert [row["request"] for row in itself["requests"]] == ["r1 v2.domain.check a.com"]
    assert away["requests"] == [
        {"request": "r1 v3.createDomain a-example.com", "lost-request": "WRONG", "twice": "fine"}
    ]
    assert (found["runs"], found["planned"], found["silently wrong"]) == (4, 4, 1)
    assert [one["test"] for one in found["findings"]] == ["test_programs.py::test_looks_away"]


@pytest.mark.slow
def test_a_sweep_of_pytest_forks_the_world_of_a_running_server() -> None:
    """If pytest ends before its tests, the sweep is refused with its exit status."""
    Path("test_it.py").write_text("""
import os

def test_has_the_name(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/domains/getDomain/put-there.com").status_code == 200

def test_ends_early(reseller_sandbox):
    reseller_sandbox.client().get("/v3/balance")
    "RESELLER_SANDBOX_SWEEP" in os.environ and os._exit(7)
""")
    with Sandbox() as sandbox, sandbox.serve() as server:
        sandbox.names.add("put-there.com")
        words = ("sweep", "--url", server.url, "--kinds", "lost-request", "--", "pytest", "test_it.py", "-k")
        done = command(*words, "name")
        assert done.exit_code == 0, done.output
        assert "r1 v3.getDomain put-there.com  noticed" in done.stdout
        assert len(sandbox.worlds.list().worlds) == 1
        done = command(*words, "early")
        assert (done.exit_code, "exit status 7" in done.stderr) == (2, True), done.output


@pytest.mark.parametrize(
    "tested",
    [
        pytest.param(("sh", "-c", SHELL.format(view="[]").partition("echo")[0] + "true"), id="a command"),
        pytest.param(
            ("pytest", "-k", "only_reads or looks_away or is_refused", "test_programs.py"),
            marks=pytest.mark.slow,
            id="several tests",
        ),
    ],
)
def test_the_merged_parts_of_a_sweep_equal_the_whole_sweep(tested: tuple[str, ...]) -> None:
    """In the second case, one of the tests fails without a fault and is not swept."""
    program("curl")
    kinds = ("--kinds", "lost-request,lost-answer,twice,garbage", "--depth", "2", "--json")
    files = []
    for part in ("1/2", "2/2"):
        files.append(Path(f"part-{part[0]}.json"))
        files[-1].write_text(command("sweep", *kinds, "--part", part, "--", *tested).stdout)
    whole = printed("sweep", *kinds, "--", *tested)
    merged = printed("sweep", "--merge", "--json", *files)
    parts = [json.loads(file.read_text()) for file in files]
    assert sum(part["runs"] for part in parts) == whole["runs"], "the parts try the same second faults"
    for report in (whole, merged):
        for finding in report["findings"]:
            for run in (finding, *finding["also"]):
                run["file"] = run["page"] = None
    assert merged["findings"] == whole["findings"]
    assert (merged["runs"], merged["planned"]) == (whole["runs"], whole["planned"])
    refused(["sweep", "--merge", "nowhere.json"], "nowhere.json: No such file or directory")
    refused(["sweep", "--merge", str(files[1])], "the reports lack part 1/2")
