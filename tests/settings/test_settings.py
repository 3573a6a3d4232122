"""Each setting has its effect from each source: an argument, the environment, the file. The nearer counts.

A wrong setting is refused by its name, as the source spells it, and nothing starts.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import BadSetting, Refused, Sandbox, connect
from tests.clients import JSON, Socket, signature
from tests.command import free_ports, printed, run
from tests.settings.examples import (
    EXAMPLES,
    OF_A_SERVER,
    as_option,
    as_variable,
    in_the_environment,
    on_the_command_line,
    started,
    write_table,
)
from tests.testing.conftest import run as run_in_pytest
from tests.waiting import wait_until

PROFILE = "assume:\n  v3.ids: integer\n  v2.domain_check.avail: boolean\n"
FIXTURE = """
seed: fixture
accounts: {main: {contact: {name: Main}}}
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
"""
GIVEN = {name: taken for name, (taken, _) in EXAMPLES.items() if name not in ("certfile", "keyfile")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the fixture of ``GIVEN``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(FIXTURE)
    return tmp_path


def test_the_help_of_serve_lists_each_setting_with_the_environment_variable() -> None:
    shown = "".join(printed("serve", "--help").split())
    assert set(re.findall(r"\[envvar:(\w+)", shown)) == {as_variable(name) for name in EXAMPLES}
    for name in EXAMPLES:
        assert re.search(rf"{as_option(name)}[^-].*\[envvar:{as_variable(name)}", shown), name


def effects(sandbox: Sandbox, url: str) -> None:
    """Assert that a server has the settings of ``GIVEN`` that any sandbox can have."""
    world = sandbox.worlds.get("default")
    assert (world.now.isoformat(), world.frozen, world.seed) == ("2030-01-31T12:00:00+00:00", True, "mine")
    assumed = dict(world.assumptions)
    assert (assumed["v3.ids"], assumed["v2.domain_check.avail"]) == ("integer", "boolean")
    assert list(assumed["v2.token_headers"]) == ["X-Auth-Token", "X-Token", "X-Other"]
    held, socket, body = sandbox.accounts["main"], Socket(url), b'{"domainNames": ["a.com"]}'
    target = "/v3/domains/checkAvailability"
    signed = signature(held.secret, held.key, f"https://a.example{target}", body)
    headers = [("X-ACME-APIKEY", held.key), ("X-ACME-SIGNATURE", signed), JSON]
    for _ in range(4):
        assert socket("POST", target, headers, body).status == 200
    kept = sandbox.journal.list().requests
    assert [entry.id for entry in kept] == ["r2", "r3", "r4"]
    assert (sandbox.journal["r4"].request.body, sandbox.journal["r4"].request.cut) == ('{"do', len(body))
    assert socket("GET", "/V2.0/domain/zones", [("X-Other", held.token)], b"").status == 200
    assert socket("GET", "/V2.0/domain/zones", [("X-Auth-Token", held.token)], b"").status == 200
    assert socket("POST", target, headers, b" " * 1001).status == 413
    token = ("X-Sandbox-Token", "a-token")
    assert socket("POST", "/_sandbox/clock/advance", [token, JSON], b" " * 2001).status == 413
    socket.close()
    assert sandbox.worlds.fork().name.startswith("s3")
    with pytest.raises(Refused, match="too_many_worlds"):
        sandbox.worlds.fork()
    sandbox.snapshot("here")
    with pytest.raises(Refused, match="too_many_snapshots"):
        sandbox.snapshot("there")
    sandbox.faults.add("hang")
    with pytest.raises(Refused, match="too_many_faults"):
        sandbox.faults.add("close")
    for _ in range(9):
        sandbox.restore("here")
    assert len(list(sandbox.branches)) == 1
    assert len([event for event in sandbox.events.list(limit=100).events if event.kind != "request"]) <= 6


def test_each_sandbox_setting_takes_effect_in_python(folder: Path) -> None:
    own: dict[str, Any] = {name: value for name, value in GIVEN.items() if name not in OF_A_SERVER}
    sandbox = Sandbox(**{**own, "control_open": False})
    with sandbox.serve() as server:
        effects(sandbox, server.url)


@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2))], ids="turn {}".format
)
def test_each_setting_takes_effect_in_a_server(folder: Path, turn: int) -> None:
    """A third of the settings from each source: the command line, the environment, the file.

    The variables come from an env file with Windows line ends, and the file begins with a byte order mark.
    """
    port = free_ports(2)
    settings = list({**GIVEN, "port": port, "tls_port": port + 1, "control_open": False}.items())
    arguments, variables, table = (dict(settings[(turn + part) % 3 :: 3]) for part in range(3))
    file = write_table(folder, table)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    environment = {name: f"{value}\r" for name, value in in_the_environment(variables).items()}
    with started(on_the_command_line(arguments), folder, environment) as ready:
        assert ready["url"] == f"http://localhost:{port}"
        assert urlsplit(ready["tls_url"]).port == port + 1
        assert Path(ready["authority"]).is_relative_to(folder / "certificates")
        with pytest.raises(Refused, match="control_token_missing"):
            connect(ready["url"]).clock.show()
        with connect(ready["tls_url"], control_token="a-token", authority=ready["authority"]) as sandbox:
            effects(sandbox, ready["url"])
            (folder / "mine.yaml").write_text(FIXTURE.replace("Main", "Watched"))
            wait_until(lambda: "Watched" in sandbox.export())
            assert sandbox.worlds.get("default").seed == "mine"
    assert (folder / "worlds.state").exists()
    assert json.loads((folder / "log").read_text().splitlines()[-1])["level"] in ("info", "warning")


def test_options_override_variables_and_variables_override_the_file(folder: Path) -> None:
    """Shown by the header that a request is signed with, and by the port that a command asks."""
    sign = ("sign", "GET", "/v3/balance", "--fixture", "default")
    variables = {"RESELLER_SANDBOX_HEADER_PREFIX": "X-ENV-", "RESELLER_SANDBOX_PORT": "2"}
    empty = {"RESELLER_SANDBOX_HEADER_PREFIX": ""}
    assert "X-SVC-APIKEY" in run(*sign).out
    write_table(folder, {"header_prefix": "X-FILE-", "port": 1})
    for options, env, prefix, port in (
        ((), {}, "X-FILE", 1),
        ((), empty, "X-FILE", 1),
        ((), variables, "X-ENV", 2),
        (("--header-prefix", "X-ARG-", "--port", "3"), variables, "X-ARG", 3),
    ):
        assert f"{prefix}-APIKEY" in run(*sign, *options, env=env).out
        done = run("clock", "show", *options[2:], env=env)
        assert (done.status, f"127.0.0.1:{port}:" in done.err) == (3, True), done.err


def test_each_assumption_comes_from_the_source_with_the_highest_precedence(folder: Path) -> None:
    """The file is the nearest one with the table; its paths start from its folder, its keys need no quotes.

    A setting that stands for an assumption goes with it: the nearer of the two counts.
    """
    below = folder / "one" / "two"
    below.mkdir(parents=True)
    (folder / "one" / "pyproject.toml").write_text("[tool.other]\nport = 1\n")
    (folder / "mine.yaml").write_text(PROFILE)
    table = "[tool.reseller_sandbox]\nprofile = 'mine.yaml'\nnow = 2030-01-31\n"
    table += "token_headers = ['X-File']\n[tool.reseller_sandbox.assume]\n"
    table += "v2.license = 'word'\nv2.phone = 'dotted'\nv3.list.last_page = 'with_next'\n"
    (folder / "pyproject.toml").write_text(table)
    variables = {"RESELLER_SANDBOX_ASSUME": "v3.list.last_page=always v2.phone=any"}
    words = ("--assume", "v2.phone=dotted", "--assume", "v2.token_headers=X-Argument", "--frozen")
    with started((*words, "--port", "0"), below, variables) as ready, connect(ready["url"]) as sandbox:
        assert str(sandbox.clock.now) == "2030-01-31 00:00:00+00:00"
        values = dict(sandbox.worlds.get("default").assumptions)
        assert (values["v3.ids"], values["v2.domain_check.avail"]) == ("integer", "boolean")
        assert (values["v2.license"], values["v3.list.last_page"]) == ("word", "always")
        assert (values["v2.phone"], list(values["v2.token_headers"])) == ("dotted", ["X-Argument"])


def test_token_headers_add_to_the_other_headers_or_replace_them() -> None:
    """They add to those of the contract, of the profile, of the fixture, and of an assumption."""
    own, observed = "X-Auth-Token", ["X-Auth-Token", "X-Token"]
    for settings, expected in (
        ({}, [own]),
        ({"token_headers": ["X-Token"]}, [own, "X-Token"]),
        ({"token_headers": ["x-auth-token"]}, [own]),
        ({"token_headers": ["X-Mine"], "profile": "observed"}, [*observed, "X-Mine"]),
        ({"token_headers": ["X-Mine"], "assume": {"v2.token_headers": "X-A"}}, ["X-A", "X-Mine"]),
        ({"token_headers": ["only:X-Mine"], "profile": "observed"}, ["X-Mine"]),
        ({"token_headers": ["only:X-Mine", "X-Two"]}, ["X-Mine", "X-Two"]),
    ):
        sandbox = Sandbox("empty", **settings)
        assumed = dict(sandbox.worlds.get("default").assumptions)
        assert list(assumed.get("v2.token_headers", [own])) == expected, settings
        for header in expected:
            token = {header: sandbox.accounts["main"].token}
            answer = sandbox.app.test_client().get("/V2.0/domain/zones", headers=token)
            assert answer.status_code == 200, (settings, header)
    with pytest.raises(BadSetting, match="token_headers"):
        Sandbox("empty", token_headers=["only:"])


def test_a_profile_may_be_a_file(folder: Path) -> None:
    """Single assumptions go before it; it holds for every fixture that is loaded."""
    (folder / "real.yaml").write_text(PROFILE)
    sandbox = Sandbox(profile=folder / "real.yaml", assume={"v2.domain_check.avail": "string"})
    for _ in range(2):
        assert sandbox.assumptions["v3.ids"] == "integer"
        assert sandbox.assumptions["v2.domain_check.avail"] == "string"
        sandbox.load("now: 2030-01-01T00:00:00Z")
    assert "v3.ids=integer\n" in run("assumptions", "--profile", "real.yaml").out
    for wrong, message in (("observd", "not 'observd'; did you mean observed?\n"), ("x" * 300, "x" * 20)):
        done = run("assumptions", "--profile", wrong)
        assert (done.status, message in done.err) == (2, True)
    for text, message in (
        ("assume: {v3.idz: integer}", "is not known here; did you mean v3.ids"),
        ("assume: [", "real.yaml:2:1: this is not YAML"),
    ):
        (folder / "real.yaml").write_text(text)
        with pytest.raises(BadSetting, match=r"real\.yaml") as refused:
            Sandbox(profile=folder / "real.yaml")
        assert message in str(refused.value)


MARKED = """
import pytest

