"""The tasks of three kinds of users pass, each in one script below ``examples``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.outfit import QUICKLY, free_ports, program

EXAMPLES = Path(__file__).parent / "examples"


def carry_out(folder: Path, *words: str) -> str:
    """Run a script in ``folder``, with the commands of this environment. Return its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*words],
        cwd=folder,
        env={**os.environ, **QUICKLY, "PATH": path},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["process", "server"])
def test_a_python_developer_tests_clients_and_apps(tmp_path: Path, mode: str) -> None:
    words = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--reseller-sandbox-mode", mode)
    script = EXAMPLES / "python_developer.py"
    assert "4 passed" in carry_out(tmp_path, sys.executable, "-m", "pytest", *words, str(script))


@pytest.mark.slow
def test_a_platform_engineer_runs_a_server_and_keeps_failures(tmp_path: Path) -> None:
    script = EXAMPLES / "platform_engineer.sh"
    assert carry_out(tmp_path, "bash", str(script), str(free_ports())).splitlines()[-1] == "done"


@pytest.mark.slow
def test_a_developer_in_php_and_node_tests_with_worlds(tmp_path: Path) -> None:
    program("php")
    program("node")
    with Sandbox() as sandbox, sandbox.serve() as server:
        script = EXAMPLES / "php_and_node_developer.sh"
        assert carry_out(tmp_path, "bash", str(script), server.url) == "php done\nnode done\n"
        assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]
