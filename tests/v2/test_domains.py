"""Names in v2.0: prices, whole effects, deletion, transfers, spellings, and explanations in headers."""

from __future__ import annotations

from decimal import Decimal
from http.client import HTTPConnection
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.registry import contents, edit
from tests.soundness import assert_books_balance
from tests.v2.client import Client, connect, done, refusal
from tests.v2.works import NAME, WORKS, Ask

OWNER = {"contact_registrant": "OWNER"}

#: The price of each operation, and the purpose of its ledger entry.
COSTS: list[tuple[Ask, str, str | None]] = [
    (WORKS["v2.domain.register"], "20.00", "registration"),
    (WORKS["v2.domain.register"].at("/domain/new.net"), "9.50", "registration"),
    (WORKS["v2.domain.register"].at("/domain/new.com.ua").with_(license="123456"), "12.00", "registration"),
    (WORKS["v2.domain.renew"], "12.00", "renewal"),
    (
        WORKS["v2.domain.renew"].at("/domain/gold.com/renew").with_(period=2, date_end="2028-11-21"),
        "600.00",
        "renewal",
    ),
    (WORKS["v2.domain.restore"], "80.00", "restore"),
    (WORKS["v2.transfer.request"], "9.00", "transfer"),
    (Ask("PUT", "/domain/held.com.ua", OWNER), "2.50", "owner_change"),
    (Ask("PUT", "/domain/held.com.ua", {"contact_admin": "OWNER"}), "0.00", None),
    (Ask("PUT", "/domain/served.com", OWNER), "0.00", None),
    (Ask("PUT", "/domain/held.com.ua", {"contact_registrant": "MAIN"}), "0.00", None),
]


