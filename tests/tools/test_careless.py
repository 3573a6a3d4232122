"""Careless programs, each with a corrected twin: sweep finds the first, and nothing in the second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from reseller_sandbox import BadSetting, Sandbox
from reseller_sandbox.tools.sweep import sweep as sweep_function  # noqa: TID251

D, NAME, FREE = "/v3/domains", "active-example.com", "wanted-example.com"
HOST = {"hostname": "ns1", "ips": ["192.0.2.7"]}
GRACE = {"name": "Grace Example"}
ORDER = {
    "period": 1,
    "ns": {"array": ["ns1.example.net", "ns2.example.net"]},
    **{f"contact_{role}": "A1001" for role in ("registrant", "admin", "tech", "billing")},
}


def send(
    world: Sandbox, method: str, path: str, body: Any = None, tries: int = 1, until: Any = (200,)
) -> Any:
    """Return the response, or None without one. Send the request again until it has a status of ``until``."""
    response = None
    for _ in range(tries):
        with suppress(OSError, ValueError):
            response = world.client(timeout=10).open(path, method=method, json=body)
            if response.status_code in until and response.json is not None:
                return response
    return None if tries > 1 else response


def read(world: Sandbox, path: str, until: Any = (200, 404)) -> Any:
    response = send(world, "GET", path, tries=5, until=until)
    assert response is not None
    return response.json if response.status_code == 200 else None


def expiry(world: Sandbox, name: str = NAME) -> str | None:
    found = read(world, f"{D}/getDomain/{name}")
    return found["domain"]["expireDate"][:10] if found else None


def register(world: Sandbox, name: str = FREE) -> Any:
    return send(world, "POST", f"{D}/createDomain", {"domain": {"domainName": name}, "years": 1})


def renew_again_after_a_500(world: Sandbox) -> None:
    if (response := send(world, "POST", f"{D}/renewDomain/{NAME}")) is None or response.status_code >= 500:
        send(world, "POST", f"{D}/renewDomain/{NAME}")


def renew_again_if_the_date_is_the_same(world: Sandbox) -> None:
    before = expiry(world)
    for _ in range(4):
        response = send(world, "POST", f"{D}/renewDomain/{NAME}")
        if (response is not None and response.status_code == 200) or expiry(world) != before:
            break
    assert expiry(world) != before


def take_processing_for_failed(world: Sandbox) -> None:
    for name in (FREE, "second-example.com"):
        send(world, "POST", f"/V2.0/domain/{name}", ORDER, tries=3, until=(200, 400, 409))
        order = read(world, f"/V2.0/domain/{name}")
        if order is not None and order["status"] == "2":
            return


def take_processing_for_ordered(world: Sandbox) -> None:
    send(world, "POST", f"/V2.0/domain/{FREE}", ORDER, tries=3, until=(200, 400, 409))
    assert read(world, f"/V2.0/domain/{FREE}") is not None


def move_a_glue_record(world: Sandbox) -> None:
    send(world, "DELETE", f"{D}/glueRecords/{NAME}/ns1", tries=4, until=(200, 404))
    send(world, "POST", f"{D}/glueRecords/{NAME}", HOST)


def move_a_glue_record_and_check(world: Sandbox) -> None:
    move_a_glue_record(world)
    for _ in range(4):
        if (record := read(world, f"{D}/glueRecords/{NAME}/ns1")) is not None:
            assert record["ips"] == HOST["ips"]
            return
        send(world, "POST", f"{D}/glueRecords/{NAME}", HOST)
    raise AssertionError("there is no glue record")


def edit_a_contact(world: Sandbox, tries: int = 1) -> Any:
    body = {
        "reg-contact": {**read(world, f"{D}/getDomain/{NAME}")["domain"]["contacts"]["reg-contact"], **GRACE}
    }
    return send(world, "POST", f"{D}/setContacts/{NAME}", {"contacts": body}, tries=tries)


def edit_a_contact_and_try_again(world: Sandbox) -> None:
    assert edit_a_contact(world, tries=4) is not None


def add_a_customer(world: Sandbox) -> None:
    for mail in ("ada@customer.example", "ada+1@customer.example"):
        response = send(world, "POST", "/V2.0/customer", {"name": "Ada Example", "mail": mail})
        if response is not None and response.status_code == 200:
            return


def add_a_customer_once(world: Sandbox) -> None:
    customer = {"name": "Ada Example", "mail": "ada@customer.example"}
    response = send(world, "POST", "/V2.0/customer", customer, tries=5, until=(200, 403))
    assert response is not None
    assert response.status_code == 200 or response.json["msg"] == "Mail already registered"


def recover_once(world: Sandbox) -> None:
    if (response := register(world)) is not None and response.status_code == 200:
        return
    if (found := send(world, "GET", f"{D}/getDomain/{FREE}")) is None or found.status_code != 200:
        register(world)


def recover_until_it_is_there(world: Sandbox) -> None:
    for _ in range(4):
        if (response := register(world)) is not None and response.status_code == 200:
            return
        if expiry(world, FREE) is not None:
            return
    raise AssertionError("the name is not registered")


def renew_before_expiry(world: Sandbox, name: str = "renewing-example.com") -> None:
    before = expiry(world, name)
    assert before
    if before < f"{world.clock.now:%Y-%m-%d}":
        return
    send(world, "POST", f"{D}/renewDomain/{name}")


def renew_with_the_date_that_was_read(world: Sandbox, name: str = "renewing-example.com") -> None:
    order = read(world, f"/V2.0/domain/{name}")
    body = {"period": 1, "current_expiry_date": order["date_end"][:10]}
    send(world, "PUT", f"/V2.0/domain/{name}/renew", body)


def invoice(world: Sandbox, amount: Callable[[str], Any]) -> Any:
    """Register seven names, and return the sum of their prices."""
    for name in (f"wanted-{number}-example.com" for number in range(7)):
        for _ in range(4):
            if (response := register(world, name)) is not None and response.status_code == 200:
                break
            if expiry(world, name) is not None:
                break
        assert expiry(world, name) is not None
    return sum(amount("10.99") for _ in range(7))


def invoice_in_floats(world: Sandbox) -> list[dict[str, Any]]:
    return [{"invoiced": invoice(world, float)}]


def invoice_in_decimals(world: Sandbox) -> list[dict[str, Any]]:
    return [{"invoiced": str(invoice(world, Decimal))}]


TAKEN = "taken-example.com"
TRANSFER = {"domain": {"domainName": TAKEN}, "authCode": "Taken-Code-1", "purchaseCost": "10.99"}


def take_a_transfer_that_ended_for_done(world: Sandbox) -> None:
    """Request a transfer, and wait until it is not pending."""
    assert send(world, "POST", f"{D}/requestTransfer", TRANSFER, tries=3) is not None
    for _ in range(6):
        status = send(world, "GET", f"/V2.0/domain/{TAKEN}/transfer")
        if status is None or (status.json or {}).get("transfer_status") != "pending":
            return
        world.clock.advance("P1D")


def take_a_transfer_for_done_if_the_name_is_there(world: Sandbox) -> None:
    take_a_transfer_that_ended_for_done(world)
    assert read(world, f"/V2.0/domain/{TAKEN}")["status"] == "2"


EXPIRING = "expiring-example.com"


def renew_each_day(world: Sandbox) -> None:
    """Renew a name on the last day. After a failure, the job of the next day tries again."""
    world.clock.advance("P2DT12H")
    for _ in range(3):
        before = expiry(world, EXPIRING)
        assert before
        if before[:4] == "2026":
            send(world, "POST", f"{D}/renewDomain/{EXPIRING}")
        world.clock.advance("P1D")
    assert expiry(world, EXPIRING) == "2027-01-18"


def renew_a_month_ahead(world: Sandbox) -> None:
    """Try to renew a name on each of three days before the last day."""
    before = expiry(world, EXPIRING)
    for _ in range(3):
        if expiry(world, EXPIRING) == before:
            send(world, "POST", f"{D}/renewDomain/{EXPIRING}")
    assert expiry(world, EXPIRING) != before
    world.clock.advance("P5D")


def repeat_only_after_server_errors(world: Sandbox) -> Any:
    """Change the name servers. Repeat the request after a loss, and leave every refusal alone."""
    body = {"nameservers": ["ns7.example.net", "ns8.example.net"]}
    for _ in range(4):
        response = send(world, "POST", f"{D}/setNameservers/{NAME}", body)
        if response is not None and response.status_code < 500 and response.status_code != 429:
            return response
    raise AssertionError("no answer")


def report_refusals(world: Sandbox) -> None:
    assert repeat_only_after_server_errors(world).status_code == 200


def invoice_paid(world: Sandbox, cents: Callable[[str], int]) -> list[dict[str, Any]]:
    """Register two names, and report the sum that the ledger says, in cents."""
    names = ("wanted-1-example.com", "wanted-2-example.com")
    for name in names:
        for _ in range(4):
            register(world, name)
            if expiry(world, name) is not None:
                break
        assert expiry(world, name) is not None
    paid = [movement for name in names for movement in world.ledger.list(domain=name).entries]
    return [{"invoiced": str(Decimal(sum(cents(str(-movement.amount)) for movement in paid)) / 100)}]


def invoice_in_cents_of_floats(world: Sandbox) -> list[dict[str, Any]]:
    return invoice_paid(world, lambda amount: int(float(amount) * 100))


def invoice_in_cents_of_decimals(world: Sandbox) -> list[dict[str, Any]]:
    return invoice_paid(world, lambda amount: int(Decimal(amount) * 100))


def renew_at_any_price(world: Sandbox) -> None:
    send(world, "POST", f"{D}/renewDomain/{NAME}")


def renew_at_the_agreed_price(world: Sandbox) -> None:
    response = send(world, "POST", f"{D}/renewDomain/{NAME}", {"purchaseCost": "12.99"})
    assert response is not None
    assert response.status_code == 200


def ignore_that_a_name_is_gone(world: Sandbox) -> None:
    """Register a name, and set its name servers, whatever the answers say."""
    register(world)
    body = {"nameservers": ["ns7.example.net", "ns8.example.net"]}
    send(world, "POST", f"{D}/setNameservers/{FREE}", body)


def check_that_a_name_is_there(world: Sandbox) -> None:
    ignore_that_a_name_is_gone(world)
    domain = read(world, f"{D}/getDomain/{FREE}")["domain"]
    assert domain["nameservers"] == ["ns7.example.net", "ns8.example.net"]


LOSSES = ("lost-request", "lost-answer", "rate-limited", "server-error", "server-error-after", "outage")

#: The careless program, its twin, the options of the sweep, and words of a finding.
TWINS: tuple[tuple[Callable[..., Any], Callable[..., Any], dict[str, Any], str], ...] = (
    (renew_again_after_a_500, renew_again_if_the_date_is_the_same, {"kinds": LOSSES}, "was paid 2 times"),
    (
        take_processing_for_failed,
        take_processing_for_ordered,
        {"kinds": ("assumptions",), "only": "v2.domain.*"},
        "second-example.com was paid, 10.99, but not without the fault",
    ),
    (move_a_glue_record, move_a_glue_record_and_check, {"kinds": LOSSES}, "host ns1.active-example.com"),
    (edit_a_contact, edit_a_contact_and_try_again, {"kinds": LOSSES}, "its contacts are"),
    (
        add_a_customer,
        add_a_customer_once,
        {"kinds": LOSSES},
        "customer ada+1@customer.example exists, but does not exist",
    ),
    (recover_once, recover_until_it_is_there, {"kinds": LOSSES, "depth": 2}, "does not exist, but exists"),
    (
        renew_before_expiry,
        renew_with_the_date_that_was_read,
        {"kinds": ("time",)},
        "the renewal of renewing-example.com was paid 2 times",
    ),
    (invoice_in_floats, invoice_in_decimals, {"kinds": LOSSES[:2]}, "invoiced 76.92999999999999, paid 76.93"),
    (
        invoice_in_cents_of_floats,
        invoice_in_cents_of_decimals,
        {"kinds": ("prices",)},
        "all orders: invoiced 8.68, paid 8.70",
    ),
    (
        take_a_transfer_that_ended_for_done,
        take_a_transfer_for_done_if_the_name_is_there,
        {"kinds": ("external-changes",)},
        f"external-changes (transfer rejected): {TAKEN} of main",
    ),
    (
        renew_each_day,
        renew_a_month_ahead,
        {"kinds": LOSSES},
        f"lost-request: {EXPIRING} was not active (overdue) for 12 hours",
    ),
    (
        repeat_only_after_server_errors,
        report_refusals,
        {"kinds": ("error",)},
        "its name servers are ns1.example.net, ns2.example.net, but ns7.example.net, ns8.example.net without",
    ),
    (
        renew_at_any_price,
        renew_at_the_agreed_price,
        {"kinds": ("external-changes",)},
        "cost 25.98, but the agreed price was 12.99",
    ),
    (
        ignore_that_a_name_is_gone,
        check_that_a_name_is_there,
        {"kinds": ("external-changes",)},
        f"external-changes (registration refused): {FREE} of main does not exist, but exists without",
    ),
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def findings(program: Callable[..., Any], sandbox: Sandbox, **options: Any) -> str:
    """Return the violations of a swept program, also those without any fault."""
    try:
        report = sweep_function(program, sandbox, **options)
    except BadSetting as problem:
        return str(problem)
    return "\n".join(f"{run.title}: {words}" for run in report.findings for words in run.violations)


@pytest.mark.parametrize(
    ("careless", "careful", "options", "words"), TWINS, ids=[row[0].__name__ for row in TWINS]
)
def test_a_careless_program_has_findings_and_a_careful_program_has_none(
    careless: Callable[..., Any],
    careful: Callable[..., Any],
    options: dict[str, Any],
    words: str,
    sandbox: Sandbox,
) -> None:
    assert words in findings(careless, sandbox, **options)
    assert not findings(careful, sandbox, **options)


def advance_the_clock(world: Sandbox) -> None:
    """Renew a name, then let time pass. Most names of the fixture expire in this time."""
    response = send(world, "POST", f"{D}/renewDomain/{NAME}")
    assert response is None or response.status_code == 200
    world.clock.advance("P400D")


def register_and_delete(world: Sandbox) -> list[dict[str, Any]]:
    """Register a name and delete it in the add grace period. Report the sums of all orders."""
    register(world)
    if expiry(world, FREE) is None:
        raise AssertionError("the name is not registered")
    send(world, "DELETE", f"/V2.0/domain/{FREE}", tries=3)
    assert expiry(world, FREE) is None
    return [
        {"invoiced": "10.99", "credited": "10.99"},
        {"name": FREE, "invoiced": "10.99", "credited": "10.99"},
    ]


def read_after_the_clock_moved(world: Sandbox) -> None:
    """Read the date of a name in the month after its renewal. No cache is as old."""
    before = expiry(world)
    for _ in range(4):
        send(world, "POST", f"{D}/renewDomain/{NAME}")
        world.clock.advance("P30D")
        if expiry(world) != before:
            return
    raise AssertionError("the name is not renewed")


def trust_an_order(world: Sandbox) -> None:
    """Order a name once. If the answer is lost, the final state is nevertheless the desired state."""
    register(world)


def invoice_a_fixed_price(world: Sandbox) -> list[dict[str, Any]]:
    """Register a name, and report the price from the documentation. No rounding is wrong."""
    register(world)
    return [{"name": FREE, "invoiced": "10.99"}]


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        (invoice_a_fixed_price, ("prices",)),
        (advance_the_clock, ("lost-answer", "slow-answer", "garbage", "outage", "server-error-after")),
        (register_and_delete, ("lost-answer", "stale-read", "garbage")),
        (read_after_the_clock_moved, ("stale-read",)),
        (trust_an_order, ("lost-answer", "slow-answer", "garbage")),
    ],
)
def test_a_correct_program_gets_no_false_alarm(
    program: Callable[..., Any], kinds: tuple[str, ...], sandbox: Sandbox
) -> None:
    assert not findings(program, sandbox, kinds=kinds)
