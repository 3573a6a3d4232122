"""Sweep finds what a program does not survive, and says nothing of what it does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.replaying import replay
from reseller_sandbox.tools.sweep import BadProgram, Came, SweepReport
from reseller_sandbox.tools.sweep import sweep as swept
from reseller_sandbox.tools.sweep.told import narrow
from reseller_sandbox.tools.sweep.troubles import FAULTS
from reseller_sandbox.tools.view import BadView
from tests.outfit import program
from tests.powers.test_streams import MAIN
from tests.tools import billing
from tests.tools.billing import Careful, Careless, in_process
from tests.tools.test_running import is_gone

#: Everything that goes wrong with a request, but for the many documented errors.
FEW = tuple(kind for kind in FAULTS if kind != "error")


@pytest.fixture(scope="module")
def prepared() -> Iterator[Sandbox]:
    """A sandbox as it is packaged."""
    with Sandbox() as sandbox:
        yield sandbox


def billed(kind: type[Careful], *jobs: str) -> Callable[[Sandbox], object]:
    """The billing program as a function, which does not really wait."""
    return lambda world: kind(in_process(world), rest=lambda _: None).run(*jobs)


def found(report: SweepReport) -> dict[tuple[str, str], str]:
    """What was silently wrong: the first words on it, by operation and trouble."""
    return {
        (one.trouble.request.operation if one.trouble.request else "", str(one.trouble)): one.broken[0]
        for one in report.wrong
    }


# The billing program and its planted mistakes


def test_four_mistakes_of_the_billing_program_are_found(prepared: Sandbox) -> None:
    """A blind retry, a renewal paid twice, a 429 passed over, and a price that nobody agreed to."""
    kinds = ("lost-request", "lost-answer", "twice", "rate-limited")
    told = found(swept(billed(Careless, "orders", "renewals"), prepared, kinds=kinds, outsiders=True))
    assert "registration_repeated" in told["v3.createDomain", "lost-answer"]
    assert "was paid 2 times: 12.99 + 12.99" in told["v3.renewDomain", "lost-answer"]
    assert "its expiry date is" in told["v3.renewDomain", "rate-limited"]
    assert "paid with 5000.00, and the price was 2500.00" in told["v3.createDomain", "outsiders (price)"]
    assert ("v3.renewDomain", "twice") in told
    assert not [trouble for trouble in told if trouble[0] == "v3.checkAvailability"]
    assert not [trouble for trouble in told if trouble[1] == "lost-request"]


def test_nothing_is_found_in_its_corrected_twin(prepared: Sandbox) -> None:
    """It survives each loss, waits after a 429, and fails where people have to decide."""
    orders = "v3.[cr]*Domain"
    report = swept(billed(Careful, "orders", "renewals"), prepared, kinds=FEW, outsiders=True, only=orders)
    assert found(report) == {}
    assert len(report.runs) == 4 * len(FEW) + 10
    failed = {str(one.trouble) for one in report.runs if one.came is Came.FAILED}
    assert failed == {"twice", "outsiders (balance)", "outsiders (price)"}
    assert all(one.reached for one in report.runs)


@pytest.mark.slow
def test_nothing_is_found_in_the_twin_with_any_error_and_assumption(prepared: Sandbox) -> None:
    """Each documented error of each request, and each other value of what the run rests on."""
    report = swept(billed(Careful, "orders", "renewals"), prepared, assumptions=True)
    assert found(report) == {}
    assert len(report.runs) > 150


@pytest.mark.parametrize("kind", ["careful", "careless"])
def test_the_program_by_itself_is_swept_by_the_command(kind: str, tmp_path: Path) -> None:
    """Over real connections, several runs at once; the table and the status say what came of it."""
    words = [sys.executable, billing.__file__, kind, "renewals"]
    done = command("--kinds", "lost-answer", "--only", "v3.renew*", "--jobs", "2", "--", *words)
    assert done.exit_code == (1 if kind == "careless" else 0), done.output
    assert (tmp_path / "capsules/r2-lost-answer.capsule").exists() == (kind == "careless")
    cell = "WRONG" if kind == "careless" else "fine"
    assert f"v3.renewDomain active-example.com {cell}" in " ".join(done.stdout.split()), done.output
    assert ("was paid 2 times" in done.stdout) == (kind == "careless")
    assert "2 runs: 2 " in done.stdout


def command(*words: str) -> Result:
    """What the command answers to these words, called in the test's own folder."""
    return CliRunner().invoke(main, ["sweep", *words])


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_finding_can_be_done_again_to_the_byte(prepared: Sandbox, tmp_path: Path) -> None:
    """From the file that it names; other runs leave none."""
    jobs = billed(Careless, "orders", "renewals")
    report = swept(jobs, prepared, kinds=("lost-answer",), outsiders=True, folder=tmp_path / "capsules")
    files = [one.file for one in report.wrong]
    assert len(set(files)) == len(files) == len(list((tmp_path / "capsules").iterdir()))
    for one in report.wrong:
        assert one.file is not None
        again = replay(one.file)
        assert again.identical, (str(one.trouble), again.difference)
        assert f"   reseller-sandbox open {one.file}" in report.lines()
    assert {Path(one).name for one in files if one} >= {
        "r2-lost-answer.capsule",
        "r4-outsiders-price.capsule",
    }


