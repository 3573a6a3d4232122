"""The printed jobs of CI: their commands run here, in a project of a user, as the services run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from reseller_sandbox.settings import ServerSettings
from tests.deploy.conftest import deploy
from tests.installed.conftest import interpreter, run
from tests.installed.test_users_project import PROJECT
from tests.outfit import free_ports


@pytest.fixture
def checkout(wheel: Path, tmp_path: Path) -> Path:
    """A project with the wheel beside it."""
    skipped = shutil.ignore_patterns(".*", "__pycache__")
    made = Path(shutil.copytree(PROJECT, tmp_path / "billing", ignore=skipped))
    shutil.copy(wheel, made)
    return made


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The environment of a job, whose ``python`` has nothing installed."""
    run(interpreter(sys.version_info.minor) or sys.executable, "-m", "venv", str(tmp_path / "python"))
    path = f"{tmp_path / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**plain, "PATH": path}


@pytest.fixture
def port() -> str:
    """A port for the job's server: the one of the files may be taken here."""
    return str(free_ports())


def carry_out(script: str, at: Path, environment: dict[str, str]) -> str:
    """Run a whole job in one shell, as long as its session lasts; answers what it printed."""
    with subprocess.Popen(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=at,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as job:
        printed, _ = job.communicate(timeout=1000)
    assert job.returncode == 0, printed
    return printed


#: What ends the server of a job with the job, as a machine of CI does.
END = "trap 'kill $(jobs -p)' EXIT\n"


def test_the_workflow_of_actions_runs(checkout: Path, surroundings: dict[str, str], port: str) -> None:
    """It installs, serves, waits and tests, with two workers and one server."""
    told = deploy("github-actions", at=checkout).replace(str(ServerSettings.port), port)
    job: Any = yaml.safe_load(told)["jobs"]["tests"]
    steps = [step["run"] for step in job["steps"] if "run" in step and "if" not in step]
    environment = {**surroundings, **job["env"], "RESELLER_SANDBOX_PORT": port}
    printed = carry_out(END + "\n".join(steps), checkout, environment)
    assert "14 passed" in printed
    assert "/_worlds/" in (checkout / "sandbox.log").read_text("utf-8")


def test_the_job_of_gitlab_runs(checkout: Path, surroundings: dict[str, str], port: str) -> None:
    """The same."""
    told = deploy("gitlab-ci", at=checkout).replace(str(ServerSettings.port), port)
    job: Any = yaml.safe_load(told)["tests"]
    script = [*job["before_script"], *job["script"], *job["after_script"]]
    environment = {**surroundings, **job["variables"], "RESELLER_SANDBOX_PORT": port}
    printed = carry_out(END + "\n".join(script), checkout, environment)
    assert "14 passed" in printed
    assert "/_worlds/" in printed
