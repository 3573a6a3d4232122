"""Reading of v2.0 request bodies: the required keys are checked first, then the value of each field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from marshmallow import ValidationError, fields
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.registry.customers import is_missing
from reseller_sandbox.registry.model import CARD_FIELDS
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.values.text_checks import complaint, cut, whole
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.fields import Integer, Shape, Shaped, empty_map, problems, wire_fields
from reseller_sandbox.worlds import World

#: The content types of forms: encoded like a query string, and in parts, as PHP sends an array.
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_LONGEST = 80
_MOST_PAIRS = 1000
_DEEPEST = 5
_KEY = re.compile(r"[^\[\]]+(?:\[[^\[\]]*\])*")
_PART = re.compile(r"\[([^\[\]]*)\]")


class FormText(str):
    """A value from a form-encoded body. Forms have no number type, so a number arrives as digits."""

    __slots__ = ()


class Number(Integer):
    """Field for an integer: a number in JSON, a string of digits in a form."""

    def _deserialize(self, value: object, attr: object, data: object, **kwargs: object) -> int:
        if isinstance(value, FormText) and value.isascii() and value.isdigit():
            value = whole(value)
        return super()._deserialize(value, attr, data, **kwargs)


class AddAndDelete(fields.Field[dict[str, list[Any]]]):
    """Field for entries to add and to remove: an object with arrays under ``add`` and ``del``."""

    def __init__(self, read_array: Callable[[object], list[Any]], array: Shaped, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._read_array = read_array
        properties = {"add": array, "del": array}
        least = {"minProperties": 1} if self.required else {}
        self.shape = {"type": "object", "properties": properties, "additionalProperties": False, **least}

    def _deserialize(self, value: Any, attr: Any, data: object, **kwargs: object) -> dict[str, list[object]]:  # noqa: ARG002
        value = empty_map(value)
        if not isinstance(value, Mapping) or not value.keys() <= {"add", "del"}:
            raise ValidationError("must be an object with arrays under add and del, and no other keys")
        entries: dict[str, list[object]] = {}
        for key, listed in value.items():
            if listed in (None, []):
                continue
            try:
                entries[key] = self._read_array(listed)
            except ValidationError as error:
                raise ValidationError({key: error.messages}) from None
        if self.required and not entries:
            raise Refused(r.MISSING_PARAMETER, field=self.name)
        return entries


def read(request: RequestContext, world: World) -> dict[str, object]:
    """Return the object in a request's body: JSON, or a form of either type if the assumptions allow forms.

    Raise ``unsupported_media_type`` or ``malformed_body``. JSON is accepted under any content type.
    """
    content_type = request.headers.get("Content-Type", "")
    form = next((form for form in (FORM, MULTIPART) if form in content_type.lower()), None)
    if form is None or not request.body or request.body.lstrip().startswith((b"{", b"[")):
        return request.object
    if request.assumed_in(world).request_format == "json":
        raise Refused(
            r.UNSUPPORTED_MEDIA_TYPE,
            given=content_type[:_LONGEST],
            expected="Content-Type: application/json",
            setting="v2.request_format=json_or_form",
        )
    return read_form(request.body) if form == FORM else read_multipart(request.body, content_type)


def load(
    schema: Shape, body: Mapping[str, object], assumed: Assumptions, secrecy: Secrecy
) -> dict[str, object]:
    """Read ``body`` with ``schema``, and return the values.

    Raise ``missing_parameter``, then ``invalid_parameter``. The refusal's fact ``field`` is the first
    invalid key in the schema's order, and ``value`` is its value.
    """
    for key in schema.required_keys(assumed):
        value = body.get(key)
        if value in (None, "", [], {}) or (key in CARD_FIELDS and is_missing(value, assumed)):
            raise Refused(r.MISSING_PARAMETER, field=key)
    try:
        return dict(schema.load(body))
    except ValidationError as error:
        messages: dict[str, object] = error.normalized_messages()  # type: ignore[no-untyped-call]
        field = next(key for key in wire_fields(schema) if key in messages)
        wrong = [f"{path} {problem}" for path, problem in problems(messages, body, secrecy)]
        own = next(iter(problems({field: messages[field]}, body, secrecy)))
        raise Refused(
            r.INVALID_PARAMETER,
            problems=complaint(wrong),
            problem=" ".join(own),
            field=field,
            value=cut(text(body[field]), _LONGEST),
        ) from None


def text(value: object) -> str:
    """Return ``value`` if it is a string, or else the shortened JSON of ``value``."""
    return (
        value if isinstance(value, str) else cut(json.dumps(value, ensure_ascii=False, default=str), _LONGEST)
    )


# Form-encoded bodies with PHP's notation for nested values: ``ns[add][0]=ns1.example.com``


def read_form(body: bytes) -> dict[str, object]:
    """Return the object in a form-encoded body.

    Keys with brackets become objects and arrays. Raise ``malformed_body``.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PAIRS
        )
    except UnicodeDecodeError:
        raise Refused(r.MALFORMED_BODY, problem="it is not a form in UTF-8") from None
    except ValueError:
        raise Refused(r.MALFORMED_BODY, problem=f"it has more than {_MOST_PAIRS} fields") from None
    return _form(pairs)


