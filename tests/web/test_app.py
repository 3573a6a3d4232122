"""The sandbox's application is a WSGI application of Flask with fixed routes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import request

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY

READ = "/v3/domains/getDomain/active.com"
READ_V2 = "/V2.0/domain/active.com"
HEALTH = "/_sandbox/health"


@pytest.fixture
def fresh() -> Sandbox:
    """A sandbox whose application a test may change."""
    return Sandbox(REGISTRY)


def test_simultaneous_first_requests_all_get_an_answer(fresh: Sandbox) -> None:
    paths = (HEALTH, "/v3/nowhere", READ, READ_V2, "/nowhere") * 3
    together = Barrier(len(paths))

    def status(path: str) -> int:
        client = fresh.client()
        together.wait()
        return client.get(path).status_code

    with ThreadPoolExecutor(len(paths)) as threads:
        assert list(threads.map(status, paths)) == [200, 404, 200, 200, 404] * 3


def test_an_exception_in_a_view_becomes_an_internal_error_of_the_interface(fresh: Sandbox) -> None:
    client = fresh.client()
    for path in (READ, READ_V2, "/_sandbox/clock"):
        with fresh.app.test_request_context(path):
            name = str(request.endpoint)
        view, failures = fresh.app.view_functions[name], [RuntimeError("once")]

        def failing(**parameters: Any) -> Any:
            if failures:
                raise failures.pop()
            return view(**parameters)

        fresh.app.view_functions[name] = failing
        answer = client.get(path)
        assert answer.status_code == 500
        body: Any = answer.json
        assert body.get("error", body.get("code")) in ("internal_error", 500)
        assert client.get(path).status_code == 200


def test_the_application_refuses_hooks_and_routes(fresh: Sandbox) -> None:
    for add in (
        lambda: fresh.app.before_request(lambda: None),
        lambda: fresh.app.teardown_request(lambda _: None),
        lambda: fresh.app.add_url_rule("/mine", view_func=lambda: "mine"),
    ):
        with pytest.raises(AssertionError, match="can no longer be called on the application"):
            add()
    assert fresh.client().get(READ).status_code == 200
