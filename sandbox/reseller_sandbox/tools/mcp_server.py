"""MCP server (Model Context Protocol): a coding agent can call each operation of a sandbox.

The agent gets a few tools that it needs first, and three general tools that find, describe and call all
other operations. It can read the pages of the manual and the operations of the contract as resources.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from threading import Lock
from typing import Any
from urllib.parse import quote

import anyio
from mcp import MCPError, types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.hints import OPERATIONS
from reseller_sandbox.control.resource import Operation, operations_by_id
from reseller_sandbox.manual.pages import Manual
from reseller_sandbox.manual.search import Section, find
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import HttpTransport, Unreachable
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.values.parameters import object_shape
from reseller_sandbox.values.text_checks import nearest
from reseller_sandbox.web.headers import SPEND_LIMIT
from reseller_sandbox.web.interface import Endpoint
from reseller_sandbox.web.interfaces import public_interfaces

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

_INSTRUCTIONS = (
    "A sandbox of a domain-registration reseller API, with test accounts and test money. Operations that "
    "begin with {interfaces} are requests of an account. The other operations read and change the world: "
    "its clock, its faults, third parties. If no tool fits, use search_operations, describe_operation and "
    "call_operation, which reach every operation. The resources are the manual and the operations of the "
    "API. The page of the sandbox is at {url}/."
)

#: The groups of tools besides the interfaces and the resources: those an agent needs first, and all tools.
CORE, ALL = "core", "all"

#: The control operations that an agent needs first.
_FIRST = (
    *("journal.list", "journal.get", "names.list", "names.get", "clock.show", "clock.advance"),
    *("faults.add", "faults.list", "faults.clear", "accounts.list", "accounts.credit", "ledger.list"),
    *("advice.list", "worlds.fork", "worlds.list", "history.rewind", "history.reset"),
)

#: The result of a call, and whether it is an error.
_Result = tuple[Any, bool]

#: The schemes of the resources: a page of the manual, and an operation of the API.
_PAGE, _OPERATION = "sandbox://manual/", "sandbox://operations/"

#: Maximum number of operations that a search returns.
_FOUND = 12


@dataclass(frozen=True)
class Tool:
    """A tool: its MCP declaration, whether it changes nothing (``reads``), and the function that calls it.

    ``group`` is the resource or the interface of the operation ``id``. The function takes the sandbox, the
    arguments, and the headers of the request.
    """

    id: str
    group: str
    declaration: types.Tool
    reads: bool
    call: Callable[[Sandbox, dict[str, Any], Mapping[str, str]], _Result]


class Agent:
    """The tools of a coding agent. They act on one world of a server, and send requests as one account.

    ``groups`` are the groups of operations that are tools. The general tools reach the other operations. If
    ``reads_only`` is true, only operations that change nothing can be called. If a call would raise the sum
    that the accounts have paid since the start above ``limit``, the server refuses the call. The sum counts
    all charges in the ledger of the world, also those of time and of other clients.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        account: str,
        *,
        groups: Collection[str] = (CORE,),
        reads_only: bool = False,
        limit: Decimal | None = None,
    ) -> None:
        self._sandbox, self._limit, self._spent = sandbox, limit, Decimal(0)
        self._charged = Decimal(0) if limit is None else _charged(sandbox)
        #: Calls with a limit run one after the other, because each one needs the sum after the previous one.
        self._turn = Lock()
        # A stream does not end, so it is not a tool.
        operations = [each for each in operations_by_id(RESOURCES.values()).values() if each.sort != "stream"]
        every = [_request_tool(account), *map(_control_tool, operations), *_api_tools(sandbox, account)]
        allowed = [tool for tool in every if tool.reads or not reads_only]
        self.operations = {tool.declaration.name: tool for tool in allowed}
        chosen = [tool.declaration for tool in allowed if _is_chosen(tool, groups)]
        self.listed = [*chosen, *_general(reads_only=reads_only)]

    def call(self, name: str, arguments: dict[str, object]) -> types.CallToolResult:
        """Call the tool ``name``. Return its result, or its error as text."""
        if name == "search_operations":
            return _result(json.dumps(self._search(str(arguments.get("words", ""))), ensure_ascii=False))
        if name in ("call_operation", "describe_operation"):
            wanted, is_called = _tool_name(str(arguments.get("id", ""))), name == "call_operation"
            given = arguments.get("arguments")
            arguments = given if isinstance(given, dict) else {}
        else:
            wanted, is_called = _tool_name(name), True
        tool = self.operations.get(wanted)
        if tool is None:
            near = nearest(wanted, sorted(self.operations))
            problem = f"There is no operation {wanted}{near}" if wanted else f"{name} needs the argument id"
            return _result(problem, is_error=True)
        if not is_called:
            return _result(json.dumps(_description(tool), ensure_ascii=False))
        try:
            if self._limit is None:
                result, is_error = tool.call(self._sandbox, dict(arguments), {})
            else:
                with self._turn:
                    result, is_error = tool.call(self._sandbox, dict(arguments), self._headers(self._limit))
        except Refused as refused:
            return _result(f"{refused.code}: {refused.message} {refused.remedy}".strip(), is_error=True)
        except Unreachable as problem:
            return _result(str(problem), is_error=True)
        return _result(json.dumps(result, ensure_ascii=False), is_error=is_error)

    def _headers(self, limit: Decimal) -> dict[str, str]:
        """Return the headers with the charges that the next call may leave.

        If the ledger has been reset, the charges of before still count.
        """
        charged = _charged(self._sandbox)
        self._spent += max(Decimal(0), charged - self._charged)
        self._charged = charged
        return {SPEND_LIMIT: str(charged + limit - self._spent)}

    def _search(self, words: str) -> list[dict[str, str]]:
        """Return the operations that fit the words, the best first: the id and the first sentence of each."""
        sections = [
            Section(
                page=tool.id,
                title=tool.id.replace(".", " ").replace("_", " "),
                heading=_first_sentence(tool),
                anchor="",
                text=tool.declaration.description or "",
                also=f"{tool.id} {OPERATIONS.get(tool.id, '')}".replace("_", " ").lower(),
            )
            for tool in self.operations.values()
        ]
        found = find(words, sections)[:_FOUND]
        return [{"id": section.page, "about": section.heading} for section in found]