def read_multipart(body: bytes, content_type: str) -> dict[str, object]:
    """Return the object in a body of the type multipart/form-data. Raise ``malformed_body``.

    Keys with brackets become objects and arrays, as in ``read_form``.
    """
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    decoder = MultipartDecoder(boundary.encode("latin-1", "replace"), max_parts=_MOST_PAIRS)
    pairs: list[tuple[str, bytearray]] = []
    try:
        if not boundary:
            raise ValueError
        decoder.receive_data(body)
        decoder.receive_data(None)
        while not isinstance(event := decoder.next_event(), Epilogue):
            if isinstance(event, File):
                name = event.name[:_LONGEST]
                raise Refused(r.MALFORMED_BODY, problem=f"the part {name!r} is a file")
            if isinstance(event, Field):
                pairs.append((event.name, bytearray()))
            elif isinstance(event, Data):
                pairs[-1][1].extend(event.data)
        return _form([(name, text.decode("utf-8")) for name, text in pairs])
    except UnicodeDecodeError:
        raise Refused(r.MALFORMED_BODY, problem="it is not a form in UTF-8") from None
    except RequestEntityTooLarge:
        raise Refused(r.MALFORMED_BODY, problem=f"it has more than {_MOST_PAIRS} fields") from None
    except ValueError:
        raise Refused(
            r.MALFORMED_BODY, problem="it is not multipart/form-data with the boundary of its Content-Type"
        ) from None


def _form(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    form: dict[str, object] = {}
    for key, value in pairs:
        _place(form, key, FormText(value))
    return {key: _arrays(value) for key, value in form.items()}


def _place(form: dict[str, Any], key: str, value: FormText) -> None:
    if not _KEY.fullmatch(key):
        raise Refused(
            r.MALFORMED_BODY, problem=f"the key {key[:60]!r} does not have the form name or name[part]"
        )
    first, *inner = [key.partition("[")[0], *_PART.findall(key)]
    if len(inner) > _DEEPEST:
        raise Refused(r.MALFORMED_BODY, problem=f"the key {key[:60]!r} is nested too deeply")
    holder, part = form, first
    for following in inner:
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            raise _twice(key)
        part = following or str(len(holder))
    if part in holder:
        raise _twice(key)
    holder[part] = value


def _twice(key: str) -> Refused:
    return Refused(
        r.MALFORMED_BODY, problem=f"the key {key[:60]!r} comes twice, or has both a value and parts"
    )


def _arrays(value: object) -> object:
    """Return a copy of ``value`` in which an object becomes an array if all its keys are numbers."""
    if not isinstance(value, dict):
        return value
    if all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
        return [_arrays(value[key]) for key in sorted(value, key=int)]
    return {key: _arrays(inner) for key, inner in value.items()}
