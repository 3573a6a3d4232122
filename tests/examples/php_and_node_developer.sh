#!/usr/bin/env bash
# The tasks of a developer in PHP and Node: a world for each test, a signed request, a lost answer, a move of the clock.
set -euo pipefail
export RESELLER_SANDBOX_URL=${1:?URL of a server}

cat > test.php <<'PHP'
<?php
function ask(string $method, string $url, array $headers = [], ?string $body = null): array {
    $http = ['method' => $method, 'header' => implode("\r\n", $headers), 'ignore_errors' => true, 'content' => $body ?? ''];
    $text = @file_get_contents($url, false, stream_context_create(['http' => $http]));
    return $text === false ? ['lost' => true] : json_decode($text, true);
}
function check(bool $true, string $what): void { if (!$true) { fwrite(STDERR, "$what\n"); exit(1); } }
$server = getenv('RESELLER_SANDBOX_URL');
$json = ['Content-Type: application/json'];
$world = ask('POST', "$server/_sandbox/worlds/fork", $json, '{}');
$base = $server . $world['prefix'];
$key = $world['accounts'][0]['key'];
$secret = $world['accounts'][0]['secret'];
$signed = function (string $method, string $path) use ($base, $key, $secret): array {
    $signature = hash_hmac('sha256', $key . $base . $path, $secret);
    return ask($method, $base . $path, ["X-SVC-APIKEY: $key", "X-SVC-SIGNATURE: $signature"]);
};
check($signed('GET', '/v3/balance')[0]['balance'] === '10000.00', 'balance');
ask('POST', "$base/_sandbox/faults", $json, '{"kind": "reset", "when": {"phase": "after", "nth": 1}, "match": {"operation": "v3.renewDomain"}}');
check(isset($signed('POST', '/v3/domains/renewDomain/active-example.com')['lost']), 'lost answer');
check($signed('GET', '/v3/balance')[0]['balance'] === '9987.01', 'paid once');
ask('POST', "$base/_sandbox/clock/advance", $json, '{"days": 700}');
check($signed('GET', '/v3/domains/getDomain/active-example.com')['status'] !== 'active', 'expired');
ask('DELETE', "$server/_sandbox/worlds/{$world['name']}");
echo "php done\n";
PHP

cat > test.mjs <<'NODE'
import assert from "node:assert";
import { createHmac } from "node:crypto";

const server = process.env.RESELLER_SANDBOX_URL;
const ask = async (method, url, body, headers = {}) => {
  const options = { method, headers: { ...headers, ...(body && { "Content-Type": "application/json" }) } };
  return (await fetch(url, body ? { ...options, body: JSON.stringify(body) } : options)).json();
};
const world = await ask("POST", `${server}/_sandbox/worlds/fork`, { name: "of-node" });
const base = server + world.prefix;
const { key, secret } = world.accounts[0];
const signed = (method, path) => {
  const signature = createHmac("sha256", secret).update(key + base + path).digest("hex");
  return ask(method, base + path, undefined, { "X-SVC-APIKEY": key, "X-SVC-SIGNATURE": signature });
};
assert.equal((await signed("GET", "/v3/balance"))[0].balance, "10000.00");
await ask("POST", `${base}/_sandbox/faults`, { kind: "reset", match: { operation: "v3.renewDomain" } });
await assert.rejects(signed("POST", "/v3/domains/renewDomain/active-example.com"));
const { requests } = await ask("GET", `${base}/_sandbox/journal?operation=v3.renewDomain`);
assert.equal(requests[0].fault_kind, "reset");
await ask("DELETE", `${server}/_sandbox/worlds/of-node`);
console.log("node done");
NODE

php test.php
node test.mjs
reseller-sandbox request GET /V2.0/domain/active-example.com --json | grep date_end > /dev/null
