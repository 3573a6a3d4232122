"""Every setting means the same by every door: Python, command line, environment, file and marker.

What is wrong is refused by each in one line, which names the setting as that door spells it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import BadSetting, Sandbox
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.settings import ServerSettings, Settings, help_of
from tests.settings.doors import Serve, as_option, as_variable, on_the_command_line, run_suite, write_table
from tests.settings.examples import EXAMPLES, Example, words

OF_A_SANDBOX = {one.name for one in declared(Settings)}
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=str)
WRONG_IN_WORDS = [one for one in EXAMPLES if one.bad_in_words]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Serve:
    """The command, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Serve(monkeypatch)


def test_every_setting_has_an_example() -> None:
    """And a line of help."""
    assert sorted(one.name for one in EXAMPLES) == sorted(one.name for one in declared(ServerSettings))
    assert set(help_of(ServerSettings)) == {one.name for one in EXAMPLES}


@EACH
class TestWhatIsTaken:
    """It is what the settings have in the end."""

    def test_in_python(self, example: Example) -> None:
        """As a parameter by its name."""
        told: dict[str, Any] = {example.name: example.good}
        made = Sandbox(**told).settings if example.name in OF_A_SANDBOX else ServerSettings(**told)
        assert getattr(made, example.name) == example.read

    def test_on_the_command_line(self, serve: Serve, example: Example) -> None:
        """As an option; one for each item of a list."""
        assert getattr(serve(on_the_command_line(example.name, example.good)), example.name) == example.read

    def test_in_the_environment(self, serve: Serve, example: Example) -> None:
        """As a variable, with spaces between items."""
        told = {as_variable(example.name): " ".join(words(example.good))}
        assert getattr(serve(**told), example.name) == example.read

    def test_in_a_file(self, serve: Serve, tmp_path: Path, example: Example) -> None:
        """As a key of the table, with the name that Python has."""
        write_table(tmp_path, {example.name: example.good})
        assert getattr(serve(), example.name) == example.read


class TestWhatIsRefused:
    """It is named as it is spelt there, and nothing starts."""

    @EACH
    def test_in_python(self, example: Example) -> None:
        """By one type of exception."""
        told: dict[str, Any] = {example.name: example.bad}
        with pytest.raises(BadSetting, match=f"^{example.name} "):
            (Sandbox if example.name in OF_A_SANDBOX else ServerSettings)(**told)

    @pytest.mark.parametrize("example", WRONG_IN_WORDS, ids=str)
    def test_on_the_command_line(self, serve: Serve, example: Example) -> None:
        """In one line, with exit status 2."""
        if not isinstance(example.good, bool):
            with pytest.raises(BadSetting, match=f"^{as_option(example.name)} "):
                serve(on_the_command_line(example.name, example.bad))

    @pytest.mark.parametrize("example", WRONG_IN_WORDS, ids=str)
    def test_in_the_environment(self, serve: Serve, example: Example) -> None:
        """With the variable."""
        with pytest.raises(BadSetting, match=f"^{as_variable(example.name)} "):
            serve(**{as_variable(example.name): " ".join(words(example.bad))})

    @EACH
    def test_in_a_file(self, serve: Serve, tmp_path: Path, example: Example) -> None:
        """With the file and the key."""
        path = write_table(tmp_path, {example.name: example.bad})
        told = re.escape(f"{path}: [tool.reseller_sandbox] {example.name} ")
        with pytest.raises(BadSetting, match=f"^{told}"):
            serve()


@pytest.mark.slow
class TestTheMarker:
    """What it says reaches the sandbox of the test, or fails the test with one line."""

    def test_every_setting(self, tmp_path: Path) -> None:
        """That a sandbox has."""
        taken = [one for one in EXAMPLES if one.name in OF_A_SANDBOX]
        tests = [
            f"@pytest.mark.reseller_sandbox(**{ {one.name: one.good}!r})\n"
            f"def test_{one.name}(reseller_sandbox):\n"
            f"    assert reseller_sandbox.settings.{one.name} == {one.read!r}\n"
            for one in taken
        ]
        printed = run_suite(tmp_path, "\n".join(["import datetime", "import pytest", *tests]))
        assert f"{len(taken)} passed" in printed, printed

    def test_every_mistake(self, tmp_path: Path) -> None:
        """Without a traceback."""
        wrong = [one for one in EXAMPLES if one.name in OF_A_SANDBOX]
        tests = [
            f"@pytest.mark.reseller_sandbox(**{ {one.name: one.bad}!r})\n"
            f"def test_{one.name}(reseller_sandbox): pass\n"
            for one in wrong
        ]
        strange = "@pytest.mark.reseller_sandbox(fixtur='empty')\ndef test_fixtur(reseller_sandbox): pass\n"
        printed = run_suite(tmp_path, "\n".join(["import pytest", *tests, strange]))
        assert f"{len(wrong) + 1} errors" in printed, printed
        assert "Traceback" not in printed
        for one in wrong:
            assert f"the sandbox of this test: {one.name} " in printed
        assert "fixtur is not known here; the nearest is fixture" in printed

    def test_by_names_alone(self, tmp_path: Path) -> None:
        """What stands without a name is refused: with marks of a class and a module there is no order."""
        suite = "import pytest\n@pytest.mark.reseller_sandbox('empty')\n"
        suite += "def test_it(reseller_sandbox): pass\n"
        printed = run_suite(tmp_path, suite)
        assert "1 error" in printed
        assert "takes its settings by their names, such as fixture='empty'; 'empty' stands without" in printed


def test_python_refuses_other_words_with_the_nearest() -> None:
    """And a form of call that it does not take; all by the same type."""
    with pytest.raises(BadSetting, match="max_world is not known here; the nearest is max_worlds"):
        Sandbox(max_world=3)  # type: ignore[call-arg]
    with pytest.raises(BadSetting, match="one argument may stand without a name: the fixture"):
        Sandbox("empty", "default")  # type: ignore[call-arg]
    with pytest.raises(BadSetting, match="one argument may stand without a name"):
        Sandbox("empty", fixture="default")  # type: ignore[misc]


def test_python_asks_neither_the_environment_nor_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A sandbox in code is what the code says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESELLER_SANDBOX_SEED", "elsewhere")
    write_table(tmp_path, {"seed": "elsewhere"})
    assert Sandbox().settings.seed is None


def test_none_is_nothing_said() -> None:
    """For every setting: the default stays."""
    for one in declared(ServerSettings):
        told: dict[str, Any] = {one.name: None}
        assert getattr(ServerSettings(**told), one.name) == one.default


def test_a_fixture_with_mistakes_is_refused_alike(tmp_path: Path) -> None:
    """With every mistake and its place."""
    (tmp_path / "bad.yaml").write_text("acounts: {}\n")
    with pytest.raises(BadSetting, match=r"bad\.yaml:1:1: "):
        Sandbox(tmp_path / "bad.yaml")
