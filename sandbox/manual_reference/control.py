"""The page of the resources, with every operation in all interfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, prose, table, type_of
from manual_reference.pages import Resources
from manual_reference.results import called, parts, records
from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.control_http.rows import endpoints
from reseller_sandbox.values.parameters import Parameter, docstring


def page(resources: Resources) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Resources"
    yield ("Every control operation on a world, in Python, over HTTP and on the command line.")
    yield (
        "Each operation is a method on a `Sandbox` and on the result of `connect(url)`, a request to a "
        "server, and a command. Parameters, results and refusals are the same. * = required."
    )
    yield (
        "Over HTTP, parameters are in the query of a GET, and in the JSON body of other requests. With the "
        "prefix `/_worlds/NAME`, the same paths act on another world. The [results](#results) are at the end "
        "of the page. `GET /_sandbox/openapi/control.json` has their schemas."
    )
    for resource in resources.values():
        yield from _resource(resource)
    yield "## Results"
    yield (
        "In Python a result is a record with these fields. Over HTTP, and with `--json`, it is an object "
        "with these keys."
    )
    for record in records(one.result for resource in resources.values() for one in resource.operations()):
        yield f"### {record.__name__}"
        yield prose(docstring(record))
        yield table(("field", "is"), ((code(name), sort) for name, sort in parts(record)))


def _resource(resource: type[Resource]) -> Iterator[str]:
    yield f"## {resource.name}"
    words, _, example = docstring(resource).partition("\n>>> ")
    yield prose(words)
    if example:
        yield block("pycon", f">>> {example}")
    statuses = {row.id: row.status for row in endpoints([resource])}
    for one in resource.operations():
        yield f"### {one.id}"
        yield table(("Python", "HTTP", "command"), [_interfaces(one, statuses[f"control.{one.id}"])])
        yield prose(one.description)
        if one.parameters:
            yield table(
                ("parameter", "takes", "description"), (_row(one, parameter) for parameter in one.parameters)
            )
        if one.refuses:
            refused = (f"[`{rule.code}`](errors.md#{rule.code})" for rule in one.refuses)
            yield f"Refuses, in addition to invalid parameters: {', '.join(refused)}."
        yield f"{'Yields' if one.sort == 'stream' else 'Returns'} {called(one.result)}."


def _interfaces(one: Operation, status: int) -> Sequence[str]:
    segments = [parameter for parameter in one.parameters if parameter.place != "option"]
    names = ", ".join(parameter.name for parameter in segments)
    words = " ".join(parameter.name.upper() for parameter in segments)
    command = f"reseller-sandbox {one.resource.name.replace('_', '-')} {one.name.replace('_', '-')} {words}"
    return (
        code(f"sandbox.{one.id}({names})"),
        f"{code(f'{one.method} {one.path}')}: {status}",
        code(command.rstrip()),
    )


def _row(one: Operation, parameter: Parameter) -> Sequence[str]:
    default = (
        "" if parameter.default is None else f" (default: {code(parameter.kind.write(parameter.default))})"
    )
    return (
        code(parameter.name) + (" *" if parameter.required else ""),
        prose(parameter.kind.says or type_of(parameter.kind.shape)) + default,
        prose(one.descriptions.get(parameter.name, "")),
    )
