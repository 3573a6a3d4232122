# Two commands for everybody: `make run` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What makes the command of a checkout, hatchling with all that it needs, and the program's own pins.
BUILD := editables|hatchling|pathspec|pluggy|tomlkit|trove-classifiers
PINS := sandbox/reseller_sandbox/deploy/requirements.txt

# Compiled modules are kept, whatever the surroundings say: the tests start this package some hundred times.
unexport PYTHONDONTWRITEBYTECODE

# What is written by commands: `make accept` writes it anew.
DERIVED := tests/golden/*.txt tests/golden/*.yaml sandbox/reseller_sandbox/manual/reference '*/examples.json'
CHANGED = git diff --name-only --diff-filter=d HEAD -- '*.py'

.PHONY: run check accept test slow whole test-all mutants pictures site lint format examples reference bench lock audit dist clean

run: .venv/runs
	$(BIN)/reseller-sandbox serve $(ARGS)

# What to run after every edit: the lint of changed files, and the tests that they can break. Each runs even if
# another fails.
check: .venv/ready
	@failed=0; \
	$(CHANGED) | xargs $(BIN)/ruff check --force-exclude pyproject.toml || failed=1; \
	$(CHANGED) | xargs $(BIN)/ruff format --check --force-exclude pyproject.toml || failed=1; \
	$(BIN)/pytest -n 2 -q --dist worksteal $$($(BIN)/python -m tests.affected) || failed=1; \
	exit $$failed

# Writes anew what is derived from the package, and lists what changed, for review.
accept: .venv/ready
	$(BIN)/python -m tests.golden
	$(BIN)/python -m tests.contract.recording
	$(BIN)/python -m manual_reference
	@echo "Look at each difference with git diff, because each one is a change that users see:"
	@git --no-pager diff --stat=110 HEAD -- $(DERIVED)

test: .venv/ready
	$(BIN)/pytest -n auto $(ARGS)

# Wheels, other Pythons, soaking, and other tests that take long, with a sample of cases where there are many.
slow: .venv/openapi/ready .venv/generators/ready
	$(BIN)/pytest -n auto --dist worksteal -m slow $(ARGS)

# The slow tests with every case. Then the property tests with another seed and five times as many examples;
# SEED=N repeats the seed that was printed.
SEED := $(or $(SEED),$(shell date +%s))
test-all: test whole
whole: .venv/ready
	TESTS_WHOLE=1 $(MAKE) slow
	@echo "Property tests with SEED=$(SEED)"
	TESTS_SEED=$(SEED) $(BIN)/pytest -n auto -m "hypothesis and not slow" --hypothesis-seed=$(SEED)

# Linters of the OpenAPI documents. Where npm is missing, their tests are skipped.
.venv/openapi/ready: .venv/ready
	-command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv/openapi \
		@redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 && touch $@

# Generators of clients and the MCP client for Node, in an environment of their own. Where npm is missing, the tests
# of those for TypeScript and Node are skipped.
.venv/generators/ready: .venv/ready
	$(PYTHON) -m venv .venv/generators/python
	.venv/generators/python/bin/pip install --quiet datamodel-code-generator==0.89.0 httpx==0.28.1 \
		mypy==2.4.1 pydantic==2.14.3
	-command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv/generators \
		openapi-typescript@7.13.0 openapi-fetch@0.14.1 @hey-api/openapi-ts@0.95.0 orval@7.13.2 zod@4.6.7 \
		typescript@5.9.3 @types/node@20.19.0 @modelcontextprotocol/sdk@1.32.2
	touch $@

# Linter and type checker of the page's JavaScript. Where npm is missing, they are skipped.
.venv/page/ready: .venv/ready
	-command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv/page \
		@biomejs/biome@2.3.8 typescript@5.9.3 && touch $@

# Mutation testing of a sample: ARGS="--part values/money.py --sample 50 --seed 2".
mutants: .venv/mutants
	PYTHONPATH=.venv/mutants $(BIN)/python -m tests.mutants $(ARGS)

.venv/mutants: .venv/ready
	$(INSTALL) --target $@ cosmic-ray==8.7.0

