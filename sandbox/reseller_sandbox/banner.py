"""What the server says when it starts: where it is, who may use it, and two commands to try."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from reseller_sandbox.core import money
from reseller_sandbox.core.clock import wire
from reseller_sandbox.core.model import OUTSIDE, Account
from reseller_sandbox.v3.signing import signed_headers
from reseller_sandbox.worlds import World

_COLUMNS = ("account", "client-id", "v3 key", "v3 secret", "v2.0 token", "balance")


def banner(world: World, url: str, fixture: str, prefix: str) -> str:
    """Return the start-up message of a server at ``url``."""
    state = world.state
    accounts = [state.accounts[number] for number in sorted(state.accounts) if number != OUTSIDE]
    clock = "stands still at" if world.clock.frozen else "runs from"
    held = len(state.holding_order)
    lines = [
        f"reseller-sandbox on {url}",
        f"  fixture {fixture}: {len(state.zones)} zones, {held} names; the clock {clock} {wire(world.now())}",
        "",
        *_table([_COLUMNS, *(_row(account) for account in accounts)]),
        "",
    ]
    if accounts:
        lines += [
            "  Two commands to try:",
            *(f"    {line}" for line in commands(accounts[0], url, prefix)),
            "",
        ]
    lines += [f"  Control: {url}/_sandbox/health, {url}/_sandbox/assumptions. Ctrl-C stops it."]
    return "\n".join(lines)


def commands(account: Account, url: str, prefix: str) -> list[str]:
    """Return two requests of ``account`` as curl commands that work as they stand."""
    names = b'{"domainNames":["example-to-check.com","example-to-check.net"]}'
    return [
        curl(account, "GET", f"{url}/v3/balance", b"", prefix),
        curl(account, "POST", f"{url}/v3/domains/checkAvailability", names, prefix),
    ]


def curl(account: Account, method: str, url: str, body: bytes, prefix: str) -> str:
    """Return a signed v3 request as a curl command."""
    return shlex.join(["curl", "-sS", "-X", method, url, *curl_options(account, url, body, prefix)])


def curl_options(account: Account, url: str, body: bytes, prefix: str) -> list[str]:
    """Return the options of curl that sign a v3 request and send its body."""
    headers = signed_headers(account.key, account.secret, prefix, url, body)
    if body:
        headers["Content-Type"] = "application/json"
    options = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    return [*options, "--data-binary", body.decode()] if body else options


def _row(account: Account) -> tuple[str, ...]:
    balance = f"{money.write(account.balance)} {account.currency}"
    number = str(account.client_id)
    return (account.name, number, account.key, account.secret, account.token, balance)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