def group_names() -> list[str]:
    """Return the groups of tools: ``core``, ``all``, the interfaces, and the resources."""
    return [CORE, ALL, *(public.name for public in public_interfaces()), *RESOURCES]


def _is_chosen(tool: Tool, groups: Collection[str]) -> bool:
    return ALL in groups or tool.group in groups or (CORE in groups and tool.id in _FIRST)


def _general(*, reads_only: bool) -> list[types.Tool]:
    """Return the tools that find, describe and call any operation."""
    words = {"words": {"type": "string", "description": "Words that describe the task."}}
    of = {"id": {"type": "string", "description": "The id of an operation, as the contract names it."}}
    values = {"type": "object", "description": "The arguments, as describe_operation shows them."}
    limit = " Only operations that change nothing can be called." if reads_only else ""
    return [
        _tool(
            "search_operations",
            "Find operations of the API and of the sandbox by words. Return the ids, the best first.",
            {"properties": words, "required": ["words"]},
            reads=True,
        ),
        _tool(
            "describe_operation",
            "Return the description of an operation, and the JSON schema of its arguments.",
            {"properties": of, "required": ["id"]},
            reads=True,
        ),
        _tool(
            "call_operation",
            f"Call any operation by its id.{limit}",
            {"properties": {**of, "arguments": values}, "required": ["id"]},
            reads=reads_only,
        ),
    ]


def _tool_name(operation: str) -> str:
    """Return the name of the tool for an operation. Clients accept only letters, digits and underscores."""
    return re.sub(r"\W", "_", operation)


def _first_sentence(tool: Tool) -> str:
    return (tool.declaration.description or "").partition("\n\n")[0].replace("\n", " ")


def _description(tool: Tool) -> dict[str, object]:
    """Return an operation for ``describe_operation``."""
    declaration = tool.declaration
    return {"id": tool.id, "about": declaration.description, "arguments": declaration.input_schema}


def _resources(agent: Agent, manual: Manual) -> Iterator[types.Resource]:
    """Yield the pages of the manual, and the operations of the API that the agent can call."""
    for page in manual.pages.values():
        uri = f"{_PAGE}{page.name}"
        yield types.Resource(name=page.name, title=page.title, uri=uri, mime_type="text/markdown")
    public = {interface.name for interface in public_interfaces()}
    for tool in agent.operations.values():
        if tool.group in public:
            about = _first_sentence(tool)
            yield types.Resource(
                name=tool.id, description=about, uri=f"{_OPERATION}{tool.id}", mime_type="application/json"
            )


def _resource(agent: Agent, manual: Manual, uri: str) -> types.TextResourceContents:
    """Return a resource by its address. Raise ``MCPError`` if there is none."""
    if uri.startswith(_PAGE) and (page := manual.pages.get(uri.removeprefix(_PAGE))):
        return types.TextResourceContents(uri=uri, mime_type="text/markdown", text=page.text)
    tool = agent.operations.get(_tool_name(uri.removeprefix(_OPERATION)))
    if tool is None or not uri.startswith(_OPERATION):
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri[:80]}")
    text = json.dumps(_description(tool), ensure_ascii=False, indent=2)
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=text)


