"""What a body's schema reads is what marshmallow's own load would read, mistakes and all."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, fields

from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.fields import Shape
from tests.thorough import tries

SCHEMAS = {
    f"{row.id} {place}": schema
    for row in (*V3.endpoints, *V2.endpoints)
    for place, schema in (("body", row.body), ("query", row.query), ("path", row.path))
    if schema is not None
}

JUNK: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
)


def values(field: Any) -> st.SearchStrategy[Any]:
    """What a request may say under a field, be it right or wrong."""
    if isinstance(field, fields.Nested):
        return objects(field.schema) | JUNK
    if isinstance(field, fields.List):
        return st.lists(values(field.inner), max_size=3) | JUNK
    return st.text(max_size=5) | st.sampled_from(["7", "1.50", "a.com", True, 7]) | JUNK


def objects(schema: Schema) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of the keys of a schema, and one that it does not know."""
    known = {field.data_key or name: values(field) for name, field in schema.load_fields.items()}
    return st.fixed_dictionaries({}, optional={**known, "unknown": JUNK})


def read(schema: Schema, asked: Any) -> Any:
    """What comes of reading, with the places and the order of everything in it."""
    try:
        return repr(schema.load(asked))
    except ValidationError as error:
        return "mistakes", repr(error.messages)
    except Refused as refused:  # by a hook
        return "refused", str(refused)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@settings(max_examples=tries(12))
@given(data=st.data())
def test_a_request_is_read_as_marshmallow_would_read_it(schema: Schema, data: st.DataObject) -> None:
    """Whatever it says: what is known and unknown, right and wrong, null or missing."""
    asked = data.draw(objects(schema) | JUNK)
    found = read(schema, asked)
    with patch.object(Shape, "load", Schema.load):
        assert found == read(schema, asked)


@pytest.mark.parametrize(
    ("operation", "asked", "read"),
    [
        (
            "v3.createDomain",
            {"domain": {"domainName": "a.com", "privacyEnabled": None, "nameservers": ["a.b"]}, "years": 2},
            {"domain": {"domainName": "a.com", "nameservers": ["a.b"]}, "years": 2},
        ),
        ("v3.renewDomain", {"domain": {"years": 3}, "purchaseCost": None}, {"years": 3}),
        (
            "v3.createGlueRecord",
            {"hostname": "ns1", "ips": ["192.0.2.1"]},
            {"hostname": "ns1", "ips": ["192.0.2.1"]},
        ),
    ],
)
def test_what_is_well_formed_is_read_without_marshmallows_own_machinery(
    operation: str, asked: dict[str, Any], read: dict[str, Any]
) -> None:
    """Its hooks and its account of mistakes take longer than all the rest."""
    with patch.object(Schema, "load", side_effect=AssertionError("the usual way")):
        assert SCHEMAS[f"{operation} body"].load(asked) == read
