"""Start-up message of the server: its addresses, its accounts, and commands to try."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reseller_sandbox.cli.requests import curl
from reseller_sandbox.registry.model import Account
from reseller_sandbox.registry.state import own_accounts
from reseller_sandbox.server.server import Server
from reseller_sandbox.server.tls import VARIABLES
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.web.access_control import is_loopback
from reseller_sandbox.web.interfaces import PublicInterface, UnsignedRequest
from reseller_sandbox.worlds import World

#: The table columns without secrets. A server that other machines can reach shows only these columns, because
#: its output often goes to a stored log.
_PUBLIC = ("account", "client-id", "balance")


def banner(
    world: World, server: Server, fixture: str, prefix: str, interfaces: Sequence[PublicInterface]
) -> str:
    """Return the start-up message of a server. Omit secrets if other machines can reach the server."""
    url = server.tls_url or server.url
    urls = dict.fromkeys((url, server.url))
    state = world.state
    accounts = own_accounts(state)
    clock = "is frozen at" if world.clock.frozen else "runs from"
    contents = f"{len(state.zones)} zones, {len(state.holding_order)} names"
    is_private = is_loopback(server.host)
    credentials = {heading: name for each in interfaces for name, heading in each.credentials.items()}
    columns = ("account", "client-id", *credentials, "balance") if is_private else _PUBLIC
    rows = [_row(account, credentials) for account in accounts]
    lines = [
        f"reseller-sandbox on {' and '.join(urls)}",
        f"  fixture {fixture}: {contents}; the clock {clock} {wire(world.now())}",
        "",
        *_table([columns, *([row[name] for name in columns] for row in rows)]),
        "",
    ]
    if not is_private:
        lines += ["  Credentials are not shown, because other machines can reach this server.", ""]
    elif accounts:
        lines += [
            "  Commands to try:",
            *(
                f"    {line}"
                for line in _commands(world, accounts[0], url, prefix, interfaces, server.authority)
            ),
            "",
        ]
    if server.authority is not None:
        lines += [*_trust(server.authority), ""]
    lines += [
        f"  In a browser: {url}/ and {url}/_sandbox/manual",
        "  In a shell: reseller-sandbox --help. Ctrl-C stops the server.",
    ]
    return "\n".join(lines)


def _trust(authority: str) -> Iterator[str]:
    """Yield the lines that explain how to make clients trust the certificate."""
    path = shlex.quote(authority)
    yield "  For clients to trust its certificate:"
    yield from (f"    export {name}={path}" for name in VARIABLES)
    yield f"    PHP: php -d curl.cainfo={path} -d openssl.cafile={path} …"
    yield f"    Java: keytool -importcert -noprompt -file {path} -alias reseller-sandbox \\"
    yield "            -keystore trust.p12 -storepass changeit"
    yield "          java -Djavax.net.ssl.trustStore=trust.p12 -Djavax.net.ssl.trustStorePassword=changeit …"


def _commands(
    world: World,
    account: Account,
    url: str,
    prefix: str,
    interfaces: Iterable[PublicInterface],
    authority: str | None,
) -> Iterator[str]:
    """Yield each interface's example requests as curl commands with credentials of ``account``."""
    for interface in interfaces:
        for example in interface.examples:
            unsigned = UnsignedRequest(
                account, world.assumptions, prefix, url, example.path, example.body.encode()
            )
            yield curl(example.method, unsigned, interface, authority)


def _row(account: Account, credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the table cells of an account, by column heading. ``credentials`` maps headings to fields."""
    return {
        "account": account.name,
        "client-id": str(account.client_id),
        **{heading: getattr(account, name) for heading, name in credentials.items()},
        "balance": f"{money.write(account.balance)} {account.currency}",
    }


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