def serve(agent: Agent, url: str) -> None:
    """Serve the tools on standard input and output until the client closes them, or until Ctrl-C."""

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=agent.listed)

    async def call_tool(_: object, call: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(agent.call, call.name, call.arguments or {})

    manual = Manual()

    async def list_resources(_: object, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[*_resources(agent, manual)])

    async def read_resource(_: object, wanted: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return types.ReadResourceResult(contents=[_resource(agent, manual, str(wanted.uri))])

    interfaces = " or ".join(f"{public.name}_" for public in public_interfaces())
    server: Server[Any] = Server(
        "reseller-sandbox",
        version=version("reseller-sandbox"),
        instructions=_INSTRUCTIONS.format(url=url, interfaces=interfaces),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )

    async def run() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    # A thread waits for the next line of standard input, and nothing else can end its wait.
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    anyio.run(run)


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _charged(sandbox: Sandbox) -> Decimal:
    """Return the sum of all charges of a world."""
    return sum((total.charged for total in sandbox.ledger.list(limit=0).totals.account), Decimal(0))


def _tool(name: str, about: str, schema: Mapping[str, object], *, reads: bool) -> types.Tool:
    return types.Tool(
        name=_tool_name(name),
        description=about,
        input_schema={"type": "object", **schema},
        annotations=types.ToolAnnotations(read_only_hint=reads, open_world_hint=False),
    )


def _control_tool(operation: Operation) -> Tool:
    def call(sandbox: Sandbox, arguments: dict[str, object], headers: Mapping[str, str]) -> _Result:
        assert isinstance(sandbox.transport, HttpTransport)
        return sandbox.transport.answer(operation, arguments, headers), False

    schema = object_shape(operation.parameters)
    reads = operation.sort == "read"
    declaration = _tool(operation.id, operation.description, schema, reads=reads)
    group = operation.resource.name
    return Tool(operation.id, group, declaration, reads, call)


def _request_tool(account: str) -> Tool:
    """Return the tool that sends any request of the account."""

    def call(sandbox: Sandbox, arguments: dict[str, object], headers: Mapping[str, str]) -> _Result:
        method, path = str(arguments.get("method", "")).upper(), str(arguments.get("path", ""))
        return _answer(sandbox, account, method, path, json=arguments.get("body"), headers=headers)

    schema = {
        "properties": {
            "method": {"type": "string", "enum": ["GET", "POST", "PUT", "DELETE"]},
            "path": {"type": "string", "description": "Path and query, as a client sends them."},
            "body": {"type": "object", "description": "The body, as JSON."},
        },
        "required": ["method", "path"],
    }
    about = (
        "Send a signed request of an account to the API. Return the status, the body and the headers of the "
        "sandbox. The journal explains each request."
    )
    return Tool("send.request", CORE, _tool("send_request", about, schema, reads=False), False, call)


def _answer(sandbox: Sandbox, account: str, method: str, path: str, **options: object) -> _Result:
    """Send a request, and return its answer and whether it is an error."""
    answer = sandbox.client(account).open(path, method=method, **options)
    headers = {name: value for name, value in answer.headers.items() if name.startswith("X-Sandbox-")}
    result = {"status": answer.status_code, "body": answer.get_json(silent=True), "headers": headers}
    return result, answer.status_code >= 400


def _api_tools(sandbox: Sandbox, account: str) -> Iterator[Tool]:
    """Yield a tool for each operation of the reseller API, described by the server's OpenAPI documents."""
    client = sandbox.client(account)
    for interface in (public.load() for public in public_interfaces()):
        document: Any = client.get(f"/_sandbox/openapi/{interface.name}.json").json
        for endpoint in interface.endpoints:
            yield _api_tool(endpoint, interface.name, document, account)


def _api_tool(endpoint: Endpoint, group: str, document: Mapping[str, Any], account: str) -> Tool:
    paths = {path: document["paths"][path][endpoint.method.lower()] for path in endpoint.paths}
    described = next(iter(paths.values()))
    content = described.get("requestBody", {}).get("content", {})
    body = _inlined(next(iter(content.values()))["schema"], document) if content else {}
    parameters = {each["name"]: each for path in paths.values() for each in path.get("parameters", ())}
    # A segment with an enumeration, such as the version, has its first value.
    fixed = {
        name: each["schema"]["enum"][0]
        for name, each in parameters.items()
        if each["in"] == "path" and "enum" in each["schema"]
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

    def call(sandbox: Sandbox, arguments: dict[str, object], headers: Mapping[str, str]) -> _Result:
        values = {**fixed, **arguments}
        possible = (path for path in paths if {*_PLACEHOLDER.findall(path)} <= values.keys())
        target = max(possible, key=lambda path: path.count("{"), default=endpoint.paths[0])
        path = _PLACEHOLDER.sub(lambda match: quote(str(values.pop(match[1], "")), safe=""), target)
        in_body = {name: values.pop(name) for name in [*values] if name in body.get("properties", {})}
        body_sent = in_body if content else None
        return _answer(
            sandbox, account, endpoint.method, path, query_string=values, json=body_sent, headers=headers
        )

    about = "\n\n".join(dict.fromkeys(filter(None, (described["summary"], described["description"]))))
    declaration = _tool(endpoint.id, about, schema, reads=endpoint.reads)
    return Tool(endpoint.id, group, declaration, endpoint.reads, call)


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
