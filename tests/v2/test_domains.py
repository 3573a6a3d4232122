"""Names in v2.0: prices, whole effects, deletion, transfers, spellings, and explanations in headers."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.registry import edit
from tests.v2.client import Client, done
from tests.v2.works import WORKS


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
