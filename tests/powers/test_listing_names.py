"""The registry as it is listed."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY


@pytest.mark.parametrize("sort", ["name", "expires", "due"])
def test_names_are_sorted_over_all_pages(sort: str) -> None:
    """Page after page they come as they would all at once; what time does not move on comes last by it."""
    sandbox = Sandbox(REGISTRY)
    whole = sandbox.names.list(sort=sort, limit=1000).names
    keys = [getattr(one, sort) for one in whole]
    moved = [key for key in keys if key is not None]
    assert keys == sorted(moved) + [None] * (len(keys) - len(moved))
    assert {one.order for one in whole} == {one.order for one in sandbox.names.list(limit=1000).names}
    pages = [sandbox.names.list(sort=sort, limit=7, start=start).names for start in range(0, len(whole), 7)]
    assert tuple(one for page in pages for one in page) == whole
