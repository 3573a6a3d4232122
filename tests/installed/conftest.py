"""The wheel, and environments of other Pythons that it is installed in, with what it needs at the pins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

if sys.platform != "win32":
    import fcntl

ROOT = Path(__file__).parents[2]

#: What users have beside the wheel.
USED = ("pytest", "pytest-xdist", "httpx", "mypy", "jsonschema-rs")

#: The Pythons that the project is for. Each is looked for on this machine.
MINORS = (11, 12, 13, 14)


@cache
def interpreter(minor: int) -> str | None:
    """A Python 3.``minor`` of this machine: this one, one of the path's, one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    known = [
        sys.executable,
        shutil.which(f"python3.{minor}"),
        *map(str, sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python"))),
    ]
    return next((one for one in known if one is not None and _is(one, minor)), None)


def _is(python: str, minor: int) -> bool:
    asked = [python, "-c", "import sys; print(*sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, check=False).stdout.split() == [b"3", b"%d" % minor]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for ``python`` with each of the Pythons."""
    if "python" in metafunc.fixturenames:
        names = [f"3.{minor}" for minor in MINORS]
        metafunc.parametrize("python", MINORS, ids=names, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here takes long."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(1200))


@pytest.fixture(scope="session", autouse=True)
def _patient_installs() -> Iterator[None]:
    """A registry of packages that is away for a minute, or slow, makes no test fail."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_RETRIES", "8")  # with pauses that double up to half a minute
        patch.setenv("PIP_DEFAULT_TIMEOUT", "60")
        yield


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the run, which its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def wheel(common: Path) -> Path:
    """The project's wheel, one for all workers of the run: whatever is tried with it is the same."""
    folder = common / "wheel"
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    once(folder, lambda: run(*build, at=ROOT))
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
            run(base, "-m", "venv", "--clear", str(folder))
            pins = folder / "pins.txt"
            pins.write_text("\n".join(locked()))
            install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            run(*install, "-c", str(pins), str(wheel), *USED)

        once(folder, make)
        return python

    return made


def once(folder: Path, make: Callable[[], object]) -> None:
    """Have one worker of the run make ``folder``; the others wait, and try where it has failed."""
    whole = folder.with_name(f"{folder.name}.whole")
    with alone(folder.with_name(f"{folder.name}.lock")):
        if not whole.exists():
            make()
            whole.touch()


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Wait until no other process of the run is within such a context of ``file``."""
    with file.open("w") as held:
        if sys.platform != "win32":
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest, environment_of: Callable[[int], Path]) -> Path:
    """The interpreter of an environment that has the wheel."""
    return environment_of(request.param)


def locked() -> list[str]:
    """Every package at the version that the project runs with."""
    return re.findall(r"^[\w.-]+==[^\s;\\]+", (ROOT / ".requirements.lock").read_text("utf-8"), re.MULTILINE)


def deploy(*words: str, at: Path) -> str:
    """Return what ``deploy`` prints in a folder."""
    return run(sys.executable, "-m", "reseller_sandbox", "deploy", *words, at=at)


def run(*command: str, at: Path | None = None, **environment: str) -> str:
    """Run a command without this working tree in its path. Return its output."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command,
            cwd=at,
            env={**plain, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"{late}; by then it had printed {late.stdout!r} and {late.stderr!r}")
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
