"""Clients that generators make of the documents, and requests that schemathesis does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reseller_sandbox
from reseller_sandbox import Sandbox
from tests.command import program
from tests.registry import REGISTRY
from tests.v2.client import REGISTRY as V2_REGISTRY

pytestmark = pytest.mark.slow

PAGE = (Path(reseller_sandbox.__file__).parent / "manual" / "how-to" / "openapi.md").read_text("utf-8")

V3 = """
from made import Client
from made.api.domains import create_domain, get_domain, renew_domain
from made.models import RegistrationRequest, NewDomain, Renewal, RenewalRequest
from made.models.error_401 import Error401

url, key, secret = sys.argv[1:]
client = Client(url, httpx_args={"auth": Signed(key, secret)})
made = create_domain.sync(client=client, body=RegistrationRequest(domain=NewDomain(domain_name="made.com")))
paid = renew_domain.sync(client=client, body=RenewalRequest(domain=Renewal(domain_name="made.com"), years=2))
found = get_domain.sync("made.com", client=client)
refused = get_domain.sync("made.com", client=Client(url))
assert isinstance(refused, Error401) and refused.error == "credentials_missing", refused
print(made.status, made.total_paid, paid.total_paid, found.domain.expire_date)
"""
#: What a client prints that registers a name and renews it for two years.
ANSWER = "active 10.00 24.00 2029-03-01 12:00:00"
TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { paths } from "./made";
import { signed } from "./signed.mjs";

const [url, key, secret] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, fetch: signed(key, secret) });
const body = { domain: { domainName: "made.com" } };
const made = await client.POST("/v3/domains/createDomain", { body });
const paid = await client.POST("/v3/domains/renewDomain", { body: { ...body, years: 2 } });
const params = { path: { domainName: "made.com" } };
const found = await client.GET("/v3/domains/getDomain/{domainName}", { params });
console.log(made.data?.status, made.data?.totalPaid, paid.data?.totalPaid, found.data?.domain.expireDate);
"""

#: Pinned, so that what a generator makes of a document changes when somebody says so.
PACKAGES = ("openapi-typescript@7.9.1", "openapi-fetch@0.14.1", "typescript@5.9.2", "@types/node@20.19.0")


def shown(language: str) -> str:
    """The hook that the manual shows in a language."""
    return str(re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0])


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox behind a socket, and where it listens."""
    sandbox = Sandbox(V2_REGISTRY)
    with sandbox.serve() as served:
        yield sandbox, served.url


@pytest.fixture
def access(server: tuple[Sandbox, str]) -> list[str]:
    sandbox, url = server
    sandbox.reset(original=True)
    held = sandbox.accounts["main"]
    return [url, held.key, held.secret]


def document(folder: Path) -> str:
    """The document of v3 as a file, written by the command."""
    output_of(folder, sys.executable, "-m", "reseller_sandbox", "openapi", "v3", "--output", "v3.json")
    return str(folder / "v3.json")


def output_of(folder: Path, *command: str) -> str:
    """The output of a command that succeeds. It finds the tools beside this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_a_generated_python_client_registers_and_renews_a_domain(tmp_path: Path, access: list[str]) -> None:
    """Made without a warning by openapi-python-client."""
    options = ["--path", document(tmp_path), "--output-path", "made", "--meta", "none", "--fail-on-warning"]
    warned = output_of(tmp_path, sys.executable, "-m", "openapi_python_client", "generate", *options)
    assert "arning" not in warned
    (tmp_path / "use.py").write_text(f"import sys\n{shown('python')}\n{V3}", "utf-8")
    assert output_of(tmp_path, sys.executable, "use.py", *access) == ANSWER


def test_a_generated_typescript_client_registers_and_renews_a_domain(
    tmp_path: Path, access: list[str]
) -> None:
    """Made by openapi-typescript, checked by the compiler, run by Node."""
    npm, node = program("npm"), program("node")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    install = [npm, "install", "--no-audit", "--no-fund", "--silent", *PACKAGES]
    try:
        done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("npm's registry does not answer")
    if done.returncode:
        pytest.skip(f"npm cannot install the generator: {done.stderr[-300:]}")
    bins = tmp_path / "node_modules" / ".bin"
    output_of(tmp_path, str(bins / "openapi-typescript"), document(tmp_path), "-o", "made.ts")
    (tmp_path / "signed.mjs").write_text(shown("javascript"), "utf-8")
    (tmp_path / "use.ts").write_text(TYPESCRIPT, "utf-8")
    options = {"target": "es2022", "module": "es2022", "moduleResolution": "bundler", "strict": True}
    options |= {"skipLibCheck": True, "allowJs": True, "outDir": "built", "types": ["node"]}
    config = {"compilerOptions": options, "files": ["use.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    output_of(tmp_path, str(bins / "tsc"), "-p", ".")
    assert output_of(tmp_path, node, "built/use.js", *access) == ANSWER


#: The checks that are left out, each with its reason.
LEFT_OUT = {
    # The registry asks for more than a schema can say: that a name is one, has a zone, and is nobody else's.
    "positive_data_acceptance",
    # Some of what a schema forbids is taken all the same, as callers send it: a null is nothing sent.
    "negative_data_rejection",
    # Two paths can fit one address, and Allow has the methods of both.
    "unsupported_method",
    "allow_header_conformance",
}

#: The operations of control that are left out: what never ends is no answer to be checked, and a zone that
#: was taken out of service leads to answers of 503, as it should.
SPARED = ("clockWatch", "journalFollow", "eventsFollow", "simulateSetService")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "examples"), [("v3", 3), ("v2", 3), ("control", 1)])
def test_schemathesis_finds_no_undocumented_response(name: str, examples: int) -> None:
    """Whatever is sent, the answer is one of the document."""
    sandbox = Sandbox(REGISTRY)
    held = sandbox.accounts["main"]
    with sandbox.serve() as server:
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/_sandbox/openapi/{name}.json"),
            *("-n", str(examples), "--generation-deterministic", "--continue-on-failure", "--no-color"),
            *("--exclude-checks", ",".join(sorted(LEFT_OUT)), "-H", f"X-Auth-Token: {held.token}"),
            *(word for spared in SPARED if name == "control" for word in ("--exclude-operation-id", spared)),
        ]
        done = subprocess.run(
            command,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "tests.generated.hooks",
                "V3_KEY": held.key,
                "V3_SECRET": held.secret,
            },
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
