"""An argument goes before the environment, that before the file, and the file before the default."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from reseller_sandbox import BadSetting
from reseller_sandbox.cli import main
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.sources import misspelt
from reseller_sandbox.testing.options import OPTIONS, variable
from tests.settings.doors import Serve, as_variable, on_the_command_line, run_suite, write_table

#: A setting, and three values of it: in the file, in the environment, as an argument.
THREE = (
    ("port", 1, 2, 3),
    ("fixture", "example", "default", "empty"),
    ("seed", "file", "environment", "argument"),
    ("frozen", True, False, True),
    ("control_open", False, True, False),
    ("world_idle", 1.0, 2.0, 3.0),
)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    """The command, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Serve(monkeypatch)


@pytest.mark.parametrize(("name", "file", "variable", "argument"), THREE, ids=lambda value: str(value))
def test_the_command_line(
    serve: Serve, tmp_path: Path, name: str, file: object, variable: object, argument: object
) -> None:
    """Each source alone counts, until a nearer one speaks."""
    assert getattr(serve(), name) == getattr(ServerSettings(), name)
    write_table(tmp_path, {name: file})
    assert getattr(serve(), name) == file
    assert getattr(serve(**{as_variable(name): ""}), name) == file
    assert getattr(serve(**{as_variable(name): str(variable)}), name) == variable
    said = on_the_command_line(name, argument)
    assert getattr(serve(said, **{as_variable(name): str(variable)}), name) == argument


def test_assumptions_count_one_by_one(serve: Serve, tmp_path: Path) -> None:
    """What a nearer source leaves open, a farther one decides."""
    write_table(tmp_path, {"assume": {"v3.ids": "integer", "v2.license": "file", "v2.phone": "dotted"}})
    environment = {"RESELLER_SANDBOX_ASSUME": "v2.license=variable v2.phone=any"}
    told = serve(["--assume", "v2.phone=dotted"], **environment)
    assert told.assume == {"v3.ids": "integer", "v2.license": "variable", "v2.phone": "dotted"}


def test_a_setting_that_is_short_for_an_assumption_goes_no_farther(serve: Serve, tmp_path: Path) -> None:
    """Whichever of the two a nearer source says counts; of one source the setting does."""
    write_table(tmp_path, {"token_headers": ["X-File"]})
    assert serve(["--assume", "v2.token_headers=X-A"]).assumed == {"v2.token_headers": "X-A"}
    assert serve(RESELLER_SANDBOX_ASSUME="v2.token_headers=X-E").assumed == {"v2.token_headers": "X-E"}
    write_table(tmp_path, {"assume": {"v2.token_headers": "X-File"}})
    assert serve(["--token-header", "X-A"]).assumed == {"v2.token_headers": ("X-A",)}


@pytest.mark.slow
def test_tests_are_told_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marker goes first; what is for a server alone is no matter."""
    monkeypatch.setenv("RESELLER_SANDBOX_HEADER_PREFIX", "X-ENV-")
    monkeypatch.setenv("RESELLER_SANDBOX_SEED", "environment")
    table = {"seed": "file", "header_prefix": "X-FILE-", "profile": "observed", "port": 1, "journal": 7}
    write_table(tmp_path, {**table, "assume": {"v3.ids": "integer"}})
    suite = """
import pytest

@pytest.mark.reseller_sandbox(seed="marker", assume={"v2.license": "word"})
def test_it(reseller_sandbox):
    told = reseller_sandbox.settings
    assert (told.seed, told.header_prefix, told.profile, told.journal) == ("marker", "X-ENV-", "observed", 7)
    assert told.assume == {"v3.ids": "integer", "v2.license": "word"}

def test_without_a_marker(reseller_sandbox):
    told = reseller_sandbox.settings
    assert (told.seed, told.assume) == ("environment", {"v3.ids": "integer"})
