"""Whatever words a command gets: what it cannot use is told in one line, with the nearest that there is."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from click import Context
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox.cli import main
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.powers.listing import powers_told
from reseller_sandbox.powers.power import Operation
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.sources import option


def ran(*words: str, **more: Any) -> Result:
    """A command, run here."""
    return CliRunner().invoke(main, list(words), **more)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["clok"], "there is no command 'clok'; the nearest is clock; see reseller-sandbox --help"),
        (["xyzzy"], "there is no command 'xyzzy'; see reseller-sandbox --help"),
        (
            ["clock", "advnce"],
            "there is no command 'advnce'; the nearest is advance; see reseller-sandbox clock --help",
        ),
        (
            ["fixture", "nwe"],
            "there is no command 'nwe'; the nearest is new; see reseller-sandbox fixture --help",
        ),
        (
            ["ledger", "list"],
            "there is no command 'list'; there are: find; see reseller-sandbox ledger --help",
        ),
        (
            ["faults", "add", "--kind", "reset"],
            "there is no option --kind; kind is given without a name; see",
        ),
        (["clock", "advance", "--by", "P1D"], "there is no option --by; by is given without a name; see"),
        (["request", "GET", "--path", "/"], "there is no option --path; path is given without a name; see"),
        (["sweep", "--command", "x"], "there is no option --command; command is given without a name; see"),
        (
            ["faults", "add", "--value=x", "--nam", "x"],
            "there is no option --nam; the nearest is --name; see",
        ),
        (
            ["faults", "add", "reset", "times=1"],
            "kind is one word, or NAME=VALUE pairs alone, not: reset times=1; see",
        ),
        (["serve", "--fixtur", "x"], "there is no option --fixtur; the nearest is --fixture; see"),
        (["names", "list", "--zon", "com"], "there is no option --zon; the nearest is --zone; see"),
        (["request", "GET"], "missing argument 'PATH'; see reseller-sandbox request --help"),
        (["request", "GET", "/", "@/no/such"], "/no/such: No such file or directory"),
        (["wait", "--timeout", "soon"], "invalid value for '--timeout'"),
        (["wait", "--timeout", "-1"], "invalid value for '--timeout'"),
        (
            ["sign", "GET", "/V2.0/domain/zones"],
            "v2.0 is not signed, it carries a token: use reseller-sandbox request",
        ),
        (["sign", "GET", "https://a.test/_worlds/w1/v2.0/domain/zones"], "v2.0 is not signed"),
        (["history", "load", "@/no/such"], "/no/such cannot be read: No such file or directory; see"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (["health", "show", "--url", "localhost:8053"], "must be a URL that begins with http:// or https://"),
        (["health", "show", "--port", "x"], "--port must be a whole number from 0 to 65535, not 'x'"),
        (
            ["health", "show", "--url", "https://127.0.0.1:1", "--ca", "/no/ca.pem"],
            "/no/ca.pem cannot be used: No such file",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(words: list[str], told: str) -> None:
    """On standard error, with the status 2."""
    done = ran(*words)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("reseller-sandbox: ")
    assert told in done.stderr


OPERATIONS = [one for power in powers_told().values() for one in power.load().operations()]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_the_help_of_a_command_tells_of_everything_that_it_takes(operation: Operation) -> None:
    """Arguments, too, with what there is to choose; and nothing that only Python can read."""
    help_text = " ".join(ran(operation.power.name, operation.name.replace("_", "-"), "--help").stdout.split())
    assert ">>>" not in help_text
    assert "``" not in help_text
    for one in operation.parameters:
        told = operation.told.get(one.name, "").replace("``", "")
        assert "".join(told.split()) in "".join(help_text.split()), one.name
        if one.place != "option":
            shown = help_text.partition("Arguments: ")[2].partition("Options: ")[0]
            assert one.name.upper() in shown or "NAME=VALUE… " in shown


@pytest.mark.parametrize("power", sorted(powers_told()))
def test_the_help_of_a_group_is_for_a_shell(power: str) -> None:
    """It has no example in Python, and no markup."""
    help_text = ran(power, "--help").stdout
    assert ">>>" not in help_text
    assert "``" not in help_text


@pytest.mark.parametrize(
    "words", [[], ["fixture"], ["deploy"], *([power] for power in sorted(powers_told()))]
)
@pytest.mark.parametrize("columns", [50, 80, 200])
def test_a_help_lists_every_command_once_with_a_whole_clause(words: list[str], columns: int) -> None:
    """Whatever the width of the terminal: nothing is cut off in the middle of a sentence."""
    group: Any = main.get_command(Context(main), words[0]) if words else main
    shown = ran(*words, "--help", terminal_width=columns).stdout
    assert "..." not in shown.replace("[ARGS]...", "")
    for name in group.told():
        assert len(re.findall(rf"^  {name}  +\w", shown, re.MULTILINE)) == 1, name


def test_the_help_sorts_the_commands_by_what_they_are_for() -> None:
    """Those of the powers stand together, without any other."""
    told = main.sections()
    powers = [names for names in told.values() if "clock" in names]
    assert powers == [sorted(powers_told().keys() - {"coverage"})]
    assert sorted(name for names in told.values() for name in names) == main.list_commands(Context(main))


@pytest.mark.parametrize("command", ["serve", "open"])
def test_a_help_tells_every_setting_once_by_what_it_is_about(command: str) -> None:
    """After the options that are no settings."""
    shown = ran(command, "--help").stdout
    assert re.findall(r"^\S.*:$", shown, re.MULTILINE)[0] == "Options:"
    for one in declared(ServerSettings):
        assert len(re.findall(rf"^  {option(one)}[ /]", shown, re.MULTILINE)) == 1, one.name


GROUPS = ("clock", "journal", "fixture", "names", "worlds", "faults", "request", "sign", "completion")
WORDS = st.lists(
    st.text(max_size=8) | st.sampled_from(("--url", "--json", "-", "--", "-x", "@", "=")), max_size=3
)


@given(group=st.sampled_from(GROUPS), words=WORDS)
def test_any_words_end_in_a_line_or_an_answer(group: str, words: list[str]) -> None:
    """Nothing raises; who is told no is told so in a line or two of its own."""
    done = CliRunner().invoke(main, [group, *words], env={"RESELLER_SANDBOX_PORT": "1", "HOME": "/nowhere"})
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.exit_code in (0, 1, 2, 3)
    if done.exit_code:
        assert done.stderr.startswith(("reseller-sandbox: ", "Usage: "))


def test_alone_it_says_what_to_do_first() -> None:
    """Commands that are there, one below the other."""
    done = ran()
    assert done.exit_code == 0
    named = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  reseller-sandbox ")]
    assert named[0] == "serve"
    assert set(named) - {"--help"} <= set(main.told())


@pytest.mark.parametrize(
    "words", [[], ["serve"], ["clock", "advance"], ["journal", "follow"], ["fixture", "new"], ["request"]]
)
def test_the_help_says_how_it_ends(words: list[str]) -> None:
    """With which status, and when."""
    told = " ".join(ran(*words, "--help").stdout.split())
    for status in (
        "0 when it is done",
        "1 when it is refused",
        "2 when its words",
        "3 when no server answers",
    ):
        assert status in told


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize(
    "command", ["fixture example", "assumptions list-of-nothing --help", "manual reference/errors"]
)
def test_a_reader_who_has_seen_enough_is_not_complained_about(command: str) -> None:
    """``| head -1`` ends the command without a word."""
    whole = f"{sys.executable} -m reseller_sandbox {command} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True, check=False)
    assert done.stderr in (
        "",
        "reseller-sandbox: there is no command 'list-of-nothing'; there are: list, set; "
        "see reseller-sandbox assumptions --help\n",
    )
    assert done.stdout.strip() in ("0", "2", "141")


def test_python_runs_the_package() -> None:
    """``python -m reseller_sandbox`` is the same command."""
    done = subprocess.run(
        [sys.executable, "-m", "reseller_sandbox", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == ran("--version").stdout
