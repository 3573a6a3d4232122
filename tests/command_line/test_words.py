"""Words that a command cannot use are refused in one line; the help tells which it can."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.command import PROGRAM, run
from tests.powers.doors import OPERATIONS

RESOURCES = sorted({one.id.partition(".")[0] for one in OPERATIONS})


def help_of(*words: str, columns: int = 100) -> str:
    """Return the help of a command in a terminal of so many columns."""
    done = run(*words, "--help", env={"COLUMNS": str(columns)})
    assert done.status == 0, done.err
    return done.out


def commands_in(page: str) -> list[str]:
    """Return the commands that a help lists, in its order."""
    listed = re.split(r"^Options:$", page, maxsplit=1, flags=re.MULTILINE)[-1]
    return re.findall(r"^  ([a-z][a-z-]*)  +\w", listed, re.MULTILINE)


def test_what_cannot_be_used_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    """On standard error, with the status 2 and the nearest word."""
    for words, told in (
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
    ):
        with subtests.test(" ".join(words)):
            done = run(*words)
            assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
            assert done.err.startswith("reseller-sandbox: ")
            assert told in done.err


def test_the_help_of_a_command_has_each_parameter_with_its_description(subtests: pytest.Subtests) -> None:
    """Without examples in Python or markup."""
    for one in OPERATIONS:
        with subtests.test(one.id):
            page = help_of(*one.id.replace("_", "-").split("."))
            shown = "".join(page.split())
            assert ">>>" not in page
            assert "``" not in page
            for parameter in one.parameters:
                name = parameter.name
                assert f"--{name.replace('_', '-')}" in page or name.upper() in page or "NAME=VALUE…" in page
                about = str(parameter.shape.get("description", "")).replace("`", "")
                assert "".join(about.split())[:40] in shown, name


def test_a_help_lists_every_command_once_with_a_whole_clause(subtests: pytest.Subtests) -> None:
    """Whatever the width of the terminal. It is for a shell: no example in Python, no markup."""
    for words in ([], ["fixture"], ["deploy"], *([name] for name in RESOURCES)):
        with subtests.test(" ".join(words)):
            for columns in (50, 200):
                page = help_of(*words, columns=columns)
                assert "..." not in page.replace("[ARGS]...", "")
                assert ">>>" not in page
                assert "``" not in page
                found = commands_in(page)
                assert len(found) == len(set(found))
                if words and words[0] in RESOURCES:
                    verbs = {
                        one.id.partition(".")[2].replace("_", "-")
                        for one in OPERATIONS
                        if one.id.startswith(f"{words[0]}.")
                    }
                    assert set(found) >= verbs


def test_the_help_sorts_the_commands_by_their_purpose() -> None:
    """Those of the resources stand together, without any other."""
    page = help_of()
    sections = re.split(r"^\S.*:$", page, flags=re.MULTILINE)
    (resources,) = [found for part in sections if "clock" in (found := commands_in(part))]
    assert resources == [name for name in RESOURCES if name != "coverage"]
    for name in commands_in(page):
        assert help_of(name)


def test_the_help_ends_with_the_exit_statuses() -> None:
    for words in ("", "serve", "clock advance", "journal follow", "fixture new", "request"):
        told = " ".join(help_of(*words.split()).split())
        for status in ("0 when it is done", "1 when it is refused", "2 when its words", "3 when no server"):
            assert status in told, words


WORDS = st.lists(
    st.text(max_size=8) | st.sampled_from(("--url", "--json", "-", "--", "-x", "@", "=")), max_size=3
)
GROUPS = ("clock", "journal", "fixture", "names", "worlds", "faults", "request", "sign", "completion")


@given(group=st.sampled_from(GROUPS), words=WORDS)
def test_any_words_end_in_a_line_or_an_answer(group: str, words: list[str]) -> None:
    done = run(group, *words, env={"RESELLER_SANDBOX_PORT": "1", "HOME": "/nowhere"})
    assert done.status in (0, 1, 2, 3)
    if done.status:
        assert done.err.startswith(("reseller-sandbox: ", "Usage: "))
        assert "Traceback" not in done.err


def test_without_words_the_command_shows_the_first_steps() -> None:
    done = run()
    assert done.status == 0
    named = [line.split()[1] for line in done.out.splitlines() if line.startswith("  reseller-sandbox ")]
    assert named[0] == "serve"
    assert set(named) - {"--help"} <= set(commands_in(help_of()))


def test_assumptions_are_listed_without_a_server() -> None:
    told = json.loads(run("assumptions", "--json").out)
    assert {"name", "value", "default", "takes", "about"} <= told[0].keys()
    assert len(told) > 50


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_reader_that_has_seen_enough_causes_no_complaint() -> None:
    """``| head -1`` ends the command without a word."""
    for command in ("fixture example", "manual reference/errors"):
        whole = f"{PROGRAM} {command} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True)
        assert done.stderr == ""
        assert done.stdout.strip() in ("0", "141")


def test_python_runs_the_package_as_the_command_and_without_docstrings() -> None:
    """``python -OO`` takes them away, and the help stays."""
    pages = []
    for flags, words in (((), ["--version"]), ((), ["serve", "--help"]), (("-OO",), ["serve", "--help"])):
        command = [sys.executable, *flags, "-m", "reseller_sandbox", *words]
        pages.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert pages[0] == run("--version").out
    assert pages[1] == pages[2]
