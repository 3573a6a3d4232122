"""The pages of the control operations: an overview, and a page for each resource."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import block, code, listed, prose, table, type_of
from manual_reference.results import called, parts, records
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import Operation, Resource
from reseller_sandbox.control_http.endpoints import endpoint_of
from reseller_sandbox.refusals import INVALID_PARAMETER, Rule
from reseller_sandbox.values.parameters import Parameter, docstring


def overview() -> Iterator[str]:
    """Yield the parts of the overview of all control operations."""
    yield "# Control operations"
    yield "Every control operation on a world, in Python, over HTTP and on the command line."
    yield (
        "You can call each operation in Python, over HTTP and as a command. In Python, the operations are "
        "methods of a `Sandbox`, and of the result of `connect(url)`. All three ways have the same "
        "parameters, results and refusals. The page of a resource lists the operations, their parameters and "
        "the records that they return. * = required."
    )
    yield (
        "Over HTTP, parameters are in the query of a GET, and in the JSON body of other requests. To act on "
        "another world, put the prefix `/_worlds/NAME` before the path. `GET /_sandbox/openapi/control.json` "
        "returns the schemas of the operations."
    )
    yield (
        "In Python, a result is a record. Over HTTP, and with the option `--json`, the result is an object. "
        "The keys of the object are the fields of the record."
    )
    yield table(("resource", "operations", "subject"), map(_summary, RESOURCES.values()))


def _summary(resource: type[Resource]) -> Sequence[str]:
    operations = ", ".join(operation.name for operation in resource.operations())
    subject = docstring(resource).partition("\n")[0]
    return f"[{code(resource.name)}](control-{resource.name}.md)", operations, prose(subject)


def page(resource: type[Resource]) -> Iterator[str]:
    """Yield the parts of the page that describes a resource."""
    yield f"# Control: {resource.name}"
    words, _, example = docstring(resource).partition("\n>>> ")
    yield prose(words.strip())
    if example:
        yield block("pycon", f">>> {example}")
    statuses = {row.id: row.status for row in map(endpoint_of, resource.operations())}
    for operation in resource.operations():
        yield f"## {operation.id}"
        interfaces = _interfaces(operation, statuses[f"control.{operation.id}"])
        yield table(("Python", "HTTP", "command"), [interfaces])
        yield prose(operation.description)
        if operation.parameters:
            rows = (_row(parameter) for parameter in operation.parameters)
            yield table(("parameter", "takes", "description"), rows)
        if operation.refuses:
            yield _refusals(operation.refuses)
        yield f"{'Yields' if operation.sort == 'stream' else 'Returns'} {called(operation.result)}."
    for record in records(operation.result for operation in resource.operations()):
        yield f"## {record.__name__}"
        yield prose(docstring(record))
        yield table(("field", "is"), ((code(name), sort) for name, sort in parts(record)))


def _refusals(rules: Sequence[Rule]) -> str:
    """Return a sentence with the rules by which an operation refuses a call."""
    codes = [f"[`{rule.code}`](errors.md#{rule.code})" for rule in (INVALID_PARAMETER, *rules)]
    return f"The operation can refuse a call with {listed(codes, 'or')}."


def _interfaces(operation: Operation, status: int) -> Sequence[str]:
    words = [parameter.name for parameter in operation.parameters if parameter.place != "option"]
    command = f"{operation.resource.name} {operation.name}".replace("_", "-")
    return (
        code(f"sandbox.{operation.id}({', '.join(words)})"),
        f"{code(f'{operation.method} {operation.path}')}: {status}",
        code(" ".join(["reseller-sandbox", command, *map(str.upper, words)])),
    )


def _row(parameter: Parameter) -> Sequence[str]:
    default = (
        "" if parameter.default is None else f" (default: {code(parameter.kind.write(parameter.default))})"
    )
    return (
        code(parameter.name) + (" *" if parameter.required else ""),
        prose(parameter.kind.says or type_of(parameter.kind.shape)) + default,
        prose(parameter.words),
    )
