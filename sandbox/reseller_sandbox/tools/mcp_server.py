"""MCP server (Model Context Protocol): a coding agent can call each operation of a sandbox as a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import Operation, operations_by_id
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import HttpTransport, Unreachable
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.values.parameters import object_shape
from reseller_sandbox.web.interface import Endpoint
from reseller_sandbox.web.interfaces import public_interfaces

#: Resources whose operations are not tried in a fork first: they spend no money, and act on the server.
_WITHOUT_MONEY = ("worlds", "recording")

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

_INSTRUCTIONS = (
    "A sandbox of a domain-registration reseller API, with test accounts and test money. Tools that begin "
    "with {interfaces} are requests of an account. The other tools read and change the world: its clock, its "
    "faults, third parties. The page of the sandbox is at {url}/."
)


@dataclass(frozen=True)
class Tool:
    """A tool: its MCP declaration, whether it changes nothing (``reads``), and the function that calls it.

    ``tries`` is false if the call cannot be tried in a fork.
    """

    declaration: types.Tool
    reads: bool
    call: Callable[[Sandbox, dict[str, Any]], tuple[Any, bool]]
    tries: bool = True


class OverLimit(Exception):
    """A call would spend more money than the limit."""


class Agent:
    """The tools of a coding agent. They act on one world of a server, and send requests as one account.

    If ``reads_only`` is true, there are only tools that change nothing. If a call would raise the sum that
    the accounts have paid since the start above ``limit``, the call is refused.
    """

    def __init__(self, sandbox: Sandbox, account: str, *, reads_only: bool, limit: Decimal | None) -> None:
        self._sandbox, self._limit, self._spent = sandbox, limit, Decimal(0)
        every = [*_control_tools(), *_api_tools(sandbox, account)]
        self.tools = {tool.declaration.name: tool for tool in every if tool.reads or not reads_only}

    def call(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Call the tool ``name``. Return its result, or its error as text."""
        tool = self.tools.get(name)
        if tool is None:
            return _result(f"There is no tool {name}.", is_error=True)
        try:
            result, is_error = self._within_limit(tool, arguments)
        except Refused as refused:
            return _result(f"{refused.code}: {refused.message} {refused.remedy}".strip(), is_error=True)
        except (Unreachable, OverLimit) as problem:
            return _result(str(problem), is_error=True)
        return _result(json.dumps(result, ensure_ascii=False), is_error=is_error)

    def _within_limit(self, tool: Tool, arguments: dict[str, Any]) -> tuple[Any, bool]:
        """Call a tool. With a limit, call it in a fork first. Raise ``OverLimit`` if it costs too much."""
        if self._limit is None or tool.reads or not tool.tries:
            return tool.call(self._sandbox, dict(arguments))
        before = _paid(self._sandbox)
        with self._sandbox.fork() as trial:
            tool.call(trial, dict(arguments))
            cost = _paid(trial) - before
        if cost > 0 and self._spent + cost > self._limit:
            raise OverLimit(
                f"{tool.declaration.name} would spend {cost}, but {self._spent} of the limit of "
                f"{self._limit} is already spent. Nothing was changed."
            )
        result = tool.call(self._sandbox, dict(arguments))
        self._spent += max(Decimal(0), _paid(self._sandbox) - before)
        return result


