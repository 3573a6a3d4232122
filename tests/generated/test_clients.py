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
from tests.documented import document as described
from tests.registry import REGISTRY
from tests.thorough import WHOLE
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


def document(folder: Path, *options: str) -> str:
    """The document of v3 as a file, written by the command."""
    command = (sys.executable, "-m", "reseller_sandbox", "openapi", "v3", "--output", "v3.json")
    output_of(folder, *command, *options)
    return str(folder / "v3.json")


def output_of(folder: Path, *command: str) -> str:
    """The output of a command that succeeds. It finds the tools beside this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (done.stdout + done.stderr).strip()


def test_a_generated_python_client_registers_and_renews_a_domain(tmp_path: Path, access: list[str]) -> None:
    """Made without a warning by openapi-python-client."""
    options = ["--path", document(tmp_path), "--output-path", "made", "--meta", "none", "--fail-on-warning"]
    warned = output_of(tmp_path, sys.executable, "-m", "openapi_python_client", "generate", *options)
    assert "arning" not in warned
    (tmp_path / "use.py").write_text(f"import sys\n{shown('python')}\n{V3}", "utf-8")
    assert output_of(tmp_path, sys.executable, "use.py", *access) == ANSWER


#: The programs of the generators, which ``make test-all`` installs.
GENERATORS = Path(__file__).parents[2] / ".venv" / "generators"

#: A program for each generator of TypeScript: its command, and the use of the generated code.
TYPESCRIPT: dict[str, tuple[tuple[str, ...], str]] = {
    "openapi-typescript": (
        ("openapi-typescript", "v3.json", "-o", "made.ts"),
        """
import createClient from "openapi-fetch";
import type { paths } from "./made";

const client = createClient<paths>({ baseUrl: url, fetch: send });
const made = await client.POST("/v3/domains/createDomain", { body });
const paid = await client.POST("/v3/domains/renewDomain", { body: { ...body, years: 2 } });
const params = { path: { domainName: "made.com" } };
const found = await client.GET("/v3/domains/getDomain/{domainName}", { params });
console.log(made.data?.status, made.data?.totalPaid, paid.data?.totalPaid, found.data?.domain.expireDate);
""",
    ),
    "hey-api": (
        ("openapi-ts", "-i", "v3.json", "-o", "made"),
        """
import { createDomain, getDomain, renewDomain } from "./made/sdk.gen";
import { client } from "./made/client.gen";

client.setConfig({ baseUrl: url, fetch: (request) => send(request as Request) });
const made = await createDomain({ body });
const paid = await renewDomain({ body: { ...body, years: 2 } });
const found = await getDomain({ path: { domainName: "made.com" } });
console.log(made.data?.status, made.data?.totalPaid, paid.data?.totalPaid, found.data?.domain.expireDate);
""",
    ),
    "orval": (
        ("orval", "--config", "orval.config.cjs"),
        """
import { createDomain, getDomain, renewDomain } from "./made/fetch";
import { createDomainBody, createDomainResponse, getDomainResponse, renewDomainBody } from "./made/zod";

const plain = globalThis.fetch;
globalThis.fetch = (target, options) =>
  target instanceof Request ? plain(target) : send(new Request(url + target, options));