"""
    assert "2 passed" in run_suite(tmp_path, suite)


class TestTheEnvironment:
    """A variable that nobody reads is told of where it is nearly one that is read."""

    @pytest.mark.parametrize(
        ("name", "near"), [("PRT", "PORT"), ("MAX_WORLD", "MAX_WORLDS"), ("FIXTRUE", "FIXTURE")]
    )
    def test_a_misspelt_variable(self, monkeypatch: pytest.MonkeyPatch, name: str, near: str) -> None:
        """The server serves all the same: the word may be another program's."""
        monkeypatch.setenv(f"RESELLER_SANDBOX_{name}", "1")
        said = f"RESELLER_SANDBOX_{name} is not known here; the nearest is RESELLER_SANDBOX_{near}"
        assert list(misspelt()) == [said]
        done = CliRunner().invoke(main, ["serve", "--port", "0", "--certfile", "/no/such.pem"])
        assert done.stderr.splitlines()[0] == f"reseller-sandbox: {said}"

    def test_what_others_read_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The plugin's, those of commands and tools, and what Kubernetes sets for a service of this name."""
        service = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_8053_TCP", "PORT_8053_TCP_ADDR")
        others = ("URL", "WORLD", "CA", "TOKEN", "IMAGE", *service)
        for name in (*map(variable, OPTIONS), *(f"RESELLER_SANDBOX_{one}" for one in others)):
            monkeypatch.setenv(name, "1")
        assert list(misspelt()) == []


class TestTheFile:
    """The nearest ``pyproject.toml`` with the table, from the working directory upwards."""

    def test_it_is_found_from_below(
        self, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Past one that has no such table; paths in it start from where it is."""
        below = tmp_path / "one" / "two"
        below.mkdir(parents=True)
        (tmp_path / "one" / "pyproject.toml").write_text("[tool.other]\nport = 1\n")
        (tmp_path / "mine.yaml").write_text("include: empty\n")
        write_table(tmp_path, {"fixture": "mine.yaml", "certfile": "mine.yaml", "port": 5})
        monkeypatch.chdir(below)
        told = serve()
        assert (told.fixture, told.port) == (str(tmp_path / "mine.yaml"), 5)
        assert told.certfile == str(tmp_path / "mine.yaml")

    def test_a_key_that_it_does_not_know(self, serve: Serve, tmp_path: Path) -> None:
        """Is told with the nearest, and every mistake at once."""
        path = write_table(tmp_path, {"max_world": 3, "header-prefix": "X-"})
        with pytest.raises(BadSetting) as told:
            serve()
        where = f"{path}: [tool.reseller_sandbox]"
        assert f"{where} max_world is not known here; the nearest is max_worlds" in str(told.value)
        assert f"{where} header-prefix is not known here; the nearest is header_prefix" in str(told.value)

    @pytest.mark.parametrize("text", ["[tool.reseller_sandbox", "a = \xff", "[tool]\nreseller_sandbox = 3"])
    def test_a_file_that_cannot_be_read(self, serve: Serve, tmp_path: Path, text: str) -> None:
        """Is named; it may have said something."""
        path = tmp_path / "pyproject.toml"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(BadSetting, match=f"^{path}: "):
            serve()

    def test_assumptions_may_stand_without_quotes(self, serve: Serve, tmp_path: Path) -> None:
        """Then TOML makes tables of their names."""
        table = "[tool.reseller_sandbox.assume]\nv3.ids = 'integer'\nv2.phone = 'dotted'\n"
        (tmp_path / "pyproject.toml").write_text(table)
        assert serve().assume == {"v3.ids": "integer", "v2.phone": "dotted"}

    def test_instants_may_be_those_of_toml(self, serve: Serve, tmp_path: Path) -> None:
        """With or without a time of day."""
        (tmp_path / "pyproject.toml").write_text("[tool.reseller_sandbox]\nnow = 2030-01-31\n")
        assert str(serve().now) == "2030-01-31 00:00:00+00:00"

    def test_tests_that_a_file_has_a_mistake_for_say_so(self, tmp_path: Path) -> None:
        """Those that want a sandbox; the others have nothing to do with it."""
        path = write_table(tmp_path, {"sede": "mine"})
        printed = run_suite(tmp_path, "def test_one(reseller_sandbox): pass\ndef test_two(): pass\n")
        assert "1 passed, 1 error" in printed
        assert f"{path}: [tool.reseller_sandbox] sede is not known here; the nearest is seed" in printed
        assert "Traceback" not in printed

    def test_other_commands_heed_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is signed is what the server expects, and it is looked for where it listens."""
        monkeypatch.chdir(tmp_path)
        write_table(tmp_path, {"fixture": "empty", "header_prefix": "X-ACME-", "port": 1})
        signed = CliRunner().invoke(main, ["sign", "GET", "/v3/balance"])
        assert "X-ACME-APIKEY" in signed.output
        asked = CliRunner().invoke(main, ["clock", "show"])
        assert (asked.exit_code, "127.0.0.1:1" in asked.stderr) == (3, True)