def serve(agent: Agent, url: str) -> None:
    """Serve the tools on standard input and output until the client closes them."""

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.declaration for tool in agent.tools.values()])

    async def call_tool(_: Any, call: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(agent.call, call.name, call.arguments or {})

    interfaces = " or ".join(f"{public.name}_" for public in public_interfaces())
    server: Server[Any] = Server(
        "reseller-sandbox",
        version=version("reseller-sandbox"),
        instructions=_INSTRUCTIONS.format(url=url, interfaces=interfaces),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

    async def run() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(run)


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _paid(sandbox: Sandbox) -> Decimal:
    """Return the sum of all charges of a world."""
    return sum((total.charged for total in sandbox.ledger.find(limit=0).totals.account), Decimal(0))


def _tool(name: str, about: str, schema: Mapping[str, Any], *, reads: bool) -> types.Tool:
    return types.Tool(
        name=re.sub(r"\W", "_", name),
        description=about,
        input_schema={"type": "object", **schema},
        annotations=types.ToolAnnotations(read_only_hint=reads, open_world_hint=False),
    )


def _control_tools() -> Iterator[Tool]:
    """Yield a tool for each control operation except streams, which do not end."""
    for operation in operations_by_id(RESOURCES.values()).values():
        if operation.sort != "stream":
            yield _control_tool(operation)


def _control_tool(operation: Operation) -> Tool:
    def call(sandbox: Sandbox, arguments: dict[str, Any]) -> tuple[Any, bool]:
        assert isinstance(sandbox.transport, HttpTransport)
        return sandbox.transport.answer(operation, arguments), False

    schema = object_shape(operation.parameters)
    reads = operation.sort == "read"
    declaration = _tool(operation.id, operation.description, schema, reads=reads)
    return Tool(declaration, reads, call, tries=operation.resource.name not in _WITHOUT_MONEY)


def _api_tools(sandbox: Sandbox, account: str) -> Iterator[Tool]:
    """Yield a tool for each operation of the reseller API, described by the server's OpenAPI documents."""
    client = sandbox.client(account)
    for interface in (public.load() for public in public_interfaces()):
        document: Any = client.get(f"/_sandbox/openapi/{interface.name}.json").json
        for endpoint in interface.endpoints:
            yield _api_tool(endpoint, document, account)


def _api_tool(endpoint: Endpoint, document: Mapping[str, Any], account: str) -> Tool:
    paths = {path: document["paths"][path][endpoint.method.lower()] for path in endpoint.paths}
    described = next(iter(paths.values()))
    content = described.get("requestBody", {}).get("content", {})
    body = _inlined(next(iter(content.values()))["schema"], document) if content else {}
    parameters = {each["name"]: each for path in paths.values() for each in path.get("parameters", ())}
    fixed = {
        name: each["schema"]["enum"][0]
        for name, each in parameters.items()
        if len(each["schema"].get("enum", ())) == 1
    }
    properties = {
        name: {**each["schema"], "description": each.get("description", "")}
        for name, each in parameters.items()
        if name not in fixed
    }
    required = set.intersection(*map(_required, paths.values())) - fixed.keys()
    schema = {
        **{key: body[key] for key in ("oneOf", "anyOf") if key in body},
        "properties": {**properties, **body.get("properties", {})},
        "required": sorted({*required, *body.get("required", ())}),
    }

    def call(sandbox: Sandbox, arguments: dict[str, Any]) -> tuple[Any, bool]:
        values = {**fixed, **arguments}
        possible = (path for path in paths if {*_PLACEHOLDER.findall(path)} <= values.keys())
        target = max(possible, key=lambda path: path.count("{"), default=endpoint.paths[0])
        path = _PLACEHOLDER.sub(lambda match: quote(str(values.pop(match[1], "")), safe=""), target)
        in_body = {name: values.pop(name) for name in [*values] if name in body.get("properties", {})}
        answer = sandbox.client(account).open(
            path, method=endpoint.method, query_string=values, json=in_body if content else None
        )
        headers = {name: value for name, value in answer.headers.items() if name.startswith("X-Sandbox-")}
        result = {"status": answer.status_code, "body": answer.get_json(silent=True), "headers": headers}
        return result, answer.status_code >= 400

    about = "\n\n".join(dict.fromkeys(filter(None, (described["summary"], described["description"]))))
    return Tool(_tool(endpoint.id, about, schema, reads=endpoint.reads), endpoint.reads, call)


def _required(path: Mapping[str, Any]) -> set[str]:
    """Return the names of the required parameters in ``path``, an operation of an OpenAPI document."""
    return {each["name"] for each in path.get("parameters", ()) if each.get("required")}


def _inlined(shape: Any, document: Mapping[str, Any]) -> Any:
    """Return a JSON schema in which each ``$ref`` is replaced by the schema that it names."""
    if isinstance(shape, list):
        return [_inlined(part, document) for part in shape]
    if not isinstance(shape, dict):
        return shape
    name = shape.get("$ref", "").rpartition("/")[2]
    merged = {**document["components"]["schemas"][name], **shape} if name else shape
    return {key: _inlined(part, document) for key, part in merged.items() if key != "$ref"}