# Programs that are right, and programs that are wrong


def retries_and_then_looks(world: Sandbox) -> None:
    """Orders again when the answer is lost; where that is refused it looks whose the name is."""
    client = world.client(timeout=10)
    for _ in range(3):
        try:
            answer = client.post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
        except (OSError, HTTPException):
            continue
        if answer.status_code not in (429, 500):
            break
    look = client.get("/v3/domains/getDomain/a-example.com")
    assert look.status_code == 200


def forgets(world: Sandbox) -> None:
    """Orders a name and looks away."""
    try:
        world.client(timeout=10).post(
            "/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}}
        )
    except (OSError, HTTPException):
        print("never mind")


def reads(world: Sandbox) -> None:
    """Asks, changes nothing, and takes whatever comes for an answer."""
    try:
        world.client(timeout=10).get("/v3/balance")
    except (OSError, HTTPException):
        print("never mind")


def deletes(world: Sandbox) -> None:
    """Orders a name and gives it back, for its money."""
    client = world.client(timeout=10)
    client.post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
    world.outside.drop("a-example.com")


def test_to_order_again_and_then_look_is_right(prepared: Sandbox) -> None:
    """Advice on repeated orders is no finding where the name was looked at in the end."""
    assert found(swept(retries_and_then_looks, prepared, kinds=FEW)) == {}


def test_who_looks_away_is_found(prepared: Sandbox) -> None:
    """An order that is lost on either way, or refused for a while, was left undone or paid unknown."""
    told = found(swept(forgets, prepared, kinds=FEW))
    assert {trouble for _, trouble in told} == {"lost-request", "lost-answer", "garbage", "rate-limited"}
    assert "which it has without the fault" in told["v3.createDomain", "lost-request"]
    assert "lost_answer_ignored" in told["v3.createDomain", "lost-answer"]


def test_who_only_reads_cannot_be_wrong(prepared: Sandbox) -> None:
    """Nothing was paid and nothing changed."""
    assert found(swept(reads, prepared)) == {}


def test_what_was_paid_and_given_back_is_not_lost(prepared: Sandbox) -> None:
    """A refund is no loss, with a fault or without."""
    report = swept(deletes, prepared, kinds=("twice",))
    assert found(report) == {}


def gives_up_a_name(world: Sandbox) -> None:
    """Orders a name; where no answer comes it has the registry take the name back, without its money."""
    try:
        forgetful = world.client(timeout=10)
        forgetful.post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
    except (OSError, HTTPException):
        with suppress(Refused):
            world.outside.release("a-example.com")


def orders_another(world: Sandbox) -> None:
    """Orders another name where the first order is not answered."""
    client = world.client(timeout=10)
    for name in ("a-example.com", "b-example.com"):
        with suppress(OSError, HTTPException):
            answer = client.post("/v3/domains/createDomain", json={"domain": {"domainName": name}})
            if answer.status_code == 200:
                return


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (gives_up_a_name, "the registration of a-example.com was paid, and main does not have the name"),
        (orders_another, "the registration of b-example.com was paid, 10.99, and is not without the fault"),
    ],
)
def test_what_is_paid_is_had_and_wanted(
    prepared: Sandbox, function: Callable[[Sandbox], None], words: str
) -> None:
    """A name that was paid for is there, and it is one that was wanted."""
    [run] = swept(function, prepared, kinds=("lost-answer",)).wrong
    assert words in run.broken


