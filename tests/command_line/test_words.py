"""The words of a command become parameters or are refused in a line; the help describes them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.command import PROGRAM, printed, run
from tests.control.interfaces import OPERATIONS

#: Words of a command, and the parameters that the server gets.
CASES: tuple[tuple[str | list[str], dict[str, Any]], ...] = (
    ("journal list --path /a=b,c=d --path *", {"path": ["/a=b,c=d", "*"]}),
    (["journal", "list", "--domain", '["*.com", "*.net"]'], {"domain": ["*.com", "*.net"]}),
    ("journal list --operation 7", {"operation": "7"}),
    ("journal list --query page=1 --query q=a=b", {"query": {"page": "1", "q": "a=b"}}),
    ("journal list --headers Accept=text/html,image/*", {"headers": {"Accept": "text/html,image/*"}}),
    ("journal list --headers X-Other=null", {"headers": {"X-Other": None}}),
    (["journal", "list", "--headers", '{"X-Other": null}'], {"headers": {"X-Other": None}}),
    ("journal list --body years=2,name=x.com,paid=1.5", {"body": {"years": 2, "name": "x.com", "paid": 1.5}}),
    ("journal list --no-changed --limit 5", {"changed": False, "limit": 5}),
    (
        "journal verify --in-order operation=v3.* --in-order path=/v3/*,changed=true",
        {"in_order": [{"operation": "v3.*"}, {"path": "/v3/*", "changed": True}]},
    ),
    (["journal", "verify", "--in-order", '[{"operation": "v3.*"}]'], {"in_order": [{"operation": "v3.*"}]}),
    ("clock advance 3600.0", {"by": "PT1H"}),
    ("simulate hold x.com --at 3600.0", {"domain": "x.com", "at": "3600"}),
    (["simulate", "register", "x.com", "--auth-code", '"7"'], {"domain": "x.com", "auth_code": '"7"'}),
    ("simulate hold x.com --after v3.a*", {"domain": "x.com", "after": "v3.a*"}),
    (
        "simulate hold x.com --after operation=v3.a*,domain=*.com",
        {"domain": "x.com", "after": {"operation": "v3.a*", "domain": "*.com"}},
    ),
    (
        "assumptions set v3.ids=integer v3.list.last_page=always --profile observed",
        {"assume": {"v3.ids": "integer", "v3.list.last_page": "always"}, "profile": "observed"},
    ),
    ("worlds fork --state 0", {"state": "0"}),
    (["worlds", "fork", "--state", '{"zones": {}}'], {"state": {"zones": {}}}),
    ("faults add error --body a=b", {"kind": "error", "body": "a=b"}),
    (
        "faults add latency --seconds 0.5 --match operation=v3.* --when times=2",
        {"kind": "latency", "seconds": 0.5, "match": {"operation": "v3.*"}, "when": {"times": 2}},
    ),
)

RESOURCES = sorted({operation.id.partition(".")[0] for operation in OPERATIONS})


def help_of(*words: str, columns: int = 100) -> str:
    """Return the help of a command in a terminal of so many columns. It has no markup and no Python."""
    done = run(*words, "--help", env={"COLUMNS": str(columns)})
    assert done.status == 0, done.err
    assert ">>>" not in done.out
    assert "``" not in done.out
    return done.out


def commands_in(page: str) -> list[str]:
    listed = re.split(r"^Options:$", page, maxsplit=1, flags=re.MULTILINE)[-1]
    return re.findall(r"^  ([a-z][a-z-]*)  +\w", listed, re.MULTILINE)


class Recorder(BaseHTTPRequestHandler):
    """Keeps the parameters of each request in a list of its server."""

    def do_GET(self) -> None:
        query = dict(parse_qsl(urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = (json.loads(body), False) if body else (query, True)
        self.server.requests.append(sent)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


def test_arguments_are_parsed_by_the_type_of_the_parameter(subtests: pytest.Subtests) -> None:
    """A word is a string if the parameter accepts strings. Otherwise it is JSON or pairs."""
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        requests: list[tuple[Any, bool]] = []
        server.requests = requests  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        for words, expected in CASES:
            with subtests.test(str(words)):
                listed = words.split() if isinstance(words, str) else words
                printed(*listed, "--url", f"http://127.0.0.1:{server.server_port}", "--json")
                sent, in_query = requests.pop()
                if in_query:
                    sent, expected = read(sent), read(expected)
                assert sent == expected
        server.shutdown()


def read(query: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a query string, JSON read as JSON."""
    values = dict(query)
    for name, value in query.items():
        with suppress(TypeError, ValueError):
            values[name] = json.loads(value)
    return values


