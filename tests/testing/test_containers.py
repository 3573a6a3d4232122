"""The container for tests, by its own client, with an engine that runs the server as a process."""

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
def test_a_container_of_ones_own_for_a_test() -> None:
    """It is awaited until it is well; it has no rights, its settings, and another token each time."""
    with engine() as one:
        told = {
            "DOCKER_HOST": one.address,
            "TESTCONTAINERS_RYUK_DISABLED": "true",
            "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
        }
        runs = [
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env={**os.environ, **told},
                capture_output=True,
                text=True,
                check=False,
                timeout=240,
            )
            for _ in range(2)
        ]
        assert one.process is None
        asked = one.asked
    first, second = (run.stdout.splitlines() for run in runs)
    assert first[:2] == ["seeed is not known here; the nearest is seed", "ok 0"], runs[0].stderr
    assert first[2] != second[2]
    assert asked["Image"].startswith("reseller-sandbox:")
    assert {
        "RESELLER_SANDBOX_FIXTURE=empty",
        "RESELLER_SANDBOX_SEED=7",
        f"RESELLER_SANDBOX_CONTROL_TOKEN={second[2]}",
    } == set(asked["Env"])
    host = asked["HostConfig"]
    assert (host["ReadonlyRootfs"], host["CapDrop"]) == (True, ["ALL"])
    assert host["SecurityOpt"] == ["no-new-privileges"]


def test_nothing_of_it_is_loaded_before_it_is_asked_for() -> None:
    """pytest loads the package for every test run."""
    code = "import reseller_sandbox.testing, sys; print('testcontainers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
