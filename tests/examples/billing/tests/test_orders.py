"""Orders end as they should, whatever the registrar and the network do."""

from __future__ import annotations

from decimal import Decimal

import pytest
from billing import orders
from billing.orders import Outcome
from billing.registrar import Refused, Registrar

from reseller_sandbox import Sandbox

PRICE = Decimal("10.99")

#: What can happen to a connection.
LOST = ("reset", "close", "garbage")


def exhausted(sandbox: Sandbox) -> Decimal:
    account = sandbox.accounts["main"]
    return account.opening - account.balance


@pytest.fixture
def before(reseller_sandbox: Sandbox) -> Decimal:
    return exhausted(reseller_sandbox)


def test_a_new_name_is_registered_and_paid(
    registrar: Registrar, reseller_sandbox: Sandbox, before: Decimal
) -> None:
    assert orders.register(registrar, "new-shop.com") is Outcome.DONE
    assert reseller_sandbox.names["new-shop.com"].account == "main"
    assert exhausted(reseller_sandbox) - before == PRICE


@pytest.mark.parametrize("kind", [*LOST, "truncate"])
def test_a_lost_answer_is_not_paid_for_twice(
    registrar: Registrar, reseller_sandbox: Sandbox, before: Decimal, kind: str
) -> None:
    match = {"operation": "v3.createDomain"}
    reseller_sandbox.faults.add(kind, match=match, when={"phase": "after", "times": 1})
    assert orders.register(registrar, "new-shop.com") is Outcome.DONE
    assert exhausted(reseller_sandbox) - before == PRICE


@pytest.mark.parametrize("kind", LOST)
def test_a_lost_request_is_sent_again(
    registrar: Registrar, reseller_sandbox: Sandbox, before: Decimal, kind: str
) -> None:
    match = {"operation": "v3.createDomain"}
    reseller_sandbox.faults.add(kind, match=match, when={"phase": "before", "times": 1})
    assert orders.register(registrar, "new-shop.com") is Outcome.DONE
    assert exhausted(reseller_sandbox) - before == PRICE


@pytest.mark.parametrize("patience", [2])
def test_a_late_response_does_not_cause_a_second_payment(
    registrar: Registrar, reseller_sandbox: Sandbox, before: Decimal
) -> None:
    match = {"operation": "v3.createDomain"}
    reseller_sandbox.faults.add("latency", seconds=30, match=match, when={"phase": "after", "times": 1})
    assert orders.register(registrar, "new-shop.com") is Outcome.DONE
    assert exhausted(reseller_sandbox) - before == PRICE


def test_a_name_taken_by_another_registrar_is_reported(
    registrar: Registrar, reseller_sandbox: Sandbox, before: Decimal
) -> None:
    reseller_sandbox.simulate.register("new-shop.com")
    assert orders.register(registrar, "new-shop.com") is Outcome.TAKEN
    assert exhausted(reseller_sandbox) == before


def test_an_order_without_funds_is_postponed(registrar: Registrar, reseller_sandbox: Sandbox) -> None:
    reseller_sandbox.accounts.set_balance("main", "5.00")
    assert orders.register(registrar, "new-shop.com") is Outcome.POSTPONED
    assert registrar.balance() == Decimal("5.00")


def test_a_renewal_with_a_lost_answer_is_not_repeated(
    registrar: Registrar, reseller_sandbox: Sandbox
) -> None:
    expires = reseller_sandbox.names["active-example.com"].expires
    match = {"operation": "v3.renewDomain"}
    reseller_sandbox.faults.add("reset", match=match, when={"phase": "after", "times": 1})
    assert orders.renew(registrar, "active-example.com") is Outcome.DONE
    assert reseller_sandbox.names["active-example.com"].expires.year == expires.year + 1


def test_an_unrenewed_name_is_removed_after_its_expiry(
    registrar: Registrar, reseller_sandbox: Sandbox
) -> None:
    assert orders.register(registrar, "new-shop.com") is Outcome.DONE
    moved = reseller_sandbox.clock.advance("P2Y")
    assert "expiry" in {one.event for one in moved.events if one.subject == "new-shop.com"}
    assert registrar.find("new-shop.com") is None
    assert orders.renew(registrar, "new-shop.com") is Outcome.TAKEN


@pytest.mark.reseller_sandbox(assume={"v3.signature.endpoint": "path"})
def test_a_signature_of_a_wrong_string_is_refused(registrar: Registrar) -> None:
    with pytest.raises(Refused) as refused:
        registrar.balance()
    assert refused.value.code == "signature_mismatch"
