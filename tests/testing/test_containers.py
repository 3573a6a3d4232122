"""The container for tests, started by its own client, with an engine that runs the server as a process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.testing.engine import engine

SCRIPT = """
from reseller_sandbox import BadSetting
from reseller_sandbox.testing import SandboxContainer

try:
    SandboxContainer(settings={"seeed": "1"})
except BadSetting as problem:
    print(problem)
with SandboxContainer(settings={"fixture": "empty", "seed": "7"}) as container:
    sandbox = container.connect()
    print(sandbox.health.show().status, len(sandbox.names.list().names))
    print(container.control_token)
"""


@pytest.mark.slow
def test_a_container_serves_with_its_settings_and_without_rights() -> None:
    """The test waits until the server is healthy; the control token differs each time."""
    with engine() as docker:
        around = {
            "DOCKER_HOST": f"tcp://127.0.0.1:{docker.server_address[1]}",
            "TESTCONTAINERS_RYUK_DISABLED": "true",
            "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
        }
        command = [sys.executable, "-c", SCRIPT]
        env = {**os.environ, **around}
        runs = [
            subprocess.run(command, env=env, capture_output=True, text=True, timeout=240) for _ in range(2)
        ]
        assert docker.process is None
        wanted = docker.wanted
    first, second = (run.stdout.splitlines() for run in runs)
    assert first[:2] == ["seeed is not known here; the nearest is seed", "ok 0"], runs[0].stderr
    assert first[2] != second[2]
    assert wanted["Image"].startswith("reseller-sandbox:")
    settings = {"FIXTURE": "empty", "SEED": "7", "CONTROL_TOKEN": second[2]}
    assert {f"RESELLER_SANDBOX_{name}={value}" for name, value in settings.items()} == set(wanted["Env"])
    host = wanted["HostConfig"]
    assert (host["ReadonlyRootfs"], host["CapDrop"]) == (True, ["ALL"])
    assert host["SecurityOpt"] == ["no-new-privileges"]
