"""The headers of a v2.0 token, and how a refusal explains a wrong token."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.registry import Make, edit
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD

CHECK = "/domain/new.com/check"


def explanation(client: Client, *headers: tuple[str, str]) -> str:
    """Return the explanation of a refused request with these headers, which has no secret."""
    answer = client.call("GET", "/customer/1", headers=list(headers))
    assert answer.status == 403
    shown = answer.raw.decode() + str(answer.headers)
    assert not [value for _, value in headers if len(value) > 5 and value in shown]
    return answer.headers["x-sandbox-refusal"]


def test_a_token_in_another_header_is_reported_with_the_option_that_accepts_the_header(main: Client) -> None:
    for name in ("X-Token", "x-token", "Token", "Authorization", "X-Authorisation"):
        message = explanation(main, (name, "main-token"))
        assert message.startswith("token_missing: The request carries no X-Auth-Token header; it carries ")
        assert f"--token-header {name.title()} would take" in message
    assert "it carries" not in explanation(main, ("X-Sandbox-Token", "x"), ("Accept", "*/*"))


def test_each_world_has_its_own_token_headers(make: Make) -> None:
    sandbox = make()
    with sandbox.fork(assume={"v2.token_headers": "X-Token"}) as fork:
        client, token = connect(sandbox), fork.accounts["main"].token
        assert done(client.call("GET", CHECK, headers=[("X-Token", token)]))
        assert refusal(client.call("GET", CHECK, headers=[("X-Auth-Token", token)]))[2] == "unknown_token"
        assert refusal(client.call("GET", CHECK, headers=[("X-Token", "main-token")]))[2] == "token_missing"
        assert fork.client().get(f"/V2.0{CHECK}").status_code == 200


def test_the_refusal_names_the_kind_of_a_credential_that_is_not_a_token(
    main: Client, sandbox: Sandbox
) -> None:
    for token, shown, reason in [
        ("main-key", "ma***ey", "it is the API key of the account main"),
        ("main-secret", "ma***et", "it is the secret of the account main"),
        ("lost-token", "lo***en", "nobody has it"),
    ]:
        message = explanation(main, ("X-Auth-Token", token))
        assert message == f"unknown_token: No account has the token {shown!r}: {reason}."
    sandbox.simulate.revoke_credentials(account="main")
    assert "it has been revoked" in explanation(main, ("X-Auth-Token", "main-token"))


# A contact's own handle in its body

NEEDED = {key: CARD[key] for key in CARD if key not in ("company", "fax", "region")}


def test_a_contact_may_repeat_its_own_handle_and_no_other(main: Client) -> None:
    for key, place in {"contact_id": "the body", "id": "the body, as id"}.items():
        for method, error in (("POST", "Invalid value for extra param contact_id"), ("PUT", "Invalid Param")):
            refused = main.call(method, f"/contact/N-{key}", {**NEEDED, key: "OWNER"})
            assert refusal(refused) == (400, error, "invalid_parameter")
            message = f"has two different values: N-{key} in the path and OWNER in {place}."
            assert refused.headers["x-sandbox-refusal"].endswith(message)
            assert done(main.call(method, f"/contact/N-{key}", {**NEEDED, key: f"N-{key}"}))
    assert done(main.post("/contact/1234", {**NEEDED, "id": 1234})), "a handle of digits as a number"


def test_an_extra_parameter_of_the_fixture_may_be_called_id(sandbox: Sandbox, main: Client) -> None:
    edit(sandbox, {"contact_params": {"id": "[0-9]+"}})
    assert refusal(main.post("/contact/NORA", {**NEEDED, "id": "NORA"}))[2] == "invalid_extra"
    assert done(main.post("/contact/NORA", {**NEEDED, "id": "42"}))
