"""Generated auth codes follow from the seed of the fixture and a counter."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.registry import edit


def generated_codes(sandbox: Sandbox, seed: str) -> list[str]:
    """Register twenty names in a world with ``seed``. Return their auth codes."""
    sandbox.reset(original=True)
    edit(sandbox, {"seed": seed})
    client = sandbox.client()
    for number in range(20):
        client.post("/v3/domains/createDomain", json={"domain": {"domainName": f"n{number}.com"}})
    return [sandbox.names[f"n{number}.com"].auth_code for number in range(20)]


def test_auth_codes_are_equal_for_equal_seeds_and_differ_otherwise(sandbox: Sandbox) -> None:
    codes = generated_codes(sandbox, "one")
    assert codes == generated_codes(sandbox, "one")
    assert not set(codes) & set(generated_codes(sandbox, "two"))
    assert len(set(codes)) == 20
