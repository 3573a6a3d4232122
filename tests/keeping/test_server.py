"""``serve --keep``: the worlds of a server are there again when it is started the next time."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.keeping.worlds import opened
from reseller_sandbox.sources import from_file
from tests.clients import Api, Socket

COMMAND = (sys.executable, "-m", "reseller_sandbox.cli", "serve", "--port", "0", "--quiet")


@contextmanager
def serving(path: Path, *options: str, end: int = signal.SIGTERM) -> Iterator[Sandbox]:
    """A server that keeps its worlds in a file; at the end it gets a signal."""
    command = [*COMMAND, "--keep", str(path), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().split()[-1]
        sandbox = connect(url)
        try:
            yield sandbox
        finally:
            sandbox.close()
            server.send_signal(end)
            server.stdout.read()


def ask(sandbox: Sandbox, method: str, target: str, body: Any = None) -> int:
    """The status that the account ``main`` of a served world gets over a socket."""
    url = sandbox.door.url  # type: ignore[attr-defined]
    account, socket = sandbox.accounts.get("main"), Socket(url)
    status = Api(socket, url, account.key, account.secret).call(method, target, body).status
    socket.close()
    return status


def register(sandbox: Sandbox, name: str) -> int:
    """The status of the registration of a name."""
    return ask(sandbox, "POST", "/v3/domains/createDomain", {"domain": {"domainName": name}})


def wait_for(path: Path, requests: int) -> None:
    """Wait until the file holds so many requests of the default world."""
    latest = stopwatch() + 60
    while stopwatch() < latest:
        if path.exists() and opened(path).worlds[0].moment.requests >= requests:
            return
        sleep(0.1)
    raise AssertionError(f"{path} has not been written")


@pytest.mark.slow
def test_worlds_are_there_again_after_a_restart(tmp_path: Path) -> None:
    """With credentials, clock, faults, journal, snapshots and plans: nothing is missing after a signal."""
    path = tmp_path / "worlds"
    with serving(path, "--frozen") as one:
        fork = one.fork(name="side", assume={"requests.unknown_keys": "refused"})
        fork.clock.advance("3d")
        assert register(fork, "kept.com") == 200
        fork.snapshot("before")
        fork.faults.preset("maintenance")
        fork.outside.when("P1D").register("planned.com")
        assert ask(fork, "GET", "/v3/balance") == 503
        told = fork.export(), [entry.id for entry in fork.journal.find().requests], fork.clock.now
    with serving(path) as two:
        side = connect(two.door.url, world="side")  # type: ignore[attr-defined]
        assert (side.export(), [entry.id for entry in side.journal.find().requests], side.clock.now) == told
        assert ask(side, "GET", "/v3/balance") == 503
        side.faults.clear()
        assert ask(side, "GET", "/v3/domains/getDomain/kept.com") == 200
        assert [one.name for one in side.snapshots.list().snapshots] == ["before"]
        assert two.fork().door.name != "side"


@pytest.mark.slow
def test_killed_it_goes_on_from_the_last_whole_save(tmp_path: Path) -> None:
    """What was done a second or two before is there, and the books balance."""
    path = tmp_path / "worlds"
    with serving(path, end=signal.SIGKILL) as one:
        assert [register(one, f"k{number}.com") for number in range(5)] == [200] * 5
        wait_for(path, 5)
        ask(one, "GET", "/v3/balance")
    with serving(path) as two:
        world = opened(path).worlds[0]
        assert world.moment.requests in (5, 6)
        assert ask(two, "GET", "/v3/domains/getDomain/k4.com") == 200


@pytest.mark.slow
def test_one_server_keeps_its_worlds_in_a_file(tmp_path: Path) -> None:
    """Another one does not start with it; nor does any with a damaged file, which stays as it is."""
    path = tmp_path / "worlds"
    with serving(path):
        refused(path, "another server keeps its worlds in")
    path.write_bytes(path.read_bytes()[:-30])
    content = path.read_bytes()
    refused(path, "the file ends")
    assert path.read_bytes() == content
    refused(tmp_path / "no" / "folder", "No such file or directory")


def refused(path: Path, said: str) -> None:
    """Assert that a server does not start with that file, and says why in one line."""
    done = subprocess.run([*COMMAND, "--keep", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert said in done.stderr
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_named_in_a_pyproject_stands_beside_it(tmp_path: Path) -> None:
    """Before it is there, too, and from wherever below the server is started."""
    (tmp_path / "pyproject.toml").write_text('[tool.reseller_sandbox]\nkeep = "worlds"\n')
    assert from_file(tmp_path / "below")["keep"] == str(tmp_path / "worlds")
