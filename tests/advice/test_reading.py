"""How things were read: too often, not to the end, or with the credentials in the URL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reseller_sandbox import Sandbox
from tests.advice.conftest import Advice
from tests.clients import Api, signature

READ = "/v3/domains/getDomain/second.com"
LIST = "/v3/domains?perPage=5&page={}"


@pytest.fixture
def running(served: Sandbox) -> Iterator[None]:
    """The clock runs, and so a pause can be told from none."""
    served.clock.run()
    yield
    served.clock.freeze()


@pytest.mark.usefixtures("running")
class TestPolling:
    """The same question in a row."""

    def test_five_times_without_a_pause(self, wire: Api, advice: Advice) -> None:
        """More of them are still one finding."""
        entries = [wire.get(READ).headers["x-sandbox-request"] for _ in range(7)]
        (found,) = advice()
        assert (found["rule"], found["domains"]) == ("polled_without_pause", ["second.com"])
        assert found["entries"] == entries

    def test_an_availability_check_is_a_read(self, wire: Api, advice: Advice) -> None:
        """Though it is a POST."""
        for _ in range(5):
            wire.post("/v3/domains/checkAvailability", {"domainNames": ["new.com"]})
        assert len(advice("polled_without_pause")) == 1

    def test_four_times(self, wire: Api, advice: Advice) -> None:
        """Few enough."""
        for _ in range(4):
            wire.get(READ)
        assert advice() == []

    def test_with_pauses(self, served: Sandbox, wire: Api, advice: Advice) -> None:
        """A second each, by the world's clock, is a pause."""
        for _ in range(12):
            wire.get(READ)
            served.clock.advance(1)
        assert advice() == []

    def test_with_something_in_between(self, wire: Api, other_wire: Api, advice: Advice) -> None:
        """A balance read after each renewal is no poll; and what others do is not in between."""
        for number in range(8):
            wire.get("/v3/balance")
            wire.post("/v3/domains/setAuthcode/second.com", {"authCode": f"code-{number}"})
        assert advice() == []
        for _ in range(5):
            wire.get(READ)
            other_wire.get("/v3/balance")
        assert {one["account"] for one in advice("polled_without_pause")} == {"main", "other"}


class TestPaging:
    """A list in pages."""

    def test_not_followed_to_the_end(self, wire: Api, advice: Advice) -> None:
        """The requests that were told of the page nobody asked for are the ones that show it."""
        wire.get(LIST.format(1))
        second = wire.get(LIST.format(2)).headers["x-sandbox-request"]
        (found,) = advice()
        assert (found["rule"], found["severity"]) == ("pages_not_followed", "data")
        assert found["entries"] == [second]
        assert "up to page 2 of" in found["summary"]
        assert "page 3" in found["summary"]

    @pytest.mark.parametrize("form", ["/v3/domains?perPage={}&page={}", "/v3/domains/{}/{}"])
    def test_followed_to_the_end(self, wire: Api, advice: Advice, form: str) -> None:
        """In either form of the path."""
        page = 1
        while page:
            page = wire.get(form.format(4, page)).json.get("nextPage")
        assert advice() == []

    def test_a_list_of_one_page(self, wire: Api, advice: Advice) -> None:
        """Has nothing to follow."""
        wire.get("/v3/domains")
        assert advice() == []

    def test_pages_of_another_length_are_another_list(self, wire: Api, advice: Advice) -> None:
        """The second five are not the second ten."""
        wire.get("/v3/domains?perPage=5&page=1")
        wire.get("/v3/domains?perPage=10&page=2")
        assert ["5 names a page" in one["summary"] for one in advice("pages_not_followed")] == [True]


class TestCredentials:
    """The two elements of the signature."""

    def test_in_the_query_string(self, wire: Api, url: str, advice: Advice) -> None:
        """All such requests of an account are one finding; the secret parts are not repeated in it."""
        signed = signature(wire.secret, wire.key, f"{url}/v3/balance", b"")
        target = f"/v3/balance?X-SVC-APIKEY={wire.key}&X-SVC-SIGNATURE={signed}"
        answers = [wire.send("GET", target, []) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 200]
        (found,) = advice()
        assert (found["rule"], found["account"]) == ("credentials_in_query", "main")
        assert found["entries"] == [answer.headers["x-sandbox-request"] for answer in answers]
        assert signed not in str(found)
        assert wire.secret not in str(found)

    def test_in_headers(self, wire: Api, advice: Advice) -> None:
        """Is where they belong."""
        wire.get("/v3/balance")
        assert advice() == []
