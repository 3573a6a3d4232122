"""An answer shows each record as stored, although parts of earlier answers are kept."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox

READ = "/v3/domains/getDomain/"
LETTERS, ASCII = "españa.com", "xn--espaa-rta.com"


def test_a_list_and_a_name_are_shown_as_stored_in_each_world(sandbox: Sandbox) -> None:
    def listed(world: Sandbox) -> Any:
        return {row["domainName"]: row for row in world.client().get("/v3/domains").json["domains"]}

    def read(world: Sandbox, name: str = "active.com") -> Any:
        return world.client().get(READ + name).json["domain"]

    before, shown, spelt = listed(sandbox), read(sandbox), read(sandbox, ASCII)
    with sandbox.fork() as fork:
        assert fork.client().post("/v3/domains/lockTransfer/active.com").status_code == 200
        assert listed(fork)["active.com"] == {**before["active.com"], "lockedEnabled": True}
        assert read(fork) == {**shown, "lockedEnabled": True}
        handle = fork.names["active.com"].contacts["registrant"]
        card = dict.fromkeys(("name", "address", "city", "region", "zip", "company"), "new")
        card |= {"country": "DE", "phone": "+49.123456", "fax": "", "mail": "new@example.net"}
        assert fork.client().put(f"/V2.0/contact/{handle}", json=card).status_code == 200
        assert read(fork)["contacts"]["reg-contact"]["email"] == "new@example.net"
    for form, name in (("unicode", LETTERS), ("ascii", ASCII)):
        with sandbox.fork(assume={"v3.names.form": form}) as fork:
            assert listed(fork)[name] == {**before[LETTERS], "domainName": name}
            assert read(fork, ASCII)["domainName"] == name
    assert (listed(sandbox), read(sandbox), read(sandbox, ASCII)) == (before, shown, spelt)
