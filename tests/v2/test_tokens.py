"""The headers of a v2.0 token, and how a refusal explains a wrong token."""

from __future__ import annotations

import subprocess
import sys

from reseller_sandbox import Sandbox
from tests.registry import Make, edit
from tests.v2.client import FORM, Client, connect, done, refusal

CHECK = "/domain/new.com/check"


def explained(client: Client, *headers: tuple[str, str]) -> str:
    """Return the explanation of a refused request with these headers."""
    answer = client.call("GET", "/customer/1", headers=list(headers))
    assert answer.status == 403
    return answer.headers["x-sandbox-refusal"]


def test_a_token_in_another_header_is_reported_with_the_option_that_accepts_it(main: Client) -> None:
    for name in ("X-Token", "x-token", "Token", "Authorization", "X-Authorisation"):
        message = explained(main, (name, "main-token"))
        assert message.startswith("token_missing: The request carries no X-Auth-Token header; it carries ")
        assert f"--token-header {name.title()} would take" in message
        assert "main-token" not in message
    assert "it carries" not in explained(main, ("X-Sandbox-Token", "x"), ("Accept", "*/*"))


def test_each_world_has_its_own_token_headers(make: Make) -> None:
    sandbox = make()
    with sandbox.fork(assume={"v2.token_headers": "X-Token"}) as fork:
        client, token = connect(sandbox), fork.account().token
        assert done(client.call("GET", CHECK, headers=[("X-Token", token)]))
        assert refusal(client.call("GET", CHECK, headers=[("X-Auth-Token", token)]))[2] == "unknown_token"
        assert refusal(client.call("GET", CHECK, headers=[("X-Token", "main-token")]))[2] == "token_missing"
        assert fork.client().get(f"/V2.0{CHECK}").status_code == 200


def test_the_document_names_the_first_header(make: Make) -> None:
    sandbox = make(assume={"v2.token_headers": ["X-Token", "X-Auth-Token"]})
    schemes = sandbox.client().get("/_sandbox/openapi/v2.json").json["components"]["securitySchemes"]
    assert list(schemes) == ["X-Token"]


def test_a_name_that_is_not_a_header_is_refused_before_anything_is_served() -> None:
    command = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0", "--token-header", "X-Token"]
    run = subprocess.run([*command, "--token-header", "X Token"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "v2.token_headers takes a list of up to 10 names of headers" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_credential_that_is_not_a_token_is_named(main: Client, sandbox: Sandbox) -> None:
    for token, shown, reason in [
        ("main-key", "ma***ey", "it is the v3 API key of the account main"),
        ("main-secret", "ma***et", "it is the v3 secret of the account main"),
        ("nobody", "***", "nobody has it"),
    ]:
        message = explained(main, ("X-Auth-Token", token))
        assert message == f"unknown_token: No account has the token {shown!r}: {reason}."
    sandbox.outside.revoke_credentials(account="main")
    assert "it has been revoked" in explained(main, ("X-Auth-Token", "main-token"))


def test_a_form_is_refused_with_the_assumption_that_accepts_it(main: Client) -> None:
    main.own = [FORM]
    answer = main.post("/customer", b"mail=a%40example.com&name=A")
    assert answer.status == 415
    assert "v2.request_format=json_or_form would take it" in answer.json["msg"]


# A contact's own handle in its body

CARD = {
    "name": "Nora", "address": "1 Street", "city": "Kyiv", "country": "UA", "phone": "+380.441112233",
    "mail": "nora@example.com", "zip": "01001",
}  # fmt: skip


def test_a_contact_may_repeat_its_own_handle_and_no_other(main: Client) -> None:
    for key, where in {"contact_id": "the body", "id": "the body, as id"}.items():
        handle = f"NORA-{key}"
        path = f"/contact/{handle}"
        twice = f"contact_id is said twice and differently: {handle} in the path and SOMEBODY in {where}."
        for method, error in (("POST", "Invalid value for extra param contact_id"), ("PUT", "Invalid Param")):
            before = main.get(path).json
            refused = main.call(method, path, {**CARD, "name": "Other", key: "SOMEBODY"})
            assert refusal(refused) == (400, error, "invalid_parameter")
            assert refused.headers["x-sandbox-refusal"].endswith(twice)
            assert main.get(path).json == before
            assert done(main.call(method, path, {**CARD, key: handle}))
    assert done(main.post("/contact/1234", {**CARD, "id": 1234})), "a handle of digits as a number"


def test_an_extra_parameter_of_the_fixture_may_be_called_id(make: Make) -> None:
    sandbox = make()
    edit(sandbox, {"contact_params": {"id": "[0-9]+"}})
    client = connect(sandbox)
    assert refusal(client.post("/contact/NORA", {**CARD, "id": "NORA"}))[2] == "invalid_extra"
    assert done(client.post("/contact/NORA", {**CARD, "id": "42"}))