@pytest.mark.reseller_sandbox(seed="marker", assume={{"v2.license": "word"}})
def test_marked(reseller_sandbox):
    world = reseller_sandbox.worlds.get("default")
    assert world.seed.startswith("marker")
    assert {{"v3.ids": "integer", "v2.license": "word"}}.items() <= dict(world.assumptions).items()
    assert reseller_sandbox.header_prefix == "X-ENV-"

def test_without_a_marker(reseller_sandbox):
    assert reseller_sandbox.worlds.get("default").seed.startswith("environment")

{tests}
@pytest.mark.reseller_sandbox(fixtur="empty")
def test_unknown(reseller_sandbox): pass
"""


@pytest.mark.slow
def test_wrong_settings_in_a_mark_or_the_file_fail_each_test_that_uses_a_sandbox(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marker goes first. Tests ignore the settings of servers."""
    monkeypatch.setenv("RESELLER_SANDBOX_HEADER_PREFIX", "X-ENV-")
    monkeypatch.setenv("RESELLER_SANDBOX_SEED", "environment")
    table = {"seed": "file", "header_prefix": "X-FILE-", "port": 1, "assume": {"v3.ids": "integer"}}
    write_table(folder, table)
    wrong = {name: wrong for name, (_, wrong) in EXAMPLES.items() if name not in OF_A_SERVER}
    tests = "\n".join(
        f"@pytest.mark.reseller_sandbox(**{ {name: value}!r})\ndef test_{name}(reseller_sandbox): pass\n"
        for name, value in wrong.items()
    )
    output = run_in_pytest(folder, MARKED.format(tests=tests))
    assert f"2 passed, {len(wrong) + 1} errors" in output, output
    path = write_table(folder, {"sede": "mine"})
    output = run_in_pytest(folder, "def test_first(reseller_sandbox): pass\ndef test_second(): pass\n")
    assert "1 passed, 1 error" in output
    assert f"{path}: [tool.reseller_sandbox] sede is not known here; did you mean seed" in output


