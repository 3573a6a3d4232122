"""Names in headers are in their ASCII form."""

from __future__ import annotations

from http.client import HTTPConnection

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY


def test_a_refusal_in_a_header_has_names_as_ascii() -> None:
    """``xn--`` for an internationalised name, in the header alone; the body has it as it was sent."""
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        path = "/V2.0/domain/%D0%BD%D0%B5%D0%BC%D0%B0%D1%94.com"  # немає.com
        connection.request("GET", path, headers={"X-Auth-Token": sandbox.account().token})
        answer = connection.getresponse()
        answer.read()
        connection.close()
    refusal = answer.headers["X-Sandbox-Refusal"]
    assert "xn--80ajvc2j.com" in refusal
    assert "\\u" not in refusal
