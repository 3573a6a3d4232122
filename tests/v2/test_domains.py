"""Names in v2.0: prices, whole effects, deletion, transfers, spellings, and explanations in headers."""

from __future__ import annotations

from http.client import HTTPConnection

from reseller_sandbox import Sandbox
from tests.registry import edit
from tests.v2.client import Client, done, refusal
from tests.v2.works import WORKS


def test_an_incoming_transfer_adds_a_year(sandbox: Sandbox, main: Client, other: Client) -> None:
    expires = sandbox.names["theirs.com"].expires
    assert done(main.post("/domain/theirs.com/transfer", {"transfer_code": "let-me-in", "customer_id": 8}))
    assert main.get("/domain/theirs.com").json["status"] == "1"
    sandbox.clock.advance("P5D")
    name = sandbox.names["theirs.com"]
    assert main.get("/domain/theirs.com").json["status"] == "2"
    assert (name.expires.year, name.customer) == (expires.year + 1, 8)
    assert done(main.get("/domain/theirs.com/host/ns1"))["data"]["ip"] == ["192.0.2.9"]
    assert refusal(other.get("/domain/theirs.com"))[0] == 404


def test_an_auth_code_can_be_a_number_and_no_answer_contains_a_secret(sandbox: Sandbox, main: Client) -> None:
    edit(sandbox, {"domains": {"theirs.com": {"auth_code": "123456"}}})
    answer = main.post("/domain/theirs.com/transfer", {"transfer_code": "my-guess"})
    shown = answer.raw.decode() + str(answer.headers)
    assert "my-guess" not in shown
    assert "123456" not in shown
    assert done(main.post("/domain/theirs.com/transfer", {"transfer_code": 123456}))


def test_a_header_explains_a_refusal_that_its_message_does_not(main: Client) -> None:
    answer = WORKS["v2.domain.renew"].with_(date_end="soon").send(main)
    assert answer.headers["x-sandbox-refusal"] == "invalid_parameter: date_end must be a date, not 'soon'."
    main.version = f"V{'2' * 20}.0"
    explanation = main.get("/domain/active.com").headers["x-sandbox-refusal"]
    assert explanation == f"version_not_served: The version V{'2' * 19} is not served; V2.0 is."


def test_a_refusal_in_a_header_of_a_server_has_names_as_ascii(sandbox: Sandbox) -> None:
    with sandbox.serve() as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        path = "/V2.0/domain/%D0%BD%D0%B5%D0%BC%D0%B0%D1%94.com"  # немає.com
        connection.request("GET", path, headers={"X-Auth-Token": sandbox.accounts["main"].token})
        answer = connection.getresponse()
        answer.read()
        connection.close()
    assert "xn--80ajvc2j.com" in answer.headers["X-Sandbox-Refusal"]
    assert "\\u" not in answer.headers["X-Sandbox-Refusal"]