def test_another_name_may_be_ordered_where_the_first_is_taken(prepared: Sandbox) -> None:
    """An error that stays, and other people, lead elsewhere; that is no mistake."""
    report = swept(orders_another, prepared, kinds=("error",), outsiders=True)
    lasting = [one for one in report.wrong if one.trouble.kind == "error" or one.trouble.detail == "taken"]
    assert lasting == []
    taken = [one for one in report.runs if one.trouble.detail in ("name_taken", "taken")]
    assert [one.came for one in taken] == [Came.FINE, Came.FINE]


def test_an_error_that_passes_must_not_leave_things_undone(prepared: Sandbox) -> None:
    """Others may be news: the name is taken, say, and a program may end well with that."""

    def takes_no_for_an_answer(world: Sandbox) -> None:
        renewal = {"period": 1, "current_expiry_date": "2026-10-07"}
        world.client().put("/V2.0/domain/active-example.com/renew", json=renewal)

    told = found(swept(takes_no_for_an_answer, prepared, kinds=("error",)))
    assert {trouble for _, trouble in told} == {"error (System Error)"}


# What a program says that it has


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], "was paid, and the program does not know of it"),
        ([{"name": "a-example.com"}], ""),
        ([{"name": "A-EXAMPLE.com", "expires": "2027-01-15T12:00:00Z"}], ""),
        ([{"name": "a-example.com", "expires": "2028-01-15"}], "expires on 2027-01-15, and the program says"),
        (
            [{"name": "a-example.com"}, {"name": "a-example.com"}],
            "2 orders of a-example.com, it says, and paid 1",
        ),
        (
            [{"name": "a-example.com"}, {"name": "b-example.com"}],
            "b-example.com, it says, and no account has it",
        ),
    ],
)
def test_what_a_program_says_is_held_against_the_registry(
    prepared: Sandbox, said: list[dict[str, str]], words: str
) -> None:
    """A name without its order, an order without its name, another day: even where nothing went wrong."""

    def orders(world: Sandbox) -> list[dict[str, str]]:
        world.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
        return said

    if not words:
        assert swept(orders, prepared, kinds=("twice",)).wrong == []
        return
    with pytest.raises(BadProgram, match=words):
        swept(orders, prepared, kinds=())


@pytest.mark.parametrize("said", [["a-example.com"], [{}], [{"name": "-"}], [{"name": "a.com", "paid": 1}]])
def test_what_cannot_be_read_of_that_is_refused_with_its_place(prepared: Sandbox, said: list[Any]) -> None:
    """In a function's result, and in the file of a command."""
    with pytest.raises(BadView, match=r"\[0\]"):
        swept(lambda _: said, prepared)
    script = f"echo '{json.dumps(said)}' > $RESELLER_SANDBOX_VIEW"
    done = command("--", "sh", "-c", script)
    assert (done.exit_code, "[0]" in done.stderr) == (2, True), done.output


# What is tried


def test_only_some_kinds_and_operations_are_tried(prepared: Sandbox) -> None:
    """As they are named; the other requests happen as usual."""
    report = swept(retries_and_then_looks, prepared, kinds=("twice", "garbage"), only="v3.get*")
    assert [(str(one.trouble.request), one.trouble.kind) for one in report.runs] == [
        ("v3.getDomain a-example.com", "twice"),
        ("v3.getDomain a-example.com", "garbage"),
    ]


def test_a_request_is_known_by_its_name_and_its_number(prepared: Sandbox) -> None:
    """Each is struck, and no other, in whatever order workers send them."""
    turns = iter(range(100))

    def asks(world: Sandbox) -> None:
        client = world.client(timeout=10)
        names = ("a-example.com", "b-example.com")
        for name in names if next(turns) % 2 else names[::-1]:
            for _ in range(2):
                with suppress(OSError):
                    client.post("/v3/domains/checkAvailability", json={"domainNames": [name]})
        seen.append([(one.domains[0], bool(one.fault)) for one in world.journal.find().requests])

    seen: list[list[tuple[str, bool]]] = []
    report = swept(asks, prepared, kinds=("slow-answer",))
    assert not report.unsteady
    assert [str(one)[21:] for one in report.requests] == [
        "b-example.com",
        "b-example.com (2)",
        "a-example.com",
        "a-example.com (2)",
    ]
    struck = [[(name, at % 2) for at, (name, fault) in enumerate(run) if fault] for run in seen]
    assert struck[2:] == [[(one.record.domains[0], one.nth - 1)] for one in report.requests]