def test_invalid_arguments_are_rejected_with_one_error_line(url: str, subtests: pytest.Subtests) -> None:
    for words, message in (
        ("xyzzy", "unknown command 'xyzzy'; see reseller-sandbox --help"),
        ("clock advnce", "unknown command 'advnce'; did you mean advance? See reseller-sandbox clock --help"),
        ("faults add --kind reset", "unknown option --kind; kind is an argument, not an option; see"),
        ("sweep --command x", "unknown option --command; command is an argument, not an option; see"),
        ("faults add --value=x --nam x", "unknown option --nam; did you mean --name VALUE? See"),
        ("faults add reset times=1", "unexpected word 'times=1'; write --when times=1; see"),
        ("faults add mutate path=x", "unexpected word 'path=x'; write --path x or --match path=x; see"),
        ("faults add hang --match operaton=v3.*", "match.operaton is not known here; did you mean oper"),
        ("clock advance --until domian=x.com", "until.domian is not known here; did you mean domain"),
        ("clock advance --until soon", "until must be one of next, or an object, not 'soon'"),
        ("faults add --preset flakey", "did you mean flaky"),
        ("journal list --limit x", "limit must be an integer"),
        ("clock advance -- -P1D", "not '-P1D'"),
        ("ledger --account main find", "unknown option --account; see reseller-sandbox ledger --help"),
        (
            "openapi v3 --url=",
            "invalid value for '--url': '' must be a URL that begins with http:// or https://",
        ),
        ("wait --timeout soon", "invalid value for '--timeout'"),
        ("history load my.yaml", "fixture must be a document, not 'my.yaml'; write @my.yaml"),
        (
            "request GET http://other:1/v3/domains",
            "'http://other:1/v3/domains' is not a URL of http://127.0.",
        ),
        (f"request GET {url}0/v3/balance", f"{url}0/v3/balance' is not a URL of {url};"),
        ("history load @/no/such", "/no/such: No such file or directory"),
        ("health show --url localhost:8053", "must be a URL that begins with http:// or https://"),
        ("health show --url http://127.0.0.1:99999", "must be a URL with a valid host and port"),
        ("health show --port x", "--port must be an integer from 0 to 65535, not 'x'"),
        ("health show --url https://127.0.0.1:1 --ca /no/ca.pem", "/no/ca.pem cannot be used: No such file"),
    ):
        with subtests.test(words):
            done = run(*words.split(), env={"RESELLER_SANDBOX_URL": url})
            assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
            assert done.err.startswith("reseller-sandbox: ")
            assert message in done.err


def test_the_help_of_a_command_has_each_parameter_with_its_description(subtests: pytest.Subtests) -> None:
    for one in OPERATIONS:
        with subtests.test(one.id):
            page = help_of(*one.id.replace("_", "-").split("."))
            shown = "".join(page.split())
            for parameter in one.parameters:
                name = parameter.name
                assert f"--{name.replace('_', '-')}" in page or name.upper() in page or "NAME=VALUE…" in page
                about = str(parameter.shape.get("description", "")).replace("`", "")
                assert "".join(about.split())[:40] in shown, name
    for words, option in (
        ("clock advance", "--until next|NAME=VALUE"),
        ("journal list", "--path TEXT "),
        ("journal list", "--headers NAME=VALUE"),
    ):
        assert option in help_of(*words.split())


def test_the_help_lists_each_command_once_with_a_complete_summary(subtests: pytest.Subtests) -> None:
    for words in ([], ["fixture"], ["deploy"], *([name] for name in RESOURCES)):
        with subtests.test(" ".join(words)):
            for columns in (50, 200):
                page = help_of(*words, columns=columns)
                assert "..." not in page.replace("[ARGS]...", "")
                listed = commands_in(page)
                assert len(listed) == len(set(listed))
                for resource, _, verb in (
                    operation.id.replace("_", "-").partition(".") for operation in OPERATIONS
                ):
                    assert [resource] != words or verb in listed
    sections = re.split(r"^\S.*:$", help_of(), flags=re.MULTILINE)
    (resources,) = [listed for part in sections if "clock" in (listed := commands_in(part))]
    assert resources == [name for name in RESOURCES if name not in ("coverage", "recording")]


def test_a_group_with_a_single_command_runs_that_command(url: str) -> None:
    for group, only in (("advice", "list"), ("health", "show")):
        assert printed(group, "--json", "--url", url) == printed(group, only, "--json", "--url", url)


def test_the_help_of_each_kind_of_command_ends_with_the_exit_statuses() -> None:
    for words in ("", "serve", "clock advance", "journal follow", "fixture new", "request"):
        shown = " ".join(help_of(*words.split()).split())
        for status in ("0 success", "1 rejected", "2 invalid arguments", "3 server not reachable"):
            assert status in shown, words


WORDS = st.lists(
    st.text(max_size=8) | st.sampled_from(("--url", "--json", "-", "--", "-x", "@", "=")), max_size=3
)
GROUPS = ("clock", "journal", "fixture", "names", "worlds", "faults", "request", "sign", "completion")


@given(group=st.sampled_from(GROUPS), words=WORDS)
def test_commands_with_any_arguments_end_with_an_error_line_or_a_response(
    group: str, words: list[str]
) -> None:
    done = run(group, *words, env={"RESELLER_SANDBOX_PORT": "1", "HOME": "/nowhere"})
    assert done.status in (0, 1, 2, 3)
    if done.status:
        assert done.err.startswith(("reseller-sandbox: ", "Usage: "))
        assert "Traceback" not in done.err


def test_a_new_fixture_is_valid_and_overwrites_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is not overwritten."""
    monkeypatch.chdir(tmp_path)
    assert "serve --watch --fixture 'my world.yaml'" in printed("fixture", "new", "my world.yaml")
    printed("fixture", "validate", "my world.yaml")
    text = Path("my world.yaml").read_text()
    assert printed("fixture", "new") == text
    for path, reason in (("my world.yaml", "File exists"), ("no/x.yaml", "No such file or directory")):
        done = run("fixture", "new", path)
        assert (done.status, done.out, done.err) == (2, "", f"reseller-sandbox: {path}: {reason}\n")
    assert Path("my world.yaml").read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_closed_pipe_causes_no_error_message() -> None:
    """``| head -1`` ends the command without a word."""
    whole = f"{PROGRAM} manual reference/errors | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "141")


def test_the_help_is_the_same_in_python_without_docstrings() -> None:
    command = [sys.executable, "-OO", "-m", "reseller_sandbox", "serve", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == printed("serve", "--help")