WRONG = {name: wrong for name, (_, wrong) in EXAMPLES.items()}
#: Those that are wrong in words, too: any text may be a path, and a switch has no value.
IN_WORDS = {
    name: wrong
    for name, wrong in WRONG.items()
    if isinstance(wrong, str | list | dict) or type(EXAMPLES[name][0]) in (int, float)
}


def test_an_error_in_python_shows_the_wrong_setting(subtests: pytest.Subtests) -> None:
    wrong: Any
    for name, wrong in WRONG.items():
        for value in (wrong, 10**5000, [10**5000], {"v3.ids": 10**5000}):
            if name not in OF_A_SERVER:
                with subtests.test(f"{name}={str(wrong)[:9]}"), pytest.raises(BadSetting, match=f"^{name} "):
                    Sandbox(**{name: value})
    with pytest.raises(BadSetting, match="sede is not known here; did you mean seed"):
        Sandbox(**{"sede": "mine"})
    for name in ("profile", "fixture"):
        with pytest.raises(BadSetting, match="x" * 20):
            Sandbox(**{name: "x" * 300})


def test_errors_of_each_source_have_a_line_for_every_wrong_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pyproject.toml"
    where = f"{path}: [tool.reseller_sandbox]"
    for part in range(3):
        wrong, in_words = (dict(list(settings.items())[part::3]) for settings in (WRONG, IN_WORDS))
        options = {name: value for name, value in in_words.items() if WRONG[name] != "perhaps"}
        results = [(run("serve", *on_the_command_line(options)), [as_option(name) for name in options])]
        variables = in_the_environment(in_words)
        results.append((run("serve", env=variables), list(variables)))
        write_table(tmp_path, {**wrong, "max_world": 3, "header-prefix": "X-"})
        results.append((run("serve"), [f"{where} {name}" for name in wrong]))
        path.unlink()
        for done, names in results:
            assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
            for name in names:
                assert f" {name} " in done.err, name
        assert f"{where} max_world is not known here; did you mean max_worlds" in done.err
        assert f"{where} header-prefix is not known here; did you mean header_prefix" in done.err
    misspelt = "[tool.reseller-sandbox]\nport = 1"
    for text in ("[tool.reseller_sandbox", "a = \xff", "[tool]\nreseller_sandbox = 3", misspelt):
        path.write_bytes(text.encode("latin-1"))
        done = run("serve")
        assert (done.status, done.err.startswith(f"reseller-sandbox: {path}: ")) == (2, True), done.err


