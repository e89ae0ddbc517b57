# Every target sets itself up: a virtual environment from the lock file, with compiled bytecode.
# Choose the interpreter with `make PYTHON=python3.13 ...`.

PYTHON ?= python3
UV_VERSION := 0.13.9
GROUPS := --group test --group lint

# Where the lock file's installer lives; it is no part of the environment that it installs.
UV := .uv/bin/uv
# What looks for barriers in pages. Its tests are skipped where it is not there.
AXE_VERSION := 4.14.1
AXE_SHA256 := e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
AXE := build/axe-core/axe-$(AXE_VERSION).min.js

CHROMIUM ?= chromium

STAMP := .venv/.installed-$(shell $(PYTHON) -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')

.PHONY: help setup forecast test browser lint wheel-check reports bench docs clean

help:
	@echo "make forecast   set up and forecast llama-2-70b"
	@echo "make test       set up and run every test"
	@echo "make browser    fetch what the tests of pages need besides Chromium (Debian: chromium, chromium-driver)"
	@echo "make lint       ruff and mypy"
	@echo "make wheel-check  install the wheel into an empty environment and forecast"
	@echo "make reports    make the example of a report, and its picture with Chromium, again"
	@echo "make docs       write the table of published runs against their forecasts"
	@echo "make bench      compare with squigglepy, NumPy, numba and others on this machine; BENCH=--full for 1e9 draws"

setup: $(STAMP)

$(UV):
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# PYTHONDONTWRITEBYTECODE would make every start compile every import again, so both the locked packages and our own are
# compiled here, whatever the environment says.
$(STAMP): pyproject.toml uv.lock | $(UV)
	$(UV) sync --quiet --locked --compile-bytecode --python $(PYTHON) $(GROUPS)
	.venv/bin/python -m compileall -q uncertain_botec
	@rm -f .venv/.installed-* && touch $@

forecast: setup
	.venv/bin/botec forecast llama-2-70b

test: setup
	.venv/bin/python -m pytest

browser: $(AXE)

$(AXE):
	rm -rf $(@D) && mkdir -p $(@D)
	cd $(@D) && npm pack --silent axe-core@$(AXE_VERSION) >/dev/null
	cd $(@D) && echo "$(AXE_SHA256)  axe-core-$(AXE_VERSION).tgz" | sha256sum --check --quiet
	cd $(@D) && tar -xzf axe-core-$(AXE_VERSION).tgz --strip-components=1 package/axe.min.js package/LICENSE
	mv $(@D)/axe.min.js $@

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# The wheel by itself, in an environment that has nothing else, from a folder that is not the checkout.
wheel-check: setup
	rm -rf build/wheel && mkdir -p build/wheel
	$(UV) build --quiet --wheel --out-dir build/wheel
	$(UV) venv --quiet --python $(PYTHON) build/wheel/venv
	$(UV) pip install --quiet --compile-bytecode --python build/wheel/venv build/wheel/*.whl
	cd build/wheel && venv/bin/botec forecast llama-2-70b --draws 2^16 && venv/bin/botec check llama-2-70b

# With fewer draws kept than by default, for the example is under version control.
reports: setup
	.venv/bin/botec report llama-2-70b --keep 2^12 --out reports/llama-2-70b
	$(CHROMIUM) --headless=new --no-sandbox --disable-gpu --hide-scrollbars --host-resolver-rules="MAP * ~NOTFOUND" \
		--window-size=1400,1180 --screenshot=docs/report.png file://$(CURDIR)/reports/llama-2-70b/index.html 2>/dev/null

bench: setup
	$(UV) sync --quiet --locked --compile-bytecode --python $(PYTHON) $(GROUPS) --group bench
	.venv/bin/python -m benchmarks $(BENCH)

docs: setup
	.venv/bin/python tools/published_table.py

clean:
	rm -rf .venv .uv build dist
