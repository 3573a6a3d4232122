"""A registrar for every test: the client as it is in production, in a world of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from billing.registrar import Registrar

from reseller_sandbox import Sandbox

API = "https://api.example.test"


@pytest.fixture
def patience() -> float:
    """How many seconds an answer may take: what a busy machine needs, not how quick the registrar is."""
    return 60


@pytest.fixture
def registrar(reseller_sandbox: Sandbox, patience: float) -> Iterator[Registrar]:
    account = reseller_sandbox.accounts["main"]
    with reseller_sandbox.intercept(API, others="refuse"):
        registrar = Registrar(API, account.key, account.secret, timeout=patience)
        yield registrar
        registrar.close()
