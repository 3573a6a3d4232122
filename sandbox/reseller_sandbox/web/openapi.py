"""OpenAPI documents, derived from endpoints, schemas and declared refusals.

Texts without a declaration are in the ``glossary.yaml`` of each interface, examples in its
``examples.json``. A document is valid for the assumptions that it is made for. Its version is OpenAPI
3.1, whose schemas are standard JSON Schema, or 3.0 for tools that read no other. Begin with ``describe``.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import resolve_schema_instance
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields, validate

from reseller_sandbox.refusals import UNKNOWN_PATH, Rule
from reseller_sandbox.registry.assumptions import Assumptions
from reseller_sandbox.values import text_checks
from reseller_sandbox.values.parameters import docstring
from reseller_sandbox.web.errors import ANY_OPERATION, ErrorEntry
from reseller_sandbox.web.fields import Shape, is_shape, require_plain_text, wire_fields
from reseller_sandbox.web.glossary import Examples, Glossary
from reseller_sandbox.web.interface import Endpoint, Interface
from reseller_sandbox.web.openapi_versions import VERSIONS, as_3_0, name_choices, one_type_each, titled

#: The keys with which an OpenAPI document begins, in this order.
_FIRST = ("openapi", "info", "servers", "security", "tags", "paths")


def describe(
    interface: Interface, assumed: Assumptions, servers: Iterable[str] = ("/",), version: str = "3.1"
) -> dict[str, object]:
    """Return the OpenAPI document of an interface that is served at ``servers``.

    ``version`` is the version of OpenAPI, 3.1 or 3.0.
    """
    glossary, plugin = Glossary.of(type(interface)), MarshmallowPlugin(schema_name_resolver=name_of)
    plugin.Converter = Converter
    security = interface.security(assumed)
    spec = APISpec(
        title=glossary.title,
        version=glossary.version,
        openapi_version=VERSIONS["3.1"],
        plugins=[plugin],
        info={"description": glossary.about},
        tags=[{"name": name, "description": about} for name, about in resources(interface.endpoints).items()],
        servers=[{"url": server} for server in servers],
        security=[{name: [] for name in security}],
    )
    for name, description in security.items():
        scheme = {"type": "apiKey", "in": "header", "name": name, "description": description}
        spec.components.security_scheme(name, scheme)
    for name, description in interface.headers.items():
        spec.components.header(name, {"description": description, "schema": {"type": "string"}})
    converter: Any = plugin.converter
    converter.assume(assumed, request_schemas(interface.endpoints))
    operations = Operations(interface, assumed, spec, converter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # apispec warns if a schema is used both alone and as a list
        for endpoint in interface.endpoints:
            for path in endpoint.paths:
                operation = operations.described(endpoint, path)
                spec.path(path, operations={endpoint.method.lower(): operation})
    # Copy the document, because parts of it belong to the declarations.
    document: dict[str, Any] = json.loads(json.dumps(spec.to_dict()))
    glossary.put_into(document)
    if assumed == Assumptions():  # the examples are recorded under the default assumptions
        Examples.of(type(interface)).put_into(document)
    name_choices(document)
    document = one_type_each({key: document[key] for key in (*_FIRST, *document)})
    return as_3_0(document) if version == "3.0" else document


_JSON = "application/json"

#: The key under which a document has the sandbox's own id of an operation.
OWN_ID = "x-sandbox-operation"

_PLACE = re.compile(r"\{(\w+)\}")


def operation_id(endpoint: Endpoint, path: str) -> str:
    """Return the OpenAPI id of an operation at one of its paths, such as ``createDomain``.

    For another path than the first, the id names the path's own placeholders:
    ``renewDomainByDomainName``.
    """
    first, *rest = re.split(r"[._]", endpoint.id.partition(".")[2])
    word = first + "".join(map(titled, rest))
    if path == endpoint.paths[0]:
        return word
    places, default = _PLACE.findall(path), _PLACE.findall(endpoint.paths[0])
    if places == default:
        return f"{word}Also"
    common = set.intersection(*(set(_PLACE.findall(path)) for path in endpoint.paths))
    special = [place for place in places if place not in common]
    return f"{word}By{'And'.join(map(titled, special))}" if special else f"{word}All"


@dataclass
class Operations:
    """Builds the operations of a document and adds their error schemas to ``spec``."""

    interface: Interface
    assumed: Assumptions
    spec: APISpec
    converter: Converter

    def described(self, endpoint: Endpoint, path: str) -> dict[str, object]:
        """Return the OpenAPI operation of ``endpoint`` under ``path``."""
        summary, _, rest = docstring(endpoint.handle).replace("``", "`").partition("\n")
        operation: dict[str, Any] = {
            "operationId": operation_id(endpoint, path),
            OWN_ID: endpoint.id,
            "tags": [resource(endpoint)],
            "summary": summary,
            "description": rest.strip() or summary,
        }
        operation["parameters"] = self._parameters(endpoint, path)
        if endpoint.schemas.body is not None:
            operation["requestBody"] = self._body(endpoint, path, endpoint.schemas.body)
        operation["responses"] = self._responses(endpoint, path, operation["operationId"])
        return operation

    def _body(self, endpoint: Endpoint, path: str, schema: Schema) -> dict[str, object]:
        shape: object = schema
        if is_shape(schema):
            naming = schema.naming_keys(self.assumed)
            required = bool(demanded_keys(schema, self.assumed) or naming)
            if naming and _is_naming(endpoint, path):
                required, shape = False, self._unnamed(schema, naming)
        else:
            required = any(field.required for field in schema.fields.values())
        kinds = self.interface.content_types(self.assumed)
        return {"required": required, "content": {kind: {"schema": shape} for kind in kinds}}

    def _unnamed(self, schema: Shape, naming: Collection[str]) -> dict[str, object]:
        """Return a reference to the schema of a request whose path, not its body, names the subject."""
        resolve: Callable[[object], object] = self.converter.resolve_nested_schema
        resolve(schema)
        whole: Mapping[str, Any] = self.spec.components.schemas[name_of(schema)]
        name = f"{name_of(schema)}ByPath"
        if name not in self.spec.components.schemas:
            required = [key for key in whole.get("required", ()) if key not in naming]
            shape = {key: value for key, value in whole.items() if key != "required"}
            shape["properties"] = {
                key: value if key not in naming else _or_null(value)
                for key, value in whole["properties"].items()
            }
            self.spec.components.schema(name, {**shape, **({"required": required} if required else {})})
        return {"$ref": f"#/components/schemas/{name}"}

    def _responses(self, endpoint: Endpoint, path: str, operation: str) -> dict[str, Any]:
        refuses = (*endpoint.refuses, *((UNKNOWN_PATH,) if _has_digits(endpoint, path) else ()))
        by_status: defaultdict[int, list[ErrorEntry]] = defaultdict(list)
        for error in self._errors(endpoint, (*self.interface.common, *refuses, *ANY_OPERATION)):
            by_status[error.status].append(error)
        own_statuses = {error.status for error in self._errors(endpoint, refuses)}
        responses = {str(endpoint.status): self._answer(endpoint)}
        resolve: Callable[[object], object] = self.converter.resolve_nested_schema
        for status, errors in sorted(by_status.items()):
            lines = "\n".join(dict.fromkeys(f"* {error.line}" for error in errors))
            prefix = f"{operation[:1].upper()}{operation[1:]}" if status in own_statuses else ""
            schema = self._error(f"{prefix}Error{status}", errors)
            success = responses.get(str(status))
            if success is None:
                responses[str(status)] = _content(lines, _JSON, schema)
            else:  # under ``always_200``, errors have the status of a success
                success["description"] += f" Or one of these errors:\n\n{lines}"
                content = success["content"][_JSON]
                content["schema"] = {"anyOf": [resolve(content["schema"]), schema]}
        for response in responses.values():
            response["headers"] = {
                name: {"$ref": f"#/components/headers/{name}"} for name in self.interface.headers
            }
        return responses

    def _answer(self, endpoint: Endpoint) -> dict[str, Any]:
        if endpoint.streams:
            words = "Server-sent events, each with data of this schema. Heartbeats are sent between events."
            return _content(words, "text/event-stream", endpoint.schemas.answer)
        answer = endpoint.schemas.answer
        shown = answer.response_schema(self.assumed) if is_shape(answer) else answer
        done = _content("Done.", _JSON, shown)
        done["content"] |= {form: {"schema": {"type": "string"}} for form in endpoint.forms if form != _JSON}
        return done

    def _errors(self, endpoint: Endpoint, rules: Iterable[Rule]) -> Iterator[ErrorEntry]:
        for rule in rules:
            yield from self.interface.documented_errors(endpoint, rule, self.assumed)

    def _error(self, name: str, errors: list[ErrorEntry]) -> dict[str, object]:
        """Return a reference to the schema of ``errors``, which becomes the component ``name``."""
        if name not in self.spec.components.schemas:
            self.spec.components.schema(name, _limited(self.interface.error_shape, errors))
        return {"$ref": f"#/components/schemas/{name}"}

    def _parameters(self, endpoint: Endpoint, path: str) -> list[dict[str, object]]:
        in_path = _PLACE.findall(path)
        query = endpoint.schemas.query
        queried = wire_fields(query)
        by_name = {
            **wire_fields(self.interface.placeholders),
            **queried,
            **wire_fields(endpoint.schemas.path),
        }
        required = query.required_keys(self.assumed) if is_shape(query) else ()
        parameters = [self._parameter(name, "path", by_name.get(name), True) for name in in_path]
        return parameters + [
            self._parameter(name, "query", field, name in required or field.required)
            for name, field in queried.items()
            if name not in in_path
        ]

    def _parameter(self, name: str, place: str, field: Any, required: bool) -> dict[str, object]:
        shape = {"type": "string"} if field is None else self.converter.field2property(field)
        about = shape.pop("description", "")
        return {
            "name": name,
            "in": place,
            "schema": shape,
            **({"description": about} if about else {}),
            **({"required": True} if required else {}),
        }


def _has_digits(endpoint: Endpoint, path: str) -> bool:
    """Whether a path has a placeholder for digits. Any other text at that place matches no route."""
    return any(endpoint.converters.get(name) == "digits" for name in _PLACE.findall(path))


def _limited(shape: Mapping[str, Any], errors: list[ErrorEntry]) -> dict[str, object]:
    """Return the JSON Schema ``shape``, limited to the values that occur in ``errors``."""
    properties = dict(shape["properties"])
    for key in errors[0].body:
        values = list(dict.fromkeys(error.body[key] for error in errors))
        properties[key] = {**properties[key], **_choice(values)}
    return {**shape, "properties": properties}


def _is_naming(endpoint: Endpoint, path: str) -> bool:
    """Whether a path names the subject of the operation, and another path of the operation does not."""
    return len(_PLACE.findall(path)) > min(len(_PLACE.findall(other)) for other in endpoint.paths)


def demanded_keys(schema: Shape, assumed: Assumptions) -> list[str]:
    """Return the required keys of a request. Of two names for one key, only the documented name counts."""
    return list(dict.fromkeys((*schema.required_keys(assumed), *schema.alternatives[:1])))


def _choice(values: list[Any]) -> dict[str, object]:
    """Return a schema that allows only ``values``. A ``{placeholder}`` allows any text."""
    if not any(isinstance(value, str) and "{" in value for value in values):
        return {"enum": values}
    patterns = (_ESCAPED_PLACE.sub(r"[\\s\\S]*", re.escape(value).replace("\\ ", " ")) for value in values)
    return {"pattern": f"^({'|'.join(patterns)})$"}


#: Matches a placeholder such as ``{name}`` in a text from ``re.escape``.
_ESCAPED_PLACE = re.compile(r"\\\{\w+\\\}")


def _content(description: str, form: str, schema: object) -> dict[str, Any]:
    return {"description": description, "content": {form: {"schema": schema}}}


# JSON Schema


class Converter(OpenAPIConverter):
    """Converts the schemas of requests and responses under the assumptions."""

    def assume(self, assumed: Assumptions, in_requests: frozenset[type[Schema]]) -> None:
        """Set the assumptions and the schema classes of requests."""
        self._assumed = assumed
        self._in_requests = in_requests
        self.add_attribute_function(self._own_shape)  # type: ignore[no-untyped-call]

    def schema2jsonschema(self, schema: Any) -> dict[str, object]:
        """Return the JSON Schema of an object, with description and required keys."""
        described: dict[str, Any] = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]
        instance = resolve_schema_instance(schema)
        words = _plain(docstring(type(instance)).partition("\n\n")[0])
        if is_shape(instance):
            for name in instance.absent_keys(self._assumed):
                del described["properties"][name]
            described["required"] = self._required(instance, described)
            if type(instance) in self._in_requests:
                needed = described["required"]
                described["properties"] = {
                    name: shape if name in needed else _or_null(shape)
                    for name, shape in described["properties"].items()
                }
        described = {key: value for key, value in described.items() if key != "required" or value}
        return {**({"description": words} if words else {}), **described}

    def _required(self, schema: Shape, described: Mapping[str, Any]) -> list[str]:
        if type(schema) in self._in_requests:
            needed = [*demanded_keys(schema, self._assumed), *schema.naming_keys(self._assumed)]
            for alias in schema.alternatives[1:]:
                del described["properties"][alias]
            for name in needed:
                if "string" in described["properties"][name].get("type", ""):
                    described["properties"][name]["minLength"] = 1  # an empty string counts as missing
            return needed
        optional = schema.optional_keys(self._assumed)
        return [name for name in described["properties"] if name not in optional]

    def _own_shape(self, field: Any, ret: Mapping[str, Any], **__: object) -> Mapping[str, object]:
        """Return a field's own schema, with the limits that its validators set."""
        under = getattr(field, "shape_under", None)
        shape = dict(getattr(field, "shape", {}) if under is None else under(self._assumed))
        types = shape.get("type", [])
        if field.allow_none and types:
            shape["type"] = [*([types] if isinstance(types, str) else types), "null"]
        if require_plain_text in field.validators:
            shape["maxLength"] = text_checks.LONGEST
        for validator in field.validators:
            if isinstance(validator, validate.Regexp):
                # A JSON Schema pattern matches anywhere in a string, a marshmallow pattern only at the start.
                shape["pattern"] = f"^(?:{validator.regex.pattern!s})".replace(r"\Z", "$")
        return {**shape, **({"description": _plain(ret["description"])} if "description" in ret else {})}