# Takes the pictures of the README and the manual anew, which needs Chromium.
pictures: .venv/ready
	$(BIN)/python -m tests.page.pictures

# The manual as a site, in dist/manual.
site: .venv/site
	$(BIN)/reseller-sandbox manual --write .venv/pages
	.venv/site/bin/sphinx-build -q -W -b dirhtml .venv/pages dist/manual

.venv/site: .venv/ready
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check sphinx==9.0.4 furo==2025.12.19 myst-parser==5.2.0

lint: .venv/ready .venv/page/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.prose
	if test -e .venv/page/ready; then .venv/page/node_modules/.bin/biome lint --config-path tests/page/biome.json \
		sandbox/reseller_sandbox/page && .venv/page/node_modules/.bin/tsc -p tests/page/tsconfig.json; \
		else echo "npm is missing: the page's JavaScript is neither linted nor type-checked"; fi

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Records the examples of the OpenAPI documents anew, from what a sandbox answers.
examples: .venv/ready
	$(BIN)/python -m tests.contract.recording

# Writes the reference pages of the manual anew, from what the package declares.
reference: .venv/ready
	$(BIN)/python -m manual_reference

# Figures: ARGS="answering faults --rounds 9", ARGS="growing --large", and for the manual
# ARGS="--large --markdown sandbox/reseller_sandbox/manual/contribute/performance.md".
bench: .venv/ready
	$(BIN)/python -m tests.benchmarks $(ARGS)

# The program at its pinned versions; the tests need five times as long to be installed.
.venv/runs: $(PINS) .requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	awk '/^[^ ]/ {wanted = /^($(BUILD))==/} wanted' .requirements.lock > .venv/build.txt
	$(INSTALL) --require-hashes -r $(PINS) -r .venv/build.txt
	$(INSTALL) --no-deps --no-build-isolation -e .
	touch $@

# Everything at its pinned version.
.venv/ready: .venv/runs
	$(INSTALL) --require-hashes -r .requirements.lock
	touch $@

# Needs uv; writes the pins anew from pyproject.toml.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate --upgrade -o .requirements.lock
	uv pip compile pyproject.toml -c .requirements.lock --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate -o sandbox/reseller_sandbox/deploy/requirements.txt

# Whether a hole is known in what is pinned, by a tool with an environment of its own.
audit: .venv/audit
	.ci/audit .venv/audit/bin/pip-audit .requirements.lock sandbox/reseller_sandbox/deploy/requirements.txt

.venv/audit: .venv/ready
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1

# The wheel, the archive of the source, the bill of materials (CycloneDX) of what the wheel needs, and one file that
# each Python of PYTHONS runs on this platform, in dist/.
PYTHONS := 3.11 3.12 3.13 3.14
dist: .venv/ready .venv/sbom .venv/shiv
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	$(BIN)/twine check --strict dist/*
	.venv/sbom/bin/cyclonedx-py requirements $(PINS) --pyproject pyproject.toml --output-reproducible -o dist/sbom.cdx.json
	rm -rf .venv/pyz
	mkdir -p .venv/pyz/all
	for version in $(PYTHONS); do \
		$(INSTALL) --no-deps --no-compile --only-binary=:all: --python-version $$version \
			--target .venv/pyz/$$version --require-hashes -r $(PINS) && cp -R .venv/pyz/$$version/. .venv/pyz/all || exit 1; \
	done
	$(INSTALL) --no-deps --no-compile --target .venv/pyz/all --upgrade dist/*.whl
	printf '%s\n' 'import sys' 'if sys.version_info < (3, 11):' \
		'    sys.exit("reseller-sandbox needs Python 3.11 or newer, not %d.%d" % sys.version_info[:2])' > .venv/pyz/preamble.py
	.venv/shiv/bin/shiv --compressed --site-packages .venv/pyz/all -p "/usr/bin/env python3" --preamble .venv/pyz/preamble.py \
		-c reseller-sandbox -o dist/reseller-sandbox.pyz

.venv/shiv: .venv/ready
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check shiv==1.0.8

.venv/sbom: .venv/ready
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
