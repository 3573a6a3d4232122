"""The command ``mcp``, as the client of the protocol's own package uses it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from reseller_sandbox import Sandbox
from tests.command import program, run

if TYPE_CHECKING:
    from mcp import Client

ROOT = Path(__file__).parents[2]


def converse(*options: str, talk: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return the result of ``talk`` with a server that has these options."""
    import anyio
    from mcp import Client, StdioServerParameters, stdio_client  # half a second, which only these tests need

    async def main() -> Any:
        arguments = ["-m", "reseller_sandbox", "mcp", *options]
        command = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
        # The default of errlog is what sys.stderr was at the import, which a captured command may replace.
        async with Client(stdio_client(command, errlog=sys.__stderr__ or sys.stderr)) as client:
            return await talk(client)

    return anyio.run(main)


#: Tools that find, describe and call any operation.
GENERAL = ("search_operations", "describe_operation", "call_operation")


def test_an_agent_gets_few_tools_and_reaches_every_operation_through_them() -> None:
    async def talk(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        results: Any = [await client.call_tool(name, arguments) for name, arguments in calls]
        resources = (await client.list_resources()).resources
        read: Any = [
            (await client.read_resource(uri)).contents[0]
            for uri in ("sandbox://manual/how-to/faults", "sandbox://operations/v3.createDomain")
        ]
        return tools, [(result.is_error, result.content[0].text) for result in results], resources, read

    order = {"domain": {"domainName": "agent.com"}}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_operations", {"words": "add funds"}),
        ("describe_operation", {"id": "v3.createDomain"}),
        ("call_operation", {"id": "v3.createDomain", "arguments": order}),
        ("send_request", {"method": "GET", "path": "/v3/domains/getDomain/agent.com"}),
        ("call_operation", {"id": "v3.createDomain", "arguments": order}),
        ("journal_get", {"request": "r3"}),
        ("call_operation", {"id": "clock.advence"}),
        ("call_operation", {}),
    ]
    tools, results, resources, read = converse(talk=talk)
    assert len(tools) <= 25
    assert sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools) <= 40_000
    found, described, bought, seen, refused, explained, misspelt, nothing = results
    assert json.loads(found[1])[0]["id"] == "accounts.credit"
    assert json.loads(described[1])["arguments"]["required"] == ["domain"]
    assert json.loads(bought[1])["status"] == json.loads(seen[1])["status"] == 200
    assert (refused[0], json.loads(refused[1])["body"]["error"]) == (True, "name_taken")
    assert json.loads(explained[1])["refusal"]["rule"] == "name_taken"
    assert (misspelt[0], "did you mean clock_advance?" in misspelt[1], nothing[0]) == (True, True, True)
    uris = {str(resource.uri) for resource in resources}
    assert {"sandbox://manual/tutorial", "sandbox://operations/v2.domain.info"} < uris
    assert read[0].text.startswith("# Make requests fail")
    assert json.loads(read[1].text)["id"] == "v3.createDomain"

    async def try_to_write(client: Client) -> list[str]:
        attempts: Any = [await client.call_tool(*call) for call in (calls[2], calls[3])]
        return [attempt.content[0].text for attempt in attempts]

    for text in converse("--read-only", talk=try_to_write):
        assert text.startswith("There is no operation ")

    async def names(client: Client) -> Any:
        return {tool.name for tool in (await client.list_tools()).tools}

    groups = converse("--tools", "clock, v2", talk=names)
    assert {"clock_set", "v2_domain_info", *GENERAL} <= groups
    assert not {"v3_balance", "faults_add", "send_request"} & groups