def _or_null(shape: dict[str, Any]) -> dict[str, object]:
    """Return a schema that also allows null, because null means a missing key."""
    if "type" not in shape:
        words = {key: shape[key] for key in ("description",) if key in shape}
        return {"anyOf": [{key: shape[key] for key in shape if key not in words}, {"type": "null"}], **words}
    types = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
    choices = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
    return {**shape, "type": [*types, "null"], **choices}


def name_of(schema: object) -> str:
    """Return the name of a schema in OpenAPI documents."""
    return str((schema if isinstance(schema, type) else type(schema)).__name__)


def request_schemas(endpoints: Iterable[Endpoint]) -> frozenset[type[Schema]]:
    """Return the classes of all objects in request bodies."""
    return frozenset(schema for endpoint in endpoints for schema in _within(endpoint.schemas.body))


def _within(schema: Schema | None) -> Iterator[type[Schema]]:
    if schema is None:
        return
    yield type(schema)
    for field in schema.fields.values():
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from _within(inner.schema)


def resource(endpoint: Endpoint) -> str:
    """Return the name of the resource or the module that declares an operation."""
    if endpoint.subject is not None:
        return str(endpoint.subject.name)
    *_, package, module = endpoint.handle.__module__.split(".")
    return package if module == "endpoints" else module


def resources(endpoints: Iterable[Endpoint]) -> dict[str, str]:
    """Return the description of each resource that declares operations, by the resource's name."""
    # Import modules again, because pytester removes imported modules while a sandbox is still running.
    subjects = {each: each.subject or import_module(each.handle.__module__) for each in endpoints}
    return {
        resource(endpoint): _plain(docstring(subject).partition("\n\n")[0])
        for endpoint, subject in subjects.items()
    }


def _plain(words: str) -> str:
    """Return the text of a docstring as Markdown, in one line."""
    return " ".join(words.replace("``", "`").split())