const bought = await createDomain(createDomainBody.parse(body));
const paid = await renewDomain(renewDomainBody.parse({ ...body, years: 2 }));
const found = await getDomain("made.com");
if (bought.status !== 200 || paid.status !== 200 || found.status !== 200) throw bought;
const made = createDomainResponse.parse(bought.data);
const domain = getDomainResponse.parse(found.data).domain;
createDomainBody.parse({ ...body, purchaseCost: "10.00" });
createDomainBody.parse({ ...body, purchaseCost: 10 });
if (createDomainBody.safeParse({ ...body, purchaseCost: -1 }).success) throw "a negative price";
console.log(made.status, made.totalPaid, paid.data.totalPaid, domain.expireDate);
""",
    ),
}
#: What every program begins with.
BEGIN = """
import { signed } from "./signed.mjs";
const [url, key, secret] = process.argv.slice(2) as [string, string, string];
const send: (request: Request) => Promise<Response> = signed(key, secret);
const body = { domain: { domainName: "made.com" } };
"""
ORVAL = """
const made = (client) => ({ input: "./v3.json", output: { target: `made/${client}.ts`, client } });
module.exports = { fetch: made("fetch"), zod: made("zod") };
"""


def generator(name: str) -> str:
    """The program of a generator in its environment. Skip the test where it is not installed."""
    found = [GENERATORS / folder / name for folder in ("node_modules/.bin", "python/bin")]
    for file in found:
        if file.exists():
            return str(file)
    pytest.skip(f"{name} is not installed: make .venv/generators/ready")


@pytest.mark.parametrize("version", ["3.1", "3.0"])
@pytest.mark.parametrize("name", TYPESCRIPT)
def test_a_generated_typescript_client_registers_and_renews_a_domain(
    tmp_path: Path, access: list[str], name: str, version: str
) -> None:
    """The generator has no warning, the compiler checks its code, and Node runs the bundle."""
    (program_name, *options), use = TYPESCRIPT[name]
    command, compiler, node = generator(program_name), generator("tsc"), program("node")
    (tmp_path / "node_modules").symlink_to(GENERATORS / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "orval.config.cjs").write_text(ORVAL, "utf-8")
    document(tmp_path, "--version", version)
    warned = output_of(tmp_path, command, *options)
    assert not re.search(r"warn|error", warned, re.IGNORECASE), warned
    (tmp_path / "signed.mjs").write_text(shown("javascript"), "utf-8")
    imports = "".join(re.findall(r"^import .*\n", use, re.MULTILINE))
    (tmp_path / "use.ts").write_text(f"{imports}{BEGIN}{use.replace(imports, '')}", "utf-8")
    compile_options = {
        **{"target": "es2022", "module": "es2022", "moduleResolution": "bundler", "strict": True},
        **{"skipLibCheck": True, "allowJs": True, "noEmit": True, "types": ["node"]},
        "lib": ["es2022", "dom", "dom.iterable"],
    }
    config = {"compilerOptions": compile_options, "files": ["use.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config), "utf-8")
    output_of(tmp_path, compiler, "-p", ".")
    bundle = ("--bundle", "--platform=node", "--format=esm", "--outfile=use.mjs", "--log-level=error")
    output_of(tmp_path, generator("esbuild"), "use.ts", *bundle)
    assert output_of(tmp_path, node, "use.mjs", *access) == ANSWER


#: Uses the generated types with httpx.
MODELS = """
from made import Registered, RegistrationRequest, RenewalRequest

url, key, secret = sys.argv[1:]
with httpx.Client(base_url=url, auth=Signed(key, secret)) as client:
    name = {"domainName": "made.com"}
    body = RegistrationRequest.model_validate({"domain": name}).model_dump(mode="json", exclude_unset=True)
    answer = client.post("/v3/domains/createDomain", json=body)
    made = Registered.model_validate(answer.json())
    renewal = RenewalRequest.model_validate({"domain": name, "years": 2})
    paid = client.post("/v3/domains/renewDomain", json=renewal.model_dump(mode="json", exclude_unset=True))
    found = client.get("/v3/domains/getDomain/made.com").json()
print(made.status.value, made.totalPaid, paid.json()["totalPaid"], found["domain"]["expireDate"])
"""


@pytest.mark.parametrize("version", ["3.1", "3.0"])
def test_generated_pydantic_models_describe_a_registration_and_a_renewal(
    tmp_path: Path, access: list[str], version: str
) -> None:
    """Made by datamodel-code-generator without a warning, and checked by mypy."""
    command, python = generator("datamodel-codegen"), generator("python")
    file = document(tmp_path, "--version", version)
    options = ["--input", file, "--input-file-type", "openapi", "--output", "made.py"]
    options += ["--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin", "--use-annotated"]
    assert output_of(tmp_path, command, *options) == ""
    (tmp_path / "use.py").write_text(f"import sys\n{shown('python')}\n{MODELS}", "utf-8")
    output_of(tmp_path, python, "-m", "mypy", "made.py")
    assert output_of(tmp_path, python, "use.py", *access) == ANSWER


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


def left_out(name: str) -> Iterator[str]:
    """Yield the operations that are not tried: those of control are many, and a third of them is a sample."""
    if name == "control":
        ids = sorted(
            row["operationId"] for rows in described(name).content["paths"].values() for row in rows.values()
        )
        yield from {*SPARED, *(one for at, one in enumerate(ids) if at % 3 and not WHOLE)}


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
            *(word for left in left_out(name) for word in ("--exclude-operation-id", left)),
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
