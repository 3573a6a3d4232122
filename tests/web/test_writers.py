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

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import CARD_FIELDS, Card
from reseller_sandbox.core.paths import Path
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v2.zones import ActionEnd, OneOrMany
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.fields import Amount, Instant, MoneyNumber, Shape
from reseller_sandbox.web.remembered import Remembered, RememberedShown
from reseller_sandbox.web.strict_json import Ready, write
from tests.registry import REGISTRY
from tests.thorough import tries

SCHEMAS = {type(row.answer).__qualname__: row.answer for row in (*V3.endpoints, *V2.endpoints)}

MONEY = st.decimals(min_value=0, max_value=10**6, places=6)
INSTANTS = st.datetimes(datetime(1990, 1, 1), datetime(2800, 1, 1), timezones=st.just(UTC))
CARDS = st.builds(Card, **dict.fromkeys(CARD_FIELDS, st.text(max_size=5)))


def values(field: Any) -> st.SearchStrategy[Any]:
    """What an operation may put under a field."""
    if isinstance(field, Remembered):
        found: st.SearchStrategy[Any] = CARDS
    elif isinstance(field, RememberedShown):
        found = mappings(field.schema).map(Listed)
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
    found = mappings(schema)
    return found | found.map(lambda one: SimpleNamespace(**one))


def mappings(schema: Schema) -> st.SearchStrategy[dict[str, Any]]:
    """The mappings among them."""
    known = {field.attribute or name: values(field) for name, field in schema.dump_fields.items()}
    return st.fixed_dictionaries({"unknown": st.just(Decimal(1))}, optional=known)


class Listed:
    """What lists show, of a record of its own."""

    def __init__(self, shown: dict[str, Any]) -> None:
        self.record, self._shown = object(), shown

    def shown(self) -> dict[str, Any]:
        """What is shown."""
        return self._shown


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@settings(max_examples=tries(8))
@given(data=st.data())
def test_an_answer_is_written_as_marshmallow_would_write_it(schema: Shape, data: st.DataObject) -> None:
    """Whatever the operation answers: mappings or objects, whole or with attributes or values missing."""
    answered = data.draw(st.lists(records(schema), max_size=3) if schema.many else records(schema))
    written = schema.dump(answered)
    with patch.object(Shape, "dump", Schema.dump):
        assert written == schema.dump(answered)


def test_a_list_shows_each_record_as_it_is() -> None:
    """Whatever was shown before of it, or of another, under another name or in another world."""
    sandbox = Sandbox(REGISTRY)

    def listed(world: Sandbox) -> Any:
        return {one["domainName"]: one for one in world.client().get("/v3/domains").json["domains"]}

    begun = listed(sandbox)
    with sandbox.fork() as other:
        assert other.client().post("/v3/domains/lockTransfer/active.com").status_code == 200
        assert listed(other)["active.com"] == {**begun["active.com"], "lockedEnabled": True}
        assert listed(sandbox) == begun
    shown, written = "españa.com", "xn--espaa-rta.com"
    with sandbox.fork(assume={"v3.names.form": "ascii"}) as other:
        assert listed(other)[written] == {**begun[shown], "domainName": written}
    assert listed(sandbox) == begun


def test_an_answer_of_parts_that_are_ready_reads_like_any_other() -> None:
    """Byte for byte, and a copy that has been changed reads as it is then."""
    ready = [Ready({"name": "é\ud800", "price": Decimal("1.50")}), Ready({})]
    plain = [dict(one) for one in ready]
    assert write({"parts": ready, "none": []}) == write({"parts": plain, "none": []})
    assert write({"in": ready[0], "among": [ready]}) == write({"in": plain[0], "among": [plain]})
    assert write(ready) == write(plain)
    assert write({"parts": [*ready, {"a": 1}]}) == write({"parts": [*plain, {"a": 1}]})
    for before, after in (({}, {}), ({"a": 1}, {}), ({}, {"é": [1]}), ({"a": {}}, {"b": None})):
        deep = [
            {"in": {**before, "some": one[0], "more": one[1], **after}, **after} for one in (ready, plain)
        ]
        assert write(deep[0]) == write(deep[1])
    changed, _ = Path.parse("in.in.name").change({"in": {"in": ready[0]}}, lambda _: "another")
    assert write(changed) == write({"in": {"in": {**plain[0], "name": "another"}}})
    changed, _ = Path.parse("parts[0].name").change({"parts": ready}, lambda _: "another")
    assert write(changed) == write({"parts": [{**plain[0], "name": "another"}, {}]})
    assert b"another" not in write({"parts": ready})


def test_a_name_is_shown_as_it_is_whatever_was_shown_of_it_before() -> None:
    """Where its order is the same, and another world spells it otherwise or has another card there."""
    sandbox = Sandbox(REGISTRY)

    def read(world: Sandbox, name: str = "active.com") -> Any:
        return world.client().get(f"/v3/domains/getDomain/{name}").json["domain"]

    begun, spelt = read(sandbox), read(sandbox, "xn--espaa-rta.com")
    assert read(sandbox) == begun
    with sandbox.fork() as other:
        assert other.client().post("/v3/domains/lockTransfer/active.com").status_code == 200
        assert read(other) == {**begun, "lockedEnabled": True}
        handle = other.names["active.com"].contacts["registrant"]
        card = dict.fromkeys(("name", "address", "city", "region", "zip", "company"), "new")
        card |= {"country": "DE", "phone": "+49.123456", "fax": "", "mail": "new@example.net"}
        edited = other.client().put(f"/V2.0/contact/{handle}", json=card)
        assert edited.status_code == 200, edited.text
        assert read(other)["contacts"]["reg-contact"]["email"] == "new@example.net"
    for form, name in (("unicode", "españa.com"), ("ascii", "xn--espaa-rta.com")):
        with sandbox.fork(assume={"v3.names.form": form}) as other:
            assert read(other, "xn--espaa-rta.com")["domainName"] == name
    assert (read(sandbox), read(sandbox, "xn--espaa-rta.com")) == (begun, spelt)
