"""What a request is noted to touch: whatever could make its order matter."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.footprint import Footprint
from reseller_sandbox.core.state import Draft, State
from reseller_sandbox.worlds import Moment
from tests.clients import person
from tests.properties.test_registry import ADDRESSES, CARDS, HOSTS, NAMES, SERVERS, SWITCHES, WHO
from tests.registry import REGISTRY, connect

D, V2 = "/v3/domains", "/V2.0"

#: Whose it is, its method, its path and its body.
Asked = tuple[str, str, str, Any]


def _v3(name: str, switch: str, servers: list[str], host: str, ips: list[str], years: int) -> list[Any]:
    domain = {"domain": {"domainName": name}, "years": years}
    return [
        ("GET", "/v3/balance", None),
        ("GET", f"{D}?perPage=3&page=2", None),
        ("GET", f"{D}/getDomain/{name}", None),
        ("GET", f"{D}/glueRecords/{name}", None),
        ("POST", f"{D}/checkAvailability", {"domainNames": [name]}),
        ("POST", f"{D}/createDomain", {**domain, "purchaseCost": 500}),
        ("POST", f"{D}/renewDomain", domain),
        ("POST", f"{D}/requestTransfer", {**domain, "authCode": "guess"}),
        ("POST", f"{D}/approveTransfer/{name}", None),
        ("POST", f"{D}/cancelTransfer/{name}", None),
        ("POST", f"{D}/{switch}/{name}", None),
        ("POST", f"{D}/setNameservers/{name}", {"nameservers": servers}),
        ("POST", f"{D}/setContacts/{name}", {"contacts": {"reg-contact": person("Ann")}}),
        ("POST", f"{D}/glueRecords/{name}", {"hostname": host, "ips": ips}),
        ("DELETE", f"{D}/glueRecords/{name}/{host}", None),
        ("POST", f"{D}/setAuthcode/{name}", {"authCode": "another"}),
    ]


def _v2(name: str, card: dict[str, Any]) -> list[Any]:
    return [
        ("GET", f"{V2}/domain/{name}/check", None),
        ("DELETE", f"{V2}/domain/{name}", None),
        ("POST", f"{V2}/domain/{name}/restore", None),
        ("POST", f"{V2}/customer", {"email": f"{card['name']}@example.com", "lang": "en"}),
        ("GET", f"{V2}/customer", None),
        ("GET", f"{V2}/domain/zones/all/limit/5/start/0", None),
    ]


def requests() -> st.SearchStrategy[Asked]:
    """Requests of any kind by any account, that have much in common."""
    v3 = st.builds(_v3, NAMES, SWITCHES, SERVERS, HOSTS, ADDRESSES, st.sampled_from([1, 2]))
    either = st.one_of(v3, st.builds(_v2, NAMES, CARDS)).flatmap(st.sampled_from)
    return st.builds(lambda who, asked: (who, *asked), WHO, either)


class Registry:
    """The tests' registry, and what one request after another does to it."""

    def __init__(self) -> None:
        self.sandbox = Sandbox(REGISTRY)
        self.apis = {name: connect(self.sandbox, name) for name in ("main", "other", "poor")}

    def send(self, moment: Moment, asked: Asked) -> tuple[Moment, Any, Footprint]:
        """What a request makes of a moment, what it is answered, and what it touches."""
        world, (who, method, target, body) = self.sandbox.world, asked
        world.moment = moment
        footprint = Footprint(moment.state)
        world.drafts = footprint.drafts
        try:
            answer = self.apis[who].call(method, target.replace("ñ", "%C3%B1"), body)
        finally:
            world.drafts = Draft
        footprint.follow(world.state)
        return world.moment, (answer.status, answer.raw), footprint


REGISTER = Registry()


def kept(state: State) -> dict[str, Any]:
    """All that a state keeps, without the names that requests had when it came to be."""
    found = {one.name: getattr(state, one.name) for one in fields(State)}
    found["ledger"] = {key: replace(entry, cause="") for key, entry in state.ledger.items()}
    return found


ANSWER_THERE = ("main", "POST", f"{D}/createDomain", {"domain": {"domainName": "one.com"}})


@example(("main", "GET", "/v3/balance", None), ANSWER_THERE)
@example(("poor", "POST", f"{D}/checkAvailability", {"domainNames": ["one.com"]}), ANSWER_THERE)
@example(("other", "POST", f"{D}/createDomain", {"domain": {"domainName": "two.com"}}), ANSWER_THERE)
@given(requests(), requests())
def test_requests_that_do_not_conflict_may_change_places(one: Asked, other: Asked) -> None:
    """Each is answered the same before and after the other, and they leave the same registry."""
    begin = REGISTER.sandbox.world.first
    after_one, said_one, touched_one = REGISTER.send(begin, one)
    after_other, said_other, touched_other = REGISTER.send(begin, other)
    assume(not touched_one.conflicts(touched_other))
    both, said_other_later, _ = REGISTER.send(after_one, other)
    swapped, said_one_later, _ = REGISTER.send(after_other, one)
    assert (said_one_later, said_other_later) == (said_one, said_other)
    assert kept(both.state) == kept(swapped.state)


@given(requests())
def test_to_note_what_a_request_touches_changes_nothing_about_it(asked: Asked) -> None:
    """It is answered as it is without that, and leaves the same."""
    begin = REGISTER.sandbox.world.first
    noted, said, _ = REGISTER.send(begin, asked)
    world, (who, method, target, body) = REGISTER.sandbox.world, asked
    world.moment = begin
    answer = REGISTER.apis[who].call(method, target.replace("ñ", "%C3%B1"), body)
    assert (answer.status, answer.raw) == said
    assert kept(world.state) == kept(noted.state)


def _conflict(one: Asked, other: Asked) -> bool:
    begin = REGISTER.sandbox.world.first
    return REGISTER.send(begin, one)[2].conflicts(REGISTER.send(begin, other)[2])


def test_a_name_that_is_asked_for_and_then_registered_is_a_conflict_though_it_was_not_there() -> None:
    """That something is absent is read, too."""
    assert _conflict(("poor", "POST", f"{D}/checkAvailability", {"domainNames": ["one.com"]}), ANSWER_THERE)


def test_what_is_paid_conflicts_with_a_look_at_the_balance_alone() -> None:
    """A request that only belongs to the account has nothing to do with its money."""
    renew = ("main", "POST", f"{D}/renewDomain", {"domain": {"domainName": "active.com"}, "years": 1})
    switch = ("main", "POST", f"{D}/lockUpdate/second.com", None)
    assert _conflict(renew, ("main", "GET", "/v3/balance", None))
    assert not _conflict(renew, switch)
    assert not _conflict(renew, ("other", "GET", "/v3/balance", None))


def test_what_nobody_can_tell_touches_everything() -> None:
    """Such as a registry that has changed by other means than a draft."""
    footprint = Footprint(REGISTER.sandbox.world.state)
    footprint.follow(replace(REGISTER.sandbox.world.state, seed="another"))
    assert footprint.conflicts(Footprint())
