"""Renewals that were paid for twice, and renewals that could have been."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.advice.conftest import Advice, Lose
from tests.clients import Api

RENEW = "/v3/domains/renewDomain"


def renew(api: Api, name: str, years: int = 1) -> str:
    """Renew a name; the request's id."""
    answer = api.post(RENEW, {"domain": {"domainName": name}, "years": years})
    assert answer.status == 200, answer.raw
    return answer.headers["x-sandbox-request"]


def test_the_same_renewal_three_times_is_one_finding(wire: Api, advice: Advice) -> None:
    """It costs what the second and the third cost."""
    entries = [renew(wire, "second.com", years=2) for _ in range(3)]
    (found,) = advice("renewed_twice")
    assert (found["amount"], found["entries"]) == ("48.00", entries)
    assert "3 times for 2 years each" in found["summary"]


def test_other_requests_in_between_do_not_hide_it(served: Sandbox, wire: Api, advice: Advice) -> None:
    """Nor do minutes."""
    renew(wire, "second.com")
    wire.get("/v3/balance")
    renew(wire, "active.com")
    served.clock.advance("PT50M")
    renew(wire, "second.com")
    (found,) = advice("renewed_twice")
    assert found["domains"] == ["second.com"]
    assert "within 50 minutes" in found["summary"]


def test_two_names_two_terms_or_two_hours_are_no_repetition(
    served: Sandbox, wire: Api, advice: Advice
) -> None:
    """Each of these a client may well mean."""
    renew(wire, "active.com")
    renew(wire, "second.com")
    renew(wire, "second.com", years=2)
    served.clock.advance("PT2H")
    renew(wire, "active.com")
    assert advice("renewed_twice") == []


def test_a_second_renewal_that_was_refused_cost_nothing(wire: Api, advice: Advice) -> None:
    """Ten years ahead is as far as it goes."""
    renew(wire, "second.com", years=9)
    assert wire.post(RENEW, {"domain": {"domainName": "second.com"}, "years": 9}).error == "period_too_long"
    assert advice("renewed_twice") == []


def test_after_a_lost_answer_the_repetition_may_come_much_later(
    served: Sandbox, wire: Api, advice: Advice, lose: Lose
) -> None:
    """A nightly job repeats what it believes has failed."""
    lose("v3.renewDomain")
    first = wire.post(f"{RENEW}/second.com")
    assert first.status == 500
    served.clock.advance("PT20H")
    second = renew(wire, "second.com")
    (found,) = advice()
    assert (found["rule"], found["amount"]) == ("renewed_twice", "12.00")
    assert found["entries"] == [first.headers["x-sandbox-request"], second]
    assert "lost" in found["summary"]


def test_with_its_answer_there_the_later_one_is_another_renewal(
    served: Sandbox, wire: Api, advice: Advice
) -> None:
    """The client knows of both."""
    renew(wire, "second.com")
    served.clock.advance("PT20H")
    renew(wire, "second.com")
    assert advice() == []


def test_a_renewal_that_failed_before_it_took_effect_is_rightly_repeated(
    wire: Api, advice: Advice, lose: Lose
) -> None:
    """It was carried out once."""
    lose("v3.renewDomain", kind="error", error="internal_error", when={"phase": "before", "times": 1})
    assert wire.post(f"{RENEW}/second.com").status == 500
    renew(wire, "second.com")
    assert advice() == []


def test_a_request_that_something_on_its_way_sent_twice(wire: Api, advice: Advice, lose: Lose) -> None:
    """One request shows it, which was carried out twice."""
    lose("v3.renewDomain", kind="duplicate", when={})
    request = renew(wire, "second.com")
    (found,) = advice()
    assert (found["rule"], found["amount"], found["entries"]) == ("renewed_twice", "12.00", [request])


def test_a_renewal_just_after_an_automatic_one(served: Sandbox, wire: Api, advice: Advice) -> None:
    """The name had renewed itself at its expiry; the request paid for another year."""
    served.clock.set(expiry(wire, "active.com"))
    served.clock.advance("PT3H")
    request = renew(wire, "active.com")
    (found,) = advice()
    assert found["rule"] == "renewed_after_auto_renewal"
    assert (found["amount"], found["entries"]) == ("15.00", [request])
    assert "for 15.00 USD and" in found["summary"]
    assert "within 3 hours" in found["summary"]


def test_a_renewal_long_after_an_automatic_one_is_nothing(served: Sandbox, wire: Api, advice: Advice) -> None:
    """Nor is one right after the expiry of a name that does not renew itself."""
    served.clock.set(expiry(wire, "active.com"))
    served.clock.advance("P2D")
    renew(wire, "active.com")
    wire.post("/v3/domains/disableAutorenew/active.com")
    served.clock.set(expiry(wire, "active.com"))
    renew(wire, "active.com")
    assert advice() == []


def expiry(api: Api, name: str) -> str:
    """When a name expires."""
    return str(api.get(f"/v3/domains/getDomain/{name}").json["domain"]["expireDate"])
