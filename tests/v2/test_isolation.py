"""No account sees or changes the data of another: every operation, on the data of the account ``main``."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.registry import contents
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, HOST, NAME, RENEWAL, WORKS, Ask

UNKNOWN = (404, "ID not found")
NOT_YOURS = (400, "Invalid id")
LOST = (404, "Object not found active.com")
ROLES = ("contact_admin", "contact_billing", "contact_registrant", "contact_tech")

#: The refusal of a request of another account about main's customers, contacts and names.
REFUSED: dict[str, tuple[Ask, tuple[int, str]]] = {
    **{
        operation: (WORKS[operation], answer)
        for answer, operations in {
            UNKNOWN: "customer.edit customer.info customer.delete contact.edit contact.info contact.delete",
            LOST: "domain.info host.create host.edit host.info host.delete",
            NOT_YOURS: "domain.edit domain.delete domain.restore"
            " transfer.status transfer.cancel transfer.approve transfer.reject",
        }.items()
        for operation in (f"v2.{name}" for name in operations.split())
    },
    "v2.contact.create": (
        Ask("POST", "/contact/OWNER", CARD),
        (400, "Invalid value for extra param contact_id"),
    ),
    "v2.domain.register": (
        Ask("POST", "/domain/active.com", {**NAME, **dict.fromkeys(ROLES, "POOR")}),
        (403, "Domain is already registered"),
    ),
    "v2.domain.renew": (Ask("PUT", "/domain/active.com/renew", RENEWAL), NOT_YOURS),
    "v2.transfer.request": (
        Ask("POST", "/domain/served.com/transfer", {"transfer_code": "guess"}),
        (400, "Not the correct transfer_code"),
    ),
    "v2.host.check": (Ask("GET", f"{HOST}/ns1/check"), LOST),
}

#: These answer every account alike, or are about nothing that an account has.
OPEN = {"v2.customer.create", "v2.contact.check", "v2.domain.check", "v2.domain.zones"}


def test_another_account_is_refused_by_every_operation_without_effect(
    sandbox: Sandbox, poor: Client, subtests: pytest.Subtests
) -> None:
    assert set(REFUSED) | OPEN == set(WORKS)
    before = contents(sandbox)
    for operation, (ask, answer) in REFUSED.items():
        with subtests.test(operation=operation):
            assert refusal(ask.send(poor))[:2] == answer
            assert contents(sandbox) == before


def test_an_id_of_another_account_and_an_unknown_id_are_answered_in_the_same_bytes(poor: Client) -> None:
    for operation in ("v2.customer.info", "v2.customer.delete", "v2.contact.info", "v2.contact.delete"):
        ask = WORKS[operation]
        unknown = ask.at(ask.path.rpartition("/")[0] + "/31337")
        assert ask.send(poor).raw == unknown.send(poor).raw, operation


def test_a_handle_is_free_or_not_for_every_account(main: Client, other: Client) -> None:
    for client in (main, other):
        assert done(client.get("/contact/OWNER/check"))["avail"] is False
        assert done(client.get("/contact/THEIRS/check"))["avail"] is False
        assert done(client.get("/contact/NEW/check"))["avail"] is True


def test_a_mail_is_unique_in_its_account_alone(main: Client, other: Client) -> None:
    assert done(other.post("/customer", {**CUSTOMER, "mail": "seven@example.com"}))
    assert refusal(main.post("/customer", {**CUSTOMER, "mail": "SEVEN@example.com"}))[0] == 403
    assert done(main.put("/customer", {"mail": "Seven@Example.com", "name": "Mine"}))
    assert done(main.get("/customer/7"))["data"]["name"] == "Mine"


def test_contacts_and_customers_of_another_account_are_invalid_ids(sandbox: Sandbox, other: Client) -> None:
    before = contents(sandbox)
    own = {**NAME, **dict.fromkeys(ROLES, "THEIRS"), "customer_id": 9}
    changes: list[dict[str, object]] = [
        {"contact_registrant": "OWNER"},
        {"contact_admin": "OUTSIDE"},
        {"contact_billing": "THEIRS", "contact_tech": "MAIN"},
    ]
    for change in changes:
        assert refusal(other.post("/domain/new.com", {**own, **change}))[:2] == NOT_YOURS
        assert refusal(other.put("/domain/theirs.com", change))[:2] == NOT_YOURS
    assert refusal(other.post("/domain/new.com", {**own, "customer_id": 7}))[:2] == NOT_YOURS
    wish = {"transfer_code": "let-me-in", "customer_id": 7}
    assert refusal(other.post("/domain/elsewhere.com/transfer", wish))[:2] == NOT_YOURS
    wanted = {**CARD, "customer_id": 7}
    assert refusal(other.post("/contact/NEW", wanted))[1] == "Invalid value for extra param customer_id"
    assert contents(sandbox) == before


def test_each_side_of_a_transfer_may_do_its_part_alone(sandbox: Sandbox) -> None:
    gaining, losing = connect(sandbox), connect(sandbox, "other")
    wrong = "The status of the order does not allow to perform the operation"
    path = "/domain/moving.com/transfer"
    for client in (gaining, losing):
        assert done(client.get(path))["transfer_status"] == "pending"
    assert refusal(gaining.put(f"{path}/approve"))[:2] == (403, wrong)
    assert refusal(gaining.put(f"{path}/reject"))[:2] == (403, wrong)
    assert refusal(losing.delete(path))[:2] == (403, wrong)
    assert done(losing.put(f"{path}/approve"))
    for client in (gaining, losing):
        assert done(client.get(path))["transfer_status"] == "clientApproved"
    assert done(gaining.get("/domain/moving.com"))["contact_admin"] == "MAIN"
    assert refusal(losing.get("/domain/moving.com"))[0] == 404
