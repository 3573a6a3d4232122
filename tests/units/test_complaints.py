"""A complaint about a value tells what came by what it is, and not by how it begins."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import ValidationError

from reseller_sandbox.core.complaints import Must
from reseller_sandbox.core.signatures import Parameter, read
from reseller_sandbox.core.values import Kind, choice, either, mapping
from reseller_sandbox.web.fields import Shape, Text, problems

MESSAGES = [
    (Must("be a colour"), "must be a colour, not 'seven'"),
    (Must("be {one} of these"), "must be {one} of these, not 'seven'"),
    ("mustard is no colour", "mustard is no colour"),
    ("must be told apart from seven", "must be told apart from seven"),
]


def test_what_must_be_is_told_with_what_came(subtests: pytest.Subtests) -> None:
    """By what reads parameters, and by what reads the bodies of requests."""
    for message, told in MESSAGES:
        with subtests.test(message=message, told=told):

            def refuse(given: object) -> Any:
                raise ValueError(message)

            def invalid(given: object) -> None:
                raise ValidationError(message)

            assert read([Parameter("hue", Kind({}, refuse), required=True)], {"hue": "seven"})[1] == [
                f"hue {told}"
            ]
            given = {"hue": "seven", "token": "seven"}
            schema = Shape.from_dict({"hue": Text(validate=invalid), "token": Text(validate=invalid)})()
            with pytest.raises(ValidationError) as caught:
                schema.load(given)
            assert list(problems(caught.value.messages, given)) == [("hue", told), ("token", message)]


def test_a_word_or_an_object_is_told_with_what_came() -> None:
    """The one complaint about both."""
    word = either(choice("next"), Kind({}, mapping))
    told = read([Parameter("until", word, required=True)], {"until": 7})[1]
    assert told == ["until must be one of next, or an object, not 7"]