AGENT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "agent", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const call = async (name, given) => {
  const { content } = await client.callTool({ name, arguments: given });
  return JSON.parse(content[0].text);
};
const order = { id: "v3.createDomain", arguments: { domain: { domainName: "agent.com" } } };
const found = await call("search_operations", { words: "add funds" });
const bought = await call("call_operation", order);
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: "sandbox://manual/how-to/faults" });
const title = contents[0].text.split("\\n")[0];
console.log(JSON.stringify([tools.length, found[0].id, bought.status, resources.length > 100, title]));
await client.close();
"""


@pytest.mark.slow
def test_the_mcp_client_for_node_reaches_every_operation() -> None:
    packages = ROOT / ".venv" / "generators"
    if not (packages / "node_modules" / "@modelcontextprotocol").exists():
        pytest.skip("the MCP client for Node is not installed: make .venv/generators/ready")
    script = packages / "agent.mjs"  # Node looks for packages beside the script
    script.write_text(AGENT)
    command = [program("node"), str(script), sys.executable, "-m", "reseller_sandbox", "mcp"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == [21, "accounts.credit", 200, True, "# Make requests fail"]


def test_each_operation_is_an_mcp_tool_with_a_schema_and_a_description() -> None:
    async def list_tools(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in converse("--tools", "all", talk=list_tools)}
    operations = [one for resource in Sandbox.resources().values() for one in resource.operations()]
    expected = [one.id for one in operations if one.sort != "stream"]
    for interface in ("v3", "v2"):
        paths = Sandbox("empty").client().get(f"/_sandbox/openapi/{interface}.json").json["paths"]
        expected += [row["x-sandbox-operation"] for path in paths.values() for row in path.values()]
    assert tools.keys() == {name.replace(".", "_") for name in expected} | {"send_request", *GENERAL}
    for tool in tools.values():
        assert tool.description, tool.name
        # Some clients refuse patterns with a look-ahead or a look-behind.
        assert not re.search(r"\(\?[=!<]", json.dumps(tool.input_schema)), tool.name
        jsonschema_rs.validator_for(tool.input_schema)
    assert tools["v3_getDomain"].input_schema["required"] == ["domainName"]
    assert tools["v3_createDomain"].input_schema["required"] == ["domain"]
    assert tools["v3_listDomains"].input_schema["required"] == []
    assert tools["clock_set"].input_schema["required"] == ["to"]
    reading = {tool.name for tool in converse("--read-only", "--tools", "all", talk=list_tools)}
    hinted = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert reading == hinted | {"call_operation"}
    assert {"v3_checkAvailability", "v2_domain_info", "clock_due"} <= reading
    assert not {"v3_createDomain", "v2_domain_delete", "clock_advance", "faults_add"} & reading


def test_mcp_calls_change_the_world_of_a_server_up_to_the_spend_limit() -> None:
    async def talk(client: Client) -> list[tuple[bool, str]]:
        results: Any = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [(result.is_error, result.content[0].text) for result in results]

    calls: list[tuple[str, dict[str, Any]]] = [
        ("v3_createDomain", {"domain": {"domainName": "agent.com"}, "years": 1}),
        ("v3_listDomains", {"perPage": 1, "page": 2}),
        ("v2_domain_info", {"domain_name": "agent.com"}),
        ("clock_advance", {"days": 1}),
        ("v3_renewDomain", {"domainName": "agent.com", "years": 1}),
        ("v3_createDomain", {"domain": {"domainName": "agent.com"}}),
        ("faults_add", {"kind": "rest"}),
        ("v3_explode", {}),
    ]
    with Sandbox() as sandbox, sandbox.serve() as server:
        results = converse("--url", server.url, "--spend-limit", "20.50", talk=talk)
        assert [is_error for is_error, _ in results] == [False] * 4 + [True] * 4
        texts = [text for _, text in results]
        assert len(json.loads(texts[1])["body"]["domains"]) == 1
        assert json.loads(texts[2])["status"] == 200
        assert "above the spend limit" in texts[4]
        assert json.loads(texts[5])["body"]["error"] == "name_taken"
        assert "did you mean reset?" in texts[6]
        assert "no operation v3_explode" in texts[7]
        (total,) = sandbox.ledger.list(domain="agent.com").totals.account
        assert str(total.charged) == "10.99"
        (refused,) = sandbox.journal.list(operation="v3.renewDomain").requests
        assert (refused.outcome, refused.changes) == ("over_spend_limit", ())
        assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]


def test_mcp_calls_at_once_and_reads_that_cost_money_stay_within_the_spend_limit() -> None:
    """The server counts the charges of many calls, of a fault, of time and of other clients."""
    import anyio

    async def talk(client: Client) -> list[str]:
        async with anyio.create_task_group() as group:
            for number in range(8):
                wish = {"domain": {"domainName": f"agent{number}.com"}, "years": 1}
                group.start_soon(client.call_tool, "v3_createDomain", wish)
        spent.append(charged())
        sandbox.faults.add("time_passes", by="400d", match={"operation": "v3.balance"})
        texts = [await said(client, "v3_balance", {}), await said(client, "clock_advance", {"days": 400})]
        sandbox.faults.clear()
        sandbox.client().post("/v3/domains/renewDomain/agent0.com", json={"years": 1})
        texts.append(await said(client, "v3_createDomain", {"domain": {"domainName": "more.net"}}))
        texts.append(await said(client, "v3_balance", {}))
        return texts

    async def said(client: Client, name: str, arguments: dict[str, Any]) -> str:
        result: Any = await client.call_tool(name, arguments)
        return str(result.content[0].text)

    def charged() -> Decimal:
        return sum((total.charged for total in sandbox.ledger.list().totals.account), Decimal(0))

    spent: list[Decimal] = []
    with Sandbox() as sandbox, sandbox.serve() as server:
        start, now = charged(), sandbox.clock.now
        texts = converse("--url", server.url, "--spend-limit", "33.00", talk=talk)
        assert spent[0] - start == 3 * Decimal("10.99")
        for text in texts[:3]:
            assert "above the spend limit" in text, text
        assert '"status": 200' in texts[3]
        assert sandbox.clock.now == now
        assert charged() - spent[0] == Decimal("12.99")


def test_mcp_reports_an_invalid_option_or_a_missing_package_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for words in (("--spend-limit", "much"), ("--spend-limit", "-1"), ("--spend-limit", "NaN")):
        refused = run("mcp", *words)
        assert (refused.status, refused.out) == (2, "")
        assert "is not an amount such as 100.00" in refused.err
    wrong = run("mcp", "--tools", "core,clok")
    assert (wrong.status, "'clok' is not a group; did you mean clock?" in wrong.err) == (2, True)
    assert run("mcp", "--url", "http://127.0.0.1:9").status == 3
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delattr("reseller_sandbox.tools.mcp_server", raising=False)
    monkeypatch.delitem(sys.modules, "reseller_sandbox.tools.mcp_server", raising=False)
    assert "reseller-sandbox mcp needs mcp: pip install 'mcp" in run("mcp").err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_one_ctrl_c_ends_the_mcp_server() -> None:
    command = [sys.executable, "-m", "reseller_sandbox", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        running.stdin.write(json.dumps(message).encode() + b"\n")
        running.stdin.flush()
        assert b"reseller-sandbox" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 130