def test_an_operation_charges_its_price_once_and_does_nothing_for_a_cent_less(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    for ask, price, purpose in COSTS:
        with subtests.test(path=ask.path):
            sandbox.reset()
            answer = ask.send(main)
            assert done(answer)
            assert sandbox.accounts["main"].balance == Decimal("10000.00") - Decimal(price)
            entries = sandbox.ledger.find(request=answer.headers["x-sandbox-request"]).entries
            assert [(one.amount, one.purpose) for one in entries] == (
                [(-Decimal(price), purpose)] if purpose else []
            )
            if purpose is None:
                continue
            sandbox.reset()
            sandbox.outside.adjust_balance("main", to=Decimal(price) - Decimal("0.01"))
            before = contents(sandbox)
            assert refusal(ask.send(main))[:2] == (403, "Not enough funds on the balance sheet")
            assert contents(sandbox) == before
            sandbox.outside.adjust_balance("main", to=price)
            assert done(ask.send(main))
            assert sandbox.accounts["main"].balance == 0


def test_an_edit_takes_effect_whole_or_not_at_all(sandbox: Sandbox, main: Client) -> None:
    """One bad part, and nothing of the rest is done."""
    good: dict[str, Any] = {
        "client_hold": 1,
        "contact_admin": "ADMIN",
        "contact_registrant": "OWNER",
        "ns": {"add": ["ns3.home.net"], "del": ["ns1.home.net"]},
    }
    bad: list[dict[str, Any]] = [
        {"client_renew_prohibited": 2},
        {"contact_tech": "THEIRS"},
        {"ns": {"add": ["ns3.home.net"], "del": ["ns7.home.net"]}},
        {"ns": {"add": ["ns3.home.net", "-"]}},
    ]
    before = contents(sandbox)
    for part in bad:
        assert refusal(main.put("/domain/held.com.ua", {**good, **part}))
        assert contents(sandbox) == before
    assert done(main.put("/domain/held.com.ua", good))
    name = sandbox.names["held.com.ua"]
    assert name.nameservers == ("ns2.home.net", "ns3.home.net")
    assert list(name.contacts.values()) == ["OWNER", "ADMIN", "MAIN", "MAIN"]
    assert name.flags == ("client_hold",)
    assert sandbox.accounts["main"].balance == Decimal("9997.50")


def test_a_delete_in_the_first_days_is_refunded(sandbox: Sandbox, main: Client) -> None:
    """The name is free at once."""
    assert done(main.post("/domain/new.com", NAME))
    assert done(main.delete("/domain/new.com"))
    assert sandbox.accounts["main"].balance == 10000
    assert done(main.get("/domain/new.com/check"))["avail"] == "true"
    assert refusal(main.get("/domain/new.com"))[1] == "Object not found new.com"


def test_a_later_delete_leads_to_removal_and_a_restore_back(sandbox: Sandbox, main: Client) -> None:
    """Status 6 between; the term is as it was."""
    before = main.get("/domain/served.com").json
    assert done(main.delete("/domain/served.com"))
    assert main.get("/domain/served.com").json == {**before, "status": "6"}
    assert done(main.put("/domain/served.com/restore"))
    assert main.get("/domain/served.com").json == before
    assert sandbox.accounts["main"].balance == Decimal("9920.00")


def test_renewing_an_overdue_name(sandbox: Sandbox, main: Client) -> None:
    """It is active again, a year after the end that it had."""
    expiry = sandbox.names["overdue.com"].expires.date().isoformat()
    assert done(main.put("/domain/overdue.com/renew", {"current_expiry_date": expiry, "period": 1}))
    assert main.get("/domain/overdue.com").json["status"] == "2"


def test_a_transfer_comes_in(sandbox: Sandbox, main: Client) -> None:
    """Status 1 until it completes, then the account's own, a year longer."""
    held_until = sandbox.names["theirs.com"].expires
    assert done(main.post("/domain/theirs.com/transfer", {"transfer_code": "let-me-in", "customer_id": 8}))
    assert main.get("/domain/theirs.com").json["status"] == "1"
    sandbox.clock.advance("P5D")
    name = sandbox.names["theirs.com"]
    assert main.get("/domain/theirs.com").json["status"] == "2"
    assert (name.expires.year, name.customer) == (held_until.year + 1, 8)
    assert done(main.get("/domain/theirs.com/host/ns1"))["data"]["ip"] == ["192.0.2.9"]
    assert refusal(connect(sandbox, "other").get("/domain/theirs.com"))[0] == 404


def test_a_transfer_that_fails_is_refunded(sandbox: Sandbox, main: Client, other: Client) -> None:
    path = "/domain/theirs.com/transfer"
    for word, balance in {"cancel": "10000.00", "reject": "10000.00", "approve": "9991.00"}.items():
        sandbox.reset()
        assert done(main.post(path, {"transfer_code": "let-me-in"}))
        assert sandbox.accounts["main"].balance == Decimal("9991.00")
        assert done(main.delete(path) if word == "cancel" else other.put(f"{path}/{word}"))
        assert sandbox.accounts["main"].balance == Decimal(balance), word
        assert_books_balance(sandbox)


def test_a_number_can_be_a_code(sandbox: Sandbox, main: Client) -> None:
    """Callers send what looks like a number as one."""
    edit(sandbox, {"domains": {"theirs.com": {"auth_code": "123456"}}})
    assert done(main.post("/domain/theirs.com/transfer", {"transfer_code": 123456}))


def test_no_secret_is_told(sandbox: Sandbox, main: Client) -> None:
    """Neither the right code nor the one that was sent."""
    answer = main.post("/domain/theirs.com/transfer", {"transfer_code": "my-guess"})
    told = answer.raw.decode() + str(answer.headers)
    assert "my-guess" not in told
    assert "let-me-in" not in told
    answer = main.call("GET", "/domain/theirs.com", headers=[("X-Auth-Token", "lost-token")])
    assert "lost-token" not in answer.raw.decode() + str(answer.headers)


def test_a_header_says_what_came_where_the_message_does_not(main: Client) -> None:
    """A version, the first twenty letters of a long one; an end of the term that is no date."""
    renewal = {"current_expiry_date": "2026-11-21", "period": 1, "date_end": "soon"}
    told = main.put("/domain/active.com/renew", renewal).headers["x-sandbox-refusal"]
    assert told == "invalid_parameter: date_end must be a date, not 'soon'."
    main.version = f"V{'2' * 20}.0"
    told = main.get("/domain/active.com").headers["x-sandbox-refusal"]
    assert told == f"version_not_served: The version V{'2' * 19} is not served; V2.0 is."


def test_an_internationalised_name(main: Client) -> None:
    """Both spellings lead to it, where its zone takes such names."""
    assert (
        main.get("/domain/españa.com".replace("ñ", "%C3%B1")).json
        == main.get("/domain/xn--espaa-rta.com").json
    )
    assert refusal(main.post("/domain/xn--espaa-rta.net", NAME))[1] == "Not the correct domain name"


def test_a_world_in_the_path(sandbox: Sandbox) -> None:
    """It is that world's account that the token is looked up in."""
    client = connect(sandbox)
    client.prefix = "/_worlds/default"
    assert done(client.get("/domain/active.com"))
    client.prefix = "/_worlds/other"
    assert refusal(client.get("/domain/active.com"))[::2] == (404, "unknown_world")


def test_a_refusal_in_a_header_of_a_server_has_names_as_ascii(sandbox: Sandbox) -> None:
    with sandbox.serve() as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        path = "/V2.0/domain/%D0%BD%D0%B5%D0%BC%D0%B0%D1%94.com"  # немає.com
        connection.request("GET", path, headers={"X-Auth-Token": sandbox.account().token})
        answer = connection.getresponse()
        answer.read()
        connection.close()
    assert "xn--80ajvc2j.com" in answer.headers["X-Sandbox-Refusal"]
    assert "\\u" not in answer.headers["X-Sandbox-Refusal"]
