"""The tests show every journal entry that any of them makes, and fail where one cannot be shown."""

from __future__ import annotations

from typing import Never

import pytest

from reseller_sandbox import Sandbox
from tests import rendered
from tests.clients import Api
from tests.registry import connect
from tests.rendered import Watch, every_entry


def test_whatever_sandbox_takes_it_an_entry_is_seen(watch: Watch, wire: Api, sandbox: Sandbox) -> None:
    """One that a server's thread makes, one of a fork, one that a request makes that is not let in."""
    seen = watch.seen
    wire.get("/v3/balance")
    connect(sandbox.fork()).get("/v3/balance")
    wire.send("GET", "/v3/balance", [])
    assert watch.seen == seen + 3


def test_an_entry_that_cannot_be_shown_fails_the_test_that_made_it(sandbox: Sandbox) -> None:
    """And that one alone."""

    def cannot(_: object) -> Never:
        raise TypeError("dates are no JSON")

    with every_entry() as watch, pytest.MonkeyPatch.context() as patch:
        sandbox.client().get("/v3/balance")
        patch.setattr(rendered, "request_record", cannot)
        with pytest.raises(TypeError, match="dates are no JSON"):
            watch.check()
        watch.check()