def test_a_misspelled_environment_variable_is_reported() -> None:
    """And ignored, for another program may use it. The variables of tools and of Kubernetes are known."""
    words = ("serve", "--port", "0", "--certfile", "/no/such.pem")
    done = run(*words, env={"RESELLER_SANDBOX_MAX_WORLD": "1"})
    assert "SANDBOX_MAX_WORLD is not known here; did you mean RESELLER_SANDBOX_MAX_WORLDS?\n" in done.err
    assert "/no/such.pem" in done.err
    others = ("URL", "WORLD", "CA", "TOKEN", "IMAGE", "MODE", "SWEEP", "EXPLORE", "COVERAGE", "SERVICE_HOST")
    services = ("SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_8053_TCP", "PORT_8053_TCP_ADDR")
    done = run(*words, env={f"RESELLER_SANDBOX_{name}": "1" for name in (*others, *services)})
    assert done.err.count("\n") == 1
    assert "/no/such.pem" in done.err


TEXTS = st.text(max_size=20) | st.sampled_from(
    ("", "\0", "a\nb", "http://[::1", "https://", "~", "/", "=", "1e400")
)
SIMPLE = (
    *(st.none(), st.booleans(), st.integers(), st.just(2**63), st.floats(), TEXTS, st.binary(max_size=5)),
    *(
        st.datetimes(),
        st.just(date(2030, 1, 1)),
        st.just(Path("empty")),
        st.just(Path("\0")),
        st.just(object()),
    ),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(SIMPLE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.integers(), inner, max_size=3),
    max_leaves=4,
)
OWN = sorted(EXAMPLES.keys() - OF_A_SERVER)


@given(settings=st.dictionaries(st.sampled_from(OWN), ANYTHING, max_size=3))
def test_any_python_value_of_a_setting_makes_a_sandbox_or_raises_bad_setting(
    settings: dict[str, Any],
) -> None:
    with suppress(BadSetting):
        client = Sandbox(**settings).client()
        assert client.get("/_sandbox/health", headers={"Origin": "http://localhost"}).status_code < 500
