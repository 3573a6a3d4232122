"""An answer shows each record as it is, whatever was shown of it before."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY


def test_a_list_shows_each_record_as_it_is() -> None:
    """Under another name and in another world too."""
    sandbox = Sandbox(REGISTRY)

    def listed(world: Sandbox) -> Any:
        return {one["domainName"]: one for one in world.client().get("/v3/domains").json["domains"]}

    begun = listed(sandbox)
    with sandbox.fork() as other:
        assert other.client().post("/v3/domains/lockTransfer/active.com").status_code == 200
        assert listed(other)["active.com"] == {**begun["active.com"], "lockedEnabled": True}
        assert listed(sandbox) == begun
    shown, written = "españa.com", "xn--espaa-rta.com"
    with sandbox.fork(assume={"v3.names.form": "ascii"}) as other:
        assert listed(other)[written] == {**begun[shown], "domainName": written}
    assert listed(sandbox) == begun


def test_a_name_is_shown_as_it_is() -> None:
    """In worlds that spell the name or have its contact otherwise too."""
    sandbox = Sandbox(REGISTRY)

    def read(world: Sandbox, name: str = "active.com") -> Any:
        return world.client().get(f"/v3/domains/getDomain/{name}").json["domain"]

    begun, spelt = read(sandbox), read(sandbox, "xn--espaa-rta.com")
    assert read(sandbox) == begun
    with sandbox.fork() as other:
        assert other.client().post("/v3/domains/lockTransfer/active.com").status_code == 200
        assert read(other) == {**begun, "lockedEnabled": True}
        handle = other.names["active.com"].contacts["registrant"]
        card = dict.fromkeys(("name", "address", "city", "region", "zip", "company"), "new")
        card |= {"country": "DE", "phone": "+49.123456", "fax": "", "mail": "new@example.net"}
        edited = other.client().put(f"/V2.0/contact/{handle}", json=card)
        assert edited.status_code == 200, edited.text
        assert read(other)["contacts"]["reg-contact"]["email"] == "new@example.net"
    for form, name in (("unicode", "españa.com"), ("ascii", "xn--espaa-rta.com")):
        with sandbox.fork(assume={"v3.names.form": form}) as other:
            assert read(other, "xn--espaa-rta.com")["domainName"] == name
    assert (read(sandbox), read(sandbox, "xn--espaa-rta.com")) == (begun, spelt)
