"""The limits of worlds and journals, set by options of ``serve`` and by the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

from tests.clients import Api, Socket
from tests.worlds.control import Control, money_of


@contextmanager
def _serving(*options: str, **environment: str) -> Iterator[str]:
    """Serve in a separate process. Yield the address."""
    command = [
        sys.executable,
        "-m",
        "reseller_sandbox",
        "serve",
        "--port",
        "0",
        "--frozen",
        "--quiet",
        *options,
    ]
    named = {f"RESELLER_SANDBOX_{name}": value for name, value in environment.items()}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **named}) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()


def test_options_and_environment_limit_worlds_and_journals() -> None:
    options = ("--journal", "2", "--journal-body", "10", "--max-branches", "1")
    with _serving(*options, MAX_WORLDS="2", MAX_SNAPSHOTS="1", WORLD_IDLE="2") as url:
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
        assert [row["name"] for row in steer.get("branches")["branches"]] == ["b2"]
        assert steer.get("worlds")["limit"] == 2
        steer.post("worlds/fork", {"name": "made"})
        assert steer.refused("POST", "worlds/fork", {})[:2] == (429, "too_many_worlds")
        while len(steer.get("worlds")["worlds"]) > 1:
            sleep(0.1)  # until the idle world is deleted
        socket.close()