def test_the_first_silently_wrong_run_can_be_the_last(prepared: Sandbox) -> None:
    """The report says how many were not tried."""
    report = swept(forgets, prepared, kinds=FEW, stop_at_first=True)
    assert [one.came for one in report.runs] == [Came.WRONG]
    assert f"{len(FEW) - 1} more were not tried." in report.lines()


def test_several_runs_at_once_find_the_same(prepared: Sandbox) -> None:
    """In the same order."""
    one, other = (swept(forgets, prepared, kinds=FEW, jobs=jobs) for jobs in (1, 3))
    assert [(str(run.trouble), run.came, run.broken) for run in one.runs] == [
        (str(run.trouble), run.came, run.broken) for run in other.runs
    ]


def test_every_other_value_of_what_the_run_rested_on_is_tried(prepared: Sandbox) -> None:
    """And of nothing else."""
    with prepared.fork() as world:
        forgets(world)
        rested = {name for one in world.journal.find().requests for name in one.assumptions}
    report = swept(forgets, prepared, kinds=(), assumptions=True)
    assert {one.trouble.detail.partition("=")[0] for one in report.runs} <= rested
    assert "v3.create.locked=always" in {one.trouble.detail for one in report.runs}


@pytest.mark.parametrize("before", [False, True])
def test_others_act_right_before_an_order(prepared: Sandbox, before: bool) -> None:
    """Be it the first request or a later one; what nobody can do is not tried."""
    seen = []

    def orders(world: Sandbox) -> None:
        client = world.client()
        if before:
            client.get("/v3/balance")
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
        seen.append(world.journal.find().requests[-1].refused)

    report = swept(orders, prepared, kinds=(), outsiders=True)
    assert [one.trouble.detail for one in report.runs] == ["balance", "price", "taken"]
    assert [one.reached for one in report.runs] == [True, True, True]
    assert ["0.00 USD" in str(seen[-3]), "21.98" in str(seen[-2]), "registered already" in str(seen[-1])] == [
        True
    ] * 3


def test_a_narrow_terminal_is_shown_every_column(prepared: Sandbox) -> None:
    """In lines, a request after another; the table itself is the same."""
    report = swept(forgets, prepared, kinds=("lost-request", "error"), outsiders=True)
    first, *lines = narrow(report.tables())
    assert first == "r1 v3.createDomain a-example.com"
    assert all(line.startswith("  ") and len(line) < 80 for line in lines)
    [row] = report.tables()["requests"]
    assert " ".join(" ".join(lines).split()) == ", ".join(
        f"{name} {cell}" for name, cell in list(row.items())[1:]
    )


def test_an_error_is_named_without_what_is_filled_in(prepared: Sandbox) -> None:
    """The texts of v2.0 have blanks, which nobody wants to read."""

    def asks(world: Sandbox) -> None:
        world.client().get("/V2.0/domain/active-example.com")

    details = [one.trouble.detail for one in swept(asks, prepared, kinds=("error",)).runs]
    assert "Object not found …" in details
    assert not [one for one in details if "{" in one]


def test_what_is_refused_without_any_fault_is_told(prepared: Sandbox) -> None:
    """A program that passes over refusals has little to be swept, and nobody would know."""

    def asks(world: Sandbox) -> None:
        client = world.client()
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": "gold.com"}})
        client.post("/v3/nothing/of/the/kind")
        client.get("/v3/balance")

    report = swept(asks, prepared, kinds=["lost-answer"], only="v3.balance")
    first, second = report.json()["refused"]
    assert first.startswith("r1 v3.createDomain gold.com (gold.com is a premium name")
    assert second.startswith("r2 POST /v3/nothing/of/the/kind (")
    assert f"Refused without any fault: {first}; {second}" in report.lines()

    def asks_amiss(world: Sandbox) -> None:
        for _ in range(5):
            world.client().get("/v3/nothing")

    counted, told = swept(asks_amiss, prepared).lines()
    assert counted == "0 runs: nothing to try."
    assert told.endswith("; and 2 more")
    fine = swept(lambda world: world.client().get("/v3/balance"), prepared, kinds=["twice"])
    assert not any("Refused" in line for line in fine.lines())


