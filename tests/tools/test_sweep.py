"""Sweep finds what a program does not survive, and nothing in a program that is right."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox, replay
from tests.outfit import program
from tests.tools import programs
from tests.tools.running import command, is_gone, printed, refused, wait_until, with_pytest

KINDS = "lost-request,lost-answer,slow-answer,twice,garbage,rate-limited,error"

#: What is silently wrong with each program of programs.py: the trouble, and words of the finding.
WRONG: dict[str, dict[str, str]] = {
    "careful_order": {},
    "careful_renewal": {},
    "looks_after_a_loss": {},
    "only_reads": {},
    "gives_back": {},
    "asks_in_changing_order": {},
    "never_asks_the_same": {},
    "is_refused": {},
    "order_repeated_after_a_loss": {
        "lost-answer": "registration_repeated",
        "slow-answer": "registration_repeated",
        "garbage": "registration_repeated",
    },
    "order_at_any_price": {"outsiders price": "paid with 5000.00, and the price was 2500.00"},
    "renewal_repeated_after_a_loss": {
        "lost-answer": "was paid 2 times: 12.99 + 12.99",
        "slow-answer": "was paid 2 times: 12.99 + 12.99",
        "twice": "was paid 2 times: 12.99 + 12.99",
        "garbage": "was paid 2 times: 12.99 + 12.99",
        "rate-limited": "its expiry date is 2026-10-07, and 2027-10-07 without",
        "outsiders price": "paid with 25.98, and the price was 12.99",
    },
    "looks_away": {
        "lost-request": "which it has without the fault",
        "lost-answer": "lost_answer_ignored",
        "garbage": "lost_answer_ignored",
        "rate-limited": "which it has without the fault",
    },
    "paid_and_given_up": {
        "lost-request": "which it has without the fault",
        "lost-answer": "was paid, and main does not have the name",
        "slow-answer": "was paid, and main does not have the name",
        "garbage": "was paid, and main does not have the name",
        "rate-limited": "which it has without the fault",
    },
    "takes_no_for_an_answer": {
        "error System Error": "its expiry date is 2026-10-07, and 2027-10-07 without",
        "rate-limited": "its expiry date is 2026-10-07, and 2027-10-07 without",
        "outsiders price": "paid with 25.98, and the price was 12.99",
    },
    "orders_another_name_after_a_loss": {
        "lost-request": "b-example.com was paid, 10.99, and is not without",
        "lost-answer": "b-example.com was paid, 10.99, and is not without",
        "slow-answer": "b-example.com was paid, 10.99, and is not without",
        "garbage": "b-example.com was paid, 10.99, and is not without",
        "rate-limited": "b-example.com was paid, 10.99, and is not without",
    },
}

ASK = 'curl -fsS "$RESELLER_SANDBOX_URL/V2.0/domain/a.com/check" -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN"'


@pytest.fixture(autouse=True)
def _in_a_folder_with_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with_pytest(monkeypatch)
    shutil.copy(programs.__file__, "test_programs.py")


def swept(*words: str, tests: str = "test") -> dict[str, Any]:
    """Sweep the programs that fit ``tests``; return what is reported of each, by its name."""
    pytest_words = ("pytest", "-x", "-k", tests, "test_programs.py")
    found = printed("sweep", "--json", *words, "--", *pytest_words)
    return {one["test"].partition("::test_")[2]: one for one in found["sweeps"]}


def trouble(run: dict[str, Any]) -> str:
    """Name what went wrong in a run."""
    return f"{run['kind']} {run['detail']}".strip()


def test_silently_wrong_runs_are_found_and_no_others(subtests: pytest.Subtests) -> None:
    """An error that stays, such as a taken name, may lead elsewhere; an error that passes may not."""
    found = swept("--kinds", KINDS, "--outsiders")
    assert found.keys() == WRONG.keys()
    for name, expected in WRONG.items():
        with subtests.test(name):
            wrong = {trouble(run): "\n".join(run["broken"]) for run in found[name]["findings"]}
            assert wrong.keys() == expected.keys()
            assert not {kind for kind, words in expected.items() if words not in wrong[kind]}, wrong
            assert found[name]["runs"] == found[name]["planned"]
    files = [run["file"] for one in found.values() for run in one["findings"]]
    with subtests.test("each finding can be replayed"):
        assert len({*files}) == len(files) == len([*Path("capsules").rglob("*.capsule")])
        assert all(replay(file).identical for file in files[::4])
    with subtests.test("a careful program notices what people must decide"):
        failed = {trouble(run) for run in found["careful_renewal"]["others"] if run["kind"] != "error"}
        assert failed == {"twice", "outsiders balance", "outsiders price"}
    with subtests.test("a request is known by its content, whatever the order"):
        assert not found["asks_in_changing_order"]["unsteady"]
        assert not found["asks_in_changing_order"]["not reached"]
    with subtests.test("a request that never comes is reported"):
        steady = found["never_asks_the_same"]
        assert (steady["unsteady"], steady["not reached"]) == (True, steady["runs"])
    with subtests.test("refusals without any fault are reported"):
        first, second, *_ = found["is_refused"]["refused"]
        assert first.startswith("r1 v3.createDomain gold.com (gold.com is a premium name")
        assert second.startswith("r2 POST /v3/nothing/of/the/kind (")


@pytest.mark.slow
def test_careful_programs_survive_every_error_and_assumption() -> None:
    found = swept("--assumptions", "--timeout", "60", tests="careful")
    assert {name: one["findings"] for name, one in found.items()} == {
        "careful_order": [],
        "careful_renewal": [],
    }
    assert sum(one["runs"] for one in found.values()) > 150


def test_options_choose_the_runs_that_are_tried() -> None:
    program("curl")
    words = ("--kinds", "twice,garbage", "--only", "v2.domain.c*", "--assumptions", "--jobs", "2", "--json")
    found = printed(
        "sweep", *words, "--", "sh", "-c", f'{ASK}; curl -s "$RESELLER_SANDBOX_URL/v3/balance"; {ASK}'
    )
    assert [row["request"] for row in found["requests"]] == [
        "r1 v2.domain.check a.com",
        "r3 v2.domain.check a.com (2)",
    ]
    assert found["requests"][0].keys() == {"request", "twice", "garbage"}
    assert {"assumption": "v2.domain_check.avail=boolean", "came": "fine"} in found["assumptions"]
    assert not [row for row in found["assumptions"] if row["assumption"].startswith("v2.zones")]
    blind = SHELL.partition("renew ||")[0].format() + "renew; true"
    found = printed(
        "sweep", "--kinds", "rate-limited,lost-request", "--stop-at-first", "--json", "--", "sh", "-c", blind
    )
    assert (found["runs"], found["planned"], found["silently wrong"]) == (1, 2, 1)
    Path("taken").write_text("a file")
    done = command("sweep", "--kinds", "rate-limited", "--capsules", "taken/in", "--", "sh", "-c", blind)
    assert done.exit_code == 2
    assert "Not a directory" in done.stderr


def test_an_invariant_by_name_is_checked_after_each_run() -> None:
    program("curl")
    Path("holds.py").write_text(
        "def words(world):\n    return f'{world.clock.now.year} is no good'\n"
        "def raises(world):\n    assert world.accounts['main'].balance < 1, 'too much is left'\n"
    )
    for name, words in (("words", "2026 is no good"), ("raises", "AssertionError: too much is left")):
        done = command("sweep", "--invariant", f"holds:{name}", "--", "sh", "-c", ASK)
        assert (done.exit_code, f"{name}: {words}" in done.stderr) == (2, True), done.output


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


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        ('[{"name": "ACTIVE-EXAMPLE.com", "expires": "2027-10-07T00:00:00Z"}]', ""),
        ("[]", "was paid, and the program does not know of it"),
        (
            '[{"name": "active-example.com", "expires": "2028-01-15"}]',
            "expires on 2027-10-07, and the program",
        ),
        (
            '[{"name": "active-example.com"}, {"name": "active-example.com"}]',
            "2 orders of active-example.com, it says, and paid 1",
        ),
        (
            '[{"name": "active-example.com"}, {"name": "b-example.com"}]',
            "b-example.com, it says, and no account has it",
        ),
        ('["active-example.com"]', "[0]"),
        ('[{"name": "-"}]', "[0]"),
        ('[{"name": "a.com", "paid": 1}]', "[0]"),
    ],
)
def test_what_a_shell_script_reports_is_compared_with_the_registry(view: str, problem: str) -> None:
    program("curl")
    words = ("--kinds", "lost-answer", "--only", "v2.domain.renew")
    done = command("sweep", *words, "--", "sh", "-c", SHELL.format(view=view))
    assert done.exit_code == (2 if problem else 0), done.output
    assert problem in done.stderr
    assert problem or "r1 v2.domain.renew active-example.com  fine" in done.stdout, done.output


def test_a_program_that_does_not_pass_is_refused_with_its_output(subtests: pytest.Subtests) -> None:
    program("curl")
    once = f"{ASK} && test ! -e there && touch there"
    for script, problem in (
        (
            "echo out of order; exit 3",
            "out of order\nreseller-sandbox: without any fault the program does not",
        ),
        ("true", "has asked its world nothing"),
        (once, "the second time"),
    ):
        with subtests.test(problem):
            done = command("sweep", "--", "sh", "-c", script)
            assert (done.exit_code, problem in done.stderr) == (2, True), done.output


def test_wrong_options_are_refused_in_a_line(subtests: pytest.Subtests) -> None:
    for words, problem in (
        (
            ["--kinds", "lost-anser", "--", "true"],
            "there is no kind 'lost-anser'; the nearest is lost-answer",
        ),
        (["--url", "http://127.0.0.1:1", "--fixture", "empty", "--", "true"], "does not go with --url"),
        (["--world", "w1", "--", "true"], "--world goes with --url"),
        (["--invariant", "no_such:thing", "--", "true"], "no_such:thing: ModuleNotFoundError"),
        (["--invariant", "os:sep", "--", "true"], "--invariant os:sep is no function"),
        (["--account", "nobody", "--", "true"], "nobody"),
        (["--", "no-such-program"], "no-such-program cannot be run"),
        (["--", "/dev/null"], "/dev/null cannot be run"),
        ([], "missing argument"),
    ):
        with subtests.test(problem):
            refused(["sweep", *words], problem)
    assert command("sweep", "--url", "http://127.0.0.1:1", "--", "true").exit_code == 3


def test_a_running_server_lends_its_world() -> None:
    program("curl")
    with Sandbox() as sandbox, sandbox.serve() as server:
        sandbox.names.add("put-there.com")
        before = len(sandbox.worlds.list().worlds)
        script = ASK.replace("a.com/check", "put-there.com")
        done = command("sweep", "--url", server.url, "--kinds", "lost-request", "--", "sh", "-c", script)
        assert (done.exit_code, "1 run: 1 failed." in done.stdout) == (0, True), done.output
        assert len(sandbox.worlds.list().worlds) == before
        assert not sandbox.journal.find().requests


@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, "2"), (signal.SIGTERM, "1")])
def test_an_interruption_ends_the_program_too(how: signal.Signals, jobs: str) -> None:
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
