"""The sandbox's application is a Flask application as any other: it takes further routes and builds URLs."""

from __future__ import annotations

from typing import Any

import pytest
from flask import url_for

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY


@pytest.fixture
def fresh() -> Sandbox:
    """A sandbox whose application a test may change."""
    return Sandbox(REGISTRY)


def test_routes_can_be_added(fresh: Sandbox) -> None:
    """A user's own route answers beside those of the sandbox, and in that sandbox alone."""

    @fresh.app.get("/mine/<int:number>")
    def mine(number: int) -> str:
        return f"{number + 1}"

    assert fresh.client().get("/mine/3").text == "4"
    assert Sandbox(REGISTRY).client().get("/mine/3").status_code == 404


def test_urls_can_be_built(fresh: Sandbox) -> None:
    """Every route builds the URL that it is found under, and what else is told becomes its query."""
    with fresh.app.test_request_context():
        for rule in fresh.app.url_map.iter_rules():
            told: dict[str, Any] = {name: "V2.0" if name == "version" else "7" for name in rule.arguments}
            url = url_for(rule.endpoint, **told, also="x y")
            assert url.endswith("?also=x+y")
            adapter = fresh.app.url_map.bind("localhost")
            method = next(iter(rule.methods or ()))
            assert adapter.match(url.partition("?")[0], method)[1].keys() == rule.arguments
