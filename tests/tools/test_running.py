"""Programs are run against worlds of their own: commands in any language, and Python functions."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.manual.pages import FOLDER
from reseller_sandbox.remote import There
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.environment import KEY, environment
from reseller_sandbox.tools.ground import Ground, ground_at, own_ground
from reseller_sandbox.tools.hearing import TOLD, Hearing, say_to_tool
from reseller_sandbox.tools.running import CommandProgram, FunctionProgram
from tests.outfit import program


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """A prepared world with a server."""
    with own_ground({}) as made:
        yield made


def ran(ground: Ground, *words: str, timeout: float = 60.0) -> tuple[int | None, str]:
    """What became of a command in a world of its own."""
    with ground.world() as world, CommandProgram(words, ground, timeout=timeout) as command:
        ended = command(world)
    return ended.status, ended.output


@pytest.mark.parametrize("account", ["main", "other"])
def test_a_shell_script_finds_its_world_and_who_it_is(ground: Ground, account: str) -> None:
    """Curl reaches the run's world, under its address and with its token; the prepared world sees nothing."""
    program("curl")
    line = 'curl -sS "$RESELLER_SANDBOX_URL/V2.0/domain/free-example.com/check" -H "X-Auth-Token: $T"'
    name = {"main": "", "other": "_OTHER"}[account]
    with (
        ground.world() as world,
        CommandProgram(["sh", "-c", line.replace("$T", f"$RESELLER_SANDBOX_TOKEN{name}")], ground) as command,
    ):
        ended = command(world)
        seen = [(one.operation, one.account) for one in world.journal.find().requests]
    assert ended.passed, ended.output
    assert '"avail":"true"' in ended.output
    assert seen == [("v2.domain.check", account)]
    assert not ground.prepared.journal.find().requests


def test_the_commands_of_this_project_act_in_the_world_of_the_run(ground: Ground) -> None:
    """They take the same variables: a script that is run may move its clock, and sign its requests."""
    script = "reseller-sandbox clock advance P1D --json && reseller-sandbox request GET /v3/balance"
    with ground.world() as world, CommandProgram(["sh", "-c", script], ground) as command:
        before = world.clock.now
        ended = command(world)
        assert ended.passed, ended.output
        assert (world.clock.now - before).days == 1
        assert [one.operation for one in world.journal.find().requests] == ["v3.balance"]


def test_a_program_reaches_its_sandbox_by_the_address_of_its_world(ground: Ground) -> None:
    """``connect`` takes the address that a run is told; a world that is named beside it counts."""
    with ground.world() as world, ground.world() as another:
        url = f"{ground.url}/_worlds/{world.door.name}"
        assert connect(url).door.name == world.door.name
        assert connect(f"{url}/").door.name == world.door.name
        assert connect(url, world=another.door.name).door.name == another.door.name


def test_the_manual_tells_of_every_variable(ground: Ground) -> None:
    """Its table has each that a program finds, and no other; one account stands for all of them."""
    with ground.world() as world:
        told = environment(ground, world, "main", Path("view.json"))
    names = {one.name.upper() for one in ground.prepared.accounts.list().accounts}
    own = {name for name in told if not any(name.endswith(f"_{one}") for one in names)}
    page = (FOLDER / "how-to/sweep.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `RESELLER_SANDBOX_")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == own | {f"{KEY}_OTHER"}
    assert f"{KEY}_OTHER" in told


def test_a_guarded_server_is_told_to_the_program_with_what_lets_it_in(ground: Ground) -> None:
    """The control token and the authority to trust, in the variables that the commands take."""
    guarded = Ground(ground.prepared, ground.url, "a-token", "file.pem")
    with ground.world() as world:
        told = environment(guarded, world, "main", Path("view.json"))
    assert told["RESELLER_SANDBOX_CONTROL_TOKEN"] == "a-token"
    assert told["RESELLER_SANDBOX_CA"] == "file.pem"


def test_two_runs_draw_the_same_codes(ground: Ground) -> None:
    """Each run begins in the same world, which answers the same to the same requests."""
    exports = []
    for _ in range(2):
        with ground.world() as world:
            world.client().post("/v3/domains/createDomain", json={"domain": {"domainName": "a-example.com"}})
            exports.append(world.names.get("a-example.com"))
    assert exports[0] == exports[1]


def test_what_a_program_says_of_its_tests_is_heard(ground: Ground) -> None:
    """By lines in a file, each test once; the plugin of pytest writes them."""
    line = """echo '{"tests": ["one", "two"]}' >> "$RESELLER_SANDBOX_TOLD"; """
    with ground.world() as world, CommandProgram(["sh", "-c", line * 2], ground) as command:
        assert command(world).tests == ("one", "two")