def test_a_fault_that_is_never_reached_is_told(prepared: Sandbox) -> None:
    """A program that asks something else each time is not compared with its first run."""
    turns = iter(range(100))

    def asks_anything(world: Sandbox) -> None:
        names = [f"a{next(turns)}-example.com" for _ in range(2)]
        for name in names:
            world.client().get(f"/V2.0/domain/{name}/check")

    report = swept(asks_anything, prepared, kinds=("lost-request",), only="v2.domain.check")
    assert report.unsteady
    assert "did not ask the same" in "\n".join(report.lines())


# What else a user can want to hold


def nobody_is_poor(world: Sandbox) -> str | None:
    """An invariant: it is told in words, or with assert."""
    return "main is poor" if world.accounts["main"].balance < 9980 else None


def something_is_left(world: Sandbox) -> None:
    """An invariant that raises."""
    assert world.accounts["main"].balance >= 9980, "too little is left"


@pytest.mark.parametrize(
    ("invariant", "words"),
    [(nobody_is_poor, "main is poor"), (something_is_left, "AssertionError: too little is left")],
)
def test_invariants_of_the_users_own_hold_too(
    prepared: Sandbox, invariant: Callable[[Sandbox], str | None], words: str
) -> None:
    """They get the run's world, by any door."""

    def renews(world: Sandbox) -> None:
        world.client().post("/v3/domains/renewDomain/active-example.com")

    report = swept(renews, prepared, kinds=("twice",), invariants=[invariant])
    assert report.wrong[0].broken[-1].startswith(f"{invariant.__name__}: {words}")


def test_the_command_takes_invariants_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the folder it is called in."""
    (tmp_path / "holds.py").write_text("def never(world):\n    return f'{world.clock.now.year} is no good'\n")
    monkeypatch.chdir(tmp_path)
    program("curl")
    done = command("--invariant", "holds:never", "--", "sh", "-c", ASK)
    assert (done.exit_code, "never: 2026 is no good" in done.stderr) == (2, True), done.output


# Programs that cannot be swept, and words that cannot be used


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo out of order; exit 3",
            "out of order\nreseller-sandbox: without any fault the program does not pass",
        ),
        ("true", "has asked its world nothing"),
    ],
)
def test_a_program_that_does_not_pass_is_told_with_its_output(script: str, words: str) -> None:
    """Nothing is swept then."""
    done = command("--", "sh", "-c", script)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_program_that_passes_once_alone_is_told(prepared: Sandbox) -> None:
    """What one run has left must not be there in the next."""
    turns = iter(range(100))

    def once(world: Sandbox) -> None:
        world.client().get("/v3/balance")
        assert next(turns) == 0

    with pytest.raises(BadProgram, match="the second time"):
        swept(once, prepared)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["--kinds", "lost-anser", "--", "true"],
            "there is no kind 'lost-anser'; the nearest is lost-answer",
        ),
        (
            ["--url", "http://127.0.0.1:1", "--fixture", "empty", "--", "true"],
            "--fixture does not go with --url",
        ),
        (["--world", "w1", "--", "true"], "--world goes with --url"),
        (["--invariant", "no_such:thing", "--", "true"], "--invariant no_such:thing: ModuleNotFoundError"),
        (["--invariant", "os:sep", "--", "true"], "--invariant os:sep is no function"),
        (["--account", "nobody", "--", "true"], "nobody"),
        (["--", "no-such-program"], "no-such-program cannot be run"),
        ([], "missing argument"),
    ],
)
def test_words_that_cannot_be_used_are_refused_in_a_line(words: list[str], problem: str) -> None:
    """With 2, and before anything is run."""
    done = command(*words)
    assert done.exit_code == 2, done.output
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """In a line, with its path."""
    (tmp_path / "taken").write_text("a file")
    words = [sys.executable, billing.__file__, "careless", "renewals"]
    done = command("--capsules", str(tmp_path / "taken" / "in"), "--kinds", "twice", "--", *words)
    assert (done.exit_code, "Not a directory" in done.stderr) == (2, True), done.output


@pytest.mark.parametrize("tool", ["sweep", "explore"])
def test_help_on_a_tool_loads_no_sandbox(tool: str) -> None:
    """So that it comes at once."""
    code = f"""
