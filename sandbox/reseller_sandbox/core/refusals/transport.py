"""What is wrong with a request before any operation is reached, and what faults make of it."""

from __future__ import annotations

from reseller_sandbox.core.refusals.rule import Category, Rule

_UNREAD = "The server could not take the request up: {problem}"

# What never becomes a request; the server that reads the bytes answers by itself.
MALFORMED_REQUEST = Rule("malformed_request", Category.INVALID, _UNREAD, "send a well-formed request")
INCOMPLETE_REQUEST = Rule("incomplete_request", Category.INVALID, _UNREAD, "send a whole request")
URI_TOO_LONG = Rule("uri_too_long", Category.TOO_LARGE, _UNREAD, "send a shorter path and query")
HEADERS_TOO_LARGE = Rule("headers_too_large", Category.TOO_LARGE, _UNREAD, "send fewer or shorter headers")
TOO_MANY_CONNECTIONS = Rule(
    "too_many_connections", Category.UNAVAILABLE, _UNREAD, "close connections that are not used"
)
UNREAD = {
    rule.code: rule
    for rule in (MALFORMED_REQUEST, INCOMPLETE_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, TOO_MANY_CONNECTIONS)
}
INVALID_HOST = Rule(
    "invalid_host",
    Category.INVALID,
    "The request {problem}; it has to name one host, and perhaps a port.",
    "name the host of the service, once",
)
MALFORMED_BODY = Rule(
    "malformed_body", Category.INVALID, "The body is not usable: {problem}.", "send one JSON object in UTF-8"
)
BODY_TOO_LARGE = Rule(
    "body_too_large",
    Category.TOO_LARGE,
    "The body is larger than the {limit} bytes taken here ({setting}).",
    "send at most {limit} bytes, or raise {setting}",
)
UNSUPPORTED_MEDIA_TYPE = Rule(
    "unsupported_media_type",
    Category.WRONG_FORMAT,
    "The content type {given} is not JSON; {setting} would take it.",
    "send JSON, and say so: {wanted}",
)
UNKNOWN_PATH = Rule(
    "unknown_path",
    Category.NOT_FOUND,
    "{method} {path} is no operation: {nearest}.",
    "use another path: {nearest}",
)
METHOD_NOT_ALLOWED = Rule(
    "method_not_allowed",
    Category.WRONG_METHOD,
    "{method} does not go with {path}; use {allowed}.",
    "use {allowed}",
)
UNKNOWN_WORLD = Rule(
    "unknown_world",
    Category.NOT_FOUND,
    "There is no world {world!r}.",
    "use the name of a world that is there, or create {world!r} first",
)
VERSION_NOT_SERVED = Rule(
    "version_not_served",
    Category.NOT_IMPLEMENTED,
    "The version {version} is not served; {served} is.",
    "use {served}",
)
INTERNAL_ERROR = Rule(
    "internal_error",
    Category.INTERNAL,
    "The service failed while answering{where}.",
    "send the request again{where}",
    usual={"where": ""},
)

# Faults: what a service that is out of order says, which a contract need not document.
RATE_LIMITED = Rule(
    "rate_limited",
    Category.LIMIT,
    "More than {limit} requests in {window} seconds; come back in {left} seconds.",
    "come back in {left} seconds",
)
UNAVAILABLE = Rule(
    "service_unavailable",
    Category.UNAVAILABLE,
    "The service is not available; try again later.",
    "try again later",
)
MAINTENANCE = Rule(
    "maintenance",
    Category.UNAVAILABLE,
    "The service is down for maintenance; try again later.",
    "try again later",
)

# Shape of the request.
MISSING_PARAMETER = Rule("missing_parameter", Category.INVALID, "{field} is missing.", "send {field}")
INVALID_PARAMETER = Rule(
    "invalid_parameter",
    Category.INVALID,
    "{problems}.",
    "mend the request: {problems}",
    usual={"field": "", "value": ""},
)
UNKNOWN_KEYS = Rule(
    "unknown_keys",
    Category.INVALID,
    "The request has keys that nothing reads: {keys}.",
    "leave out, or spell otherwise: {keys}",
)
TOO_MANY_NAMES = Rule(
    "too_many_names",
    Category.INVALID,
    "{field} holds {count} names; at most {limit} are taken.",
    "ask for at most {limit} names at a time",
)
