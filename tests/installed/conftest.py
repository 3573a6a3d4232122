"""The wheel, and environments of other Pythons with the wheel and its dependencies at the pins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).parents[2]

#: A project of a user, with its code, its tests and its settings.
PROJECT = ROOT / "tests" / "examples" / "billing"

INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")

#: Packages that users have beside the wheel.
USED = ("pytest", "pytest-xdist", "httpx", "mypy", "jsonschema-rs")

#: The minor versions of the supported Pythons.
MINORS = (11, 12, 13, 14)


@cache
def interpreter(minor: int) -> str | None:
    """Return a Python 3.``minor``: this one, or one in the path or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    pythons = map(str, sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python")))
    for python in (sys.executable, shutil.which(f"python3.{minor}"), *pythons):
        question = [str(python), "-c", "import sys; print(*sys.version_info[:2])"]
        if python and subprocess.run(question, capture_output=True).stdout.split() == [b"3", b"%d" % minor]:
            return python
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that have ``python`` with each of the Pythons."""
    if "python" in metafunc.fixturenames:
        names = [f"3.{minor}" for minor in MINORS]
        metafunc.parametrize("python", MINORS, ids=names, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session", autouse=True)
def _patient_installs() -> Iterator[None]:
    """Let no test fail because a registry of packages is slow, or away for a minute. Compile on import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_RETRIES", "8")  # with pauses that double up to half a minute
        patch.setenv("PIP_DEFAULT_TIMEOUT", "60")
        patch.setenv("PIP_NO_COMPILE", "1")
        yield


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the workers of the run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def wheel(common: Path) -> Path:
    """The project's wheel, the same for all workers of the run."""
    folder = common / "wheel"
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    once(folder, lambda: output_of(*build, at=ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def environment_of(wheel: Path, common: Path) -> Callable[[int], Path]:
    """Makes an environment of a Python 3.``minor`` once in a run. Returns its interpreter."""

    @cache
    def made(minor: int) -> Path:
        base = interpreter(minor)
        if base is None:
            pytest.skip(f"there is no Python 3.{minor} on this machine")
        folder = common / f"python3.{minor}"
        python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"

        def make() -> None:
            output_of(base, "-m", "venv", "--clear", folder)
            pins = folder / "pins.txt"
            pins.write_text("\n".join(locked()))
            output_of(python, *INSTALL, "-c", pins, wheel, *USED)

        once(folder, make)
        return python

    return made


def once(folder: Path, make: Callable[[], object]) -> None:
    """Have one worker of the run make ``folder``. The others wait, and try again after a failure."""
    whole = folder.with_name(f"{folder.name}.whole")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            make()
            whole.touch()


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest, environment_of: Callable[[int], Path]) -> Path:
    return environment_of(request.param)


def locked() -> list[str]:
    """Return a pin for each package that the project runs with."""
    return re.findall(r"^[\w.-]+==[^\s;\\]+", (ROOT / ".requirements.lock").read_text("utf-8"), re.MULTILINE)


def deploy(*words: str, at: Path) -> str:
    """Return what ``deploy`` prints in a folder."""
    return output_of(sys.executable, "-m", "reseller_sandbox", "deploy", *words, at=at)


def output_of(*command: str | Path, at: Path | None = None, **environment: str) -> str:
    """Run a command without this working tree in its path. Return its output."""
    variables = {**os.environ, "PYTHONPATH": "", **environment}
    done = subprocess.run(
        command, cwd=at, env=variables, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
