"""Refusals before a request reaches an operation, and those of faults."""

from __future__ import annotations

from reseller_sandbox.refusals.rule import (
    internal,
    invalid,
    limit,
    not_found,
    not_implemented,
    too_large,
    unavailable,
    wrong_format,
    wrong_method,
)

_UNREAD = "The server could not read the request: {problem}"

# The server refuses these without the application, because it cannot read a request.
MALFORMED_REQUEST = invalid(_UNREAD, "send a well-formed request")
INCOMPLETE_REQUEST = invalid(_UNREAD, "send a complete request")
URI_TOO_LONG = too_large(_UNREAD, "send a shorter path and query")
HEADERS_TOO_LARGE = too_large(_UNREAD, "send fewer or shorter headers")
TOO_MANY_CONNECTIONS = unavailable(_UNREAD, "close connections that are not used")
INVALID_HOST = invalid(
    "The request {problem}. It must name one host, optionally with a port.",
    "name the host of the service once",
)
MALFORMED_BODY = invalid("The body is invalid: {problem}.", "send one JSON object in UTF-8")
BODY_TOO_LARGE = too_large(
    "The body is larger than the limit of {limit} bytes ({setting}).",
    "send at most {limit} bytes, or raise {setting}",
)
UNSUPPORTED_MEDIA_TYPE = wrong_format(
    "The content type {given} is not JSON; {setting} would accept it.", "send JSON with {expected}"
)
UNKNOWN_PATH = not_found("{method} {path} is not an operation: {nearest}.", "use another path: {nearest}")
METHOD_NOT_ALLOWED = wrong_method("{method} is not allowed for {path}; use {allowed}.", "use {allowed}")
UNKNOWN_WORLD = not_found(
    "There is no world {world!r}{elsewhere}.",
    "use the name of an existing world, or create {world!r} first",
    elsewhere="",
)
VERSION_NOT_SERVED = not_implemented("The version {version} is not served; {served} is.", "use {served}")
INTERNAL_ERROR = internal(
    "The service failed while answering{where}.",
    "send the request again{where}",
    synonyms=("server_error", "500"),
    where="",
)

# Faults: errors of a service that is out of order. A contract need not document them.
RATE_LIMITED = limit(
    "More than {limit} requests in {window} seconds; try again in {left} seconds.",
    "try again in {left} seconds",
    synonyms=("too_many_requests", "throttled", "429"),
)
SERVICE_UNAVAILABLE = unavailable(
    "The service is not available; try again later.", "try again later", synonyms=("unavailable", "503")
)
MAINTENANCE = unavailable("The service is down for maintenance; try again later.", "try again later")

# Shape of the request.
MISSING_PARAMETER = invalid("{field} is missing.", "send {field}")
INVALID_PARAMETER = invalid("{problems}.", "correct the request: {problems}", field="", value="")
UNKNOWN_KEYS = invalid("The request has unknown keys: {keys}.", "remove or respell these keys: {keys}")
TOO_MANY_NAMES = invalid(
    "{field} holds {count} names; the maximum is {limit}.", "send at most {limit} names per request"
)