def test_a_line_is_heard_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads in the middle of it reads it later; without a tool nothing is said."""
    hearing = Hearing(tmp_path / "told")
    say_to_tool(ran="nobody listens")
    assert list(hearing.news()) == []
    monkeypatch.setenv(TOLD, str(tmp_path / "told"))
    say_to_tool(ran="first")
    with (tmp_path / "told").open("a") as file:
        file.write('{"ran": "sec')
    assert list(hearing.news()) == [{"ran": "first"}]
    with (tmp_path / "told").open("a") as file:
        file.write('ond"}\n')
    assert list(hearing.news()) == [{"ran": "second"}]


def test_a_command_fails_with_its_own_status_and_words(ground: Ground) -> None:
    """Both outputs are kept, in their order."""
    assert ran(ground, "sh", "-c", "echo out; echo err >&2; exit 7") == (7, "out\nerr\n")


def test_of_much_output_the_end_is_kept(ground: Ground) -> None:
    """A program may write as much as it likes."""
    status, output = ran(ground, sys.executable, "-c", "print('x' * 10**6); print('end')")
    assert status == 0
    assert output.endswith("xx\nend\n")
    assert len(output) < 10**5


def test_a_command_that_takes_too_long_is_ended_with_what_it_began(ground: Ground, tmp_path: Path) -> None:
    """Its children, too; the run has no status."""
    child = tmp_path / "child"
    script = f"sleep 600 & echo $! > {child}; wait"
    for timeout in (0.5, 5.0, 50.0):  # until it has begun its child by then
        assert ran(ground, "sh", "-c", script, timeout=timeout)[0] is None
        if child.exists() and child.read_text():
            break
    assert is_gone(int(child.read_text()))


def test_what_a_program_leaves_running_is_ended(ground: Ground, tmp_path: Path) -> None:
    """A job in the background does not outlive its run."""
    assert ran(ground, "sh", "-c", f"sleep 600 & echo $! > {tmp_path}/child") == (0, "")
    assert is_gone(int((tmp_path / "child").read_text()))


def test_ending_the_runner_ends_what_runs(ground: Ground, tmp_path: Path) -> None:
    """As Ctrl-C does while runs go on in several threads."""
    command = CommandProgram(["sh", "-c", f"echo $$ > {tmp_path}/own; sleep 600"], ground)
    with ground.world() as world:
        thread = threading.Thread(target=command, args=(world,))
        with command:
            thread.start()
            while not (tmp_path / "own").exists() or not (tmp_path / "own").read_text():
                time.sleep(0.01)
        thread.join(60)
        assert not thread.is_alive()
    assert is_gone(int((tmp_path / "own").read_text()))


def is_gone(process: int) -> bool:
    """Whether a process has ended, or does so soon; one that nobody has asked after counts as ended."""
    latest = stopwatch() + 60
    while stopwatch() < latest:
        try:
            os.kill(process, 0)
            if " Z " in Path(f"/proc/{process}/stat").read_text():
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("words", [["no-such-program-here"], [os.devnull], ["a\0b"]])
def test_a_command_that_cannot_be_begun_is_refused_in_words(ground: Ground, words: list[str]) -> None:
    """A missing program, a file that is none, a name that cannot be one."""
    with pytest.raises(BadSetting, match="cannot be run"):
        ran(ground, *words)


def test_an_account_that_is_not_there_is_refused_in_words(ground: Ground) -> None:
    """Its name is told."""
    with ground.world() as world, pytest.raises(BadSetting, match="nobody"):
        CommandProgram(["true"], ground, account="nobody")(world)


def test_a_server_that_runs_already_lends_its_world(ground: Ground) -> None:
    """Each run has a fork of it as it was, and all are gone in the end."""
    with ground.prepared.fork() as theirs, ground.prepared.serve() as server:
        theirs.names.add("prepared-example.com", account="main")
        count = len(ground.prepared.worlds.list().worlds)
        door = There(server.url, theirs.door.name)
        with ground_at(door) as there, there.world() as world:
            assert world.names.get("prepared-example.com").account == "main"
            assert world.door.name != theirs.door.name
        assert len(ground.prepared.worlds.list().worlds) == count


def test_a_function_is_a_program() -> None:
    """What it raises is told with its place."""

    def pays(world: Sandbox) -> None:
        world.client().post("/v3/domains/renewDomain/active-example.com")

    def fails(_: Sandbox) -> None:
        raise ValueError("a bad day")

    with Sandbox() as sandbox, sandbox.fork() as world:
        assert FunctionProgram(pays)(world).passed
        assert [one.operation for one in world.journal.find().requests] == ["v3.renewDomain"]
        ended = FunctionProgram(fails)(world)
    assert (ended.status, ended.output.splitlines()[-1]) == (1, "ValueError: a bad day")
    assert "test_running.py" in ended.output
