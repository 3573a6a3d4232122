"""What an answer's schema writes is what marshmallow's own dump would write, for every answer there is."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, fields

from reseller_sandbox.core.model import CARD_FIELDS, Card
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v2.zones import ActionEnd, OneOrMany
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.fields import Amount, Instant, MoneyNumber, Remembered, Shape
from tests.thorough import tries

SCHEMAS = {type(row.answer).__qualname__: row.answer for row in (*V3.endpoints, *V2.endpoints)}

MONEY = st.decimals(min_value=0, max_value=10**6, places=6)
INSTANTS = st.datetimes(datetime(1990, 1, 1), datetime(2800, 1, 1), timezones=st.just(UTC))
CARDS = st.builds(Card, **dict.fromkeys(CARD_FIELDS, st.text(max_size=5)))


def values(field: Any) -> st.SearchStrategy[Any]:
    """What an operation may put under a field."""
    if isinstance(field, Remembered):
        found: st.SearchStrategy[Any] = CARDS
    elif isinstance(field, fields.Nested):
        found = records(field.schema)
    elif isinstance(field, OneOrMany):
        found = values(field.inner) | st.lists(values(field.inner), max_size=3)
    elif isinstance(field, fields.List):
        found = st.lists(values(field.inner).filter(lambda one: one is not None), max_size=3)
    elif isinstance(field, Amount | MoneyNumber):
        found = MONEY
    elif isinstance(field, Instant):
        found = INSTANTS | st.just("") if isinstance(field, ActionEnd) else INSTANTS
    elif isinstance(field, fields.Boolean):
        found = st.booleans()
    elif isinstance(field, fields.Integer):
        found = st.integers()
    else:
        found = st.text(max_size=5) | st.integers()
    return found | st.none()


def records(schema: Schema) -> st.SearchStrategy[Any]:
    """Mappings and objects that have some of the attributes of a schema, and one that it does not know."""
    known = {field.attribute or name: values(field) for name, field in schema.dump_fields.items()}
    mappings = st.fixed_dictionaries({"unknown": st.just(Decimal(1))}, optional=known)
    return mappings | mappings.map(lambda found: SimpleNamespace(**found))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@settings(max_examples=tries(8))
@given(data=st.data())
def test_an_answer_is_written_as_marshmallow_would_write_it(schema: Shape, data: st.DataObject) -> None:
    """Whatever the operation answers: mappings or objects, whole or with attributes or values missing."""
    answered = data.draw(st.lists(records(schema), max_size=3) if schema.many else records(schema))
    written = schema.dump(answered)
    with patch.object(Shape, "dump", Schema.dump):
        assert written == schema.dump(answered)
