"""How a request says whose it is: the headers of its token, and what a refusal tells of others."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main as cli
from tests.registry import Make
from tests.v2.client import Client, connect, done, refusal

CHECK = "/domain/new.com/check"


def explained(client: Client, *headers: tuple[str, str]) -> str:
    """What the header says of a refusal of a request with these headers."""
    answer = client.call("GET", "/customer/1", headers=list(headers))
    assert answer.status == 403
    return answer.headers["x-sandbox-refusal"]


@pytest.mark.parametrize("name", ["X-Token", "x-token", "Token", "Authorization", "X-Authorisation"])
def test_a_missing_token_is_told_which_header_like_it_did_arrive(main: Client, name: str) -> None:
    """With the option that would take it, and without the token."""
    told = explained(main, (name, "main-token"))
    assert told.startswith("token_missing: The request carries no X-Auth-Token header; it carries ")
    assert f"--token-header {name.title()} would take" in told
    assert "main-token" not in told


def test_the_header_of_control_is_not_taken_for_one(main: Client) -> None:
    """Nor is anything else."""
    assert "it carries" not in explained(main, ("X-Sandbox-Token", "x"), ("Accept", "*/*"))


def test_each_world_takes_tokens_from_its_own_headers(make: Make) -> None:
    """The token finds the world, and the world says whether it may come in that header."""
    sandbox = make()
    with sandbox.fork(assume={"v2.token_headers": "X-Token"}) as fork:
        client, token = connect(sandbox), fork.account().token
        assert done(client.call("GET", CHECK, headers=[("X-Token", token)]))
        assert refusal(client.call("GET", CHECK, headers=[("X-Auth-Token", token)]))[2] == "unknown_token"
        assert refusal(client.call("GET", CHECK, headers=[("X-Token", "main-token")]))[2] == "token_missing"
        assert fork.client().get(f"/V2.0{CHECK}").status_code == 200


def test_the_first_header_stands_in_the_document(make: Make) -> None:
    """So that generated clients send it."""
    sandbox = make(assume={"v2.token_headers": ["X-Token", "X-Auth-Token"]})
    schemes = sandbox.client().get("/_sandbox/openapi/v2.json").json["components"]["securitySchemes"]
    assert list(schemes) == ["X-Token"]


@pytest.mark.parametrize("names", [("X-Token",), ("X-Token", "X-Auth-Token")])
def test_the_option_is_short_for_the_assumption(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """It may come more than once."""
    seen: list[Any] = []

    def stop(settings: Any, **_: Any) -> None:
        seen.append(settings.assumed)
        raise SystemExit(0)

    monkeypatch.setattr("reseller_sandbox.assembly.open_worlds", stop)
    options = [word for name in names for word in ("--token-header", name)]
    CliRunner().invoke(cli, ["serve", "--port", "0", *options])
    assert seen == [{"v2.token_headers": names}]


@pytest.mark.parametrize("name", ["X Token", "X-Tök", "", "X-Token\r\nX: 1", "a" * 65])
def test_what_is_no_headers_name_is_refused(name: str) -> None:
    """In one line, before anything is served."""
    told = CliRunner().invoke(cli, ["serve", "--port", "0", "--token-header", name])
    assert told.exit_code == 2
    assert "v2.token_headers takes a list of up to 10 names of headers" in told.output
    assert told.output.count("\n") == 1


@pytest.mark.parametrize(
    ("token", "shown", "reason"),
    [
        ("main-key", "ma***ey", "it is the v3 API key of the account main"),
        ("main-secret", "ma***et", "it is the v3 secret of the account main"),
        ("nobody", "***", "nobody has it"),
    ],
)
def test_what_was_sent_for_a_token_is_told(main: Client, token: str, shown: str, reason: str) -> None:
    """Where it is something that the server knows."""
    assert (
        explained(main, ("X-Auth-Token", token))
        == f"unknown_token: No account has the token {shown!r}: {reason}."
    )


def test_a_revoked_token_is_told(main: Client, sandbox: Sandbox) -> None:
    """As what it was."""
    sandbox.outside.revoke_credentials(account="main")
    assert "it has been revoked" in explained(main, ("X-Auth-Token", "main-token"))


def test_a_form_is_told_the_assumption_that_takes_it(main: Client) -> None:
    """In the message, which is none of the contract's."""
    form = [("X-Auth-Token", "main-token"), ("Content-Type", "application/x-www-form-urlencoded")]
    answer = main.call("POST", "/customer", b"mail=a%40example.com&name=A", form)
    assert answer.status == 415
    assert "v2.request_format=json_or_form would take it" in answer.json["msg"]


# A contact's own handle in its body

CARD = {
    "name": "Nora", "address": "1 Street", "city": "Kyiv", "country": "UA", "phone": "+380.441112233",
    "mail": "nora@example.com", "zip": "01001",
}  # fmt: skip


@pytest.mark.parametrize("key", ["id", "contact_id"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_contact_may_repeat_its_own_handle(main: Client, key: str, method: str) -> None:
    """As some clients do, in either operation; another one's is refused and changes nothing."""
    if method == "PUT":
        done(main.post("/contact/NORA", CARD))
    before = main.get("/contact/NORA").json
    refused = main.call(method, "/contact/NORA", {**CARD, "name": "Other", key: "SOMEBODY"})
    message = {"POST": "Invalid value for extra param contact_id", "PUT": "Invalid Param"}[method]
    assert refusal(refused) == (400, message, "invalid_parameter")
    where = "the body" if key == "contact_id" else "the body, as id"
    told = f"contact_id is said twice and differently: NORA in the path and SOMEBODY in {where}."
    assert refused.headers["x-sandbox-refusal"].endswith(told)
    assert main.get("/contact/NORA").json == before
    assert done(main.call(method, "/contact/NORA", {**CARD, key: "NORA"}))


def test_a_handle_of_digits_may_be_repeated_as_a_number(main: Client) -> None:
    """It is the same handle."""
    assert done(main.post("/contact/1234", {**CARD, "id": 1234}))


def test_an_extra_parameter_of_that_name_stays_one(make: Make) -> None:
    """Where the fixture has one."""
    from dataclasses import replace

    sandbox = make()
    state = sandbox.world.state
    sandbox.world.moment = replace(
        sandbox.world.moment, state=replace(state, contact_params=(*state.contact_params, ("id", "[0-9]+")))
    )
    client = connect(sandbox)
    assert refusal(client.post("/contact/NORA", {**CARD, "id": "NORA"}))[2] == "invalid_extra"
    assert done(client.post("/contact/NORA", {**CARD, "id": "42"}))
