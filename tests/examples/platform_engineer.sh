#!/usr/bin/env bash
# The tasks of a platform engineer: files for CI and servers, a server with a state file, health, logs and a report.
set -euo pipefail
port=${1:?port}
export RESELLER_SANDBOX_URL=http://127.0.0.1:$port

for form in dockerfile compose kubernetes github-actions gitlab-ci nginx; do
    reseller-sandbox deploy "$form" > "$form.txt"
done
grep -q 'upload-artifact' github-actions.txt
grep -q 'RESELLER_SANDBOX_STATE_FILE' compose.txt

serve() {
    reseller-sandbox serve --port "$port" --log json --state-file worlds.state --ready-file ready.json 2> log.txt > out.txt &
    server=$!
    reseller-sandbox wait --ready-file ready.json > /dev/null
}
stop() { kill "$server" && wait "$server"; }
trap 'kill $server 2> /dev/null || true' EXIT

serve
curl -sf "$RESELLER_SANDBOX_URL/health" > /dev/null
curl -sf "$RESELLER_SANDBOX_URL/" | grep manual > /dev/null
reseller-sandbox worlds fork --name kept > /dev/null
stop
python3 -c "import json; [json.loads(line) for line in open('log.txt')]"
test ! -s out.txt

serve
reseller-sandbox worlds list --json | grep '"kept"' > /dev/null
cat > test_failing.py <<'PYTHON'
def test_fails(reseller_sandbox):
    assert reseller_sandbox.client().get("/v3/balance").status_code == 500
PYTHON
RESELLER_SANDBOX_MODE=$RESELLER_SANDBOX_URL python -m pytest -q -p no:cacheprovider test_failing.py \
    --reseller-sandbox-report failed --junitxml failed/junit.xml > pytest.txt || true
ls failed | grep 'test_fails.html' > /dev/null
ls failed | grep 'test_fails.recording' > /dev/null
grep -q reseller_sandbox_report failed/junit.xml
reseller-sandbox manual --search 'state file' | grep how-to/state-file > /dev/null
stop
echo done
