"""The bounds of worlds and journals as the command line takes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.clients import Api, Socket
from tests.worlds.control import Control, money_of


@contextmanager
def _serving(*options: str, **environment: str) -> Iterator[str]:
    """The address of a server of its own process."""
    run = "from reseller_sandbox.cli import main; main()"
    command = [sys.executable, "-c", run, "serve", "--port", "0", "--frozen", "--quiet", *options]
    named = {f"RESELLER_SANDBOX_{name}": value for name, value in environment.items()}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **named}) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()


def test_options_and_environment_bound_the_worlds() -> None:
    """Each bound is an option of ``serve`` and a variable of its environment."""
    options = ("--journal", "2", "--journal-body", "10", "--max-branches", "1")
    with _serving(*options, MAX_WORLDS="2", MAX_SNAPSHOTS="1") as url:
        socket = Socket(url)
        steer = Control(socket)
        api = Api(socket, url, "sandbox-key", "sandbox-secret")
        for _ in range(3):
            money_of(api)
        journal = steer.get("journal")
        assert (journal["kept"], journal["dropped"]) == (2, 1)
        assert journal["requests"][0]["answer"]["cut"] > 10
        steer.post("snapshots", {"name": "one"})
        assert steer.refused("POST", "snapshots", {"name": "two"})[1] == "too_many_snapshots"
        for _ in range(2):
            steer.post("history/rewind", {"request": "r2", "side": "after"})
        assert [one["name"] for one in steer.get("branches")["branches"]] == ["b2"]
        assert steer.get("worlds")["limit"] == 2
        steer.post("worlds/fork", {"name": "made"})
        assert steer.refused("POST", "worlds/fork", {})[:2] == (429, "too_many_worlds")
        socket.close()
    with _serving(WORLD_IDLE="0.2") as url:
        socket = Socket(url)
        steer = Control(socket)
        steer.post("worlds/fork", {})
        while len(steer.get("worlds")["worlds"]) > 1:
            pass  # until the idle world is gone
        socket.close()
