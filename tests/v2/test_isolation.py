"""No account sees or changes what is another's: every operation, on what the account ``main`` has."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, HOST, NAME, RENEWAL, WORKS, Ask

UNKNOWN = (404, "ID not found")
NOT_YOURS = (400, "Invalid id")
LOST = (404, "Object not found active.com")

#: What an account that has nothing to do with them is told about main's customers, contacts and names.
TOLD: dict[str, tuple[Ask, tuple[int, str]]] = {
    "v2.customer.edit": (WORKS["v2.customer.edit"], UNKNOWN),
    "v2.customer.info": (WORKS["v2.customer.info"], UNKNOWN),
    "v2.customer.delete": (WORKS["v2.customer.delete"], UNKNOWN),
    "v2.contact.create": (
        Ask("POST", "/contact/OWNER", CARD),
        (400, "Invalid value for extra param contact_id"),
    ),
    "v2.contact.edit": (WORKS["v2.contact.edit"], UNKNOWN),
    "v2.contact.info": (WORKS["v2.contact.info"], UNKNOWN),
    "v2.contact.delete": (WORKS["v2.contact.delete"], UNKNOWN),
    "v2.domain.register": (
        Ask(
            "POST",
            "/domain/active.com",
            {
                **NAME,
                **dict.fromkeys(
                    ("contact_admin", "contact_billing", "contact_registrant", "contact_tech"), "POOR"
                ),
            },
        ),
        (403, "Domain is already registered"),
    ),
    "v2.domain.info": (WORKS["v2.domain.info"], LOST),
    "v2.domain.edit": (WORKS["v2.domain.edit"], NOT_YOURS),
    "v2.domain.delete": (WORKS["v2.domain.delete"], NOT_YOURS),
    "v2.domain.renew": (Ask("PUT", "/domain/active.com/renew", RENEWAL), NOT_YOURS),
    "v2.domain.restore": (WORKS["v2.domain.restore"], NOT_YOURS),
    "v2.transfer.request": (
        Ask("POST", "/domain/served.com/transfer", {"transfer_code": "guess"}),
        (400, "Not the correct transfer_code"),
    ),
    "v2.transfer.status": (WORKS["v2.transfer.status"], NOT_YOURS),
    "v2.transfer.cancel": (WORKS["v2.transfer.cancel"], NOT_YOURS),
    "v2.transfer.approve": (WORKS["v2.transfer.approve"], NOT_YOURS),
    "v2.transfer.reject": (WORKS["v2.transfer.reject"], NOT_YOURS),
    "v2.host.check": (Ask("GET", f"{HOST}/ns1/check"), LOST),
    "v2.host.create": (WORKS["v2.host.create"], LOST),
    "v2.host.edit": (WORKS["v2.host.edit"], LOST),
    "v2.host.info": (WORKS["v2.host.info"], LOST),
    "v2.host.delete": (WORKS["v2.host.delete"], LOST),
}

#: What says the same to everybody, or speaks of nothing that anybody has.
OPEN = {"v2.customer.create", "v2.contact.check", "v2.domain.check", "v2.domain.zones"}


def test_every_operation_is_here() -> None:
    """None is left out."""
    assert set(TOLD) | OPEN == set(WORKS)


@pytest.mark.parametrize("operation", TOLD)
def test_a_stranger_is_told_nothing(sandbox: Sandbox, poor: Client, operation: str) -> None:
    """The refusal that the contract has for it, and no change."""
    before = sandbox.world.state
    ask, told = TOLD[operation]
    assert refusal(ask.send(poor))[:2] == told
    assert sandbox.world.state is before


@pytest.mark.parametrize(
    "operation", ["v2.customer.info", "v2.customer.delete", "v2.contact.info", "v2.contact.delete"]
)
def test_guessing_an_id_is_of_no_use(poor: Client, operation: str) -> None:
    """What is another's and what is nobody's are answered in the same bytes."""
    ask, _ = TOLD[operation]
    nobodys = ask.at(ask.path.rpartition("/")[0] + "/31337")
    assert ask.send(poor).raw == nobodys.send(poor).raw


def test_a_handle_is_free_or_not_for_everybody(main: Client, other: Client) -> None:
    """Handles are the registry's: who has one is not told, but that it is taken is."""
    for client in (main, other):
        assert done(client.get("/contact/OWNER/check"))["avail"] is False
        assert done(client.get("/contact/THEIRS/check"))["avail"] is False
        assert done(client.get("/contact/NEW/check"))["avail"] is True


def test_a_mail_is_unique_in_its_account_alone(main: Client, other: Client) -> None:
    """Another account's customers do not stand in the way, and are not found."""
    assert done(other.post("/customer", {**CUSTOMER, "mail": "seven@example.com"}))
    assert refusal(main.post("/customer", {**CUSTOMER, "mail": "SEVEN@example.com"}))[0] == 403
    assert done(main.put("/customer", {"mail": "seven@example.com", "name": "Mine"}))
    assert done(main.get("/customer/7"))["data"]["name"] == "Mine"


@pytest.mark.parametrize(
    "changes",
    [
        {"contact_registrant": "OWNER"},
        {"contact_admin": "OUTSIDE"},
        {"contact_billing": "THEIRS", "contact_tech": "MAIN"},
        {"customer_id": 7},
    ],
)
def test_a_name_takes_only_ones_own(sandbox: Sandbox, other: Client, changes: dict[str, object]) -> None:
    """Contacts and customers of another account are no valid ids."""
    roles = dict.fromkeys(
        ("contact_admin", "contact_billing", "contact_registrant", "contact_tech"), "THEIRS"
    )
    before = sandbox.world.state
    wanted = {**NAME, **roles, "customer_id": 9, **changes}
    assert refusal(other.post("/domain/new.com", wanted))[:2] == NOT_YOURS
    if "customer_id" not in changes:
        assert refusal(other.put("/domain/theirs.com", changes))[:2] == NOT_YOURS
    else:
        wish = {"transfer_code": "let-me-in", **changes}
        assert refusal(other.post("/domain/elsewhere.com/transfer", wish))[:2] == NOT_YOURS
        wanted = {**CARD, **changes}
        assert refusal(other.post("/contact/NEW", wanted))[1] == "Invalid value for extra param customer_id"
    assert sandbox.world.state is before


def test_the_sides_of_a_transfer(sandbox: Sandbox) -> None:
    """Each side may do its part: the holder decides, the other side withdraws, both see how it stands."""
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
