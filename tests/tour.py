"""A domain's life. Give it the server's address: python tests/tour.py [URL]"""

import hashlib
import hmac
import json
import sys
from typing import Any

import httpx

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8053"


def call(account: Any, method: str, path: str, body: Any = None) -> Any:
    """One signed v3 request: the key, the full URL and the very bytes of the body are what is signed."""
    data = json.dumps(body) if body is not None else ""
    key, secret = f"{account}-key", f"{account}-secret"
    signature = hmac.new(secret.encode(), f"{key}{URL}{path}{data}".encode(), hashlib.sha256).hexdigest()
    headers = {"X-SVC-APIKEY": key, "X-SVC-SIGNATURE": signature, "Content-Type": "application/json"}
    return httpx.request(method, URL + path, content=data, headers=headers).json()


def control(path: str, body: Any = None) -> Any:
    return httpx.post(f"{URL}/_sandbox/{path}", json=body).json()


def money(account: str = "sandbox") -> str:
    return str(call(account, "GET", "/v3/balance")[0]["balance"])


def main() -> None:
    control("history/reset")
    control("clock/freeze")
    domains = "/v3/domains"

    made = call(
        "sandbox", "POST", f"{domains}/createDomain", {"domain": {"domainName": "my-tour.com"}, "years": 2}
    )
    assert (made["status"], made["totalPaid"], money()) == ("active", "21.98", "9978.02")
    renewed = call("sandbox", "POST", f"{domains}/renewDomain", {"domain": {"domainName": "my-tour.com"}})
    assert (renewed["domain"]["expireDate"][:4], money()) == ("2029", "9965.03")
    assert call("sandbox", "POST", f"{domains}/lock/my-tour.com")["status"] == "suspended"
    assert call("sandbox", "POST", f"{domains}/unlock/my-tour.com")["status"] == "active"
    glue = {"hostname": "ns1", "ips": ["192.0.2.1"]}
    assert (
        call("sandbox", "POST", f"{domains}/glueRecords/my-tour.com", glue)["hostname"] == "ns1.my-tour.com"
    )
    servers = {"nameservers": ["ns1.my-tour.com", "ns2.example.net"]}
    delegated = call("sandbox", "POST", f"{domains}/setNameservers/my-tour.com", servers)
    assert delegated["domain"]["nameservers"] == servers["nameservers"]

    wanted = {"domain": {"domainName": "other-one.com"}, "authCode": "Other-One-Code"}
    assert call("sandbox", "POST", f"{domains}/requestTransfer", wanted)["status"] == "pending"
    assert "approved" in call("other", "POST", f"{domains}/approveTransfer/other-one.com")["message"]
    assert call("sandbox", "GET", f"{domains}/getDomain/other-one.com")["status"] == "active"
    assert call("other", "GET", f"{domains}/getDomain/other-one.com")["error"] == "domain_not_found"
    assert (money(), money("other")) == ("9954.04", "10000.00")

    events = control("clock/set", {"to": "2029-01-20"})["events"]
    assert [one["event"] for one in events if one["subject"] == "my-tour.com"] == ["expiry"]
    assert call("sandbox", "GET", f"{domains}/getDomain/my-tour.com")["status"] == "suspended"
    print("A domain's life, as it should be.")


if __name__ == "__main__":
    main()
