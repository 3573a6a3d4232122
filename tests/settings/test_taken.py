"""Each setting has its effect, given in Python, on the command line, in the environment or in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.clients import JSON, Socket, signature
from tests.command import printed
from tests.keeping.serving import wait_until
from tests.outfit import free_ports
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

FIXTURE = """
seed: fixture
accounts: {main: {contact: {name: Main}}}
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
"""
GIVEN = {name: taken for name, (taken, _) in EXAMPLES.items() if name not in ("certfile", "keyfile")}


def test_the_help_of_serve_has_each_setting_with_its_variable() -> None:
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
    assert list(assumed["v2.token_headers"]) == ["X-Token", "X-Other"]
    held, socket, body = sandbox.account(), Socket(url), b'{"domainNames": ["a.com"]}'
    target = "/v3/domains/checkAvailability"
    signed = signature(held.secret, held.key, f"https://a.example{target}", body)
    headers = [("X-ACME-APIKEY", held.key), ("X-ACME-SIGNATURE", signed), JSON]
    for _ in range(4):
        assert socket("POST", target, headers, body).status == 200
    kept = sandbox.journal.find().requests
    assert [one.id for one in kept] == ["r2", "r3", "r4"]
    assert (sandbox.journal["r4"].request.body, sandbox.journal["r4"].request.cut) == ('{"do', len(body))
    assert socket("GET", "/V2.0/domain/zones", [("X-Other", held.token)], b"").status == 200
    assert socket("GET", "/V2.0/domain/zones", [("X-Auth-Token", held.token)], b"").status == 403
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
    assert len([one for one in sandbox.events.find(limit=100).events if one.kind != "request"]) <= 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the fixture of ``GIVEN``."""
    (tmp_path / "mine.yaml").write_text(FIXTURE)
    return tmp_path


def test_each_setting_of_a_sandbox_has_its_effect_in_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    own: dict[str, Any] = {name: value for name, value in GIVEN.items() if name not in OF_A_SERVER}
    sandbox = Sandbox(**{**own, "control_open": False})
    with sandbox.serve() as server:
        effects(sandbox, server.url)


@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2))], ids="turn {}".format
)
def test_each_setting_has_its_effect_in_a_server(folder: Path, turn: int) -> None:
    """A third of the settings from each source: the command line, the environment, the file."""
    port = free_ports(2)
    settings = list({**GIVEN, "port": port, "tls_port": port + 1, "control_open": False}.items())
    here, variables, table = (dict(settings[(turn + part) % 3 :: 3]) for part in range(3))
    write_table(folder, table)
    with started(on_the_command_line(here), folder, in_the_environment(variables)) as ready:
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
    assert (folder / "worlds.kept").exists()
    assert json.loads((folder / "log").read_text().splitlines()[-1])["level"] in ("info", "warning")