import sys
from reseller_sandbox.cli import main
try:
    main(["{tool}", "--help"])
except SystemExit:
    print([name for name in ("flask", "marshmallow", "yaml") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_fields_are_checked_in_python_too(prepared: Sandbox) -> None:
    """A kind that there is not."""
    with pytest.raises(BadSetting, match="lost-answer"):
        swept(forgets, prepared, kinds=("lost-answers",))


def test_no_server_at_the_address_ends_with_three() -> None:
    """As with every command that calls one."""
    assert command("--url", "http://127.0.0.1:1", "--", "true").exit_code == 3


# A shell script, a server that runs already, and an end before the end

SCRIPT = """
api() { curl -sS --max-time 1 -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN" "$@"; }
name="$RESELLER_SANDBOX_URL/V2.0/domain/active-example.com"
renew() {
  api -X PUT "$name/renew" -H 'Content-Type: application/json' \\
    --data "{\\"period\\": 1, \\"current_expiry_date\\": \\"$1\\"}" | grep -q '"code":200'
}
expires() { api "$name" | grep -o '"date_end":"[0-9-]*' | cut -d'"' -f4; }
"""

#: One asks for the expiry date anew before it renews again; the other sends the date that it knew before.
BLIND = SCRIPT + 'renew "$(expires)" || renew "$(expires)"\n'
SEEING = SCRIPT + 'renew 2026-10-07 || renew 2026-10-07 || test "$(expires)" = 2027-10-07\n'

#: A question that takes a refusal, or no answer, for a failure.
ASK = 'curl -fsS "$RESELLER_SANDBOX_URL/V2.0/domain/a.com/check" -H "X-Auth-Token: $RESELLER_SANDBOX_TOKEN"'


@pytest.mark.parametrize(("script", "status"), [(BLIND, 1), (SEEING, 0)])
def test_a_shell_script_with_curl_is_swept(tmp_path: Path, script: str, status: int) -> None:
    """The one that asks for the date anew pays twice when its answer is lost."""
    program("curl")
    (tmp_path / "renew.sh").write_text(script)
    words = ["--kinds", "lost-answer", "--only", "v2.domain.renew", "--json"]
    done = command(*words, "--", "sh", str(tmp_path / "renew.sh"))
    assert done.exit_code == status, done.output
    told = json.loads(done.stdout)
    assert [one["kind"] for one in told["findings"]] == ["lost-answer"] * status
    assert told["runs"] == 1


def test_a_server_that_runs_already_lends_its_world(prepared: Sandbox) -> None:
    """The sweep leaves nothing there."""
    program("curl")
    with prepared.serve() as server:
        before = len(prepared.worlds.list().worlds)
        done = command("--url", server.url, "--kinds", "lost-request", "--", "sh", "-c", ASK)
        assert (done.exit_code, "1 run: 1 failed." in done.stdout) == (0, True), done.output
        assert len(prepared.worlds.list().worlds) == before


@pytest.mark.parametrize(("how", "jobs"), [(signal.SIGINT, "2"), (signal.SIGTERM, "1")])
def test_an_interruption_ends_the_program_too(tmp_path: Path, how: signal.Signals, jobs: str) -> None:
    """As soon as it comes, with all that the program has begun."""
    program("curl")
    script = f"""
{ASK} && exit 0
echo $$ > {tmp_path}/own; sleep 600"""
    words = [sys.executable, "-c", MAIN, "sweep", "--jobs", jobs, "--kinds", "lost-request"]
    running = subprocess.Popen(
        [*words, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    mark = tmp_path / "own"
    while not (mark.exists() and mark.read_text()):
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    running.send_signal(how)
    _, said = running.communicate(timeout=60)
    assert running.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how], said
    assert b"Traceback" not in said
    assert is_gone(int(mark.read_text())), "the program goes on"
